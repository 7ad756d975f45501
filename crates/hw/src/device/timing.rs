//! Arrival time of each bit: static timing of the LUT cover, with every carry chain timed bit by bit.
//!
//! Families with measured timing arcs are timed arc by arc ([`by_arcs`]). The other families are timed with one delay
//! each for a LUT, a chain and a carry bit, which includes the wire after the cell ([`lumped`]).

use super::arcs::{Arcs, Carry};
use super::cover::Cover;
use super::gates::{BlockKind, FIRST, Gate, Gates, Lit};
use super::technology::{PartTimes, Technology, Times};
use serde::Serialize;

/// Numbers of cells on a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Path {
    /// LUTs, except those directly before a carry chain.
    pub tables: u32,
    /// Carry chains.
    pub chains: u32,
    /// Carry bits along the path.
    pub carry_bits: u32,
    /// DSPs.
    pub multipliers: u32,
    /// Inputs of functions other than multiplexers beyond those of a LUT, for families with lumped delays.
    pub wide_inputs: u32,
}

impl Path {
    /// Adds a block with `levels` LUT levels to the path.
    fn add_block(&mut self, kind: BlockKind, levels: u32) {
        self.tables += levels;
        match kind {
            BlockKind::Dsp(..) => self.multipliers += 1,
            BlockKind::SoftProduct(longer, _) => {
                self.chains += 1;
                self.carry_bits += longer;
            }
            _ => {}
        }
    }
}

/// Arrival time in nanoseconds after the clock edge, without the delay of the register, and the path with this delay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Arrival {
    pub(super) at: f32,
    pub(super) path: Path,
}

impl Arrival {
    fn later(self, other: Arrival) -> Arrival {
        if other.at > self.at { other } else { self }
    }

    fn plus(self, time: f64, path: impl FnOnce(&mut Path)) -> Arrival {
        let mut later = Arrival { at: self.at + time as f32, ..self };
        path(&mut later.path);
        later
    }
}

/// Share of a chain's delay between its operand and the first carry.
pub(super) const BEFORE_CARRY: f64 = 0.5;

/// Returns the number of adder levels of a product in logic.
fn product_levels(shorter: u32) -> u32 {
    u32::BITS - shorter.saturating_sub(1).leading_zeros()
}

/// Arrival time of every gate's output, and the setup time of a register after it.
pub(super) struct Timing {
    /// The arrival of every gate's output.
    pub(super) arrivals: Vec<Arrival>,
    /// Setup time of a register after each gate's output, in nanoseconds; empty if the technology has one delay for a
    /// register.
    setup: Vec<f32>,
}

impl Timing {
    /// Times a cover of `tables` LUTs. `inputs` is the arrival time of input ports in nanoseconds.
    pub(super) fn new(gates: &Gates, cover: &Cover, technology: &Technology, tables: f64, inputs: f64) -> Timing {
        match technology.times {
            PartTimes::Lumped(times) => {
                let wires = lumped_wires(&times, tables);
                Timing { arrivals: lumped(gates, cover, technology, &times, wires, inputs), setup: Vec::new() }
            }
            PartTimes::Arcs(arcs) => {
                let wires = arcs.wires.by_readers(tables);
                by_arcs(gates, cover, technology, arcs, &wires, inputs)
            }
        }
    }

    /// Returns the latest arrival of some bits.
    pub(super) fn latest(&self, bits: impl IntoIterator<Item = Lit>) -> Arrival {
        bits.into_iter().fold(Arrival::default(), |latest, x| latest.later(self.arrivals[x.gate()]))
    }

    /// Returns the latest arrival of some bits that registers read, including the setup time of the registers.
    pub(super) fn latest_at_registers(&self, bits: impl IntoIterator<Item = Lit>) -> Arrival {
        let setup = |x: Lit| self.setup.get(x.gate()).copied().unwrap_or(0.0);
        bits.into_iter().fold(Arrival::default(), |latest, x| {
            latest.later(self.arrivals[x.gate()].plus(f64::from(setup(x)), |_| {}))
        })
    }
}

/// Converts picoseconds to nanoseconds.
fn ns(picoseconds: u16) -> f64 {
    f64::from(picoseconds) / 1000.0
}

