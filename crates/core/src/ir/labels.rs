//! Names from a source for elements and values of a program, which do not change its semantics.

use super::{Layers, Model, ValueId};

/// Names from the file that a program was lowered from; empty for programs without names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Names of the input elements, in their order; empty if they have none.
    pub inputs: Vec<String>,
    /// Names of the output elements, in their order; empty if they have none.
    pub outputs: Vec<String>,
    /// Names of values, by the original operation of the value ([`super::Node::origin`]). If an operation has several
    /// names, the first is used.
    pub values: Vec<(u32, String)>,
    /// Numbers that names and remarks use for the operations, by index, all different; if empty, the indices are used.
    pub numbers: Vec<u32>,
    /// Nodes of a network for which the operations were created, by [`super::Node::origin`].
    pub layers: Layers,
    /// `true` if the names of operations begin with the name of their layer.
    pub has_layered_names: bool,
}

impl Labels {
    /// Returns `true` if there is no name of an element or value.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty() && self.values.is_empty()
    }

    /// Numbers the operations of `new` like the corresponding operations of `old`. Other operations get numbers above
    /// those of `old`.
    pub fn number_like(&mut self, old: &Model, new: &Model) {
        let mut numbers: Vec<Option<u32>> = vec![None; new.nodes().len()];
        for (of_old, of_new) in super::align(old, new) {
            numbers[of_new.index()] = Some(of_old.0);
        }
        let mut next = old.nodes().len() as u32..;
        self.numbers =
            numbers.into_iter().map(|number| number.unwrap_or_else(|| next.next().expect("numbers"))).collect();
    }

    /// Names a value of a program whose operations have their own indices as origins.
    pub fn name(&mut self, value: ValueId, name: impl Into<String>) {
        self.values.push((value.0, name.into()));
    }
}
