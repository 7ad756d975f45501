//! Reference evaluator of a network: section 2 of the contract (`docs/network.md`), line by line, in exact rational
//! numbers.
//!
//! The evaluator is slow and plain, and uses no lowering. All other implementations are checked against it.

use super::bind::{BoundNetwork, Constants, Operation, Step, TableFunction};
use super::calibrate::computed;
use super::layout::Rows;
use super::transcribe::transcribe;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::port::{Encoder, Group, InputElement, ReferenceSemantics, Unit};
use crate::quantise::Quantiser;
use alir_core::ir::Model;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::collections::HashMap;
use std::sync::Mutex;

/// Reference evaluator of a bound network, with its ports and a cache of table entries.
pub struct Golden {
    program: BoundNetwork,
    inputs: Vec<InputElement>,
    input_groups: Vec<Group>,
    output_units: Vec<Unit>,
    output_groups: Vec<Group>,
    /// Cache of decided table entries, by function, type and argument.
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    functions: Functions,
    known: HashMap<(TableFunction, Quantiser, Rational), Rational>,
}

impl Golden {
    /// Returns the reference evaluator of a network.
    pub fn new(program: BoundNetwork) -> Golden {
        let elements = program.inputs.iter().flat_map(|input| {
            let element = InputElement {
                kif: input.quantiser.kif,
                unit: Unit::plain(),
                encoder: Encoder::Quantise(input.quantiser),
            };
            std::iter::repeat_n(element, input.elements)
        });
        let group = |&slot: &usize| program.names[slot].clone();
        let output_groups: Vec<Group> = program.outputs.iter().map(group).collect();
        let outputs = output_groups.iter().map(|g| g.size).sum();
        Golden {
            inputs: elements.collect(),
            input_groups: program.inputs.iter().map(|input| group(&input.slot)).collect(),
            output_units: vec![Unit::plain(); outputs],
            output_groups,
            tables: Mutex::default(),
            program,
        }
    }

    /// Returns the network.
    pub fn program(&self) -> &BoundNetwork {
        &self.program
    }

    /// Returns the value of every slot for the raw values of the inputs.
    fn slots(&self, codes: &[BigInt]) -> Vec<Vec<Rational>> {
        let mut slots: Vec<Vec<Rational>> = vec![Vec::new(); self.program.slots];
        let mut codes = codes.iter();
        for input in &self.program.inputs {
            let frac = input.quantiser.kif.frac.into();
            slots[input.slot] = codes.by_ref().take(input.elements).map(|c| Rational::from_code(c, frac)).collect();
        }
        for step in &self.program.steps {
            slots[step.slot] = self.step(step, &slots);
        }
        slots
    }

    fn step(&self, step: &Step, slots: &[Vec<Rational>]) -> Vec<Rational> {
        let exact = step.by_token(|token| Ok::<_, std::convert::Infallible>(self.token(step, slots, token)));
        let Ok(exact) = exact;
        match &step.quantiser {
            Some(quantiser) => exact.iter().map(|value| quantiser.value(value)).collect(),
            None => exact,
        }
    }

