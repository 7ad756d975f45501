//! Drawing of a program, with a column for each stage or cycle.

use super::drawing::{Column, Declarations, Drawing, Node, Observed};
use alir_core::ir::{Layers, Model, ValueId};
use alir_hw::reuse::serial::{self, Graph};
use alir_hw::reuse::{self, Placement, Plan};
use alir_interp::samples::{Port, Values};
use alir_interp::{LookupMiss, Step, batch, golden_steps, meaning};
use alir_opt::schedule::{self, Delay};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;

/// A program with its pipeline.
pub struct ScheduledModel<'a> {
    /// Program that is lowered.
    pub model: &'a Model,
    /// Delay of each operation.
    pub delay: &'a dyn Delay,
    /// Stage of each operation.
    pub stage: &'a [u32],
    /// Number of stages; 0 for logic without registers.
    pub stages: u32,
    /// Delay of the longest path of each stage, from stage 1.
    pub stage_delays: &'a [f64],
    /// Register bits after each stage, from stage 1.
    pub register_bits: &'a [u64],
    /// Longest path of each stage, with arrival times and slacks.
    pub view: &'a schedule::ScheduleView,
    /// Verilog source.
    pub rtl: &'a str,
    /// Unit of the delays.
    pub unit: &'static str,
    /// Layers of the network, or stages of the file, by the operations of the program as it was read.
    pub layers: &'a Layers,
}

/// Returns the names of the operations in the generated RTL, with a prefix.
fn names(model: &Model, prefix: &str) -> Vec<String> {
    let mut seen: FxHashMap<u32, u32> = FxHashMap::default();
    let name = |id: ValueId| {
        let origin = model.node(id).origin;
        let before = seen.entry(origin).or_insert(0);
        *before += 1;
        if *before == 1 { format!("{prefix}v{origin}") } else { format!("{prefix}v{origin}.{before}") }
    };
    model.ids().map(name).collect()
}

/// Returns a box for each operation of a program, numbered from `first`.
pub(super) fn nodes(
    model: &Model,
    prefix: &str,
    first: u32,
    delay: &dyn Delay,
    declared: &Declarations<'_>,
    column: impl Fn(ValueId) -> u32,
) -> Vec<Node> {
    let names = names(model, prefix);
    let name = |v: ValueId| names[v.index()].clone();
    let kifs = model.kifs();
    let node = |id: ValueId| {
        let node = model.node(id);
        let mut operands = Vec::new();
        node.op.for_each_operand(|v| operands.push(first + v.0));
        Node {
            kind: node.op.name(),
            name: name(id),
            column: column(id),
            port: Port { kif: kifs[id.index()], frac: i64::from(node.interval.frac) },
            range: (node.interval.min.to_big(), node.interval.max.to_big()),
            delay: delay.own_delay(model, id),
            meaning: meaning(model, &node.op, &name),
            line: declared.named(&names[id.index()]),
            operands,
            layer: None,
        }
    };
    model.ids().map(node).collect()
}

impl Drawing {
    /// Returns the drawing of a program.
    pub fn from_scheduled(pipeline: &ScheduledModel<'_>) -> Drawing {
        let model = pipeline.model;
        let declared = Declarations::new(pipeline.rtl);
        let stage = |k: u32| Column {
            title: match (pipeline.stages, k) {
                (0, _) => "logic".to_owned(),
                (_, 0) => "inputs".to_owned(),
                _ => format!("stage {k}"),
            },
            short: if pipeline.stages > 0 { k.to_string() } else { "no registers".to_owned() },
            delay: pipeline.stage_delays.get((k as usize).wrapping_sub(1)).copied(),
            register_bits: pipeline.register_bits.get((k as usize).wrapping_sub(1)).copied().unwrap_or(0),
        };
        let last = pipeline.stage.iter().copied().max().unwrap_or(0).max(pipeline.stage_delays.len() as u32);
        let paths = pipeline.view.stages.iter().map(|stage| -> Vec<u32> {
            let ops = stage.path.iter().filter_map(|step| match step.what {
                schedule::PathElement::Op(id) => Some(id.0),
                _ => None,
            });
            ops.collect()
        });
        let outputs = (0..).zip(model.outputs()).map(|(j, o): (usize, _)| (format!("out[{j}]"), o.source.map(|v| v.0)));
        // Columns before the first stage have no path.
        let without = (last as usize + 1).saturating_sub(pipeline.view.stages.len());
        let mut nodes = nodes(model, "", 0, pipeline.delay, &declared, |id| pipeline.stage[id.index()]);
        for (node, drawn) in model.nodes().iter().zip(&mut nodes) {
            drawn.layer = pipeline.layers.layer(node.origin as usize);
        }
        Drawing {
            nodes,
            columns: (0..=last).map(stage).collect(),
            has_registers: pipeline.stages > 0,
            has_loops: false,
            unit: pipeline.unit,
            layers: pipeline.layers.names().to_vec(),
            origin: "the inputs",
            paths: std::iter::repeat_n(Vec::new(), without).chain(paths).collect(),
            times: Some((pipeline.view.arrivals.clone(), pipeline.view.slacks.clone())),
            outputs: outputs.collect(),
            observed: None,
        }
    }

