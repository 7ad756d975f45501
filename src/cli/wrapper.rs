//! The AXI4-Stream wrapper as it is asked for.

use super::Failure;
use super::hardware::PortArgs;
use crate::diag::{Diagnostic, Place};
use crate::emit::axis::{Axis, AxisOptions, Flow, Packing};
use crate::netlist::{self, Netlist};
use clap::ValueEnum;

/// What stands around the pipeline.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Wrapper")]
pub(super) struct WrapperArgs {
    /// Ports of the module: `axis` makes an AXI4-Stream slave and master of them
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub(super) wrapper: WrapperArg,
    /// Slot of an element on tdata: 8, 16, 32 or 64 bits, the smallest of them that fits (auto), or no padding (dense)
    #[arg(long, value_enum, default_value_t, value_name = "SLOT", hide_short_help = true)]
    packing: PackingArg,
    /// Bits of tdata; a sample takes several beats if it has more [default: a sample]
    #[arg(long, value_name = "BITS", hide_short_help = true)]
    axis_width: Option<u32>,
    /// Bits of tuser; 0 for none
    #[arg(long, value_name = "BITS", default_value_t = AxisOptions::default().user, hide_short_help = true)]
    axis_user: u32,
    /// A slow reader fills a FIFO, or stalls the pipeline
    #[arg(long, value_enum, default_value_t, value_name = "HOW", hide_short_help = true)]
    axis_flow: FlowArg,
    /// Samples that the FIFO holds [default: the latency and two, which full rate needs]
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
    /// Whether there is one.
    pub(super) fn is_asked(&self) -> bool {
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

    /// What does not go together.
    pub(super) fn problems(&self, ports: &PortArgs) -> Vec<Diagnostic> {
        let refuse = |flag: &str, message: &str, help: &str| {
            Diagnostic::error("E0803", Place::Flag(flag.into()), message).with_help(help)
        };
        let mut problems = Vec::new();
        let own = "leave it out: the wrapper has ports of its own and controls the pipeline itself";
        if self.is_asked() {
            if ports.has_controls() {
                problems.push(refuse("--wrapper", "with --valid, --enable, --reset or names of ports", own));
            }
            if self.axis_flow == FlowArg::Stall && self.axis_depth.is_some() {
                problems.push(refuse("--axis-depth", "a pipeline that stalls has no FIFO", "leave one of the two out"));
            }
        } else if self.axis_width.is_some()
            || self.axis_depth.is_some()
            || self.axis_flow != FlowArg::Fifo
            || self.packing != PackingArg::Auto
        {
            let help = "add --wrapper axis";
            problems.push(refuse("--wrapper", "options of a wrapper that is not asked for", help));
        }
        problems
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

    /// What lowering shall make, where the whole is called `top`: with a wrapper, its core.
    pub(super) fn core_options(&self, ports: &PortArgs, top: &str) -> netlist::Options {
        if !self.is_asked() {
            return ports.options(top);
        }
        netlist::Options {
            top: format!("{top}_core"),
            enable: self.axis_flow == FlowArg::Stall,
            ..netlist::Options::default()
        }
    }

    /// The wrapper called `top` around a core that [`WrapperArgs::core_options`] has asked for; nothing if none is wanted.
    ///
    /// # Errors
    /// If it cannot be built (exit code 2).
    pub(super) fn around(&self, top: &str, core: &Netlist) -> Result<Option<Axis>, Failure> {
        if !self.is_asked() {
            return Ok(None);
        }
        Axis::new(top, &core.interface, &self.options()).map(Some).map_err(Failure::input)
    }
}
