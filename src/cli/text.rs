//! Options for the style of the RTL, common to all sub-commands that generate RTL.

use crate::compile::LookupTables;
use crate::emit::{self, Hierarchy};
use crate::options::HardwareOptions;
use clap::ValueEnum;

/// Options for synthesis attributes, and for the division of RTL into files.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Optimisation and RTL")]
pub(super) struct TextArgs {
    /// Make look-up tables of logic, BRAM (block), searched functions (lut), or as synthesis does (auto)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "STYLE",
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub(super) rom_style: RomStyleArg,
    /// Allow shift registers for chains of registers [default: synthesis chooses]
    #[arg(long, value_enum, value_name = "no|yes", hide_possible_values = true, hide_short_help = true)]
    pub(super) shreg_extract: Option<YesNo>,
    /// Ask synthesis to keep every name, at the price of area
    #[arg(long, hide_short_help = true)]
    pub(super) keep_names: bool,
    /// Name signals by the source (variables of kernels, layers of networks), or by numbers of operations alone
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "source|index",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(super) names: NamesArg,
    /// Write one module (flat), one for each pipeline stage (stages), one for each layer of a network (layers), or
    /// stages where the design is large (auto)
    #[arg(long, value_enum, default_value_t, value_name = "KIND", hide_possible_values = true, hide_short_help = true)]
    pub(super) hierarchy: HierarchyArg,
    /// Write stages as modules of their own above this number of nets (with --hierarchy auto)
    #[arg(long, value_name = "NETS", default_value_t = emit::Options::default().split_above, hide_short_help = true)]
    pub(super) split_above: usize,
}

/// Argument of `--rom-style`; see [`LookupTables`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum RomStyleArg {
    /// The synthesiser chooses; with -O2, block memory where a register follows the table and the memory is a smaller
    /// share of --device than the logic
    #[default]
    Auto,
    /// Logic (LUTs)
    Logic,
    /// Block memory, where a register follows the table
    Block,
    /// Logic, taken apart by a search into functions that fill one LUT of --device each, in modules that ask synthesis
    /// to keep them
    Lut,
}

/// Argument of `--names`: source of the names of signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum NamesArg {
    /// The source's, where it has some
    #[default]
    Source,
    /// Numbers of operations
    Index,
}

/// Argument of `--hierarchy`; see [`Hierarchy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum HierarchyArg {
    /// Modules of stages in large designs
    #[default]
    Auto,
    /// One module
    Flat,
    /// A module for each pipeline stage
    Stages,
    /// A module for each layer of a network
    Layers,
}

impl HierarchyArg {
    /// Returns the division that the option selects.
    fn hierarchy(self) -> Hierarchy {
        match self {
            HierarchyArg::Auto => Hierarchy::Auto,
            HierarchyArg::Flat => Hierarchy::Flat,
            HierarchyArg::Stages => Hierarchy::Stages,
            HierarchyArg::Layers => Hierarchy::Layers,
        }
    }
}

/// Argument of `--shreg-extract`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum YesNo {
    /// It must not
    No,
    /// It should
    Yes,
}

impl TextArgs {
    /// Stores the options.
    pub(super) fn fill(&self, options: &mut HardwareOptions) {
        options.tables = self.rom_style.tables();
        options.shreg_extract = self.shreg_extract.map(|choice| choice == YesNo::Yes);
        options.keep_names = self.keep_names;
        options.hierarchy = self.hierarchy.hierarchy();
        options.split_above = self.split_above;
        options.index_names = self.names == NamesArg::Index;
    }
}

impl RomStyleArg {
    /// Returns the implementation of look-up tables that the option selects.
    pub(super) fn tables(self) -> LookupTables {
        match self {
            RomStyleArg::Auto => LookupTables::Auto,
            RomStyleArg::Logic => LookupTables::Logic,
            RomStyleArg::Block => LookupTables::Block,
            RomStyleArg::Lut => LookupTables::Pieces,
        }
    }
}
