//! What a network means: section 2 of the contract, line by line, in exact rational numbers.
//!
//! Slow and plain. Everything else is held to this; it names no lowering.

use super::bind::{BoundNetwork, Constants, Operation, Step};
use super::transcribe::transcribe;
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::port::{Encoder, Group, InputElement, Meaning, Unit};
use crate::quantise::Quantiser;
use alir_core::ir::Model;
use num_bigint::BigInt;
use std::collections::HashMap;
use std::sync::Mutex;

/// A program with what evaluating it needs.
pub struct Golden {
    program: BoundNetwork,
    inputs: Vec<InputElement>,
    input_groups: Vec<Group>,
    output_units: Vec<Unit>,
    output_groups: Vec<Group>,
    /// Entries of tables that were decided, by function, type and argument.
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    functions: Functions,
    known: HashMap<(Function, Quantiser, Rational), Rational>,
}

impl Golden {
    /// The golden evaluator of a program.
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

    /// The program.
    pub fn program(&self) -> &BoundNetwork {
        &self.program
    }

    /// The value of every slot for the codes of the inputs.
    fn slots(&self, codes: &[BigInt]) -> Vec<Vec<Rational>> {
        let mut slots: Vec<Vec<Rational>> = vec![Vec::new(); self.program.slots];
        let mut codes = codes.iter();
        for input in &self.program.inputs {
            let frac = input.quantiser.kif.frac.into();
            slots[input.slot] = codes.by_ref().take(input.elements).map(|c| Rational::of_code(c, frac)).collect();
        }
        for step in &self.program.steps {
            slots[step.slot] = self.step(step, &slots);
        }
        slots
    }

    fn step(&self, step: &Step, slots: &[Vec<Rational>]) -> Vec<Rational> {
        let plus = |value: Rational, bias: &Option<std::sync::Arc<Constants>>, index: usize| match bias {
            Some(bias) => &value + &bias.value(index),
            None => value,
        };
        let exact = |index: usize| match &step.operation {
            Operation::Product { x, matrix, bias } => {
                let x = &slots[*x];
                let mut sum = Rational::zero();
                for (k, value) in x.iter().enumerate() {
                    sum = &sum + &(&matrix.value(index * x.len() + k) * value);
                }
                plus(sum, bias, index)
            }
            Operation::AddConstants { x, bias } => &slots[*x][index] + &bias.value(index),
            Operation::Add { a, b } => &slots[*a][index] + &slots[*b][index],
            Operation::Relu { x } => slots[*x][index].clone().max(Rational::zero()),
            Operation::Table { x, function } => {
                let quantiser = step.quantiser.expect("tables without a type are refused");
                self.table(*function, &slots[*x][index], quantiser)
            }
            Operation::Swiglu { x, table } => {
                let x = &slots[*x];
                &self.table(Function::Silu, &x[index], *table) * &x[step.elements + index]
            }
            Operation::Norm { x, mean, factors, bias } => {
                plus(&(&slots[*x][index] - mean) * &factors.value(index), bias, index)
            }
        };
        (0..step.elements)
            .map(|index| match &step.quantiser {
                Some(quantiser) => quantiser.value(&exact(index)),
                None => exact(index),
            })
            .collect()
    }

    /// An entry of a table. What cannot be decided is refused when the program is checked, and would be zero.
    fn table(&self, function: Function, x: &Rational, quantiser: Quantiser) -> Rational {
        let mut tables = self.tables.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let key = (function, quantiser, x.clone());
        if let Some(value) = tables.known.get(&key) {
            return value.clone();
        }
        let code = tables.functions.code(function, x, &quantiser).unwrap_or_default();
        let value = Rational::of_code(&code, quantiser.kif.frac.into());
        tables.known.insert(key, value.clone());
        value
    }

    /// Every slot of the floating-point network for real inputs.
    pub fn float_slots(&self, reals: &[f64]) -> Vec<Vec<f64>> {
        let mut slots: Vec<Vec<f64>> = vec![Vec::new(); self.program.slots];
        let mut reals = reals.iter().copied();
        for input in &self.program.inputs {
            slots[input.slot] = reals.by_ref().take(input.elements).collect();
        }
        for step in &self.program.steps {
            slots[step.slot] = float_step(step, &slots);
        }
        slots
    }
}

fn float_step(step: &Step, slots: &[Vec<f64>]) -> Vec<f64> {
    let added = |bias: &Option<std::sync::Arc<Constants>>, index: usize| bias.as_ref().map_or(0.0, |b| b.floats[index]);
    let value = |index: usize| match &step.operation {
        Operation::Product { x, matrix, bias } => {
            let x = &slots[*x];
            let row = &matrix.floats[index * x.len()..(index + 1) * x.len()];
            row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + added(bias, index)
        }
        Operation::AddConstants { x, bias } => slots[*x][index] + bias.floats[index],
        Operation::Add { a, b } => slots[*a][index] + slots[*b][index],
        Operation::Relu { x } => slots[*x][index].max(0.0),
        Operation::Table { x, function } => function.approximate(slots[*x][index]),
        Operation::Swiglu { x, .. } => {
            let x = &slots[*x];
            Function::Silu.approximate(x[index]) * x[step.elements + index]
        }
        Operation::Norm { x, mean, factors, bias } => {
            (slots[*x][index] - mean.to_f64()) * factors.floats[index] + added(bias, index)
        }
    };
    (0..step.elements).map(value).collect()
}

impl Meaning for Golden {
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
}
