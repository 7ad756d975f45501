//! Proof that an RTL file equals a state machine, by induction over clock cycles.
//!
//! A certificate states which register bits, of both sides, are equal or complements from one cycle on. Three facts
//! prove that outputs are equal in every cycle from power-on, wherever the machine defines them:
//!
//! - The register values at power-on, or after the first cycles, satisfy the certificate.
//! - Outputs are equal in the first cycles.
//! - From any state that satisfies the certificate, and as long as the state does, outputs are equal after some cycles,
//!   and bits of one class are equal after one more cycle.
//!
//! A register of the machine without an initial value may start with any suitable value: no defined output depends on
//! this value. A register of the RTL file without an initial value may start with any value, and the proof covers all
//! of these values.

use crate::ValueCallback;
use crate::clocks::Register;
use crate::ensure;
use crate::graph::{Graph, Lit};
use crate::machine::{Cells, Machine};
use crate::text::Text;

/// Largest number of clock cycles of an induction.
pub const MOST_CLOCKS: usize = 1 << 10;

/// Register correspondence of a certificate. Bits are those of the machine, as [`Machine::state`] returns them, then
/// those of the RTL file; bit `n` is stored as `2n`, its complement as `2n + 1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Induction {
    /// Clock cycles after power-on from which the correspondence holds.
    pub settled: usize,
    /// Depth of the induction: cycles before the compared one in which the correspondence is assumed, too.
    pub depth: usize,
    /// Classes of at least two equal bits each, in the order of their first bits.
    pub classes: Vec<Vec<usize>>,
    /// Bits that are always zero.
    pub zeros: Vec<usize>,
}

/// One clock cycle of the machine.
#[derive(Clone, Debug)]
struct Clock {
    /// Bits of each input port.
    inputs: Vec<Vec<Lit>>,
    /// Bits of each output element, and a literal that is 1 if the element is defined.
    outputs: Vec<(Vec<Lit>, Lit)>,
    /// Values of all registers before (`state`) and after (`next`) the cycle.
    state: Vec<Lit>,
    next: Vec<Lit>,
}

impl Clock {
    /// Adds the obligation that `rtl_outputs`, the output bits of the RTL file, equal these wherever they are defined.
    fn compare(&self, g: &mut Graph, rtl_outputs: &[Lit], pairs: &mut Pairs) {
        let mut rest = rtl_outputs;
        for (bits, is_defined) in &self.outputs {
            let (found, others) = rest.split_at(bits.len());
            rest = others;
            let mut masked = |bits: &[Lit]| bits.iter().map(|&bit| g.and(bit, *is_defined)).collect();
            let (bits, found) = (masked(bits), masked(found));
            pairs.push(bits, found, None);
        }
    }
}

/// Simulated clock cycles of the machine.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    induction: Induction,
    /// Cycles from power-on.
    first: Vec<Clock>,
    /// Cycles from any state that satisfies the certificate.
    later: Vec<Clock>,
    /// Power-on values of the registers of the RTL file.
    start: Vec<Lit>,
    /// Bits of the elements of [`Machine::elements`] at each of the later cycles, concatenated cycle by cycle.
    elements: Vec<Vec<Lit>>,
    /// Ports with bits: names and widths.
    inputs: Vec<(String, usize)>,
    outputs: Vec<(String, usize)>,
}

/// Pairs of words to be proved equal, in order.
#[derive(Default)]
pub(crate) struct Pairs {
    /// Bits of the machine's output elements, and of registers of either side.
    pub(crate) expected: Vec<Vec<Lit>>,
    /// Bits of the outputs of the RTL file, and of the registers that are compared with `expected`.
    pub(crate) found: Vec<Vec<Lit>>,
    /// Register bit that each pair is about, as [`Induction`] numbers it; `None` for outputs.
    pub(crate) claimed: Vec<Option<usize>>,
    /// Part of the statement that lists the ports matched by their width instead of their name.
    pub(crate) port_matches: String,
}

impl Pairs {
    fn push(&mut self, expected: Vec<Lit>, found: Vec<Lit>, claimed: Option<usize>) {
        self.expected.push(expected);
        self.found.push(found);
        self.claimed.push(claimed);
    }
}

impl Induction {
    /// Checks that every bit exists and is in at most one class, and that the number of cycles is within the limit.
    fn check(&self, bits: usize) -> Result<(), String> {
        let mut all: Vec<usize> = self.classes.iter().flatten().chain(&self.zeros).map(|lit| lit / 2).collect();
        all.sort_unstable();
        let are_valid = all.windows(2).all(|two| two[0] < two[1]) && all.last().is_none_or(|&last| last < bits);
        ensure(are_valid, "a register bit does not exist, or is in two classes")?;
        let is_within = self.settled.checked_add(self.depth).is_some_and(|clocks| clocks <= MOST_CLOCKS);
        ensure(is_within, "more clocks than are simulated")
    }

