//! Number of look-up tables of a cover, by kind.

use super::cover::Cover;
use super::gates::{BlockKind, Gate, Gates, Lit};
use super::technology::{Scale, Technology};
use serde::Serialize;

/// Tables of a product of logic for each product of two bits: partial products and the adders under them.
const TABLES_PER_PARTIAL_PRODUCT: f64 = 1.15;
/// Entries of a large memory in one table, multiplexers included.
const ENTRIES_PER_TABLE: f64 = 48.0;

/// Tables by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Tables {
    /// Logic but multiplexers.
    pub logic: u64,
    /// Multiplexers, which memories of logic are made of.
    pub multiplexers: u64,
    /// In front of, or instead of, carry bits.
    pub carry: u64,
    /// Inverters.
    pub inverters: u64,
    /// Products, large memories of logic and pieces of tables, by a rule.
    pub rule: u64,
}

/// Tables by what they are.
pub(super) fn tables(gates: &Gates, cover: &Cover, technology: &Technology) -> Tables {
    let mut tables = Tables::default();
    let mut inverted = vec![false; gates.gates.len()];
    // An inverter before a register, a port, or a carry bit that no table drives.
    let mut invert = |x: Lit| {
        if x.inverted() && !x.is_constant() && !gates.gates[x.gate()].is_logic() {
            inverted[x.gate()] = true;
        }
    };
    gates.ends.iter().for_each(|&x| invert(x));
    for (index, gate) in gates.gates.iter().enumerate() {
        match *gate {
            Gate::Carry { a, b, own_table, .. } if technology.table_before_carry => {
                tables.carry += u64::from(own_table);
                [a, b].into_iter().for_each(&mut invert);
            }
            _ if cover.used[index] => {
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
    if !technology.table_before_carry {
        let cells = gates.chains.iter().map(|bits| u64::from(bits.div_ceil(technology.carry_cell)));
        tables.carry = cells.sum::<u64>() * u64::from(technology.carry_cell * technology.tables_per_carry_bit);
    }
    tables.inverters = inverted.iter().filter(|&&is| is).count() as u64;
    tables.rule = gates.blocks.iter().map(|block| by_rule(block.kind)).sum();
    tables
}

/// Tables of what is not looked at bit by bit.
fn by_rule(kind: BlockKind) -> u64 {
    match kind {
        BlockKind::Dsp(..) | BlockKind::Memory => 0,
        // In the table that is counted with its carry bit.
        BlockKind::SumOfThree | BlockKind::CarryOfThree => 0,
        BlockKind::Piece => 1,
        BlockKind::SoftProduct(a, b) => (TABLES_PER_PARTIAL_PRODUCT * f64::from(a) * f64::from(b)).round() as u64,
        BlockKind::Table(address, width) => {
            (f64::from(width) * 2f64.powi(address.min(64) as i32) / ENTRIES_PER_TABLE).round() as u64
        }
    }
}

/// All tables together, by the factors that are fitted to the tools.
pub(super) fn total(tables: &Tables, technology: &Technology) -> f64 {
    let Tables { logic, multiplexers, carry, inverters, rule } = *tables;
    let Scale { logic: of_logic, multiplexers: of_multiplexers, carry: of_carry } = technology.scale;
    let fitted = of_logic * logic as f64 + of_multiplexers * multiplexers as f64 + of_carry * carry as f64;
    fitted + (inverters + rule) as f64
}
