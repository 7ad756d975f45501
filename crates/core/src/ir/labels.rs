//! Names of a source for elements and values, in addition to the program: they do not change its semantics.

use super::{Layers, Model, ValueId};

/// Names from the file that a program was lowered from. Empty for programs that have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Names of the input elements, in their order; empty: they have none.
    pub inputs: Vec<String>,
    /// Names of the output elements, in their order; empty: they have none.
    pub outputs: Vec<String>,
    /// Values by the operation that they stem from ([`super::Node::origin`]). Of several names of one operation the
    /// first counts.
    pub values: Vec<(u32, String)>,
    /// Numbers of the operations in names and remarks, each once, by index; empty: their own indices.
    pub numbers: Vec<u32>,
    /// The nodes of a network that the operations were made for, by [`super::Node::origin`].
    pub layers: Layers,
    /// `true` if the names of operations begin with the name of their layer.
    pub has_layered_names: bool,
}

impl Labels {
    /// Returns `true` if there is no name.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty() && self.values.is_empty()
    }

    /// Numbers the operations of `new` as the corresponding ones of `old`. The others get numbers above those of `old`.
    pub fn number_like(&mut self, old: &Model, new: &Model) {
        let mut numbers: Vec<Option<u32>> = vec![None; new.nodes().len()];
        for (of_old, of_new) in super::align(old, new) {
            numbers[of_new.index()] = Some(of_old.0);
        }
        let mut next = old.nodes().len() as u32..;
        self.numbers =
            numbers.into_iter().map(|number| number.unwrap_or_else(|| next.next().expect("numbers"))).collect();
    }

    /// Gives a value of a program that stems from itself a name.
    pub fn name(&mut self, value: ValueId, name: impl Into<String>) {
        self.values.push((value.0, name.into()));
    }
}
