//! Progress of a simulation: the fraction of its vectors that has been read. Neither the simulator nor the testbench is
//! involved.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Returns the fraction of the vectors in a job's folder that has been read, from 0 to 1. Returns `None` while no
/// process has the vectors open, and on systems without `/proc`.
pub fn share_read(folder: &Path) -> Option<f64> {
    let folder = fs::canonicalize(folder).ok()?;
    let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let numbered =
        |path: &Path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.parse::<u32>().is_ok());
    processes.filter(|path| numbered(path)).find_map(|process| {
        // Processes of other users cannot be inspected, and processes may end during the search.
        let open = fs::read_dir(process.join("fd")).ok()?.flatten();
        open.filter_map(|entry| {
            let file = fs::read_link(entry.path()).ok().filter(|file| holds_vectors(file, &folder))?;
            let about = fs::read_to_string(process.join("fdinfo").join(entry.file_name())).ok()?;
            let at: u64 = about.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()?;
            let size = fs::metadata(file).ok()?.len().max(1);
            Some((at as f64 / size as f64).min(1.0))
        })
        .reduce(f64::min)
    })
}

/// Returns `true` if a file is one of the vectors of a testbench ([`super::Testbench::rows`]).
fn holds_vectors(file: &Path, folder: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    file.parent() == Some(folder) && name.ends_with(".txt") && (name.starts_with("rows_") || name.starts_with("beats_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_share_is_what_was_read_of_the_vectors() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("rows_0.txt"), [b'0'; 1000]).expect("written");
        fs::write(folder.path().join("log.txt"), [b'0'; 1000]).expect("written");
        assert_eq!(share_read(folder.path()), None);
        let _log = fs::File::open(folder.path().join("log.txt")).expect("there");
        assert_eq!(share_read(folder.path()), None);
        let mut vectors = fs::File::open(folder.path().join("rows_0.txt")).expect("there");
        vectors.read_exact(&mut [0; 250]).expect("read");
        assert_eq!(share_read(folder.path()), Some(0.25));
        vectors.read_exact(&mut [0; 750]).expect("read");
        assert_eq!(share_read(folder.path()), Some(1.0));
    }
}
