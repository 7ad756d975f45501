//! AXI4-Stream wrapper: a module with `s_axis` and `m_axis` around the pipeline.
//!
//! A sample is a sequence of bytes on `tdata`, element 0 in the low bits. Each element is in a slot of 8, 16, 32 or 64
//! bits (sign-extended, as in an array in memory), or, with [`Packing::Dense`], the elements are concatenated without
//! padding. If the stream is narrower than a sample, a sample consists of several beats, low bytes first. `tlast` and
//! `tuser` accompany their sample: the `tuser` of the sample's first beat is repeated on all beats of the result;
//! `tlast` ends a packet. If a packet ends within a sample, zeros complete the sample, so that no data is lost and the
//! next packet begins with a new sample.
//!
//! Backpressure has two implementations. With [`Flow::Fifo`] the pipeline never stalls: a sample is accepted only with
//! a *credit*, a free slot in the FIFO after the pipeline, so that every ready and valid is registered. With
//! [`Flow::Stall`] the enable of the core stalls the whole pipeline. The wrapper then needs no memory, but has a
//! combinational path from `m_axis_tready` to every register and to `s_axis_tready`. If both sides have several beats,
//! a register stores a result.
//!
//! A core with an initiation interval of K accepts a sample in the cycles in which its `ready` is 1, and the wrapper
//! provides the whole sample in such a cycle. If a sample has more than K beats, and not a multiple of K, an additional
//! register stores the whole sample while the beats of the next sample arrive.
//!
//! Source of the handshake rules: Arm IHI 0051B, AMBA AXI-Stream Protocol Specification, sections 2.2 and 2.8.

mod verilog;
mod vhdl;
mod view;

use super::Language;
use crate::netlist::{self, Direction, Element, Interface, Languages};
use alir_core::diag::{Diagnostic, Place, counted};
use serde::Serialize;

/// Layout of the elements on `tdata`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// A slot of 8, 16, 32 or 64 bits for each element: the smallest that fits the widest element of its side. Wider
    /// elements get multiples of 64.
    #[default]
    Auto,
    /// A slot of this many bits (8, 16, 32 or 64) for each element.
    Slot(u32),
    /// Elements concatenated without padding. Only the whole sample is padded to a multiple of 8 bits.
    Dense,
}

/// Backpressure implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Results are stored in a FIFO of this number of samples; `None` selects the smallest depth with full throughput.
    Fifo(Option<u32>),
    /// The whole pipeline stalls while the receiver is not ready.
    Stall,
}

/// Names of the wrapper's ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisNames {
    /// Name of the clock port.
    pub clock: String,
    /// Name of the reset port, active low.
    pub reset: String,
    /// Prefix of `_tdata`, `_tvalid`, ... in the names of the input stream.
    pub input: String,
    /// Prefix of `_tdata`, `_tvalid`, ... in the names of the output stream.
    pub output: String,
}

impl Default for AxisNames {
    fn default() -> Self {
        let [clock, reset, input, output] = ["aclk", "aresetn", "s_axis", "m_axis"].map(str::to_owned);
        AxisNames { clock, reset, input, output }
    }
}

impl AxisNames {
    /// Names of the wrapper's signals, types and labels, which a clock or a reset port must not have. Names of streams
    /// cannot collide with them, because ports of a stream have a suffix.
    const INTERNAL: &[&str] = &[
        "accept",
        "advance",
        "beat",
        "beat_data",
        "beats",
        "complete",
        "core_in",
        "core_out",
        "core_ready",
        "credits",
        "ended",
        "entered",
        "fifo",
        "first",
        "flags",
        "gathered",
        "gathered_flags",
        "gathered_leaves",
        "gathered_valid",
        "get",
        "get_at",
        "goes",
        "held",
        "last",
        "last_beat",
        "moves",
        "payload",
        "put",
        "put_at",
        "ready",
        "result",
        "result_data",
        "result_free",
        "result_valid",
        "rtl",
        "sample",
        "sample_beats",
        "sample_flags",
        "sample_leaves",
        "sample_user",
        "sample_valid",
        "take",
        "u_core",
        "unused_bits",
        "valid",
        "waits",
        "word",
        "words",
    ];

