//! Stimulus and expected response of each clock cycle of a run.
//!
//! In each cycle the inputs change, all nets settle, the outputs are observed, and then the clock rises. This module
//! derives all pipeline behaviour (latency, valid, enable, reset, stalls) from the [`Interface`] alone; a testbench
//! only applies and compares rows.

use super::vectors::Vectors;
use alir_core::num::Kif;
use alir_core::num::SplitMix;
use alir_hw::netlist::{Cell, Direction, Element, Evaluator, Interface, Net, Netlist, Piece};
use num_bigint::{BigInt, BigUint, Sign};
use std::collections::{BTreeMap, VecDeque};

/// A row of bits, which are the values of several ports in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    width: u32,
}

impl Bits {
    /// Returns a row of `width` zero bits.
    pub fn zero(width: u32) -> Bits {
        Bits { words: vec![0; width.div_ceil(64) as usize], width }
    }

    /// Sets the bit at index `at`.
    pub fn set(&mut self, at: u32, bit: bool) {
        let mask = 1 << (at % 64);
        let word = &mut self.words[(at / 64) as usize];
        *word = if bit { *word | mask } else { *word & !mask };
    }

    /// Returns the bit at index `at`.
    pub fn get(&self, at: u32) -> bool {
        self.words[(at / 64) as usize] >> (at % 64) & 1 == 1
    }

    /// Stores the low `width` bits of a raw integer value, in two's complement, at bit `lo`.
    pub fn put(&mut self, lo: u32, width: u32, code: &BigInt) {
        let negative = code.sign() == Sign::Minus;
        // -v in two's complement is the complement of v - 1.
        let magnitude = if negative { -code - 1 } else { code.clone() };
        let digits = magnitude.iter_u64_digits().collect::<Vec<_>>();
        for i in 0..width {
            let digit = digits.get((i / 64) as usize).copied().unwrap_or(0);
            self.set(lo + i, (digit >> (i % 64) & 1 == 1) != negative);
        }
    }

    /// Returns the raw integer value of type `kif` at bit `lo`.
    pub fn code(&self, lo: u32, kif: Kif) -> BigInt {
        alir_core::num::wrap(&self.unsigned(lo, kif.width()).into(), kif)
    }

    /// Returns `width` bits from bit `lo` on as an unsigned number.
    pub fn unsigned(&self, lo: u32, width: u32) -> BigUint {
        let mut bytes = vec![0u8; (width as usize).div_ceil(8)];
        for i in 0..width {
            bytes[(i / 8) as usize] |= u8::from(self.get(lo + i)) << (i % 8);
        }
        BigUint::from_bytes_le(&bytes)
    }

    /// Returns the row as hexadecimal digits, most significant first; the number of bits is rounded up to a multiple of
    /// four.
    pub fn hex(&self) -> String {
        let digits = self.width.div_ceil(4);
        let digit = |k: u32| (self.words[(k / 16) as usize] >> (k % 16 * 4) & 15) as u32;
        (0..digits).rev().map(|k| char::from_digit(digit(k), 16).unwrap_or('?')).collect()
    }
}

/// Bit field of a row, and the port that it is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the port.
    pub port: String,
    /// Index of the lowest bit in the row.
    pub lo: u32,
    /// Number of bits.
    pub width: u32,
    /// `true` if the port is a single bit rather than a vector of length one.
    pub scalar: bool,
}

impl Field {
    /// Returns the index of the highest bit in the row.
    pub fn hi(&self) -> u32 {
        self.lo + self.width - 1
    }
}

/// Positions of all ports and elements in the rows of stimulus and response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Module name.
    pub top: String,
    /// Name of the clock port.
    pub clock: Option<String>,
    /// Fields of the input ports except the clock.
    pub stimulus: Vec<Field>,
    /// Number of bits of a stimulus row, at least 1.
    pub stimulus_width: u32,
    /// Fields of the output ports; the valid flag, if any, is bit 0.
    pub response: Vec<Field>,
    /// Number of bits of a response row, at least 1.
    pub response_width: u32,
    /// Index of the lowest data bit in a response row.
    pub data_lo: u32,
    /// Index of the lowest bit of each input element in a stimulus row.
    inputs: Vec<u32>,
    /// Index of the lowest bit of each output element in a response row.
    outputs: Vec<u32>,
    reset: Option<u32>,
    enable: Option<u32>,
    valid: Option<u32>,
    /// Bit that states when a sample is accepted. It is compared like an additional last output element.
    ready: Option<u32>,
}

