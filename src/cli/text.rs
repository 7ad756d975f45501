//! The options that say how the text is written, the same wherever text is made.

use crate::emit::{self, RomStyle};
use clap::ValueEnum;

/// What is asked of synthesis, and how text is cut.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Text")]
pub(super) struct TextArgs {
    /// What lookup tables shall become
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    pub(super) rom_style: RomStyleArg,
    /// Whether synthesis may make shift registers of chains of registers [default: its choice]
    #[arg(long, value_enum, value_name = "no|yes", hide_possible_values = true)]
    pub(super) shreg_extract: Option<YesNo>,
    /// Ask synthesis to keep every name: easier to find things, at the price of area
    #[arg(long)]
    pub(super) keep_names: bool,
    /// Write each pipeline stage as a module of its own above this number of nets
    #[arg(long, value_name = "NETS", default_value_t = emit::Options::default().split_above, hide_short_help = true)]
    pub(super) split_above: usize,
}

/// [`RomStyle`] as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum RomStyleArg {
    /// The synthesiser chooses
    #[default]
    Auto,
    /// Logic (LUTs)
    Logic,
    /// Block memory, where a register follows the table
    Block,
    /// Logic, taken apart by a search into functions that fill one LUT of --device each, in modules that ask synthesis to keep
    /// them (Verilog; VHDL as logic)
    Lut,
}

/// A choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum YesNo {
    /// It must not
    No,
    /// It should
    Yes,
}

impl TextArgs {
    /// Whether tables go into block memories.
    pub(super) fn in_block_memories(&self) -> bool {
        self.rom_style == RomStyleArg::Block
    }

    /// How the text is written; `use_dsp`: products ask for multiplier blocks; `table_inputs`: those of the device's tables.
    pub(super) fn options(&self, use_dsp: bool, table_inputs: u32) -> emit::Options {
        emit::Options {
            rom_style: match self.rom_style {
                RomStyleArg::Auto => RomStyle::Auto,
                RomStyleArg::Logic => RomStyle::Logic,
                RomStyleArg::Block => RomStyle::Block,
                RomStyleArg::Lut => RomStyle::Pieces { table_inputs },
            },
            split_above: self.split_above,
            shreg_extract: self.shreg_extract.map(|choice| choice == YesNo::Yes),
            keep_names: self.keep_names,
            use_dsp,
        }
    }
}