    /// Returns all names with their roles; the name of the module is the first.
    fn chosen(&self, top: &str) -> Vec<(&'static str, String)> {
        let stream = |role, prefix: &str| STREAM_SIGNALS.map(|signal| (role, format!("{prefix}_{signal}")));
        let mut all = vec![
            (netlist::TOP, top.to_owned()),
            ("clock port", self.clock.clone()),
            ("reset port", self.reset.clone()),
        ];
        all.extend(stream("input port", &self.input));
        all.extend(stream("output port", &self.output));
        all
    }

    /// Checks that the names of a wrapper called `top` are legal in these languages, unique, and not names of internal
    /// signals.
    ///
    /// # Errors
    /// One diagnostic for each option whose name is rejected.
    pub fn check(&self, top: &str, languages: Languages) -> Result<(), Vec<Diagnostic>> {
        let default = AxisNames::default().chosen(top);
        let mut problems = netlist::check_names(&self.chosen(top), &default, languages).err().unwrap_or_default();
        problems.dedup_by(|a, b| a.place == b.place);
        for (role, name) in [("clock port", &self.clock), ("reset port", &self.reset)] {
            if Self::INTERNAL.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                problems.push(netlist::taken_name(name, role, "wrapper's own signal"));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Signals of a stream, in the order of their declaration.
const STREAM_SIGNALS: [&str; 5] = ["tdata", "tvalid", "tready", "tlast", "tuser"];

/// Options of [`Axis::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisOptions {
    /// Layout of the elements on `tdata`.
    pub packing: Packing,
    /// Width of `tdata` in bits on both sides, a multiple of 8; `None` for the width of a whole sample on each side.
    pub width: Option<u32>,
    /// Bits of `tuser`; 0 for none.
    pub user: u32,
    /// Backpressure implementation.
    pub flow: Flow,
    /// Names of the ports.
    pub names: AxisNames,
}

impl Default for AxisOptions {
    fn default() -> Self {
        let names = AxisNames::default();
        AxisOptions { packing: Packing::Auto, width: None, user: 1, flow: Flow::Fifo(None), names }
    }
}

/// Maximum width of `tdata` in bits and maximum FIFO depth in samples; a larger value is probably a mistake.
const LIMIT: u32 = 1 << 20;

/// Position of an element in a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Lowest bit in the sample.
    pub lsb: u32,
    /// Width in bits, including padding.
    pub width: u32,
}

/// One side of the wrapper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// Bits of `tdata`.
    pub data_width: u32,
    /// Number of beats of a sample.
    pub beats: u32,
    /// A slot for each element.
    pub slots: Vec<Slot>,
}

impl Stream {
    /// Returns the layout of an input stream with elements of these widths in bits.
    ///
    /// # Errors
    /// A diagnostic that names the command-line option of an unsupported request.
    pub fn from_inputs(widths: &[u32], options: &AxisOptions) -> Result<Stream, Diagnostic> {
        Stream::new("inputs", widths, options)
    }

    fn new(side: &str, widths: &[u32], options: &AxisOptions) -> Result<Stream, Diagnostic> {
        if let Some(width) = options.width.filter(|w| w % 8 != 0 || *w == 0 || *w > LIMIT) {
            let message = format!("{width} is not a width of tdata");
            return Err(Diagnostic::error("E0611", Place::Flag("--axis-width".into()), message)
                .with_help(format!("tdata has whole bytes: give a multiple of 8 up to {LIMIT}")));
        }
        let widest = widths.iter().max().copied().unwrap_or(0);
        let slot_width = match options.packing {
            Packing::Dense => None,
            Packing::Auto => {
                Some([8, 16, 32, 64].into_iter().find(|&w| w >= widest).unwrap_or(widest.next_multiple_of(64)))
            }
            Packing::Slot(width) if width >= widest => Some(width),
            Packing::Slot(width) => {
                let message = format!("{side} have elements of {widest} bits, which do not fit into {width}");
                return Err(Diagnostic::error("E0611", Place::Flag("--packing".into()), message)
                    .with_help("leave it out for the smallest slot that fits, or use `dense`"));
            }
        };
        let mut end: u64 = 0;
        let mut slots = Vec::with_capacity(widths.len());
        for &own in widths {
            let width = slot_width.unwrap_or(own);
            slots.push((end, width));
            end += u64::from(width);
        }
        let bits = u32::try_from(end.max(1).next_multiple_of(8)).ok().filter(|&bits| bits <= 64 * LIMIT);
        let Some(bits) = bits else {
            let message = format!("a sample of the {side} would have {end} bits");
            return Err(Diagnostic::error("E0611", Place::Flag("--wrapper".into()), message)
                .with_help("no stream carries that; write the model without a wrapper"));
        };
        let data_width = options.width.unwrap_or(bits);
        let slots = slots.into_iter().map(|(lsb, width)| Slot { lsb: lsb as u32, width }).collect();
        Ok(Stream { data_width, beats: bits.div_ceil(data_width), slots })
    }

