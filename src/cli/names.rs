//! Options for the names of ports.

use crate::options::{NameOptions, PortRole, PortStyle, named_port};
use clap::ValueEnum;

/// Options for the names of ports.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Ports")]
pub(super) struct NameArgs {
    /// Name ports as alkaid does, as plain data and valid pairs, or as hls4ml does (ap)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "STYLE",
        hide_short_help = true,
        hide_possible_values = true
    )]
    port_style: PortStyleArg,
    /// Name a port: clk, rst, ce, valid_in, valid_out, ready, in, out; as in clk=clock,rst=reset. With --wrapper axis
    /// in and out are the prefixes of the streams
    #[arg(
        long = "port",
        value_name = "ROLE=NAME",
        value_delimiter = ',',
        value_parser = named_port,
        hide_short_help = true
    )]
    port: Vec<(PortRole, String)>,
    #[command(flatten)]
    old: OldNameArgs,
}

/// The options that named one port each, before there was `--port`.
#[derive(Clone, Debug, Default, clap::Args)]
struct OldNameArgs {
    #[arg(long, value_name = "NAME", hide = true)]
    clk_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    rst_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    ce_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    valid_in_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    valid_out_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    ready_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    input_name: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    output_name: Option<String>,
}

/// Sets of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PortStyleArg {
    /// clk, rst, ce, valid_in, valid_out, model_inp, model_out (split: inp_0, out_0)
    #[default]
    Alkaid,
    /// clk, rst, en, in_valid, out_valid, in_data, out_data
    Plain,
    /// ap_clk, ap_rst, ap_ce, ap_start, ap_done, input_1, layer_out
    Ap,
}

impl NameArgs {
    /// Returns the options.
    pub(super) fn options(&self) -> NameOptions {
        let old = &self.old;
        let former = [
            (PortRole::Clock, &old.clk_name),
            (PortRole::Reset, &old.rst_name),
            (PortRole::Enable, &old.ce_name),
            (PortRole::ValidIn, &old.valid_in_name),
            (PortRole::ValidOut, &old.valid_out_name),
            (PortRole::Ready, &old.ready_name),
            (PortRole::Inputs, &old.input_name),
            (PortRole::Outputs, &old.output_name),
        ];
        NameOptions {
            style: match self.port_style {
                PortStyleArg::Alkaid => PortStyle::Alkaid,
                PortStyleArg::Plain => PortStyle::Plain,
                PortStyleArg::Ap => PortStyle::Ap,
            },
            named: self.port.clone(),
            former: former.into_iter().filter_map(|(role, name)| Some((role, name.clone()?))).collect(),
        }
    }
}