impl Layout {
    /// Returns the row layout for a module with this interface.
    pub fn new(interface: &Interface) -> Layout {
        let mut stimulus = Vec::new();
        let mut response = Vec::new();
        let scalar = |fields: &mut Vec<Field>, port: &String| {
            let lo = fields.len() as u32;
            fields.push(Field { port: port.clone(), lo, width: 1, scalar: true });
            lo
        };
        let reset = interface.reset.as_ref().map(|p| scalar(&mut stimulus, p));
        let enable = interface.enable.as_ref().map(|p| scalar(&mut stimulus, p));
        let valid = interface.valid.as_ref().map(|(p, _)| scalar(&mut stimulus, p));
        if let Some((_, port)) = &interface.valid {
            scalar(&mut response, port);
        }
        let data_lo = response.len() as u32;
        let ready = interface.ready.as_ref().map(|port| scalar(&mut response, port));
        let (inputs, stimulus_end) = place(&interface.inputs, &mut stimulus);
        let (mut outputs, response_end) = place(&interface.outputs, &mut response);
        outputs.extend(ready);
        Layout {
            top: interface.top.clone(),
            clock: interface.clock.clone(),
            stimulus,
            stimulus_width: stimulus_end.max(1),
            response,
            response_width: response_end.max(1),
            data_lo,
            inputs,
            outputs,
            reset,
            enable,
            valid,
            ready,
        }
    }

    /// Returns the raw integer value of an output element in a response row.
    pub fn output_code(&self, row: &Bits, index: usize, kif: Kif) -> BigInt {
        row.code(self.outputs[index], kif)
    }

    /// Returns the index of the lowest bit of an input element in a stimulus row.
    pub fn input_lo(&self, index: usize) -> u32 {
        self.inputs[index]
    }

    /// Returns the index of the lowest bit of an output element in a response row.
    pub fn output_lo(&self, index: usize) -> u32 {
        self.outputs[index]
    }
}

/// Appends a field for each port of the elements. Returns the index of the lowest bit of each element, and the number
/// of bits of the row.
fn place(elements: &[Element], fields: &mut Vec<Field>) -> (Vec<u32>, u32) {
    // Ports have the order of their first elements; the highest element determines the width of a port.
    let mut widths: Vec<(&str, u32)> = Vec::new();
    let mut index_of: BTreeMap<&str, usize> = BTreeMap::new();
    for element in elements.iter().filter(|e| e.width > 0) {
        let index = *index_of.entry(&element.port).or_insert_with(|| {
            widths.push((&element.port, 0));
            widths.len() - 1
        });
        widths[index].1 = widths[index].1.max(element.lsb + element.width);
    }
    let mut end = fields.last().map_or(0, |f| f.hi() + 1);
    let mut starts = Vec::new();
    for (port, width) in widths {
        fields.push(Field { port: port.to_owned(), lo: end, width, scalar: false });
        starts.push(end);
        end += width;
    }
    let lo_of = |e: &Element| if e.width == 0 { 0 } else { starts[index_of[e.port.as_str()]] + e.lsb };
    (elements.iter().map(lo_of).collect(), end)
}

/// Stimulus and expected response of one clock cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Bits of the input ports.
    pub stimulus: Bits,
    /// Index of the row of expected outputs, if data is compared in this cycle.
    pub sample: Option<usize>,
    /// Expected valid flag, if it is known.
    pub valid: Option<bool>,
    /// Cycle in which the inputs of these outputs were applied, if any.
    pub entered: Option<usize>,
    /// Response bits that are compared; `None`: all bits.
    pub defined: Option<Bits>,
}

/// A run of the module with expected outputs.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// The layout of the rows.
    pub layout: Layout,
    /// Input elements of the module.
    pub inputs: Vec<Element>,
    /// Output elements of the module.
    pub elements: Vec<Element>,
    /// Clock cycles of the run.
    pub cycles: Vec<Cycle>,
    /// Expected outputs: a row for each sample, then, for a module whose reset clears data registers, a row for each
    /// cycle after a reset. With a ready flag, each sample has a row for both values of the flag, and the last rows are
    /// for the flag alone.
    pub outputs: super::vectors::Rows,
    /// Number of rows of [`Cycles::outputs`] that belong to samples.
    pub samples: usize,
}

