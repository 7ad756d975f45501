//! RTL files on the command line: several files, file lists, include folders, macros, and the selection of the top
//! module.

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::formats;
use crate::rtl::project::{self, ProjectFiles, RtlProject};
use crate::rtl::{self, Rtl};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns `true` if a file has the extension of Verilog, SystemVerilog or VHDL.
pub(super) fn is_rtl(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["v", "sv", "vhd", "vhdl"].iter().any(|rtl| e.eq_ignore_ascii_case(rtl)))
}

/// Maximum number of modules that are tried as the top module if none is named.
const MAX_TRIED: usize = 200;

/// Maximum size in bytes of a file that sources include or read.
const MAX_BYTES: u64 = 1 << 28;

/// Maximum size in bytes of the beginning of a file that is searched for a header comment.
const MAX_HEADER: u64 = 1 << 20;

/// Options for projects of several files.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "RTL files")]
pub(super) struct RtlFileArgs {
    /// Take files, +incdir+, +define+, -I, -D, -y and further lists from a file list (may be repeated)
    #[arg(short = 'f', long = "file-list", value_name = "FILE")]
    lists: Vec<PathBuf>,
    /// Search included files in this folder (Verilog)
    #[arg(short = 'I', long = "include-dir", value_name = "DIR", hide_short_help = true)]
    include_dirs: Vec<PathBuf>,
    /// Take the module NAME from the file NAME.v of this folder if no other file has it (Verilog)
    #[arg(short = 'y', long = "library-dir", value_name = "DIR", hide_short_help = true)]
    library_dirs: Vec<PathBuf>,
    /// Define a macro (Verilog) [default text: 1]
    #[arg(short = 'D', long = "define", value_name = "NAME[=TEXT]", hide_short_help = true)]
    defines: Vec<String>,
}

impl RtlFileArgs {
    /// Returns `true` if no option is given.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.include_dirs.is_empty() && self.library_dirs.is_empty() && self.defines.is_empty()
    }

    /// Returns the first file list.
    pub(super) fn first_list(&self) -> &Path {
        self.lists.first().map_or(Path::new("-"), PathBuf::as_path)
    }

    /// Collects the files and options of the command line and its file lists.
    ///
    /// # Errors
    /// If a list cannot be read, or if an option is invalid (exit code 2).
    pub(super) fn project(&self, files: &[PathBuf]) -> Result<ProjectFiles, Failure> {
        let (include_dirs, library_dirs) = (self.include_dirs.clone(), self.library_dirs.clone());
        let mut project = ProjectFiles { include_dirs, library_dirs, ..ProjectFiles::default() };
        for definition in &self.defines {
            project.define_option(definition)?;
        }
        for list in &self.lists {
            project.add_list(list, &read_file).map_err(Failure::input)?;
        }
        project.files.extend_from_slice(files);
        Ok(project)
    }

    /// Reads the sources that the command line and its file lists name.
    ///
    /// # Errors
    /// If a source cannot be read, or if the sources are in two languages (exit code 2).
    pub(super) fn load(&self, files: &[PathBuf]) -> Result<RtlProject, Failure> {
        RtlProject::load(&self.project(files)?, &text_of, &read_file)
    }
}

impl From<Diagnostic> for Failure {
    /// Builds the failure for a problem of the input (exit code 2).
    fn from(problem: Diagnostic) -> Failure {
        Failure::input(problem)
    }
}

/// Elaborated design of a project.
pub(super) struct ElaboratedDesign {
    /// The design.
    pub(super) rtl: Rtl,
    /// Name of the outermost module, if a module within it was selected.
    pub(super) outer: Option<String>,
}

impl ElaboratedDesign {
    /// Returns a note if a module within another one was selected.
    pub(super) fn note(&self) -> Option<String> {
        let (outer, inner) = (self.outer.as_ref()?, &self.rtl.top);
        Some(format!("module {inner} was compared; module {outer} has other ports and is not part of the proof"))
    }

    /// Returns the name of the top module if it is not the default one; `given` is the value of `--top`.
    pub(super) fn top<'a>(&'a self, given: Option<&'a str>) -> Option<&'a str> {
        given.or(self.outer.as_ref().map(|_| self.rtl.top.as_str()))
    }
}

/// RTL, or the reason why it cannot be read; `None` if another program reads it.
pub(super) type OpenRtl = Option<Result<ReadRtl, Failure>>;

