//! Weights and times of all streams.

use super::{Graph, Kind, MAX_DIGIT, Plan, Read, Refusal, Stream, highest, lowest};
use alir_core::num::Kif;

/// Number of rounds in which times of streams are moved to minimise delays, and number of readers that the rounds may
/// examine.
const ROUNDS: usize = 24;
const LOOKS: u64 = 400_000_000;

/// Plans a graph with the initiation interval `interval`, in cycles, and with as few bits per cycle as possible.
/// `arrivals` are the first cycles of the inputs, as in [`Plan::arrivals`].
///
/// # Errors
/// If a stream has more bits than fit into the interval at [`MAX_DIGIT`] bits per cycle.
pub fn plan(graph: &Graph, interval: u32, arrivals: &[u32]) -> Result<Plan, Refusal> {
    planned(graph, interval, arrivals, true)
}

/// Like [`plan`], but with each stream as early as possible, regardless of delay registers. The latency is equal.
///
/// # Errors
/// Like [`plan`].
pub(in crate::reuse) fn quick_plan(graph: &Graph, interval: u32, arrivals: &[u32]) -> Result<Plan, Refusal> {
    planned(graph, interval, arrivals, false)
}

fn planned(graph: &Graph, interval: u32, arrivals: &[u32], spare_delays: bool) -> Result<Plan, Refusal> {
    let (needs, widest) = needs(graph);
    let widest = u32::try_from(widest).map_err(|_| Refusal::Operation("a value has too many bits".into()))?;
    let digit = widest.div_ceil(interval.max(1));
    if digit > MAX_DIGIT {
        return Err(Refusal::NeedsInterval(widest.div_ceil(MAX_DIGIT)));
    }
    let ticks = i32::try_from(interval * digit).map_err(|_| Refusal::Operation("the interval is too long".into()))?;
    let mut planner = Planner {
        graph,
        digit: digit as i32,
        ticks,
        arrivals: arrivals.iter().map(|&clock| clock as i32).collect(),
        needs,
        streams: Vec::new(),
        readers: Vec::new(),
        latency: 0,
    };
    planner.earliest();
    planner.latency = planner.latency();
    planner.readers();
    if spare_delays {
        planner.spare_delays();
    }
    let latency = planner.latency as u32;
    let arrivals = arrivals.to_vec();
    Ok(Plan { interval, digit, latency, arrivals, streams: planner.streams, registered_outputs: false })
}

/// Returns the highest weight up to which a conversion to type `kif` shows the expansion of its operand of type `x`;
/// `None` if there is no limit. Zeros above an unsigned result do not count.
fn same(kif: Kif, x: Kif, shift: i32) -> Option<i32> {
    let above = match (x.signed, kif.signed) {
        (_, false) => true,
        (false, true) => highest(x) + shift < highest(kif),
        (true, true) => highest(x) + shift <= highest(kif),
    };
    (!above).then(|| highest(kif))
}

/// Returns, for each node with its own stream, the highest weight of the stream, and the number of bits of the longest
/// stream.
fn needs(graph: &Graph) -> (Vec<Option<i32>>, i32) {
    let mut asked: Vec<Option<i32>> = vec![None; graph.nodes.len()];
    let mut widest = 1;
    fn ask(asked: &mut [Option<i32>], read: Read, high: i32) {
        let weight = &mut asked[read.node];
        *weight = Some(weight.map_or(i32::MIN, |w| w).max(high - read.shift));
    }
    for (x, kif) in graph.outputs.iter().flatten() {
        ask(&mut asked, *x, highest(*kif));
        widest = widest.max(kif.width() as i32);
    }
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        let Some(high) = asked[id] else { continue };
        let kif = node.kif;
        // An unsigned stream ends at its highest bit; every stream has at least its lowest bit.
        let top = high.min(highest(kif)).max(lowest(kif));
        let high = if kif.signed { high.max(lowest(kif)) } else { top };
        let operand = |read: &Read| graph.nodes[read.node].kif;
        let mut first = lowest(kif);
        match &node.kind {
            Kind::Constant { .. } => {
                asked[id] = None;
                continue;
            }
            Kind::Port(_) => {}
            Kind::Quantised(x) => {
                let constant = matches!(graph.nodes[x.node].kind, Kind::Constant { .. });
                if !constant && same(kif, operand(x), x.shift).is_none_or(|to| high <= to) {
                    asked[id] = None;
                    ask(&mut asked, *x, high);
                    continue;
                }
                ask(&mut asked, *x, top);
            }
            Kind::Relu(x) => {
                ask(&mut asked, *x, top);
                ask(&mut asked, *x, highest(operand(x)) + x.shift);
            }
            Kind::Choice { by, one, zero } => {
                ask(&mut asked, *one, top);
                ask(&mut asked, *zero, top);
                ask(&mut asked, *by, highest(operand(by)) + by.shift);
            }
            Kind::Sum { a, b, .. } => {
                first = first.min(sum_from(graph, a.as_ref(), b));
                a.iter().chain([b]).for_each(|x| ask(&mut asked, *x, top));
            }
            Kind::Whole { operands, .. } => {
                for (x, _) in operands {
                    ask(&mut asked, *x, highest(operand(x)) + x.shift);
                    widest = widest.max(operand(x).width() as i32);
                }
            }
        }
        asked[id] = Some(high);
        widest = widest.max(high - first + 1);
    }
    (asked, widest)
}

