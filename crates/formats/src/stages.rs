//! Conversion of the stages of a `Pipeline` file to one program.

use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{Builder, Layers, Limits, Model, Node, Op, Output, Table, TableId, ValueId};
use alir_core::num::{Code, Interval};

/// Returns one program in which the outputs of each stage feed the inputs of the next stage. An input of a later stage
/// becomes a quantise operation on the output that feeds the input, with the sum of the shifts of output and input. A
/// negation precedes the quantise operation of a negated output. `layers` receives the stages.
///
/// # Errors
/// `E0143` if the number of inputs of a stage differs from the number of outputs of the previous stage; the errors of
/// the model's checks.
pub(super) fn join(stages: Vec<Model>, limits: &Limits, layers: &mut Layers) -> Result<Model, Diagnostics> {
    for (k, pair) in stages.windows(2).enumerate() {
        let (outputs, inputs) = (pair[0].outputs().len(), pair[1].n_inputs());
        if outputs != inputs {
            let place = Place::Path(format!("stages[{}].model.shape", k + 1));
            let message = format!("{inputs} inputs, but the stage before has {outputs} outputs");
            let problem = Diagnostic::error("E0143", place, message);
            return Err(problem.with_help("the inputs of a stage are the outputs of the stage before").into());
        }
    }
    let mut stages = stages.into_iter();
    let Some(first) = stages.next() else {
        let place = Place::Path("stages".into());
        return Err(Diagnostic::error("E0143", place, "no stages").with_help("a pipeline has at least one").into());
    };
    let Some(second) = stages.next() else { return Ok(first) };

    let mut joined = Joined::new(&first, limits);
    layers.note(&title(1), joined.builder.nodes().len());
    for (stage, number) in std::iter::once(second).chain(stages).zip(2..) {
        joined.append(&stage);
        layers.note(&title(number), joined.builder.nodes().len());
    }
    let Joined { mut builder, outputs, .. } = joined;
    for out in outputs {
        builder.output(out);
    }
    builder.finish().map_err(|problems| {
        let problem = |p: &alir_core::ir::Problem| {
            let place = Place::Path(format!("joined {}", p.site));
            Diagnostic::error(p.code, place, p.message.clone()).with_help(p.help.clone())
        };
        Diagnostics(problems.iter().map(problem).collect())
    })
}

/// Returns the layer name of a stage.
fn title(number: usize) -> String {
    format!("model stage {number}")
}

struct Joined {
    builder: Builder,
    /// Outputs of the last stage so far.
    outputs: Vec<Output>,
    tables: u32,
}

impl Joined {
    fn new(first: &Model, limits: &Limits) -> Joined {
        let mut builder = Builder::new(first.inp_shifts().to_vec());
        builder.limits(*limits).cost_model(first.carry_size(), first.adder_size());
        let mut joined = Joined { builder, outputs: Vec::new(), tables: 0 };
        for node in first.nodes() {
            joined.builder.push(node.clone());
        }
        joined.take_tables(first.tables());
        joined.outputs = first.outputs().to_vec();
        joined
    }

    fn take_tables(&mut self, tables: &[Table]) {
        for table in tables {
            self.builder.table(table.clone());
        }
        self.tables += tables.len() as u32;
    }

    fn append(&mut self, stage: &Model) {
        let first_table = self.tables;
        self.take_tables(stage.tables());
        let feeds: Vec<_> = self.outputs.clone().iter().map(|out| self.feed(out)).collect();
        let mut map: Vec<ValueId> = Vec::with_capacity(stage.nodes().len());
        for node in stage.nodes() {
            let origin = self.builder.nodes().len() as u32;
            let mut op = node.op.clone();
            op.map_operands(|v| map[v.index()]);
            let op = match op {
                Op::Input { input } => match feeds[input as usize] {
                    Some((x, shift)) => {
                        let shift = shift.saturating_add(stage.inp_shifts()[input as usize]);
                        Op::Quantise { x, shift }
                    }
                    None => Op::Const { value: Code::ZERO },
                },
                Op::Lookup { x, table, base } => Op::Lookup { x, table: TableId(table.0 + first_table), base },
                other => other,
            };
            map.push(self.builder.push(Node { op, origin, ..node.clone() }));
        }
        let moved = |out: &Output| Output { source: out.source.map(|v| map[v.index()]), ..*out };
        self.outputs = stage.outputs().iter().map(moved).collect();
    }

    /// Returns the value of an output, negated if the output is, and the shift to its real value; `None` for the
    /// constant zero.
    fn feed(&mut self, out: &Output) -> Option<(ValueId, i32)> {
        let x = out.source?;
        if !out.neg {
            return Some((x, out.shift));
        }
        let source = &self.builder.nodes()[x.index()];
        let (interval, latency): (Interval, f64) = (source.interval.negated(), source.latency);
        let origin = self.builder.nodes().len() as u32;
        let neg = Node { op: Op::Neg { x }, interval, latency, cost: 0.0, origin };
        Some((self.builder.push(neg), out.shift))
    }
}
