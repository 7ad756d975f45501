//! Random valid stateful designs, decoded from words like random programs.
//!
//! Each [`Gene`] gives one part: a port, a register, a wire, a block, or a chain of blocks with registers. A part reads
//! only registers and signals that are driven before it, so that there are no combinational loops. Registers are driven
//! last, from any signal, so that there is feedback. Some registers have no initial value, some elements have no
//! driver, some indices exceed the end of a signal, and some names are keywords or differ only in case.

use super::{Gene, Profile, SplitMix};
use alir_core::ir::machine::{Access, Connection, Machine, MachineBuilder, Signal, SignalId, SignalKind};
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use std::fmt;

/// Words from which a random stateful design is built.
#[derive(Clone, PartialEq, Eq)]
pub struct MachineRecipe(pub Vec<Gene>);

impl MachineRecipe {
    /// Draws `parts` genes from the pseudo-random sequence of `seed`.
    pub fn seeded(parts: usize, seed: u64) -> MachineRecipe {
        let mut rng = SplitMix::new(seed ^ 0x6d61_6368_696e_6500);
        MachineRecipe((0..parts).map(|_| super::gene(&mut rng)).collect())
    }

    /// Builds the design; every sequence of words gives a valid design.
    pub fn build(&self) -> Machine {
        let mut generator =
            Generator { builder: MachineBuilder::default(), readable: Vec::new(), registers: Vec::new(), parts: 0 };
        for &gene in &self.0 {
            generator.part(gene);
        }
        generator.finish()
    }
}

impl fmt::Debug for MachineRecipe {
    /// Prints the words, to be pasted into a test, and the resulting design.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "MachineRecipe(vec!{:?}), which is", self.0)?;
        let machine = self.build();
        for (id, signal) in machine.signal_ids().zip(machine.signals()) {
            writeln!(f, "  {id:?}: {signal:?}")?;
        }
        for block in machine.blocks() {
            writeln!(f, "  {:?} of {} operations", block.name, block.model.nodes().len())?;
            for id in block.model.ids() {
                writeln!(f, "    {id}: {} = {:?}", block.model.kif(id), block.model.node(id).op)?;
            }
        }
        machine.connections().iter().try_for_each(|c| writeln!(f, "  {c:?}"))
    }
}

/// Draws raw integer values for one input port in one cycle: often small, so that conditions and indices take effect.
pub fn stimulus(machine: &Machine, port: SignalId, rng: &mut SplitMix) -> Vec<BigInt> {
    let kifs = &machine.signal(port).elements;
    let code = |&kif: &Kif| match rng.below(8) {
        0 => kif.min_code(),
        1 => kif.max_code(),
        2 | 3 => wrap(&BigInt::from(rng.below(4)), kif),
        _ => wrap(&rng.bits(kif.width()), kif),
    };
    kifs.iter().map(code).collect()
}

const BIT: Kif = Kif { signed: false, int: 1, frac: 0 };

/// Names that are illegal or ambiguous in RTL.
const AWKWARD: [&str; 8] = ["signal", "reg", "x y", "Clk", "clk", "b_v1", "B_V1", "\u{e4}//*/"];

/// Source of words: the words of a gene in order, then zeros.
struct Words<'a>(std::slice::Iter<'a, u16>);

impl Words<'_> {
    /// Returns a number below `n`.
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) * n / (1 << 16)
    }

    /// Returns `true` for one of `n` possible values.
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

/// Decoder of genes to parts of a stateful design.
struct Generator {
    builder: MachineBuilder,
    /// Signals that any later part may read.
    readable: Vec<SignalId>,
    /// Registers with the gene that determines their drivers.
    registers: Vec<(SignalId, Gene)>,
    parts: usize,
}

impl Generator {
    fn part(&mut self, gene: Gene) {
        let mut words = Words(gene.iter());
        self.parts += 1;
        match words.below(9) {
            _ if self.readable.is_empty() => self.input(&mut words),
            0 => self.input(&mut words),
            1..=3 => self.register(&mut words, gene),
            4 | 5 => self.wire(&mut words),
            6 | 7 => self.block(&mut words),
            _ => self.pipeline(&mut words),
        }
    }

    fn name(&self, letter: &str, awkward: bool) -> String {
        let taken = |name: &str| self.builder.signals().iter().any(|s| s.name == name);
        let odd = AWKWARD[self.parts % AWKWARD.len()];
        if awkward && !taken(odd) { odd.to_owned() } else { format!("{letter}{}", self.parts) }
    }

