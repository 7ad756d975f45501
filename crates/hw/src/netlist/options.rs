//! Options of the module's interface and its registers.

use super::keywords::{Languages, NameKind, reserved_by};
use super::names;
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::Labels;
use alir_core::ir::machine::Machine;
use std::sync::Arc;

/// Layout of elements on ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ports {
    /// One port with all elements, concatenated without padding, element 0 in the LSBs.
    #[default]
    Packed,
    /// One port for each element with at least one bit.
    Split,
}

/// Implementation of multiplications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipliers {
    /// One multiplication operator each: the synthesiser chooses between DSPs and logic. Products with constant factors
    /// of few signed digits are sums nevertheless.
    #[default]
    Synthesiser,
    /// Adder rows in logic, without DSPs.
    Rows,
    /// DSPs: a product of wider factors is a sum of partial products that each fit one DSP.
    Blocks {
        /// Width of a DSP's longer factor in two's complement, at least 2 bits.
        longer: u32,
        /// Width of a DSP's shorter factor in two's complement, at least 2 bits.
        shorter: u32,
    },
}

/// Properties of DSPs with internal registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRegisters {
    /// Width of a DSP's longer factor in two's complement, in bits.
    pub longer: u32,
    /// Width of a DSP's shorter factor in two's complement, in bits.
    pub shorter: u32,
    /// Number of internal registers for each factor.
    pub before: u32,
    /// Number of internal registers for the product.
    pub behind: u32,
}

impl BlockRegisters {
    /// Returns `true` if DSPs compute a product of factors of these widths. Smaller products become logic, by the rule
    /// of Yosys' `mul2dsp`.
    pub fn multiply(&self, a: u32, b: u32) -> bool {
        a.min(b) >= 2 && a + b >= 9
    }

    /// Returns `true` if one DSP computes the whole product. An unsigned factor needs one additional bit in two's
    /// complement.
    pub fn hold(&self, a: u32, b: u32, signed: bool) -> bool {
        let (shorter, longer) = (a.min(b), a.max(b));
        let wide = u32::from(!signed);
        self.multiply(a, b) && longer + wide <= self.longer && shorter + wide <= self.shorter
    }
}

/// Maximum number of operands of an adder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adders {
    /// Two operands.
    #[default]
    Two,
    /// Up to three operands within a sum of several terms; every operation remains separate.
    Sums,
    /// Up to three operands; two successive sums also become one adder if the first sum has no other reader.
    Three,
}

/// Properties of the target device's logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// Implementation of multiplications.
    pub multipliers: Multipliers,
    /// Number of inputs of the device's LUTs.
    pub table_inputs: u32,
    /// Maximum number of operands of the device's adders.
    pub adders: Adders,
    /// `true` if registers of table addresses get a power-on value. Yosys absorbs address registers without a power-on
    /// value into the memories that it builds from tables.
    pub start_addresses: bool,
    /// `true` if sums with odd constants become differences, which need one inverter less on devices with LUTs before
    /// the carry chain.
    pub differences: bool,
}

impl Default for Fabric {
    fn default() -> Self {
        Fabric {
            multipliers: Multipliers::default(),
            table_inputs: 6,
            adders: Adders::default(),
            start_addresses: false,
            differences: false,
        }
    }
}

impl Fabric {
    /// Returns the fabric with every operation built separately, so that the logic of an operation does not depend on
    /// the schedule.
    pub fn by_operation(self) -> Fabric {
        let adders = if self.adders == Adders::Two { Adders::Two } else { Adders::Sums };
        Fabric { adders, ..self }
    }

    /// Returns the maximum number of factor bits for which a product in logic is a table of all products, not adder
    /// rows.
    ///
    /// A function with one input more than a LUT takes two LUTs and a multiplexer of the slice (AMD's F7, Lattice's
    /// PFUMX). For four-input LUTs, such a table is still smaller than adder rows. For squares this holds on every
    /// device, because most bits of a square depend on fewer inputs. (LUTs by Yosys; UltraScale+: 7 bits squared take
    /// 28 as rows; ECP5: 5 bits squared take 27.)
    pub fn product_inputs(&self, is_square: bool) -> u32 {
        self.table_inputs + u32::from(is_square || self.table_inputs < 6)
    }

    /// Returns `true` if a comparison operator is cheaper than the carry of a subtraction. `bits` is the number of
    /// compared bits.
    ///
    /// Six-input LUTs compare three bits of two variables before a carry (Yosys' `cmp2lcu`: 9 bits take 6 LUT and 1
    /// CARRY4 instead of 9 LUT and 3). But if the result selects in multiplexers, Yosys merges a short comparison with
    /// the multiplexers into wider functions, which take more LUTs. LUTs with subtractions / with comparisons: 16 times
    /// the maximum of four sums after ReLU, 1,152 / 1,702 for 6 bits, 1,536 / 1,363 for 8 bits, 6,144 / 5,597 for 32
    /// bits; sorting networks with one comparison for minimum and maximum, 3,187 / 3,486 for 9 bits, 1,044 / 1,040 for
    /// eight values of 12 bits, 5,824 / 5,105 for 16 values of 16 bits.
    ///
    /// Four-input LUTs do not compare well: Yosys moves single bits out of the carry chain, which is slow and large (9
    /// bits on ECP5: 21 LUT4 and 4 CCU2C instead of 5 CCU2C), unless a few LUTs implement the whole comparison.
    pub(super) fn compares(&self, bits: u32, compared: Compared) -> bool {
        match compared {
            Compared::WithConstant => self.table_inputs >= 6 || bits <= 5,
            _ if self.table_inputs < 6 => bits <= 4 && compared != Compared::ForMultiplexers,
            Compared::Freely => true,
            Compared::ForExtreme => bits >= 8,
            Compared::ForMultiplexers => bits >= 12,
        }
    }
}

