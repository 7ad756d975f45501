//! Helpers shared by the code generators of all languages.

use super::context::Context;
use super::line::Line;
use super::plan::{Group, Kind, Module};
use crate::netlist::{Cell, NetId, Netlist, Piece, Wiring};

/// Returns the name of the clock port, or `None` if the module has no registers.
pub(super) fn clock<'a>(netlist: &'a Netlist, module: &Module) -> Option<&'a str> {
    let name = netlist.interface.clock.as_deref();
    if module.clocked { Some(name.expect("a netlist with registers has a clock")) } else { None }
}

/// Returns the operator before a term of a sum.
pub(super) fn plus_or_minus(minus: bool) -> &'static str {
    if minus { " -" } else { " +" }
}

/// Writes a comment that extends to the end of the line, after two spaces; writes nothing if `text` is empty. `sign` is
/// the token that begins a comment.
pub(super) fn remark(line: &mut Line<'_>, sign: &str, text: &str) {
    let Some(first) = text.as_bytes().first() else { return };
    line.push("  ");
    line.push(sign);
    // Tools execute comments that begin with one of these words.
    let is_order = ORDERS.iter().any(|order| order.as_bytes()[0] == *first && text.starts_with(order));
    line.push(if is_order { " - " } else { " " });
    line.push(text);
}

/// First words with which a comment becomes a directive of some tool.
const ORDERS: &[&str] = &[
    "synopsys",
    "synthesis",
    "pragma",
    "verilator",
    "verilog_lint",
    "ambit",
    "cadence",
    "exemplar",
    "xilinx",
    "altera",
    "vhdl_comp",
    "rtl_synthesis",
    "psl",
    "translate_",
    "coverage",
    "lint_",
];

/// Returns the heading of a section's inputs or logic.
pub(super) fn heading(netlist: &Netlist, kind: Kind) -> String {
    match kind {
        Kind::Inputs => "Inputs".into(),
        Kind::Stage(0) => "Before the first stage".into(),
        Kind::Stage(stage) => match netlist.stage_remarks.get(stage as usize - 1) {
            Some(remark) => format!("Stage {stage} of {}: {remark}", netlist.stage_remarks.len()),
            None => format!("Stage {stage}"),
        },
        Kind::Logic => "Logic".into(),
    }
}

/// Returns the heading of a group of registers.
pub(super) fn group_heading(netlist: &Context<'_>, kind: Kind, group: &Group) -> String {
    let bits: u64 = group.registers.iter().map(|&net| u64::from(netlist.net(net).width)).sum();
    let bits = if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") };
    match kind {
        Kind::Stage(0) => format!("Input registers, {bits}"),
        Kind::Stage(stage) if stage as usize > netlist.stage_remarks.len() && !netlist.stage_remarks.is_empty() => {
            format!("Output registers, {bits}")
        }
        Kind::Stage(stage) => format!("Registers after stage {stage}, {bits}"),
        Kind::Inputs | Kind::Logic => match group.enable.map(|enable| netlist.pieces(enable)) {
            Some(&[Piece::Bits { net, .. }]) => {
                let conditions = conditions(netlist, net, CONDITIONS).join(" and ");
                let enable = netlist.read_name(net);
                let meaning = if conditions == enable { String::new() } else { format!(" ({conditions})") };
                format!("Registers, {bits}, loaded while {enable}{meaning} is 1")
            }
            _ => format!("Registers, {bits}"),
        },
    }
}

/// Maximum levels of conjunctions in the description of a condition.
const CONDITIONS: u32 = 3;

/// Returns the names of the signals whose conjunction is `net`, a net of one bit. Expands at most `depth` levels of
/// gates.
fn conditions<'n>(netlist: &'n Context<'_>, mut net: NetId, depth: u32) -> Vec<&'n str> {
    // Replace an alias by its source: one name for a value is enough, and the source has the most specific name.
    while let Cell::Alias { x } = netlist.net(net).cell
        && let &[Piece::Bits { net: source, lo: 0, .. }] = netlist.pieces(x)
    {
        net = source;
    }
    let single = |wiring: Wiring| match netlist.pieces(wiring) {
        &[Piece::Bits { net, .. }] if netlist.width(net) == 1 => Some(net),
        _ => None,
    };
    if let Cell::And { a, b } = netlist.net(net).cell
        && let (Some(a), Some(b), 1..) = (single(a), single(b), depth)
    {
        return [conditions(netlist, a, depth - 1), conditions(netlist, b, depth - 1)].concat();
    }
    vec![netlist.read_name(net)]
}

