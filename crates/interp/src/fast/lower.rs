//! Lowering of a program to straight-line code over lanes.
//!
//! Every value gets a lane of 8, 16, 32, 64 or 128 bits, or limbs beyond that. Arithmetic in a lane of `n` bits is
//! arithmetic modulo `2^n`, so a lane need not hold the whole result, only the low bits that some operation reads. Two
//! analyses determine these bits: [`Facts`] (forward: which raw integer values can occur) and the demand computed here
//! (backward: how many low bits are read, or the whole value if the value is compared, looked up, or an output). Each
//! operation uses the narrowest lane that satisfies both, wraps without effect are omitted, and conversions are shared.
//!
//! Soundness rule: a value whose demand is [`EXACT`] is stored sign- or zero-extended (by [`Fact::signed`]) in a lane
//! of at least [`Fact::bits`]. A value whose demand is `d` bits is stored in a lane of at least `d` bits, of which the
//! low `d` bits are correct and the other bits are arbitrary.

use super::form::{Arm, Fact, Facts, Form, Shifted};
use crate::LookupMiss;
use alir_core::ir::{BinaryBits, Model, TableId, ValueId};
use alir_core::num::{Kif, wrap};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

/// Demand for the whole value.
const EXACT: u32 = u32::MAX;

/// Storage format of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Lane {
    B1,
    B2,
    B4,
    B8,
    B16,
    /// Limbs of 64 bits, as many as the type needs; one sample at a time.
    Wide,
}

impl Lane {
    /// All lanes of machine integers.
    pub(super) const MACHINE: [Lane; 5] = [Lane::B1, Lane::B2, Lane::B4, Lane::B8, Lane::B16];

    fn for_bits(bits: u32) -> Lane {
        match bits {
            0..=8 => Lane::B1,
            9..=16 => Lane::B2,
            17..=32 => Lane::B4,
            33..=64 => Lane::B8,
            65..=128 => Lane::B16,
            _ => Lane::Wide,
        }
    }

    /// Returns the number of bytes of a machine lane.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Lane::Wide => 0,
            _ => 1 << self as u32,
        }
    }

    fn bits(self) -> u32 {
        if self == Lane::Wide { u32::MAX } else { 8 * self.bytes() }
    }
}

/// Index of a register: one value for each sample, written once.
pub(super) type Reg = u32;

const NONE: Reg = u32::MAX;

/// Last step of an operation: wrap of the low bits to the operation's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    /// No wrap.
    None,
    /// Sign extension from this number of bits.
    Sign(u8),
    /// Clearing of all but this number of low bits.
    Zero(u8),
}

/// One term of [`Ins::Linear`]; the shift is less than the lane's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) reg: Reg,
    pub(super) shl: u8,
    pub(super) neg: bool,
}

/// An operand of [`Ins::Mux`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) reg: Reg,
    pub(super) shl: u8,
    pub(super) shr: u8,
    pub(super) logical: bool,
}

/// One instruction. All registers have the lane of `dst`, except where a comment names another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ins {
    /// `wrap((Σ ± reg << shl + c) >> shr)`, after replacing negative sums by zero with `relu`. `terms` and `c` are
    /// indices into [`Code`].
    Linear { dst: Reg, first: u32, count: u32, c: u32, shr: u8, logical: bool, relu: bool, wrap: Wrap },
    /// `wrap((a * b) << shl >> shr)`.
    Mul { dst: Reg, a: Reg, b: Reg, shl: u8, shr: u8, logical: bool, wrap: Wrap },
    /// `wrap(((a << sa) op (b << sb)) >> shr)`.
    Bits { dst: Reg, op: BinaryBits, a: Reg, sa: u8, b: Reg, sb: u8, shr: u8, logical: bool, wrap: Wrap },
    /// `wrap(if cond & (1 << bit) != 0 { on_true } else { on_false })`.
    Mux { dst: Reg, cond: Reg, bit: u8, on_true: Choice, on_false: Choice, wrap: Wrap },
    /// `wrap((x == than) == eq)`.
    Compare { dst: Reg, x: Reg, than: u32, eq: bool, wrap: Wrap },
    /// Entry of a table of [`Code::tables`]; outside the table zero, and a fault if the table requires it.
    Lookup { dst: Reg, x: Reg, table: u32 },
    /// Conversion to another machine lane: `src` truncated, or extended by its sign or (`zero`) by zeros.
    Convert { dst: Reg, src: Reg, zero: bool },
    /// Conversion of the low bits of limbs to a machine lane.
    Narrow { dst: Reg, src: Reg },
    /// Any operation, in integers of any size; `op` is an index into [`Code::wide`].
    Wide { dst: Reg, op: u32 },
}

