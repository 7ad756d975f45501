//! Programs as ALIR: matrices as shifts and additions, the rest element by element.

use super::bind::{BoundNetwork, Constants, Operation, Step};
use super::transcribe::transcribe;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::layers::Layers;
use crate::quantise::Quantiser;
use crate::solver::MatrixSolver;
use crate::wires::{Wire, Wires};
use alir_cmvm;
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::Model;
use alir_core::num::Interval;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::collections::HashMap;

/// What lowering may make at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bits of a table's input.
    pub max_table_bits: u32,
    /// Entries of all tables.
    pub max_table_entries: u64,
    /// Operations.
    pub max_ops: u64,
    /// How matrices are solved, each for itself.
    pub cmvm: alir_cmvm::Options,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_table_bits: 16,
            max_table_entries: 1 << 26,
            max_ops: 10_000_000,
            cmvm: alir_cmvm::Options::default(),
        }
    }
}

/// Lowers a program.
///
/// # Errors
/// Tables that are too large or cannot be decided; limits; a latency that not every matrix meets.
pub fn lower(program: &BoundNetwork, limits: &Limits) -> Result<Model, Diagnostic> {
    with_layers(program, limits).map(|(model, _)| model)
}

/// [`lower`], and which node each operation was made for.
///
/// # Errors
/// As [`lower`].
pub fn with_layers(program: &BoundNetwork, limits: &Limits) -> Result<(Model, Layers), Diagnostic> {
    let inputs = program.inputs.iter().map(|input| input.elements).sum();
    let mut lowering = Lowering {
        wires: Wires::new(inputs),
        slots: vec![Vec::new(); program.slots],
        functions: Functions::new(),
        entries: HashMap::new(),
        solver: MatrixSolver::new(limits.cmvm),
        limits: *limits,
    };
    let mut index = 0;
    for input in &program.inputs {
        for _ in 0..input.elements {
            let wire = lowering.wires.input(index, input.quantiser.kif);
            lowering.slots[input.slot].push(wire);
            index += 1;
        }
    }
    let mut layers = Layers::default();
    layers.note("inputs", lowering.wires.len());
    for step in &program.steps {
        lowering.slots[step.slot] = lowering.step(step)?;
        lowering.solver.belongs_to(&step.place);
        layers.note(&step.title, lowering.wires.len());
        if lowering.wires.len() as u64 > limits.max_ops {
            let message = format!("more than {} operations so far", limits.max_ops);
            return Err(refused(step, message).with_help("cut out a smaller part with --nodes, or raise --max-ops"));
        }
    }
    if let Some(missed) = lowering.solver.missed() {
        return Err(missed.diagnostic());
    }
    let ports = ports(program).map_err(too_large)?;
    for (wire, port) in program.outputs.iter().flat_map(|&slot| &lowering.slots[slot]).zip(ports) {
        lowering.wires.output(wire, &port);
    }
    layers.note("outputs", lowering.wires.len());
    Ok((lowering.wires.finish().map_err(too_large)?, layers))
}

fn too_large(what: String) -> Diagnostic {
    Diagnostic::error("E2009", Place::Path("nodes".into()), format!("the program goes beyond a limit: {what}"))
}

/// What each output element promises: every code of its type, or where it is exact the range that follows from the
/// types before it. The lowering often knows of a narrower one, but a port is no place for surprises.
fn ports(program: &BoundNetwork) -> Result<Vec<Interval>, String> {
    let made = |slot: usize| program.steps.iter().rev().find(|step| step.slot == slot);
    let typed = |slot: usize| made(slot).and_then(|step| Some((step.quantiser?, step.elements)));
    let all: Option<Vec<_>> = program.outputs.iter().map(|&slot| typed(slot)).collect();
    if let Some(all) = all {
        return Ok(all.iter().flat_map(|(q, n)| std::iter::repeat_n(Interval::full(q.kif), *n)).collect());
    }
    Ok(transcribe(program)?.output_intervals().to_vec())
}

fn refused(step: &Step, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2009", Place::Path(step.place.clone()), message)
}

/// Entries of a table by what they are of: function, type, first code, last code, fractional bits of the codes.
type TableKey = (Function, Quantiser, BigInt, BigInt, i32);

struct Lowering {
    wires: Wires,
    slots: Vec<Vec<Wire>>,
    functions: Functions,
    entries: HashMap<TableKey, Vec<i64>>,
    solver: MatrixSolver,
    limits: Limits,
}