/// Returns the lowest weight of a sum; both operands are zero below this weight.
pub(super) fn sum_from(graph: &Graph, a: Option<&Read>, b: &Read) -> i32 {
    let from = |x: &Read| {
        let node = &graph.nodes[x.node];
        x.shift
            + match &node.kind {
                // A constant may have fewer bits than its type.
                Kind::Constant { low, .. } => *low,
                _ => lowest(node.kif),
            }
    };
    a.map_or(i32::MAX, from).min(from(b))
}

/// Reader of a stream, and the bits that it reads.
#[derive(Clone, Copy)]
enum Reader {
    /// Reads each bit in the tick before the node shows the corresponding bit: the stream's time is the node's time
    /// plus this offset, minus any delay.
    Bits(usize, i32),
    /// Reads the highest bit before the node begins: the stream's time is at most the node's time plus this offset.
    Flag(usize, i32),
    /// Reads all bits of a range (in ticks after the stream's time), which must be available in the cycle that computes
    /// the node.
    Word(usize, i32, i32),
    /// Reads all bits of a range, for an output.
    Output(i32, i32),
}

pub(super) struct Planner<'a> {
    graph: &'a Graph,
    /// Bits per cycle (`digit`), and ticks between two samples (`ticks`).
    digit: i32,
    ticks: i32,
    /// First cycle in which each input is available.
    arrivals: Vec<i32>,
    needs: Vec<Option<i32>>,
    streams: Vec<Option<Stream>>,
    /// For each node, the readers of its stream; empty until the initial times are known.
    readers: Vec<Vec<Reader>>,
    latency: i32,
}

/// Returns the node whose stream a read reads, with the accumulated shift; `None` for a constant.
pub(super) fn source(graph: &Graph, has_stream: impl Fn(usize) -> bool, read: Read) -> Option<Read> {
    bounded(graph, has_stream, read).map(|found| found.0)
}

/// Returns the source of a read, and the weights below and above which the bits are zero. Returns `None` for a
/// constant.
pub(super) fn bounded(
    graph: &Graph,
    has_stream: impl Fn(usize) -> bool,
    mut read: Read,
) -> Option<(Read, i32, Option<i32>)> {
    let (mut low, mut high) = (i32::MIN, None::<i32>);
    loop {
        let node = &graph.nodes[read.node];
        low = low.max(lowest(node.kif) + read.shift);
        if !node.kif.signed {
            let top = highest(node.kif) + read.shift;
            high = Some(high.map_or(top, |high| high.min(top)));
        }
        match &node.kind {
            _ if has_stream(read.node) => return Some((read, low, high)),
            Kind::Quantised(x) => read = Read { node: x.node, shift: x.shift + read.shift },
            _ => return None,
        }
    }
}