    /// Draws the types of a signal's elements: often all equal, so that the signal can be indexed.
    fn kifs(words: &mut Words<'_>, n: usize) -> Vec<Kif> {
        let shape = words.below(1 << 12);
        let kif = |k: usize| match (shape + k) % 7 {
            0 | 1 => BIT,
            2 => Kif { signed: false, int: 2 + (shape / 7 % 2) as i32, frac: 0 },
            _ => {
                let (signed, frac) = ((shape / 64).is_multiple_of(2), (shape / 128 % 9) as i32 - 3);
                let width = (shape / 7 % 9) as i32;
                if width == 0 { Kif::ZERO } else { Kif { signed, int: width - i32::from(signed) - frac, frac } }
            }
        };
        let mixed = shape.is_multiple_of(3);
        (0..n).map(|k| kif(if mixed { k } else { 0 })).collect()
    }

    fn signal(&mut self, name: String, kind: SignalKind, elements: Vec<Kif>, output: bool) -> SignalId {
        let signal = Signal { name, kind, output, elements, reset_to: None, reset_if: None, schedule: None };
        self.builder.signal(signal)
    }

    fn input(&mut self, words: &mut Words<'_>) {
        let n = 1 + words.below(4);
        let kifs = Generator::kifs(words, n);
        let name = self.name("i", words.once_in(3));
        let id = self.signal(name, SignalKind::Input, kifs, false);
        self.readable.push(id);
    }

    fn register(&mut self, words: &mut Words<'_>, gene: Gene) {
        let n = 1 + words.below(6);
        let kifs = Generator::kifs(words, n);
        let first = words.below(1 << 10) as u64;
        let name = self.name("r", words.once_in(3));
        let reset_to = (!first.is_multiple_of(4)).then(|| {
            let mut rng = SplitMix::new(first);
            kifs.iter()
                .map(|&kif| if first % 4 == 1 { BigInt::ZERO } else { wrap(&rng.bits(kif.width()), kif) })
                .collect()
        });
        let output = words.once_in(3);
        let signal = Signal {
            name,
            kind: SignalKind::Register,
            output,
            elements: kifs,
            reset_to,
            reset_if: None,
            schedule: None,
        };
        let id = self.builder.signal(signal);
        self.readable.push(id);
        self.registers.push((id, gene));
    }

    fn wire(&mut self, words: &mut Words<'_>) {
        let n = 1 + words.below(4);
        let kifs = Generator::kifs(words, n);
        let name = self.name("w", words.once_in(3));
        let output = words.once_in(2);
        let id = self.signal(name, SignalKind::Wire, kifs, output);
        self.drive(id, n, words);
        self.readable.push(id);
    }

    /// Drives all elements of a wire or of a block's input.
    fn drive(&mut self, dst: SignalId, n: usize, words: &mut Words<'_>) {
        let mut lo = 0;
        while lo < n {
            let src = self.view(words, n - lo);
            let hi = lo + src.len();
            let condition = words.once_in(3).then(|| self.bit(words)).flatten();
            let alternative = condition.as_ref().and_then(|_| self.view_of(words, hi - lo));
            let enable_if = condition.filter(|_| alternative.is_some());
            let dst = Access { signal: dst, lo, hi, dynamic: None };
            self.builder.connection(Connection { src, dst, enable_if, alternative });
            lo = hi;
        }
    }

    fn block(&mut self, words: &mut Words<'_>) {
        let seed = words.below(1 << 16) as u64;
        let profile = if seed.is_multiple_of(4) { Profile::SMALL } else { Profile::TINY };
        let model = super::Recipe::seeded(profile, 1 + words.below(12), seed).build();
        let (inputs, outputs) = (model.input_kifs().to_vec(), model.outputs().len());
        let name = if words.once_in(4) { "b".to_owned() } else { format!("b{}", self.parts) };
        let result: Vec<Kif> = (0..outputs).map(|j| model.output_kif(j)).collect();
        let same = words.below(2) == 0;
        let id = self.builder.block(name, model);
        if !inputs.is_empty() {
            let kifs = if same { inputs } else { Generator::kifs(words, inputs.len()) };
            let n = kifs.len();
            let signal = self.signal(format!("INTERNAL_{}_inp", self.parts), SignalKind::BlockInput(id), kifs, false);
            self.drive(signal, n, words);
        }
        if outputs > 0 {
            let kifs = if same { result } else { Generator::kifs(words, outputs) };
            let output = words.once_in(3);
            let signal =
                self.signal(format!("INTERNAL_{}_outp", self.parts), SignalKind::BlockOutput(id), kifs, output);
            self.readable.push(signal);
        }
    }

