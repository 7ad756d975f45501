//! Which node of a network each operation of its lowered program was made for.
//!
//! A lowering notes it while it makes the program. It is shown to people and nothing rests on it: an operation that
//! several nodes share counts to the node for which it was made first.

/// The nodes of a network in the order in which they were lowered, with the operations of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    names: Vec<String>,
    /// For each name the operation after its last one.
    ends: Vec<usize>,
}

impl Layers {
    /// Says that the operations up to number `end`, which is not among them, were made for the node `name`.
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

    /// The names of the nodes that operations were made for.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of the node that an operation was made for.
    pub fn layer(&self, operation: usize) -> Option<usize> {
        let index = self.ends.partition_point(|&end| end <= operation);
        (index < self.names.len()).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_belong_to_the_node_that_was_lowered_when_they_were_made() {
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
