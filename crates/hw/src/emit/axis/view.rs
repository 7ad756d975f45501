//! Language-independent template data of the wrapper. A [`Dialect`] defines the syntax.

use super::super::shared;
use super::{Axis, AxisNames, counter_width};

/// Syntax of a language for the parts of the wrapper.
pub(super) trait Dialect {
    /// Literal of a single bit with value 0.
    const ZERO: &'static str;

    /// Returns the bounds of a vector for its declaration.
    fn range(width: u32) -> String;

    /// Returns a slice of a vector of `whole` bits. The slice is a vector even if its width is 1.
    fn part(name: &str, whole: u32, lo: u32, width: u32) -> String;

    /// Returns one bit of a vector of `whole` bits.
    fn bit(name: &str, whole: u32, index: u32) -> String;

    /// Returns a vector of `count` bits that are all `bit`.
    fn fill(bit: &str, count: u32) -> String;

    /// Returns the concatenation of two vectors.
    fn concat(high: &str, low: &str) -> String;

    /// Returns the literal of a counter value.
    fn number(width: u32, value: u32) -> String;

    /// Returns the connection of the core's port with a signal.
    fn connection(port: &str, signal: &str) -> String;
}

/// Assignment of a value to a signal or a slice.
pub(super) struct Assignment {
    pub(super) target: String,
    pub(super) value: String,
}

/// Bounds of a counter, and literals of some of its values.
pub(super) struct Counter {
    pub(super) range: String,
    pub(super) zero: String,
    pub(super) one: String,
    pub(super) last: String,
}

impl Counter {
    /// Returns a counter from 0 to `last`.
    fn up_to<D: Dialect>(last: u32) -> Counter {
        let width = counter_width(last + 1);
        let number = |value| D::number(width, value);
        Counter { range: D::range(width), zero: number(0), one: number(1), last: number(last) }
    }
}

/// Label and slice of one beat of a sample.
pub(super) struct Beat {
    pub(super) label: String,
    pub(super) slice: String,
}

/// Beats of a sample with at least two beats.
pub(super) struct Beats {
    pub(super) counter: Counter,
    pub(super) all: Vec<Beat>,
    /// Assignment of zeros to the beats after the first.
    pub(super) rest: Assignment,
    /// Literal of a beat of zeros.
    pub(super) zero: String,
}

impl Beats {
    fn new<D: Dialect>(count: u32, data_width: u32, name: &str) -> Option<Beats> {
        let whole = count * data_width;
        let beat = |index| Beat {
            label: D::number(counter_width(count), index),
            slice: D::part(name, whole, index * data_width, data_width),
        };
        (count > 1).then(|| Beats {
            counter: Counter::up_to::<D>(count - 1),
            all: (0..count).map(beat).collect(),
            rest: Assignment {
                target: D::part(name, whole, data_width, whole - data_width),
                value: D::fill(D::ZERO, whole - data_width),
            },
            zero: D::fill(D::ZERO, data_width),
        })
    }
}

/// Data of the FIFO of results.
pub(super) struct Fifo {
    pub(super) last_place: u32,
    pub(super) pointer: Counter,
    pub(super) count: Counter,
    pub(super) count_width: u32,
}

/// A delay line parallel to the pipeline.
pub(super) struct Line {
    pub(super) range: String,
    /// Next value of every position.
    pub(super) moves: Vec<Assignment>,
    pub(super) zero: String,
}

impl Line {
    /// Returns a delay line with one position of `width` bits for each stage of the pipeline.
    fn new<D: Dialect>(axis: &Axis, name: &str, width: u32, enters: Assignment) -> Line {
        let whole = axis.behind_last_beat().max(1) * width;
        let mut moves = vec![enters];
        if whole > width {
            moves.push(Assignment {
                target: D::part(name, whole, width, whole - width),
                value: D::part(name, whole, 0, whole - width),
            });
        }
        Line { range: D::range(whole), moves, zero: D::fill(D::ZERO, whole) }
    }
}