    /// Returns the number of bits of all beats of a sample.
    pub fn sample_width(&self) -> u32 {
        self.data_width * self.beats
    }
}

/// AXI4-Stream wrapper of a core: its interface and the layout of its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Name of the module.
    pub top: String,
    /// Interface of the wrapped module.
    pub core: Interface,
    /// The input stream, `s_axis`.
    pub input: Stream,
    /// The output stream, `m_axis`.
    pub output: Stream,
    /// Bits of `tuser`.
    pub user: u32,
    /// Number of slots of the FIFO; `None` if the pipeline stalls.
    pub depth: Option<u32>,
    /// Names of the ports.
    pub names: AxisNames,
}

impl Axis {
    /// Returns a wrapper called `top` around `core`. The core must have packed ports, no valid flags and no reset. For
    /// [`Flow::Stall`] a core with registers must have an enable.
    ///
    /// # Errors
    /// A diagnostic that names the command-line option of an unsupported request.
    pub fn new(top: &str, core: &Interface, options: &AxisOptions) -> Result<Axis, Diagnostic> {
        let refuse = |flag: &str, message: String, help: &str| {
            Err(Diagnostic::error("E0611", Place::Flag(flag.into()), message).with_help(help))
        };
        if options.user > 4096 {
            return refuse("--axis-user", format!("{} bits of tuser are too many", options.user), "at most 4096");
        }
        let depth = match options.flow {
            Flow::Stall => None,
            Flow::Fifo(None) => None,
            Flow::Fifo(Some(depth)) if (1..=LIMIT).contains(&depth) => Some(depth),
            Flow::Fifo(Some(depth)) => {
                return refuse("--axis-depth", format!("a FIFO of {depth} samples"), "at least one, at most 1048576");
            }
        };
        if core.inputs.iter().chain(&core.outputs).all(|element| element.width == 0) {
            let help = "no stream can carry it; write the model without a wrapper";
            return refuse("--wrapper", "the inputs and outputs of the model have no bits".to_owned(), help);
        }
        let widths = |elements: &[Element]| elements.iter().map(|e| e.width).collect::<Vec<u32>>();
        let axis = Axis {
            top: top.to_owned(),
            core: core.clone(),
            input: Stream::from_inputs(&widths(&core.inputs), options)?,
            output: Stream::new("outputs", &widths(&core.outputs), options)?,
            user: options.user,
            depth,
            names: options.names.clone(),
        };
        let depth = if options.flow == Flow::Fifo(None) { Some(axis.full_rate_depth()) } else { depth };
        Ok(Axis { depth, ..axis })
    }

    /// Returns the number of FIFO slots for full throughput. A sample needs its credit from its first beat until one
    /// cycle after the last beat of the result, so the slots cover all samples that begin within this time.
    pub fn full_rate_depth(&self) -> u32 {
        let (interval, phases) = (self.initiation_interval(), self.core.initiation_interval);
        // A sample may wait for the core if the interval between samples is not a multiple of the core's interval.
        let wait = if interval.is_multiple_of(phases) { 0 } else { phases - 1 };
        (self.input.beats + self.before_fifo() + wait + self.output.beats).div_ceil(interval)
    }

    /// Returns `true` if the core has a `ready` output.
    fn is_gated(&self) -> bool {
        self.core.ready.is_some()
    }

    /// Returns `true` if each input beat enters the core when it arrives; beats are not gathered into a sample.
    fn passes_beats(&self) -> bool {
        self.core.input_beats > 1
    }

    /// Returns the number of cycles from the transfer of a sample's last beat into the core to the result.
    fn behind_last_beat(&self) -> u32 {
        self.core.latency - (self.core.input_beats - 1)
    }

