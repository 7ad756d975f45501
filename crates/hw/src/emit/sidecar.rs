//! Machine-readable description of a module's interface (`--interface out.json`).

use super::Language;
use super::axis::{Axis, Stream};
use crate::netlist::{Direction, Element, Netlist};
use serde::Serialize;
use std::borrow::Cow;

/// Delay and register bits of a pipeline stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageFacts {
    /// Delay of the longest path of the stage, in [`StageDelays::unit`].
    pub delay: f64,
    /// Bits of the registers at the end of the stage.
    pub register_bits: u64,
}

/// Delays of the stages, from stage 1. A module with a cycle counter has one stage with all paths between registers.
#[derive(Clone, Debug, PartialEq)]
pub struct StageDelays {
    /// Delay of each stage.
    pub delays: Vec<f64>,
    /// Unit of the delays.
    pub unit: &'static str,
}

/// Description of a module for programs that instantiate it.
#[derive(Clone, Debug, Serialize)]
pub struct Sidecar<'a> {
    schema: &'static str,
    generator: &'static str,
    version: &'static str,
    model_checksum: String,
    top: &'a str,
    language: &'static str,
    /// `None` for a stateful design, which has no single latency.
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
    /// Name of the port that is 1 in cycles in which a sample is accepted. `None` if the module accepts a sample in
    /// every cycle. `hold` is the number of cycles for which a result is stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<u32>,
    /// Number of cycles for which an input must be stable, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_hold: Option<u32>,
    /// Number of cycles in which the ports carry a sample, if not one; each element states the cycle in which it is
    /// valid.
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

/// Description of the wrapper around the module.
#[derive(Clone, Debug, Serialize)]
struct AxisFacts<'a> {
    top: &'a str,
    latency: u32,
    initiation_interval: u32,
    fifo_depth: Option<u32>,
    /// Bits of the FIFO's memory, which is not included in the register bits.
    fifo_bits: u64,
    /// Register bits of the wrapper, without those of the core.
    register_bits: u64,
    tuser_width: u32,
    s_axis: &'a Stream,
    m_axis: &'a Stream,
}

/// Description of the core inside a wrapper: a separate module with its own ports.
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

/// Parts of the model that share hardware.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseFacts {
    /// Kind of sharing: equal parts share functional units (`fold`), bit-serial arithmetic (`serial`), or both
    /// (`mixed`).
    pub engine: &'static str,
    /// For `serial`: number of bits of each value that are processed per cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_per_clock: Option<u32>,
    /// For equal parts: estimated percentage of the logic that is in parts that share hardware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_percent: Option<f64>,
    /// Groups of equal parts; a part without an equal one is a group of one instance.
    pub groups: Vec<ReuseGroup>,
    /// Bit-serial parts, for `mixed`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<ReuseRegion>,
}

/// Group of equal parts of a model.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseGroup {
    /// Number of equal parts.
    pub instances: usize,
    /// Number of functional units that compute them.
    pub copies: u32,
    /// Number of operations of one instance.
    pub operations: usize,
    /// Number of input bits of one instance.
    pub input_bits: u64,
    /// Number of output bits of one instance.
    pub output_bits: u64,
    /// Number of cycles from the inputs of one instance to its outputs.
    pub clocks: u32,
}

/// A bit-serial part of a model in which other parts share functional units.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseRegion {
    /// Number of bits of each value that are processed per cycle.
    pub bits_per_clock: u32,
    /// Number of operations of the part.
    pub operations: usize,
    /// Number of input bits of the part.
    pub input_bits: u64,
    /// Number of output bits of the part.
    pub output_bits: u64,
    /// Number of cycles from the first input of the part to its output.
    pub clocks: u32,
}

/// Data of a stateful design only.
#[derive(Clone, Debug, Serialize)]
pub struct MachineFacts {
    /// Bits of the registers that the source file declares.
    pub register_bits_in_file: u64,
    /// The registers of the RTL.
    pub registers: Vec<RegisterFacts>,
    /// Cycles in which ports are valid, if the source file declares them.
    pub schedules: Vec<ScheduleFacts>,
    /// Pipelines within the design; each states whether its registers were moved.
    pub pipelines: Vec<crate::retime::RetimedPipeline>,
}

/// A register of the RTL.
#[derive(Clone, Debug, Serialize)]
pub struct RegisterFacts {
    /// Name of the register.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// Stored value: signal, element and type in the source file.
    pub holds: String,
}

/// Modulo schedule of a signal. In each period the signal is valid from the first toggle to the cycle before the
/// second, from the third to the cycle before the fourth, and so on.
#[derive(Clone, Debug, Serialize)]
pub struct ScheduleFacts {
    /// Name of the signal in the source file.
    pub signal: String,
    /// Cycles at which the signal becomes valid and invalid, alternately.
    pub toggles: Vec<i64>,
    /// Number of cycles of a period; 0 if the signal is always valid.
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
    /// Returns the description of `netlist`, written in `languages`. `model_checksum` is copied into the description.
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

    /// Adds a wrapper: the description is then that of the wrapper, which a design instantiates, and `core` describes
    /// the module inside.
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

    /// Adds the data of a stateful design.
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

    /// Returns the description as indented JSON with a newline at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }
}