impl Ins {
    pub(super) fn dst(&self) -> Reg {
        match self {
            Ins::Linear { dst, .. }
            | Ins::Mul { dst, .. }
            | Ins::Bits { dst, .. }
            | Ins::Mux { dst, .. }
            | Ins::Compare { dst, .. }
            | Ins::Lookup { dst, .. }
            | Ins::Convert { dst, .. }
            | Ins::Narrow { dst, .. }
            | Ins::Wide { dst, .. } => *dst,
        }
    }

    /// Calls `visit` for each register that is read.
    pub(super) fn for_each_source(&self, code: &Code, mut visit: impl FnMut(Reg)) {
        match self {
            Ins::Linear { first, count, .. } => {
                code.terms[*first as usize..][..*count as usize].iter().for_each(|t| visit(t.reg));
            }
            Ins::Mul { a, b, .. } | Ins::Bits { a, b, .. } => {
                visit(*a);
                visit(*b);
            }
            Ins::Mux { cond, on_true, on_false, .. } => {
                visit(*cond);
                visit(on_true.reg);
                visit(on_false.reg);
            }
            Ins::Compare { x, .. } | Ins::Lookup { x, .. } => visit(*x),
            Ins::Convert { src, .. } | Ins::Narrow { src, .. } => visit(*src),
            Ins::Wide { op, .. } => code.wide[*op as usize].operands.iter().for_each(|o| visit(o.reg)),
        }
    }
}

/// Entries of a table in the narrowest type that fits them all, so that more entries fit the first-level cache.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entries {
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
}

impl Entries {
    fn new(entries: Vec<i32>) -> Entries {
        fn all<T: TryFrom<i32>>(entries: &[i32]) -> Option<Vec<T>> {
            entries.iter().map(|&e| T::try_from(e).ok()).collect()
        }
        None.or_else(|| all(&entries).map(Entries::I8))
            .or_else(|| all(&entries).map(Entries::U8))
            .or_else(|| all(&entries).map(Entries::I16))
            .unwrap_or(Entries::I32(entries))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Entries::I8(e) => e.len(),
            Entries::U8(e) => e.len(),
            Entries::I16(e) => e.len(),
            Entries::I32(e) => e.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<i32> {
        match self {
            Entries::I8(e) => e.get(index).map(|&e| e.into()),
            Entries::U8(e) => e.get(index).map(|&e| e.into()),
            Entries::I16(e) => e.get(index).map(|&e| e.into()),
            Entries::I32(e) => e.get(index).copied(),
        }
    }
}

/// A table for the kernels, with entries wrapped to the lookup's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaneTable {
    pub(super) entries: Entries,
    /// Raw integer value of the operand for entry 0.
    pub(super) base: i64,
    /// `true` if the operand is unsigned.
    pub(super) zero: bool,
    /// Index of the lookup operation.
    pub(super) op: u32,
    /// `true` if an operand can miss the table and misses must be reported.
    pub(super) faults: bool,
    /// `true` if no operand can miss the table.
    pub(super) inside: bool,
}

/// Conversion of an input element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InputConversion {
    pub(super) input: u32,
    pub(super) dst: Reg,
    /// Type of the input operation.
    pub(super) kif: Kif,
}

/// Conversion of an output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutputConversion {
    /// Register of the raw integer value; `None` for a constant.
    pub(super) src: Option<Reg>,
    pub(super) constant: i64,
    /// `true` if the register is unsigned.
    pub(super) zero: bool,
    /// Exponent `e`: the real value is the raw integer value times `2^e`.
    pub(super) exponent: i32,
}

impl OutputConversion {
    /// Exponents for which no result is subnormal; for subnormal results, a first rounding to 53 bits would round
    /// twice.
    pub(super) const EXACT_SCALES: std::ops::RangeInclusive<i32> = -900..=800;
}

/// An operation in integers of any size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WideOp {
    pub(super) form: Form,
    pub(super) terms: Vec<Shifted>,
    pub(super) operands: Vec<WideOperand>,
    /// Type of the result.
    pub(super) kif: Kif,
    /// Type of a mux's condition.
    pub(super) cond: Kif,
    /// For a lookup, index into [`Code::tables`].
    pub(super) table: u32,
}