/// State of one stage of the reference pipeline.
#[derive(Clone, Copy)]
struct Slot {
    /// The valid flag, once it is known.
    valid: Option<bool>,
    /// Index of the sample, if its data is known to be intact.
    sample: Option<usize>,
    /// `true` if no sample has entered the stage since a reset.
    cleared: bool,
}

const UNKNOWN: Slot = Slot { valid: None, sample: None, cleared: false };
const CLEARED: Slot = Slot { valid: Some(false), sample: None, cleared: true };

impl Cycles {
    /// Plans a run that offers a new sample in every cycle, if the interface has no valid flag, enable or reset.
    /// Otherwise these ports stall and interrupt the run at random (bubbles, pauses, resets), until the output of every
    /// sample has been compared once. Inputs that the module must ignore have random values.
    ///
    /// # Panics
    /// If the vectors do not match the interface.
    pub fn plan(interface: &Interface, vectors: &Vectors, seed: u64) -> Cycles {
        Cycles::with_cleared(interface, vectors, Vec::new(), seed)
    }

    /// Like [`Cycles::plan`], but also compares the outputs after a reset if the data registers have a reset.
    ///
    /// # Panics
    /// If the vectors do not match the interface.
    pub fn new(netlist: &Netlist, vectors: &Vectors, seed: u64) -> Cycles {
        Cycles::with_cleared(&netlist.interface, vectors, cleared_outputs(netlist), seed)
    }

    /// Plans a run. `cleared` has the outputs of a pipeline whose registers are all zero, and the outputs of the
    /// following cycles.
    fn with_cleared(interface: &Interface, vectors: &Vectors, cleared: Vec<Vec<BigInt>>, seed: u64) -> Cycles {
        if interface.initiation_interval > 1 {
            return Cycles::repeated(interface, vectors, seed);
        }
        let samples = vectors.outputs.len();
        let outputs = vectors.outputs.followed_by(cleared);
        // Number of cycles since the last reset in which the pipeline advanced.
        let mut moved = 0;
        let layout = Layout::new(interface);
        let mut cycles = Vec::with_capacity(vectors.inputs.len() + interface.latency as usize);
        let mut random = SplitMix::new(seed ^ 0x7374_616c_6c73);
        let mut waiting: VecDeque<usize> = (0..vectors.inputs.len()).collect();
        let mut pipeline: VecDeque<Slot> = vec![UNKNOWN; interface.latency as usize].into();
        let mut in_flight = 0usize;
        // Cycle in which each sample was applied last.
        let mut entered = vec![0; vectors.inputs.len()];
        let mut stalls = Stalls::new(interface);
        while !waiting.is_empty() || in_flight > 0 {
            let Controls { reset, enable, offer } = stalls.next(&mut random);
            let taken = if offer && enable && !reset { waiting.pop_front() } else { None };
            if reset && interface.reset_async {
                in_flight -= clear(&mut pipeline, &mut waiting);
                moved = 0;
            }
            // If there is a valid port, a sample may be offered while the pipeline is stalled or reset, and must not be
            // accepted then.
            let offered = offer && (taken.is_some() || (layout.valid.is_some() && (reset || !enable)));
            let entering = Slot { valid: Some(taken.is_some()), sample: taken, cleared: false };
            let mut stimulus = Bits::zero(layout.stimulus_width);
            layout.drive(&mut stimulus, interface, Controls { reset, enable, offer: offered });
            match taken {
                Some(sample) => {
                    layout.put_sample(&mut stimulus, interface, vectors.inputs.row(sample));
                    entered[sample] = cycles.len();
                }
                None => layout.put_garbage(&mut stimulus, interface, &mut random),
            }
            let leaving = if pipeline.is_empty() {
                Slot { valid: Some(offered), sample: taken, cleared: false }
            } else {
                pipeline[pipeline.len() - 1]
            };
            let valid = leaving.valid.filter(|_| layout.valid.is_some());
            let drained = (leaving.cleared && samples + moved < outputs.len()).then_some(samples + moved);
            let entered = leaving.sample.map(|sample| entered[sample]);
            cycles.push(Cycle { stimulus, sample: leaving.sample.or(drained), valid, entered, defined: None });
            if reset {
                in_flight -= clear(&mut pipeline, &mut waiting);
                moved = 0;
            } else if enable && !pipeline.is_empty() {
                moved += 1;
                in_flight += usize::from(taken.is_some());
                pipeline.push_front(entering);
                in_flight -= pipeline.pop_back().map_or(0, |left| usize::from(left.sample.is_some()));
            }
        }
        let (inputs, elements) = (interface.inputs.clone(), interface.outputs.clone());
        Cycles { layout, inputs, elements, cycles, outputs, samples }
    }

