//! Self-checking testbenches for the AXI4-Stream wrapper.
//!
//! Both sides stall at random. The testbench checks the handshake rules in every cycle: an offered beat stays stable,
//! with all its signals, until it is accepted, and nothing is offered during reset. If the wrapper guarantees it, no
//! combinational path leads from `m_axis_tready` to `s_axis_tready` (C++ only). The first third of the samples is not
//! stalled, and must pass at full rate. Before the measured run, resets interrupt other runs at random positions:
//! inside a sample, while results are in flight, and with a full FIFO.

use super::bench::{Shown, Testbench, bench_name, render};
use super::compare::{Difference, Mismatch, Report};
use super::cycles::Bits;
use super::vectors::{Rows, Vectors};
use crate::compile::Source;
use alir_core::diag::Diagnostic;
use alir_core::files::FileSet;
use alir_core::ir::Model;
use alir_core::num::SplitMix;
use alir_core::num::wrap;
use alir_hw::emit::axis::{Axis, AxisNames, Stream};
use alir_hw::emit::latin1;
use alir_hw::netlist::Element;
use askama::Template;
use num_bigint::BigInt;

/// Number of runs that a reset interrupts: in turn after the end of a packet, with a full FIFO, inside a sample, and
/// anywhere.
const RESETS: u32 = 12;

/// Maximum number of cycles in which a FIFO is filled; deeper FIFOs stay partly empty.
const MOST_CLOCKS_TO_FILL: u32 = 400;

/// A beat on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// `tdata`.
    pub data: Bits,
    /// `tlast`.
    pub last: bool,
    /// `tuser`; one bit if the wrapper has no `tuser`.
    pub user: Bits,
}

/// Stimulus and expected outputs of a wrapper.
#[derive(Clone, Debug)]
pub struct Streams<'a> {
    axis: &'a Axis,
    /// Number of samples.
    samples: usize,
    /// Beats on `s_axis`.
    pub inputs: Vec<Beat>,
    /// Beats on `m_axis`.
    pub outputs: Vec<Beat>,
    /// For each sample: its first beat on `s_axis`, and the number of its beats.
    places: Vec<(usize, u32)>,
    /// Numbers of beats on `s_axis` and of samples that are not stalled.
    unstalled: (usize, usize),
    seed: u64,
}

impl<'a> Streams<'a> {
    /// Plans a run of `count` samples of `model` through the wrapper `axis`. Padding has random bits; some packets end
    /// inside a sample.
    ///
    /// # Panics
    /// If the wrapper does not belong to this model.
    pub fn plan(model: &Model, axis: &'a Axis, count: usize, seed: u64) -> Streams<'a> {
        let golden = |inputs| Ok(Vectors::from_inputs(model, inputs));
        let drawn = Vectors::generate_inputs(model, count, seed);
        Streams::plan_by(&drawn, true, &golden, axis, seed).expect("a model has a code for every output")
    }

    /// Like [`Streams::plan`] for a model that was lowered from `source`, which computes the expected outputs.
    ///
    /// # Errors
    /// If a result of the source has no raw integer value on its port.
    ///
    /// # Panics
    /// If the wrapper does not belong to this model.
    pub fn plan_lowered(
        model: &Model,
        source: &dyn Source,
        axis: &'a Axis,
        count: usize,
        seed: u64,
    ) -> Result<Streams<'a>, Diagnostic> {
        let golden = |inputs| Vectors::from_inputs(model, inputs).with_outputs_of(source);
        Streams::plan_by(&Vectors::generate_inputs(model, count, seed), true, &golden, axis, seed)
    }

