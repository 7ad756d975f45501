//! What later operations ask of one: in sixteen bytes what lies in a node's ninety-six. Programs use values from
//! everywhere, and those of a large one do not fit any cache otherwise.

use super::predict::Span;
use alir_core::ir::{Node, ValueId};

/// Interval and latency of an operation, where they are small.
#[derive(Clone, Copy, Debug)]
struct Brief {
    min: i32,
    max: i32,
    /// [`ELSEWHERE`] if the interval is not here.
    frac: i32,
    /// Not a number if the latency is not here.
    latency: f32,
}

/// An interval that does have so few fractional bits is asked of its node, too.
const ELSEWHERE: i32 = i32::MIN;

/// Briefs of all operations so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Briefs(Vec<Brief>);

impl Briefs {
    pub(super) fn reserve(&mut self, operations: usize) {
        self.0.reserve_exact(operations);
    }

    /// Notes the operation that is appended next.
    #[inline(always)]
    pub(super) fn push(&mut self, node: &Node) {
        let interval = &node.interval;
        let small = |code: &alir_core::num::Code| code.to_i64().and_then(|v| i32::try_from(v).ok());
        let (min, max, frac) = match (small(&interval.min), small(&interval.max)) {
            (Some(min), Some(max)) => (min, max, interval.frac),
            _ => (0, 0, ELSEWHERE),
        };
        let short = node.latency as f32;
        let latency = if f64::from(short).to_bits() == node.latency.to_bits() { short } else { f32::NAN };
        self.0.push(Brief { min, max, frac, latency });
    }

    /// The interval of an operation, if its bounds are within 64 bits; `nodes` are all so far.
    #[inline(always)]
    pub(super) fn span(&self, v: ValueId, nodes: &[Node]) -> Option<Span<i64>> {
        let Brief { min, max, frac, .. } = self.0[v.index()];
        if frac == ELSEWHERE {
            return span_of(&nodes[v.index()]);
        }
        Some(Span { min: min.into(), max: max.into(), frac })
    }

    /// The latency of an operation.
    #[inline(always)]
    pub(super) fn latency(&self, v: ValueId, nodes: &[Node]) -> f64 {
        let latency = f64::from(self.0[v.index()].latency);
        if latency.is_nan() { latency_of(&nodes[v.index()]) } else { latency }
    }
}

#[inline(never)]
fn span_of(node: &Node) -> Option<Span<i64>> {
    Span::of(&node.interval)
}

#[inline(never)]
fn latency_of(node: &Node) -> f64 {
    node.latency
}