    /// Plans a run of a module with an initiation interval above 1. Samples are offered at some of the slots and stay
    /// for as many cycles as the interface requires; in all other cycles the inputs have random values. The outputs are
    /// compared in every cycle of a result, even in pauses.
    fn repeated(interface: &Interface, vectors: &Vectors, seed: u64) -> Cycles {
        let layout = Layout::new(interface);
        let (interval, latency) = (interface.initiation_interval as usize, interface.latency as usize);
        let samples = vectors.outputs.len();
        // Expected rows: each sample with the ready flag 0, then each sample with the flag 1, then the flag 0 and 1
        // without a sample.
        let flagged = |row: &[BigInt], ready: bool| [row, &[BigInt::from(u8::from(ready))]].concat();
        let width = interface.outputs.len();
        let mut outputs = super::vectors::Rows::new(width + 1, []);
        for ready in [false, true] {
            (0..samples).for_each(|s| outputs.push(flagged(vectors.outputs.row(s), ready)));
        }
        for ready in [false, true] {
            outputs.push(flagged(&vec![BigInt::ZERO; width], ready));
        }
        let mut flag_alone = Bits::zero(layout.response_width);
        if let Some(at) = layout.ready {
            flag_alone.set(at, true);
        }
        let mut random = SplitMix::new(seed ^ 0x7374_616c_6c73);
        let mut stalls = Stalls::new(interface);
        let mut waiting: VecDeque<usize> = (0..samples).collect();
        let mut entered = vec![0; samples];
        // Cycles in which the design advanced since power-on or the last reset, and the sample of each slot since then,
        // if one was accepted and its state is known.
        let (mut moved, mut slots): (usize, Vec<Option<usize>>) = (0, Vec::new());
        // `true` after the first reset, when the flags are known.
        let mut known = false;
        let mut cycles: Vec<Cycle> = Vec::new();
        let mut shown = vec![false; samples];
        loop {
            let done = slots.iter().flatten().all(|&s| shown[s]);
            let last = slots.iter().rposition(Option::is_some).map_or(0, |slot| slot * interval + latency + interval);
            if waiting.is_empty() && done && moved >= last {
                break;
            }
            let Controls { reset, enable, offer } = stalls.next(&mut random);
            if reset && interface.reset_async {
                lose(&mut slots, &shown, &mut waiting);
                (moved, known) = (0, true);
            }
            let ready = moved % interval == 0;
            let taken = if ready && offer && enable && !reset { waiting.pop_front() } else { None };
            // Samples may be offered while none is accepted: the module must ignore them.
            let offered = offer && (taken.is_some() || !ready || reset || !enable);
            let mut stimulus = Bits::zero(layout.stimulus_width);
            layout.drive(&mut stimulus, interface, Controls { reset, enable, offer: offered });
            if let Some(sample) = taken {
                entered[sample] = cycles.len();
            }
            // A sample stays on the inputs until the design has advanced by `clocks` cycles, even in pauses, or its
            // beats are driven one by one.
            let clocks = interface.input_hold.max(interface.input_beats) as usize;
            let stays = !ready && moved % interval < clocks;
            let held = slots.get(moved / interval).copied().flatten().filter(|_| stays);
            match taken.or(held) {
                Some(sample) if interface.input_beats > 1 => {
                    layout.put_garbage(&mut stimulus, interface, &mut random);
                    let now = |element: &Element| element.beat as usize == moved % interval;
                    layout.put_elements(&mut stimulus, interface, vectors.inputs.row(sample), now);
                }
                Some(sample) => layout.put_sample(&mut stimulus, interface, vectors.inputs.row(sample)),
                None => layout.put_garbage(&mut stimulus, interface, &mut random),
            }
            let result = moved.checked_sub(latency).map(|since| (since / interval, since % interval));
            let sample = result.and_then(|(slot, _)| slots.get(slot).copied().flatten());
            let sample = sample.filter(|_| !(reset && interface.reset_async));
            if let Some(sample) = sample {
                shown[sample] = true;
            }
            let first = result.is_some_and(|(_, clock)| clock == 0);
            let valid = (known || result.is_some()).then_some(first && sample.is_some());
            let valid = valid.filter(|_| layout.valid.is_some());
            let row = usize::from(ready) * samples + sample.unwrap_or(0);
            let (row, defined) = match sample {
                Some(_) => (row, None),
                None => (2 * samples + usize::from(ready), Some(flag_alone.clone())),
            };
            // Before its first reset, a design with a reset may be in any state.
            let row = (known || interface.reset.is_none() || sample.is_some()).then_some(row);
            let entered = sample.map(|sample| entered[sample]);
            cycles.push(Cycle { stimulus, sample: row, valid, entered, defined });
            if reset {
                lose(&mut slots, &shown, &mut waiting);
                (moved, known) = (0, true);
            } else if enable {
                if ready {
                    slots.push(taken);
                }
                moved += 1;
            }
        }
        let ready = interface.ready.iter().map(|port| Element {
            port: port.clone(),
            lsb: 0,
            width: 1,
            signed: false,
            fractionals: 0,
            name: port.clone(),
            beat: 0,
        });
        let elements = interface.outputs.iter().cloned().chain(ready).collect();
        Cycles { layout, inputs: interface.inputs.clone(), elements, cycles, outputs, samples }
    }

