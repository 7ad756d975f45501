//! Names of the ports, as they are typed.

use crate::netlist::PortNames;
use crate::prove::equiv::ControlNames;
use clap::ValueEnum;

/// What the ports are called.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Ports")]
pub(super) struct NameArgs {
    /// Names of all ports: those of alkaid's files, of plain data and valid pairs, or of hls4ml's (ap_clk, ap_start,
    /// ...)
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    port_style: PortStyle,
    /// Name of the clock
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    clk_name: Option<String>,
    /// Name of the reset
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    rst_name: Option<String>,
    /// Name of the clock enable
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    ce_name: Option<String>,
    /// Name of the valid flag beside the inputs
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    valid_in_name: Option<String>,
    /// Name of the valid flag beside the outputs
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    valid_out_name: Option<String>,
    /// Name of the port that says when a sample is taken (--ii)
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    ready_name: Option<String>,
    /// Name of the input port; with --ports split what `_0`, `_1`, ... is appended to
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    input_name: Option<String>,
    /// Name of the output port; with --ports split what `_0`, `_1`, ... is appended to
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    output_name: Option<String>,
}

/// Sets of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PortStyle {
    /// clk, rst, ce, valid_in, valid_out, model_inp, model_out (split: inp_0, out_0)
    #[default]
    Alkaid,
    /// clk, rst, en, in_valid, out_valid, in_data, out_data
    Plain,
    /// ap_clk, ap_rst, ap_ce, ap_start, ap_done, input_1, layer_out
    Ap,
}

impl NameArgs {
    /// The options that were given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--port-style", self.port_style != PortStyle::default()),
            ("--clk-name", self.clk_name.is_some()),
            ("--rst-name", self.rst_name.is_some()),
            ("--ce-name", self.ce_name.is_some()),
            ("--valid-in-name", self.valid_in_name.is_some()),
            ("--valid-out-name", self.valid_out_name.is_some()),
            ("--ready-name", self.ready_name.is_some()),
            ("--input-name", self.input_name.is_some()),
            ("--output-name", self.output_name.is_some()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag))
    }

    /// The options that name a port which is not there.
    pub(super) fn of_missing(
        &self,
        clock: bool,
        reset: bool,
        enable: bool,
        valid: bool,
        ready: bool,
    ) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--clk-name", self.clk_name.is_some() && !clock),
            ("--rst-name", self.rst_name.is_some() && !reset),
            ("--ce-name", self.ce_name.is_some() && !enable),
            ("--valid-in-name", self.valid_in_name.is_some() && !valid),
            ("--valid-out-name", self.valid_out_name.is_some() && !valid),
            ("--ready-name", self.ready_name.is_some() && !ready),
        ];
        options.into_iter().filter_map(|(flag, missing)| missing.then_some(flag))
    }

    /// The names that decide which control port is what: those given, and all of a style that was given.
    pub(super) fn control(&self, reset_low: Option<bool>) -> ControlNames {
        let all = self.names(reset_low != Some(true));
        let style = self.port_style != PortStyle::default();
        let of = |given: &Option<String>, name: String| (style || given.is_some()).then_some(name);
        ControlNames {
            clock: of(&self.clk_name, all.clock),
            // Which of both names a style's reset has is for the file to say.
            reset: if style && reset_low.is_none() { self.rst_name.clone() } else { of(&self.rst_name, all.reset) },
            reset_low,
            enable: of(&self.ce_name, all.enable),
            valid_in: of(&self.valid_in_name, all.valid_in),
            valid_out: of(&self.valid_out_name, all.valid_out),
            ready: of(&self.ready_name, all.ready),
        }
    }

    /// The names; those of a style's reset end in `_n` where it is active low.
    pub(super) fn names(&self, reset_active_high: bool) -> PortNames {
        let style = |[
            clock,
            reset,
            enable,
            valid_in,
            valid_out,
            ready,
            inputs,
            outputs,
            input_prefix,
            output_prefix,
        ]: [&str; 10]| {
            PortNames {
                clock: clock.into(),
                reset: format!("{reset}{}", if reset_active_high { "" } else { "_n" }),
                enable: enable.into(),
                valid_in: valid_in.into(),
                valid_out: valid_out.into(),
                ready: ready.into(),
                inputs: inputs.into(),
                outputs: outputs.into(),
                input_prefix: input_prefix.into(),
                output_prefix: output_prefix.into(),
            }
        };
        let mut names = style(match self.port_style {
            PortStyle::Alkaid => {
                ["clk", "rst", "ce", "valid_in", "valid_out", "ready", "model_inp", "model_out", "inp", "out"]
            }
            PortStyle::Plain => {
                ["clk", "rst", "en", "in_valid", "out_valid", "in_ready", "in_data", "out_data", "in_data", "out_data"]
            }
            PortStyle::Ap => [
                "ap_clk",
                "ap_rst",
                "ap_ce",
                "ap_start",
                "ap_done",
                "ap_ready",
                "input_1",
                "layer_out",
                "input_1",
                "layer_out",
            ],
        });
        let set = |name: &mut String, wish: &Option<String>| {
            if let Some(wish) = wish {
                name.clone_from(wish);
            }
        };
        set(&mut names.clock, &self.clk_name);
        set(&mut names.reset, &self.rst_name);
        set(&mut names.enable, &self.ce_name);
        set(&mut names.valid_in, &self.valid_in_name);
        set(&mut names.valid_out, &self.valid_out_name);
        set(&mut names.ready, &self.ready_name);
        set(&mut names.inputs, &self.input_name);
        set(&mut names.outputs, &self.output_name);
        set(&mut names.input_prefix, &self.input_name);
        set(&mut names.output_prefix, &self.output_name);
        names
    }
}