impl<'a> Planner<'a> {
    /// Returns a planner that starts from a plan.
    pub(super) fn new(graph: &'a Graph, plan: &Plan) -> Planner<'a> {
        let mut planner = Planner {
            graph,
            digit: plan.digit as i32,
            ticks: (plan.interval * plan.digit) as i32,
            arrivals: plan.arrivals.iter().map(|&clock| clock as i32).collect(),
            needs: plan.streams.iter().map(|stream| stream.map(|s| s.high)).collect(),
            streams: plan.streams.clone(),
            readers: Vec::new(),
            latency: plan.settled() as i32,
        };
        planner.readers();
        planner
    }

    /// Returns the number of registers after all streams, for readers at later ticks.
    pub(super) fn delays(&self) -> u64 {
        let one = |id: usize| self.streams[id].map_or(0, |stream| self.chain(id, stream.time, None).max(0) as u64);
        (0..self.streams.len()).map(one).sum()
    }

    fn source(&self, read: Read) -> Option<Read> {
        source(self.graph, |node| self.needs[node].is_some(), read)
    }

    /// Returns the stream that a read of these weights reads, and the lowest and highest weight that the stream must
    /// show, because zeros around these need no stream. Returns `None` if no stream is needed.
    fn word(&self, read: Read, (low, high): (i32, i32)) -> Option<(Read, i32, i32)> {
        let (x, first, last) = bounded(self.graph, |node| self.needs[node].is_some(), read)?;
        let (low, high) = (low.max(first), last.map_or(high, |last| high.min(last)));
        (low <= high).then_some((x, low, high))
    }

    /// Returns the readers of a node's operands, each with its stream.
    fn operands(&self, id: usize) -> Vec<(usize, Reader)> {
        let node = &self.graph.nodes[id];
        let from = lowest(node.kif);
        let mut found = Vec::new();
        let mut add = |read: Read, reader: &dyn Fn(i32) -> Reader| {
            if let Some(x) = self.source(read) {
                found.push((x.node, reader(x.shift)));
            }
        };
        let top = |read: Read| highest(self.graph.nodes[read.node].kif) + read.shift;
        match &node.kind {
            Kind::Port(_) | Kind::Constant { .. } => {}
            Kind::Quantised(x) => add(*x, &|shift| Reader::Bits(id, shift - 1)),
            Kind::Sum { a, b, .. } => {
                a.iter().chain([b]).for_each(|x| add(*x, &|shift| Reader::Bits(id, shift - 1)));
            }
            Kind::Relu(x) => {
                add(*x, &|shift| Reader::Bits(id, shift - 1));
                add(*x, &|shift| Reader::Flag(id, shift + from - 2 - top(*x)));
            }
            Kind::Choice { by, one, zero } => {
                add(*one, &|shift| Reader::Bits(id, shift - 1));
                add(*zero, &|shift| Reader::Bits(id, shift - 1));
                add(*by, &|shift| Reader::Flag(id, shift + from - 2 - top(*by)));
            }
            Kind::Whole { operands, .. } => {
                for (x, _) in operands {
                    let kif = self.graph.nodes[x.node].kif;
                    if let Some((x, low, high)) = self.word(*x, (lowest(kif) + x.shift, top(*x))) {
                        found.push((x.node, Reader::Word(id, low - x.shift, high - x.shift)));
                    }
                }
            }
        }
        found
    }

    fn time(&self, node: usize) -> i32 {
        self.streams[node].map_or(0, |s| s.time)
    }

    /// Returns the cycle that computes a node on whole values, if its stream has this time.
    fn computed(&self, node: usize, time: i32) -> i32 {
        (time - 1 + lowest(self.graph.nodes[node].kif)).div_euclid(self.digit) - 1
    }

    /// Returns the latest time of a stream that a reader allows, without delays.
    fn bound(&self, reader: Reader) -> i32 {
        // The stream shows the last bit in an earlier cycle.
        let before = |clock: i32, high: i32| self.digit * clock - 1 - high;
        match reader {
            Reader::Bits(node, more) | Reader::Flag(node, more) => self.time(node) + more,
            Reader::Word(node, _, high) => before(self.computed(node, self.time(node)), high),
            Reader::Output(_, high) => before(self.latency - 1, high),
        }
    }

    /// Returns the first time of a node that reads a stream of this time.
    fn after(&self, time: i32, reader: Reader) -> i32 {
        match reader {
            Reader::Bits(_, more) | Reader::Flag(_, more) => time - more,
            Reader::Word(node, _, high) => {
                let clock = (time + high).div_euclid(self.digit) + 2;
                self.digit * clock + 1 - lowest(self.graph.nodes[node].kif)
            }
            Reader::Output(..) => i32::MIN,
        }
    }

    /// Returns the delay in ticks of a stream of this time for a reader.
    fn delay(&self, time: i32, reader: Reader) -> i32 {
        // A collected word stays until the word of the next sample replaces it.
        let kept = |clock: i32, low: i32| (self.digit * clock - self.ticks - low - time).max(0);
        match reader {
            Reader::Bits(node, more) => self.time(node) + more - time,
            Reader::Flag(..) => 0,
            Reader::Word(node, low, _) => kept(self.computed(node, self.time(node)), low),
            Reader::Output(low, _) => kept(self.latency - 1, low),
        }
    }

    /// Computes the first tick in which each stream can exist.
    fn earliest(&mut self) {
        self.streams = vec![None; self.graph.nodes.len()];
        for id in 0..self.graph.nodes.len() {
            let Some(high) = self.needs[id] else { continue };
            let operands = self.operands(id).into_iter();
            let after = operands.map(|(node, reader)| self.after(self.time(node), reader));
            let time = after.fold(self.least(id), i32::max);
            self.streams[id] = Some(Stream { time, high });
        }
    }

    /// Returns the earliest time of a node, regardless of its operands. A stream loads no bit before the first tick of
    /// the cycle in which an input is available, and shows the bit one tick later.
    fn least(&self, id: usize) -> i32 {
        let node = &self.graph.nodes[id];
        let own = lowest(node.kif);
        let first = self.digit * self.arrivals.iter().min().map_or(1, |&clock| clock.min(1)) + 1;
        match &node.kind {
            // The carry is initialised one tick earlier, which must be a tick of the sample.
            Kind::Sum { a, b, .. } => first.max(2) - sum_from(self.graph, a.as_ref(), b).min(own),
            Kind::Port(e) => self.digit * self.arrivals[*e as usize] + 1 - own,
            // The result is computed one cycle earlier.
            Kind::Whole { .. } => first.max(self.digit + 1) - own,
            _ => first - own,
        }
    }

    /// Returns the number of cycles until all outputs are collected.
    fn latency(&self) -> i32 {
        let mut latency = 1;
        for (x, kif) in self.graph.outputs.iter().flatten() {
            if let Some((x, _, high)) = self.word(*x, (lowest(*kif), highest(*kif))) {
                let last = self.time(x.node) - x.shift + high;
                latency = latency.max(last.div_euclid(self.digit) + 2);
            }
        }
        latency
    }

    fn readers(&mut self) {
        let mut readers: Vec<Vec<Reader>> = vec![Vec::new(); self.graph.nodes.len()];
        for id in 0..self.graph.nodes.len() {
            if self.needs[id].is_some() {
                for (node, reader) in self.operands(id) {
                    readers[node].push(reader);
                }
            }
        }
        for (x, kif) in self.graph.outputs.iter().flatten() {
            if let Some((x, low, high)) = self.word(*x, (lowest(*kif), highest(*kif))) {
                readers[x.node].push(Reader::Output(low - x.shift, high - x.shift));
            }
        }
        self.readers = readers;
    }

    /// Returns the number of registers after a stream of this time, for its readers except for the node `without`.
    fn chain(&self, node: usize, time: i32, without: Option<usize>) -> i32 {
        let delay = |&reader: &Reader| match reader {
            Reader::Bits(by, _) | Reader::Flag(by, _) | Reader::Word(by, ..) if Some(by) == without => None,
            _ => Some(self.delay(time, reader)),
        };
        self.readers[node].iter().filter_map(delay).max().unwrap_or(0)
    }

    /// Moves streams one by one to the time that takes the fewest registers after it and its operands, as long as that
    /// saves registers.
    fn spare_delays(&mut self) {
        let operands: Vec<Vec<(usize, Reader)>> = (0..self.graph.nodes.len())
            .map(|id| if self.needs[id].is_some() { self.operands(id) } else { Vec::new() })
            .collect();
        let mut looks = 0;
        for round in 0..ROUNDS {
            let mut moved = false;
            let count = self.graph.nodes.len();
            for at in 0..count {
                let id = if round % 2 == 0 { count - 1 - at } else { at };
                let Some(stream) = self.streams[id] else { continue };
                if looks > LOOKS {
                    return;
                }
                let after = operands[id].iter().map(|&(node, reader)| self.after(self.time(node), reader));
                let least = after.fold(self.least(id), i32::max);
                let mut most = self.readers[id].iter().map(|&r| self.bound(r)).min().unwrap_or(stream.time);
                if let Kind::Port(e) = self.graph.nodes[id].kind {
                    let gone = self.ticks + self.digit * self.arrivals[e as usize];
                    most = most.min(gone - stream.high);
                }
                let mut sources: Vec<usize> = operands[id].iter().map(|o| o.0).collect();
                sources.sort_unstable();
                sources.dedup();
                // Delays for other readers of the operands do not depend on this node's time.
                let others: Vec<i32> = sources.iter().map(|&s| self.chain(s, self.time(s), Some(id))).collect();
                looks += sources.iter().map(|&s| self.readers[s].len() as u64).sum::<u64>();
                looks += (self.readers[id].len() + operands[id].len()) as u64 * (most - least + 1).max(0) as u64;
                let mut best = (i32::MAX, 0);
                // A stream shows a result on whole values from the first tick of a cycle on; from any other tick on,
                // the bits would occupy one more cycle.
                let step = match self.graph.nodes[id].kind {
                    Kind::Whole { .. } => self.digit,
                    _ => 1,
                };
                for time in (least..=most).step_by(step as usize) {
                    self.streams[id] = Some(Stream { time, ..stream });
                    let mut cost = self.chain(id, time, None);
                    for (&source, &others) in sources.iter().zip(&others) {
                        let mine = operands[id].iter().filter(|o| o.0 == source);
                        let mine = mine.map(|&(_, reader)| self.delay(self.time(source), reader));
                        cost += mine.fold(others, i32::max);
                    }
                    // Among times of equal cost, backward rounds (even) choose the latest, and forward rounds (odd)
                    // choose the earliest.
                    if cost < best.0 || (cost == best.0 && round % 2 == 0) {
                        best = (cost, time);
                    }
                }
                moved |= best.1 != stream.time;
                self.streams[id] = Some(Stream { time: best.1, ..stream });
            }
            if !moved {
                break;
            }
        }
    }
}