    /// Adds a chain of blocks with registers between them. Some inputs of a stage read another signal instead
    /// of the previous stage, and later parts may read some of the registers.
    fn pipeline(&mut self, words: &mut Words<'_>) {
        let depth = 1 + words.below(3);
        let controls = words.below(8);
        let when =
            |generator: &Self, words: &mut Words<'_>, wanted: bool| if wanted { generator.bit(words) } else { None };
        let enable_if = when(self, words, controls == 1 || controls == 2);
        let reset_if = when(self, words, controls == 2 || controls == 3);
        let starts = reset_if.is_some() || controls == 4;
        let mut seed = words.below(1 << 16) as u64;
        let odd = words.below(1 << 10);
        let mut from = self.readable[self.readable.len() - 1];
        for stage in 0..=depth {
            let model = loop {
                seed += 1;
                let model = super::Recipe::seeded(Profile::TINY, 2 + (seed % 11) as usize, seed).build();
                if model.n_inputs() > 0 && !model.outputs().is_empty() {
                    break model;
                }
            };
            let inputs = model.input_kifs().to_vec();
            let result: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
            let block = self.builder.block(format!("p{}_{stage}", self.parts), model);
            let n = self.builder.signals()[from.index()].elements.len();
            let element = |signal, k| Access { signal, lo: k, hi: k + 1, dynamic: None };
            let name = |what: &str, parts: usize| format!("INTERNAL_p{parts}_{stage}_{what}");
            let input = self.signal(name("inp", self.parts), SignalKind::BlockInput(block), inputs.clone(), false);
            for k in 0..inputs.len() {
                let other = (odd + k + stage).is_multiple_of(13).then(|| self.view_of(words, 1)).flatten();
                let src = other.unwrap_or_else(|| element(from, (k + odd) % n));
                self.builder.connection(Connection { src, dst: element(input, k), enable_if: None, alternative: None });
            }
            let output =
                self.signal(name("outp", self.parts), SignalKind::BlockOutput(block), result.clone(), stage == depth);
            from = output;
            if stage == depth {
                break;
            }
            let kifs = if (odd + stage).is_multiple_of(4) { Generator::kifs(words, result.len()) } else { result };
            let reset_to = starts.then(|| vec![BigInt::ZERO; kifs.len()]);
            let register = self.signal(format!("p{}_r{stage}", self.parts), SignalKind::Register, kifs, false);
            self.builder.reset_to(register, reset_to);
            if let Some(when) = &reset_if {
                self.builder.reset_if(register, when.clone());
            }
            let n = self.builder.signals()[register.index()].elements.len();
            let whole = |signal| Access { signal, lo: 0, hi: n, dynamic: None };
            let enable_if = enable_if.clone();
            self.builder.connection(Connection {
                src: whole(output),
                dst: whole(register),
                enable_if,
                alternative: None,
            });
            if (odd + stage).is_multiple_of(11) {
                self.readable.push(register);
            }
            from = register;
        }
        self.readable.push(from);
    }

    /// Draws a view of 1 to `most` elements.
    fn view(&self, words: &mut Words<'_>, most: usize) -> Access {
        let len = 1 + words.below(most);
        let found = (1..=len).rev().find_map(|len| self.view_of(words, len));
        found.expect("every signal shows one element")
    }

    /// Draws a view of `len` elements; `None` if every signal has fewer elements.
    fn view_of(&self, words: &mut Words<'_>, len: usize) -> Option<Access> {
        let elements = |id: SignalId| &self.builder.signals()[id.index()].elements;
        let long: Vec<SignalId> = self.readable.iter().copied().filter(|&id| elements(id).len() >= len).collect();
        if long.is_empty() {
            return None;
        }
        // Small words choose the newest signals.
        let signal = long[long.len() - 1 - words.below(long.len())];
        let room = elements(signal).len() - len;
        let lo = words.below(room + 1);
        let dynamic = if words.once_in(2) { self.index(words, signal, lo) } else { None };
        Some(Access { signal, lo, hi: lo + len, dynamic })
    }

    /// Draws an index into a signal from element `lo` on; `None` if the elements have different types.
    fn index(&self, words: &mut Words<'_>, signal: SignalId, lo: usize) -> Option<(Box<Access>, usize)> {
        let elements = &self.builder.signals()[signal.index()].elements[lo..];
        if elements.iter().any(|k| *k != elements[0]) {
            return None;
        }
        let whole = |kif: &Kif| !kif.signed && (kif.frac == 0 || kif.is_zero());
        let index = self.element(words, whole)?;
        Some((Box::new(index), words.below(4)))
    }

