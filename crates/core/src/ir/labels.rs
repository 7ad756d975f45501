//! Names of a source for elements and values, in addition to the program: they do not change its semantics.

use super::ValueId;

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
}

impl Labels {
    /// Returns `true` if there is no name.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty() && self.values.is_empty()
    }

    /// Gives a value of a program that stems from itself a name.
    pub fn name(&mut self, value: ValueId, name: impl Into<String>) {
        self.values.push((value.0, name.into()));
    }
}
