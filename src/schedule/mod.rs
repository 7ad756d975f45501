//! In which pipeline stage each operation is computed.
//!
//! With `N` stages, operations of stage `s` (from 1) use values that were held in the registers of boundary
//! `s - 1` or computed in the same stage; boundary `s` is the register layer that ends stage `s`. Every output is
//! held in boundary `N`. A value made in stage `s` and last used in stage `t` is held in boundaries `s .. t`
//! (`t` not included); one that an output shows is held to boundary `N`.

/// A pipeline: how many stages, and which operation goes where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Number of stages; 0 for a combinational module (then every entry of `stage` is 1).
    pub stages: u32,
    /// Whether the inputs are registered too (boundary 0), which makes the latency `stages + 1`.
    pub register_inputs: bool,
    /// Stage of each operation, 1 to `max(stages, 1)`.
    pub stage: Vec<u32>,
}

impl Schedule {
    /// No registers.
    pub fn combinational(operations: usize) -> Schedule {
        Schedule { stages: 0, register_inputs: false, stage: vec![1; operations] }
    }

    /// Rising edges from input to result.
    pub fn latency(&self) -> u32 {
        self.stages + u32::from(self.register_inputs)
    }
}