/// Returns the lines of a list with a comma after each line but the last.
pub(super) fn with_commas(mut lines: Vec<String>) -> Vec<String> {
    let last = lines.len().saturating_sub(1);
    lines[..last].iter_mut().for_each(|line| line.push(','));
    lines
}

/// A constant of any width: neighbouring constant pieces, low bits first.
pub(super) struct Constant<'a>(&'a [Piece]);

impl Constant<'_> {
    /// Returns the bits in runs, low bits first.
    fn runs(&self) -> impl DoubleEndedIterator<Item = (bool, u32)> {
        self.0.iter().filter_map(|&piece| match piece {
            Piece::Const { one, width } => Some((one, width)),
            Piece::Bits { .. } | Piece::Repeat { .. } => None,
        })
    }

    /// Returns the number of bits.
    pub(super) fn width(&self) -> u32 {
        self.0.iter().map(|piece| piece.width()).sum()
    }

    /// Returns all bits, high bits first.
    pub(super) fn bits(&self) -> Vec<bool> {
        self.runs().rev().flat_map(|(one, width)| std::iter::repeat_n(one, width as usize)).collect()
    }

    /// Returns the common value of all bits, or `None` if bits differ.
    pub(super) fn uniform(&self) -> Option<bool> {
        let first = self.runs().next()?.0;
        self.runs().all(|run| run.0 == first).then_some(first)
    }

    /// Writes binary digits, high bits first.
    pub(super) fn binary(&self, line: &mut Line<'_>) {
        for (one, width) in self.runs().rev() {
            for _ in 0..width {
                line.bit(one);
            }
        }
    }

    /// Writes hexadecimal digits, high bits first.
    pub(super) fn hex(&self, line: &mut Line<'_>) {
        const DIGITS: &str = "0123456789abcdef";
        let bits: Vec<bool> = self.runs().flat_map(|(one, width)| std::iter::repeat_n(one, width as usize)).collect();
        for nibble in bits.chunks(4).rev() {
            let digit: usize = nibble.iter().enumerate().map(|(i, &one)| usize::from(one) << i).sum();
            line.push(&DIGITS[digit..=digit]);
        }
    }
}

/// An item of a concatenation in the generated HDL.
pub(super) enum Item<'a> {
    /// Bits of a net.
    Bits { net: NetId, lo: u32, width: u32 },
    /// One bit, repeated.
    Repeat { net: NetId, bit: u32, count: u32 },
    /// Neighbouring constant pieces.
    Const(Constant<'a>),
}

/// Maximum width in bits of a constant literal with mixed bits; wider constants are split to keep lines short.
const LITERAL: u32 = 256;

/// Iterator over the items of wiring, **high** bits first, with neighbouring constants joined.
pub(super) struct Items<'a> {
    /// The remaining pieces, low bits first.
    rest: &'a [Piece],
}

impl<'a> Items<'a> {
    pub(super) fn new(pieces: &'a [Piece]) -> Items<'a> {
        Items { rest: pieces }
    }

    /// Returns `true` if the wiring has more than one item.
    pub(super) fn are_several(pieces: &'a [Piece]) -> bool {
        let mut items = Items::new(pieces);
        items.next();
        !items.rest.is_empty()
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (&highest, below) = self.rest.split_last()?;
        match highest {
            Piece::Bits { net, lo, width } => {
                self.rest = below;
                Some(Item::Bits { net, lo, width })
            }
            Piece::Repeat { net, bit, count } => {
                self.rest = below;
                Some(Item::Repeat { net, bit, count })
            }
            Piece::Const { mut width, .. } => {
                let mut start = below.len();
                while let Some(&Piece::Const { width: more, .. }) = self.rest[..start].last() {
                    if width + more > LITERAL {
                        break;
                    }
                    width += more;
                    start -= 1;
                }
                let (rest, constant) = self.rest.split_at(start);
                self.rest = rest;
                Some(Item::Const(Constant(constant)))
            }
        }
    }
}

/// Extension above the bits of a net.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    /// No extension.
    Nothing,
    /// Copies of the highest bit.
    Sign,
    /// Zeros.
    Zero,
}

