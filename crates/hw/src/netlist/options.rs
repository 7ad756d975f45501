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
    /// All elements side by side on one port, element 0 lowest, no padding.
    #[default]
    Packed,
    /// A port for each element that has bits.
    Split,
}

/// Implementation of multiplications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipliers {
    /// One multiplication each: the synthesiser chooses between DSPs and logic. Constant factors of few signed digits
    /// are sums all the same.
    #[default]
    Synthesiser,
    /// Rows of adders in logic, without DSPs.
    Rows,
    /// DSPs: a product of wider factors is a sum of products that each fill one.
    Blocks {
        /// Bits of a block's longer factor in two's complement, at least 2.
        longer: u32,
        /// Bits of its shorter factor in two's complement, at least 2.
        shorter: u32,
    },
}

/// DSPs with registers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRegisters {
    /// Bits of a block's longer factor in two's complement.
    pub longer: u32,
    /// Bits of its shorter factor in two's complement.
    pub shorter: u32,
    /// Registers that each factor can pass through.
    pub before: u32,
    /// Registers that the product can pass through.
    pub behind: u32,
}

impl BlockRegisters {
    /// Returns `true` if a product of factors of these widths is computed by DSPs. Smaller ones are left to logic, by
    /// the rule of Yosys' `mul2dsp`.
    pub fn multiply(&self, a: u32, b: u32) -> bool {
        a.min(b) >= 2 && a + b >= 9
    }

    /// Returns `true` if one DSP computes the whole product: an unsigned factor has one bit more in two's complement.
    pub fn hold(&self, a: u32, b: u32, signed: bool) -> bool {
        let (shorter, longer) = (a.min(b), a.max(b));
        let wide = u32::from(!signed);
        self.multiply(a, b) && longer + wide <= self.longer && shorter + wide <= self.shorter
    }
}

/// Number of operands of an adder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adders {
    /// Two.
    #[default]
    Two,
    /// Up to three in a sum of several terms; each operation is made by itself.
    Sums,
    /// Up to three, and two successive sums are one where nothing else needs the first.
    Three,
}

/// Target of the logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// Implementation of multiplications.
    pub multipliers: Multipliers,
    /// Inputs of the device's look-up tables.
    pub table_inputs: u32,
    /// Operands of its adders.
    pub adders: Adders,
    /// `true` if registers that tables are read by get a power-on value, so that they stay separate: Yosys absorbs
    /// others into the memories it builds from tables.
    pub start_addresses: bool,
    /// `true` if sums with odd constants are written as differences, which take an inverter less where tables are
    /// located before the carry chain.
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
    /// Returns the fabric for operations built separately: properties of an operation that hold in every stage.
    pub fn by_operation(self) -> Fabric {
        let adders = if self.adders == Adders::Two { Adders::Two } else { Adders::Sums };
        Fabric { adders, ..self }
    }

    /// Most bits of its factors together that a product in logic is a table of all products at, rather than rows of
    /// adders.
    ///
    /// A function of one input more than a look-up table has takes two of them and a multiplexer of the slice (AMD's
    /// F7, Lattice's PFUMX). Where tables have four inputs that is still less than rows take, and so it is for squares
    /// everywhere, most of whose bits depend on fewer. (LUT of yosys; UltraScale+: 7 bits squared 28 as rows; ECP5: 5
    /// bits squared 27.)
    pub fn product_inputs(&self, is_square: bool) -> u32 {
        self.table_inputs + u32::from(is_square || self.table_inputs < 6)
    }

    /// Returns `true` if a comparison is best left to the synthesiser as one, rather than as the carry of a
    /// subtraction. `bits` is the number of bits compared.
    ///
    /// Tables of six inputs compare three bits of two variables before a carry (Yosys' `cmp2lcu`: 9 bits take 6 LUT and
    /// 1 CARRY4 instead of 9 LUT and 3). But where the result steers multiplexers, Yosys merges a short comparison with
    /// them into wider functions, which takes more. LUT as subtraction and as comparison: maximum of four sums after
    /// ReLU, 16 times, of 6 bits 1,152 and 1,702, of 8 bits 1,536 and 1,363, of 32 bits 6,144 and 5,597; with one
    /// comparison for minimum and maximum, sorting networks of 9 bits 3,187 and 3,486, of eight values of 12 bits 1,044
    /// and 1,040, of 16 values of 16 bits 5,824 and 5,105.
    ///
    /// Tables of four do not compare well: there, Yosys takes single bits out of the carry chain, which is slow and
    /// large (9 bits on ECP5: 21 LUT4 and 4 CCU2C instead of 5 CCU2C), except where a few tables hold it all.
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

/// Operands and purpose of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Compared {
    /// A value with a constant.
    WithConstant,
    /// Two values, for their own sake.
    #[default]
    Freely,
    /// Two values, for their minimum or maximum and nothing else.
    ForExtreme,
    /// Two values; the result steers other multiplexers, or several.
    ForMultiplexers,
}

/// The reset port and what it clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetOptions {
    /// `true` if the reset acts without a clock edge.
    pub asynchronous: bool,
    /// Level that resets.
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
    /// That a sample is taken, where not every clock takes one.
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

/// Choices for [`super::lower`].
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
    /// `true` if a clock enable holds the whole pipeline. Adds a port only if there is a register.
    pub enable: bool,
    /// The reset, if any. Adds a port only if there is a register that it clears.
    pub reset: Option<ResetOptions>,
    /// Target of the logic.
    pub fabric: Fabric,
    /// Names that the source has for elements and values.
    pub labels: Arc<Labels>,
    /// Languages that the module is written in.
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

/// Where a name comes from.
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

/// Checks that a name that the user has chosen for a state machine's module can be kept as it is: legal in Verilog and
/// VHDL, and different from every port.
///
/// # Errors
/// If it cannot.
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

/// Why a module or a port cannot be called so in these languages, as the end of a sentence; `None` if it can.
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

/// Error of a role's name that belongs to something else too.
pub(crate) fn taken_name(name: &str, role: &str, other: &str) -> Diagnostic {
    taken(name, role, other, flag(role))
}

/// Rules for legal names, for messages.
const RULES: &str = "names start with a letter, hold letters, digits and single underscores, end in no underscore, \
                     and are no reserved word";

impl Options {
    /// Every name that the user has chosen, with the option it belongs to, as far as it is used.
    fn chosen(&self) -> Vec<(&'static str, String)> {
        let n = &self.names;
        let mut all = vec![(TOP, self.top.clone()), ("clock port", n.clock.clone())];
        match self.ports {
            Ports::Packed => all.extend([("input port", n.inputs.clone()), ("output port", n.outputs.clone())]),
            // The prefix alone is no name: `out` is a word of VHDL, `out_0` is not.
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

    /// Checks that every chosen name is legal and unique in Verilog and VHDL. [`super::lower`] changes names that are
    /// not; a command line should report them instead.
    ///
    /// # Errors
    /// One diagnostic for each name that would be changed.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let chosen = self.chosen();
        let default = Options { names: PortNames::default(), ..self.clone() }.chosen();
        check_names(&chosen, &default, self.languages)
    }
}

/// Checks that chosen names, each with its role, are legal and unique. `default` has the names of the roles where none
/// was given.
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
            // The option is that of the name that was given; the other has its default.
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
