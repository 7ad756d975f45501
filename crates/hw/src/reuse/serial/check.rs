//! The checker of bit-serial plans, which is independent of their construction.
//!
//! The checker follows the bits of one sample: a stream shows every bit in the tick in which an operation reads it, and
//! bits of different samples never collide.

use super::{Graph, Kind, Plan, Read, Stream, highest, lowest};
use alir_core::num::Kif;
use num_bigint::BigInt;

/// Checks a plan of a graph.
///
/// # Errors
/// Describes the first violated rule.
pub fn check(graph: &Graph, plan: &Plan) -> Result<(), String> {
    ensure(plan.interval >= 2, || format!("interval {}", plan.interval))?;
    ensure(plan.latency > u32::from(plan.registered_outputs), || "no latency".into())?;
    ensure(plan.streams.len() == graph.nodes.len(), || "one stream for each node".into())?;
    ensure(plan.digit >= 1, || "no bits a clock".into())?;
    ensure(plan.arrivals.len() == graph.n_inputs, || "one arrival for each input".into())?;
    let digit = i64::from(plan.digit);
    let checker = Checker { graph, plan, digit, ticks: digit * i64::from(plan.interval) };
    for (id, stream) in plan.streams.iter().enumerate() {
        if let Some(stream) = stream {
            checker.node(id, *stream).map_err(|why| format!("node {id}: {why}"))?;
        }
    }
    for (j, output) in graph.outputs.iter().enumerate() {
        let Some((read, kif)) = output else { continue };
        checker.word(*read, *kif, i64::from(plan.settled()) - 1).map_err(|why| format!("output {j}: {why}"))?;
    }
    Ok(())
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

struct Checker<'a> {
    graph: &'a Graph,
    plan: &'a Plan,
    /// Number of ticks per cycle (`digit`) and per interval (`ticks`).
    digit: i64,
    ticks: i64,
}

/// Stream that a read refers to.
struct Source {
    stream: Stream,
    /// Exponent of the power of two that scales the stream.
    shift: i64,
    /// Lowest and highest weight that the stream must show for the read; bits outside of this range are zero.
    weights: (i64, i64),
}