/// Wiring that is a number: bits of one net, shifted and extended.
#[derive(Clone, Copy)]
pub(super) struct Term {
    pub(super) net: NetId,
    /// Lowest bit used of the net.
    pub(super) lo: u32,
    /// Number of bits used of the net.
    pub(super) taken: u32,
    /// Number of zeros below the bits of the net.
    pub(super) shift: u32,
    pub(super) above: Above,
    /// Width of the whole in bits.
    pub(super) width: u32,
}

impl Term {
    /// Returns the wiring as a number, or `None` if it is another arrangement of bits.
    fn from_pieces(pieces: &[Piece]) -> Option<Term> {
        let (shift, rest) = match *pieces {
            [Piece::Const { one: false, width }, ref rest @ ..] => (width, rest),
            _ => (0, pieces),
        };
        let (&Piece::Bits { net, lo, width: taken }, above) = rest.split_first()? else { return None };
        let top = lo + taken - 1;
        let above = match *above {
            [] => Above::Nothing,
            [Piece::Const { one: false, .. }] => Above::Zero,
            [Piece::Repeat { net: sign, bit, .. }] if (sign, bit) == (net, top) => Above::Sign,
            [Piece::Bits { net: sign, lo: bit, width: 1 }] if (sign, bit) == (net, top) => Above::Sign,
            _ => return None,
        };
        Some(Term { net, lo, taken, shift, above, width: pieces.iter().map(|piece| piece.width()).sum() })
    }

    /// Returns the wiring as a number of the type `wanted`, or `None` if it is no such number: a sign extension of an
    /// unsigned net is not a number unless `wanted` is signed.
    pub(super) fn new(netlist: &Context<'_>, pieces: &[Piece], wanted: Option<bool>) -> Option<Term> {
        let is_number = |term: &Term| term.above != Above::Sign || wanted == Some(true) || netlist.is_signed(term.net);
        Term::from_pieces(pieces).filter(is_number)
    }

    /// Returns `true` if the wiring is a range of bits of a net, unchanged.
    pub(super) fn is_plain(&self) -> bool {
        self.shift == 0 && self.above == Above::Nothing
    }
}

/// Returns the wiring, truncated or extended to `width` bits.
pub(super) fn resized(pieces: &[Piece], width: u32, signed: bool) -> Vec<Piece> {
    let own: u32 = pieces.iter().map(|p| p.width()).sum();
    if own >= width {
        return super::plan::slice(pieces, 0, width);
    }
    let missing = width - own;
    let mut wide = pieces.to_vec();
    wide.push(match pieces.last() {
        _ if !signed => Piece::Const { one: false, width: missing },
        Some(&Piece::Bits { net, lo, width }) => sign(net, lo + width - 1, missing),
        Some(&Piece::Repeat { net, bit, .. }) => sign(net, bit, missing),
        Some(&Piece::Const { one, .. }) => Piece::Const { one, width: missing },
        None => Piece::Const { one: false, width: missing },
    });
    wide
}

fn sign(net: NetId, bit: u32, count: u32) -> Piece {
    if count == 1 { Piece::Bits { net, lo: bit, width: 1 } } else { Piece::Repeat { net, bit, count } }
}

/// Returns the power-on value of a register, or `None`.
pub(super) fn init(netlist: &Netlist, net: NetId) -> Option<Wiring> {
    match netlist.net(net).cell {
        Cell::Register { init, .. } => init,
        _ => None,
    }
}

/// Returns the reset value of a register, or `None`.
pub(super) fn reset_value(netlist: &Netlist, net: NetId) -> Option<Wiring> {
    match netlist.net(net).cell {
        Cell::Register { reset, .. } => reset.map(|r| r.value),
        _ => None,
    }
}
