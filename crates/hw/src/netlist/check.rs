//! Checker of the invariants of a netlist, based on [`super::cell`] alone, independent of the code that builds
//! netlists.
//!
//! [`Netlist::check`] applies to every netlist, [`Netlist::check_pipeline`] to netlists with a fixed latency. A problem
//! is an internal error, never a user error.

use super::cell::{Cell, Direction, NetId, Netlist, Piece, PortId, Wiring};
use super::keywords::{Languages, NameKind};
use super::names::{is_legal, is_legal_in};
use alir_core::diag::{Diagnostic, Place, Severity};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of reported problems.
const MOST: usize = 20;

impl Netlist {
    /// Checks the invariants of the module documentation: widths of every cell, wiring within the bits of its nets, no
    /// combinational loop, legal and unique names, driven ports, contiguous elements, no unused nets.
    ///
    /// # Errors
    /// The first violated invariants, each of severity [`Severity::Bug`].
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let mut checker = Checker { netlist: self, problems: Vec::new() };
        if checker.shape() {
            checker.order();
            checker.names();
            checker.interface();
            checker.reads();
        }
        checker.finish()
    }

    /// Checks that each path from an input port to an output port has as many registers as the latency, and that paths
    /// that meet have equal numbers of registers. Paths from control inputs (clock enable, reset) are not checked.
    ///
    /// # Errors
    /// Like [`Netlist::check`].
    pub fn check_pipeline(&self) -> Result<(), Vec<Diagnostic>> {
        let mut checker = Checker { netlist: self, problems: Vec::new() };
        checker.latency();
        checker.finish()
    }
}