    /// Returns the drawing of a program with resource sharing: a column for each cycle of a sample in which a value is
    /// computed. The description of a box states its group and its unit.
    pub fn from_plan(model: &Model, plan: &Plan, delay: &dyn Delay, unit: &'static str, layers: &Layers) -> Drawing {
        let placed = reuse::placements(model, plan);
        let mut clocks: Vec<u32> = placed.iter().flatten().map(Placement::clock).collect();
        clocks.sort_unstable();
        clocks.dedup();
        let place = |clock: u32| clocks.partition_point(|&c| c < clock) as u32 + 1;
        // Inputs, constants and wires that depend on them alone are placed before the first cycle.
        let column = |id: ValueId| placed[id.index()].map_or(0, |p| place(p.clock()));
        let declared = Declarations::new("");
        let mut nodes = nodes(model, "", 0, delay, &declared, column);
        for ((node, drawn), placed) in model.nodes().iter().zip(&mut nodes).zip(&placed) {
            drawn.layer = layers.layer(node.origin as usize);
            match placed {
                Some(Placement::Unit { group, instance, unit, clock }) => {
                    let alone = plan.groups[*group].instances.len() == 1;
                    let who = if alone { "made by itself".into() } else { format!("unit {unit}, block {instance}") };
                    let phase = clock % plan.interval;
                    drawn.meaning.push_str(&format!("; group {group}, {who}, clock {clock}, phase {phase}"));
                }
                Some(Placement::Streams { region, clock, last }) => {
                    drawn.meaning.push_str(&format!("; region {region}, bit by bit in clocks {clock} to {last}"));
                }
                None => {}
            }
        }
        Drawing::by_clock(model, nodes, &clocks, plan.interval, unit, layers)
    }

    /// Returns the drawing of a bit-serial program: a column for each cycle in which bit streams begin. The description
    /// of a box states the cycles in which its bits are valid.
    pub fn from_streams(
        model: &Model,
        (graph, plan): (&Graph, &serial::Plan),
        delay: &dyn Delay,
        unit: &'static str,
        layers: &Layers,
    ) -> Drawing {
        // Wires are placed next to their operands. Inputs, constants and wires that depend on them alone are placed
        // before the first cycle.
        let mut begins: Vec<u32> = vec![0; model.nodes().len()];
        let mut shown = vec![None; model.nodes().len()];
        for id in model.ids() {
            shown[id.index()] = graph.of[id.index()].and_then(|node| serial::clocks(graph, plan, node));
            begins[id.index()] = match shown[id.index()] {
                Some([first, _]) => first.max(1),
                None => {
                    let mut latest = 0;
                    model.node(id).op.for_each_operand(|v| latest = latest.max(begins[v.index()]));
                    latest
                }
            };
        }
        let mut clocks: Vec<u32> = begins.iter().copied().filter(|&clock| clock > 0).collect();
        clocks.sort_unstable();
        clocks.dedup();
        let declared = Declarations::new("");
        let place = |clock: u32| clocks.partition_point(|&c| c < clock) as u32 + u32::from(clock > 0);
        let mut nodes = nodes(model, "", 0, delay, &declared, |id| place(begins[id.index()]));
        for ((node, drawn), shown) in model.nodes().iter().zip(&mut nodes).zip(&shown) {
            drawn.layer = layers.layer(node.origin as usize);
            if let Some([first, last]) = shown {
                drawn.meaning.push_str(&format!("; its bits are shown in clocks {first} to {last}"));
            }
        }
        Drawing::by_clock(model, nodes, &clocks, plan.interval, unit, layers)
    }

    /// Returns a drawing with a column for each of these cycles, and a column before them for the inputs.
    fn by_clock(
        model: &Model,
        nodes: Vec<Node>,
        clocks: &[u32],
        interval: u32,
        unit: &'static str,
        layers: &Layers,
    ) -> Drawing {
        let named = |clock: &u32| Column {
            title: format!("clock {clock}, phase {}", clock % interval),
            short: clock.to_string(),
            delay: None,
            register_bits: 0,
        };
        let inputs = Column { title: "inputs".into(), short: "inputs".into(), delay: None, register_bits: 0 };
        let outputs = (0..).zip(model.outputs()).map(|(j, o): (usize, _)| (format!("out[{j}]"), o.source.map(|v| v.0)));
        Drawing {
            nodes,
            paths: vec![Vec::new(); clocks.len() + 1],
            times: None,
            columns: std::iter::once(inputs).chain(clocks.iter().map(named)).collect(),
            has_registers: true,
            has_loops: false,
            unit,
            layers: layers.names().to_vec(),
            origin: "the inputs",
            outputs: outputs.collect(),
            observed: None,
        }
    }

    /// Runs the reference interpreter on `rows` rows of a block of real numbers, for the ports `ports` of the drawn
    /// program, and records the values of every operation.
    ///
    /// # Errors
    /// The index of the first invalid sample, and the reason.
    pub fn observe(
        &mut self,
        model: &Model,
        ports: &[Port],
        block: &Values,
        rows: usize,
    ) -> Result<(), (usize, batch::SampleFault)> {
        let mut all = Observed::new(self.nodes.len());
        for row in 0..rows {
            let inputs = batch::codes_of_row(ports, block, row, false).map_err(|fault| (row, fault))?;
            run(model, &inputs, |id, code| all.note(id.index(), &self.nodes[id.index()], code));
            all.samples += 1;
        }
        self.observed = (rows > 0).then_some(all);
        Ok(())
    }
}

/// Runs a program once, and passes each value to `visit`. Lookups outside their table read zero.
pub(super) fn run(model: &Model, inputs: &[BigInt], mut visit: impl FnMut(ValueId, &BigInt)) {
    let seen = golden_steps(model, inputs, LookupMiss::Zero, |step| {
        if let Step::Op { id, code, .. } = step {
            visit(id, code);
        }
    });
    seen.expect("lookups outside their table read zero");
}