    /// Plans a run of these samples through the wrapper `axis`; every packet has whole samples. Padding has random
    /// bits.
    ///
    /// # Panics
    /// If the wrapper does not match these samples.
    pub fn plan_own(vectors: &Vectors, axis: &'a Axis, seed: u64) -> Streams<'a> {
        let expected = |inputs| Ok(Vectors { inputs, outputs: vectors.outputs.clone() });
        Streams::plan_by(&vectors.inputs, false, &expected, axis, seed).expect("nothing is asked")
    }

    /// Plans a run of the drawn samples. With `cuts`, some packets end inside a sample.
    fn plan_by(
        drawn: &Rows,
        cuts: bool,
        golden: &dyn Fn(Rows) -> Result<Vectors, Diagnostic>,
        axis: &'a Axis,
        seed: u64,
    ) -> Result<Streams<'a>, Diagnostic> {
        let mut random = SplitMix::new(seed ^ 0x6178_6973);
        let count = drawn.len();
        let (mut inputs, mut codes, mut flags) = (Vec::new(), Vec::new(), Vec::new());
        let mut unstalled = (0, count / 3);
        let mut places = Vec::new();
        for sample in 0..drawn.len() {
            if sample == unstalled.1 {
                unstalled.0 = inputs.len();
            }
            let stream = &axis.input;
            let mut bits = Bits::zero(stream.sample_width());
            bits.put(0, stream.sample_width(), &random.bits(stream.sample_width()));
            put(&mut bits, stream, &axis.core.inputs, drawn.row(sample), false);
            let cut = cuts && stream.beats > 1 && random.below(8) == 0;
            let beats = if cut { 1 + random.below(u64::from(stream.beats - 1)) as u32 } else { stream.beats };
            let last = cut || random.below(4) == 0;
            let user = user(axis, &mut random);
            places.push((inputs.len(), beats));
            for beat in 0..beats {
                let here = if beat == 0 { user.clone() } else { self::user(axis, &mut random) };
                let data = cut_out(&bits, beat * stream.data_width, stream.data_width);
                inputs.push(Beat { data, last: last && beat == beats - 1, user: here });
            }
            for at in beats * stream.data_width..stream.sample_width() {
                bits.set(at, false);
            }
            codes.push(get(&bits, stream, &axis.core.inputs));
            flags.push((last, user));
        }
        let vectors = golden(Rows::new(axis.core.inputs.len(), codes))?;
        let mut outputs = Vec::new();
        for (sample, (last, user)) in flags.into_iter().enumerate() {
            let stream = &axis.output;
            let mut bits = Bits::zero(stream.sample_width());
            put(&mut bits, stream, &axis.core.outputs, vectors.outputs.row(sample), true);
            for beat in 0..stream.beats {
                let data = cut_out(&bits, beat * stream.data_width, stream.data_width);
                outputs.push(Beat { data, last: last && beat == stream.beats - 1, user: user.clone() });
            }
        }
        Ok(Streams { axis, samples: drawn.len(), inputs, outputs, places, unstalled, seed })
    }

    fn view(&self) -> View<'_> {
        let axis = self.axis;
        let fifo = axis.depth.unwrap_or(1).saturating_mul(axis.initiation_interval());
        let default_depth = axis.depth.is_none_or(|depth| depth >= axis.full_rate_depth());
        View {
            name: self.name(),
            top: &axis.top,
            names: &axis.names,
            in_width: axis.input.data_width,
            out_width: axis.output.data_width,
            user_width: axis.user,
            user_bits: axis.user.max(1),
            user_hi: axis.user.max(1) - 1,
            samples: self.unstalled.1,
            beats: self.unstalled.0,
            interval: axis.initiation_interval(),
            // The first sample waits for a core with an initiation interval above 1.
            start: 6 + 2 * axis.core.initiation_interval,
            full_rate: default_depth && self.unstalled.1 > 0,
            no_path: axis.depth.is_some(),
            resets: RESETS,
            prelude: 30 + axis.latency() + fifo.min(MOST_CLOCKS_TO_FILL),
            drain: 3 * axis.latency() + 20,
            limit: 40 * (self.inputs.len() + self.outputs.len())
                + 4 * self.samples * (axis.core.initiation_interval as usize - 1)
                + 10_000,
            rows_in: self.inputs.len(),
            rows_out: self.outputs.len(),
            pieces: (0..axis.output.beats).map(|beat| pieces(axis, beat)).collect(),
            seed: (self.seed & 0x7fff_ffff) as u32,
        }
    }
}

/// Returns a random `tuser`.
fn user(axis: &Axis, random: &mut SplitMix) -> Bits {
    let mut bits = Bits::zero(axis.user.max(1));
    if axis.user > 0 {
        bits.put(0, axis.user, &random.bits(axis.user));
    }
    bits
}

/// Stores raw integer values in their slots; with `pad`, extended to the width of the slot.
fn put(bits: &mut Bits, stream: &Stream, elements: &[Element], codes: &[BigInt], pad: bool) {
    for ((slot, element), code) in stream.slots.iter().zip(elements).zip(codes) {
        bits.put(slot.lsb, if pad { slot.width } else { element.width }, code);
    }
}

/// Returns the raw integer values in the slots.
fn get(bits: &Bits, stream: &Stream, elements: &[Element]) -> Vec<BigInt> {
    let code = |(slot, element): (&alir_hw::emit::axis::Slot, &Element)| match element.width {
        0 => BigInt::ZERO,
        width => wrap(&bits.unsigned(slot.lsb, width).into(), element.kif()),
    };
    stream.slots.iter().zip(elements).map(code).collect()
}

fn cut_out(bits: &Bits, lo: u32, width: u32) -> Bits {
    let mut part = Bits::zero(width);
    for at in 0..width {
        part.set(at, bits.get(lo + at));
    }
    part
}