    /// Returns the sample of a row of [`Cycles::outputs`]; `None` if the row belongs to no sample.
    pub fn sample_of(&self, row: usize) -> Option<usize> {
        match self.layout.ready {
            Some(_) => (row < 2 * self.samples).then(|| row % self.samples),
            None => (row < self.samples).then_some(row),
        }
    }

    /// Returns `true` if some cycles compare only a part of their response.
    pub fn is_masked(&self) -> bool {
        self.cycles.iter().any(|c| c.defined.is_some())
    }

    /// Returns the response row of a sample, without the valid flag.
    pub fn response(&self, sample: usize) -> Bits {
        let mut row = Bits::zero(self.layout.response_width);
        for ((element, lo), code) in self.elements.iter().zip(&self.layout.outputs).zip(self.outputs.row(sample)) {
            row.put(*lo, element.width, code);
        }
        row
    }

    /// Returns the number of cycles in which data is compared.
    pub fn compared(&self) -> usize {
        self.cycles.iter().filter(|c| c.sample.is_some()).count()
    }

    /// Returns `true` if the pipeline advances at the end of a cycle.
    pub fn advances(&self, cycle: usize) -> bool {
        self.layout.enable.is_none_or(|at| self.cycles[cycle].stimulus.get(at))
    }

    /// Returns the cycles up to `last` (inclusive) that determine the response of `last`.
    pub fn window(&self, interface: &Interface, last: usize) -> Cycles {
        if interface.counts_clocks() {
            return Cycles { cycles: self.cycles[..=last].to_vec(), ..self.clone() };
        }
        let mut advances = interface.latency + 2;
        let mut first = last;
        while first > 0 && advances > 0 {
            first -= 1;
            advances -= u32::from(self.advances(first));
        }
        let mut cycles = self.cycles[first..=last].to_vec();
        cycles.iter_mut().for_each(|cycle| cycle.entered = cycle.entered.and_then(|at| at.checked_sub(first)));
        Cycles { cycles, ..self.clone() }
    }
}

/// Drops all samples since the last reset. Samples whose outputs were not compared yet are queued again.
fn lose(slots: &mut Vec<Option<usize>>, shown: &[bool], waiting: &mut VecDeque<usize>) {
    slots.drain(..).flatten().filter(|&s| !shown[s]).for_each(|s| waiting.push_front(s));
}

