//! Generator of a C++17 header for a program: the batch engine's plan as loops that a compiler vectorises.
//!
//! The header has no dependencies and no global state, and computes the codes of [`crate::golden`] for every bit
//! pattern of the inputs. Lanes, order and places are those of the plan ([`super::lower`], [`super::order`],
//! [`super::plan`]). Consecutive instructions of one lane share a loop, and values that only this loop reads stay in
//! local variables. The other run-time support is in `templates/cpp/support.hpp`.

use super::convert;
use super::form::{Arm, Form};
use super::lower::{self, Choice, Code, Entries, InputConversion, Ins, Lane, OutputConversion, Reg, WideOp, Wrap};
use super::order;
use super::plan::Places;
use crate::LookupMiss;
use alir_core::ir::{BinaryBits, Model};
use alir_core::num::Kif;
use num_bigint::BigInt;
use sha2::{Digest as _, Sha256};
use std::fmt::Write;

/// Run-time support of the header, equal for every program.
pub(super) const SUPPORT: &str = include_str!("../../../../templates/cpp/support.hpp");

/// Maximum number of instructions in one loop, so that their values fit vector registers.
const IN_A_LOOP: usize = 12;

/// Maximum number of instructions in one function: compilers are slow for functions with thousands of loops.
const IN_A_FUNCTION: usize = 240;

/// Size in bytes of the arena of one block, and possible numbers of samples in a block, so that the arena fits the
/// first-level cache if possible.
const ARENA: usize = 64 << 10;
const BLOCKS: [usize; 4] = [64, 32, 16, 8];

/// Size in bytes above which arenas are allocated on the heap.
const STACK: usize = 256 << 10;

/// Returns the number of 64-bit words for a raw integer value of a type.
pub(super) fn words(kif: Kif) -> u32 {
    kif.width().div_ceil(64).max(1)
}

/// Returns the header of a program.
///
/// `namespace` is a valid C++ namespace (`a` or `a::b`); `head` contains lines of a comment. Lookups outside of their
/// tables read zero, as in the hardware; NaN and infinity have code 0.
///
/// # Panics
/// Never for a valid model: the header is written to memory.
pub fn cpp_header(model: &Model, namespace: &str, head: &[String]) -> String {
    let mut comment: String = head.iter().map(|line| format!("// {line}\n")).collect();
    comment += "//\n// run: one sample of doubles, exact floor and wrap of the inputs as in the hardware; run_codes: \
                one sample of integer codes;\n\
         // run_batch: many samples, row by row. A code of more than 64 bits passes in several words, the lowest \
         first, the last with\n\
         // the sign (input_words, output_words); all others are one word. NaN and infinity are code 0. Needs \
         __int128 (g++, clang++).\n";
    whole_header(&comment, namespace, &program(model))
}

/// Assembles a header from its comment and the body of its namespace.
///
/// A hash of the whole content names the include guard and an inline namespace. Two headers share a guard only if they
/// are equal. Functions of different models have different symbols, so that the linker never mixes them. The class
/// outside of the inline namespace makes two models with one namespace in one translation unit an error.
pub(super) fn whole_header(comment: &str, namespace: &str, body: &str) -> String {
    let digest = Sha256::digest(format!("{comment}\0{namespace}\0{body}").as_bytes());
    let hash: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let guard = format!("ALIR2HDL_{hash}_HPP");
    format!(
        "{comment}#ifndef {guard}\n#define {guard}\n\n\
         #if __cplusplus < 201703L && !(defined _MSVC_LANG && _MSVC_LANG >= 201703L)\n\
         #error \"this header is C++17: compile it with -std=c++17 or a later standard\"\n#else\n\n\
         #include <cstddef>\n#include <cstdint>\n#include <cstring>\n#include <limits>\n#include <memory>\n\n\
         namespace {namespace} {{\n\n\
         // Two models of one namespace in one translation unit: give one of them another namespace.\n\
         class one_model_per_namespace {{}};\n\n\
         inline namespace model_{hash} {{\n\n\
         {body}}}  // namespace model_{hash}\n}}  // namespace {namespace}\n\n#endif\n#endif\n"
    )
}