/// Kind of a comparison: its operands and its readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Compared {
    /// Comparison of a value with a constant.
    WithConstant,
    /// Comparison of two values, for any other reader.
    #[default]
    Freely,
    /// Comparison of two values, only for their minimum or maximum.
    ForExtreme,
    /// Comparison of two values whose result selects in other multiplexers, or in several.
    ForMultiplexers,
}

/// Options of the reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetOptions {
    /// `true` if the reset acts without a clock edge.
    pub asynchronous: bool,
    /// `true` if a high level resets.
    pub active_high: bool,
    /// `true` if the reset clears the data registers too, not only the valid flags.
    pub data: bool,
}

/// Names of the ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortNames {
    /// The clock.
    pub clock: String,
    /// The reset.
    pub reset: String,
    /// The clock enable.
    pub enable: String,
    /// The valid flag of the inputs.
    pub valid_in: String,
    /// The valid flag of the outputs.
    pub valid_out: String,
    /// The port that is 1 when a sample is accepted, for initiation intervals above one.
    pub ready: String,
    /// All input elements, for packed ports.
    pub inputs: String,
    /// All output elements, for packed ports.
    pub outputs: String,
    /// Prefix of `_0`, `_1`, ... in the names of the input elements of split ports.
    pub input_prefix: String,
    /// Prefix of `_0`, `_1`, ... in the names of the output elements of split ports.
    pub output_prefix: String,
}

impl Default for PortNames {
    fn default() -> Self {
        PortNames {
            clock: "clk".into(),
            reset: "rst".into(),
            enable: "ce".into(),
            valid_in: "valid_in".into(),
            valid_out: "valid_out".into(),
            ready: "ready".into(),
            inputs: "model_inp".into(),
            outputs: "model_out".into(),
            input_prefix: "inp".into(),
            output_prefix: "out".into(),
        }
    }
}

/// Options of [`super::lower`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Module name.
    pub top: String,
    /// Layout of the elements.
    pub ports: Ports,
    /// Port names.
    pub names: PortNames,
    /// `true` if a port reports when a sample is accepted.
    pub ready: bool,
    /// `true` if a valid flag travels with the data.
    pub valid: bool,
    /// `true` if a clock enable can stop the whole pipeline. Adds a port only if the module has a register.
    pub enable: bool,
    /// The reset, if any. Adds a port only if the module has a register that the reset clears.
    pub reset: Option<ResetOptions>,
    /// Properties of the target device's logic.
    pub fabric: Fabric,
    /// Names of elements and values in the source.
    pub labels: Arc<Labels>,
    /// Languages of the generated RTL files.
    pub languages: Languages,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            top: "model".into(),
            ports: Ports::Packed,
            names: PortNames::default(),
            ready: false,
            valid: false,
            enable: false,
            reset: None,
            fabric: Fabric::default(),
            labels: Arc::default(),
            languages: Languages::BOTH,
        }
    }
}

/// Term for the module name in messages.
pub(crate) const TOP: &str = "module";

/// Returns the place of a name in diagnostics: the command-line option that sets the name with this role.
fn flag(what: &str) -> Place {
    let flag = match what {
        TOP => "--top",
        "clock port" => "--port clk",
        "reset port" => "--port rst",
        "enable port" => "--port ce",
        "valid port of the inputs" => "--port valid_in",
        "valid port of the outputs" => "--port valid_out",
        "input port" => "--port in",
        "output port" => "--port out",
        "ready port" => "--port ready",
        _ => return Place::Whole,
    };
    Place::Flag(flag.into())
}

/// Checks that the module name of a state machine, chosen by the user, needs no change: legal in `languages` and
/// different from every port name.
///
/// # Errors
/// If the name is not legal, or equals the name of a port.
pub fn check_machine_top(machine: &Machine, top: &str, languages: Languages) -> Result<(), Diagnostic> {
    if !names::is_legal_in(top, NameKind::Module, languages) {
        return Err(illegal(top, TOP, Place::Flag("--top".into()), languages));
    }
    let ports = machine.inputs().chain(machine.outputs()).map(|id| names::legalise(&machine.signal(id).name));
    let mut ports = ports.chain([PortNames::default().clock]);
    match ports.find(|port| port.eq_ignore_ascii_case(top)) {
        Some(port) => Err(taken(top, TOP, &format!("port {port}"), Place::Flag("--top".into()))),
        None => Ok(()),
    }
}