impl Checker<'_> {
    fn kif(&self, read: Read) -> Kif {
        self.graph.nodes[read.node].kif
    }

    /// Returns the stream that shows these weights of a read; `None` if all of these bits are constant.
    fn source(&self, read: Read, (mut low, mut high): (i64, i64)) -> Result<Option<Source>, String> {
        let mut node = read.node;
        let mut shift = i64::from(read.shift);
        loop {
            let kif = self.graph.nodes[node].kif;
            // Zeros are known without the stream.
            low = low.max(i64::from(lowest(kif)) + shift);
            if !kif.signed {
                high = high.min(i64::from(highest(kif)) + shift);
            }
            if low > high {
                return Ok(None);
            }
            let kind = &self.graph.nodes[node].kind;
            if let Some(stream) = self.plan.streams[node] {
                let to = i64::from(stream.high) + shift;
                ensure(high <= to, || format!("weight {high} of node {node} is read, up to {to} is shown"))?;
                return Ok(Some(Source { stream, shift, weights: (low, high) }));
            }
            match kind {
                Kind::Constant { .. } if node == read.node => return Ok(None),
                Kind::Quantised(x) => {
                    let wraps = !fits(self.kif(*x), x.shift, kif);
                    ensure(!wraps || high <= i64::from(highest(kif)) + shift, || {
                        format!("node {node} wraps, its operand does not")
                    })?;
                    shift += i64::from(x.shift);
                    node = x.node;
                }
                _ => return Err(format!("node {node} has no stream")),
            }
        }
    }

    /// Checks a bit-by-bit read of these weights, which reads weight 0 in tick `time`.
    fn bits(&self, read: Read, time: i64, weights: (i64, i64)) -> Result<(), String> {
        if weights.0 > weights.1 {
            return Ok(());
        }
        let Some(source) = self.source(read, weights)? else { return Ok(()) };
        let shown = i64::from(source.stream.time) - source.shift;
        ensure(time >= shown, || format!("node {} is read in tick {time}, and shown in {shown}", read.node))
    }

    /// Checks a read of the highest bit, which must be available before a tick.
    fn flag(&self, read: Read, before: i64) -> Result<(), String> {
        let top = i64::from(highest(self.kif(read)) + read.shift);
        let Some(source) = self.source(read, (top, top))? else { return Ok(()) };
        let shown = i64::from(source.stream.time) - source.shift + top;
        ensure(shown < before, || format!("the highest bit of node {} is shown in tick {shown}", read.node))
    }

    /// Checks a read of all bits of a type in one cycle.
    fn word(&self, read: Read, kif: Kif, clock: i64) -> Result<(), String> {
        if kif.is_zero() {
            return Ok(());
        }
        let all = (i64::from(lowest(kif)), i64::from(highest(kif)));
        let Some(source) = self.source(read, all)? else { return Ok(()) };
        let (low, high) = source.weights;
        // Registers collect the bits when the stream shows them or after a delay, at the end of each cycle, and keep
        // them until the bits of the next sample.
        let shown = i64::from(source.stream.time) - source.shift;
        let begins = shown.max(self.digit * clock - self.ticks - low);
        let clock_of = |tick: i64| tick.div_euclid(self.digit);
        // A bit before the first sample is accepted does not belong to that sample.
        ensure(begins + low >= 0, || format!("node {} is collected from tick {} on", read.node, begins + low))?;
        ensure(clock_of(begins + high) < clock && clock_of(begins + low + self.ticks) >= clock, || {
            format!("node {} is not there in clock {clock}", read.node)
        })
    }

    fn node(&self, id: usize, stream: Stream) -> Result<(), String> {
        let node = &self.graph.nodes[id];
        let (time, high) = (i64::from(stream.time), i64::from(stream.high));
        let (from, top) = (i64::from(lowest(node.kif)), i64::from(highest(node.kif)));
        let to = high.min(top);
        // Registers may contain any value at the beginning of the first sample's cycle.
        let begins = |tick: i64| ensure(tick >= 0, || format!("it begins in tick {tick}, before the sample"));
        ensure(from <= high, || "a stream shows nothing".into())?;
        ensure(high - from < self.ticks, || format!("weights {from} to {high} take more than the interval"))?;
        let own = (from, to);
        match &node.kind {
            Kind::Constant { .. } => Err("a constant has no stream".into()),
            Kind::Port(e) => {
                let clock_of = |tick: i64| tick.div_euclid(self.digit);
                let (first, last) = (clock_of(time - 1 + from), clock_of(time - 1 + high));
                let shown = i64::from(self.plan.arrivals[*e as usize]);
                ensure(first >= shown && last < shown + i64::from(self.plan.interval), || {
                    format!("the input is shown from clock {shown} on, and read in clocks {first} to {last}")
                })
            }
            Kind::Quantised(x) => {
                begins(time - 1 + from)?;
                self.bits(*x, time - 1, own)
            }
            Kind::Relu(x) => {
                begins(time - 1 + from)?;
                self.bits(*x, time - 1, own)?;
                self.flag(*x, time - 1 + from)
            }
            Kind::Choice { by, one, zero } => {
                begins(time - 1 + from)?;
                self.bits(*one, time - 1, own)?;
                self.bits(*zero, time - 1, own)?;
                self.flag(*by, time - 1 + from)
            }
            Kind::Sum { a, b, .. } => {
                let from_weight = |x: &Read| match &self.graph.nodes[x.node].kind {
                    Kind::Constant { low, .. } => i64::from(*low + x.shift),
                    _ => i64::from(lowest(self.kif(*x)) + x.shift),
                };
                let first = a.iter().chain([b]).map(from_weight).fold(from, i64::min);
                ensure(to - first < self.ticks, || "a carry goes on into the next sample".into())?;
                // The carry is initialised one tick earlier.
                begins(time - 2 + first)?;
                a.iter().chain([b]).try_for_each(|x| self.bits(*x, time - 1, (first, to)))
            }
            Kind::Whole { operands, .. } => {
                // The result is computed in the cycle before the stream loads its first bit.
                let clock = (time - 1 + from).div_euclid(self.digit) - 1;
                let last = (time - 1 + high).div_euclid(self.digit);
                begins(clock)?;
                ensure(last <= clock + i64::from(self.plan.interval), || "the result is gone".into())?;
                operands.iter().try_for_each(|(x, interval)| self.word(*x, interval.kif(), clock))
            }
        }
    }
}

/// Returns `true` if type `kif` represents `x * 2^shift` for every `x`, after truncation of the bits below the step of
/// `kif`.
fn fits(x: Kif, shift: i32, kif: Kif) -> bool {
    let moved = x.frac - shift;
    let common = moved.max(kif.frac);
    let at = |code: BigInt, frac: i32| code << (common - frac);
    let step: BigInt = (BigInt::from(1) << (common - kif.frac)) - 1;
    at(kif.min_code(), kif.frac) <= at(x.min_code(), moved)
        && at(x.max_code(), moved) <= at(kif.max_code(), kif.frac) + step
}