/// Returns the elements on one beat of a sample, or the parts of elements on this beat.
fn pieces(axis: &Axis, beat: u32) -> Vec<Shown> {
    let (start, end) = (beat * axis.output.data_width, (beat + 1) * axis.output.data_width);
    let mut all = Vec::new();
    for (slot, element) in axis.output.slots.iter().zip(&axis.core.outputs).filter(|(_, element)| element.width > 0) {
        let (lo, hi) = (slot.lsb.max(start), (slot.lsb + slot.width).min(end));
        if lo >= hi {
            continue;
        }
        let mut shown = Shown { lo: lo - start, hi: hi - 1 - start, ..Shown::new(element, 0) };
        if hi - lo < slot.width {
            shown.signed = false;
            shown.name.push_str(&format!(" (bits {} to {})", lo - slot.lsb, hi - 1 - slot.lsb));
        }
        all.push(shown);
    }
    all
}

/// Values for the templates.
struct View<'a> {
    name: String,
    top: &'a str,
    names: &'a AxisNames,
    in_width: u32,
    out_width: u32,
    user_width: u32,
    /// Number of bits of the testbench signal for `tuser`, which is 1 if the wrapper has no `tuser`.
    user_bits: u32,
    user_hi: u32,
    samples: usize,
    beats: usize,
    interval: u32,
    /// Additional cycles that the first and the last sample may take beyond full rate.
    start: u32,
    full_rate: bool,
    no_path: bool,
    /// Number of runs that a reset interrupts, before the measured run.
    resets: u32,
    /// Maximum number of cycles before the reset: by then the FIFO is full if no result is accepted.
    prelude: u32,
    drain: u32,
    limit: usize,
    rows_in: usize,
    rows_out: usize,
    /// Elements on each output beat of a sample.
    pieces: Vec<Vec<Shown>>,
    seed: u32,
}

#[derive(Template)]
#[template(path = "testbench/axis.v")]
struct VerilogBench<'a> {
    v: View<'a>,
}

#[derive(Template)]
#[template(path = "testbench/axis.vhd")]
struct VhdlBench<'a> {
    v: View<'a>,
}

#[derive(Template)]
#[template(path = "testbench/axis_wrapper.v")]
struct VerilatorWrapper<'a> {
    v: View<'a>,
}

#[derive(Template)]
#[template(path = "testbench/axis.cpp")]
struct VerilatorBench<'a> {
    v: View<'a>,
}

impl Testbench for Streams<'_> {
    fn name(&self) -> String {
        bench_name(std::iter::once(self.axis.top.as_str()))
    }

    fn verilog(&self) -> String {
        render(&VerilogBench { v: self.view() })
    }

    fn vhdl(&self) -> String {
        latin1::escaped(&render(&VhdlBench { v: self.view() })).into_owned()
    }

    fn verilator(&self) -> (String, String) {
        (render(&VerilatorWrapper { v: self.view() }), render(&VerilatorBench { v: self.view() }))
    }

    fn rows(&self) -> FileSet {
        let mut files = FileSet::default();
        let line = |beat: &Beat| format!("{} {} {}", beat.data.hex(), u8::from(beat.last), beat.user.hex());
        let mut text: String = self.inputs.iter().map(|beat| line(beat) + "\n").collect();
        // A file without this line is truncated.
        text.push_str("end\n");
        files.add("beats_in.txt", text);
        let mut text = String::new();
        for (at, beat) in self.outputs.iter().enumerate() {
            let (first, count) = self.places[at / self.axis.output.beats as usize];
            text.push_str(&format!("{} {first:08x} {count:08x}\n", line(beat)));
        }
        text.push_str("end\n");
        files.add("beats_out.txt", text);
        files
    }

    fn expected_rows(&self) -> usize {
        self.outputs.len()
    }

    fn vcd(&self) -> bool {
        false
    }

    fn read(&self, said: &str) -> Option<Report> {
        let mut report = Report { compared: self.samples, ..Report::default() };
        let mut done = false;
        for line in said.lines() {
            if let Some(what) = line.strip_prefix("WRONG ") {
                let (cycle, what) = what.split_once(' ')?;
                let what = Difference::Stream(what.to_owned());
                report.mismatches.push(Mismatch { lane: 0, cycle: cycle.parse().ok()?, what });
            } else if let Some(rest) = line.strip_prefix("STREAM ") {
                let (beats, wrong) = rest.split_once(' ')?;
                report.wrong_rows = wrong.trim().parse().ok()?;
                done = report.wrong_rows > 0 || beats.parse() == Ok(self.outputs.len());
            }
        }
        done.then_some(report)
    }
}
