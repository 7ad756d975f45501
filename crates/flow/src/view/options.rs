//! Options of the HTML viewer, except those of the hardware.

use crate::options::{OptionFault, OptionValue, flag_value, invalid, path, within};
use alir_core::diag::{Diagnostic, Place};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Output files of the HTML viewer, and the samples that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// HTML file.
    pub output: Option<PathBuf>,
    /// `true` if the HTML file is opened in the browser.
    pub open: bool,
    /// SVG file with the chart of the stages.
    pub svg: Option<PathBuf>,
    /// File of samples whose values the viewer shows.
    pub samples: Option<PathBuf>,
    /// Maximum number of samples that are shown.
    pub max_samples: u32,
}

/// Returns the file name extension in lower case; empty without one.
fn ending(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

/// Checks the file name of a chart.
///
/// # Errors
/// `E0802` if the extension belongs to another kind of file, or the path is standard output.
pub fn check_svg(path: &Path) -> Result<(), Diagnostic> {
    let is_stdout = path.as_os_str() == "-";
    if matches!(ending(path).as_str(), "svg" | "") && !is_stdout {
        return Ok(());
    }
    let (message, help) = match is_stdout {
        true => ("stdout has the report of this command".to_owned(), "name a file that ends in .svg"),
        false => (format!("the ending of {} is not that of an SVG picture", path.display()), "end it in .svg"),
    };
    Err(Diagnostic::error("E0802", Place::Flag("--svg".into()), message).with_help(help))
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { output: None, open: false, svg: None, samples: None, max_samples: 200 }
    }
}

impl PageOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &["open", "svg", "input", "max_samples"];

    /// Returns the paths of the HTML file and of the chart; `None` for a file that is not written. `name` is the name
    /// of the design.
    ///
    /// # Errors
    /// If the extension of a file name belongs to another kind of file.
    pub fn paths(&self, name: &str) -> Result<(Option<PathBuf>, Option<&Path>), Diagnostic> {
        if let Some(path) = &self.output
            && self.svg.is_none()
            && !self.open
            && ending(path) == "svg"
        {
            return Ok((None, Some(path)));
        }
        if let Some(path) = self.output.as_ref().filter(|path| !matches!(ending(path).as_str(), "html" | "htm" | "")) {
            let message = format!("the ending of {} is not that of a page", path.display());
            let error = Diagnostic::error("E0802", Place::Flag("--output".into()), message);
            return Err(error.with_help("end it in .html for the page, .svg for the stages alone"));
        }
        self.svg.as_deref().map_or(Ok(()), check_svg)?;
        let page = match (&self.output, &self.svg) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(_)) if !self.open => None,
            (None, _) => Some(PathBuf::from(format!("{name}.html"))),
        };
        Ok((page, self.svg.as_deref()))
    }

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "output" => path(value).map(|file| self.output = Some(file)),
            "open" => flag_value(value).map(|open| self.open = open),
            "svg" => path(value).map(|file| self.svg = Some(file)),
            "input" => path(value).map(|file| self.samples = Some(file)),
            "max_samples" => within(value, 1..=100_000).map(|count| self.max_samples = count),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }
}