    /// Returns the exact elements of one token.
    fn token(&self, step: &Step, slots: &[Vec<Rational>], token: usize) -> Vec<Rational> {
        let count = step.per_token();
        let all = |element: &dyn Fn(usize) -> Rational| (0..count).map(element).collect::<Vec<Rational>>();
        let plus = |value: Rational, bias: &Option<std::sync::Arc<Constants>>, index: usize| match bias {
            Some(bias) => &value + &bias.value(index),
            None => value,
        };
        let sum = |values: &mut dyn Iterator<Item = Rational>| values.fold(Rational::zero(), |sum, x| &sum + &x);
        let mean = |x: &[Rational], centred: bool| match centred {
            true => sum(&mut x.iter().cloned()).checked_div(&whole(x.len())).expect("a norm has elements"),
            false => Rational::zero(),
        };
        match &step.operation {
            Operation::Product { x, matrix, bias } => {
                let x = x.token(slots, token);
                all(&|row| {
                    let mut products = x.iter().enumerate().map(|(k, value)| &matrix.value(row * x.len() + k) * value);
                    plus(sum(&mut products), bias, row)
                })
            }
            Operation::AddConstants { x, bias } => all(&|k| x.element(slots, token, k) + &bias.value(k)),
            Operation::Add { a, b } => all(&|k| a.element(slots, token, k) + b.element(slots, token, k)),
            Operation::Relu { x } => all(&|k| x.element(slots, token, k).clone().max(Rational::zero())),
            Operation::Table { x, function } => {
                let quantiser = step.quantiser.expect("tables without a type are refused");
                all(&|k| self.table(function, x.element(slots, token, k), quantiser))
            }
            Operation::Swiglu { x, table } => {
                let silu = TableFunction::Real(Function::Silu);
                all(&|k| &self.table(&silu, x.element(slots, token, k), *table) * x.element(slots, token, count + k))
            }
            Operation::Norm { x, mean, factors, bias } => {
                all(&|k| plus(&(x.element(slots, token, k) - mean) * &factors.value(k), bias, k))
            }
            Operation::MeanSquare { x, centred } => {
                let x = x.token(slots, token);
                let mean = mean(&x, *centred);
                let squares = x.iter().map(|x| &(x - &mean) * &(x - &mean));
                vec![sum(&mut { squares }).checked_div(&whole(x.len())).expect("a norm has elements")]
            }
            Operation::Normalise { x, centred, rstd, factors, bias } => {
                let x = x.token(slots, token);
                let (mean, rstd) = (mean(&x, *centred), &slots[*rstd][token]);
                all(&|k| plus(&(&(&x[k] - &mean) * &factors.value(k)) * rstd, bias, k))
            }
            Operation::Embed { ids, rows } => {
                let id = ids.element(slots, token, 0).numerator().to_usize().filter(|id| *id < rows.rows);
                all(&|k| {
                    let row = id.map_or_else(Rational::zero, |id| rows.weight.value(id * count + k));
                    plus(row, &rows.positions, token * count + k)
                })
            }
            Operation::Rotate { x, head_dim, table } => {
                let half = head_dim / 2;
                all(&|k| {
                    let pair = k % half;
                    let (cos, sin) = (2 * (token * half + pair), 2 * (token * half + pair) + 1);
                    let first = x.element(slots, token, k / head_dim * head_dim + pair);
                    let second = x.element(slots, token, k / head_dim * head_dim + half + pair);
                    match k % head_dim < half {
                        true => &(first * &table.value(cos)) - &(second * &table.value(sin)),
                        false => &(first * &table.value(sin)) + &(second * &table.value(cos)),
                    }
                })
            }
            Operation::Scores { q, k, heads, scale } => {
                let mut scores = Vec::with_capacity(step.elements);
                for head in 0..heads.heads {
                    for i in 0..heads.tokens {
                        for j in 0..heads.visible(i) {
                            let mut products = (0..heads.head_dim).map(|d| {
                                let query = q.element(slots, i, head * heads.head_dim + d);
                                query * k.element(slots, j, heads.group(head) * heads.head_dim + d)
                            });
                            scores.push(&sum(&mut products) * &scale.value(0));
                        }
                    }
                }
                scores
            }
            Operation::Difference { x, rows } => by_row(rows, |row| {
                let row = &slots[*x][row];
                let most = row.iter().max().expect("rows have elements");
                row.iter().map(|x| x - most).collect()
            }),
            Operation::RowSum { x, rows } => by_row(rows, |row| vec![sum(&mut slots[*x][row].iter().cloned())]),
            Operation::RowProduct { x, factor, rows } => {
                let mut factors = slots[*factor].iter();
                by_row(rows, |row| {
                    let factor = factors.next().expect("one a row");
                    slots[*x][row].iter().map(|x| x * factor).collect()
                })
            }
            Operation::Weighted { p, v, heads, rows } => all(&|k| {
                let (head, d) = (k / heads.value_dim, k % heads.value_dim);
                let row = &slots[*p][rows.row(head * heads.tokens + token)];
                let value = |j| v.element(slots, j, heads.group(head) * heads.value_dim + d);
                sum(&mut row.iter().enumerate().map(|(j, p)| p * value(j)))
            }),
            Operation::Copy { x } => slots[*x].clone(),
        }
    }

