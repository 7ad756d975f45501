//! The wrapper in Verilog-2001.

use super::{Axis, counter_width};
use askama::Template;

pub(super) fn text(axis: &Axis) -> String {
    View::of(axis).render().expect("templates render what they are given") + "\n"
}

/// `[7:0] `; one bit of data is a vector too.
fn range(width: u32) -> String {
    format!("[{}:0] ", width - 1)
}

/// A part of something `whole` bits wide.
fn part(name: &str, whole: u32, lo: u32, width: u32) -> String {
    match width {
        _ if width == whole => name.to_owned(),
        1 => format!("{name}[{lo}]"),
        _ => format!("{name}[{}:{lo}]", lo + width - 1),
    }
}

fn number(width: u32, value: u32) -> String {
    format!("{width}'d{value}")
}

/// A beat of a sample.
struct Beat {
    label: String,
    slice: String,
}

/// One assignment.
struct Assignment {
    target: String,
    value: String,
}

#[derive(Template)]
#[template(path = "wrapper/axis.v")]
struct View<'a> {
    about: Vec<String>,
    top: &'a str,
    core: &'a str,
    user: Option<String>,
    in_data: String,
    out_data: String,
    in_beats: Option<Beats>,
    out_beats: Option<Beats>,
    sample: String,
    core_in: Option<String>,
    core_out: Option<String>,
    in_assignments: Vec<Assignment>,
    out_assignments: Vec<Assignment>,
    payload: String,
    connections: Vec<String>,
    stall: bool,
    latency: u32,
    valid: String,
    valid_next: String,
    flags: String,
    flags_next: String,
    flag_bits: String,
    result: String,
    word: String,
    fifo: Option<Fifo>,
    unused: Vec<String>,
    user_width: u32,
    core_out_width: u32,
    beat_width: u32,
}

/// A counter of beats.
struct Beats {
    counter: String,
    zero: String,
    one: String,
    last: String,
    all: Vec<Beat>,
    /// Zeros above the first beat.
    rest: u32,
}

struct Fifo {
    last_place: u32,
    pointer: String,
    pointer_zero: String,
    pointer_one: String,
    pointer_last: String,
    count: String,
    count_zero: String,
    count_one: String,
    full: String,
}

fn beats(count: u32, data_width: u32, name: &str) -> Option<Beats> {
    let width = counter_width(count);
    let beat = |index: u32| Beat {
        label: number(width, index),
        slice: part(name, count * data_width, index * data_width, data_width),
    };
    (count > 1).then(|| Beats {
        counter: range(width),
        zero: number(width, 0),
        one: number(width, 1),
        last: number(width, count - 1),
        all: (0..count).map(beat).collect(),
        rest: (count - 1) * data_width,
    })
}