/// Returns the delay of a block from its latest input to its output, and the number of LUT levels within the block.
pub(super) fn lumped_block(kind: BlockKind, technology: &Technology, times: &Times, wires: f64) -> (f64, u32) {
    let (table, chain) = (times.table * wires, times.chain * wires);
    match kind {
        BlockKind::Dsp(..) => (times.multiplier * wires, 0),
        BlockKind::SoftProduct(longer, shorter) => {
            let levels = product_levels(shorter);
            (f64::from(levels) * table + chain + f64::from(longer) * times.carry, levels)
        }
        BlockKind::Memory | BlockKind::SumOfThree => (0.0, 0),
        BlockKind::Piece | BlockKind::CarryOfThree => (table, 1),
        BlockKind::Table(address, _) => {
            let levels = 1 + address.saturating_sub(technology.table_inputs).div_ceil(2);
            (f64::from(levels) * table, levels)
        }
    }
}

/// Returns the number of inputs of a function beyond those of a LUT; 0 for a multiplexer.
pub(super) fn wide_inputs(technology: &Technology, function: &Gate, inputs: usize) -> u32 {
    if matches!(function, Gate::Mux(..)) { 0 } else { (inputs as u32).saturating_sub(technology.table_inputs) }
}

/// Returns the wire delay relative to a small design, for lumped times.
pub(super) fn lumped_wires(times: &Times, tables: f64) -> f64 {
    1.0 + times.spread * (tables / 1000.0).log2().max(0.0)
}

/// Times a cover with lumped delays. `wires` is the wire delay relative to a small design; `inputs` is the arrival time
/// of input ports in nanoseconds.
fn lumped(
    gates: &Gates,
    cover: &Cover,
    technology: &Technology,
    times: &Times,
    wires: f64,
    inputs: f64,
) -> Vec<Arrival> {
    let mut outside = vec![false; gates.gates.len()];
    gates.inputs.iter().for_each(|x| outside[x.gate()] = true);
    let (table, chain) = (times.table * wires, times.chain * wires);
    let mut at: Vec<Arrival> = Vec::with_capacity(gates.gates.len());
    let mut carry = vec![Arrival::default(); gates.gates.len()];
    let mut blocks: Vec<Option<Arrival>> = vec![None; gates.blocks.len()];
    for (index, gate) in gates.gates.iter().enumerate() {
        let of = |at: &[Arrival], x: Lit| at[x.gate()];
        let arrival = match *gate {
            Gate::Source if outside[index] => Arrival::default().plus(inputs, |_| {}),
            Gate::Source => Arrival::default(),
            Gate::And(..) | Gate::Xor(..) | Gate::Mux(..) => {
                let leaves = cover.cut(index).map_or(&[][..], |cut| cut.leaves());
                let latest = leaves.iter().fold(Arrival::default(), |latest, &leaf| latest.later(at[leaf as usize]));
                let wide = wide_inputs(technology, gate, leaves.len());
                latest.plus(table + f64::from(wide) * times.wide_input * wires, |path| {
                    path.tables += 1;
                    path.wide_inputs += wide;
                })
            }
            Gate::Carry { a, b, before, own_table: _ } => {
                // The delay of a chain includes the LUT before the chain.
                let in_front = technology.table_before_carry && gates.gates[a.gate()].is_logic();
                let select = match in_front {
                    true => of(&at, a).plus(-table, |path| path.tables -= 1),
                    false => of(&at, a),
                };
                let enters = select.later(of(&at, b)).plus(BEFORE_CARRY * chain, |path| path.chains += 1);
                let rippled = if before == FIRST { Arrival::default() } else { carry[before as usize] };
                let here = rippled.later(enters);
                carry[index] = here.plus(times.carry, |path| path.carry_bits += 1);
                here.plus((1.0 - BEFORE_CARRY) * chain, |_| {})
            }
            Gate::Block(block) => *blocks[block as usize].get_or_insert_with(|| {
                let block = &gates.blocks[block as usize];
                let latest = block.inputs.iter().fold(Arrival::default(), |latest, &x| latest.later(of(&at, x)));
                let (time, levels) = lumped_block(block.kind, technology, times, wires);
                latest.plus(time, |path| path.add_block(block.kind, levels))
            }),
        };
        at.push(arrival);
    }
    at
}