/// Returns the outputs of a module whose data registers have a reset: right after the reset, and in each following
/// cycle until new inputs reach the outputs. Empty for other modules.
fn cleared_outputs(netlist: &Netlist) -> Vec<Vec<BigInt>> {
    let interface = &netlist.interface;
    let keeps = |net: &Net| matches!(net.cell, Cell::Register { reset: None, .. });
    if interface.reset.is_none() || interface.counts_clocks() || netlist.nets().iter().any(keeps) {
        return Vec::new();
    }
    // By the interface contract, outputs of registers are zero and other bits are constant.
    let mut rows = vec![interface.outputs.iter().map(|element| constant_bits(netlist, element)).collect::<Vec<_>>()];
    // Later outputs are functions of zeros; the evaluator computes them from registers that are all zero.
    let mut evaluator = Evaluator::new(netlist);
    if let Some(enable) = &interface.enable {
        evaluator.set_port(enable, &BigUint::from(1u32));
    }
    if let Some(reset) = interface.reset.as_ref().filter(|_| !interface.reset_active_high) {
        evaluator.set_port(reset, &BigUint::from(1u32));
    }
    for _ in 1..interface.latency {
        evaluator.tick();
        rows.push(evaluator.outputs());
    }
    rows
}

/// Returns the raw integer value of an output element whose registers are all zero.
fn constant_bits(netlist: &Netlist, element: &Element) -> BigInt {
    let port = netlist.ports().iter().find(|port| port.direction == Direction::Out && port.name == element.port);
    let Some(driver) = port.and_then(|port| port.driver) else { return BigInt::ZERO };
    let mut row = Bits::zero(driver.width());
    let mut at = 0;
    for piece in netlist.pieces(driver) {
        let one = matches!(piece, Piece::Const { one: true, .. });
        (at..at + piece.width()).for_each(|bit| row.set(bit, one));
        at += piece.width();
    }
    row.code(element.lsb, element.kif())
}

/// Empties the pipeline and queues its samples again. Returns the number of these samples.
fn clear(pipeline: &mut VecDeque<Slot>, waiting: &mut VecDeque<usize>) -> usize {
    let lost: Vec<usize> = pipeline.iter().filter_map(|s| s.sample).collect();
    for sample in &lost {
        waiting.push_front(*sample);
    }
    pipeline.iter_mut().for_each(|slot| *slot = CLEARED);
    lost.len()
}

/// Levels of the control signals, active high.
#[derive(Clone, Copy)]
struct Controls {
    reset: bool,
    enable: bool,
    /// `true` if a sample is offered.
    offer: bool,
}

/// Generator of random stalls and resets.
struct Stalls {
    has_reset: bool,
    has_enable: bool,
    has_valid: bool,
    /// Remaining cycles of the current reset.
    reset_left: u32,
    /// Remaining cycles without a reset, so that samples reach the outputs.
    calm_left: u32,
    calm: u32,
    /// Number of cycles since the last cycle that was not enabled.
    enabled: u32,
    /// Percentages of cycles that are enabled and that offer a sample; both change from time to time.
    pace: (u64, u64),
}

impl Stalls {
    fn new(interface: &Interface) -> Stalls {
        let calm = (interface.latency + interface.initiation_interval) * 6 + 34;
        Stalls {
            has_reset: interface.reset.is_some(),
            has_enable: interface.enable.is_some(),
            has_valid: interface.valid.is_some(),
            // After power-on, the flags are unknown until the first reset has passed.
            reset_left: 2,
            calm_left: calm,
            calm,
            enabled: 0,
            pace: (80, 70),
        }
    }

    fn next(&mut self, random: &mut SplitMix) -> Controls {
        if chance(random, 2) {
            // Rates from full speed to rare samples.
            let paces = [(100, 100), (100, 50), (50, 100), (80, 70), (20, 90), (90, 20)];
            self.pace = paces[random.below(paces.len() as u64) as usize];
        }
        let reset = self.has_reset && self.reset_left > 0;
        if reset {
            self.reset_left -= 1;
        } else if self.calm_left > 0 {
            self.calm_left -= 1;
        } else if chance(random, 5) {
            self.reset_left = 1 + random.below(3) as u32;
            self.calm_left = self.calm;
        }
        // A run without any stall would not detect registers that ignore the enable.
        let enable = !self.has_enable || (chance(random, self.pace.0) && self.enabled < self.calm);
        self.enabled = if enable { self.enabled + 1 } else { 0 };
        let offer = !self.has_valid || chance(random, self.pace.1);
        Controls { reset, enable, offer }
    }
}