/// Returns the body of a program's namespace.
pub(super) fn program(model: &Model) -> String {
    let mut code = lower::lower(model, LookupMiss::Zero);
    order::improve(&mut code, order::Registers::AVX512, |_, _| true);
    let places = Places::new(&code, &vec![true; code.lanes.len()], &[]);
    let bytes = places.bytes_per_sample();
    let block = BLOCKS.into_iter().find(|b| b * bytes <= ARENA).unwrap_or(BLOCKS[BLOCKS.len() - 1]);
    let limbs = code.wide.iter().map(|op| limbs_of(&code, op)).chain(code.limbs.values().copied()).max();
    let mut w = Writer { model, code: &code, places: &places, limbs: limbs.unwrap_or(0).max(2), out: String::new() };
    w.body(block, bytes).expect("text is written to memory");
    w.out
}

/// Returns the number of words that every intermediate of a wide operation fits.
fn limbs_of(code: &Code, op: &WideOp) -> u32 {
    let bits = |k: usize| match code.lanes[op.operands[k].reg as usize] {
        Lane::Wide => 64 * code.limbs[&op.operands[k].reg],
        lane => 8 * lane.bytes() + 1,
    };
    let all = || (0..op.operands.len()).map(bits);
    let arm = |arm: &Arm| arm.shl;
    let exact = match &op.form {
        Form::Const(c) => c.bits() as u32 + 1,
        Form::Input { .. } => 1,
        Form::Linear { c, .. } => {
            let terms = op.terms.iter().enumerate().map(|(k, t)| bits(k) + t.shl);
            terms.chain([c.bits() as u32]).max().unwrap_or(0) + op.terms.len().ilog2().max(1) + 2
        }
        Form::NotUnsigned { bits, .. } => all().max().unwrap_or(0).max(*bits) + 1,
        Form::Mul { shl, .. } => all().sum::<u32>() + shl,
        Form::Bits { sa, sb, .. } => all().max().unwrap_or(0) + sa.max(sb) + 1,
        Form::Mux { on_true, on_false, .. } => all().max().unwrap_or(0) + arm(on_true).max(arm(on_false)) + 1,
        Form::Lookup { base, .. } => all().max().unwrap_or(0).max(base.bits() as u32) + 2,
        Form::Compare { than, .. } => all().max().unwrap_or(0).max(than.bits() as u32) + 1,
    };
    exact.max(op.kif.width()).div_ceil(64) + 1
}

/// Returns the C++ type of a lane.
fn lane_type(lane: Lane) -> &'static str {
    match lane {
        Lane::B1 => "std::uint8_t",
        Lane::B2 => "std::uint16_t",
        Lane::B4 => "std::uint32_t",
        Lane::B8 => "std::uint64_t",
        Lane::B16 => "u128",
        Lane::Wide => "big",
    }
}

/// Returns the name of a lane's array in the arena.
fn lane_array(lane: Lane) -> &'static str {
    match lane {
        Lane::B1 => "b",
        Lane::B2 => "h",
        Lane::B4 => "w",
        Lane::B8 => "d",
        Lane::B16 => "q",
        Lane::Wide => "x",
    }
}

/// Returns a constant of a lane as a C++ expression.
fn constant(value: i128, lane: Lane) -> String {
    let ty = lane_type(lane);
    match lane {
        Lane::B16 => {
            let (high, low) = ((value >> 64) as u64, value as u64);
            format!("((u128{{{high:#x}u}} << 64) | u128{{{low:#x}u}})")
        }
        _ => {
            let bits = 8 * lane.bytes();
            format!("{ty}{{{:#x}u}}", (value as u128) & (u128::MAX >> (128 - bits)))
        }
    }
}

/// Returns a power of two as a literal that is exact in C++17; 0 if it is not a normal number.
fn factor(exponent: i64) -> String {
    match convert::power(exponent) {
        Some(_) if exponent >= 0 => format!("0x1p+{exponent}"),
        Some(_) => format!("0x1p{exponent}"),
        None => "0.0".into(),
    }
}