    /// Draws a condition: one unsigned bit.
    fn bit(&self, words: &mut Words<'_>) -> Option<Access> {
        self.element(words, |kif| !kif.signed && kif.width() == 1)
    }

    /// Draws an element with a suitable type; `None` if no element has such a type.
    fn element(&self, words: &mut Words<'_>, wanted: impl Fn(&Kif) -> bool) -> Option<Access> {
        let mut found = Vec::new();
        for &signal in &self.readable {
            let elements = &self.builder.signals()[signal.index()].elements;
            let fitting = elements.iter().enumerate().filter(|(_, kif)| wanted(kif));
            found.extend(fitting.map(|(k, _)| Access { signal, lo: k, hi: k + 1, dynamic: None }));
        }
        if found.is_empty() {
            return None;
        }
        let last = found.len() - 1;
        Some(found.swap_remove(last - words.below(found.len())))
    }

    /// Drives the registers, ensures that there is an output, and returns the design.
    fn finish(mut self) -> Machine {
        if self.readable.is_empty() {
            self.input(&mut Words([].iter()));
        }
        for (id, gene) in self.registers.clone() {
            // Reuses the words of the gene in another order.
            let turned: Vec<u16> = gene.iter().rev().map(|w| w.rotate_left(5)).chain(gene).collect();
            let mut words = Words(turned.iter());
            self.drive_register(id, &mut words);
        }
        let shows = self.builder.signals().iter().any(|s| s.output);
        if !shows {
            let newest = *self.readable.last().expect("there is an input");
            let kifs = self.builder.signals()[newest.index()].elements.clone();
            let n = kifs.len();
            let out = self.signal("y".into(), SignalKind::Wire, kifs, true);
            let whole = |signal| Access { signal, lo: 0, hi: n, dynamic: None };
            let connection = Connection { src: whole(newest), dst: whole(out), enable_if: None, alternative: None };
            self.builder.connection(connection);
        }
        self.builder.finish().unwrap_or_else(|problems| panic!("a random machine is valid: {problems:?}"))
    }

    fn drive_register(&mut self, id: SignalId, words: &mut Words<'_>) {
        let signal = &self.builder.signals()[id.index()];
        let (n, has_value) = (signal.elements.len(), signal.reset_to.is_some());
        if has_value
            && words.once_in(2)
            && let Some(when) = self.bit(words)
        {
            self.builder.reset_if(id, when);
        }
        let mut lo = 0;
        while lo < n {
            let src = self.view(words, n - lo);
            let hi = lo + src.len();
            if words.once_in(6) {
                // These elements have no driver.
                lo = hi;
                continue;
            }
            let enable_if = if words.once_in(2) { self.bit(words) } else { None };
            let alternative = match enable_if {
                Some(_) if words.once_in(2) => self.view_of(words, hi - lo),
                _ => None,
            };
            let dynamic = if words.once_in(2) { self.index(words, id, lo) } else { None };
            // A write with a dynamic index may reach all later elements, so these elements get no further driver.
            let end = if dynamic.is_some() { n } else { hi };
            let dst = Access { signal: id, lo, hi, dynamic };
            self.builder.connection(Connection { src, dst, enable_if, alternative });
            lo = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_valid_and_of_every_kind() {
        let (mut indexed, mut written, mut reset, mut blocks, mut held, mut undefined) = (0, 0, 0, 0, 0, 0);
        for seed in 0..300 {
            let machine = MachineRecipe::seeded(1 + seed as usize % 20, seed).build();
            assert!(machine.outputs().next().is_some());
            for c in machine.connections() {
                indexed += usize::from(c.src.dynamic.is_some());
                written += usize::from(c.dst.dynamic.is_some());
                held += usize::from(c.enable_if.is_some() && c.alternative.is_none());
            }
            reset += machine.signals().iter().filter(|s| s.reset_if.is_some()).count();
            let no_value = |s: &&Signal| s.kind == SignalKind::Register && s.reset_to.is_none();
            undefined += machine.signals().iter().filter(no_value).count();
            blocks += machine.blocks().len();
        }
        for (what, count) in [
            ("indexed", indexed),
            ("written", written),
            ("reset", reset),
            ("blocks", blocks),
            ("held", held),
            ("undefined", undefined),
        ] {
            assert!(count > 30, "{what}: {count}");
        }
    }
}
