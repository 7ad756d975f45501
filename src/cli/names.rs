//! Names of the ports, as they are typed.

use crate::netlist::PortNames;
use crate::prove::equiv::ControlNames;
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
    port_style: PortStyle,
    /// Name a port: clk, rst, ce, valid_in, valid_out, ready, in, out; as in clk=clock,rst=reset
    #[arg(long = "port", value_name = "ROLE=NAME", value_delimiter = ',', value_parser = named_port, hide_short_help = true)]
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

/// Role of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortRole {
    Clock,
    Reset,
    Enable,
    ValidIn,
    ValidOut,
    Ready,
    Inputs,
    Outputs,
}

impl PortRole {
    /// Every role, its names as they are typed, and its old option.
    const ALL: [(PortRole, &'static [&'static str], &'static str); 8] = [
        (PortRole::Clock, &["clk", "clock"], "--clk-name"),
        (PortRole::Reset, &["rst", "reset"], "--rst-name"),
        (PortRole::Enable, &["ce", "en", "enable"], "--ce-name"),
        (PortRole::ValidIn, &["valid_in", "valid-in"], "--valid-in-name"),
        (PortRole::ValidOut, &["valid_out", "valid-out"], "--valid-out-name"),
        (PortRole::Ready, &["ready"], "--ready-name"),
        (PortRole::Inputs, &["in", "inp", "input", "model_inp"], "--input-name"),
        (PortRole::Outputs, &["out", "output", "model_out"], "--output-name"),
    ];
}

/// A role and its name as they are typed.
fn named_port(text: &str) -> Result<(PortRole, String), String> {
    let known = || PortRole::ALL.map(|(_, names, _)| names[0]).join(", ");
    let Some((role, name)) = text.split_once('=') else {
        return Err(format!("a role and a name, as in clk=clock; roles are {}", known()));
    };
    let lower = role.trim().to_ascii_lowercase();
    let found = PortRole::ALL.into_iter().find(|(_, names, _)| names.contains(&lower.as_str()));
    match found {
        Some(_) if name.is_empty() => Err("the name is missing, as in clk=clock".to_owned()),
        Some((role, ..)) => Ok((role, name.to_owned())),
        None => Err(format!("no port has the role {role:?}; roles are {}", known())),
    }
}

/// Returns the roles that `--port` takes.
pub(super) fn port_roles() -> impl Iterator<Item = &'static str> {
    PortRole::ALL.into_iter().map(|(_, names, _)| names[0])
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
    /// The name of a port that was given, and the option that gave it: the last of several.
    fn name(&self, role: PortRole) -> Option<(&String, &'static str)> {
        let old = match role {
            PortRole::Clock => &self.old.clk_name,
            PortRole::Reset => &self.old.rst_name,
            PortRole::Enable => &self.old.ce_name,
            PortRole::ValidIn => &self.old.valid_in_name,
            PortRole::ValidOut => &self.old.valid_out_name,
            PortRole::Ready => &self.old.ready_name,
            PortRole::Inputs => &self.old.input_name,
            PortRole::Outputs => &self.old.output_name,
        };
        let new = self.port.iter().rev().find(|(of, _)| *of == role).map(|(_, name)| (name, "--port"));
        let flag = PortRole::ALL.iter().find(|(of, ..)| *of == role).map_or("--port", |(.., flag)| flag);
        new.or(old.as_ref().map(|name| (name, flag)))
    }

    /// The options that were given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let style = (self.port_style != PortStyle::default()).then_some("--port-style");
        let mut names: Vec<&'static str> =
            PortRole::ALL.iter().filter_map(|(role, ..)| Some(self.name(*role)?.1)).collect();
        names.dedup();
        style.into_iter().chain(names)
    }

    /// The options that name a missing port.
    pub(super) fn of_missing(
        &self,
        clock: bool,
        reset: bool,
        enable: bool,
        valid: bool,
        ready: bool,
    ) -> impl Iterator<Item = &'static str> {
        let roles = [
            (PortRole::Clock, clock),
            (PortRole::Reset, reset),
            (PortRole::Enable, enable),
            (PortRole::ValidIn, valid),
            (PortRole::ValidOut, valid),
            (PortRole::Ready, ready),
        ];
        let mut missing: Vec<&'static str> = roles
            .into_iter()
            .filter_map(|(role, is_there)| self.name(role).filter(|_| !is_there).map(|(_, flag)| flag))
            .collect();
        missing.dedup();
        missing.into_iter()
    }

    /// The names that decide which control port is what: those given, and all of a style that was given.
    pub(super) fn control(&self, reset_low: Option<bool>) -> ControlNames {
        let all = self.names(reset_low != Some(true));
        let style = self.port_style != PortStyle::default();
        let of = |role: PortRole, name: String| (style || self.name(role).is_some()).then_some(name);
        ControlNames {
            clock: of(PortRole::Clock, all.clock),
            // Which of both names a style's reset has is for the file to say.
            reset: match style && reset_low.is_none() {
                true => self.name(PortRole::Reset).map(|(name, _)| name.clone()),
                false => of(PortRole::Reset, all.reset),
            },
            reset_low,
            enable: of(PortRole::Enable, all.enable),
            valid_in: of(PortRole::ValidIn, all.valid_in),
            valid_out: of(PortRole::ValidOut, all.valid_out),
            ready: of(PortRole::Ready, all.ready),
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
        let set = |name: &mut String, role: PortRole| {
            if let Some((given, _)) = self.name(role) {
                name.clone_from(given);
            }
        };
        set(&mut names.clock, PortRole::Clock);
        set(&mut names.reset, PortRole::Reset);
        set(&mut names.enable, PortRole::Enable);
        set(&mut names.valid_in, PortRole::ValidIn);
        set(&mut names.valid_out, PortRole::ValidOut);
        set(&mut names.ready, PortRole::Ready);
        set(&mut names.inputs, PortRole::Inputs);
        set(&mut names.outputs, PortRole::Outputs);
        set(&mut names.input_prefix, PortRole::Inputs);
        set(&mut names.output_prefix, PortRole::Outputs);
        names
    }
}