    /// Equates the bits of each class: all become the class's first bit of the machine (the first `n_machine` bits are
    /// the machine's), or a new input if the class has only bits of the RTL file.
    fn assume(&self, g: &mut Graph, bits: &mut [Lit], n_machine: usize) {
        for &zero in &self.zeros {
            bits[zero / 2] = Lit::constant(zero % 2 == 1);
        }
        for class in &self.classes {
            let of_machine = class.iter().find(|&&lit| lit / 2 < n_machine);
            let value = of_machine.map_or_else(|| g.input(), |&lit| bits[lit / 2].flipped(lit % 2 == 1));
            class.iter().for_each(|&lit| bits[lit / 2] = value.flipped(lit % 2 == 1));
        }
    }

    /// Adds the pairs of register bits that must be equal for the correspondence to hold.
    fn add_claims(&self, bits: &[Lit], pairs: &mut Pairs) {
        let of = |lit: usize| bits[lit / 2].flipped(lit % 2 == 1);
        for class in &self.classes {
            class[1..].iter().for_each(|&lit| pairs.push(vec![of(class[0])], vec![of(lit)], Some(lit)));
        }
        self.zeros.iter().for_each(|&lit| pairs.push(vec![Lit::FALSE], vec![of(lit)], Some(lit)));
    }

    /// Returns the power-on values of registers: those of the machine, then those of the RTL file.
    fn start(&self, g: &mut Graph, machine: &[Option<Lit>], text: &[Option<Lit>]) -> Result<Vec<Lit>, String> {
        let known = |bit: usize| machine.get(bit).copied().unwrap_or_else(|| text[bit - machine.len()]);
        let mut bits: Vec<Option<Lit>> = (0..machine.len() + text.len()).map(known).collect();
        for (class, is_zero) in self.classes.iter().map(|class| (class, false)).chain([(&self.zeros, true)]) {
            if self.settled > 0 {
                break;
            }
            let of = |&lit: &usize| bits[lit / 2].map(|value| value.flipped(lit % 2 == 1));
            let mut values: Vec<Lit> = class.iter().filter_map(of).collect();
            values.extend(is_zero.then_some(Lit::FALSE));
            let is_open = |&&lit: &&usize| lit / 2 >= machine.len() && bits[lit / 2].is_none();
            let open = class.iter().filter(is_open).count();
            let are_equal = values.windows(2).all(|two| two[0] == two[1]) && open <= usize::from(values.is_empty());
            ensure(are_equal, "bits of one class differ at power-on")?;
            let value = values.first().copied().unwrap_or_else(|| g.input());
            class.iter().for_each(|&lit| bits[lit / 2] = Some(value.flipped(lit % 2 == 1)));
        }
        Ok(bits.into_iter().map(|bit| bit.unwrap_or_else(|| g.input())).collect())
    }
}

