//! Which weights each stream shows, and when.

use super::{Graph, Kind, Plan, Read, Refusal, Stream, highest, lowest};
use crate::num::Kif;

/// Rounds in which times of streams are moved to spare delays.
const ROUNDS: usize = 24;

/// Plans a graph for a sample every `interval` clocks.
///
/// # Errors
/// If a stream has more bits than that.
pub fn plan(graph: &Graph, interval: u32) -> Result<Plan, Refusal> {
    let needs = needs(graph, interval)?;
    let mut planner = Planner { graph, interval: interval as i32, needs, streams: Vec::new(), readers: Vec::new() };
    planner.earliest();
    let latency = planner.latency();
    planner.readers();
    planner.spare_delays();
    Ok(Plan { interval, latency: latency as u32, streams: planner.streams })
}

/// Up to which weight a node in another type than its operand has the operand's expansion, zeros aside; nothing if
/// everywhere.
fn same(kif: Kif, x: Kif, shift: i32) -> Option<i32> {
    let above = match (x.signed, kif.signed) {
        (_, false) => true,
        (false, true) => highest(x) + shift < highest(kif),
        (true, true) => highest(x) + shift <= highest(kif),
    };
    (!above).then(|| highest(kif))
}

/// For each node that has a stream of its own, up to which weight this shows it.
fn needs(graph: &Graph, interval: u32) -> Result<Vec<Option<i32>>, Refusal> {
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
        // Of a stream without sign nothing is needed above its highest bit, of all at least the lowest.
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
    match u32::try_from(widest) {
        Ok(widest) if widest <= interval => Ok(asked),
        Ok(widest) => Err(Refusal::NeedsInterval(widest)),
        Err(_) => Err(Refusal::Operation("a value has too many bits".into())),
    }
}

/// The weight at which a sum begins: below it both operands are zero.
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

/// What is read by whom: not before a time of the stream, and if it is a delay what it depends on.
#[derive(Clone, Copy)]
enum Reader {
    /// Bit by bit in the clock before a node shows it: the stream's time is the node's and this.
    Bits(usize, i32),
    /// Its highest bit, some clocks before the node begins: the stream's time is at most the node's and this.
    Flag(usize, i32),
    /// All bits, which are kept from the last one's clock on until the node begins: the time is at most the first
    /// number more than the node's and at least the second more.
    Word(usize, i32, i32),
    /// The same until the result, at clocks.
    Output(i32, i32),
}

struct Planner<'a> {
    graph: &'a Graph,
    interval: i32,
    needs: Vec<Option<i32>>,
    streams: Vec<Option<Stream>>,
    /// For each node who reads its stream, once the first times are known.
    readers: Vec<Vec<Reader>>,
}

/// The node whose stream a read reads, with all shifts on the way; none for a constant.
pub(super) fn source(graph: &Graph, has_stream: impl Fn(usize) -> bool, read: Read) -> Option<Read> {
    bounded(graph, has_stream, read).map(|found| found.0)
}

/// The same with the weights of what is read below and above which there are zeros.
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