/// Operand of a [`WideOp`]: a value and its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WideOperand {
    pub(super) value: u32,
    pub(super) reg: Reg,
    pub(super) zero: bool,
}

/// Straight-line code of a program.
pub(super) struct Code {
    pub(super) lanes: Vec<Lane>,
    /// Limbs of each wide register.
    pub(super) limbs: FxHashMap<Reg, u32>,
    pub(super) ins: Vec<Ins>,
    pub(super) terms: Vec<Term>,
    /// Constants of the instructions; the first is zero.
    pub(super) constants: Vec<i128>,
    /// Registers with a constant value.
    pub(super) fixed: Vec<(Reg, i128)>,
    pub(super) tables: Vec<LaneTable>,
    pub(super) inputs: Vec<InputConversion>,
    pub(super) outputs: Vec<OutputConversion>,
    pub(super) wide: Vec<WideOp>,
}

impl Code {
    /// Returns an empty program without instructions.
    pub(super) fn empty() -> Code {
        Code {
            lanes: Vec::new(),
            limbs: FxHashMap::default(),
            ins: Vec::new(),
            terms: Vec::new(),
            constants: vec![0],
            fixed: Vec::new(),
            tables: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            wide: Vec::new(),
        }
    }
}

/// Required width and wrapping of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    /// Minimum width of the lane in bits.
    bits: u32,
    /// `Some(k)`: only the low `k` bits of the result before wrapping are needed.
    low: Option<u32>,
    /// `true` if the result must be truncated to [`Fact::bits`] bits and extended again.
    wrap: bool,
}

/// Returns the number of required low bits of an operand that is shifted left by `shl` when `bits` bits of the sum are
/// required.
fn below(bits: u32, shl: u32) -> u32 {
    bits.saturating_sub(shl)
}

struct Lowering<'a> {
    model: &'a Model,
    facts: Facts,
    miss: LookupMiss,
    demand: Vec<u32>,
    /// First register of each value; [`NONE`] before it is computed.
    home: Vec<Reg>,
    /// The next register with the same value, by register.
    sibling: Vec<Reg>,
    /// `true` for each register that is zero-extended.
    zero: Vec<bool>,
    constants: FxHashMap<(i128, Lane), Reg>,
    code: Code,
}

/// Lowers a program to code.
pub(super) fn lower(model: &Model, miss: LookupMiss) -> Code {
    let n = model.nodes().len();
    let mut lowering = Lowering {
        model,
        facts: Facts::new(model),
        miss,
        demand: vec![0; n],
        home: vec![NONE; n],
        sibling: Vec::with_capacity(n),
        zero: Vec::with_capacity(n),
        constants: FxHashMap::default(),
        code: Code::empty(),
    };
    lowering.code.lanes.reserve(n);
    lowering.code.ins.reserve(n);
    lowering.code.terms.reserve(2 * n);
    lowering.demands();
    lowering.emit();
    lowering.code
}

