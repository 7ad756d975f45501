//! Intermediate programs between a program and RTL: hints that the prover checks and never trusts.

use crate::compile;
use alir_core::ir::Model;
use alir_hdl::Rtl;
use alir_prove::phases;
use alir_prove::steps::Steps;

/// Builds the intermediate programs.
type Build<'a> = Box<dyn Fn() -> Option<Steps> + 'a>;

/// Source of the intermediate programs, which are built on demand.
#[derive(Default)]
pub struct Hints<'a> {
    /// Builds the programs; `None` without hints.
    pub(super) build: Option<Build<'a>>,
    /// `true` if the hardware is bit-serial: then its gates are those of the program.
    pub(super) is_bit_serial: bool,
}

impl<'a> Hints<'a> {
    /// Returns no hints.
    pub fn none() -> Hints<'a> {
        Hints::default()
    }

    /// Returns hints with the intermediate programs that `build` returns.
    pub fn from_programs(build: impl Fn() -> Option<Steps> + 'a) -> Hints<'a> {
        Hints { build: Some(Box::new(build)), is_bit_serial: false }
    }

    /// Returns these hints, marked as hints for bit-serial hardware if `is_bit_serial`.
    #[must_use]
    pub fn with_bit_serial(self, is_bit_serial: bool) -> Hints<'a> {
        Hints { is_bit_serial, ..self }
    }

    /// Returns the hints that the header comment of RTL contains.
    pub fn from_header(model: &'a Model, rtl: &'a Rtl) -> Hints<'a> {
        let is_bit_serial = compile::is_bit_serial(&rtl.head);
        // The plan of resource sharing and of bit-serial parts is rebuilt.
        let is_planned = !is_bit_serial && phases::stated_interval(rtl).is_some_and(|interval| interval > 1);
        let build: Option<Build<'a>> = match is_planned {
            true => Some(Box::new(|| intermediate_programs(model, &rtl.head))),
            false => compile::recover_passes(model, &rtl.head).map(|steps| Box::new(steps) as Build<'a>),
        };
        Hints { build, is_bit_serial }
    }
}

/// Returns the intermediate programs of time-multiplexed RTL, computed by the command in the header comment.
pub fn intermediate_programs(model: &Model, head: &[String]) -> Option<Steps> {
    let spec = compile::spec_from_header(head)?;
    Some(compile::model(model, &spec).ok()?.reused()?.steps(&spec))
}