impl Lowering {
    fn step(&mut self, step: &Step) -> Result<Vec<Wire>, Diagnostic> {
        let exact = match &step.operation {
            Operation::Product { x, matrix, bias } => {
                let x = self.slots[*x].clone();
                self.product(&x, matrix, bias.as_deref(), step.elements).map_err(|m| refused(step, m))?
            }
            Operation::AddConstants { x, bias } => {
                let x = self.slots[*x].clone();
                let plus =
                    |(k, x): (usize, &Wire)| self.wires.add_constant(x, &bias.codes[k].to_big(), bias.frac as i32);
                x.iter().enumerate().map(plus).collect()
            }
            Operation::Add { a, b } => {
                let (a, b) = (self.slots[*a].clone(), self.slots[*b].clone());
                a.iter().zip(&b).map(|(a, b)| self.wires.add(a, b, 0, false)).collect()
            }
            Operation::Relu { x } => {
                let x = self.slots[*x].clone();
                if let Some(quantiser) = step.quantiser {
                    return Ok(x.iter().map(|x| self.wires.rectified(x, &quantiser)).collect());
                }
                x.iter().map(|x| self.wires.relu(x)).collect()
            }
            Operation::Table { x, function } => {
                let (x, quantiser) =
                    (self.slots[*x].clone(), step.quantiser.expect("tables without a type are refused"));
                x.iter().map(|x| self.table(step, x, *function, quantiser)).collect::<Result<_, _>>()?
            }
            Operation::Swiglu { x, table } => {
                let x = self.slots[*x].clone();
                let (gates, ups) = x.split_at(step.elements);
                let mut products = Vec::with_capacity(step.elements);
                for (gate, up) in gates.iter().zip(ups) {
                    let gate = self.table(step, gate, Function::Silu, *table)?;
                    products.push(self.wires.multiply(&gate, up));
                }
                products
            }
            Operation::Norm { x, mean, factors, bias } => {
                let x = self.slots[*x].clone();
                x.iter().enumerate().map(|(k, x)| self.norm(step, x, mean, factors, bias.as_deref(), k)).collect()
            }
        };
        let Some(quantiser) = step.quantiser else { return Ok(exact) };
        Ok(exact.iter().map(|x| self.wires.quantised(x, &quantiser)).collect())
    }

    fn product(
        &mut self,
        x: &[Wire],
        matrix: &Constants,
        bias: Option<&Constants>,
        rows: usize,
    ) -> Result<Vec<Wire>, String> {
        let constant = |row: usize| bias.map_or((BigInt::ZERO, 0), |b| (b.codes[row].to_big(), b.frac as i32));
        let constants: Vec<(BigInt, i32)> = (0..rows).map(constant).collect();
        self.wires.product(x, &matrix.codes, matrix.frac as i32, &constants, &mut self.solver)
    }

    /// `(x - mean) * g + beta` as `g x + c`.
    fn norm(
        &mut self,
        step: &Step,
        x: &Wire,
        mean: &Rational,
        factors: &Constants,
        bias: Option<&Constants>,
        index: usize,
    ) -> Wire {
        let beta = bias.map_or_else(Rational::zero, |b| b.value(index));
        let constant = &beta - &(mean * &factors.value(index));
        let own = i64::from(x.frac()) + factors.frac;
        let constant = binary(&constant, own, step.quantiser.map(|q| q.kif.frac.into()));
        let terms = [(x.clone(), factors.codes[index].to_big())];
        self.wires.weighted_sum(&terms, factors.frac as i32, &constant)
    }

    fn table(&mut self, step: &Step, x: &Wire, function: Function, quantiser: Quantiser) -> Result<Wire, Diagnostic> {
        let width = x.interval.kif().width();
        let most = self.limits.max_table_bits;
        if width > most {
            let message =
                format!("a table of {} for an input of {width} bits; at most {most} are tabulated", function.name());
            return Err(refused(step, message)
                .with_help("give the input a narrower type in the quantisation file, or raise --max-table-bits"));
        }
        let key = (function, quantiser, x.min(), x.max(), x.frac());
        if !self.entries.contains_key(&key) {
            let size = (&key.3 - &key.2).to_u64().unwrap_or(u64::MAX).saturating_add(1);
            if (self.wires.table_entries() as u64).saturating_add(size) > self.limits.max_table_entries {
                let message = format!("more than {} table entries", self.limits.max_table_entries);
                return Err(refused(step, message));
            }
            let mut entries = Vec::new();
            let mut code = key.2.clone();
            while code <= key.3 {
                let argument = Rational::of_code(&code, x.frac().into());
                let entry = self.functions.code(function, &argument, &quantiser).map_err(|m| refused(step, m))?;
                entries.push(entry.to_i64().expect("32 bits at most"));
                code += 1;
            }
            self.entries.insert(key.clone(), entries);
        }
        Ok(self.wires.lookup(x, &self.entries[&key], quantiser.kif.frac))
    }
}

/// A binary constant that added to multiples of `2^-own` rounds to `2^-to` as the given one does: itself if it is
/// binary, else the middle of the two finer binary numbers around it. No step and no tie lies between those.
fn binary(constant: &Rational, own: i64, to: Option<i64>) -> (BigInt, i32) {
    if let Some(frac) = constant.frac() {
        return (constant.code(frac).expect("its own step"), frac as i32);
    }
    let fine = own.max(to.unwrap_or(own) + 1);
    (constant.shifted(fine).floor() * 2 + 1, (fine + 1) as i32)
}