impl Lowering<'_> {
    // ---- demand -----------------------------------------------------------------------------------------------

    fn demands(&mut self) {
        let mut terms = Vec::new();
        for j in 0..self.model.outputs().len() {
            let form = self.facts.output_form(self.model, j, &mut terms);
            let fact = self.facts.fact(self.model, &form, &terms, self.model.output_kif(j));
            if fact.constant().is_none() {
                self.demand_operands(&form, &terms, &fact, EXACT);
            }
        }
        for id in self.model.ids().rev() {
            let fact = self.facts.by_op[id.index()];
            let mut demand = self.demand[id.index()];
            let constant = fact.constant().is_some();
            if (demand == 0 || constant) && !self.can_fault(id) {
                continue;
            }
            demand = demand.max(1);
            if demand >= fact.bits {
                demand = EXACT;
            }
            self.demand[id.index()] = demand;
            let form = self.facts.form(self.model, id, &mut terms);
            self.demand_operands(&form, &terms, &fact, demand);
        }
    }

    /// Returns `true` if an operation can report a fault, so that it must be computed even without a reader.
    fn can_fault(&self, id: ValueId) -> bool {
        self.miss == LookupMiss::Error && self.can_miss(id)
    }

    /// Returns `true` if an operation is a lookup whose operand may lie outside its table.
    fn can_miss(&self, id: ValueId) -> bool {
        let alir_core::ir::Op::Lookup { x, table, base } = &self.model.node(id).op else { return false };
        let (fact, len) = (&self.facts.by_op[x.index()], self.model.table(*table).entries.len());
        let base = base.to_i64().filter(|b| b.unsigned_abs() < 1 << 62);
        !(fact.known && base.is_some_and(|b| b <= fact.lo && fact.hi - b < len as i64))
    }

    fn demand_operands(&mut self, form: &Form, terms: &[Shifted], fact: &Fact, demand: u32) {
        let need = self.need(form, fact, demand);
        let wide = need.bits > 128;
        let mut ask = |value: u32, bits: u32| {
            let bits = if wide { EXACT } else { bits };
            let slot = &mut self.demand[value as usize];
            *slot = (*slot).max(bits);
        };
        let low = |shl: u32, shr: u32| need.low.map_or(EXACT, |k| below(k.saturating_add(shr), shl));
        match form {
            Form::Const(_) | Form::Input { .. } => {}
            Form::Linear { c: _, shr, relu } => {
                for t in terms {
                    ask(t.value, if *relu { EXACT } else { low(t.shl, *shr) });
                }
            }
            Form::NotUnsigned { x, bits } => ask(*x, need.low.map_or(*bits, |k| k.min(*bits))),
            Form::Mul { a, b, shl, shr } => {
                ask(*a, low(*shl, *shr));
                ask(*b, low(*shl, *shr));
            }
            Form::Bits { op: _, a, sa, b, sb, shr } => {
                ask(*a, low(*sa, *shr));
                ask(*b, low(*sb, *shr));
            }
            Form::Mux { cond, on_true, on_false } => {
                ask(*cond, EXACT);
                ask(on_true.value, low(on_true.shl, on_true.shr));
                ask(on_false.value, low(on_false.shl, on_false.shr));
            }
            Form::Lookup { x, .. } | Form::Compare { x, .. } => ask(*x, EXACT),
        }
    }

    /// Returns the required width and wrapping of an operation of this form under `demand`.
    fn need(&self, form: &Form, fact: &Fact, demand: u32) -> Need {
        let fact_of = |v: u32| &self.facts.by_op[v as usize];
        let exact = demand == EXACT;
        let low = if !exact {
            Some(demand)
        } else if fact.wraps {
            Some(fact.bits)
        } else {
            None
        };
        let wrap = exact && fact.wraps;
        // Bits required before a right shift by `shr`, given the bits of the exact intermediate result.
        let shifted = |shr: u32, exact_bits: u32| match low {
            // At least the required bits: the result may have another signedness than the intermediate result (a small
            // negative number may be read as a large unsigned number).
            Some(k) => Need { bits: k.saturating_add(shr).min(exact_bits.max(k)), low, wrap },
            None => {
                let cut = fact.bits.saturating_add(shr);
                if Lane::for_bits(cut) < Lane::for_bits(exact_bits) {
                    Need { bits: cut, low, wrap: true }
                } else {
                    Need { bits: exact_bits, low, wrap }
                }
            }
        };
        match form {
            Form::Const(_) | Form::Input { .. } => Need { bits: demand.min(fact.bits), low, wrap },
            Form::Linear { c: _, shr: _, relu: true } => {
                Need { bits: fact.exact_bits.max(low.unwrap_or(0)), low, wrap }
            }
            Form::Linear { c: _, shr, relu: false } => shifted(*shr, fact.exact_bits),
            Form::NotUnsigned { x: _, bits } => {
                let bits = fact.bits.min(*bits);
                if demand >= bits {
                    Need { bits: fact.bits, low: None, wrap: true }
                } else {
                    Need { bits: demand, low: Some(demand), wrap: false }
                }
            }
            Form::Mul { a: _, b: _, shl: _, shr } => shifted(*shr, fact.exact_bits),
            Form::Bits { shr, .. } => shifted(*shr, fact.exact_bits),
            Form::Mux { cond, on_true, on_false } => {
                let arm = |arm: &Arm| {
                    let whole = fact_of(arm.value).bits.saturating_add(arm.shl);
                    low.map_or(whole, |k| k.saturating_add(arm.shr).min(whole))
                };
                let result = low.unwrap_or(fact.exact_bits);
                let mut bits = arm(on_true).max(arm(on_false)).max(result);
                // A condition wider than machine lanes is tested in limbs.
                if fact_of(*cond).bits > 128 {
                    bits = EXACT;
                }
                Need { bits, low, wrap }
            }
            Form::Lookup { x, .. } => {
                let bits = fact_of(*x).bits;
                // The wrap is applied to the entries.
                let bits = if bits > 62 { EXACT } else { bits.max(fact.bits) };
                Need { bits, low, wrap: false }
            }
            Form::Compare { x, .. } => Need { bits: fact_of(*x).bits.max(fact.bits), low, wrap },
        }
    }

    // ---- registers ----------------------------------------------------------------------------------------------

    fn register(&mut self, lane: Lane) -> Reg {
        self.code.lanes.push(lane);
        self.sibling.push(NONE);
        self.zero.push(false);
        self.code.lanes.len() as Reg - 1
    }

    fn lane(&self, reg: Reg) -> Lane {
        self.code.lanes[reg as usize]
    }

    /// Returns the register of `value` in `lane`, if one exists.
    fn copy(&self, value: u32, lane: Lane) -> Option<Reg> {
        let mut reg = self.home[value as usize];
        while reg != NONE && self.lane(reg) != lane {
            reg = self.sibling[reg as usize];
        }
        (reg != NONE).then_some(reg)
    }

    /// Returns a register that holds a constant in a lane.
    fn constant(&mut self, value: i128, lane: Lane) -> Reg {
        let value = match lane {
            Lane::B16 | Lane::Wide => value,
            _ => value << (128 - lane.bits()) >> (128 - lane.bits()),
        };
        if let Some(&reg) = self.constants.get(&(value, lane)) {
            return reg;
        }
        let reg = self.own_constant(value, lane);
        self.constants.insert((value, lane), reg);
        reg
    }

    /// Returns a separate register for an operation with a constant result; its extension may differ from that of a
    /// shared constant.
    fn own_constant(&mut self, value: i128, lane: Lane) -> Reg {
        let reg = self.register(lane);
        self.code.fixed.push((reg, value));
        reg
    }

    /// Returns the register of `value` in a machine lane; converts the value if necessary.
    fn get(&mut self, value: u32, lane: Lane) -> Reg {
        let fact = self.facts.by_op[value as usize];
        if let Some(constant) = fact.constant() {
            return self.constant(constant.into(), lane);
        }
        if let Some(reg) = self.copy(value, lane) {
            return reg;
        }
        let home = self.home[value as usize];
        let dst = self.register(lane);
        if self.lane(home) == Lane::Wide {
            self.code.ins.push(Ins::Narrow { dst, src: home });
        } else {
            // The copy with the nearest lane that has at least the required bits: a copy narrower than the home lane
            // was truncated.
            let (mut src, mut reg) = (home, home);
            while reg != NONE {
                let (best, here) = (self.lane(src), self.lane(reg));
                if here != Lane::Wide
                    && here >= self.lane(home).min(lane)
                    && (here as i32 - lane as i32).abs() < (best as i32 - lane as i32).abs()
                {
                    src = reg;
                }
                reg = self.sibling[reg as usize];
            }
            self.code.ins.push(Ins::Convert { dst, src, zero: self.zero[home as usize] });
        }
        self.zero[dst as usize] = self.zero[home as usize];
        self.sibling[dst as usize] = self.sibling[home as usize];
        self.sibling[home as usize] = dst;
        dst
    }

    /// Returns the machine lane in which an operation that needs `bits` bits is cheapest, including the conversions of
    /// its operands.
    fn choose_lane(&self, bits: u32, operands: impl Iterator<Item = u32> + Clone) -> Lane {
        let least = Lane::for_bits(bits);
        let machine = |v: &u32| {
            let home = self.home[*v as usize];
            home != NONE && self.lane(home) != Lane::Wide && self.facts.by_op[*v as usize].constant().is_none()
        };
        let operands = operands.filter(machine);
        let most = operands.clone().map(|v| self.lane(self.home[v as usize])).max().unwrap_or(least).max(least);
        if least == most || least >= Lane::B8 {
            return least;
        }
        let cost = |lane: Lane| {
            let own = 3 * lane.bytes();
            let conversions = operands
                .clone()
                .filter(|&v| self.copy(v, lane).is_none())
                .map(|v| 2 + 2 * lane.bytes() + self.lane(self.home[v as usize]).bytes());
            own + conversions.sum::<u32>()
        };
        let candidates = Lane::MACHINE.into_iter().filter(|l| (least..=most).contains(l));
        candidates.min_by_key(|&l| cost(l)).unwrap_or(least)
    }

    fn constant_index(&mut self, value: &BigInt, lane: Lane) -> u32 {
        let low = low_bits(value);
        let low = if lane == Lane::B16 { low } else { low << (128 - lane.bits()) >> (128 - lane.bits()) };
        if low == 0 {
            return 0;
        }
        self.code.constants.push(low);
        self.code.constants.len() as u32 - 1
    }

    // ---- emission -----------------------------------------------------------------------------------------------

    fn emit(&mut self) {
        let mut terms = Vec::new();
        for id in self.model.ids() {
            let demand = self.demand[id.index()];
            let fact = self.facts.by_op[id.index()];
            if demand == 0 || (fact.constant().is_some() && !self.can_fault(id)) {
                continue;
            }
            let form = self.facts.form(self.model, id, &mut terms);
            let registers = self.code.lanes.len();
            let reg = self.operation(id.0, &form, &mut terms, &fact, demand, self.model.kif(id));
            self.home[id.index()] = reg;
            if reg as usize >= registers {
                self.zero[reg as usize] = !fact.signed;
            }
        }
        let n = self.model.nodes().len() as u32;
        for j in 0..self.model.outputs().len() {
            let kif = self.model.output_kif(j);
            let form = self.facts.output_form(self.model, j, &mut terms);
            let fact = self.facts.fact(self.model, &form, &terms, kif);
            let (src, constant) = match fact.constant() {
                Some(k) => (None, k),
                None => (Some(self.operation(n + j as u32, &form, &mut terms, &fact, EXACT, kif)), 0),
            };
            // The output's interval already includes the output's shift.
            self.code.outputs.push(OutputConversion { src, constant, zero: !fact.signed, exponent: -kif.frac });
        }
    }

    fn operation(
        &mut self,
        node: u32,
        form: &Form,
        terms: &mut Vec<Shifted>,
        fact: &Fact,
        demand: u32,
        kif: Kif,
    ) -> Reg {
        let need = self.need(form, fact, demand);
        if let Form::Input { input } = form {
            let dst = self.register(Lane::for_bits(need.bits));
            self.limbs(dst, fact.bits);
            self.code.inputs.push(InputConversion { input: *input, dst, kif });
            return dst;
        }
        if need.bits > 128 {
            return self.wide(node, form, terms, fact, kif);
        }
        let ins = match form {
            Form::Input { .. } => unreachable!("inputs are done"),
            Form::Const(c) => return self.own_constant(low_bits(c), Lane::for_bits(need.bits)),
            Form::Linear { c, shr, relu } => {
                if let Some(k) = need.low
                    && !relu
                {
                    // Terms above all required bits place no demand on their operands.
                    let matters = k.saturating_add(*shr);
                    terms.retain(|t| t.shl < matters);
                }
                let lane = self.choose_lane(need.bits, terms.iter().map(|t| t.value));
                terms.retain(|t| t.shl < lane.bits());
                if let [t] = terms[..]
                    && *c == BigInt::ZERO
                    && !relu
                    && (t.shl, *shr, t.neg) == (0, 0, false)
                    && self.copies_suffice(t.value, &need, fact)
                {
                    return self.home[t.value as usize];
                }
                if terms.is_empty() {
                    return self.own_constant(low_bits(&wrap(&(c >> u64::from(*shr)), kif)), lane);
                }
                let first = self.code.terms.len() as u32;
                for t in terms.iter() {
                    let reg = self.get(t.value, lane);
                    self.code.terms.push(Term { reg, shl: t.shl as u8, neg: t.neg });
                }
                let c = self.constant_index(c, lane);
                let (shr, logical) = shift_right(*shr, lane, !fact.exact_signed);
                let wrap = wrap_in(lane, fact, need.wrap);
                let dst = self.register(lane);
                Ins::Linear { dst, first, count: terms.len() as u32, c, shr, logical, relu: *relu, wrap }
            }
            Form::NotUnsigned { x, bits } => {
                let lane = self.choose_lane(need.bits, [*x].into_iter());
                let first = self.code.terms.len() as u32;
                let reg = self.get(*x, lane);
                self.code.terms.push(Term { reg, shl: 0, neg: true });
                let c = self.constant_index(&BigInt::from(-1), lane);
                let bits = fact.bits.min(*bits);
                let wrap = if need.wrap && bits < lane.bits() { Wrap::Zero(bits as u8) } else { Wrap::None };
                let dst = self.register(lane);
                Ins::Linear { dst, first, count: 1, c, shr: 0, logical: false, relu: false, wrap }
            }
            Form::Mul { a, b, shl, shr } => {
                let lane = self.choose_lane(need.bits.max(16), [*a, *b].into_iter());
                if *shl >= lane.bits() || need.low.is_some_and(|k| *shl >= k.saturating_add(*shr)) {
                    return self.own_constant(0, lane);
                }
                let (a, b) = (self.get(*a, lane), self.get(*b, lane));
                let (shr, logical) = shift_right(*shr, lane, !fact.exact_signed);
                let wrap = wrap_in(lane, fact, need.wrap);
                let dst = self.register(lane);
                Ins::Mul { dst, a, b, shl: *shl as u8, shr, logical, wrap }
            }
            Form::Bits { op, a, sa, b, sb, shr } => {
                let lane = self.choose_lane(need.bits, [*a, *b].into_iter());
                let mut operand = |value: u32, shl: u32| {
                    let gone = shl >= lane.bits() || need.low.is_some_and(|k| shl >= k.saturating_add(*shr));
                    if gone { (self.constant(0, lane), 0) } else { (self.get(value, lane), shl as u8) }
                };
                let ((a, sa), (b, sb)) = (operand(*a, *sa), operand(*b, *sb));
                let (shr, logical) = shift_right(*shr, lane, !fact.exact_signed);
                let wrap = wrap_in(lane, fact, need.wrap);
                let dst = self.register(lane);
                Ins::Bits { dst, op: *op, a, sa, b, sb, shr, logical, wrap }
            }
            Form::Mux { cond, on_true, on_false } => self.mux(*cond, on_true, on_false, fact, &need),
            Form::Lookup { x, table, base } => {
                let lane = Lane::for_bits(need.bits);
                let x_fact = self.facts.by_op[*x as usize];
                let x = self.get(*x, lane);
                let base = base.to_i64().unwrap_or(i64::MAX);
                let table = self.table(node, *table, base, !x_fact.signed, kif);
                Ins::Lookup { dst: self.register(lane), x, table }
            }
            Form::Compare { x, than, eq } => {
                let lane = self.choose_lane(need.bits, [*x].into_iter());
                let x = self.get(*x, lane);
                let than = self.constant_index(than, lane);
                let wrap = wrap_in(lane, fact, need.wrap);
                let dst = self.register(lane);
                Ins::Compare { dst, x, than, eq: *eq, wrap }
            }
        };
        let dst = ins.dst();
        self.code.ins.push(ins);
        dst
    }

    /// Returns `true` if the register of the operand can be used for a result that is equal to the operand.
    fn copies_suffice(&self, value: u32, need: &Need, fact: &Fact) -> bool {
        let of = &self.facts.by_op[value as usize];
        // A result whose signedness differs from that of its operand needs a separate register.
        !need.wrap
            && of.constant().is_none()
            && self.lane(self.home[value as usize]) != Lane::Wide
            && (need.low.is_some() || (of.signed == fact.signed && self.demand[value as usize] == EXACT))
            && Lane::for_bits(need.bits) <= self.lane(self.home[value as usize])
    }

    fn mux(&mut self, cond: u32, on_true: &Arm, on_false: &Arm, fact: &Fact, need: &Need) -> Ins {
        let cond_fact = self.facts.by_op[cond as usize];
        let lane = self.choose_lane(need.bits, [on_true.value, on_false.value].into_iter());
        let cond_width = self.model.kif(ValueId(cond)).width();
        let signed = self.model.kif(ValueId(cond)).signed;
        let (cond, bit) = if Lane::for_bits(cond_fact.bits) <= lane {
            let bit = if signed { lane.bits() - 1 } else { cond_width - 1 };
            (self.get(cond, lane), bit)
        } else {
            // The bit is moved to the low end before the lane is truncated.
            let own = Lane::for_bits(cond_fact.bits);
            let reg = self.get(cond, own);
            let first = self.code.terms.len() as u32;
            self.code.terms.push(Term { reg, shl: 0, neg: false });
            let shr = (if signed { own.bits() } else { cond_width } - 1) as u8;
            let top = self.register(own);
            self.code.ins.push(Ins::Linear {
                dst: top,
                first,
                count: 1,
                c: 0,
                shr,
                logical: true,
                relu: false,
                wrap: Wrap::None,
            });
            let cut = self.register(lane);
            self.code.ins.push(Ins::Convert { dst: cut, src: top, zero: true });
            (cut, 0)
        };
        let mut choice = |arm: &Arm| {
            let gone = arm.shl >= lane.bits() || need.low.is_some_and(|k| arm.shl >= k.saturating_add(arm.shr));
            let zero = !self.facts.by_op[arm.value as usize].signed;
            if gone || (zero && arm.shr >= lane.bits()) {
                return Choice { reg: self.constant(0, lane), shl: 0, shr: 0, logical: false };
            }
            let (shr, logical) = shift_right(arm.shr, lane, zero);
            Choice { reg: self.get(arm.value, lane), shl: arm.shl as u8, shr, logical }
        };
        let (on_true, on_false) = (choice(on_true), choice(on_false));
        let wrap = wrap_in(lane, fact, need.wrap);
        Ins::Mux { dst: self.register(lane), cond, bit: bit as u8, on_true, on_false, wrap }
    }

    /// Appends an operation in integers of any size; its operands may have any lane.
    fn wide(&mut self, node: u32, form: &Form, terms: &[Shifted], fact: &Fact, kif: Kif) -> Reg {
        let mut operands = Vec::new();
        let mut operand = |value: u32| {
            let fact = self.facts.by_op[value as usize];
            let reg = match fact.constant() {
                Some(k) => self.constant(k.into(), Lane::B8),
                None => self.home[value as usize],
            };
            operands.push(WideOperand { value, reg, zero: fact.constant().is_none() && !fact.signed });
        };
        match form {
            Form::Const(_) | Form::Input { .. } => {}
            Form::Linear { .. } => terms.iter().for_each(|t| operand(t.value)),
            Form::NotUnsigned { x, .. } | Form::Lookup { x, .. } | Form::Compare { x, .. } => operand(*x),
            Form::Mul { a, b, .. } | Form::Bits { a, b, .. } => {
                operand(*a);
                operand(*b);
            }
            Form::Mux { cond, on_true, on_false } => {
                operand(*cond);
                operand(on_true.value);
                operand(on_false.value);
            }
        }
        let dst = self.register(Lane::for_bits(fact.bits));
        self.limbs(dst, fact.bits);
        let (mut cond_kif, mut table_index) = (Kif::ZERO, 0);
        match form {
            Form::Mux { cond, .. } => cond_kif = self.model.kif(ValueId(*cond)),
            Form::Lookup { table, .. } => table_index = self.table(node, *table, 0, false, kif),
            _ => {}
        }
        self.code.wide.push(WideOp {
            form: form.clone(),
            terms: if matches!(form, Form::Linear { .. }) { terms.to_vec() } else { Vec::new() },
            operands,
            kif,
            cond: cond_kif,
            table: table_index,
        });
        self.code.ins.push(Ins::Wide { dst, op: self.code.wide.len() as u32 - 1 });
        dst
    }

    fn table(&mut self, node: u32, table: TableId, base: i64, zero: bool, kif: Kif) -> u32 {
        let entries = self.model.table(table).entries.iter().map(|&e| wrap_small(e, kif)).collect();
        let inside = !self.can_miss(ValueId(node));
        let faults = self.miss == LookupMiss::Error && !inside;
        self.code.tables.push(LaneTable { entries: Entries::new(entries), base, zero, op: node, faults, inside });
        self.code.tables.len() as u32 - 1
    }

    fn limbs(&mut self, reg: Reg, bits: u32) {
        if self.lane(reg) == Lane::Wide {
            // One more bit, so that limbs can always be read as signed.
            self.code.limbs.insert(reg, (bits + 1).div_ceil(64));
        }
    }
}

