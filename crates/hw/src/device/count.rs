//! Number of LUTs of a cover, by kind.

use super::cover::Cover;
use super::gates::{BlockKind, Gate, Gates, Lit};
use super::technology::{NarrowSums, Scale, Technology};
use serde::Serialize;
use std::collections::BTreeMap;

/// LUTs of a product in logic per product of two bits: partial products and the adders below them.
const TABLES_PER_PARTIAL_PRODUCT: f64 = 1.15;
/// Minimum number of register bits with a common control signal for which synthesis uses a synchronous reset: Vivado's
/// threshold for 7 series (UG901, `-control_set_opt_threshold`). Yosys has no threshold.
const BITS_OF_A_RESET: usize = 4;
/// Entries of a large ROM in logic per LUT, including its multiplexers.
const ENTRIES_PER_TABLE: f64 = 48.0;

/// Numbers of LUTs by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tables {
    /// Logic other than multiplexers.
    pub logic: u64,
    /// Multiplexers, including those of ROMs in logic.
    pub multiplexers: u64,
    /// LUTs before carry bits, or LUTs used as carry bits.
    pub carry: u64,
    /// Inverters.
    pub inverters: u64,
    /// Products in logic, large ROMs in logic and pieces of look-up tables, estimated by a formula.
    pub rule: u64,
}

/// Counts the LUTs of a cover by kind.
pub(super) fn tables(gates: &Gates, cover: &Cover, technology: &Technology) -> Tables {
    let mut tables = Tables::default();
    let in_modules = technology.narrow_sums == NarrowSums::InModules;
    let absorbed = if in_modules { absorbed_by_modules(gates, cover) } else { Vec::new() };
    let mut inverted = vec![false; gates.gates.len()];
    // An inverter is needed before a register, a port, or a carry bit if no LUT drives the bit.
    let mut invert = |x: Lit| {
        if x.inverted() && !x.is_constant() && !gates.gates[x.gate()].is_logic() {
            inverted[x.gate()] = true;
        }
    };
    gates.ends.iter().for_each(|&x| invert(x));
    for (index, gate) in gates.gates.iter().enumerate() {
        match *gate {
            Gate::Carry { .. } if in_modules => tables.carry += 1,
            Gate::Carry { a, b, own_table, .. } if technology.table_before_carry => {
                tables.carry += u64::from(own_table);
                [a, b].into_iter().for_each(&mut invert);
            }
            _ if cover.used[index] && !(in_modules && absorbed[index]) => {
                let inputs = cover.cut(index).map_or(1, |cut| cut.leaves().len());
                let number = u64::from(technology.tables[inputs - 1]);
                match gate {
                    Gate::Mux(..) => tables.multiplexers += number,
                    _ => tables.logic += number,
                }
            }
            _ => {}
        }
    }
    if !technology.table_before_carry && technology.carry_cell * technology.tables_per_carry_bit == 1 {
        tables.carry = tables_of_single_carries(gates, cover);
    } else if !technology.table_before_carry {
        let cells = gates.chains.iter().map(|bits| u64::from(bits.div_ceil(technology.carry_cell)));
        tables.carry = cells.sum::<u64>() * u64::from(technology.carry_cell * technology.tables_per_carry_bit);
    }
    tables.inverters = inverted.iter().filter(|&&is| is).count() as u64;
    tables.rule = gates.blocks.iter().map(|block| by_rule(block.kind)).sum();
    tables
}

/// Returns for each gate `true` if a LUT of an adaptive logic module in arithmetic mode computes it: a function of four
/// inputs that is an operand of a single carry bit and has no other reader.
fn absorbed_by_modules(gates: &Gates, cover: &Cover) -> Vec<bool> {
    const INPUTS: usize = 4;
    let mut carries = vec![0u32; gates.gates.len()];
    carry_operands(gates).for_each(|x| carries[x.gate()] += 1);
    let others = read_outside_chains(gates, cover, |_| true);
    let is_small = |index| cover.cut(index).is_some_and(|cut| cut.leaves().len() <= INPUTS);
    (0..gates.gates.len()).map(|index| carries[index] == 1 && !others[index] && is_small(index)).collect()
}

/// Returns for each gate `true` if a LUT, a carry bit, a block or an end reads the gate. Ends `k` without `is_end(k)`
/// are ignored.
fn read_gates(gates: &Gates, cover: &Cover, is_end: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut read = read_outside_chains(gates, cover, is_end);
    carry_operands(gates).for_each(|x| read[x.gate()] = true);
    read
}

/// Returns the operands of all carry bits.
fn carry_operands(gates: &Gates) -> impl Iterator<Item = Lit> {
    gates
        .gates
        .iter()
        .flat_map(|gate| match *gate {
            Gate::Carry { a, b, .. } => [Some(a), Some(b)],
            _ => [None, None],
        })
        .flatten()
}

