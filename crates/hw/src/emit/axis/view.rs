//! The wrapper as the templates see it, as far as it is the same in both languages; a [`Dialect`] spells the rest.

use super::super::shared;
use super::{Axis, AxisNames, counter_width};

/// Syntax of a language for the parts of the wrapper.
pub(super) trait Dialect {
    /// A bit that is zero.
    const ZERO: &'static str;

    /// The bounds of a vector, as its declaration wants them.
    fn range(width: u32) -> String;

    /// Bits of a vector `whole` bits wide; a vector too where it is one bit.
    fn part(name: &str, whole: u32, lo: u32, width: u32) -> String;

    /// One bit of a vector `whole` bits wide.
    fn bit(name: &str, whole: u32, index: u32) -> String;

    /// Returns a vector of `count` bits that are all `bit`.
    fn fill(bit: &str, count: u32) -> String;

    /// Two vectors side by side.
    fn concat(high: &str, low: &str) -> String;

    /// A value of a counter.
    fn number(width: u32, value: u32) -> String;

    /// Returns the connection of the core's port with a signal.
    fn connection(port: &str, signal: &str) -> String;
}

/// One assignment.
pub(super) struct Assignment {
    pub(super) target: String,
    pub(super) value: String,
}

/// A counter, and some of its values.
pub(super) struct Counter {
    pub(super) range: String,
    pub(super) zero: String,
    pub(super) one: String,
    pub(super) last: String,
}

impl Counter {
    /// One that counts from 0 to `last`.
    fn up_to<D: Dialect>(last: u32) -> Counter {
        let width = counter_width(last + 1);
        let number = |value| D::number(width, value);
        Counter { range: D::range(width), zero: number(0), one: number(1), last: number(last) }
    }
}

/// A beat of a sample.
pub(super) struct Beat {
    pub(super) label: String,
    pub(super) slice: String,
}

/// The beats of a sample, of which there are several.
pub(super) struct Beats {
    pub(super) counter: Counter,
    pub(super) all: Vec<Beat>,
    /// Zeros for the beats above the first.
    pub(super) rest: Assignment,
    /// A beat of zeros.
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

/// Results that wait.
pub(super) struct Fifo {
    pub(super) last_place: u32,
    pub(super) pointer: Counter,
    pub(super) count: Counter,
    pub(super) count_width: u32,
}

/// A delay line in parallel to the pipeline.
pub(super) struct Line {
    pub(super) range: String,
    /// Next value of every position.
    pub(super) moves: Vec<Assignment>,
    pub(super) zero: String,
}

impl Line {
    /// As many places of `width` bits as the pipeline has stages.
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

/// Everything that a template asks for.
pub(super) struct View<'a> {
    pub(super) about: Vec<String>,
    pub(super) top: &'a str,
    pub(super) core: &'a str,
    pub(super) names: &'a AxisNames,
    /// Bounds of `tuser`.
    pub(super) user: Option<String>,
    pub(super) in_data: String,
    pub(super) out_data: String,
    /// Beats that registers gather into a sample.
    pub(super) in_beats: Option<Beats>,
    /// The counter of beats that go into the core as they come.
    pub(super) passing: Option<Counter>,
    /// A beat of zeros.
    pub(super) no_data: String,
    pub(super) out_beats: Option<Beats>,
    pub(super) sample: String,
    /// A sample of zeros.
    pub(super) no_sample: String,
    pub(super) core_in: Option<String>,
    pub(super) core_out: Option<String>,
    pub(super) in_assignments: Vec<Assignment>,
    pub(super) out_assignments: Vec<Assignment>,
    pub(super) payload: String,
    pub(super) connections: Vec<String>,
    /// The core says when it takes a sample.
    pub(super) gated: bool,
    /// A whole sample waits in a register of its own.
    pub(super) keeps: bool,
    /// Name of the registers that gather transfers: the sample, or the value that it becomes.
    pub(super) gathered: &'static str,
    /// When they are free again, where that is not in every clock.
    pub(super) leaves: Option<&'static str>,
    /// When the sample leaves.
    pub(super) sample_leaves: &'static str,
    /// That a sample goes into the core.
    pub(super) entered: &'static str,
    /// The pipeline waits for a slow reader.
    pub(super) stall: bool,
    /// The pipeline waits for something.
    pub(super) waits: bool,
    /// A register between a pipeline that waits and the beats of a result.
    pub(super) holds_result: bool,
    pub(super) latency: u32,
    pub(super) valid: Line,
    pub(super) flags: Line,
    /// Bounds of a sample's flags: `tuser` above `tlast`.
    pub(super) flag_bits: String,
    /// `tuser` among a sample's flags.
    pub(super) user_flags: String,
    /// Condition that a sample is at the end of the pipeline.
    pub(super) done: String,
    /// Output of the pipeline: data above flags.
    pub(super) outcome: String,
    /// Bounds of a result.
    pub(super) word: String,
    pub(super) fifo: Option<Fifo>,
    /// The core's outputs in a result.
    pub(super) data_part: String,
    /// `tuser` in a result.
    pub(super) user_part: String,
    /// Signals without readers.
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
        // A sample of one beat goes through a gate of the wrapper unless the pipeline waits.
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