    /// Returns an entry of a table. Returns zero for an entry that cannot be decided; the check of the network rejects
    /// such entries beforehand.
    fn table(&self, function: &TableFunction, x: &Rational, quantiser: Quantiser) -> Rational {
        let mut tables = self.tables.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let key = (function.clone(), quantiser, x.clone());
        if let Some(value) = tables.known.get(&key) {
            return value.clone();
        }
        let code = function.code(&mut tables.functions, x, &quantiser).unwrap_or_default();
        let value = Rational::from_code(&code, quantiser.kif.frac.into());
        tables.known.insert(key, value.clone());
        value
    }

    /// Returns the slots between inputs and outputs, in the order in which steps fill them.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.program.steps.iter().map(|step| step.slot).filter(|slot| !self.program.outputs.contains(slot))
    }

    /// Returns the values of the outputs, and the values of the slots between inputs and outputs.
    fn parted<V: Clone>(&self, slots: &[Vec<V>]) -> (Vec<V>, Vec<V>) {
        let all = |slot: usize| slots[slot].iter().cloned();
        (self.program.outputs.iter().copied().flat_map(all).collect(), self.inner().flat_map(all).collect())
    }

    /// Returns the values of every slot of the floating-point network for real inputs.
    pub fn float_slots(&self, reals: &[f64]) -> Vec<Vec<f64>> {
        let mut slots: Vec<Vec<f64>> = vec![Vec::new(); self.program.slots];
        let mut reals = reals.iter().copied();
        for input in &self.program.inputs {
            slots[input.slot] = reals.by_ref().take(input.elements).collect();
        }
        for step in &self.program.steps {
            slots[step.slot] = computed(step, &slots, None, None);
        }
        slots
    }
}

fn whole(number: usize) -> Rational {
    Rational::from(BigInt::from(number))
}

/// Returns the results of all rows, one after another.
fn by_row<V>(rows: &Rows, mut compute: impl FnMut(std::ops::Range<usize>) -> Vec<V>) -> Vec<V> {
    (0..rows.count()).flat_map(|row| compute(rows.row(row))).collect()
}

impl ReferenceSemantics for Golden {
    fn inputs(&self) -> &[InputElement] {
        &self.inputs
    }

    fn input_groups(&self) -> &[Group] {
        &self.input_groups
    }

    fn output_units(&self) -> &[Unit] {
        &self.output_units
    }

    fn output_groups(&self) -> &[Group] {
        &self.output_groups
    }

    fn evaluate(&self, codes: &[BigInt]) -> Vec<Rational> {
        let slots = self.slots(codes);
        self.program.outputs.iter().flat_map(|&slot| slots[slot].iter().cloned()).collect()
    }

    fn specification(&self) -> Result<Model, String> {
        transcribe(&self.program)
    }

    fn evaluate_float(&self, reals: &[f64]) -> Vec<f64> {
        let slots = self.float_slots(reals);
        self.program.outputs.iter().flat_map(|&slot| slots[slot].iter().copied()).collect()
    }

    fn inner_groups(&self) -> Vec<Group> {
        self.inner().map(|slot| self.program.names[slot].clone()).collect()
    }

    fn has_records(&self) -> bool {
        self.program.steps.iter().any(|step| step.record.is_some())
    }

    fn evaluate_all(&self, codes: &[BigInt]) -> (Vec<Rational>, Vec<Rational>) {
        self.parted(&self.slots(codes))
    }

    fn evaluate_all_float(&self, reals: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.parted(&self.float_slots(reals))
    }
}
