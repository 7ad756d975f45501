//! Where the tools are.

use std::env;
use std::path::{Path, PathBuf};

/// Finds programs: an environment variable `ALIR2HDL_<TOOL>` names one directly, then come the folders of
/// `ALIR2HDL_TOOLS`, those of `PATH`, and `.venv/bin` of the current folder, where `scripts/setup.sh` puts what it
/// takes from PyPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    folders: Vec<PathBuf>,
    /// `true` if environment variables may name single tools.
    overrides: bool,
}

impl Tools {
    /// The tools that the environment offers.
    pub fn from_environment() -> Tools {
        let folders_of = |name| env::var_os(name).map(|v| env::split_paths(&v).collect::<Vec<_>>()).unwrap_or_default();
        let mut folders = folders_of("ALIR2HDL_TOOLS");
        folders.extend(folders_of("PATH"));
        folders.push(PathBuf::from(".venv/bin"));
        Tools { folders, overrides: true }
    }

    /// Returns the tools in these folders only.
    #[cfg(test)]
    pub(crate) fn in_folders(folders: impl IntoIterator<Item = PathBuf>) -> Tools {
        Tools { folders: folders.into_iter().collect(), overrides: false }
    }

    /// The program of this name, as an absolute path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let variable = format!("ALIR2HDL_{}", name.to_uppercase().replace(['-', '+'], "_"));
        let named = self.overrides.then(|| env::var_os(variable)).flatten();
        if let Some(named) = named.filter(|n| !n.is_empty()) {
            return executable(Path::new(&named));
        }
        self.folders.iter().find_map(|folder| executable(&folder.join(name)))
    }
}

/// The path made absolute, if it is a file that can be executed.
fn executable(path: &Path) -> Option<PathBuf> {
    let meta = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if meta.permissions().mode() & 0o111 == 0 {
            return None;
        }
    }
    // Not canonicalised: a link's own name may decide what the program does.
    if meta.is_file() { std::path::absolute(path).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executable_files_are_tools() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("vvp"), "not executable").unwrap();
        let tools = Tools::in_folders([dir.path().to_owned()]);
        assert_eq!(tools.find("vvp"), None);
        assert!(Tools::from_environment().find("sh").is_some_and(|p| p.is_absolute()));
    }
}