    /// Returns `true` if an additional register stores a whole sample until the core accepts it, while the beats of the
    /// next sample arrive.
    fn keeps_sample(&self) -> bool {
        let (beats, interval) = (self.input.beats, self.core.initiation_interval);
        !self.passes_beats() && self.is_gated() && beats > interval && beats % interval != 0
    }

    /// Returns the line of the header comment that describes the wrapper. `prove` reads the first `latency N` of the
    /// header as the latency of the core, so this line is worded differently.
    pub fn description(&self, core_bits: u64) -> String {
        let Axis { top, .. } = self;
        let (latency, interval) = (self.latency(), self.interval_in_words());
        format!(
            "{top}: AXI4-Stream wrapper, {} from a sample to its result, a sample every {interval}, {}; it is the \
             last module, and what follows here is its core",
            counted(latency, "clock"),
            counted(self.register_bits() + core_bits, "register bit")
        )
    }

    /// Returns the initiation interval with its unit.
    pub fn interval_in_words(&self) -> String {
        match self.initiation_interval() {
            1 => "clock".to_owned(),
            interval => format!("{interval} clocks"),
        }
    }

    /// Returns the number of cycles from the acceptance of a sample's last beat to the first beat of its result,
    /// without backpressure.
    pub fn latency(&self) -> u32 {
        self.before_fifo() + u32::from(self.depth.is_some() || self.holds_result())
    }

    /// Returns the number of cycles from the acceptance of a sample's last beat to its result at the end of the core,
    /// without backpressure.
    fn before_fifo(&self) -> u32 {
        let gathers = self.input.beats > 1 && !self.passes_beats();
        self.behind_last_beat() + u32::from(gathers) + u32::from(self.keeps_sample())
    }

    /// Returns `true` if a result register follows a stalling pipeline. A sample of several beats enters the pipeline
    /// with gaps after it. The gaps close only if the pipeline advances while the beats of a result are sent. The next
    /// result is at most as many cycles away as a sample has beats, so it is never late. A pipeline that stalls while
    /// the beats of a result are sent needs no such register.
    fn holds_result(&self) -> bool {
        self.depth.is_none()
            && (self.passes_beats() || (self.output.beats > 1 && (self.input.beats > 1 || self.is_gated())))
    }

    /// Returns the number of cycles between two samples at full rate.
    pub fn initiation_interval(&self) -> u32 {
        self.input.beats.max(self.output.beats).max(self.core.initiation_interval)
    }

    /// Returns the register bits of the wrapper, without those of the core and of the FIFO's memory
    /// ([`Axis::memory_bits`]).
    pub fn register_bits(&self) -> u64 {
        let (flags, beats) = (1 + self.user, self.input.beats);
        let line = u64::from(self.behind_last_beat()) * u64::from(1 + flags);
        let sample = self.core_in_width() + flags + 1;
        let input = match (self.passes_beats(), beats > 1) {
            (true, _) => counter_width(beats) + 1 + self.user,
            (false, true) => counter_width(beats) + sample * if self.keeps_sample() { 2 } else { 1 },
            (false, false) => 0,
        };
        let result = match self.depth {
            Some(depth) => 2 * (counter_width(depth) + counter_width(depth + 1)),
            None if self.holds_result() => self.core_out_width() + flags + 1,
            None => 0,
        };
        let output = if self.output.beats > 1 { counter_width(self.output.beats) } else { 0 };
        line + [input, result, output].map(u64::from).iter().sum::<u64>()
    }

    /// Returns the bits of the FIFO's memory, which has an asynchronous read: distributed RAM if the device has it.
    pub fn memory_bits(&self) -> u64 {
        u64::from(self.depth.unwrap_or(0)) * u64::from(self.core_out_width() + 1 + self.user)
    }

    /// Returns the number of LUTs of the FIFO's memory. Four LUTs store 6 bits of 32 words, as the primitive RAM32M
    /// does.
    pub fn memory_luts(&self) -> u64 {
        let word = u64::from(self.core_out_width() + 1 + self.user);
        self.depth.map_or(0, |depth| u64::from(depth.div_ceil(32)) * word.div_ceil(6) * 4)
    }