pub(super) fn truth(v: bool) -> &'static str {
    if v { "true" } else { "false" }
}

struct Writer<'a> {
    model: &'a Model,
    code: &'a Code,
    places: &'a Places,
    /// Number of words of the integers beyond 128 bits.
    limbs: u32,
    out: String,
}

type Result = std::fmt::Result;

impl Writer<'_> {
    fn body(&mut self, block: usize, bytes: usize) -> Result {
        let (n_in, n_out) = (self.model.n_inputs(), self.model.outputs().len());
        let in_words: u32 = self.model.input_kifs().iter().map(|&k| words(k)).sum();
        let out_words: u32 = (0..n_out).map(|j| words(self.model.output_kif(j))).sum();
        writeln!(
            self.out,
            "\
             constexpr std::size_t inputs = {n_in}, outputs = {n_out};\n\
             constexpr std::size_t input_words = {in_words}, output_words = {out_words};\n\n\
             namespace detail {{\n\n{SUPPORT}"
        )?;
        self.tables()?;
        self.arena()?;
        let functions = self.functions()?;
        self.ports()?;
        writeln!(self.out, "\ntemplate <std::size_t N> inline void compute(arena<N>& a) {{")?;
        for f in 0..functions {
            writeln!(self.out, "  part{f}(a);")?;
        }
        if functions == 0 {
            writeln!(self.out, "  (void)a;")?;
        }
        // A large arena is allocated on the heap.
        let make = |n: usize| match n * bytes > STACK {
            true => format!(
                "std::unique_ptr<detail::arena<{n}>> held(new detail::arena<{n}>());\n  detail::arena<{n}>& a = *held;"
            ),
            false => format!("detail::arena<{n}> a;"),
        };
        write!(
            self.out,
            "}}\n\n}}  // namespace detail\n\n\
             inline void run(const double* in, double* out) {{\n  {one}\n  detail::load(a, in, 1);\n  \
             detail::compute(a);\n  detail::store(a, out, 1);\n}}\n\n\
             inline void run_codes(const std::int64_t* in, std::int64_t* out) {{\n  {one}\n  detail::load_codes(a, \
             in);\n  detail::compute(a);\n  detail::store_codes(a, out);\n}}\n\n\
             inline void run_batch(const double* in, double* out, std::size_t samples) {{\n  {many}\n\
             \x20 for (std::size_t at = 0; at < samples; at += {block}) {{\n\
             \x20   const std::size_t n = samples - at < {block} ? samples - at : {block};\n\
             \x20   detail::load(a, in + at * inputs, n);\n    detail::compute(a);\n    detail::store(a, out + at * \
             outputs, n);\n  }}\n}}\n\n",
            one = make(1),
            many = make(block),
        )
    }

    fn tables(&mut self) -> Result {
        for (t, table) in self.code.tables.iter().enumerate() {
            let (ty, entries): (_, Vec<String>) = match &table.entries {
                Entries::I8(e) => ("std::int8_t", e.iter().map(i8::to_string).collect()),
                Entries::U8(e) => ("std::uint8_t", e.iter().map(u8::to_string).collect()),
                Entries::I16(e) => ("std::int16_t", e.iter().map(i16::to_string).collect()),
                // C++ has no int literal for the smallest int32.
                Entries::I32(e) => ("std::int64_t", e.iter().map(i32::to_string).collect()),
            };
            if entries.is_empty() {
                continue;
            }
            write!(self.out, "\nconstexpr {ty} table{t}[{}] = {{", entries.len())?;
            for (i, entry) in entries.iter().enumerate() {
                let before = if i % 24 == 0 { "\n    " } else { " " };
                write!(self.out, "{before}{entry},")?;
            }
            writeln!(self.out, "\n}};")?;
        }
        Ok(())
    }

    fn arena(&mut self) -> Result {
        writeln!(
            self.out,
            "\n// Values of N samples; a place serves several values, one after the other.\ntemplate <std::size_t N> \
             struct arena {{"
        )?;
        for lane in Lane::MACHINE {
            let count = self.places.count[lane as usize];
            if count > 0 {
                writeln!(self.out, "  {} {}[{count}][N];", lane_type(lane), lane_array(lane))?;
            }
        }
        for (place, limbs) in self.places.limbs.iter().enumerate() {
            writeln!(self.out, "  std::uint64_t x{place}[N][{limbs}];")?;
        }
        if self.code.lanes.is_empty() {
            writeln!(self.out, "  char none;")?;
        }
        writeln!(self.out, "}};\n\nusing wide = big<{}>;", self.limbs)
    }

    /// Returns the C++ expression for a register of a machine lane in the arena.
    fn place(&self, reg: Reg) -> String {
        let lane = self.code.lanes[reg as usize];
        match lane {
            Lane::Wide => format!("a.x{}[i]", self.places.place[reg as usize]),
            _ => format!("a.{}[{}][i]", lane_array(lane), self.places.place[reg as usize]),
        }
    }

    /// Writes the instructions as functions, and returns the number of functions.
    fn functions(&mut self) -> std::result::Result<usize, std::fmt::Error> {
        let loops = self.loops();
        let last_use = self.last_uses();
        let mut functions = 0;
        let mut inside = 0;
        for range in loops {
            if inside == 0 {
                writeln!(self.out, "\ntemplate <std::size_t N> inline void part{functions}(arena<N>& a) {{")?;
                functions += 1;
            }
            inside += range.len();
            self.one_loop(range, &last_use)?;
            if inside >= IN_A_FUNCTION {
                writeln!(self.out, "}}")?;
                inside = 0;
            }
        }
        if inside > 0 {
            writeln!(self.out, "}}")?;
        }
        Ok(functions)
    }

    /// Returns the ranges of instructions that share a loop.
    fn loops(&self) -> Vec<std::ops::Range<usize>> {
        let mut loops: Vec<std::ops::Range<usize>> = Vec::new();
        // Loops over one lane vectorise; lookups, conversions and wide operations are separate.
        let alone =
            |ins: &Ins| matches!(ins, Ins::Lookup { .. } | Ins::Convert { .. } | Ins::Narrow { .. } | Ins::Wide { .. });
        for (k, ins) in self.code.ins.iter().enumerate() {
            let lane = self.code.lanes[ins.dst() as usize];
            match loops.last_mut() {
                Some(range)
                    if range.len() < IN_A_LOOP
                        && !alone(ins)
                        && !alone(&self.code.ins[range.start])
                        && self.code.lanes[self.code.ins[range.start].dst() as usize] == lane =>
                {
                    range.end = k + 1;
                }
                _ => loops.push(k..k + 1),
            }
        }
        loops
    }

    /// Returns the index of the last instruction that reads each register; `usize::MAX` for outputs.
    fn last_uses(&self) -> Vec<usize> {
        let mut last = vec![0; self.code.lanes.len()];
        for (k, ins) in self.code.ins.iter().enumerate() {
            ins.for_each_source(self.code, |r| last[r as usize] = k);
        }
        for out in &self.code.outputs {
            if let Some(reg) = out.src {
                last[reg as usize] = usize::MAX;
            }
        }
        last
    }

    fn one_loop(&mut self, range: std::ops::Range<usize>, last_use: &[usize]) -> Result {
        writeln!(self.out, "  for (std::size_t i = 0; i < N; ++i) {{")?;
        let mut local: Vec<Reg> = Vec::new();
        for k in range.clone() {
            let ins = self.code.ins[k];
            let dst = ins.dst();
            let lane = self.code.lanes[dst as usize];
            let value = self.expression(&ins, &local);
            if lane == Lane::Wide {
                writeln!(self.out, "    ({value}).words({}, {});", self.place(dst), self.code.limbs[&dst])?;
                continue;
            }
            let ty = lane_type(lane);
            let read_later = last_use[dst as usize] >= range.end;
            // A value without a reader is a lookup that the engine keeps for its faults.
            if !read_later && last_use[dst as usize] <= k {
                continue;
            }
            if range.len() == 1 {
                writeln!(self.out, "    {} = {value};", self.place(dst))?;
                continue;
            }
            writeln!(self.out, "    const {ty} v{dst} = {value};")?;
            if read_later {
                writeln!(self.out, "    {} = v{dst};", self.place(dst))?;
            }
            local.push(dst);
        }
        writeln!(self.out, "  }}")
    }

    /// Returns a register as an operand: a local variable if this loop computes it.
    fn read(&self, reg: Reg, local: &[Reg]) -> String {
        if let Some(&(_, value)) = self.code.fixed.iter().find(|f| f.0 == reg) {
            return match self.code.lanes[reg as usize] {
                Lane::Wide => self.place(reg),
                lane => constant(value, lane),
            };
        }
        if local.contains(&reg) { format!("v{reg}") } else { self.place(reg) }
    }

    fn expression(&self, ins: &Ins, local: &[Reg]) -> String {
        let lane = self.code.lanes[ins.dst() as usize];
        let ty = lane_type(lane);
        let read = |reg: Reg| self.read(reg, local);
        let left = |e: String, by: u8| if by == 0 { e } else { format!("shl<{by}>({e})") };
        let right = |e: String, by: u8, logical: bool| match (by, logical) {
            (0, _) => e,
            (_, true) => format!("shr<{by}>({e})"),
            (_, false) => format!("sar<{by}>({e})"),
        };
        let wrapped = |e: String, wrap: Wrap| match wrap {
            Wrap::None => e,
            Wrap::Sign(bits) => format!("sext<{bits}>({e})"),
            Wrap::Zero(bits) => format!("zext<{bits}>({e})"),
        };
        match *ins {
            Ins::Linear { dst: _, first, count, c, shr, logical, relu, wrap } => {
                let c = self.code.constants[c as usize];
                let mut sum: Option<String> = (c != 0 || count == 0).then(|| constant(c, lane));
                for t in &self.code.terms[first as usize..][..count as usize] {
                    let term = left(read(t.reg), t.shl);
                    sum = Some(match (sum, t.neg) {
                        (None, false) => term,
                        (None, true) => format!("sub({ty}{{0}}, {term})"),
                        (Some(sum), false) => format!("add({sum}, {term})"),
                        (Some(sum), true) => format!("sub({sum}, {term})"),
                    });
                }
                let sum = sum.unwrap_or_else(|| constant(0, lane));
                let sum = if relu { format!("relu({sum})") } else { sum };
                wrapped(right(sum, shr, logical), wrap)
            }
            Ins::Mul { dst: _, a, b, shl, shr, logical, wrap } => {
                wrapped(right(left(format!("mul({}, {})", read(a), read(b)), shl), shr, logical), wrap)
            }
            Ins::Bits { dst: _, op, a, sa, b, sb, shr, logical, wrap } => {
                let op = match op {
                    BinaryBits::And => '&',
                    BinaryBits::Or => '|',
                    BinaryBits::Xor => '^',
                };
                let both = format!("static_cast<{ty}>({} {op} {})", left(read(a), sa), left(read(b), sb));
                wrapped(right(both, shr, logical), wrap)
            }
            Ins::Mux { dst: _, cond, bit, on_true, on_false, wrap } => {
                let arm = |c: Choice| right(left(read(c.reg), c.shl), c.shr, c.logical);
                wrapped(format!("pick<{bit}>({}, {}, {})", read(cond), arm(on_true), arm(on_false)), wrap)
            }
            Ins::Compare { dst: _, x, than, eq, wrap } => {
                let than = constant(self.code.constants[than as usize], lane);
                let op = if eq { "==" } else { "!=" };
                wrapped(format!("truth<{ty}>({} {op} {than})", read(x)), wrap)
            }
            Ins::Lookup { dst: _, x, table } => {
                let t = &self.code.tables[table as usize];
                if t.entries.len() == 0 {
                    return constant(0, lane);
                }
                let index = if t.zero { "index_unsigned" } else { "index_signed" };
                let base = if t.base == 0 { String::new() } else { format!(" - std::int64_t{{{}}}", t.base) };
                format!("entry<{ty}>(table{table}, {index}({}){base})", read(x))
            }
            Ins::Convert { dst: _, src, zero } => {
                let narrower = self.code.lanes[src as usize] > lane;
                match zero || narrower {
                    true => format!("static_cast<{ty}>({})", read(src)),
                    false => format!("widen_signed<{ty}>({})", read(src)),
                }
            }
            Ins::Narrow { dst: _, src } => format!("static_cast<{ty}>({}.low())", self.big(src, false)),
            Ins::Wide { dst: _, op } => {
                let value = self.wide(&self.code.wide[op as usize]);
                if lane == Lane::Wide { value } else { format!("static_cast<{ty}>(({value}).low())") }
            }
        }
    }

    /// Returns a register as an integer of many words.
    fn big(&self, reg: Reg, zero: bool) -> String {
        match self.code.lanes[reg as usize] {
            Lane::Wide => match self.code.fixed.iter().find(|f| f.0 == reg) {
                Some(&(_, value)) => self.big_constant(&value.into()),
                None => format!("wide::of_words({}, {}, true)", self.place(reg), self.code.limbs[&reg]),
            },
            _ => format!("wide::of_lane({}, {})", self.read(reg, &[]), truth(!zero)),
        }
    }

    fn big_constant(&self, value: &BigInt) -> String {
        let mut limbs = vec![0u64; self.limbs as usize];
        super::wide::to_limbs(value, &mut limbs);
        let words: Vec<String> = limbs.iter().map(|w| format!("{w:#x}u")).collect();
        format!("wide{{{{{}}}}}", words.join(", "))
    }

    /// Returns an operation in integers of many words, as [`super::wide::evaluate`] computes it.
    fn wide(&self, op: &WideOp) -> String {
        let value = |k: usize| self.big(op.operands[k].reg, op.operands[k].zero);
        let left = |e: String, by: u32| if by == 0 { e } else { format!("({e}).shl({by})") };
        let right = |e: String, by: u32| if by == 0 { e } else { format!("({e}).sar({by})") };
        let exact = match &op.form {
            Form::Const(c) => self.big_constant(c),
            Form::Input { .. } => "wide::zero()".into(),
            Form::Linear { c, shr, relu } => {
                let mut sum = self.big_constant(c);
                for (k, t) in op.terms.iter().enumerate() {
                    let sign = if t.neg { '-' } else { '+' };
                    sum = format!("{sum} {sign} {}", left(value(k), t.shl));
                }
                let sum = if *relu { format!("positive({sum})") } else { sum };
                right(sum, *shr)
            }
            Form::NotUnsigned { x: _, bits } => format!("(~{}).wrapped({bits}, false)", value(0)),
            Form::Mul { a: _, b: _, shl, shr } => right(left(format!("{} * {}", value(0), value(1)), *shl), *shr),
            Form::Bits { op, a: _, sa, b: _, sb, shr } => {
                let op = match op {
                    BinaryBits::And => '&',
                    BinaryBits::Or => '|',
                    BinaryBits::Xor => '^',
                };
                right(format!("{} {op} {}", left(value(0), *sa), left(value(1), *sb)), *shr)
            }
            Form::Mux { cond: _, on_true, on_false } => {
                let top = op.cond.width().max(1) - 1;
                let arm = |k: usize, arm: &Arm| right(left(value(k), arm.shl), arm.shr);
                format!("{}.bit({top}) ? {} : {}", value(0), arm(1, on_true), arm(2, on_false))
            }
            Form::Lookup { x: _, table: _, base } => {
                let t = &self.code.tables[op.table as usize];
                match t.entries.len() {
                    0 => "wide::zero()".into(),
                    _ => format!(
                        "entry_at<{}>(table{}, {} - {})",
                        self.limbs,
                        op.table,
                        value(0),
                        self.big_constant(base)
                    ),
                }
            }
            Form::Compare { x: _, than, eq } => {
                let not = if *eq { "" } else { "!" };
                format!("wide::of_lane(truth<std::uint8_t>({not}({} == {})), false)", value(0), self.big_constant(than))
            }
        };
        format!("({exact}).wrapped({}, {})", op.kif.width(), truth(op.kif.signed))
    }

    // ---- Ports

    fn ports(&mut self) -> Result {
        writeln!(
            self.out,
            "\ntemplate <std::size_t N> inline void load(arena<N>& a, const double* in, std::size_t n) {{\n  (void)a; \
             (void)in; (void)n;"
        )?;
        for c in &self.code.inputs {
            self.load(c)?;
        }
        writeln!(
            self.out,
            "}}\n\ntemplate <std::size_t N> inline void load_codes(arena<N>& a, const std::int64_t* in) {{\n  \
             constexpr std::size_t i = 0;\n  (void)a; (void)in; (void)i;"
        )?;
        let first = first_words(self.model.input_kifs().iter().copied());
        for c in &self.code.inputs {
            self.load_code(c, first[c.input as usize])?;
        }
        writeln!(
            self.out,
            "}}\n\ntemplate <std::size_t N> inline void store(const arena<N>& a, double* out, std::size_t n) {{\n  \
             (void)a; (void)out; (void)n;"
        )?;
        for (j, out) in self.code.outputs.iter().enumerate() {
            self.store(j, out)?;
        }
        writeln!(
            self.out,
            "}}\n\ntemplate <std::size_t N> inline void store_codes(const arena<N>& a, std::int64_t* out) {{\n  \
             constexpr std::size_t i = 0;\n  (void)a; (void)out; (void)i;"
        )?;
        let kifs: Vec<Kif> = (0..self.model.outputs().len()).map(|j| self.model.output_kif(j)).collect();
        let first = first_words(kifs.iter().copied());
        for (j, out) in self.code.outputs.iter().enumerate() {
            self.store_code(out, first[j], words(kifs[j]))?;
        }
        writeln!(self.out, "}}")
    }

    fn load(&mut self, c: &InputConversion) -> Result {
        let lane = self.code.lanes[c.dst as usize];
        let scale = i64::from(self.model.inp_shifts()[c.input as usize]) + i64::from(c.kif.frac);
        let (width, signed, place) = (c.kif.width(), truth(c.kif.signed), self.place(c.dst));
        let x = format!("in[i * {} + {}]", self.model.n_inputs(), c.input);
        let value = match (lane, width) {
            (Lane::Wide, _) => {
                let limbs = self.code.limbs[&c.dst];
                format!("floor_big<{}>({x}, {scale}).wrapped({width}, {signed}).words({place}, {limbs})", limbs.max(2))
            }
            (_, 0) => format!("{place} = 0"),
            _ => format!("{place} = code_of<{}, {width}, {signed}>({x}, {}, {scale})", lane_type(lane), factor(scale)),
        };
        writeln!(self.out, "  for (std::size_t i = 0; i < n; ++i) {value};")?;
        // The missing samples of a partial block are zero.
        let rest = match lane {
            Lane::Wide => format!("std::memset({place}, 0, sizeof {place})"),
            _ => format!("{place} = 0"),
        };
        writeln!(self.out, "  for (std::size_t i = n; i < N; ++i) {rest};")
    }

    fn load_code(&mut self, c: &InputConversion, start: u32) -> Result {
        let lane = self.code.lanes[c.dst as usize];
        let port = self.model.input_kifs()[c.input as usize];
        let n = words(port);
        let limbs = (n + 2 + c.kif.width().div_ceil(64)).max(2);
        let mut value = format!("words_of<{limbs}, {n}>(in + {start})");
        let shift = i64::from(c.kif.frac) - i64::from(port.frac);
        let limit = i64::from(limbs) * 64;
        value = match shift {
            0 => value,
            s if s >= limit => format!("big<{limbs}>::zero()"),
            s if s > 0 => format!("{value}.shl({s})"),
            s => format!("{value}.sar({})", (-s).min(limit - 1)),
        };
        value = format!("{value}.wrapped({}, {})", c.kif.width(), truth(c.kif.signed));
        let place = self.place(c.dst);
        match lane {
            Lane::Wide => writeln!(self.out, "  {value}.words({place}, {});", self.code.limbs[&c.dst]),
            _ => writeln!(self.out, "  {place} = static_cast<{}>({value}.low());", lane_type(lane)),
        }
    }

    /// Returns an output with its constant if its register has a constant value: such registers have no place.
    fn without_fixed(&self, out: &OutputConversion) -> (OutputConversion, Option<BigInt>) {
        let fixed = out.src.and_then(|reg| self.code.fixed.iter().find(|f| f.0 == reg));
        match fixed {
            None => (*out, None),
            Some(&(reg, value)) => {
                let bits = 8 * self.code.lanes[reg as usize].bytes();
                let mask = if bits == 0 || bits == 128 { -1 } else { !(-1i128 << bits) };
                let value = if out.zero { value & mask } else { value };
                (OutputConversion { src: None, ..*out }, Some(value.into()))
            }
        }
    }

    fn store(&mut self, j: usize, out: &OutputConversion) -> Result {
        let (out, fixed) = self.without_fixed(out);
        let y = format!("out[i * {} + {j}]", self.model.outputs().len());
        let exact = OutputConversion::EXACT_SCALES.contains(&out.exponent);
        let value = match out.src {
            None => {
                let code = fixed.unwrap_or_else(|| out.constant.into());
                let real = convert::nearest(&code, out.exponent);
                if real == 0.0 { "0.0".into() } else { format!("from_bits({:#x}u)", real.to_bits()) }
            }
            Some(reg) => match self.code.lanes[reg as usize] {
                lane if lane != Lane::Wide && exact => {
                    let sign = if out.zero { self.place(reg) } else { format!("as_signed({})", self.place(reg)) };
                    format!("static_cast<double>({sign}) * {}", factor(out.exponent.into()))
                }
                Lane::Wide => {
                    let limbs = self.code.limbs[&reg];
                    let held = limbs.max(2);
                    format!("nearest(big<{held}>::of_words({}, {limbs}, true), {})", self.place(reg), out.exponent)
                }
                _ => format!("nearest(big<3>::of_lane({}, {}), {})", self.place(reg), truth(!out.zero), out.exponent),
            },
        };
        writeln!(self.out, "  for (std::size_t i = 0; i < n; ++i) {y} = {value};")
    }

    fn store_code(&mut self, out: &OutputConversion, start: u32, n: u32) -> Result {
        let (out, fixed) = self.without_fixed(out);
        let value = match out.src {
            None => {
                let mut limbs = vec![0; n as usize];
                super::wide::to_limbs(&fixed.unwrap_or_else(|| out.constant.into()), &mut limbs);
                return limbs.iter().zip(start..).try_for_each(|(word, at)| {
                    writeln!(self.out, "  out[{at}] = static_cast<std::int64_t>(std::uint64_t{{{word:#x}u}});")
                });
            }
            Some(reg) => match self.code.lanes[reg as usize] {
                Lane::Wide => {
                    let limbs = self.code.limbs[&reg];
                    format!("big<{}>::of_words({}, {limbs}, true)", limbs.max(2), self.place(reg))
                }
                lane if n == 1 => {
                    let place = self.place(reg);
                    let value = match (out.zero, lane) {
                        (true, _) => format!("static_cast<std::int64_t>({place})"),
                        (false, _) => format!("static_cast<std::int64_t>(as_signed({place}))"),
                    };
                    return writeln!(self.out, "  out[{start}] = {value};");
                }
                _ => format!("big<3>::of_lane({}, {})", self.place(reg), truth(!out.zero)),
            },
        };
        writeln!(self.out, "  to_words<{n}>({value}, out + {start});")
    }
}

/// Returns the index of the first word of each port.
fn first_words(kifs: impl Iterator<Item = Kif>) -> Vec<u32> {
    let mut next = 0;
    kifs.map(|kif| {
        next += words(kif);
        next - words(kif)
    })
    .collect()
}