/// RTL that was read before the design with which it is compared is known.
pub(super) struct ReadRtl {
    /// The sources.
    pub(super) project: RtlProject,
    is_netlist: bool,
    /// Requested top module; `None` for the default one.
    top: Option<String>,
    rtl: Result<Rtl, Diagnostic>,
}

impl ReadRtl {
    /// Elaborates a project, unless it was read as a netlist.
    pub(super) fn new(project: RtlProject, netlist: Option<Rtl>, top: Option<&str>) -> ReadRtl {
        let is_netlist = netlist.is_some();
        let rtl = netlist.map_or_else(|| project.read(top, &read_file), Ok);
        ReadRtl { project, is_netlist, top: top.map(str::to_owned), rtl }
    }

    /// Returns `true` for a netlist.
    pub(super) fn is_netlist(&self) -> bool {
        self.is_netlist
    }

    /// Returns the netlist, or the design of the project. Without the name of a top module, selects the outermost
    /// module for which `fits` returns `true`.
    ///
    /// # Errors
    /// If the sources cannot be elaborated, or if the selection is ambiguous (exit code 2).
    pub(super) fn elaborated(self, fits: &dyn Fn(&Rtl) -> bool) -> Result<ElaboratedDesign, Failure> {
        let ReadRtl { project, is_netlist, top, rtl } = self;
        let as_it_is = |rtl: Rtl| ElaboratedDesign { rtl, outer: None };
        if is_netlist || top.is_some() || rtl.as_ref().is_ok_and(fits) {
            return Ok(as_it_is(rtl?));
        }
        let modules = project.modules()?;
        let read = |name: &String| project.read(Some(name), &read_file).ok().filter(fits);
        let mut fitting: Vec<Rtl> = modules.iter().take(MAX_TRIED).filter_map(read).collect();
        // Of two modules with the same ports, the outer one has more signals.
        fitting.sort_by_key(|rtl| std::cmp::Reverse(rtl.signals().len()));
        match &fitting[..] {
            [] => Ok(as_it_is(rtl?)),
            [a, b, ..] if a.signals().len() == b.signals().len() => Ok(as_it_is(rtl?)),
            _ => Ok(ElaboratedDesign { rtl: fitting.swap_remove(0), outer: rtl.ok().map(|rtl| rtl.top) }),
        }
    }
}

/// Reads a regular file of limited size.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let facts = std::fs::metadata(path)?;
    if !facts.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"));
    }
    if facts.len() > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has more than 256 MiB"));
    }
    std::fs::read(path)
}

/// Returns the header comment of an RTL file; no lines for a file that cannot be read twice.
pub(super) fn header_comment(file: &Path) -> Vec<String> {
    let beginning = beginning(file, MAX_HEADER);
    let text = String::from_utf8_lossy(&beginning);
    project::header_comment(rtl::Language::detect(file, &text), &text)
}

/// Returns at most `limit` bytes from the beginning of a file. Returns no bytes if the file cannot be read, or if it is
/// not a regular file: a pipe can be read only once.
pub(super) fn beginning(file: &Path, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let regular = Some(file).filter(|file| file.is_file()).and_then(|file| std::fs::File::open(file).ok());
    match regular.map(|file| file.take(limit).read_to_end(&mut bytes)) {
        Some(Ok(_)) => bytes,
        _ => Vec::new(),
    }
}

/// Returns the contents of an RTL file.
///
/// # Errors
/// If the file cannot be read, is a model or a file of samples, or is in UTF-16 (exit code 2).
pub(super) fn text_of(file: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().lock().read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|e| Failure::io(file, "read", &e))?;
    if formats::shows_model(&bytes) && !rtl::netlist::is_json(&bytes) {
        let message = "this is a model, not Verilog or VHDL";
        let help = "the order is `alir2hdl prove MODEL FILE`; `alir2hdl diff A B` compares two models";
        return Err(in_file(Diagnostic::error("E0911", Place::Whole, message).with_help(help), file));
    }
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if ["csv", "npy", "npz"].contains(&ending.as_str()) {
        let message = "this is a file of samples, not Verilog or VHDL";
        let help = "name the RTL file; `alir2hdl run MODEL SAMPLES` reads samples";
        return Err(in_file(Diagnostic::error("E0911", Place::Whole, message).with_help(help), file));
    }
    rtl::decoded(bytes).map_err(|wrong| in_file(wrong, file))
}

/// Builds a failure from problems of an RTL file.
pub(super) fn in_file(wrong: impl Into<Diagnostics>, file: &Path) -> Failure {
    Failure::input(wrong.into().in_file(file))
}
