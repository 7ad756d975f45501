//! The interface of a module for programs (`--interface out.json`).

use super::Language;
use super::axis::{Axis, Stream};
use crate::netlist::{Direction, Element, Netlist};
use serde::Serialize;
use std::borrow::Cow;

/// A pipeline stage in figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageFacts {
    /// Longest path of the stage, in [`StageDelays::unit`].
    pub delay: f64,
    /// Bits of the registers that end it.
    pub register_bits: u64,
}

/// Delays of the stages, from stage 1. A module that counts clocks has one stage: all paths between its registers.
#[derive(Clone, Debug, PartialEq)]
pub struct StageDelays {
    /// Delays.
    pub delays: Vec<f64>,
    /// Their unit.
    pub unit: &'static str,
}

/// Everything that a program needs to know to use a module.
#[derive(Clone, Debug, Serialize)]
pub struct Sidecar<'a> {
    schema: &'static str,
    generator: &'static str,
    version: &'static str,
    model_checksum: String,
    top: &'a str,
    language: &'static str,
    /// Nothing for a state machine, which has no one latency.
    latency: Option<u32>,
    initiation_interval: u32,
    register_bits: u64,
    input_register_bits: u64,
    /// Unit of `stages[].delay`.
    delay_unit: &'static str,
    stages: Vec<StageFacts>,
    output_register_bits: u64,
    clock: Option<&'a str>,
    reset: Option<ResetPort<'a>>,
    enable: Option<&'a str>,
    valid: Option<ValidPorts<'a>>,
    /// The port that says when a sample is taken, and for how many clocks a result stays: of a module that does not
    /// take one every clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<u32>,
    /// For how many clocks an input must stay, where that is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_hold: Option<u32>,
    /// Number of cycles that a sample takes at the ports, if not one; elements state in which cycles they are valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_beats: Option<u32>,
    ports: Vec<PortFacts<'a>>,
    inputs: Cow<'a, [Element]>,
    outputs: Cow<'a, [Element]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axis: Option<AxisFacts<'a>>,
    /// The module inside a wrapper.
    #[serde(skip_serializing_if = "Option::is_none")]
    core: Option<CoreFacts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<MachineFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reuse: Option<ReuseFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<serde_json::Value>,
}

/// The wrapper around the module.
#[derive(Clone, Debug, Serialize)]
struct AxisFacts<'a> {
    top: &'a str,
    latency: u32,
    initiation_interval: u32,
    fifo_depth: Option<u32>,
    /// Bits of the FIFO's memory, which is not among the registers.
    fifo_bits: u64,
    /// Register bits of the wrapper alone.
    register_bits: u64,
    tuser_width: u32,
    s_axis: &'a Stream,
    m_axis: &'a Stream,
}

/// The pipeline inside a wrapper: its own module, with its own ports.
#[derive(Clone, Debug, Serialize)]
struct CoreFacts<'a> {
    top: &'a str,
    latency: Option<u32>,
    initiation_interval: u32,
    register_bits: u64,
    clock: Option<&'a str>,
    enable: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_beats: Option<u32>,
    ports: Vec<PortFacts<'a>>,
    inputs: Cow<'a, [Element]>,
    outputs: Cow<'a, [Element]>,
}

/// Which parts of the program share hardware.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseFacts {
    /// Kind of sharing: equal parts share functional units (`fold`), bit-serial arithmetic (`serial`), or both
    /// (`mixed`).
    pub engine: &'static str,
    /// Bits of each value that go through in a clock; of `serial`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_per_clock: Option<u32>,
    /// Logic in parts that share hardware, as it is estimated, in per cent; of equal parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_percent: Option<f64>,
    /// The groups of equal parts; a part without an equal one is a group of one instance.
    pub groups: Vec<ReuseGroup>,
    /// Bit-serial parts, for `mixed`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<ReuseRegion>,
}

/// Equal parts of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseGroup {
    /// Number of equal parts.
    pub instances: usize,
    /// Number of functional units that compute them.
    pub copies: u32,
    /// Operations of one.
    pub operations: usize,
    /// Bits that one reads.
    pub input_bits: u64,
    /// Bits that one gives.
    pub output_bits: u64,
    /// Clocks from what it reads to what it gives.
    pub clocks: u32,
}

/// A bit-serial part of a program next to equal parts that share functional units.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseRegion {
    /// Bits of each value that go through in a clock.
    pub bits_per_clock: u32,
    /// Its operations.
    pub operations: usize,
    /// Bits that it reads.
    pub input_bits: u64,
    /// Bits that it gives.
    pub output_bits: u64,
    /// Clocks from the first that it reads to what it gives.
    pub clocks: u32,
}

/// Data that only a state machine has.
#[derive(Clone, Debug, Serialize)]
pub struct MachineFacts {
    /// Bits of the registers that the file declares.
    pub register_bits_in_file: u64,
    /// The registers of the RTL.
    pub registers: Vec<RegisterFacts>,
    /// When ports mean something, where the file says so.
    pub schedules: Vec<ScheduleFacts>,
    /// Pipelines inside, and whether their registers were moved.
    pub pipelines: Vec<crate::retime::RetimedPipeline>,
}

/// A register of the RTL.
#[derive(Clone, Debug, Serialize)]
pub struct RegisterFacts {
    /// Its name.
    pub name: String,
    /// Its bits.
    pub width: u32,
    /// Stored value: signal, element and type of the file.
    pub holds: String,
}