/// Returns the low 128 bits of an integer.
pub(super) fn low_bits(value: &BigInt) -> i128 {
    value.to_i128().unwrap_or_else(|| {
        let low = wrap(value, Kif { signed: true, int: 127, frac: 0 });
        low.to_i128().expect("wrapped to 128 bits")
    })
}

fn wrap_small(entry: i32, kif: Kif) -> i32 {
    let width = kif.width();
    match width {
        0 => 0,
        32.. => entry,
        _ if kif.signed => entry << (32 - width) >> (32 - width),
        _ => entry & ((1 << width) - 1),
    }
}

/// Returns the shift for a right shift in a lane, at most the lane's width minus one. A signed number shifted by more
/// bits has the same result, its sign. (An unsigned number shifted by the whole width is a constant zero and has no
/// instruction.)
fn shift_right(shr: u32, lane: Lane, logical: bool) -> (u8, bool) {
    (shr.min(lane.bits() - 1) as u8, logical)
}

fn wrap_in(lane: Lane, fact: &Fact, wrap: bool) -> Wrap {
    if !wrap || fact.bits >= lane.bits() {
        Wrap::None
    } else if fact.signed {
        Wrap::Sign(fact.bits as u8)
    } else {
        Wrap::Zero(fact.bits as u8)
    }
}
