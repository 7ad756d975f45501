//! Options of the AXI4-Stream wrapper.

use crate::emit::axis::{AxisOptions, Packing};
use crate::options::HardwareOptions;
use clap::ValueEnum;

/// Options for the wrapper of the pipeline.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ports")]
pub(super) struct WrapperArgs {
    /// Wrap the module in AXI4-Stream (axis), or not (none)
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    wrapper: Option<WrapperArg>,
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
    /// Hold this many samples in the FIFO [default: the fewest at full rate]
    #[arg(long, value_name = "N", hide_short_help = true)]
    axis_depth: Option<u32>,
}

/// Kinds of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WrapperArg {
    /// Data in, data out
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
    /// Stores the options.
    pub(super) fn fill(&self, options: &mut HardwareOptions) {
        options.axis = self.wrapper == Some(WrapperArg::Axis);
        options.no_wrapper = self.wrapper == Some(WrapperArg::None);
        options.packing = match self.packing {
            PackingArg::Auto => Packing::Auto,
            PackingArg::Bits8 => Packing::Slot(8),
            PackingArg::Bits16 => Packing::Slot(16),
            PackingArg::Bits32 => Packing::Slot(32),
            PackingArg::Bits64 => Packing::Slot(64),
            PackingArg::Dense => Packing::Dense,
        };
        options.axis_width = self.axis_width;
        options.axis_user = self.axis_user;
        options.axis_stall = self.axis_flow == FlowArg::Stall;
        options.axis_depth = self.axis_depth;
    }
}
