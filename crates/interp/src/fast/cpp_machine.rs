//! Generator of a C++17 header for a stateful design: a class with the registers, and one method call per clock cycle.
//!
//! The class computes the results of [`crate::machine`], statement by statement: codes of any size in words of 64 bits,
//! and registers without a reset value at 0. Each block is the header of its program ([`super::cpp`]) in a separate
//! namespace.

use super::cpp::{SUPPORT, program, truth, whole_header, words};
use super::wide::to_limbs;
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, Settle, SignalId, SignalKind};
use alir_core::num::Kif;
use num_bigint::BigInt;
use std::fmt::Write;

/// Returns the header of a stateful design.
///
/// `namespace` is a valid C++ namespace (`a` or `a::b`); `head` contains lines of a comment. Lookups outside of their
/// tables read zero, as in the hardware; NaN and infinity have code 0.
///
/// # Panics
/// Never for a valid design: the header is written to memory.
pub fn cpp_machine(machine: &Machine, namespace: &str, head: &[String]) -> String {
    let mut w = Writer { machine, out: String::new(), temporaries: 0 };
    let comment = w.comment(head).expect("text is written to memory");
    w.body().expect("text is written to memory");
    whole_header(&comment, namespace, &w.out)
}

struct Writer<'a> {
    machine: &'a Machine,
    out: String,
    temporaries: usize,
}

type Result<T = ()> = std::result::Result<T, std::fmt::Error>;

/// Returns the index of the first word of each element of a signal, and the number of words of all elements.
fn starts(elements: &[Kif]) -> (Vec<u32>, u32) {
    let mut next = 0;
    let starts = elements.iter().map(|&kif| {
        next += words(kif);
        next - words(kif)
    });
    (starts.collect(), next)
}