/// Returns `true` with a probability of `percent` per cent.
fn chance(random: &mut SplitMix, percent: u64) -> bool {
    random.below(100) < percent
}

impl Layout {
    fn drive(&self, row: &mut Bits, interface: &Interface, controls: Controls) {
        if let Some(at) = self.reset {
            row.set(at, controls.reset == interface.reset_active_high);
        }
        if let Some(at) = self.enable {
            row.set(at, controls.enable);
        }
        if let Some(at) = self.valid {
            row.set(at, controls.offer);
        }
    }

    pub(super) fn put_sample(&self, row: &mut Bits, interface: &Interface, codes: &[BigInt]) {
        self.put_elements(row, interface, codes, |_| true);
    }

    /// Writes the elements of a sample for which `is_there` returns `true`: the elements on the ports in this cycle.
    fn put_elements(
        &self,
        row: &mut Bits,
        interface: &Interface,
        codes: &[BigInt],
        is_there: impl Fn(&Element) -> bool,
    ) {
        assert_eq!(codes.len(), interface.inputs.len(), "a code for each input");
        let elements = interface.inputs.iter().zip(&self.inputs).zip(codes);
        for ((element, lo), code) in elements.filter(|((element, _), _)| is_there(element)) {
            row.put(*lo, element.width, code);
        }
    }

