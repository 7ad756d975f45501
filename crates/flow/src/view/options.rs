//! Options of the HTML viewer, apart from those of the hardware.

use crate::options::{OptionFault, OptionValue, flag_value, invalid, path, unsigned};
use std::path::PathBuf;

/// Files of a page, and the samples that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// File of the page.
    pub output: Option<PathBuf>,
    /// `true` if the page is opened in the browser.
    pub open: bool,
    /// File of the chart of the stages.
    pub svg: Option<PathBuf>,
    /// File of samples whose values the page shows.
    pub samples: Option<PathBuf>,
    /// Largest number of these samples.
    pub max_samples: u32,
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { output: None, open: false, svg: None, samples: None, max_samples: 200 }
    }
}

impl PageOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &["open", "svg", "input", "max_samples"];

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
            "max_samples" => unsigned::<u32>(value).and_then(|count| match count {
                1..=100_000 => {
                    self.max_samples = count;
                    Ok(())
                }
                _ => Err("a number from 1 to 100000".to_owned()),
            }),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }
}