struct Checker<'a> {
    netlist: &'a Netlist,
    problems: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    fn finish(self) -> Result<(), Vec<Diagnostic>> {
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems) }
    }

    fn report(&mut self, place: &str, message: impl Into<String>) {
        if self.problems.len() < MOST {
            let place = Place::Path(place.to_owned());
            let error = Diagnostic::error("E0690", place, message);
            self.problems.push(Diagnostic { severity: Severity::Bug, ..error });
        }
    }

    /// Checks wiring and widths. All other checks require that this check succeeds.
    fn shape(&mut self) -> bool {
        let netlist = self.netlist;
        for (index, net) in netlist.nets().iter().enumerate() {
            // Evaluated for problems only: the lookup of a million names takes longer than this check.
            let name = || netlist.name(NetId(index as u32));
            if net.width == 0 {
                self.report(name(), "a net without bits");
            }
            let mut inside = true;
            net.cell.for_each_operand(|x| inside &= is_inside(netlist, x));
            if !inside {
                self.report(name(), "its wiring leaves a net, or the count of its bits is wrong");
            } else if let Some(rule) = broken_width(netlist, net.width, &net.cell) {
                self.report(name(), rule);
            }
        }
        for port in netlist.ports() {
            let right = match (port.direction, port.driver) {
                (Direction::In, driver) => driver.is_none(),
                (Direction::Out, None) => false,
                (Direction::Out, Some(x)) => is_inside(netlist, x) && x.width() == port.width,
            };
            if !right || port.width == 0 || (port.scalar && port.width != 1) {
                self.report(&port.name, "the port has no bits, no driver, too many, or one of another width");
            }
        }
        for rom in netlist.roms() {
            let longest = 1u64.checked_shl(rom.addr_width).unwrap_or(u64::MAX);
            let fits = |w: &u64| rom.word_width >= 64 || *w >> rom.word_width == 0;
            let right = (1..=64).contains(&rom.word_width) && rom.addr_width > 0;
            if !right || rom.words.len() as u64 > longest || !rom.words.iter().all(fits) {
                self.report(&rom.name, "the memory's words do not fit its widths");
            }
        }
        self.problems.is_empty()
    }

    /// Checks that all cells except registers refer to earlier nets only.
    fn order(&mut self) {
        let netlist = self.netlist;
        for (index, net) in netlist.nets().iter().enumerate() {
            if matches!(net.cell, Cell::Register { .. }) {
                continue;
            }
            let mut earlier = true;
            net.cell.for_each_operand(|x| {
                earlier &= netlist.pieces(x).iter().all(|p| p.net().is_none_or(|n| n.index() < index));
            });
            if !earlier {
                self.report(netlist.name(NetId(index as u32)), "it is made of itself or of a later net");
            }
        }
    }

    fn names(&mut self) {
        let netlist = self.netlist;
        let nets = (0..netlist.nets().len() as u32).map(|i| netlist.name(NetId(i)));
        let ports = netlist.ports().iter().map(|p| p.name.as_str());
        let roms = netlist.roms().iter().map(|r| r.name.as_str());
        let others: Vec<&str> = ports.chain(roms).chain([netlist.interface.top.as_str()]).collect();
        let name_at = |index: usize| match index.checked_sub(netlist.nets().len()) {
            None => netlist.name(NetId(index as u32)),
            Some(other) => others[other],
        };
        let count = netlist.nets().len() + others.len();
        let mut seen = Seen::new(count);
        let mut hashes = Vec::with_capacity(count);
        for name in nets.chain(others.iter().copied()) {
            // A name that the user has chosen may be reserved in a language that is not generated.
            let is_free = |languages| is_legal_in(name, NameKind::Port, languages);
            if !is_legal(name) && !is_free(Languages::VERILOG) && !is_free(Languages::VHDL) {
                self.report(name, "the name is not legal in a language");
            }
            let hash = folded_hash(name);
            seen.note(hash);
            hashes.push(hash);
        }
        // Names whose slot in `seen` is used more than once. A valid netlist has few of them.
        let suspect = |&(index, _): &(usize, &u64)| seen.repeated(hashes[index]);
        let suspects = hashes.iter().enumerate().filter(suspect);
        let mut suspects: Vec<(u64, &str)> = suspects.map(|(index, &hash)| (hash, name_at(index))).collect();
        suspects.sort_unstable();
        for same in suspects.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            // Equal hashes are rare, mostly pairs, so all names of one hash are compared with each other.
            for (k, (_, name)) in same.iter().enumerate() {
                if same[..k].iter().any(|(_, other)| other.eq_ignore_ascii_case(name)) {
                    self.report(name, "the name is used twice");
                }
            }
        }
    }

    /// Checks that elements are contiguous and fill their ports, and that the module has a clock exactly if it has a
    /// register.
    fn interface(&mut self) {
        let netlist = self.netlist;
        let interface = &netlist.interface;
        let mut filled: FxHashMap<&str, u32> = FxHashMap::default();
        self.beats(&mut filled);
        let beats = interface.input_beats > 1;
        for element in interface.inputs.iter().filter(|_| !beats).chain(&interface.outputs) {
            if element.width == 0 {
                continue;
            }
            let next = filled.entry(&element.port).or_default();
            if element.lsb != *next {
                self.report(&element.name, format!("it begins at bit {}, the one before ends at {next}", element.lsb));
            }
            *next = element.lsb + element.width;
        }
        let controls: Vec<&str> = [&interface.clock, &interface.reset, &interface.enable, &interface.ready]
            .into_iter()
            .flatten()
            .chain(interface.valid.iter().flat_map(|(a, b)| [a, b]))
            .map(String::as_str)
            .collect();
        for port in netlist.ports() {
            let elements = filled.remove(port.name.as_str()).unwrap_or(0);
            let expected = if controls.contains(&port.name.as_str()) { 0 } else { port.width };
            if elements != expected {
                self.report(&port.name, format!("the port has {} bits, elements fill {elements}", port.width));
            }
        }
        let registers = netlist.nets().iter().any(|n| matches!(n.cell, Cell::Register { .. }));
        if registers != interface.clock.is_some() {
            self.report(&interface.top, "a module has a clock exactly if it has a register");
        }
    }

    /// Checks input elements that are transferred in beats: no two elements use one bit in one beat, and together they
    /// fill the port.
    fn beats(&mut self, filled: &mut FxHashMap<&'a str, u32>) {
        let netlist = self.netlist;
        let interface = &netlist.interface;
        if interface.input_beats <= 1 {
            if let Some(element) = interface.inputs.iter().find(|element| element.beat > 0) {
                self.report(&element.name, "it comes later than others, and the sample has one beat");
            }
            return;
        }
        let mut taken: FxHashSet<(&str, u32, u32)> = FxHashSet::default();
        let mut bits: FxHashMap<&str, FxHashSet<u32>> = FxHashMap::default();
        for element in interface.inputs.iter().filter(|element| element.width > 0) {
            if element.beat >= interface.input_beats {
                self.report(&element.name, format!("it is in beat {} of {}", element.beat, interface.input_beats));
            }
            for bit in element.lsb..element.lsb + element.width {
                if !taken.insert((&element.port, element.beat, bit)) {
                    self.report(&element.name, format!("bit {bit} is another element's in the same beat"));
                }
                bits.entry(&element.port).or_default().insert(bit);
            }
        }
        for (port, bits) in bits {
            let end = bits.iter().max().map_or(0, |bit| bit + 1);
            if bits.len() as u32 != end {
                self.report(port, "elements leave bits of the port out");
            }
            filled.insert(port, end);
        }
    }

    /// Checks that at least one bit of each net has a reader.
    fn reads(&mut self) {
        let netlist = self.netlist;
        let mut read = vec![false; netlist.nets().len()];
        let mut mark =
            |x: Wiring| netlist.pieces(x).iter().filter_map(|p| p.net()).for_each(|n| read[n.index()] = true);
        netlist.nets().iter().for_each(|net| net.cell.for_each_operand(&mut mark));
        netlist.ports().iter().filter_map(|p| p.driver).for_each(&mut mark);
        for (index, _) in read.iter().enumerate().filter(|(_, read)| !**read) {
            self.report(netlist.name(NetId(index as u32)), "nobody reads it");
        }
    }

    fn latency(&mut self) {
        let netlist = self.netlist;
        let control = |port: PortId| {
            let name = Some(&netlist.ports()[port.0 as usize].name);
            name == netlist.interface.enable.as_ref() || name == netlist.interface.reset.as_ref()
        };
        // Number of registers between the inputs and each net; `None` for a net that no input reaches.
        let mut depth: Vec<Option<u32>> = Vec::with_capacity(netlist.nets().len());
        for (index, net) in netlist.nets().iter().enumerate() {
            let own = match net.cell {
                Cell::Input { port, lo: _ } => Ok((!control(port)).then_some(0)),
                Cell::Register { d, .. } => self.meet(&depth, [d].into_iter()).map(|d| d.map(|d| d + 1)),
                cell => {
                    let mut operands = [None; 3];
                    let mut count = 0;
                    cell.for_each_operand(|x| {
                        operands[count] = Some(x);
                        count += 1;
                    });
                    self.meet(&depth, operands.into_iter().flatten())
                }
            };
            match own {
                Ok(own) => depth.push(own),
                Err(message) => {
                    self.report(netlist.name(NetId(index as u32)), message);
                    depth.push(None);
                }
            }
        }
        for port in netlist.ports() {
            let Some(driver) = port.driver else { continue };
            let wanted = netlist.interface.latency;
            match self.meet(&depth, [driver].into_iter()) {
                Ok(None) => {}
                Ok(Some(found)) if found == wanted => {}
                Ok(Some(found)) => {
                    self.report(&port.name, format!("{found} registers on the way, the latency is {wanted}"));
                }
                Err(message) => self.report(&port.name, message),
            }
        }
    }

    /// Returns the common depth of the nets in some wiring, in registers; `None` if no input reaches them.
    fn meet(&self, depth: &[Option<u32>], operands: impl Iterator<Item = Wiring>) -> Result<Option<u32>, String> {
        let mut common: Option<u32> = None;
        for net in operands.flat_map(|x| self.netlist.pieces(x)).filter_map(|p| p.net()) {
            let Some(&found) = depth.get(net.index()) else {
                return Err("it refers to a later net, which no pipeline does".into());
            };
            match (common, found) {
                (Some(a), Some(b)) if a != b => return Err(format!("paths with {a} and {b} registers meet")),
                _ => common = common.or(found),
            }
        }
        Ok(common)
    }
}

