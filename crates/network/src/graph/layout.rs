//! Positions of elements in a buffer with a tokens axis, and rows of values over which a softmax is computed.

/// Position of the tokens axis in a buffer in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size of the tokens axis; 1 without one.
    pub tokens: usize,
    /// Number of consecutive elements of one token: the product of the axes after the tokens axis.
    pub inner: usize,
}

impl Layout {
    /// Layout of a buffer without a tokens axis.
    pub const FLAT: Layout = Layout { tokens: 1, inner: 1 };

    /// Returns the index of an element of a token; elements of a token count in row-major order of the other axes.
    pub fn index(&self, token: usize, element: usize) -> usize {
        (element / self.inner * self.tokens + token) * self.inner + element % self.inner
    }
}

/// A value that an operation reads token by token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Slot of the value.
    pub slot: usize,
    /// Layout of the value.
    pub layout: Layout,
}

impl Operand {
    /// Returns an operand that is read as a whole.
    pub fn whole(slot: usize) -> Operand {
        Operand { slot, layout: Layout::FLAT }
    }

    /// Returns the elements of one token.
    pub fn token<V: Clone>(&self, slots: &[Vec<V>], token: usize) -> Vec<V> {
        let all = &slots[self.slot];
        let count = all.len() / self.layout.tokens;
        (0..count).map(|element| all[self.layout.index(token, element)].clone()).collect()
    }

    /// Returns one element of a token.
    pub fn element<'v, V>(&self, slots: &'v [Vec<V>], token: usize, element: usize) -> &'v V {
        &slots[self.slot][self.layout.index(token, element)]
    }
}

/// Consecutive rows of a value, which may have different lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Index of the first element of each row, followed by the number of all elements.
    starts: Vec<usize>,
}

impl Rows {
    /// Returns rows of these lengths.
    pub fn from_lengths(lengths: impl IntoIterator<Item = usize>) -> Rows {
        let mut starts = vec![0];
        let mut end = 0;
        for length in lengths {
            end += length;
            starts.push(end);
        }
        Rows { starts }
    }

    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of elements of all rows.
    pub fn elements(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the indices of a row's elements.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }
}

/// Sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Number of tokens.
    pub tokens: usize,
    /// Number of query heads.
    pub heads: usize,
    /// Number of key and value heads; each belongs to a group of consecutive query heads.
    pub kv_heads: usize,
    /// Number of elements of a query or a key.
    pub head_dim: usize,
    /// Number of elements of a value.
    pub value_dim: usize,
    /// `true` if a token attends only to itself and to earlier tokens.
    pub causal: bool,
}

impl Heads {
    /// Returns the index of the key and value head of a query head.
    pub fn group(&self, head: usize) -> usize {
        head * self.kv_heads / self.heads
    }

    /// Returns the number of tokens to which a token attends; they are the first tokens.
    pub fn visible(&self, token: usize) -> usize {
        if self.causal { token + 1 } else { self.tokens }
    }

    /// Returns the rows of scores `[head][token]`; each row contains the visible tokens.
    pub fn rows(&self) -> Rows {
        Rows::from_lengths((0..self.heads).flat_map(|_| (0..self.tokens).map(|token| self.visible(token))))
    }

    /// Returns the number of scores.
    pub fn pairs(&self) -> u128 {
        let (heads, tokens) = (self.heads as u128, self.tokens as u128);
        if self.causal { heads * (tokens * (tokens + 1) / 2) } else { heads * tokens * tokens }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_token_are_found_wherever_its_axis_is() {
        // [heads 2][tokens 3][head_dim 2]
        let slots = [(0..12).collect::<Vec<i32>>()];
        let operand = Operand { slot: 0, layout: Layout { tokens: 3, inner: 2 } };
        assert_eq!(operand.token(&slots, 1), [2, 3, 8, 9]);
        assert_eq!(*operand.element(&slots, 2, 3), 11);
        // [embed 4][tokens 3]
        let last = Operand { slot: 0, layout: Layout { tokens: 3, inner: 1 } };
        assert_eq!(last.token(&slots, 0), [0, 3, 6, 9]);
    }

    #[test]
    fn heads_are_grouped_in_order_and_causal_rows_grow() {
        let heads = Heads { tokens: 3, heads: 3, kv_heads: 2, head_dim: 2, value_dim: 2, causal: true };
        assert_eq!([0, 1, 2].map(|head| heads.group(head)), [0, 0, 1]);
        let rows = heads.rows();
        assert_eq!((rows.count(), rows.row(4), heads.pairs()), (9, 7..9, 18));
        assert_eq!(rows.elements(), 18);
    }
}
