//! Lowering of networks to ALIR: matrices as shifts and additions, other operations element by element.

use super::bind::{BoundNetwork, Constants, EmbeddingRows, Operation, Step, TableFunction};
use super::layout::{Heads, Operand};
use super::transcribe::transcribe;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::quantise::Quantiser;
use crate::solver::MatrixSolver;
use crate::wires::{Wire, Wires};
use alir_cmvm;
use alir_core::diag::{Diagnostic, Place};
use alir_core::ir::Layers;
use alir_core::ir::Model;
use alir_core::num::{Code, Interval};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::collections::HashMap;

/// Limits of lowering.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum width of a table's input in bits.
    pub max_table_bits: u32,
    /// Maximum number of entries of all tables together.
    pub max_table_entries: u64,
    /// Maximum number of operations.
    pub max_ops: u64,
    /// Options for the solver of each single matrix.
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

/// Lowers a network to a program.
///
/// # Errors
/// If a table is too large or cannot be decided, if a limit is exceeded, or if a matrix cannot meet the latency.
pub fn lower(program: &BoundNetwork, limits: &Limits) -> Result<Model, Diagnostic> {
    with_layers(program, limits).map(|(model, _)| model)
}

/// Like [`lower`]; also returns the source node of each operation.
///
/// # Errors
/// As [`lower`].
pub fn with_layers(program: &BoundNetwork, limits: &Limits) -> Result<(Model, Layers), Diagnostic> {
    let inputs = program.inputs.iter().map(|input| input.elements).sum();
    let mut lowering = Lowering {
        wires: Wires::new(inputs),
        slots: vec![Vec::new(); program.slots],
        types: vec![None; program.slots],
        names: program.names.iter().map(|group| group.name.clone()).collect(),
        functions: Functions::new(),
        entries: HashMap::new(),
        solver: MatrixSolver::new(limits.cmvm),
        limits: *limits,
    };
    let mut index = 0;
    for input in &program.inputs {
        lowering.types[input.slot] = Some(input.quantiser);
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

/// Returns the declared range of each output element: every raw value of its type; for an exact output, the range that
/// follows from the types before it. The lowering often derives a narrower range, but ports should be predictable.
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

/// Key of a table: function, type, first raw value, last raw value, and fractional bits of the arguments.
type TableKey = (TableFunction, Quantiser, BigInt, BigInt, i32);

struct Lowering {
    wires: Wires,
    slots: Vec<Vec<Wire>>,
    /// Type of each slot's value; `None` for exact values.
    types: Vec<Option<Quantiser>>,
    /// Name of each slot's buffer or record.
    names: Vec<String>,
    functions: Functions,
    entries: HashMap<TableKey, Vec<i64>>,
    solver: MatrixSolver,
    limits: Limits,
}

impl Lowering {
    fn step(&mut self, step: &Step) -> Result<Vec<Wire>, Diagnostic> {
        self.types[step.slot] = step.quantiser;
        step.by_token(|token| self.token(step, token))
    }

    /// Returns the quantised elements of one token.
    fn token(&mut self, step: &Step, token: usize) -> Result<Vec<Wire>, Diagnostic> {
        let count = step.per_token();
        let exact = match &step.operation {
            Operation::Product { x, matrix, bias } => {
                let x = x.token(&self.slots, token);
                self.product(&x, matrix, bias.as_deref(), count).map_err(|m| refused(step, m))?
            }
            Operation::AddConstants { x, bias } => {
                let x = x.token(&self.slots, token);
                let plus =
                    |(k, x): (usize, &Wire)| self.wires.add_constant(x, &bias.codes[k].to_big(), bias.frac as i32);
                x.iter().enumerate().map(plus).collect()
            }
            Operation::Add { a, b } => {
                let (a, b) = (a.token(&self.slots, token), b.token(&self.slots, token));
                a.iter().zip(&b).map(|(a, b)| self.wires.add(a, b, 0, false)).collect()
            }
            Operation::Relu { x } => {
                let x = x.token(&self.slots, token);
                if let Some(quantiser) = step.quantiser {
                    return Ok(x.iter().map(|x| self.wires.rectified(x, &quantiser)).collect());
                }
                x.iter().map(|x| self.wires.relu(x)).collect()
            }
            Operation::Table { x, function } => {
                let quantiser = step.quantiser.expect("tables without a type are refused");
                if step.record.is_some()
                    && let Some(Quantiser { kif, .. }) = self.types[x.slot]
                    && kif.width() > self.limits.max_table_bits
                {
                    // The last part of the slot's name, as in `0:softmax:0.sum`.
                    let name = self.names[x.slot].rsplit('.').next().unwrap_or_default().to_owned();
                    let (width, most) = (kif.width(), self.limits.max_table_bits);
                    let message = format!(
                        "the record {name} ({kif}) has {width} bits; the table of {} takes at most {most}",
                        function.name()
                    );
                    let help =
                        format!("give {name} a narrower type in the quantisation file, or raise --max-table-bits");
                    return Err(refused(step, message).with_help(help));
                }
                let x = x.token(&self.slots, token);
                return x.iter().map(|x| self.table(step, x, function, quantiser)).collect();
            }
            Operation::Swiglu { x, table } => {
                let x = x.token(&self.slots, token);
                let (gates, ups) = x.split_at(count);
                let silu = TableFunction::Real(Function::Silu);
                let mut products = Vec::with_capacity(count);
                for (gate, up) in gates.iter().zip(ups) {
                    let gate = self.table(step, gate, &silu, *table)?;
                    products.push(self.wires.multiply(&gate, up));
                }
                products
            }
            Operation::Norm { x, mean, factors, bias } => {
                let x = x.token(&self.slots, token);
                x.iter().enumerate().map(|(k, x)| self.norm(step, x, mean, factors, bias.as_deref(), k)).collect()
            }
            Operation::MeanSquare { x, centred } => {
                let x = x.token(&self.slots, token);
                let quantiser = step.quantiser.expect("inputs of tables have a type");
                let (square, divisor) = self.mean_square(&x, *centred);
                return Ok(vec![self.wires.quotient(&square, &divisor, &quantiser)]);
            }
            Operation::Normalise { x, centred, rstd, factors, bias } => {
                let x = x.token(&self.slots, token);
                let rstd = self.slots[*rstd][token].clone();
                return Ok(self.normalised(step, &x, *centred, &rstd, factors, bias.as_deref()));
            }
            Operation::Embed { ids, rows } => {
                let id = ids.element(&self.slots, token, 0).clone();
                return (0..count).map(|k| self.embedded(step, &id, rows, token, k)).collect();
            }
            Operation::Rotate { x, head_dim, table } => {
                let x = x.token(&self.slots, token);
                self.rotated(&x, *head_dim, table, token).map_err(|m| refused(step, m))?
            }
            Operation::Scores { q, k, heads, scale } => self.scores(q, k, heads, scale),
            Operation::Difference { x, rows } => {
                let mut all = Vec::with_capacity(step.elements);
                for row in 0..rows.count() {
                    let row = self.slots[*x][rows.row(row)].to_vec();
                    all.extend(self.differences(&row));
                }
                all
            }
            Operation::RowSum { x, rows } => {
                let sum = |row| self.wires.sum(&self.slots[*x][rows.row(row)]);
                (0..rows.count()).map(sum).collect()
            }
            Operation::RowProduct { x, factor, rows } => {
                let mut all = Vec::with_capacity(step.elements);
                for row in 0..rows.count() {
                    for index in rows.row(row) {
                        all.push(self.wires.scaled_product(&self.slots[*x][index], &self.slots[*factor][row]));
                    }
                }
                all
            }
            Operation::Weighted { p, v, heads, rows } => {
                let mut all = Vec::with_capacity(count);
                for k in 0..count {
                    let (head, d) = (k / heads.value_dim, k % heads.value_dim);
                    let row = &self.slots[*p][rows.row(head * heads.tokens + token)];
                    let mut products = Vec::with_capacity(row.len());
                    for (j, p) in row.iter().enumerate() {
                        let value = v.element(&self.slots, j, heads.group(head) * heads.value_dim + d);
                        products.push(self.wires.scaled_product(p, value));
                    }
                    all.push(self.wires.sum(&products));
                }
                all
            }
            Operation::Copy { x } => self.slots[*x].clone(),
        };
        let Some(quantiser) = step.quantiser else { return Ok(exact) };
        Ok(exact.iter().map(|x| self.quantised(x, &quantiser)).collect())
    }

    fn quantised(&mut self, x: &Wire, quantiser: &Quantiser) -> Wire {
        let value = self.wires.quantised(x, quantiser);
        if x.interval.min != x.interval.max {
            return value;
        }
        // A constant has one raw value, even if its type has more.
        let code = quantiser.code(&Rational::from_code(&x.min(), x.frac().into()));
        self.wires.constant(&code, quantiser.kif.frac)
    }

    /// Returns `x - max x` for each element of a row; for a row of one element, zero.
    fn differences(&mut self, row: &[Wire]) -> Vec<Wire> {
        if row.len() == 1 {
            return vec![self.wires.constant(&BigInt::ZERO, row[0].frac())];
        }
        let most = self.wires.maximum(row);
        row.iter()
            .map(|x| {
                let difference = self.wires.add(x, &most, 0, true);
                let min = difference.min();
                self.wires.narrowed(&difference, min, BigInt::ZERO)
            })
            .collect()
    }

    fn scores(&mut self, q: &Operand, k: &Operand, heads: &Heads, scale: &Constants) -> Vec<Wire> {
        let mut scores = Vec::new();
        for head in 0..heads.heads {
            for i in 0..heads.tokens {
                for j in 0..heads.visible(i) {
                    let mut products = Vec::with_capacity(heads.head_dim);
                    // A row of one number does not depend on this number.
                    for d in (0..heads.head_dim).filter(|_| heads.visible(i) > 1) {
                        let query = q.element(&self.slots, i, head * heads.head_dim + d);
                        let key = k.element(&self.slots, j, heads.group(head) * heads.head_dim + d);
                        products.push(self.wires.scaled_product(query, key));
                    }
                    let sum = self.wires.sum(&products);
                    let zero = (BigInt::ZERO, 0);
                    scores.push(self.wires.weighted_sum(&[(sum, scale.codes[0].to_big())], scale.frac as i32, &zero));
                }
            }
        }
        scores
    }

    /// Returns the rotated pairs; each rotation is a matrix of two rows that share their products.
    fn rotated(&mut self, x: &[Wire], head_dim: usize, table: &Constants, token: usize) -> Result<Vec<Wire>, String> {
        let half = head_dim / 2;
        let mut all = x.to_vec();
        let zeros = [(BigInt::ZERO, 0), (BigInt::ZERO, 0)];
        for head in (0..x.len()).step_by(head_dim) {
            for pair in 0..half {
                let (first, second) = (head + pair, head + half + pair);
                let cos = table.codes[2 * (token * half + pair)].clone();
                let sin = table.codes[2 * (token * half + pair) + 1].clone();
                let minus = Code::from(-sin.to_big());
                let matrix = [cos.clone(), minus, sin, cos];
                let pair = [x[first].clone(), x[second].clone()];
                let rows = self.wires.product(&pair, &matrix, table.frac as i32, &zeros, &mut self.solver)?;
                let [a, b] = <[Wire; 2]>::try_from(rows).map_err(|_| "a rotation without two rows".to_string())?;
                (all[first], all[second]) = (a, b);
            }
        }
        Ok(all)
    }

    /// Returns the mean of the squares as a number and the divisor by which the caller still has to divide it.
    fn mean_square(&mut self, x: &[Wire], centred: bool) -> (Wire, BigInt) {
        let n = BigInt::from(x.len());
        let squares: Vec<Wire> = x.iter().map(|x| self.wires.scaled_product(x, x)).collect();
        let squares = self.wires.sum(&squares);
        if !centred {
            return (squares, n);
        }
        // n^2 times the variance is n times the sum of squares minus the square of the sum, which is never negative.
        let sum = self.wires.sum(x);
        let square = self.wires.scaled_product(&sum, &sum);
        let scaled = self.wires.weighted_sum(&[(squares, n.clone())], 0, &(BigInt::ZERO, 0));
        let variance = self.wires.add(&scaled, &square, 0, true);
        let most = variance.max();
        (self.wires.narrowed(&variance, BigInt::ZERO, most), &n * &n)
    }

    fn normalised(
        &mut self,
        step: &Step,
        x: &[Wire],
        centred: bool,
        rstd: &Wire,
        factors: &Constants,
        bias: Option<&Constants>,
    ) -> Vec<Wire> {
        let n = BigInt::from(if centred { x.len() } else { 1 });
        let sum = if centred { Some(self.wires.sum(x)) } else { None };
        let zero = (BigInt::ZERO, 0);
        let mut all = Vec::with_capacity(x.len());
        for (k, x) in x.iter().enumerate() {
            let distance = match &sum {
                Some(sum) => {
                    let terms = [(x.clone(), n.clone()), (sum.clone(), BigInt::from(-1))];
                    self.wires.weighted_sum(&terms, 0, &zero)
                }
                None => x.clone(),
            };
            let scaled = self.wires.weighted_sum(&[(distance, factors.codes[k].to_big())], factors.frac as i32, &zero);
            let product = self.wires.scaled_product(&scaled, rstd);
            let value = match bias {
                Some(bias) => self.wires.add_constant(&product, &(bias.codes[k].to_big() * &n), bias.frac as i32),
                None => product,
            };
            all.push(match &step.quantiser {
                Some(quantiser) => self.wires.quotient(&value, &n, quantiser),
                // Only quotients by powers of two are exact.
                None => self.wires.shifted(&value, -(n.trailing_zeros().unwrap_or(0) as i32)),
            });
        }
        all
    }

    /// Returns one element of the row that an id selects.
    fn embedded(
        &mut self,
        step: &Step,
        id: &Wire,
        rows: &EmbeddingRows,
        token: usize,
        element: usize,
    ) -> Result<Wire, Diagnostic> {
        self.check_address(step, "embedding", id.interval.kif().width())?;
        let count = step.per_token();
        let position = rows.positions.as_ref().map_or_else(Rational::zero, |p| p.value(token * count + element));
        let own = rows.weight.frac.max(rows.positions.as_ref().map_or(rows.weight.frac, |p| p.frac));
        let frac = step.quantiser.map_or(own, |q| q.kif.frac.into());
        let last = id.max().to_usize().unwrap_or(0);
        self.check_entries(step, last as u64 + 1)?;
        let entry = |id: usize| {
            let row = if id < rows.rows { rows.weight.value(id * count + element) } else { Rational::zero() };
            let value = &row + &position;
            let code = step.quantiser.map_or_else(|| value.code(frac).unwrap_or_default(), |q| q.code(&value));
            code.to_i64().filter(|code| i32::try_from(*code).is_ok() || u32::try_from(*code).is_ok())
        };
        let entries: Option<Vec<i64>> = (0..=last).map(entry).collect();
        let entries = entries.ok_or_else(|| refused(step, "an entry of the embedding has more than 32 bits"))?;
        Ok(self.wires.lookup(id, &entries, frac as i32))
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

    /// Returns `(x - mean) * g + beta`, computed as `g x + c`.
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

    /// Returns an error if the input of a table is too wide.
    fn check_address(&self, step: &Step, name: &str, width: u32) -> Result<(), Diagnostic> {
        let most = self.limits.max_table_bits;
        if width <= most {
            return Ok(());
        }
        let message = format!("a table of {name} for an input of {width} bits; at most {most} are tabulated");
        Err(refused(step, message)
            .with_help("give the input a narrower type in the quantisation file, or raise --max-table-bits"))
    }

    fn check_entries(&self, step: &Step, more: u64) -> Result<(), Diagnostic> {
        if (self.wires.table_entries() as u64).saturating_add(more) > self.limits.max_table_entries {
            return Err(refused(step, format!("more than {} table entries", self.limits.max_table_entries)));
        }
        Ok(())
    }

    fn table(
        &mut self,
        step: &Step,
        x: &Wire,
        function: &TableFunction,
        quantiser: Quantiser,
    ) -> Result<Wire, Diagnostic> {
        self.check_address(step, function.name(), x.interval.kif().width())?;
        let key = (function.clone(), quantiser, x.min(), x.max(), x.frac());
        if !self.entries.contains_key(&key) {
            let size = (&key.3 - &key.2).to_u64().unwrap_or(u64::MAX).saturating_add(1);
            self.check_entries(step, size)?;
            let mut entries = Vec::new();
            let mut code = key.2.clone();
            while code <= key.3 {
                let argument = Rational::from_code(&code, x.frac().into());
                let entry = function.code(&mut self.functions, &argument, &quantiser);
                let entry = entry.map_err(|m| refused(step, m))?;
                entries.push(entry.to_i64().expect("32 bits at most"));
                code += 1;
            }
            self.entries.insert(key.clone(), entries);
        }
        Ok(self.wires.lookup(x, &self.entries[&key], quantiser.kif.frac))
    }
}

/// Returns a dyadic constant that rounds to `2^-to` like the given constant when added to multiples of `2^-own`: a
/// dyadic constant is returned unchanged; otherwise the middle of the two finer dyadic neighbours. No step and no tie
/// is between these neighbours.
fn binary(constant: &Rational, own: i64, to: Option<i64>) -> (BigInt, i32) {
    if let Some(frac) = constant.frac() {
        return (constant.code(frac).expect("its own step"), frac as i32);
    }
    let fine = own.max(to.unwrap_or(own) + 1);
    (constant.shifted(fine).floor() * 2 + 1, (fine + 1) as i32)
}
