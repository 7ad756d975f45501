//! Opens a page in the user's browser with a program of the operating system.

use super::Failure;
use crate::diag::{Diagnostic, Place};
use crate::verify::MISSING_TOOL;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Programs that open a file with the user's default application, in order of preference.
const OPENERS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["explorer.exe"]
} else {
    &["xdg-open", "gio", "sensible-browser", "wslview"]
};

/// Time limit for an opener to report failure. An opener that still runs after it is the browser itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// Program that opens pages.
pub(super) struct Browser {
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Browser {
    /// Returns the first opener that is installed.
    ///
    /// # Errors
    /// If none is installed (exit code 3).
    pub(super) fn find() -> Result<Browser, Failure> {
        let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
        let found = OPENERS.iter().find_map(|&name| {
            let program = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())?;
            Some(Browser { program, arguments: if name == "gio" { &["open"] } else { &[] } })
        });
        found.ok_or_else(|| {
            let message = format!("--open needs one of {} to open a page, and none is in PATH", OPENERS.join(", "));
            let help = "leave --open out and open the page in a browser yourself (on Debian: apt install xdg-utils)";
            Failure::missing_tool(
                Diagnostic::error(MISSING_TOOL, Place::Flag("--open".into()), message).with_help(help),
            )
        })
    }

    /// Opens a page. The browser continues after this program ends.
    ///
    /// # Errors
    /// If the program cannot be started (exit code 3), or if it reports failure (exit code 2).
    pub(super) fn open(&self, page: &Path) -> Result<(), Failure> {
        let page = page.canonicalize().map_err(|e| Failure::io(page, "open", &e))?;
        let mut command = Command::new(&self.program);
        command.args(self.arguments).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let place = || Place::Flag("--open".into());
        let name = self.program.display();
        let status = ended(&mut command).map_err(|e| {
            Failure::missing_tool(Diagnostic::error(MISSING_TOOL, place(), format!("{name} cannot be started: {e}")))
        })?;
        // The file manager of Windows always ends with exit code 1.
        let Some(status) = status.filter(|status| !status.success() && !cfg!(windows)) else { return Ok(()) };
        let message = format!("{name} did not open the page ({status}); it is written: {}", page.display());
        Err(Failure::input(Diagnostic::error("E0814", place(), message).with_help("open it in a browser yourself")))
    }
}

/// Returns the exit status of a command; `None` if the command still runs at the time limit of openers.
fn ended(command: &mut Command) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || start.elapsed() > PATIENCE {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
}