/// Returns for each gate `true` if a LUT, a block or an end reads the gate, as [`read_gates`] without carry bits.
fn read_outside_chains(gates: &Gates, cover: &Cover, is_end: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut read = vec![false; gates.gates.len()];
    for (index, gate) in gates.gates.iter().enumerate() {
        if !matches!(gate, Gate::Carry { .. }) && cover.used[index] {
            cover.cut(index).into_iter().flat_map(|cut| cut.leaves()).for_each(|&leaf| read[leaf as usize] = true);
        }
    }
    gates.blocks.iter().flat_map(|block| &block.inputs).for_each(|x| read[x.gate()] = true);
    let ends = gates.ends.iter().enumerate().filter(|(k, _)| is_end(*k));
    ends.for_each(|(_, x)| read[x.gate()] = true);
    read
}

/// Returns the number of LUTs of carry chains on devices with one LUT for each carry bit: one for each sum bit that is
/// read, and one for each inverted operand of the other carry bits.
fn tables_of_single_carries(gates: &Gates, cover: &Cover) -> u64 {
    let read = read_gates(gates, cover, |_| true);
    let (mut sums, mut inverted) = (0, vec![false; gates.gates.len()]);
    for (index, gate) in gates.gates.iter().enumerate() {
        let Gate::Carry { a, b, .. } = *gate else { continue };
        if read[index] {
            sums += 1;
        } else {
            [a, b].into_iter().filter(|x| x.inverted() && !x.is_constant()).for_each(|x| inverted[x.gate()] = true);
        }
    }
    sums + inverted.iter().filter(|&&is| is).count() as u64
}

/// Returns the number of LUTs that synthesis replaces by the synchronous reset (or set) of registers. Such a LUT forces
/// a bit to a constant while one signal is set (`sign ? 0 : x`), and only registers without reset and enable read the
/// bit.
/// `is_free[k]`: `true` if the register of end `k` has neither reset nor enable.
pub(super) fn tables_in_resets(gates: &Gates, cover: &Cover, is_free: &[bool]) -> u64 {
    let read = read_gates(gates, cover, |end| !is_free.get(end).is_some_and(|&free| free));
    // Gates of the ends that may be forced to a constant, each with its two operands.
    let mut forced: BTreeMap<usize, [Lit; 2]> = BTreeMap::new();
    let mut bits: BTreeMap<Lit, usize> = BTreeMap::new();
    for end in &gates.ends[..gates.register_ends] {
        if let Gate::And(a, b) = gates.gates[end.gate()]
            && !read[end.gate()]
            && forced.insert(end.gate(), [a, b]).is_none()
        {
            [a, b].into_iter().for_each(|x| *bits.entry(x).or_default() += 1);
        }
    }
    let mut saved: BTreeMap<Lit, u64> = BTreeMap::new();
    for (gate, [a, b]) in forced {
        let (forcing, value) = if bits[&a] >= bits[&b] { (a, b) } else { (b, a) };
        // The LUT is only saved if the value comes from outside this LUT.
        let is_leaf = cover.cut(gate).is_some_and(|cut| cut.leaves().contains(&(value.gate() as u32)));
        if bits[&forcing] >= BITS_OF_A_RESET && is_leaf {
            *saved.entry(forcing).or_default() += 1;
        }
    }
    // The forcing signal may need a LUT of its own that was not necessary before.
    let own_table = |x: &Lit| u64::from(gates.gates[x.gate()].is_logic() && !cover.used[x.gate()]);
    saved.iter().map(|(forcing, count)| count - own_table(forcing)).sum()
}

/// Returns the number of LUTs of a block that is not decomposed into gates.
fn by_rule(kind: BlockKind) -> u64 {
    match kind {
        BlockKind::Dsp(..) | BlockKind::Memory => 0,
        // The LUT is counted with its carry bit.
        BlockKind::SumOfThree | BlockKind::CarryOfThree => 0,
        BlockKind::Piece => 1,
        BlockKind::SoftProduct(a, b) => (TABLES_PER_PARTIAL_PRODUCT * f64::from(a) * f64::from(b)).round() as u64,
        BlockKind::Table(address, width) => {
            (f64::from(width) * 2f64.powi(address.min(64) as i32) / ENTRIES_PER_TABLE).round() as u64
        }
    }
}

/// Returns the total number of LUTs, with the factors that are fitted to synthesis tools.
pub(super) fn total(tables: &Tables, technology: &Technology) -> f64 {
    let Tables { logic, multiplexers, carry, inverters, rule } = *tables;
    let Scale { logic: of_logic, multiplexers: of_multiplexers, carry: of_carry } = technology.scale;
    let fitted = of_logic * logic as f64 + of_multiplexers * multiplexers as f64 + of_carry * carry as f64;
    fitted + (inverters + rule) as f64
}