/// Data of the wrapper templates.
pub(super) struct View<'a> {
    pub(super) about: Vec<String>,
    pub(super) top: &'a str,
    pub(super) core: &'a str,
    pub(super) names: &'a AxisNames,
    /// Bounds of `tuser`.
    pub(super) user: Option<String>,
    pub(super) in_data: String,
    pub(super) out_data: String,
    /// Beats of an input sample that registers gather.
    pub(super) in_beats: Option<Beats>,
    /// Counter of the beats that enter the core when they arrive.
    pub(super) passing: Option<Counter>,
    /// Literal of a beat of zeros.
    pub(super) no_data: String,
    pub(super) out_beats: Option<Beats>,
    pub(super) sample: String,
    /// Literal of a sample of zeros.
    pub(super) no_sample: String,
    pub(super) core_in: Option<String>,
    pub(super) core_out: Option<String>,
    pub(super) in_assignments: Vec<Assignment>,
    pub(super) out_assignments: Vec<Assignment>,
    pub(super) payload: String,
    pub(super) connections: Vec<String>,
    /// `true` if the core has a `ready` output.
    pub(super) gated: bool,
    /// `true` if an additional register stores a whole sample until the core accepts it.
    pub(super) keeps: bool,
    /// Name of the registers that gather beats: `gathered` if an additional register stores the sample, otherwise
    /// `sample`.
    pub(super) gathered: &'static str,
    /// Signal that is 1 if the gathering registers are emptied; `None` if they are emptied in every cycle.
    pub(super) leaves: Option<&'static str>,
    /// Signal that is 1 if the sample leaves its register.
    pub(super) sample_leaves: &'static str,
    /// Signal that is 1 if a sample enters the core.
    pub(super) entered: &'static str,
    /// `true` if the pipeline stalls while the receiver is not ready.
    pub(super) stall: bool,
    /// `true` if the pipeline can stall, because of the receiver or because of a missing input beat.
    pub(super) waits: bool,
    /// `true` if a result register is located between the pipeline and the beats of a result.
    pub(super) holds_result: bool,
    pub(super) latency: u32,
    pub(super) valid: Line,
    pub(super) flags: Line,
    /// Bounds of a sample's flags: `tuser` in the high bits, `tlast` in bit 0.
    pub(super) flag_bits: String,
    /// Slice of `tuser` within a sample's flags.
    pub(super) user_flags: String,
    /// Condition that is 1 if a sample is at the end of the pipeline.
    pub(super) done: String,
    /// Output of the pipeline: data in the high bits, flags in the low bits.
    pub(super) outcome: String,
    /// Bounds of a result with its flags.
    pub(super) word: String,
    pub(super) fifo: Option<Fifo>,
    /// Slice of the core's outputs within a result.
    pub(super) data_part: String,
    /// Slice of `tuser` within a result.
    pub(super) user_part: String,
    /// Names of signals with bits that are never read.
    pub(super) unused: Vec<&'a str>,
}