/// A bit of a carry chain.
#[derive(Clone, Copy)]
struct ChainBit {
    /// Position of the bit in its cell.
    position: usize,
    /// Arrival of the carry into the cell, or `None` if the carry is constant.
    carry_in: Option<Arrival>,
    /// Arrival of the select signal.
    select: Arrival,
    /// Arrival of the direct input.
    direct: Arrival,
}

/// The bits of a chain timed so far, and the timing arcs of its cells.
struct Chains<'a> {
    cell: &'a Carry,
    bits: Vec<ChainBit>,
}

impl Chains<'_> {
    /// Returns the bits of the cell that contains the last bit, lowest first.
    fn cell_of_last(&self) -> &[ChainBit] {
        let last = self.bits.last().map_or(0, |bit| bit.position);
        &self.bits[self.bits.len() - 1 - last..]
    }

    /// Returns the arrival at the next cell's carry in, from the cell that contains the last bit.
    fn carry_out(&self) -> Arrival {
        let cell = self.cell;
        let bits = self.cell_of_last();
        let mut out = Arrival::default();
        for (k, bit) in bits.iter().enumerate() {
            let run = |path: &mut Path| path.carry_bits += (cell.bits - k) as u32;
            out = out.later(bit.select.plus(ns(cell.select_to_out[k]), run));
            out = out.later(bit.direct.plus(ns(cell.direct_to_out[k]), run));
        }
        if let Some(carry) = bits[0].carry_in {
            out = out.later(carry.plus(ns(cell.in_to_out), |path| path.carry_bits += cell.bits as u32));
        }
        out.plus(ns(cell.between), |_| {})
    }

    /// Appends a bit and returns the arrival of its sum. `is_first` starts a new chain.
    fn next(&mut self, is_first: bool, select: Arrival, direct: Arrival) -> Arrival {
        let entered = |arrival: Arrival| arrival.plus(0.0, |path| path.chains += 1);
        let (select, direct) = (entered(select), entered(direct));
        let (position, carry_in) = match self.bits.last() {
            Some(last) if !is_first && last.position + 1 < self.cell.bits => (last.position + 1, last.carry_in),
            Some(_) if !is_first => (0, Some(self.carry_out())),
            _ => (0, None),
        };
        self.bits.push(ChainBit { position, carry_in, select, direct });
        let cell = self.cell;
        let mut sum = Arrival::default();
        for (k, bit) in self.cell_of_last().iter().enumerate() {
            let run = |path: &mut Path| path.carry_bits += (position - k) as u32;
            sum = sum.later(bit.select.plus(ns(cell.select_to_sum[k][position]), run));
            if k < position {
                sum = sum.later(bit.direct.plus(ns(cell.direct_to_sum[k][position]), run));
            }
        }
        if let Some(carry) = carry_in {
            let run = |path: &mut Path| path.carry_bits += 1 + position as u32;
            sum = sum.later(carry.plus(ns(cell.in_to_sum[position]), run));
        }
        sum
    }
}

/// Arrivals at a function's inputs. The latest input uses the fastest pin.
struct Inputs(Vec<Arrival>);

impl Inputs {
    fn new(arrivals: impl IntoIterator<Item = Arrival>) -> Inputs {
        let mut all: Vec<Arrival> = arrivals.into_iter().collect();
        all.sort_by(|a, b| b.at.total_cmp(&a.at));
        Inputs(all)
    }

    /// Returns the arrival at the output of one LUT, or of several LUTs with the slice's multiplexers, whose selects
    /// are the latest inputs.
    fn through(&self, arcs: &Arcs) -> Arrival {
        let times = arcs.table_times(self.0.len());
        let ends = self.0.iter().zip(times).map(|(input, time)| input.plus(time, |_| {}));
        let out = ends.fold(Arrival::default(), Arrival::later);
        out.plus(0.0, |path| path.tables += 1)
    }
}

