//! The options of the AXI4-Stream wrapper.

use crate::compile::Spec;
use crate::diag::{Diagnostic, Place};
use crate::emit::axis::{AxisOptions, Flow, Packing};
use clap::ValueEnum;

/// Options for the wrapper of the pipeline.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ports")]
pub(super) struct WrapperArgs {
    /// Wrap the module in AXI4-Stream (axis)
    #[arg(long, value_enum, default_value_t, value_name = "KIND", hide_possible_values = true)]
    pub(super) wrapper: WrapperArg,
    /// Pad elements on tdata to 8, 16, 32 or 64 bits, the fewest (auto), or not (dense)
    #[arg(long, value_enum, default_value_t, value_name = "SLOT", hide_short_help = true, hide_possible_values = true)]
    packing: PackingArg,
    /// Make tdata this wide [default: one sample]
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    axis_width: Option<u32>,
    /// Make tuser this wide; 0 for none
    #[arg(long, value_name = "BITS", default_value_t = AxisOptions::default().user, hide_short_help = true)]
    axis_user: u32,
    /// Let results wait in a FIFO (fifo), or stall the pipeline (stall)
    #[arg(long, value_enum, default_value_t, value_name = "HOW", hide_short_help = true, hide_possible_values = true)]
    axis_flow: FlowArg,
    /// Hold this many samples in the FIFO [default: latency + 2]
    #[arg(long, value_name = "N", hide_short_help = true)]
    axis_depth: Option<u32>,
}

/// Kinds of ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum WrapperArg {
    /// Data in, data out
    #[default]
    None,
    /// AXI4-Stream
    Axis,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PackingArg {
    #[default]
    Auto,
    #[value(name = "8")]
    Bits8,
    #[value(name = "16")]
    Bits16,
    #[value(name = "32")]
    Bits32,
    #[value(name = "64")]
    Bits64,
    Dense,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FlowArg {
    /// Results wait in a FIFO; every handshake signal comes from registers
    #[default]
    Fifo,
    /// The pipeline waits; no memory, but a long net
    Stall,
}

impl WrapperArgs {
    /// Returns `true` if a wrapper is requested.
    fn is_asked(&self) -> bool {
        self.wrapper == WrapperArg::Axis
    }

    /// The options that were given another value than their default.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--wrapper", self.wrapper != WrapperArg::default()),
            ("--packing", self.packing != PackingArg::default()),
            ("--axis-width", self.axis_width.is_some()),
            ("--axis-user", self.axis_user != AxisOptions::default().user),
            ("--axis-flow", self.axis_flow != FlowArg::default()),
            ("--axis-depth", self.axis_depth.is_some()),
        ];
        options.into_iter().filter_map(|(flag, given)| given.then_some(flag))
    }

    /// Options of a wrapper that was not requested, or of a FIFO that it does not have.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        let refuse = |flag: &str, message: &str, help: &str| {
            vec![Diagnostic::error("E0803", Place::Flag(flag.into()), message).with_help(help)]
        };
        if self.is_asked() && self.axis_flow == FlowArg::Stall && self.axis_depth.is_some() {
            return refuse("--axis-depth", "a pipeline that stalls has no FIFO", "leave one of the two out");
        }
        if self.is_asked() {
            return Vec::new();
        }
        self.given()
            .flat_map(|flag| refuse(flag, "an option of a wrapper that is not required", "add --wrapper axis"))
            .collect()
    }

    /// Stores the options in `spec`.
    pub(super) fn fill(&self, spec: &mut Spec) {
        spec.wrapper = self.is_asked().then(|| self.options());
    }

    fn options(&self) -> AxisOptions {
        AxisOptions {
            packing: match self.packing {
                PackingArg::Auto => Packing::Auto,
                PackingArg::Bits8 => Packing::Slot(8),
                PackingArg::Bits16 => Packing::Slot(16),
                PackingArg::Bits32 => Packing::Slot(32),
                PackingArg::Bits64 => Packing::Slot(64),
                PackingArg::Dense => Packing::Dense,
            },
            width: self.axis_width,
            user: self.axis_user,
            flow: match self.axis_flow {
                FlowArg::Fifo => Flow::Fifo(self.axis_depth),
                FlowArg::Stall => Flow::Stall,
            },
        }
    }
}
