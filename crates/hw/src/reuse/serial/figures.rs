//! Hardware figures of a bit-serial plan.

use super::plan::Planner;
use super::{Graph, Kind, Node, Plan, Stream, lowest};
use serde::Serialize;

/// Hardware figures of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Number of bits of each value per cycle.
    pub bits_per_clock: u32,
    /// Number of bit-serial values.
    pub streams: usize,
    /// Number of full adders of all sums.
    pub full_adders: usize,
    /// Number of operations on whole values.
    pub whole_operations: usize,
    /// Bits of registers that store the inputs.
    pub captured_bits: u64,
    /// Bits of registers that store the results.
    pub result_bits: u64,
    /// Bits of delay registers after streams with later readers.
    pub delay_bits: u64,
    /// Bits of registers that store the results of operations on whole values.
    pub whole_bits: u64,
}

impl Figures {
    /// Computes the figures of a plan that the checker accepts.
    pub fn new(graph: &Graph, plan: &Plan) -> Figures {
        let mut figures = Figures { bits_per_clock: plan.digit, ..Figures::default() };
        for (node, stream) in graph.nodes.iter().zip(&plan.streams) {
            if stream.is_none() {
                continue;
            }
            figures.streams += 1;
            let width = u64::from(node.kif.width());
            match &node.kind {
                Kind::Sum { .. } => figures.full_adders += plan.digit as usize,
                Kind::Port(e) if plan.arrivals[*e as usize] > 0 => figures.captured_bits += width,
                Kind::Whole { .. } => {
                    figures.whole_operations += 1;
                    figures.whole_bits += width;
                }
                _ => {}
            }
        }
        let registers = 1 + u64::from(plan.registered_outputs);
        figures.result_bits = graph.outputs.iter().flatten().map(|(_, kif)| registers * u64::from(kif.width())).sum();
        figures.delay_bits = Planner::new(graph, plan).delays();
        figures
    }
}

/// Returns the estimated number of LUTs of a plan.
pub(in crate::reuse) fn tables(graph: &Graph, plan: &Plan) -> f64 {
    /// LUTs of a full adder: the sum, and the carry, which is initialised for each sample.
    const FULL_ADDER: f64 = 2.0;
    /// LUTs per bit of a value that is shown bit by bit: a LUT selects among four bits, which are three selections.
    const SELECTED: f64 = 1.0 / 3.0;
    let digit = f64::from(plan.digit);
    let one = |(node, stream): (&Node, &Option<Stream>)| {
        let width = f64::from(node.kif.width());
        match &node.kind {
            _ if stream.is_none() => 0.0,
            Kind::Constant { .. } => 0.0,
            Kind::Sum { .. } => FULL_ADDER * digit,
            Kind::Port(_) => SELECTED * width,
            Kind::Relu(_) | Kind::Choice { .. } | Kind::Quantised(_) => digit,
            Kind::Whole { op, operands, .. } => {
                let widths: Vec<u32> = operands.iter().map(|(_, interval)| interval.kif().width()).collect();
                super::super::blocks::whole_area(op, node.kif.width(), &widths) + SELECTED * width
            }
        }
    };
    graph.nodes.iter().zip(&plan.streams).map(one).sum()
}

/// Returns the first and the last cycle in which a node's stream shows bits of a sample, counted from the edge that
/// accepts the sample; `None` if the node has no stream.
pub fn clocks(graph: &Graph, plan: &Plan, id: usize) -> Option<[u32; 2]> {
    let stream = plan.streams[id]?;
    let clock = |weight: i32| (stream.time + weight).div_euclid(plan.digit as i32).max(0) as u32;
    Some([clock(lowest(graph.nodes[id].kif)), clock(stream.high)])
}