impl Writer<'_> {
    /// Returns the lines of comment at the start of the header.
    fn comment(&self, head: &[String]) -> Result<String> {
        let mut comment = String::new();
        for line in head {
            writeln!(comment, "// {line}")?;
        }
        writeln!(
            comment,
            "//\n// design: the registers. step applies a row of inputs, lets them reach the outputs, stores these \
             and clocks once; reset is power-on,\n\
             // registers without a first value at 0. Doubles are floored and wrapped as in the hardware, NaN and \
             infinity are code 0. step_codes\n\
             // takes and gives integer codes; one of more than 64 bits passes in several words, the lowest first, \
             the last with the sign.\n\
             // Ports and elements follow one another in this order:"
        )?;
        let machine = self.machine;
        let inputs = machine.inputs().map(|id| ("in", id));
        for (side, id) in inputs.chain(machine.outputs().map(|id| ("out", id))) {
            let signal = machine.signal(id);
            let types: Vec<String> = signal.elements.iter().map(ToString::to_string).collect();
            writeln!(comment, "//   {side} {}: {}", signal.name.escape_default(), types.join(" "))?;
        }
        writeln!(comment, "// Needs __int128 (g++, clang++).")?;
        Ok(comment)
    }

    /// Writes the body of the namespace.
    fn body(&mut self) -> Result {
        let (inputs, outputs) = (self.machine.inputs().collect::<Vec<_>>(), self.machine.outputs().collect::<Vec<_>>());
        let count = |ids: &[SignalId]| ids.iter().map(|&id| self.machine.signal(id).elements.len()).sum::<usize>();
        let total = |ids: &[SignalId]| ids.iter().map(|&id| starts(&self.machine.signal(id).elements).1).sum::<u32>();
        writeln!(
            self.out,
            "constexpr std::size_t inputs = {}, outputs = {};\n\
             constexpr std::size_t input_words = {}, output_words = {};\n\n\
             namespace detail {{\n\n{SUPPORT}\n{CONVERSIONS}\n}}  // namespace detail\n",
            count(&inputs),
            count(&outputs),
            total(&inputs),
            total(&outputs)
        )?;
        for (b, block) in self.machine.blocks().iter().enumerate() {
            writeln!(self.out, "namespace block{b} {{\n\n{}}}  // namespace block{b}\n", program(&block.model))?;
        }
        writeln!(self.out, "class design {{\n public:\n  design() {{ reset(); }}\n")?;
        self.reset()?;
        self.steps(&inputs, &outputs)?;
        writeln!(self.out, "\n private:")?;
        self.settle()?;
        self.clock()?;
        writeln!(self.out)?;
        for (s, signal) in self.machine.signals().iter().enumerate() {
            let (first, total) = starts(&signal.elements);
            let list: Vec<String> = first.iter().map(u32::to_string).collect();
            writeln!(self.out, "  std::int64_t s{s}[{}];", total.max(1))?;
            if self.is_indexed(SignalId(s as u32)) {
                writeln!(self.out, "  static constexpr std::size_t first{s}[] = {{{}}};", list.join(", "))?;
            }
        }
        writeln!(self.out, "}};\n")
    }

    /// Returns `true` if some access indexes a signal dynamically.
    fn is_indexed(&self, signal: SignalId) -> bool {
        fn moves(access: &Access, signal: SignalId) -> bool {
            access.dynamic.as_ref().is_some_and(|(index, _)| access.signal == signal || moves(index, signal))
        }
        let of_connections = self.machine.connections().iter();
        let accesses = of_connections.flat_map(|c| {
            [Some(&c.src), Some(&c.dst), c.enable_if.as_ref(), c.alternative.as_ref()].into_iter().flatten()
        });
        let resets = self.machine.signals().iter().filter_map(|s| s.reset_if.as_ref());
        accesses.chain(resets).any(|access| moves(access, signal))
    }

    fn reset(&mut self) -> Result {
        writeln!(self.out, "  void reset() {{")?;
        for (s, signal) in self.machine.signals().iter().enumerate() {
            writeln!(self.out, "    std::memset(s{s}, 0, sizeof s{s});")?;
            if let (Some(to), SignalKind::Register) = (&signal.reset_to, &signal.kind) {
                self.load_constants(s, &signal.elements, to)?;
            }
        }
        writeln!(self.out, "  }}\n")
    }

    fn load_constants(&mut self, s: usize, elements: &[Kif], to: &[BigInt]) -> Result {
        let (first, _) = starts(elements);
        for (k, (code, &kif)) in to.iter().zip(elements).enumerate() {
            let mut limbs = vec![0u64; words(kif) as usize];
            to_limbs(code, &mut limbs);
            for (word, at) in limbs.iter().zip(first[k]..).filter(|(word, _)| **word != 0) {
                writeln!(self.out, "    s{s}[{at}] = static_cast<std::int64_t>(std::uint64_t{{{word:#x}u}});")?;
            }
        }
        Ok(())
    }

    fn steps(&mut self, inputs: &[SignalId], outputs: &[SignalId]) -> Result {
        writeln!(self.out, "  void step(const double* in, double* out) {{\n    (void)in; (void)out;")?;
        let mut at = 0;
        for &id in inputs {
            let elements = &self.machine.signal(id).elements;
            for (kif, first) in elements.iter().zip(starts(elements).0) {
                let limbs = words(*kif) + 1;
                writeln!(
                    self.out,
                    "    detail::to_words<{}>(detail::floor_big<{limbs}>(in[{at}], {}).wrapped({}, {}), s{} + \
                     {first});",
                    words(*kif),
                    kif.frac,
                    kif.width(),
                    truth(kif.signed),
                    id.0
                )?;
                at += 1;
            }
        }
        writeln!(self.out, "    settle();")?;
        let mut at = 0;
        for &id in outputs {
            let elements = &self.machine.signal(id).elements;
            for (kif, first) in elements.iter().zip(starts(elements).0) {
                writeln!(
                    self.out,
                    "    out[{at}] = detail::nearest(detail::words_of<{}, {}>(s{} + {first}).wrapped({}, {}), {});",
                    words(*kif) + 1,
                    words(*kif),
                    id.0,
                    kif.width(),
                    truth(kif.signed),
                    -i64::from(kif.frac)
                )?;
                at += 1;
            }
        }
        writeln!(
            self.out,
            "    clock();\n  }}\n\n  void step_codes(const std::int64_t* in, std::int64_t* out) {{\n    (void)in; \
             (void)out;"
        )?;
        let mut at = 0;
        for &id in inputs {
            let elements = &self.machine.signal(id).elements;
            for (&kif, first) in elements.iter().zip(starts(elements).0) {
                self.convert("    ", &format!("in + {at}"), kif, &format!("s{} + {first}", id.0), kif, 0)?;
                at += words(kif);
            }
        }
        writeln!(self.out, "    settle();")?;
        let mut at = 0;
        for &id in outputs {
            let total = starts(&self.machine.signal(id).elements).1;
            if total > 0 {
                writeln!(self.out, "    std::memcpy(out + {at}, s{}, {total} * sizeof *out);", id.0)?;
            }
            at += total;
        }
        writeln!(self.out, "    clock();\n  }}")
    }

    /// Writes the conversion of a code between two places: shifted left by `shift`, or shifted right with floor, and
    /// wrapped.
    fn convert(&mut self, indent: &str, from: &str, source: Kif, to: &str, target: Kif, shift: i64) -> Result {
        let (n, m) = (words(source), words(target));
        if shift >= i64::from(target.width()) {
            return writeln!(self.out, "{indent}for (unsigned k = 0; k < {m}; ++k) ({to})[k] = 0;");
        }
        let bits = i64::from(source.width()) + shift.max(0);
        let limbs = i64::from(n.max(m)).max(bits / 64 + 1) + 1;
        // A shift right beyond the width leaves only the sign.
        let shift = shift.max(-i64::from(source.width()) - 1);
        writeln!(
            self.out,
            "{indent}detail::convert<{limbs}, {n}, {m}>({from}, {}, {}, {shift}, {to}, {}, {});",
            source.width(),
            truth(source.signed),
            target.width(),
            truth(target.signed)
        )
    }

    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t{}", self.temporaries)
    }

    /// Writes statements that compute the number of elements by which an index moves a view; returns the variable's
    /// name.
    fn offset(&mut self, indent: &str, index: &Access, mult: usize) -> Result<String> {
        let code = self.read(indent, index)?;
        let kif = self.machine.types(index)[0];
        let name = self.temporary();
        let (n, width, signed) = (words(kif), kif.width(), truth(kif.signed));
        writeln!(
            self.out,
            "{indent}const detail::i128 {name} = detail::index_of<{n}>({code}, {width}, {signed}) * {mult};"
        )?;
        Ok(name)
    }

    /// Writes statements that read a view; returns the C++ expression of its first word.
    fn read(&mut self, indent: &str, access: &Access) -> Result<String> {
        let s = access.signal.0;
        let elements = &self.machine.signal(access.signal).elements;
        let (first, _) = starts(elements);
        let Some((index, mult)) = &access.dynamic else {
            return Ok(format!("s{s} + {}", first.get(access.lo).copied().unwrap_or(0)));
        };
        let size = elements.len();
        let (at, total) = starts(&elements[access.lo..access.hi]);
        let offset = self.offset(indent, index, *mult)?;
        let name = self.temporary();
        writeln!(self.out, "{indent}std::int64_t {name}[{}];", total.max(1))?;
        for (k, (at, kif)) in (access.lo..).zip(at.into_iter().zip(self.machine.types(access).iter().copied())) {
            let n = words(kif);
            writeln!(self.out, "{indent}detail::fetch<{n}>({name} + {at}, {offset} + {k}, {size}, s{s}, first{s});")?;
        }
        Ok(name)
    }

    /// Writes statements that test if a view of one element is not 0; returns the condition.
    fn is_set(&mut self, indent: &str, access: &Access) -> Result<String> {
        let code = self.read(indent, access)?;
        let n = words(self.machine.types(access)[0]);
        Ok(format!("detail::is_set<{n}>({code})"))
    }

    /// Writes statements that store the values of a connection in a new array. Returns the array's name, and a
    /// condition if a register may keep its value.
    fn taken(&mut self, indent: &str, connection: &Connection) -> Result<(String, Option<String>)> {
        let Connection { src, dst, enable_if, alternative } = connection;
        let name = self.temporary();
        let total = starts(self.machine.types(dst)).1;
        writeln!(self.out, "{indent}std::int64_t {name}[{}];", total.max(1))?;
        let enable = enable_if.as_ref().map(|e| self.is_set(indent, e)).transpose()?;
        match (enable, alternative) {
            (Some(enable), Some(alternative)) => {
                let inner = format!("{indent}  ");
                writeln!(self.out, "{indent}if ({enable}) {{")?;
                self.transfer(&inner, src, dst, &name)?;
                writeln!(self.out, "{indent}}} else {{")?;
                self.transfer(&inner, alternative, dst, &name)?;
                writeln!(self.out, "{indent}}}")?;
                Ok((name, None))
            }
            (enable, _) => {
                self.transfer(indent, src, dst, &name)?;
                Ok((name, enable))
            }
        }
    }

    /// Writes statements that convert the elements of a view to the types of another view, into an array.
    fn transfer(&mut self, indent: &str, src: &Access, dst: &Access, name: &str) -> Result {
        let from = self.read(indent, src)?;
        let (source, target) = (self.machine.types(src), self.machine.types(dst));
        let ends = starts(source).0.into_iter().zip(starts(target).0);
        for ((f, t), (x, y)) in ends.zip(source.iter().zip(target)) {
            let shift = i64::from(y.frac) - i64::from(x.frac);
            self.convert(indent, &format!("{from} + {f}"), *x, &format!("{name} + {t}"), *y, shift)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result {
        writeln!(self.out, "  void settle() {{")?;
        for &step in self.machine.order() {
            writeln!(self.out, "    {{")?;
            match step {
                Settle::Connection(c) => {
                    let connection = &self.machine.connections()[c];
                    let (name, _) = self.taken("      ", connection)?;
                    let dst = &connection.dst;
                    let (at, total) = (
                        starts(&self.machine.signal(dst.signal).elements).0.get(dst.lo).copied().unwrap_or(0),
                        starts(self.machine.types(dst)).1,
                    );
                    if total > 0 {
                        let s = dst.signal.0;
                        writeln!(self.out, "      std::memcpy(s{s} + {at}, {name}, {total} * sizeof *s{s});")?;
                    }
                }
                Settle::Block(b) => self.block(b)?,
            }
            writeln!(self.out, "    }}")?;
        }
        writeln!(self.out, "  }}\n")
    }

    fn block(&mut self, id: BlockId) -> Result {
        let block = &self.machine.blocks()[id.index()];
        let model = &block.model;
        let b = id.index();
        writeln!(
            self.out,
            "      std::int64_t x[block{b}::input_words + 1] = {{}}, y[block{b}::output_words + 1] = {{}};"
        )?;
        if let Some(input) = block.input {
            let elements = &self.machine.signal(input).elements;
            let ports = model.input_kifs();
            let ends = starts(elements).0.into_iter().zip(starts(ports).0);
            for ((f, t), (k, (&from, &port))) in ends.zip(elements.iter().zip(ports).enumerate()) {
                let shift = i64::from(port.frac) - (i64::from(from.frac) - i64::from(model.inp_shifts()[k]));
                self.convert("      ", &format!("s{} + {f}", input.0), from, &format!("x + {t}"), port, shift)?;
            }
        }
        writeln!(self.out, "      block{b}::run_codes(x, y);")?;
        if let Some(output) = block.output {
            let results: Vec<Kif> = (0..model.outputs().len()).map(|j| model.output_kif(j)).collect();
            let elements = &self.machine.signal(output).elements;
            let ends = starts(&results).0.into_iter().zip(starts(elements).0);
            for ((f, t), (&from, &to)) in ends.zip(results.iter().zip(elements)) {
                let shift = i64::from(to.frac) - i64::from(from.frac);
                self.convert("      ", &format!("y + {f}"), from, &format!("s{} + {t}", output.0), to, shift)?;
            }
        }
        Ok(())
    }

    /// Writes the method that loads all registers at once: all values are read before any is written. Reset has
    /// priority.
    fn clock(&mut self) -> Result {
        writeln!(self.out, "  void clock() {{")?;
        let mut loads = Vec::new();
        for connection in self.machine.connections() {
            let dst = &connection.dst;
            if self.machine.signal(dst.signal).kind != SignalKind::Register {
                continue;
            }
            let offset = match &dst.dynamic {
                Some((index, mult)) => Some(self.offset("    ", index, *mult)?),
                None => None,
            };
            let (name, enable) = self.taken("    ", connection)?;
            let enable = match enable {
                Some(condition) => {
                    let flag = self.temporary();
                    writeln!(self.out, "    const bool {flag} = {condition};")?;
                    Some(flag)
                }
                None => None,
            };
            loads.push((dst, offset, name, enable));
        }
        let mut resets = Vec::new();
        for (s, signal) in self.machine.signals().iter().enumerate() {
            if let (SignalKind::Register, Some(when)) = (&signal.kind, &signal.reset_if) {
                let condition = self.is_set("    ", when)?;
                let flag = self.temporary();
                writeln!(self.out, "    const bool {flag} = {condition};")?;
                resets.push((s, flag));
            }
        }
        for (dst, offset, name, enable) in loads {
            let guard = enable.map_or(String::new(), |flag| format!("if ({flag}) "));
            let s = dst.signal.0;
            let elements = &self.machine.signal(dst.signal).elements;
            let types = self.machine.types(dst);
            let (at, total) = starts(types);
            if let Some(offset) = offset {
                for (k, (at, kif)) in (dst.lo..).zip(at.into_iter().zip(types.iter().copied())) {
                    writeln!(
                        self.out,
                        "    {guard}detail::put<{}>({name} + {at}, {offset} + {k}, {}, s{s}, first{s});",
                        words(kif),
                        elements.len()
                    )?;
                }
            } else if total > 0 {
                let first = starts(elements).0[dst.lo];
                writeln!(self.out, "    {guard}std::memcpy(s{s} + {first}, {name}, {total} * sizeof *s{s});")?;
            }
        }
        for (s, flag) in resets {
            let signal = &self.machine.signals()[s];
            let to = signal.reset_to.clone().expect("checked: a reset has a value");
            writeln!(self.out, "    if ({flag}) {{\n    std::memset(s{s}, 0, sizeof s{s});")?;
            self.load_constants(s, &signal.elements, &to)?;
            writeln!(self.out, "    }}")?;
        }
        writeln!(self.out, "  }}")
    }
}

/// Run-time support that only stateful designs require.
const CONVERSIONS: &str = "\
// A code in N words of one type as a code in M words of another: shifted to the left or floored to the right, and \
wrapped.
template <unsigned L, unsigned N, unsigned M>
inline void convert(const std::int64_t* from, unsigned from_width, bool from_signed, int shift, std::int64_t* to, \
unsigned to_width,
                    bool to_signed) {
  const big<L> code = words_of<L, N>(from).wrapped(from_width, from_signed);
  const big<L> moved = shift >= 0 ? code.shl(static_cast<unsigned>(shift)) : code.sar(static_cast<unsigned>(-shift));
  to_words<M>(moved.wrapped(to_width, to_signed), to);
}
template <unsigned N> inline bool is_set(const std::int64_t* p) {
  bool set = false;
  for (unsigned i = 0; i < N; ++i) set = set || p[i] != 0;
  return set;
}
// An index as a number; one of more than 64 bits that is beyond every array as one that is.
template <unsigned N> inline i128 index_of(const std::int64_t* p, unsigned width, bool is_signed) {
  const big<N + 1> code = words_of<N + 1, N>(p).wrapped(width, is_signed);
  const std::uint64_t fill = code.negative() ? ~std::uint64_t{0} : 0;
  for (unsigned i = 1; i < N + 1; ++i)
    if (code.w[i] != fill) return -(i128{1} << 62);
  return code.negative() ? static_cast<i128>(static_cast<std::int64_t>(code.w[0])) : static_cast<i128>(code.w[0]);
}
// Element `at` of an array, 0 past its end; and the way back, which writes nothing there.
template <unsigned N>
inline void fetch(std::int64_t* to, i128 at, std::size_t size, const std::int64_t* array, const std::size_t* first) {
  const bool inside = at >= 0 && at < static_cast<i128>(size);
  for (unsigned i = 0; i < N; ++i) to[i] = inside ? array[first[static_cast<std::size_t>(at)] + i] : 0;
}
template <unsigned N>
inline void put(const std::int64_t* from, i128 at, std::size_t size, std::int64_t* array, const std::size_t* first) {
  if (at < 0 || at >= static_cast<i128>(size)) return;
  for (unsigned i = 0; i < N; ++i) array[first[static_cast<std::size_t>(at)] + i] = from[i];
}
";