/// A modulo schedule: in each period a signal is valid from the first to before the second toggle, and so on.
#[derive(Clone, Debug, Serialize)]
pub struct ScheduleFacts {
    /// The file's name of the signal.
    pub signal: String,
    /// Cycles at which it becomes valid and invalid.
    pub toggles: Vec<i64>,
    /// Cycles after which it starts again; 0: it is always valid.
    pub period: i64,
}

#[derive(Clone, Debug, Serialize)]
struct ResetPort<'a> {
    port: &'a str,
    active_high: bool,
    asynchronous: bool,
}

#[derive(Clone, Debug, Serialize)]
struct ValidPorts<'a> {
    input: &'a str,
    output: &'a str,
}

#[derive(Clone, Debug, Serialize)]
struct PortFacts<'a> {
    name: Cow<'a, str>,
    direction: Direction,
    width: u32,
}

impl<'a> Sidecar<'a> {
    /// The facts of `netlist`, written in `languages`; `model_checksum` is passed on.
    pub fn new(
        netlist: &'a Netlist,
        languages: &[Language],
        StageDelays { delays, unit }: &StageDelays,
        model_checksum: String,
    ) -> Sidecar<'a> {
        let interface = &netlist.interface;
        let mut bits = netlist.stage_register_bits();
        if interface.counts_clocks() {
            let outputs = netlist.output_register_bits();
            bits = vec![0, netlist.register_bits() - outputs, outputs];
        }
        let after = |stage: usize| bits.get(stage).copied().unwrap_or(0);
        Sidecar {
            schema: "alir2hdl.interface/1",
            generator: "alir2hdl",
            version: env!("CARGO_PKG_VERSION"),
            model_checksum,
            top: &interface.top,
            language: match languages {
                [one] => one.name(),
                _ => "both",
            },
            latency: (!interface.stateful).then_some(interface.latency),
            initiation_interval: interface.initiation_interval,
            register_bits: netlist.register_bits(),
            input_register_bits: after(0),
            delay_unit: unit,
            stages: (1..)
                .zip(delays)
                .map(|(stage, &delay)| StageFacts { delay, register_bits: after(stage) })
                .collect(),
            output_register_bits: after(delays.len() + 1),
            clock: interface.clock.as_deref(),
            reset: interface.reset.as_deref().map(|port| ResetPort {
                port,
                active_high: interface.reset_active_high,
                asynchronous: interface.reset_async,
            }),
            enable: interface.enable.as_deref(),
            valid: interface.valid.as_ref().map(|(input, output)| ValidPorts { input, output }),
            ready: interface.ready.as_deref(),
            hold: interface.ready.as_ref().map(|_| interface.initiation_interval),
            input_hold: (interface.input_hold > 1).then_some(interface.input_hold),
            input_beats: (interface.input_beats > 1).then_some(interface.input_beats),
            ports: netlist
                .ports()
                .iter()
                .map(|port| PortFacts { name: port.name.as_str().into(), direction: port.direction, width: port.width })
                .collect(),
            inputs: interface.inputs.as_slice().into(),
            outputs: interface.outputs.as_slice().into(),
            axis: None,
            core: None,
            machine: None,
            reuse: None,
            network: None,
        }
    }

    /// Wraps the module: the document describes the wrapper, which a design instantiates, and `core` what is inside.
    #[must_use]
    pub fn with_axis(self, axis: Option<&'a Axis>) -> Sidecar<'a> {
        let Some(axis) = axis else { return self };
        let port = |(name, direction, width): (String, _, Option<u32>)| PortFacts {
            name: name.into(),
            direction,
            width: width.unwrap_or(1),
        };
        let (inputs, outputs) = axis.elements();
        let beats = axis.input.beats;
        Sidecar {
            top: &axis.top,
            latency: Some(axis.latency()),
            initiation_interval: axis.initiation_interval(),
            register_bits: self.register_bits + axis.register_bits(),
            clock: Some(&axis.names.clock),
            reset: Some(ResetPort { port: &axis.names.reset, active_high: false, asynchronous: false }),
            enable: None,
            valid: None,
            ready: None,
            hold: None,
            input_hold: None,
            input_beats: (beats > 1).then_some(beats),
            ports: axis.ports().into_iter().map(port).collect(),
            inputs: inputs.into(),
            outputs: outputs.into(),
            axis: Some(AxisFacts {
                top: &axis.top,
                latency: axis.latency(),
                initiation_interval: axis.initiation_interval(),
                fifo_depth: axis.depth,
                fifo_bits: axis.memory_bits(),
                register_bits: axis.register_bits(),
                tuser_width: axis.user,
                s_axis: &axis.input,
                m_axis: &axis.output,
            }),
            core: Some(CoreFacts {
                top: self.top,
                latency: self.latency,
                initiation_interval: self.initiation_interval,
                register_bits: self.register_bits,
                clock: self.clock,
                enable: self.enable,
                ready: self.ready,
                hold: self.hold,
                input_beats: self.input_beats,
                ports: self.ports,
                inputs: self.inputs,
                outputs: self.outputs,
            }),
            ..self
        }
    }

    /// Adds the data of a state machine.
    #[must_use]
    pub fn with_machine(self, machine: Option<MachineFacts>) -> Sidecar<'a> {
        Sidecar { machine, ..self }
    }

    /// Adds the data of shared hardware.
    #[must_use]
    pub fn with_reuse(self, reuse: Option<ReuseFacts>) -> Sidecar<'a> {
        Sidecar { reuse, ..self }
    }

    /// Adds the semantics of the values at a network's ports.
    #[must_use]
    pub fn with_network(self, network: Option<serde_json::Value>) -> Sidecar<'a> {
        Sidecar { network, ..self }
    }

    /// The facts as JSON, readable, with a newline at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }
}