    /// Returns the ports of the wrapper in the order of their declaration: name, direction, and width of a vector.
    pub fn ports(&self) -> Vec<(String, Direction, Option<u32>)> {
        let names = &self.names;
        let mut ports = vec![(names.clock.clone(), Direction::In, None), (names.reset.clone(), Direction::In, None)];
        let sides = [(&names.input, &self.input, Direction::In), (&names.output, &self.output, Direction::Out)];
        for (prefix, stream, forward) in sides {
            let back = if forward == Direction::In { Direction::Out } else { Direction::In };
            let mut add = |signal: &str, direction, width| ports.push((format!("{prefix}_{signal}"), direction, width));
            add("tdata", forward, Some(stream.data_width));
            add("tvalid", forward, None);
            add("tready", back, None);
            add("tlast", forward, None);
            if self.user > 0 {
                add("tuser", forward, Some(self.user));
            }
        }
        ports
    }

    /// Returns the elements of the inputs and outputs on `tdata`: the beat and the bit at which each begins, and its
    /// type.
    pub fn elements(&self) -> (Vec<Element>, Vec<Element>) {
        let on = |prefix: &str, stream: &Stream, elements: &[Element]| {
            let port = format!("{prefix}_tdata");
            let place = |(element, slot): (&Element, &Slot)| Element {
                port: if element.width > 0 { port.clone() } else { String::new() },
                lsb: slot.lsb % stream.data_width,
                beat: slot.lsb / stream.data_width,
                ..element.clone()
            };
            elements.iter().zip(&stream.slots).map(place).collect()
        };
        let names = &self.names;
        (on(&names.input, &self.input, &self.core.inputs), on(&names.output, &self.output, &self.core.outputs))
    }

    /// Returns the HDL source of the wrapper. In the file it follows the source of the core.
    pub fn text(&self, language: Language) -> String {
        match language {
            Language::Verilog | Language::SystemVerilog => verilog::text(self, language == Language::SystemVerilog),
            Language::Vhdl => vhdl::text(self),
        }
    }

    /// Returns the width of the core's packed input in bits.
    fn core_in_width(&self) -> u32 {
        match self.passes_beats() {
            true => self.core.inputs.iter().filter(|e| e.width > 0).map(|e| e.lsb + e.width).max().unwrap_or(0),
            false => self.core.inputs.iter().map(|e| e.width).sum(),
        }
    }

    /// Returns the width of the core's packed output in bits.
    fn core_out_width(&self) -> u32 {
        self.core.outputs.iter().map(|e| e.width).sum()
    }

    /// Returns the name of the core's input port, or `None` if the port has no bits.
    fn input_port(&self) -> Option<&str> {
        self.core.inputs.iter().find(|e| e.width > 0).map(|e| e.port.as_str())
    }

    /// Returns the name of the core's output port, or `None` if the port has no bits.
    fn output_port(&self) -> Option<&str> {
        self.core.outputs.iter().find(|e| e.width > 0).map(|e| e.port.as_str())
    }

    /// Returns the runs of bits that are copied to the core from the sample or from one of its beats. Neighbouring runs
    /// are joined.
    fn input_runs(&self) -> Vec<Run> {
        if self.passes_beats() {
            return self.beat_runs();
        }
        let pairs = self.core.inputs.iter().zip(&self.input.slots);
        joined(pairs.filter(|(e, _)| e.width > 0).map(|(e, slot)| Run {
            sample: slot.lsb,
            core: e.lsb,
            width: e.width,
            pad: 0,
            signed: false,
        }))
    }

    /// Returns the runs of bits that are copied from a beat to the core's port. Several elements may use the same bit
    /// of the port; each bit of the port is connected to one bit of the beat.
    fn beat_runs(&self) -> Vec<Run> {
        let pairs = self.core.inputs.iter().zip(&self.input.slots).filter(|(e, _)| e.width > 0);
        let bits = pairs.flat_map(|(e, slot)| (0..e.width).map(move |bit| (e.lsb + bit, slot.lsb + bit)));
        let mut bits: Vec<(u32, u32)> = bits.map(|(core, sample)| (core, sample % self.input.data_width)).collect();
        bits.sort_unstable();
        bits.dedup();
        joined(bits.into_iter().map(|(core, sample)| Run { sample, core, width: 1, pad: 0, signed: false }))
    }