/// Returns the number of LUTs, chain bits, blocks, registers and ports that read each gate.
fn readers(gates: &Gates, cover: &Cover, technology: &Technology) -> Vec<u32> {
    let mut readers = vec![0u32; gates.gates.len()];
    for (index, gate) in gates.gates.iter().enumerate() {
        match *gate {
            Gate::Carry { a, b, .. } => {
                // A LUT directly before the chain drives it without a wire.
                if !(technology.table_before_carry && gates.gates[a.gate()].is_logic()) {
                    readers[a.gate()] += 1;
                }
                readers[b.gate()] += 1;
            }
            _ if cover.used[index] => {
                let leaves = cover.cut(index).map_or(&[][..], |cut| cut.leaves());
                leaves.iter().for_each(|&leaf| readers[leaf as usize] += 1);
            }
            _ => {}
        }
    }
    gates.blocks.iter().flat_map(|block| &block.inputs).for_each(|x| readers[x.gate()] += 1);
    gates.ends.iter().for_each(|x| readers[x.gate()] += 1);
    readers
}

/// Delays between a gate's output and its readers.
pub(super) struct Reach<'a> {
    gates: &'a Gates,
    cover: &'a Cover,
    pub(super) arcs: &'a Arcs,
    readers: Vec<u32>,
    /// Delays of wires in picoseconds by the number of readers.
    wires: Vec<f64>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(
        gates: &'a Gates,
        cover: &'a Cover,
        technology: &Technology,
        arcs: &'a Arcs,
        wires: Vec<f64>,
    ) -> Reach<'a> {
        Reach { gates, cover, arcs, readers: readers(gates, cover, technology), wires }
    }

    fn wire(&self, readers: usize) -> f64 {
        self.wires[readers.min(self.wires.len() - 1)] / 1000.0
    }

    fn is_wide(&self, gate: usize) -> bool {
        self.cover.cut(gate).is_some_and(|cut| cut.leaves().len() > self.arcs.table.len())
    }

    /// Returns the time from a gate's output to the pin of its reader, in nanoseconds.
    pub(super) fn arrival(&self, gate: usize) -> f64 {
        let wire = self.wire(self.readers[gate] as usize);
        match self.gates.gates[gate] {
            Gate::Carry { .. } => ns(self.arcs.carry.sum_to_pin) + wire,
            // The LUT before a chain also computes the sum of three bits. The delay of the wire is that of the LUT's
            // inputs.
            Gate::Block(block) if self.gates.blocks[block as usize].kind == BlockKind::SumOfThree => 0.0,
            _ if self.is_wide(gate) => ns(self.arcs.multiplexer_to_pin) + wire,
            _ => wire,
        }
    }

    /// Returns the setup time of a register after a gate's output, in nanoseconds.
    pub(super) fn setup(&self, gate: usize) -> f64 {
        let arcs = self.arcs;
        let behind_wire = || self.arrival(gate) + ns(arcs.setup_behind_wire);
        match self.gates.gates[gate] {
            Gate::Source => behind_wire(),
            Gate::Carry { .. } => ns(arcs.setup_behind_carry),
            _ if self.is_wide(gate) => ns(arcs.setup_behind_multiplexer),
            Gate::And(..) | Gate::Xor(..) | Gate::Mux(..) => ns(arcs.setup_behind_table),
            Gate::Block(block) => match self.gates.blocks[block as usize].kind {
                BlockKind::Memory => ns(arcs.memory_setup),
                BlockKind::Dsp(..) => behind_wire(),
                _ => ns(arcs.setup_behind_table),
            },
        }
    }

    /// Returns the delay in nanoseconds of a block from its latest input to its output, and the number of LUT levels
    /// within the block; `None` if the block is timed as a LUT.
    pub(super) fn block(&self, kind: BlockKind, technology: &Technology) -> Option<(f64, u32)> {
        let arcs = self.arcs;
        let short = self.wire(1);
        match kind {
            BlockKind::Dsp(..) => Some((ns(arcs.multiplier), 0)),
            BlockKind::SoftProduct(longer, shorter) => {
                let levels = product_levels(shorter);
                let cell = &arcs.carry;
                let last = cell.bits - 1;
                let adder = ns(arcs.table[1]) + ns(cell.from_table) + ns(cell.select_to_sum[0][last]);
                let level = adder + ns(cell.sum_to_pin) + short;
                let rippled = f64::from(longer) / cell.bits as f64 * (ns(cell.in_to_out) + ns(cell.between));
                Some((f64::from(levels) * level + rippled, levels))
            }
            BlockKind::Memory | BlockKind::SumOfThree => Some((0.0, 0)),
            BlockKind::Piece | BlockKind::CarryOfThree => None,
            BlockKind::Table(address, _) => {
                let levels = 1 + address.saturating_sub(technology.table_inputs).div_ceil(2);
                Some((f64::from(levels) * (ns(arcs.table[1]) + short) - short, levels))
            }
        }
    }
}