impl Planner<'_> {
    fn source(&self, read: Read) -> Option<Read> {
        source(self.graph, |node| self.needs[node].is_some(), read)
    }

    /// The readers of a node's operands: whose stream, and how.
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
                    let low = lowest(self.graph.nodes[x.node].kif) + x.shift;
                    // The clock in which the result is loaded is `from - 2` after the node's time.
                    let (last, first) = (from - 3 - top(*x), from - 2 - low - self.interval);
                    add(*x, &|shift| Reader::Word(id, shift + last, shift + first));
                }
            }
        }
        found
    }

    /// The latest time that a reader allows, the delays aside.
    fn bound(&self, reader: Reader) -> i32 {
        let time = |node: usize| self.streams[node].map_or(0, |s| s.time);
        match reader {
            Reader::Bits(node, more) | Reader::Flag(node, more) | Reader::Word(node, more, _) => time(node) + more,
            Reader::Output(last, _) => last,
        }
    }

    /// How long a stream of this time is delayed for a reader.
    fn delay(&self, time: i32, reader: Reader) -> i32 {
        let at = |node: usize| self.streams[node].map_or(0, |s| s.time);
        match reader {
            Reader::Bits(node, more) => at(node) + more - time,
            Reader::Flag(..) => 0,
            Reader::Word(node, _, least) => (at(node) + least - time).max(0),
            Reader::Output(_, least) => (least - time).max(0),
        }
    }

    /// The first clock in which each stream can be there.
    fn earliest(&mut self) {
        self.streams = vec![None; self.graph.nodes.len()];
        for id in 0..self.graph.nodes.len() {
            let Some(high) = self.needs[id] else { continue };
            let mut time = self.least(id);
            for (node, reader) in self.operands(id) {
                let more = match reader {
                    Reader::Bits(_, more) | Reader::Flag(_, more) | Reader::Word(_, more, _) => more,
                    Reader::Output(..) => 0,
                };
                time = time.max(self.streams[node].map_or(0, |s| s.time) - more);
            }
            self.streams[id] = Some(Stream { time, high });
        }
    }

    /// The first time of a node by itself. Nothing is shown before clock 2: what is accepted is in registers from
    /// clock 1 on.
    fn least(&self, id: usize) -> i32 {
        let node = &self.graph.nodes[id];
        let from = match &node.kind {
            Kind::Sum { a, b, .. } => sum_from(self.graph, a.as_ref(), b).min(lowest(node.kif)),
            _ => lowest(node.kif),
        };
        2 - from
    }

    /// Clocks until everything is collected.
    fn latency(&self) -> i32 {
        let mut latency = 1;
        for (x, kif) in self.graph.outputs.iter().flatten() {
            if let Some(x) = self.source(*x) {
                let time = self.streams[x.node].map_or(0, |s| s.time);
                latency = latency.max(time - x.shift + highest(*kif) + 2);
            }
        }
        latency
    }

    fn readers(&mut self) {
        let latency = self.latency();
        let mut readers: Vec<Vec<Reader>> = vec![Vec::new(); self.graph.nodes.len()];
        for id in 0..self.graph.nodes.len() {
            if self.needs[id].is_some() {
                for (node, reader) in self.operands(id) {
                    readers[node].push(reader);
                }
            }
        }
        for (x, kif) in self.graph.outputs.iter().flatten() {
            if let Some(x) = self.source(*x) {
                let load = latency - 1 + x.shift;
                readers[x.node]
                    .push(Reader::Output(load - 1 - highest(*kif), load - lowest(*kif) - self.interval));
            }
        }
        self.readers = readers;
    }

    /// Registers behind a stream of this time.
    fn chain(&self, node: usize, time: i32) -> i32 {
        self.readers[node].iter().map(|&reader| self.delay(time, reader)).max().unwrap_or(0)
    }

    /// Moves streams one by one to the time that takes the fewest registers behind it and its operands, as long as
    /// that gains anything.
    fn spare_delays(&mut self) {
        let operands: Vec<Vec<(usize, Reader)>> = (0..self.graph.nodes.len())
            .map(|id| if self.needs[id].is_some() { self.operands(id) } else { Vec::new() })
            .collect();
        for round in 0..ROUNDS {
            let mut moved = false;
            let count = self.graph.nodes.len();
            for at in 0..count {
                let id = if round % 2 == 0 { count - 1 - at } else { at };
                let Some(stream) = self.streams[id] else { continue };
                let mut least = self.least(id);
                for &(node, reader) in &operands[id] {
                    let more = match reader {
                        Reader::Bits(_, more) | Reader::Flag(_, more) | Reader::Word(_, more, _) => more,
                        Reader::Output(..) => 0,
                    };
                    least = least.max(self.streams[node].map_or(0, |s| s.time) - more);
                }
                let mut most = self.readers[id].iter().map(|&r| self.bound(r)).min().unwrap_or(stream.time);
                if matches!(self.graph.nodes[id].kind, Kind::Port(_)) {
                    most = most.min(self.interval + 1 - stream.high);
                }
                let mut sources: Vec<usize> = operands[id].iter().map(|o| o.0).collect();
                sources.sort_unstable();
                sources.dedup();
                let mut best = (i32::MAX, 0);
                for time in least..=most {
                    self.streams[id] = Some(Stream { time, ..stream });
                    let chains = |s: &usize| self.chain(*s, self.streams[*s].map_or(0, |s| s.time));
                    let cost = self.chain(id, time) + sources.iter().map(chains).sum::<i32>();
                    // Of equal ones the latest on the way back, the earliest on the way there.
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