impl Runs {
    /// Builds the machine's gates: those of the cycles from power-on, and if `is_whole` also those of the later cycles.
    ///
    /// # Errors
    /// If the induction is inconsistent; errors of `on_value`.
    pub(crate) fn new(
        g: &mut Graph,
        machine: &Machine,
        registers: &[Register<'_>],
        (induction, is_whole): (&Induction, bool),
        on_value: ValueCallback<'_>,
    ) -> Result<Runs, String> {
        let own = machine.registers();
        let widths: Vec<usize> = own.iter().map(|&signal| machine.name(signal).1).collect();
        let first = own.iter().zip(&widths).flat_map(|(&signal, &width)| match machine.first(signal) {
            Some(bits) => bits.into_iter().map(Some).collect(),
            None => vec![None; width],
        });
        let first: Vec<Option<Lit>> = first.collect();
        let of_text = registers.iter().flat_map(|(_, width, first)| match first {
            Some(bits) => bits.iter().map(|&bit| Some(Lit::constant(bit))).collect(),
            None => vec![None; *width],
        });
        let of_text: Vec<Option<Lit>> = of_text.collect();
        induction.check(first.len() + of_text.len())?;
        let with_bits = |signals: Vec<usize>| {
            let names = signals.into_iter().map(|signal| machine.name(signal));
            names.filter(|name| name.1 > 0).map(|(name, width)| (name.to_owned(), width)).collect()
        };
        let (inputs, outputs): (Vec<(String, usize)>, _) = (with_bits(machine.inputs()), with_bits(machine.outputs()));
        let clocks = induction.settled + induction.depth;
        let mut ports = |_| {
            let bits = inputs.iter().map(|input| (0..input.1).map(|_| g.input()).collect());
            bits.collect::<Vec<Vec<Lit>>>()
        };
        let of_first: Vec<Vec<Vec<Lit>>> = (0..clocks).map(&mut ports).collect();
        let of_later: Vec<Vec<Vec<Lit>>> = (0..=induction.depth).filter(|_| is_whole).map(&mut ports).collect();
        let all = induction.start(g, &first, &of_text)?;
        let start = all[first.len()..].to_vec();
        let cells = |bits: &[Lit], is_defined: &dyn Fn(usize) -> bool| {
            let (mut cells, mut rest) = (machine.empty(), bits);
            for (&signal, &width) in own.iter().zip(&widths) {
                let (bits, others) = rest.split_at(width);
                (rest, cells[signal]) = (others, machine.cells(signal, bits, Lit::constant(is_defined(signal))));
            }
            cells
        };
        let mut clock = |g: &mut Graph, inputs: Vec<Vec<Lit>>, cells: &mut Cells| {
            let with_bits = machine.inputs().into_iter().filter(|&signal| machine.name(signal).1 > 0);
            for (signal, bits) in with_bits.zip(&inputs) {
                cells[signal] = machine.cells(signal, bits, Lit::TRUE);
            }
            let after = machine.clock(g, cells, on_value)?;
            ensure(!g.is_full, "more gates than are built here")?;
            let shown = machine.outputs().into_iter().flat_map(|signal| cells[signal].clone());
            let outputs = shown.filter(|cell| !cell.bits.is_empty()).map(|cell| (cell.bits, cell.is_defined)).collect();
            let next = own.iter().flat_map(|&signal| after[signal].iter().flat_map(|cell| cell.bits.clone())).collect();
            *cells = after;
            Ok::<_, String>(Clock { inputs, outputs, state: Vec::new(), next })
        };
        let mut state = cells(&all, &|signal| machine.first(signal).is_some());
        let of_power_on = of_first.into_iter().map(|inputs| clock(g, inputs, &mut state)).collect::<Result<_, _>>()?;
        let (mut later, mut elements) = (Vec::new(), Vec::new());
        let any = (0..first.len()).filter(|_| is_whole).map(|_| g.input());
        let mut bits: Vec<Lit> = any.chain(of_text.iter().map(|_| Lit::UNKNOWN)).collect();
        for inputs in of_later {
            induction.assume(g, &mut bits, first.len());
            let mut all = cells(&bits, &|_| true);
            let own = clock(g, inputs, &mut all)?;
            let mut rest = [&own.inputs.concat()[..], &bits].concat();
            for (.., width) in machine.elements() {
                let others = rest.split_off(width);
                elements.push(std::mem::replace(&mut rest, others));
            }
            let state = bits.clone();
            bits[..first.len()].copy_from_slice(&own.next);
            later.push(Clock { state, ..own });
        }
        Ok(Runs { induction: induction.clone(), first: of_power_on, later, start, elements, inputs, outputs })
    }

    /// Returns the bits of an intermediate program's inputs. `feeds` are indices into the elements of the machine.
    ///
    /// # Errors
    /// If an element does not exist or has another width than the input; if `feeds` has another length than `widths`.
    pub(crate) fn program_inputs(
        &self,
        feeds: &[usize],
        widths: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Vec<Vec<Lit>>, String> {
        ensure(feeds.len() == widths.len(), "a program has another number of inputs than \"feeds\" lists")?;
        let elements =
            feeds.iter().zip(widths).map(|(&feed, width)| self.elements.get(feed).filter(|bits| bits.len() == width));
        let elements: Option<Vec<&Vec<Lit>>> = elements.collect();
        Ok(elements
            .ok_or("an input is no element of the machine, or has another width")?
            .into_iter()
            .cloned()
            .collect())
    }

    /// Returns the bits of all inputs at each cycle from power-on.
    pub(crate) fn inputs(&self) -> Vec<Vec<Lit>> {
        self.first.iter().map(|clock| clock.inputs.concat()).collect()
    }

    /// Builds the gates of the RTL file, and all pairs to be proved equal.
    ///
    /// # Errors
    /// Constructs that alir2hdl does not generate, or that do not fit the machine; errors of `on_value`.
    pub(crate) fn build_rtl(
        &self,
        g: &mut Graph,
        text: &Text<'_>,
        on_value: ValueCallback<'_>,
    ) -> Result<Pairs, String> {
        let mut running = text.run(g)?;
        let mut pairs = Pairs::default();
        let into = running.ports(true, &self.inputs, &mut pairs.port_matches)?;
        let out = running.ports(false, &self.outputs, &mut pairs.port_matches)?;
        let mut clock = |g: &mut Graph, clock: &Clock, state: &mut Vec<Lit>| {
            let inputs: Vec<(usize, Vec<Lit>)> = into.iter().copied().zip(clock.inputs.iter().cloned()).collect();
            let (shown, next) = running.clock(g, &inputs, state, &out, on_value)?;
            ensure(!g.is_full, "more gates than are built here")?;
            *state = next;
            Ok::<_, String>((shown.concat(), [&clock.next[..], state].concat()))
        };
        let mut state = self.start.clone();
        for (number, own) in self.first.iter().enumerate() {
            let (shown, next) = clock(g, own, &mut state)?;
            own.compare(g, &shown, &mut pairs);
            if number + 1 >= self.induction.settled {
                self.induction.add_claims(&next, &mut pairs);
            }
        }
        let mut state = vec![Lit::UNKNOWN; self.start.len()];
        for (number, own) in self.later.iter().enumerate() {
            let assumed = &own.state[own.state.len() - state.len()..];
            state.iter_mut().zip(assumed).filter(|(_, known)| known.is_known()).for_each(|(bit, known)| *bit = *known);
            let (shown, next) = clock(g, own, &mut state)?;
            if number == self.induction.depth {
                own.compare(g, &shown, &mut pairs);
                self.induction.add_claims(&next, &mut pairs);
            }
        }
        Ok(pairs)
    }
}