/// Times a cover arc by arc. `wires`: wire delays in picoseconds by the number of readers; `inputs`: arrival of input
/// ports.
fn by_arcs(gates: &Gates, cover: &Cover, technology: &Technology, arcs: &Arcs, wires: &[f64], inputs: f64) -> Timing {
    let count = gates.gates.len();
    let reach = Reach::new(gates, cover, technology, arcs, wires.to_vec());
    let mut start = vec![0.0f64; count];
    gates.inputs.iter().for_each(|x| start[x.gate()] = inputs);
    let from_memory = ns(arcs.memory_to_output) - ns(arcs.clock_to_output);
    gates.behind_memories.iter().for_each(|x| start[x.gate()] = from_memory);
    let mut at: Vec<Arrival> = Vec::with_capacity(count);
    let mut blocks: Vec<Option<Arrival>> = vec![None; gates.blocks.len()];
    let mut chains = Chains { cell: &arcs.carry, bits: Vec::new() };
    for (index, gate) in gates.gates.iter().enumerate() {
        // A constant has no arrival time.
        let wired = |at: &[Arrival], x: Lit| match x.is_constant() {
            true => Arrival::default(),
            false => at[x.gate()].plus(reach.arrival(x.gate()), |_| {}),
        };
        let arrival = match *gate {
            Gate::Source => Arrival::default().plus(start[index], |_| {}),
            Gate::And(..) | Gate::Xor(..) | Gate::Mux(..) => {
                let leaves = cover.cut(index).map_or(&[][..], |cut| cut.leaves());
                let reached = |&leaf: &u32| at[leaf as usize].plus(reach.arrival(leaf as usize), |_| {});
                Inputs::new(leaves.iter().map(reached)).through(arcs)
            }
            Gate::Carry { a, b, before, own_table: _ } => {
                let in_front = gates.gates[a.gate()].is_logic();
                let select = match in_front {
                    // The delay of a chain includes the LUT before the chain.
                    true => at[a.gate()].plus(0.0, |path| path.tables -= 1),
                    false => {
                        Inputs::new([wired(&at, a), wired(&at, b)]).through(arcs).plus(0.0, |path| path.tables -= 1)
                    }
                };
                let direct = wired(&at, b).plus(ns(arcs.carry.from_pin), |_| {});
                chains.next(before == FIRST, select.plus(ns(arcs.carry.from_table), |_| {}), direct)
            }
            Gate::Block(block) => *blocks[block as usize].get_or_insert_with(|| {
                let block = &gates.blocks[block as usize];
                let entering: Vec<Arrival> = block.inputs.iter().map(|&x| wired(&at, x)).collect();
                let latest = entering.iter().fold(Arrival::default(), |latest, &x| latest.later(x));
                match reach.block(block.kind, technology) {
                    None => Inputs::new(entering).through(arcs),
                    Some((time, levels)) => latest.plus(time, |path| path.add_block(block.kind, levels)),
                }
            }),
        };
        at.push(arrival);
    }
    let setup = (0..count).map(|gate| reach.setup(gate) as f32).collect();
    Timing { arrivals: at, setup }
}

#[cfg(test)]
mod tests {
    use super::super::arcs::{SERIES7, ULTRASCALE_PLUS};
    use super::super::cover::cover;
    use super::super::estimate::roots;
    use super::super::forms::Forms;
    use super::super::tables::TableStyle;
    use super::super::technology;
    use super::*;
    use alir_core::ir::{BinaryBits, Builder, Model, Op, Output, Table, ValueId};
    use alir_core::num::{Code, Interval};
    use alir_opt::schedule::Schedule;
    use num_bigint::BigInt;