    /// Returns the runs of bits that are copied from the core to the sample, with padding. Neighbouring runs without
    /// padding are joined.
    fn output_runs(&self) -> Vec<Run> {
        let pairs = self.core.outputs.iter().zip(&self.output.slots);
        let runs = pairs.filter(|(_, slot)| slot.width > 0).map(|(e, slot)| Run {
            sample: slot.lsb,
            core: e.lsb,
            width: e.width,
            pad: slot.width - e.width,
            signed: e.signed && e.width > 0,
        });
        joined(runs)
    }

    /// Returns `true` if an input sample has unread bits.
    fn has_unread_input(&self) -> bool {
        let whole = if self.passes_beats() { self.input.data_width } else { self.input.sample_width() };
        self.input_runs().iter().map(|run| run.width).sum::<u32>() < whole
    }

    /// Returns the first bit of an output sample after the last slot.
    fn output_end(&self) -> u32 {
        self.output.slots.iter().map(|slot| slot.lsb + slot.width).max().unwrap_or(0)
    }

    /// Returns the lines of the wrapper's header comment that describe the layout.
    fn about(&self) -> Vec<String> {
        let side = |name: &str, stream: &Stream, elements: &[Element]| {
            let beats = match stream.beats {
                1 => "one transfer per sample".to_owned(),
                n => format!("{n} transfers per sample, low bytes first"),
            };
            let mut lines = vec![format!("{name}: tdata of {} bits, {beats}", stream.data_width)];
            for (element, slot) in elements.iter().zip(&stream.slots).filter(|(_, slot)| slot.width > 0) {
                let kind = match element.width {
                    0 => "always 0".to_owned(),
                    _ => element.kif().to_string(),
                };
                let (high, low) = (slot.lsb + slot.width - 1, slot.lsb);
                lines.push(format!("  {}: bits {high}:{low} of the sample, {kind}", element.name));
            }
            lines
        };
        let mut lines = vec![format!("{}: {} with AXI4-Stream ports", self.top, self.core.top)];
        if let (Some(_), interval) = (&self.core.ready, self.core.initiation_interval) {
            lines.push(format!("the core accepts a sample every {interval} clocks"));
        }
        if self.passes_beats() {
            lines.push("transfers enter the core as they arrive, and it waits where one is missing".to_owned());
        }
        let samples = |depth| counted(depth, "sample");
        lines.push(match (self.depth, self.passes_beats()) {
            (Some(depth), false) => format!("results wait in a FIFO of {}; the pipeline never stops", samples(depth)),
            (Some(depth), true) => format!("results wait in a FIFO of {}", samples(depth)),
            (None, _) => format!("the pipeline waits while {}_tready is low", self.names.output),
        });
        lines.extend(side(&self.names.input, &self.input, &self.core.inputs));
        lines.extend(side(&self.names.output, &self.output, &self.core.outputs));
        lines
    }
}

/// Bits that are copied between a sample and a port of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// Lowest bit in the sample.
    sample: u32,
    /// Lowest bit on the core's port.
    core: u32,
    /// Bits copied.
    width: u32,
    /// Number of padding bits in the sample above the run.
    pad: u32,
    /// `true` if the padding repeats the highest bit.
    signed: bool,
}

fn joined(runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for run in runs {
        match all.last_mut() {
            Some(last)
                if last.pad == 0
                    && last.sample + last.width == run.sample
                    && last.core + last.width == run.core
                    && run.pad == 0 =>
            {
                last.width += run.width;
            }
            _ => all.push(run),
        }
    }
    all
}

