//! Generated files in memory, and the one place that writes to disk.
//!
//! Everything that produces text returns a [`FileSet`] or bytes; nothing else opens a file for writing. A
//! file is written to a temporary neighbour first and renamed, so that there is never half of one, and all
//! files of a set are written before the first is renamed.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Named contents, in name order. Names are relative paths with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet(pub BTreeMap<String, Vec<u8>>);

impl FileSet {
    /// Adds a file; a second one of the same name replaces the first.
    pub fn add(&mut self, name: impl Into<String>, contents: impl Into<Vec<u8>>) {
        self.0.insert(name.into(), contents.into());
    }

    /// Writes every file below `dir`, which is created where needed.
    ///
    /// # Errors
    /// The first file system error; then no file of the set was replaced, except by a failing rename.
    pub fn write_to(&self, dir: &Path) -> io::Result<()> {
        let mut batch = Batch::default();
        for (name, contents) in &self.0 {
            let path = dir.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            batch.add(&path, contents)?;
        }
        batch.commit()
    }
}

/// Several files at arbitrary places that appear together or not at all.
#[derive(Default)]
pub struct Batch {
    staged: Vec<(tempfile::NamedTempFile, PathBuf)>,
}

impl Batch {
    /// Writes `contents` to a temporary neighbour of `path`.
    ///
    /// # Errors
    /// If the neighbour cannot be made or written.
    pub fn add(&mut self, path: &Path, contents: &[u8]) -> io::Result<()> {
        let mut staged = temp_beside(path)?;
        staged.write_all(contents)?;
        self.staged.push((staged, path.to_owned()));
        Ok(())
    }

    /// Renames all of them into place.
    ///
    /// # Errors
    /// If a rename fails; those renamed before it stay.
    pub fn commit(self) -> io::Result<()> {
        for (staged, path) in self.staged {
            staged.persist(&path).map_err(|e| e.error)?;
        }
        Ok(())
    }
}

/// A temporary file beside `path`, readable like an ordinary new file once it is renamed.
///
/// For results that are streamed: write into it, then [`tempfile::NamedTempFile::persist`] to `path`.
///
/// # Errors
/// If the folder does not exist or is not writable.
pub fn temp_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let dir = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".alir2hdl-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The default of temporary files is 0600; the user's umask still applies to this.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_whole_and_without_leftovers() {
        let dir = tempfile::tempdir().unwrap();
        let mut set = FileSet::default();
        set.add("a/b.v", "module b;\n");
        set.add("c.txt", "c");
        set.write_to(dir.path()).unwrap();
        assert_eq!(std::fs::read(dir.path().join("a/b.v")).unwrap(), b"module b;\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn nothing_is_replaced_before_commit() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        std::fs::write(&target, "old").unwrap();
        let mut batch = Batch::default();
        batch.add(&target, b"new").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        drop(batch);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
    }
}
