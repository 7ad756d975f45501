//! The wrapper in VHDL, in the part that 1993 and 2008 share.

use super::{Axis, counter_width};
use askama::Template;

pub(super) fn text(axis: &Axis) -> String {
    View::of(axis).render().expect("templates render what they are given") + "\n"
}

/// `(7 downto 0)`.
fn range(width: u32) -> String {
    format!("({} downto 0)", width - 1)
}

/// Always a slice, also of one bit: both sides of an assignment are vectors.
fn part(name: &str, lo: u32, width: u32) -> String {
    format!("{name}({} downto {lo})", lo + width - 1)
}

/// One assignment.
struct Assignment {
    target: String,
    value: String,
}

/// Beats of a sample.
struct Beats {
    counter: String,
    last: u32,
    slices: Vec<String>,
    /// The beats above the first.
    rest: String,
}

#[derive(Template)]
#[template(path = "wrapper/axis.vhd")]
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
    result_flags: String,
    result_valid: String,
    word: String,
    fifo: Option<Fifo>,
    data_part: String,
    user_part: String,
}

struct Fifo {
    last_place: u32,
    pointer: String,
    count: String,
    full: u32,
}

fn beats(count: u32, data_width: u32, name: &str) -> Option<Beats> {
    (count > 1).then(|| Beats {
        counter: range(counter_width(count)),
        last: count - 1,
        slices: (0..count).map(|index| part(name, index * data_width, data_width)).collect(),
        rest: part(name, data_width, (count - 1) * data_width),
    })
}

impl<'a> View<'a> {
    fn of(axis: &'a Axis) -> View<'a> {
        let (input, output) = (&axis.input, &axis.output);
        let flag_width = 1 + axis.user;
        let latency = axis.core.latency;
        let (core_in, core_out) = (axis.core_in_width(), axis.core_out_width());
        let in_assignments = axis.input_runs().into_iter().map(|run| Assignment {
            target: part("core_in", run.core, run.width),
            value: part("sample", run.sample, run.width),
        });
        let mut out_assignments: Vec<Assignment> = Vec::new();
        for run in axis.output_runs() {
            if run.width > 0 {
                let target = part("payload", run.sample, run.width);
                out_assignments.push(Assignment { target, value: part("result_data", run.core, run.width) });
            }
            if run.pad > 0 {
                let value = match run.signed {
                    true => format!("(others => result_data({}))", run.core + run.width - 1),
                    false => "(others => '0')".to_owned(),
                };
                out_assignments.push(Assignment { target: part("payload", run.sample + run.width, run.pad), value });
            }
        }
        let (end, whole) = (axis.output_end(), output.sample_width());
        if end < whole {
            out_assignments
                .push(Assignment { target: part("payload", end, whole - end), value: "(others => '0')".into() });
        }
        let mut connections: Vec<String> = Vec::new();
        connections.extend(axis.core.clock.iter().map(|port| format!("{port} => aclk")));
        connections.extend(axis.core.enable.iter().map(|port| format!("{port} => advance")));
        connections.extend(axis.input_port().map(|port| format!("{port} => core_in")));
        connections.extend(axis.output_port().map(|port| format!("{port} => core_out")));
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
            payload: range(whole),
            connections: super::super::shared::with_commas(connections),
            stall: axis.depth.is_none(),
            latency,
            valid: range(latency.max(1)),
            valid_next: match latency {
                0 | 1 => "(0 => sample_valid)".into(),
                _ => format!("{} & sample_valid", part("valid", 0, latency - 1)),
            },
            flags: range(latency.max(1) * flag_width),
            flags_next: match latency {
                0 | 1 => "sample_flags".into(),
                _ => format!("{} & sample_flags", part("flags", 0, (latency - 1) * flag_width)),
            },
            flag_bits: range(flag_width),
            result_flags: match latency {
                0 => "sample_flags".into(),
                _ => part("flags", (latency - 1) * flag_width, flag_width),
            },
            result_valid: match latency {
                0 => "sample_valid".into(),
                _ => format!("valid({})", latency - 1),
            },
            word: range(core_out + flag_width),
            fifo: axis.depth.map(|depth| Fifo {
                last_place: depth - 1,
                pointer: range(counter_width(depth)),
                count: range(counter_width(depth + 1)),
                full: depth,
            }),
            data_part: if core_out > 0 { part("result", flag_width, core_out) } else { String::new() },
            user_part: if axis.user > 0 { part("result", 1, axis.user) } else { String::new() },
        }
    }

    fn has_core_out(&self) -> bool {
        self.core_out.is_some()
    }

    fn has_user(&self) -> bool {
        self.user.is_some()
    }

    fn has_out_beats(&self) -> bool {
        self.out_beats.is_some()
    }
}
