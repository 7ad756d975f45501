//! Nodes of a network, by the operations of the lowered program that were created for them.
//!
//! The lowering records the nodes for display only; no computation depends on them. An operation that several nodes
//! share belongs to the node for which it was created first.

/// The nodes of a network in the order in which they were lowered, with the operations of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    names: Vec<String>,
    /// Index of the operation after the last one of each node.
    ends: Vec<usize>,
}

impl Layers {
    /// Records that the operations up to index `end` (exclusive) belong to the node `name`.
    pub fn note(&mut self, name: &str, end: usize) {
        if self.ends.last().copied().unwrap_or(0) >= end {
            return;
        }
        if self.names.last().is_some_and(|last| last == name) {
            self.ends.pop();
        } else {
            self.names.push(name.to_owned());
        }
        self.ends.push(end);
    }

    /// Returns the names of the nodes with operations.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the index of the node of an operation; `None` if it belongs to no node.
    pub fn layer(&self, operation: usize) -> Option<usize> {
        let index = self.ends.partition_point(|&end| end <= operation);
        (index < self.names.len()).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_belong_to_the_node_for_which_they_were_created() {
        let mut layers = Layers::default();
        for (name, end) in [("inputs", 2), ("up", 5), ("up", 6), ("reshape", 6), ("down", 8)] {
            layers.note(name, end);
        }
        assert_eq!(layers.names(), ["inputs", "up", "down"]);
        assert_eq!(
            [0, 1, 2, 5, 6, 7, 8].map(|op| layers.layer(op)),
            [0, 0, 1, 1, 2, 2].map(Some).into_iter().chain([None]).collect::<Vec<_>>()[..]
        );
        assert_eq!(Layers::default().layer(0), None);
    }
}