/// Returns a hash that ignores the case of ASCII letters. The hash also ignores differences between a few other
/// characters, which is harmless because names with equal hashes are compared. Names that differ in their last
/// character have neighbouring hashes, so the ordered names of a netlist access the hash table in order.
fn folded_hash(name: &str) -> u64 {
    // Odd, and larger than the number of distinct folded characters: names of up to ten characters have distinct
    // hashes.
    const BASE: u64 = 81;
    name.bytes().fold(0u64, |hash, b| hash.wrapping_mul(BASE).wrapping_add(u64::from((b | 0x20).wrapping_sub(b'/'))))
}

/// Set of hashes that occur once, and of hashes that occur repeatedly: two bits per slot, with about sixteen slots per
/// name.
struct Seen {
    once: Vec<u64>,
    twice: Vec<u64>,
}

impl Seen {
    fn new(names: usize) -> Seen {
        let words = (names / 4).next_power_of_two();
        Seen { once: vec![0; words], twice: vec![0; words] }
    }

    fn place(&self, hash: u64) -> (usize, u64) {
        let place = hash as usize & (64 * self.once.len() - 1);
        (place / 64, 1 << (place % 64))
    }

    fn note(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        self.twice[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    /// Returns `true` if another name may have this hash.
    fn repeated(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.twice[word] & bit != 0
    }
}

/// Returns `true` if wiring is a range of the netlist's pieces, refers to existing bits only, and has its declared
/// width.
fn is_inside(netlist: &Netlist, wiring: Wiring) -> bool {
    let Some(end) = wiring.start.checked_add(wiring.len) else { return false };
    let Some(pieces) = netlist.pieces.get(wiring.start as usize..end as usize) else { return false };
    let mut total = 0u64;
    for &piece in pieces {
        total += u64::from(piece.width());
        let (net, last) = match piece {
            Piece::Bits { net, lo, width } => (net, u64::from(lo) + u64::from(width)),
            Piece::Repeat { net, bit, .. } => (net, u64::from(bit) + 1),
            Piece::Const { .. } => continue,
        };
        if netlist.nets().get(net.index()).is_none_or(|n| last > u64::from(n.width)) || piece.width() == 0 {
            return false;
        }
    }
    total == u64::from(wiring.width)
}

/// Returns a description of the wrong widths of a cell; `None` if all widths are right.
fn broken_width(netlist: &Netlist, width: u32, cell: &Cell) -> Option<&'static str> {
    let same = |x: &Wiring| x.width() == width;
    let constant = |x: &Wiring| netlist.pieces(*x).iter().all(|p| matches!(p, Piece::Const { .. }));
    let (right, rule) = match cell {
        Cell::Input { port, lo } => {
            let port = netlist.ports().get(port.0 as usize);
            let fits =
                |p: &super::Port| p.direction == Direction::In && u64::from(*lo) + u64::from(width) <= p.width.into();
            (port.is_some_and(fits), "it reads bits that its port does not have")
        }
        Cell::Alias { x } | Cell::Neg { a: x } | Cell::Not { a: x } => (same(x), "its operand has another width"),
        Cell::Add { a, b } | Cell::Sub { a, b } => (same(a) && same(b), "an operand has another width"),
        Cell::And { a, b } | Cell::Or { a, b } | Cell::Xor { a, b } => {
            (same(a) && same(b), "an operand has another width")
        }
        Cell::Three { a, b, c, minus: _ } => (same(a) && same(b) && same(c), "an operand has another width"),
        Cell::Mul { a, b, signed: _ } => {
            (a.width() > 0 && b.width() > 0 && width <= a.width() + b.width(), "it is wider than a product can be")
        }
        Cell::Less { a, b, signed: _ } => {
            (width == 1 && a.width() > 0 && a.width() == b.width(), "a comparison makes one bit of two equal widths")
        }
        Cell::Mux { sel, on_true, on_false } => (
            sel.width() == 1 && same(on_true) && same(on_false),
            "its select is not one bit, or a choice has another width",
        ),
        Cell::ReduceOr { a } | Cell::ReduceAnd { a } => {
            (width == 1 && a.width() > 0, "a reduction makes one bit of some")
        }
        Cell::Rom { rom, addr } => {
            let rom = netlist.roms().get(rom.0 as usize);
            let fits = |r: &super::Rom| r.word_width == width && r.addr_width == addr.width();
            (rom.is_some_and(fits), "its memory has other widths")
        }
        Cell::Register { d, enable, reset, init } => {
            let reset_fits = |r: &super::Reset| r.when.width() == 1 && same(&r.value) && constant(&r.value);
            let right = same(d)
                && enable.is_none_or(|e| e.width() == 1)
                && reset.as_ref().is_none_or(reset_fits)
                && init.as_ref().is_none_or(|i| same(i) && constant(i));
            (right, "an input of the register has a wrong width, or a value of it is not constant")
        }
    };
    (!right).then_some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlist::{Net, Options, lower};
    use alir_core::ir::{Builder, Op, Output};
    use alir_core::num::Interval;
    use alir_opt::schedule::Schedule;

    type Change = fn(&mut Netlist);

    /// Returns a netlist that computes `x + y` of two 4-bit inputs, with one register stage.
    fn sum() -> Netlist {
        let mut b = Builder::new(vec![0, 0]);
        let x = b.op(Op::Input { input: 0 }, Interval::new(0, 15, 0));
        let y = b.op(Op::Input { input: 1 }, Interval::new(0, 15, 0));
        let sum = b.op(Op::Add { a: x, b: y, shift: 0 }, Interval::new(0, 30, 0));
        b.output(Output { source: Some(sum), shift: 0, neg: false });
        let schedule = Schedule { stages: 1, register_inputs: false, register_outputs: false, stage: vec![1, 1, 1] };
        lower(&b.finish().unwrap(), &schedule, &Options::default())
    }

    /// Returns the messages of a check of the netlist after `change`.
    fn broken(change: impl Fn(&mut Netlist)) -> Vec<String> {
        let mut netlist = sum();
        assert_eq!((netlist.check(), netlist.check_pipeline()), (Ok(()), Ok(())));
        change(&mut netlist);
        let problems = netlist.check().and_then(|()| netlist.check_pipeline()).unwrap_err();
        assert!(problems.iter().all(|p| p.severity == Severity::Bug));
        problems.into_iter().map(|p| p.message).collect()
    }

    #[test]
    fn every_broken_rule_is_seen() {
        let cases: [(&str, Change); 10] = [
            ("an operand has another width", |n| n.nets[2].width = 6),
            ("leaves a net", |n| n.nets[0].width = 3),
            ("made of itself or of a later net", |n| {
                n.nets[2].cell = Cell::Alias { x: n.ports[2].driver.expect("driven") };
            }),
            ("not legal in a language", |n| n.ports[0].name = "1x".into()),
            ("used twice", |n| n.nets[1].name = n.nets[0].name),
            ("exactly if it has a register", |n| n.interface.clock = None),
            ("it begins at bit 5, the one before ends at 4", |n| n.interface.inputs[1].lsb = 5),
            ("elements fill 4", |n| n.interface.inputs.truncate(1)),
            ("no driver", |n| n.ports[2].driver = None),
            ("1 registers on the way, the latency is 2", |n| n.interface.latency = 2),
        ];
        for (message, change) in cases {
            let found = broken(change);
            assert!(found.iter().any(|f| f.contains(message)), "{message}: {found:?}");
        }
    }

    #[test]
    fn computing_for_nobody_is_seen() {
        let found = broken(|n| {
            let again = Net { name: (n.text.len() as u32, 2), ..n.nets[2] };
            n.text.push_str("zz");
            n.nets.push(again);
        });
        assert_eq!(found, ["nobody reads it"]);
    }

    #[test]
    fn paths_of_different_length_are_seen() {
        let found = broken(|n| {
            // Adds an `and` of an input and the registered sum, so that paths with 0 and 1 registers meet.
            let Cell::Add { a, b: _ } = n.nets[2].cell else { panic!("{:?}", n.nets[2]) };
            let Cell::Register { d, .. } = n.nets[3].cell else { panic!("{:?}", n.nets[3]) };
            let driver = n.ports[2].driver.expect("driven");
            let start = n.pieces.len() as u32;
            n.pieces.extend([Piece::Bits { net: NetId(0), lo: 0, width: 4 }, Piece::Const { one: false, width: 1 }]);
            let short = Wiring { start, len: 2, width: 5 };
            let names = n.text.len() as u32;
            n.text.push_str("zz");
            n.nets.push(Net { name: (names, 2), cell: Cell::And { a: short, b: driver }, ..n.nets[2] });
            n.pieces.push(Piece::Bits { net: NetId(4), lo: 0, width: 5 });
            n.ports[2].driver = Some(Wiring { start: start + 2, len: 1, width: 5 });
            assert_eq!((a.width(), d.width()), (5, 5));
        });
        assert_eq!(found, ["paths with 0 and 1 registers meet"]);
    }
}
