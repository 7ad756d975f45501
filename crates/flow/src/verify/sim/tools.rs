//! Search for external tools.

use std::env;
use std::path::{Path, PathBuf};

/// Search path for external programs. The environment variable `ALIR2HDL_<TOOL>` names a program directly; otherwise
/// the folders of `ALIR2HDL_TOOLS`, those of `PATH`, and `.venv/bin` of the current folder are searched in this order.
/// `scripts/setup.sh` installs tools from PyPI into `.venv/bin`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    folders: Vec<PathBuf>,
    /// `true` if environment variables may name single tools.
    overrides: bool,
}

impl Tools {
    /// Returns the search path that the environment defines.
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

    /// Returns the absolute path of the program with this name; `None` if it is not installed.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let variable = format!("ALIR2HDL_{}", name.to_uppercase().replace(['-', '+'], "_"));
        let named = self.overrides.then(|| env::var_os(variable)).flatten();
        if let Some(named) = named.filter(|n| !n.is_empty()) {
            return executable(Path::new(&named));
        }
        self.folders.iter().find_map(|folder| executable(&folder.join(name)))
    }
}

/// Returns the absolute path; `None` if it is not an executable file.
fn executable(path: &Path) -> Option<PathBuf> {
    let meta = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if meta.permissions().mode() & 0o111 == 0 {
            return None;
        }
    }
    // The path is not canonicalised: the name of a link may determine the behaviour of the program.
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