fn illegal(name: &str, what: &str, place: Place, languages: Languages) -> Diagnostic {
    let message = match why_not(name, kind_of(what), languages) {
        Some(why) => format!("`{name}`, the name of the {what}, {why}"),
        None => format!("`{name}`, the name of the {what}, is not legal"),
    };
    let better = names::legalise_in(name, kind_of(what), languages);
    Diagnostic::error("E0601", place, message).with_help(format!("`{better}` would be: {RULES}"))
}

fn kind_of(what: &str) -> NameKind {
    if what == TOP { NameKind::Module } else { NameKind::Port }
}

/// Returns the reason for which a module or port name is illegal in these languages, as the end of a sentence; `None`
/// for a legal name.
pub fn why_not(name: &str, kind: NameKind, languages: Languages) -> Option<String> {
    if !names::is_spelt(name) {
        let rule = if languages == Languages::BOTH { "must be legal in" } else { "is not legal in" };
        return Some(format!("{rule} {}", languages.names()));
    }
    reserved_by(name, kind, languages).map(|by| format!("is reserved by {by}"))
}

fn taken(name: &str, what: &str, other: &str, place: Place) -> Diagnostic {
    let message = format!("`{name}`, the name of the {what}, is that of the {other} too");
    Diagnostic::error("E0602", place, message).with_help("names must differ, and VHDL ignores case")
}

/// Returns the error for a name of one role that is also the name of another.
pub(crate) fn taken_name(name: &str, role: &str, other: &str) -> Diagnostic {
    taken(name, role, other, flag(role))
}

/// Rules for legal names, as text for messages.
const RULES: &str = "names start with a letter, hold letters, digits and single underscores, end in no underscore, \
                     and are no reserved word";

impl Options {
    /// Returns every name option that is in use, as pairs of role and name.
    fn chosen(&self) -> Vec<(&'static str, String)> {
        let n = &self.names;
        let mut all = vec![(TOP, self.top.clone()), ("clock port", n.clock.clone())];
        match self.ports {
            Ports::Packed => all.extend([("input port", n.inputs.clone()), ("output port", n.outputs.clone())]),
            // The prefix alone is not a name: `out` is reserved in VHDL, `out_0` is not.
            Ports::Split => all.extend([
                ("input port", format!("{}_0", n.input_prefix)),
                ("output port", format!("{}_0", n.output_prefix)),
            ]),
        }
        if self.ready {
            all.push(("ready port", n.ready.clone()));
        }
        if self.reset.is_some() {
            all.push(("reset port", n.reset.clone()));
        }
        if self.enable {
            all.push(("enable port", n.enable.clone()));
        }
        if self.valid {
            all.extend([
                ("valid port of the inputs", n.valid_in.clone()),
                ("valid port of the outputs", n.valid_out.clone()),
            ]);
        }
        all
    }

    /// Checks that every chosen name is legal and unique in the languages of the module. [`super::lower`] changes other
    /// names; a command line should report them instead.
    ///
    /// # Errors
    /// One diagnostic for each name that would be changed.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let chosen = self.chosen();
        let default = Options { names: PortNames::default(), ..self.clone() }.chosen();
        check_names(&chosen, &default, self.languages)
    }
}

/// Checks that chosen names, each with its role, are legal and unique. `default` contains the default names of the
/// roles.
///
/// # Errors
/// One diagnostic for each name that cannot be kept.
pub(crate) fn check_names(
    chosen: &[(&'static str, String)],
    default: &[(&'static str, String)],
    languages: Languages,
) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for (i, (what, name)) in chosen.iter().enumerate() {
        let place = flag(what);
        if !names::is_legal_in(name, kind_of(what), languages) {
            problems.push(illegal(name, what, place, languages));
        } else if let Some((other, _)) = chosen[..i].iter().find(|(_, n)| n.eq_ignore_ascii_case(name)) {
            // The diagnostic refers to the option that the user has set; the other name is a default.
            let is_default = |what: &str| default.iter().any(|(own, n)| *own == what && n == name);
            match is_default(what) && !is_default(other) {
                true => problems.push(taken(name, other, what, flag(other))),
                false => problems.push(taken(name, what, other, place)),
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_legal() {
        assert_eq!(Options::default().check(), Ok(()));
        assert_eq!(Options { ports: Ports::Split, ..Options::default() }.check(), Ok(()));
        let all = Options {
            valid: true,
            enable: true,
            reset: Some(ResetOptions { asynchronous: true, active_high: false, data: true }),
            ..Options::default()
        };
        assert_eq!(all.check(), Ok(()));
    }

    #[test]
    fn bad_names_are_told_with_a_better_one() {
        let options = Options { top: "Signal".into(), ..Options::default() };
        let problems = options.check().unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].help.as_ref().is_some_and(|h| h.contains("`Signal_m`")), "{problems:?}");
        let mut options = Options::default();
        options.names.clock = "MODEL".into();
        assert_eq!(options.check().unwrap_err()[0].code, "E0602");
    }
}