impl<'a> View<'a> {
    fn of(axis: &'a Axis) -> View<'a> {
        let (input, output) = (&axis.input, &axis.output);
        let flag_width = 1 + axis.user;
        let latency = axis.core.latency;
        let (core_in, core_out) = (axis.core_in_width(), axis.core_out_width());
        let in_runs = axis.input_runs();
        let in_assignments = in_runs.iter().map(|run| Assignment {
            target: part("core_in", core_in, run.core, run.width),
            value: part("sample", input.sample_width(), run.sample, run.width),
        });
        let out_whole = output.sample_width();
        let mut out_assignments: Vec<Assignment> = Vec::new();
        for run in axis.output_runs() {
            let target = part("payload", out_whole, run.sample, run.width + run.pad);
            let bits = if run.width > 0 { part("result_data", core_out, run.core, run.width) } else { String::new() };
            let value = match (run.width, run.pad) {
                (0, pad) => format!("{{{pad}{{1'b0}}}}"),
                (_, 0) => bits,
                (_, pad) if run.signed => {
                    let sign = part("result_data", core_out, run.core + run.width - 1, 1);
                    format!("{{{{{pad}{{{sign}}}}}, {bits}}}")
                }
                (_, pad) => format!("{{{{{pad}{{1'b0}}}}, {bits}}}"),
            };
            out_assignments.push(Assignment { target, value });
        }
        let end = axis.output_end();
        if end < out_whole {
            out_assignments.push(Assignment {
                target: part("payload", out_whole, end, out_whole - end),
                value: format!("{{{}{{1'b0}}}}", out_whole - end),
            });
        }
        let mut connections: Vec<String> = Vec::new();
        connections.extend(axis.core.clock.iter().map(|port| format!(".{port}(aclk)")));
        connections.extend(axis.core.enable.iter().map(|port| format!(".{port}(advance)")));
        connections.extend(axis.input_port().map(|port| format!(".{port}(core_in)")));
        connections.extend(axis.output_port().map(|port| format!(".{port}(core_out)")));
        let stall = axis.depth.is_none();
        let mut unused: Vec<String> =
            axis.unread_input().iter().map(|&(lo, width)| part("sample", input.sample_width(), lo, width)).collect();
        if stall && latency == 0 && input.beats == 1 && output.beats == 1 {
            unused.push("aresetn".into());
            if axis.core.clock.is_none() {
                unused.push("aclk".into());
            }
        }
        View {
            about: axis.about(),
            top: &axis.top,
            core: &axis.core.top,
            user: (axis.user > 0).then(|| range(axis.user)),
            in_data: range(input.data_width),
            out_data: range(output.data_width),
            in_beats: beats(input.beats, input.data_width, "sample"),
            out_beats: beats(output.beats, output.data_width, "payload"),
            sample: range(input.sample_width()),
            core_in: (core_in > 0).then(|| range(core_in)),
            core_out: (core_out > 0).then(|| range(core_out)),
            in_assignments: in_assignments.collect(),
            out_assignments,
            payload: range(out_whole),
            connections: super::super::shared::with_commas(connections),
            stall,
            latency,
            valid: range(latency.max(1)),
            valid_next: if latency > 1 {
                format!("{{valid[{}:0], sample_valid}}", latency - 2)
            } else {
                "sample_valid".into()
            },
            flags: range(latency.max(1) * flag_width),
            flags_next: if latency > 1 {
                format!("{{flags[{}:0], sample_flags}}", (latency - 1) * flag_width - 1)
            } else {
                "sample_flags".into()
            },
            flag_bits: range(flag_width),
            result: if latency == 0 {
                "sample_flags".into()
            } else {
                part("flags", latency * flag_width, (latency - 1) * flag_width, flag_width)
            },
            word: range(core_out + flag_width),
            fifo: axis.depth.map(|depth| {
                let (pointer, count) = (counter_width(depth), counter_width(depth + 1));
                Fifo {
                    last_place: depth - 1,
                    pointer: range(pointer),
                    pointer_zero: number(pointer, 0),
                    pointer_one: number(pointer, 1),
                    pointer_last: number(pointer, depth - 1),
                    count: range(count),
                    count_zero: number(count, 0),
                    count_one: number(count, 1),
                    full: number(count, depth),
                }
            }),
            unused,
            user_width: axis.user,
            core_out_width: core_out,
            beat_width: output.data_width,
        }
    }

    /// The highest valid flag.
    fn result_valid(&self) -> String {
        if self.latency == 0 { "sample_valid".into() } else { part("valid", self.latency, self.latency - 1, 1) }
    }

    fn has_beats(&self) -> bool {
        self.out_beats.is_some()
    }

    /// A sample's flags where they enter: `tuser` above `tlast`.
    fn flags_in(&self) -> &'static str {
        if self.user.is_some() { "{s_axis_tuser, s_axis_tlast}" } else { "s_axis_tlast" }
    }

    /// The bits of `tuser` among the flags.
    fn user_part(&self) -> String {
        if self.user_width == 1 { "[1]".into() } else { format!("[{}:1]", self.user_width) }
    }

    /// The bits of the core's outputs in a result.
    fn data_part(&self) -> String {
        let lo = 1 + self.user_width;
        let hi = lo + self.core_out_width - 1;
        if hi == lo { format!("[{lo}]") } else { format!("[{hi}:{lo}]") }
    }

    fn zero_beat(&self) -> String {
        format!("{{{}{{1'b0}}}}", self.beat_width)
    }

    fn has_core_out(&self) -> bool {
        self.core_out.is_some()
    }

    fn needs_core(&self) -> bool {
        !self.connections.is_empty()
    }
}