    /// Returns the arrival of the latest output bit in picoseconds with wires of zero delay.
    fn before_wires(model: &Model, technology: &Technology, arcs: &Arcs) -> f64 {
        let netlist = crate::netlist::lower(model, &Schedule::combinational(model.nodes().len()), &Default::default());
        let forms = Forms::new(&netlist, TableStyle::default());
        let gates = Gates::from_netlist(&netlist, technology, false, &forms);
        let cover = cover(&gates, &roots(&gates), technology);
        let timing = by_arcs(&gates, &cover, technology, arcs, &[0.0, 0.0], 0.0);
        f64::from(timing.latest(gates.ends.iter().copied()).at) * 1000.0
    }

    /// Builds a model with unsigned inputs of these widths and one output, which `made` computes.
    fn program(widths: &[u32], made: impl FnOnce(&mut Builder, &[ValueId]) -> ValueId) -> Model {
        let mut builder = Builder::new(vec![0; widths.len()]);
        let inputs: Vec<ValueId> =
            (0..).zip(widths).map(|(input, &width)| builder.op(Op::Input { input }, unsigned(width))).collect();
        let made = made(&mut builder, &inputs);
        builder.output(Output { source: Some(made), shift: 0, neg: false });
        builder.finish().unwrap()
    }

    /// Returns the interval of all unsigned integers of `bits` bits.
    fn unsigned(bits: u32) -> Interval {
        Interval::new(0, (BigInt::from(1) << bits) - 1, 0)
    }

    /// Builds a model with two unsigned inputs of `width` bits whose output is the result of `op`, an unsigned type of
    /// `bits` bits.
    fn two_inputs(width: u32, bits: u32, op: impl Fn(ValueId, ValueId) -> Op) -> Model {
        program(&[width, width], |builder, inputs| builder.op(op(inputs[0], inputs[1]), unsigned(bits)))
    }

    /// Builds a model that adds two unsigned inputs of `width` bits.
    fn sum(width: u32) -> Model {
        two_inputs(width, width + 1, |a, b| Op::Add { a, b, shift: 0 })
    }

    #[test]
    fn sums_take_what_their_arcs_take() {
        // Computed by hand in benches/results/estimates.md.
        for (width, picoseconds) in [(4, 315.0), (8, 390.0), (16, 450.0), (32, 548.0), (64, 744.0)] {
            let time = before_wires(&sum(width), &technology::ULTRASCALE_PLUS, &ULTRASCALE_PLUS);
            assert!((time - picoseconds).abs() < 0.5, "{width} bits: {time}");
        }
        // LUT 236; S1 to CO3 528, then 114 for each further cell, CIN to O0 222.
        for (width, picoseconds) in [(4, 236.0 + 528.0 + 222.0), (16, 236.0 + 528.0 + 3.0 * 114.0 + 222.0)] {
            let time = before_wires(&sum(width), &technology::SERIES7, &SERIES7);
            assert!((time - picoseconds).abs() < 0.5, "{width} bits: {time}");
        }
    }

    /// Builds a model that compares two inputs by the sign of their difference.
    fn comparison(width: u32) -> Model {
        program(&[width, width], |builder, inputs| {
            let most: BigInt = (BigInt::from(1) << width) - 1;
            let difference = Op::Sub { a: inputs[0], b: inputs[1], shift: 0 };
            let difference = builder.op(difference, Interval::new(-most.clone(), most, 0));
            builder.op(Op::Quantise { x: difference, shift: 0 }, Interval::new(-1, 0, -(width as i32)))
        })
    }

    /// Builds a model that selects one of two inputs by a third input of one bit.
    fn choice(width: u32) -> Model {
        program(&[width, width, 1], |builder, inputs| {
            let op = Op::Mux { cond: inputs[2], on_true: inputs[0], on_false: inputs[1], shift: 0 };
            builder.op(op, unsigned(width))
        })
    }

    /// Builds a model with a look-up table of `address` address bits and scrambled words.
    fn table(address: u32) -> Model {
        program(&[address], |builder, inputs| {
            let mut rng = alir_core::num::SplitMix::new(7);
            let entries = (0..1 << address).map(|_| rng.below(16) as i32).collect();
            let table = builder.table(Table { entries, out: unsigned(4), hash: String::new(), inp_width: 0 });
            builder.op(Op::Lookup { x: inputs[0], table, base: Code::from(0) }, unsigned(4))
        })
    }