    fn put_garbage(&self, row: &mut Bits, interface: &Interface, random: &mut SplitMix) {
        for (element, lo) in interface.inputs.iter().zip(&self.inputs) {
            row.put(*lo, element.width, &random.bits(element.width));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Rows;

    fn interface(latency: u32) -> Interface {
        let element = |port: &str, lsb, width, signed| Element {
            port: port.into(),
            lsb,
            width,
            signed,
            fractionals: 0,
            name: String::new(),
            beat: 0,
        };
        let inputs = vec![element("a", 0, 3, true), element("", 0, 0, false), element("a", 3, 66, false)];
        let clock = Some("clk".into());
        Interface { latency, clock, ..Interface::plain("m", inputs, vec![element("y", 0, 3, true)]) }
    }

    /// Samples that differ in both inputs; the output is the first input.
    fn vectors(count: i64) -> Vectors {
        let first = |i: i64| BigInt::from(i % 8 - 4);
        let inputs = (0..count).map(|i| vec![first(i), BigInt::ZERO, BigInt::from(i) << 50u32]);
        Vectors { inputs: Rows::new(3, inputs), outputs: Rows::new(1, (0..count).map(|i| vec![first(i)])) }
    }

    #[test]
    fn bits_hold_codes_in_two_complement() {
        let mut row = Bits::zero(75);
        row.put(0, 5, &BigInt::from(-3));
        row.put(5, 70, &(BigInt::from(1) << 69u32));
        assert_eq!(row.hex(), "400000000000000001d");
        assert_eq!(row.code(0, Kif { signed: true, int: 4, frac: 0 }), BigInt::from(-3));
        assert_eq!(row.code(0, Kif { signed: false, int: 5, frac: 0 }), BigInt::from(29));
        assert_eq!(row.code(5, Kif { signed: true, int: 69, frac: 0 }), -(BigInt::from(1) << 69u32));
    }

    #[test]
    fn without_controls_a_sample_enters_every_clock() {
        let plan = Cycles::plan(&interface(2), &vectors(5), 1);
        let samples: Vec<Option<usize>> = plan.cycles.iter().map(|c| c.sample).collect();
        assert_eq!(samples, [None, None, Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert!(plan.cycles.iter().all(|c| c.valid.is_none()));
        // The stimulus has 69 bits: the first element is lowest, the second has no bits, the third is highest.
        assert_eq!(plan.layout.stimulus_width, 69);
        let third = plan.cycles[3].stimulus.code(3, Kif { signed: false, int: 66, frac: 0 });
        assert_eq!(third, BigInt::from(3) << 50u32);
    }

    /// For every seed, a register that ignores the enable is detected, as its value is compared after a cycle in which
    /// it should have been kept. (Before runs were forced to stall, a mutant without the enable passed with one of 250
    /// seeds.)
    #[test]
    fn every_run_of_a_module_with_an_enable_stalls() {
        for seed in 0..2_000 {
            let interface = Interface { reset: Some("rst".into()), enable: Some("ce".into()), ..interface(1) };
            let plan = Cycles::plan(&interface, &vectors(200), seed);
            let is_held = |pair: &[Cycle]| pair[0].sample.is_some() && pair[0].sample == pair[1].sample;
            let held =
                (1..plan.cycles.len()).filter(|&at| is_held(&plan.cycles[at - 1..=at]) && !plan.advances(at - 1));
            assert!(held.count() > 0, "seed {seed}");
        }
    }

    /// Reference model of a pipeline: the required behaviour of a module with these controls, cycle by cycle.
    struct Model {
        flags: Vec<bool>,
        data: Vec<BigInt>,
    }

    #[test]
    fn a_pipeline_with_every_control_agrees_with_the_plan() {
        let kinds = [(1, true), (1, false), (3, true), (3, false)];
        for (seed, ((latency, asynchronous), data)) in
            kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]).enumerate()
        {
            let interface = Interface {
                reset: Some("rst".into()),
                reset_async: asynchronous,
                enable: Some("ce".into()),
                valid: Some(("vi".into(), "vo".into())),
                ..interface(latency)
            };
            let n = latency as usize;
            // A pipeline that consists only of registers outputs zeros after a reset.
            let cleared = if data { vec![vec![BigInt::ZERO]; n] } else { Vec::new() };
            let plan = Cycles::with_cleared(&interface, &vectors(200), cleared, seed as u64);
            let mut model = Model { flags: vec![true; n], data: vec![BigInt::from(99); n] };
            let mut seen = vec![0; 200 + if data { n } else { 0 }];
            for cycle in &plan.cycles {
                let bit = |at| cycle.stimulus.get(at);
                let (rst, ce, valid) = (bit(0), bit(1), bit(2));
                if rst && asynchronous {
                    model.flags.fill(false);
                    if data {
                        model.data.fill(BigInt::ZERO);
                    }
                }
                if let Some(expected) = cycle.valid {
                    assert_eq!(model.flags[n - 1], expected);
                }
                if let Some(sample) = cycle.sample {
                    assert_eq!(model.flags[n - 1], sample < 200, "data is compared only where it is valid or reset");
                    assert_eq!(&model.data[n - 1], &plan.outputs.row(sample)[0]);
                    seen[sample] += 1;
                }
                if ce {
                    model.data.insert(0, cycle.stimulus.code(3, Kif { signed: true, int: 2, frac: 0 }));
                    model.data.truncate(n);
                }
                if rst {
                    model.flags.fill(false);
                    if data {
                        model.data.fill(BigInt::ZERO);
                    }
                } else if ce {
                    model.flags.insert(0, valid);
                    model.flags.truncate(n);
                }
            }
            assert!(
                seen.iter().all(|times| *times > 0),
                "every sample comes out intact, and every reset state is seen"
            );
            let known = plan.cycles.iter().filter(|c| c.valid.is_some()).count();
            assert!(known + 3 > plan.cycles.len(), "the flag is known from the first reset on");
            assert!(plan.cycles.iter().any(|c| c.valid == Some(false)));
        }
    }

    #[test]
    fn a_window_holds_enough_to_fill_the_pipeline() {
        let held = Interface { enable: Some("ce".into()), ..interface(3) };
        let plan = Cycles::plan(&held, &vectors(100), 5);
        let last = plan.cycles.iter().rposition(|c| c.sample.is_some()).unwrap();
        let window = plan.window(&held, last);
        // The cycles are equal except for the index of the cycle in which the sample entered.
        let (ends, there) = (window.cycles.last().unwrap(), &plan.cycles[last]);
        assert_eq!(Cycle { entered: None, ..ends.clone() }, Cycle { entered: None, ..there.clone() });
        let entered = |plan: &Cycles, cycle: &Cycle| plan.cycles[cycle.entered.unwrap()].stimulus.clone();
        assert_eq!(entered(&window, ends), entered(&plan, there));
        let advancing = window.cycles[..window.cycles.len() - 1].iter().filter(|c| c.stimulus.get(0)).count();
        assert!(advancing >= 3, "{advancing}");
    }
}
