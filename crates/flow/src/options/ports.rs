//! Names of the ports: a style, and names by role.

use alir_core::diag::{Diagnostic, Place};
use alir_hw::emit::axis::AxisNames;
use alir_hw::netlist::PortNames;
use alir_prove::equiv::ControlNames;

/// Role of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortRole {
    /// The clock.
    Clock,
    /// The reset.
    Reset,
    /// The clock enable.
    Enable,
    /// The valid flag of the inputs.
    ValidIn,
    /// The valid flag of the outputs.
    ValidOut,
    /// The port that states when a sample is accepted.
    Ready,
    /// The inputs.
    Inputs,
    /// The outputs.
    Outputs,
}

impl PortRole {
    /// All roles, each with its names in options and its option of version 0.2.
    pub const ALL: [(PortRole, &'static [&'static str], &'static str); 8] = [
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

/// Returns the names of the roles for `--port`.
pub fn port_roles() -> impl Iterator<Item = &'static str> {
    PortRole::ALL.into_iter().map(|(_, names, _)| names[0])
}

/// Parses a role and a port name: `clk=clock`.
///
/// # Errors
/// A message with the roles.
pub fn named_port(text: &str) -> Result<(PortRole, String), String> {
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

/// Predefined set of port names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortStyle {
    /// clk, rst, ce, valid_in, valid_out, model_inp, model_out (split: inp_0, out_0).
    #[default]
    Alkaid,
    /// clk, rst, en, in_valid, out_valid, in_data, out_data.
    Plain,
    /// ap_clk, ap_rst, ap_ce, ap_start, ap_done, input_1, layer_out.
    Ap,
}

/// Port names as they are given by options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameOptions {
    /// Predefined set of names.
    pub style: PortStyle,
    /// Names by role.
    pub named: Vec<(PortRole, String)>,
    /// Names by role from options of version 0.2, which have lower priority.
    pub former: Vec<(PortRole, String)>,
}

impl NameOptions {
    /// Returns the given name of a port, and its option; `None` if no name was given.
    fn name(&self, role: PortRole) -> Option<(&String, &'static str)> {
        let last = |names: &'_ [(PortRole, String)]| names.iter().rposition(|(of, _)| *of == role);
        if let Some(at) = last(&self.named) {
            return Some((&self.named[at].1, "--port"));
        }
        let flag = PortRole::ALL.iter().find(|(of, ..)| *of == role).map_or("--port", |(.., flag)| flag);
        last(&self.former).map(|at| (&self.former[at].1, flag))
    }

    /// Returns an error for each role that has several names.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let problem = |(role, roles, _): (PortRole, &[&str], _)| {
            let given = self.named.iter().chain(&self.former).filter(|(of, _)| *of == role);
            let names: Vec<&str> = given.map(|(_, name)| name.as_str()).collect();
            let place = Place::Flag(format!("--port {}", roles[0]));
            let message = format!("one port has several names: {}", names.join(", "));
            (names.len() > 1).then(|| Diagnostic::error("E0002", place, message).with_help("give it one name"))
        };
        PortRole::ALL.into_iter().filter_map(problem).collect()
    }

    /// Returns the options that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let style = (self.style != PortStyle::default()).then_some("--port-style");
        let mut names: Vec<&'static str> =
            PortRole::ALL.iter().filter_map(|(role, ..)| Some(self.name(*role)?.1)).collect();
        names.dedup();
        style.into_iter().chain(names)
    }

    /// Returns the options that name a missing port, with the role; `exists` returns `true` for existing ports.
    pub fn missing_ports(&self, exists: impl Fn(PortRole) -> bool) -> Vec<String> {
        let missing = |(role, names, _): &(PortRole, &[&str], _)| {
            let (_, flag) = self.name(*role).filter(|_| !exists(*role))?;
            Some(if flag == "--port" { format!("{flag} {}", names[0]) } else { flag.to_owned() })
        };
        PortRole::ALL.iter().filter_map(missing).collect()
    }

    /// Returns the names of an AXI4-Stream wrapper's ports; those of `in` and `out` are prefixes.
    pub fn stream_names(&self) -> AxisNames {
        let default = AxisNames::default();
        let or = |role, default| self.name(role).map_or(default, |(given, _)| given.clone());
        AxisNames {
            clock: or(PortRole::Clock, default.clock),
            reset: or(PortRole::Reset, default.reset),
            input: or(PortRole::Inputs, default.input),
            output: or(PortRole::Outputs, default.output),
        }
    }

    /// Returns the given options that name a port which an AXI4-Stream wrapper does not have.
    pub fn not_of_streams(&self) -> Vec<String> {
        let of_streams = [PortRole::Clock, PortRole::Reset, PortRole::Inputs, PortRole::Outputs];
        let style = (self.style != PortStyle::default()).then(|| "--port-style".to_owned());
        style.into_iter().chain(self.missing_ports(|role| of_streams.contains(&role))).collect()
    }

    /// Returns the names by which the prover identifies control ports: the given names, and all names of a given style.
    pub fn control(&self, reset_low: Option<bool>) -> ControlNames {
        let all = self.names(reset_low != Some(true));
        let style = self.style != PortStyle::default();
        let of = |role: PortRole, name: String| (style || self.name(role).is_some()).then_some(name);
        ControlNames {
            clock: of(PortRole::Clock, all.clock),
            // A style has two names for the reset; the polarity in the RTL file decides between them.
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

    /// Returns all port names; the reset of a style ends in `_n` if it is active low.
    pub fn names(&self, reset_active_high: bool) -> PortNames {
        let [clock, reset, enable, valid_in, valid_out, ready, inputs, outputs, input_prefix, output_prefix] =
            match self.style {
                PortStyle::Alkaid => {
                    ["clk", "rst", "ce", "valid_in", "valid_out", "ready", "model_inp", "model_out", "inp", "out"]
                }
                PortStyle::Plain => [
                    "clk",
                    "rst",
                    "en",
                    "in_valid",
                    "out_valid",
                    "in_ready",
                    "in_data",
                    "out_data",
                    "in_data",
                    "out_data",
                ],
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
            };
        let or = |role: PortRole, default: &str| {
            self.name(role).map_or_else(|| default.to_owned(), |(given, _)| given.clone())
        };
        PortNames {
            clock: or(PortRole::Clock, clock),
            reset: or(PortRole::Reset, &format!("{reset}{}", if reset_active_high { "" } else { "_n" })),
            enable: or(PortRole::Enable, enable),
            valid_in: or(PortRole::ValidIn, valid_in),
            valid_out: or(PortRole::ValidOut, valid_out),
            ready: or(PortRole::Ready, ready),
            inputs: or(PortRole::Inputs, inputs),
            outputs: or(PortRole::Outputs, outputs),
            input_prefix: or(PortRole::Inputs, input_prefix),
            output_prefix: or(PortRole::Outputs, output_prefix),
        }
    }
}