impl<'a> View<'a> {
    pub(super) fn new<D: Dialect>(axis: &'a Axis) -> View<'a> {
        let (input, output) = (&axis.input, &axis.output);
        let (latency, flag_width) = (axis.behind_last_beat(), 1 + axis.user);
        let (core_in, core_out) = (axis.core_in_width(), axis.core_out_width());
        let word = core_out + flag_width;
        let passes = axis.passes_beats();
        let flags = match latency {
            0 => "sample_flags".to_owned(),
            _ => D::part("flags", latency * flag_width, (latency - 1) * flag_width, flag_width),
        };
        let in_assignments = axis.input_runs().into_iter().map(|run| Assignment {
            target: D::part("core_in", core_in, run.core, run.width),
            value: D::part(
                "sample",
                if passes { input.data_width } else { input.sample_width() },
                run.sample,
                run.width,
            ),
        });
        let ports = [
            (axis.core.clock.as_deref(), axis.names.clock.as_str()),
            (axis.core.enable.as_deref(), "advance"),
            (axis.core.ready.as_deref(), "core_ready"),
            (axis.input_port(), "core_in"),
            (axis.output_port(), "core_out"),
        ];
        let connections = ports.into_iter().filter_map(|(port, signal)| Some(D::connection(port?, signal)));
        let (gated, keeps, stall) = (axis.is_gated(), axis.keeps_sample(), axis.depth.is_none());
        let sample_leaves = match (gated, stall) {
            (true, true) => "sample_leaves",
            (true, false) => "core_ready",
            (false, _) => "advance",
        };
        // Each valid sample enters the core at once if the core is not gated or the input handshake waits for the core.
        let is_open = !gated || passes || (!stall && axis.input.beats == 1);
        let entered = if is_open { "sample_valid" } else { "entered" };
        let gathered = if keeps { "gathered" } else { "sample" };
        View {
            gated,
            keeps,
            gathered,
            leaves: match (keeps, gated || stall) {
                (true, _) => Some("gathered_leaves"),
                (false, true) => Some(sample_leaves),
                (false, false) => None,
            },
            sample_leaves,
            entered,
            about: axis.about(),
            top: &axis.top,
            core: &axis.core.top,
            names: &axis.names,
            user: (axis.user > 0).then(|| D::range(axis.user)),
            in_data: D::range(input.data_width),
            out_data: D::range(output.data_width),
            in_beats: (!passes).then(|| Beats::new::<D>(input.beats, input.data_width, gathered)).flatten(),
            passing: passes.then(|| Counter::up_to::<D>(input.beats - 1)),
            no_data: D::fill(D::ZERO, input.data_width),
            out_beats: Beats::new::<D>(output.beats, output.data_width, "payload"),
            sample: D::range(input.sample_width()),
            no_sample: D::fill(D::ZERO, input.sample_width()),
            core_in: (core_in > 0).then(|| D::range(core_in)),
            core_out: (core_out > 0).then(|| D::range(core_out)),
            in_assignments: in_assignments.collect(),
            out_assignments: out_assignments::<D>(axis),
            payload: D::range(output.sample_width()),
            connections: shared::with_commas(connections.collect()),
            stall,
            waits: stall || passes,
            holds_result: axis.holds_result(),
            latency,
            valid: {
                let target = D::bit("valid", latency.max(1), 0);
                Line::new::<D>(axis, "valid", 1, Assignment { target, value: entered.into() })
            },
            flags: {
                let target = D::part("flags", latency.max(1) * flag_width, 0, flag_width);
                Line::new::<D>(axis, "flags", flag_width, Assignment { target, value: "sample_flags".into() })
            },
            flag_bits: D::range(flag_width),
            user_flags: D::part(&format!("{gathered}_flags"), flag_width, 1, axis.user),
            done: match latency {
                0 => "sample_valid".into(),
                _ => D::bit("valid", latency, latency - 1),
            },
            outcome: if core_out > 0 { D::concat("core_out", &flags) } else { flags },
            word: D::range(word),
            fifo: axis.depth.map(|depth| Fifo {
                last_place: depth - 1,
                pointer: Counter::up_to::<D>(depth - 1),
                count: Counter::up_to::<D>(depth),
                count_width: counter_width(depth + 1),
            }),
            data_part: D::part("result", word, flag_width, core_out),
            user_part: D::part("result", word, 1, axis.user),
            unused: unused(axis),
        }
    }
}

/// Returns the drivers of the bits of an output sample: elements, their padding, and the bits above the last slot.
fn out_assignments<D: Dialect>(axis: &Axis) -> Vec<Assignment> {
    let (whole, core) = (axis.output.sample_width(), axis.core_out_width());
    let mut all = Vec::new();
    let mut assign = |lo, width, value| all.push(Assignment { target: D::part("payload", whole, lo, width), value });
    for run in axis.output_runs() {
        if run.width > 0 {
            assign(run.sample, run.width, D::part("result_data", core, run.core, run.width));
        }
        if run.pad > 0 {
            let sign = match run.signed {
                true => D::bit("result_data", core, run.core + run.width - 1),
                false => D::ZERO.to_owned(),
            };
            assign(run.sample + run.width, run.pad, D::fill(&sign, run.pad));
        }
    }
    let end = axis.output_end();
    if end < whole {
        assign(end, whole - end, D::fill(D::ZERO, whole - end));
    }
    all
}

/// Returns the signals with unused bits.
fn unused(axis: &Axis) -> Vec<&str> {
    let mut unused = if axis.has_unread_input() { vec!["sample"] } else { Vec::new() };
    if axis.depth.is_none() && axis.core.latency == 0 && axis.input.beats == 1 && axis.output.beats == 1 {
        unused.push(&axis.names.reset);
        if axis.core.clock.is_none() {
            unused.push(&axis.names.clock);
        }
    }
    unused
}
