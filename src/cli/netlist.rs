//! Netlists for `prove`: which files are netlists, and with which options they are read.

use super::Failure;
use super::prove::{in_file, text_of};
use crate::rtl::netlist::{self, CellFamily, NetlistOptions};
use crate::rtl::{self, Rtl};
use std::path::{Path, PathBuf};

/// Options for netlists.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Netlists")]
pub(super) struct NetlistArgs {
    /// RTL that the netlist was made from: an untrusted hint, whose names and intermediate values shorten the proof
    #[arg(long, value_name = "FILE")]
    pub(super) rtl: Option<PathBuf>,
    /// Cell library of a netlist: xilinx, ecp5, ice40, gowin, intel, or a Verilog file with further cells [default: by the
    /// names of the cells]
    #[arg(long, value_name = "FAMILY|FILE")]
    pub(super) cells: Vec<String>,
    /// Instance within the netlist that is proved, with dots from the top module
    #[arg(long, value_name = "PATH")]
    pub(super) instance: Option<String>,
}

impl NetlistArgs {
    /// Returns `true` if an option says that the file is a netlist.
    fn is_requested(&self) -> bool {
        self.rtl.is_some() || !self.cells.is_empty() || self.instance.is_some()
    }

    /// Reads a file as a netlist; `None` if it is none.
    ///
    /// # Errors
    /// If the netlist or a cell library cannot be read (exit code 2).
    pub(super) fn read(&self, file: &Path, text: &str, top: Option<&str>) -> Result<Option<Rtl>, Failure> {
        let is_netlist = self.is_requested() || netlist::is_netlist(text, top);
        if rtl::Language::of(file, text) == rtl::Language::Vhdl || !is_netlist {
            return Ok(None);
        }
        let mut options = NetlistOptions {
            top: top.map(str::to_owned),
            instance: self.instance.clone(),
            ..NetlistOptions::default()
        };
        for cells in &self.cells {
            match CellFamily::ALL.into_iter().find(|family| family.name() == cells) {
                Some(family) => options.family = Some(family),
                None => options.cells.get_or_insert_default().push_str(&text_of(Path::new(cells))?),
            }
        }
        netlist::read(text, &options).map_err(|wrong| in_file(wrong, file))
    }
}