    /// Checks delays of UltraScale+ and 7 series against sums of their timing arcs in picoseconds.
    fn take(model: &Model, what: &str, [ultrascale, series7]: [f64; 2]) {
        for (technology, arcs, by_hand) in
            [(&technology::ULTRASCALE_PLUS, &ULTRASCALE_PLUS, ultrascale), (&technology::SERIES7, &SERIES7, series7)]
        {
            let time = before_wires(model, technology, arcs);
            // Delays are rounded to whole picoseconds.
            assert!((time - by_hand).abs() <= 0.51, "{what}: {time} and {by_hand} by hand");
        }
    }

    #[test]
    fn comparisons_products_tables_and_gates_take_what_their_arcs_take() {
        for width in [4u32, 8, 16, 32, 64] {
            let n = f64::from(width);
            // The sign is one bit above the operands. This bit is the first of a cell on 7 series and, from 8 bits on,
            // on UltraScale+.
            let cells = f64::from(width / 8);
            let ultrascale = match width {
                4 => 94.0 + 15.0 + 206.0,
                _ => 94.0 + 15.0 + 199.0 + 26.0 + (cells - 1.0) * (23.0 + 26.0) + 56.0,
            };
            let series7 = 236.0 + 528.0 + (n / 4.0 - 1.0) * 114.0 + 222.0;
            take(&comparison(width), &format!("comparison of {width} bits"), [ultrascale, series7]);
            // Adder levels of a tree, and the remaining carry bits on the path.
            let levels = n.log2();
            let ultrascale = levels * (94.0 + 15.0 + 241.0 + 30.0) + n / 8.0 * (23.0 + 26.0);
            let series7 = levels * (236.0 + 582.0 + 175.0) + n / 4.0 * 114.0;
            let product = two_inputs(width, 2 * width, |a, b| Op::Mul { a, b });
            take(&product, &format!("product of {width} bits"), [ultrascale, series7]);
            let either = two_inputs(width, width, |a, b| Op::Binary { op: BinaryBits::Xor, a, b, shift: 0 });
            take(&either, &format!("exclusive or of {width} bits"), [94.0, 236.0]);
            take(&choice(width), &format!("multiplexer of {width} bits"), [134.0, 408.0]);
        }
        // One LUT; several LUTs with the slice's multiplexers; one or two further LUTs after the multiplexers.
        let (wide, wider) = ([319.0, 857.0], [389.0, 961.0]);
        let behind = |first: f64, second: f64| [wider[0] + 32.0 + first, wider[1] + 192.0 + second];
        for (address, by_hand) in [
            (4, [148.0, 468.0]),
            (5, [178.0, 631.0]),
            (6, [224.0, 640.0]),
            (7, wide),
            (8, wider),
            (9, behind(94.0, 236.0)),
            (10, behind(148.0, 468.0)),
            (11, behind(148.0 + 94.0, 468.0 + 236.0)),
            (12, behind(148.0 + 148.0, 468.0 + 468.0)),
        ] {
            take(&table(address), &format!("table of {address} address bits"), by_hand);
        }
    }

    #[test]
    fn the_latest_input_takes_the_fastest_pin() {
        let at = |times: &[f32]| {
            let all = times.iter().map(|&at| Arrival { at, path: Path::default() });
            (Inputs::new(all).through(&ULTRASCALE_PLUS).at * 1000.0).round()
        };
        assert_eq!(at(&[0.0]), 78.0);
        assert_eq!(at(&[0.0; 6]), 224.0);
        assert_eq!(at(&[1.0, 0.0, 0.0]), 1078.0);
        // A seventh input selects between two LUTs; an eighth selects between two pairs of LUTs.
        assert_eq!(at(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 1000.0 + 65.0 + 77.0);
        assert_eq!(at(&[0.0; 7]), 224.0 + 25.0 + 70.0);
        assert_eq!(at(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 1000.0 + 65.0 + 77.0);
        assert_eq!(at(&[0.0; 8]), 224.0 + 25.0 + 70.0 + 70.0);
    }
}