/// Returns the width of a counter with `values` values, at least 1.
fn counter_width(values: u32) -> u32 {
    (u32::BITS - values.saturating_sub(1).leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(lsb: u32, width: u32, signed: bool) -> Element {
        let port = if width > 0 { "model_inp" } else { "" };
        Element { port: port.into(), lsb, width, signed, fractionals: 0, name: "e".into(), beat: 0 }
    }

    fn core(elements: Vec<Element>) -> Interface {
        let clock = Some("clk".into());
        Interface { latency: 3, clock, ..Interface::plain("m_core", elements.clone(), elements) }
    }

    fn axis(options: AxisOptions) -> Result<Axis, Diagnostic> {
        Axis::new("m", &core(vec![element(0, 3, true), element(3, 0, false), element(3, 12, false)]), &options)
    }

    #[test]
    fn every_element_has_a_slot_as_an_array_has_it() {
        let a = axis(AxisOptions::default()).unwrap();
        let places: Vec<(u32, u32)> = a.input.slots.iter().map(|s| (s.lsb, s.width)).collect();
        assert_eq!(places, [(0, 16), (16, 16), (32, 16)]);
        assert_eq!((a.input.data_width, a.input.beats, a.depth), (48, 1, Some(5)));
        assert!(a.has_unread_input());
    }

    #[test]
    fn dense_packing_pads_only_the_end() {
        let a = axis(AxisOptions { packing: Packing::Dense, width: Some(8), ..AxisOptions::default() }).unwrap();
        assert_eq!((a.input.data_width, a.input.beats, a.input.sample_width()), (8, 2, 16));
        assert_eq!(a.input_runs(), [Run { sample: 0, core: 0, width: 15, pad: 0, signed: false }]);
        assert!(a.has_unread_input());
    }

    #[test]
    fn what_cannot_be_built_is_refused_with_its_option() {
        let flag = |options| axis(options).unwrap_err().to_string();
        assert!(flag(AxisOptions { packing: Packing::Slot(8), ..AxisOptions::default() }).contains("--packing"));
        assert!(flag(AxisOptions { width: Some(12), ..AxisOptions::default() }).contains("--axis-width"));
        assert!(flag(AxisOptions { flow: Flow::Fifo(Some(0)), ..AxisOptions::default() }).contains("--axis-depth"));
        assert!(flag(AxisOptions { user: 5000, ..AxisOptions::default() }).contains("--axis-user"));
    }

    /// Checks that every name declared in the templates, in any configuration, is in the list of names that a clock
    /// cannot have.
    #[test]
    fn a_clock_has_no_name_of_a_signal() {
        let verilog = include_str!("../../../../../templates/wrapper/axis.v");
        let vhdl = include_str!("../../../../../templates/wrapper/axis.vhd");
        let words = ["wire", "{{ w.reg }}", "signal", "type", "subtype"];
        let mut declared = Vec::new();
        for line in verilog.lines().chain(vhdl.lines()).map(str::trim_start) {
            let Some(rest) = words.iter().find_map(|word| line.strip_prefix(word)?.strip_prefix(' ')) else { continue };
            let plain = rest.replace("{% if v.stall %}", "").replace("{% endif %}", "");
            let own = plain.split([';', '=', ':', '[']).next().unwrap_or_default();
            let own = own.split(" is ").next().and_then(|own| own.rsplit("}}").next()).unwrap_or_default();
            declared.extend(own.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
        assert!(declared.len() > 60, "{declared:?}");
        for name in &declared {
            let names = AxisNames { reset: name.to_uppercase(), ..AxisNames::default() };
            let problems = names.check("m", Languages::BOTH).unwrap_err();
            assert_eq!(problems[0].place, Place::Flag("--port rst".into()), "{name}: {problems:?}");
        }
    }

    #[test]
    fn names_of_ports_differ_and_are_legal() {
        let check = |clock: &str, input: &str, output: &str| {
            let [clock, input, output] = [clock, input, output].map(str::to_owned);
            let names = AxisNames { clock, input, output, ..AxisNames::default() };
            let problems = names.check("m", Languages::BOTH).err().unwrap_or_default();
            problems.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(check("clk", "rx", "tx"), [""; 0]);
        for (clock, input, output, flag) in [
            ("aclk", "rx", "RX", "--port out"),
            ("aclk", "rx_", "tx", "--port in"),
            ("rx_tready", "rx", "tx", "--port in"),
            ("m_axis_tuser", "rx", "m_axis", "--port clk"),
            ("ARESETN", "rx", "tx", "--port clk"),
            ("m", "rx", "tx", "--port clk"),
            ("signal", "rx", "tx", "--port clk"),
            ("sample", "rx", "tx", "--port clk"),
        ] {
            let problems = check(clock, input, output);
            assert!(problems.len() == 1 && problems[0].contains(flag), "{clock} {input} {output}: {problems:?}");
        }
    }

    #[test]
    fn counters_have_room() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(counter_width), [1, 1, 2, 2, 3, 3, 4]);
    }
}
