//! Generated files in memory, and the one place that writes to disk.
//!
//! Code that generates files returns a [`FileSet`] or bytes; no other module opens a file for writing. A file is
//! written under a temporary name in the same folder and then renamed, so that it is never incomplete, and all files
//! of a set are written before the first is renamed. A [`Protected`] file, such as a command's input, is neither
//! replaced nor deleted.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Contents of files by name, sorted. Names are relative paths with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet(pub BTreeMap<String, Vec<u8>>);

impl FileSet {
    /// Adds a file; replaces a file of the same name.
    pub fn add(&mut self, name: impl Into<String>, contents: impl Into<Vec<u8>>) {
        self.0.insert(name.into(), contents.into());
    }

    /// Writes every file below `dir`, which is created if it does not exist.
    ///
    /// # Errors
    /// The first file system error. If the error occurs before the renames, no file is replaced. Empty folders that
    /// this call created are removed.
    pub fn write_to(&self, dir: &Path) -> io::Result<()> {
        let mut created = Vec::new();
        let written = self.write_below(dir, &mut created);
        if written.is_err() {
            // Deepest first; folders that are not empty remain.
            created.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
        }
        written
    }

    fn write_below(&self, dir: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
        let mut batch = Batch::default();
        for (name, contents) in &self.0 {
            let path = dir.join(name);
            if let Some(parent) = path.parent() {
                let missing: Vec<&Path> = parent.ancestors().take_while(|folder| !is_folder(folder)).collect();
                created.extend(missing.into_iter().rev().map(Path::to_owned));
                std::fs::create_dir_all(parent)?;
            }
            batch.add(&path, contents)?;
        }
        batch.commit()
    }
}

/// Returns `true` if the path is a folder; the empty path is the current folder.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.is_dir()
}

/// Returns `true` if a folder and its subfolders contain no files except temporary files of a killed run.
///
/// # Errors
/// If the folder or one of its subfolders cannot be read.
pub fn holds_no_file(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() && entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            continue;
        }
        // A symbolic link counts as a file of the user.
        if !kind.is_dir() || !holds_no_file(&entry.path())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Several files at arbitrary paths; all contents are written before the first target is replaced.
///
/// A target that exists keeps its permissions. If it is a symbolic link, the file that it points to is replaced.
/// Devices, pipes and standard output cannot be replaced by a rename: [`Batch::commit`] copies their contents from a
/// temporary file.
#[derive(Default)]
pub struct Batch {
    staged: Vec<Staged>,
}

enum Staged {
    /// A complete temporary file in the folder of the target.
    Renamed(tempfile::NamedTempFile, PathBuf, Unfinished),
    /// Contents for a target that is not an ordinary file.
    Copied(std::fs::File, PathBuf),
    /// Contents for standard output.
    Stdout(std::fs::File),
}

impl Batch {
    /// Writes `contents` to a temporary file in the folder of `path`; `-` is standard output.
    ///
    /// # Errors
    /// If the temporary file cannot be created or written.
    pub fn add(&mut self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.add_with(path, |out| out.write_all(contents))
    }

    /// Like [`Batch::add`], for contents that `write` streams.
    ///
    /// # Errors
    /// If the temporary file cannot be created or written.
    pub fn add_with(&mut self, path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        // `/dev/stdout` may be redirected into a file at some position, which a rename would ignore.
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            let mut held = tempfile::tempfile()?;
            write(&mut held)?;
            self.staged.push(Staged::Stdout(held));
            return Ok(());
        }
        check_free(path)?;
        let target = link_target(path);
        match std::fs::metadata(&target) {
            Ok(existing) if existing.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(existing) if !existing.is_file() => {
                let mut held = tempfile::tempfile()?;
                write(&mut held)?;
                self.staged.push(Staged::Copied(held, path.to_owned()));
            }
            existing => {
                let (mut staged, unfinished) = Unfinished::stage(&target)?;
                write(staged.as_file_mut())?;
                if let Ok(existing) = existing {
                    staged.as_file().set_permissions(existing.permissions())?;
                }
                self.staged.push(Staged::Renamed(staged, target, unfinished));
            }
        }
        Ok(())
    }

    /// Renames all files to their targets.
    ///
    /// # Errors
    /// If a rename or a copy fails; earlier renames and copies are not undone.
    pub fn commit(self) -> io::Result<()> {
        self.commit_each().map_err(|(_, error)| error)
    }

    /// Like [`Batch::commit`], with the path in the error.
    ///
    /// # Errors
    /// The path whose rename or copy failed (`-` for standard output), and the error; earlier renames and copies are
    /// not undone.
    pub fn commit_each(mut self) -> Result<(), (PathBuf, io::Error)> {
        // Copies may fail, so they precede the renames.
        self.staged.sort_by_key(|staged| !matches!(staged, Staged::Copied(..)));
        for staged in self.staged {
            match staged {
                Staged::Renamed(file, path, _unfinished) => {
                    file.persist(&path).map_err(|e| (path, e.error))?;
                }
                Staged::Copied(held, path) => {
                    let opened = std::fs::OpenOptions::new().write(true).open(&path);
                    opened.and_then(|mut to| copy(held, &mut to)).map_err(|e| (path, e))?;
                }
                Staged::Stdout(held) => copy(held, &mut io::stdout().lock()).map_err(|e| ("-".into(), e))?,
            }
        }
        Ok(())
    }
}

/// Copies a file from its start. A closed pipe (`| head`) is not an error.
fn copy(mut from: std::fs::File, to: &mut dyn Write) -> io::Result<()> {
    from.seek(io::SeekFrom::Start(0))?;
    match io::copy(&mut from, to).and_then(|_| to.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Returns the file that a path names. Symbolic links are followed, including a link whose target does not exist yet.
fn link_target(path: &Path) -> PathBuf {
    /// Maximum number of links that are followed: the limit of the kernel.
    const MOST_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(whole) = std::fs::canonicalize(&target) {
            return whole;
        }
        let Ok(next) = std::fs::read_link(&target) else { break };
        target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    target
}

/// A file that is written in pieces and appears under its name only when it is complete.
///
/// An existing target that is not an ordinary file (a pipe, `/dev/null`) is written to directly. If the target is a
/// symbolic link, the file that it points to is replaced.
pub struct Streamed {
    target: Target,
}

enum Target {
    Renamed(tempfile::NamedTempFile, PathBuf, Unfinished),
    Direct(std::fs::File),
}

impl Target {
    fn renamed(path: PathBuf) -> io::Result<Target> {
        let (staged, unfinished) = Unfinished::stage(&path)?;
        Ok(Target::Renamed(staged, path, unfinished))
    }
}

/// Folder for temporary files. The folder is deleted with this value, or by [`delete_unfinished`].
pub struct Scratch {
    folder: tempfile::TempDir,
    _unfinished: Unfinished,
}

impl Scratch {
    /// Creates an empty folder in the system's folder for temporary files.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new() -> io::Result<Scratch> {
        let open = || tempfile::Builder::new().prefix("alir2hdl-").tempdir();
        let (folder, unfinished) = Unfinished::create(open, tempfile::TempDir::path)?;
        Ok(Scratch { folder, _unfinished: unfinished })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Copies a stream to an unnamed temporary file, and returns the file, rewound to its start.
///
/// # Errors
/// If the stream cannot be read, or the temporary file cannot be written.
pub fn spooled(stream: &mut dyn io::Read) -> io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    io::copy(stream, &mut file)?;
    file.seek(io::SeekFrom::Start(0))?;
    Ok(file)
}

/// Paths of temporary files and folders that a killed process would leave.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Entry of [`UNFINISHED`], which is removed with this value.
struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates a file or folder and its entry under one lock, so that [`delete_unfinished`] misses none.
    fn create<T>(open: impl FnOnce() -> io::Result<T>, path: fn(&T) -> &Path) -> io::Result<(T, Unfinished)> {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let created = open()?;
        all.push(path(&created).to_owned());
        let entry = Unfinished(path(&created).to_owned());
        Ok((created, entry))
    }

    fn stage(path: &Path) -> io::Result<(tempfile::NamedTempFile, Unfinished)> {
        Unfinished::create(|| temp_beside(path), tempfile::NamedTempFile::path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.0);
    }
}

/// Deletes unfinished files and [`Scratch`] folders, and prevents other threads from creating more. For a process that
/// ends without running destructors (Ctrl-C).
pub fn delete_unfinished() {
    let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in all.drain(..) {
        // A failure cannot be reported at this point.
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    std::mem::forget(all);
}

impl Streamed {
    /// Creates the temporary file for `path`.
    ///
    /// # Errors
    /// If the folder does not exist or is not writable, or if `path` is a folder.
    pub fn create(path: &Path) -> io::Result<Streamed> {
        check_free(path)?;
        let target = match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(there) if !there.is_file() => Target::Direct(std::fs::OpenOptions::new().write(true).open(path)?),
            Ok(_) => {
                let path = std::fs::canonicalize(path)?;
                Target::renamed(path)?
            }
            Err(_) => Target::renamed(link_target(path))?,
        };
        Ok(Streamed { target })
    }

    /// Returns the underlying file, for writes at any position.
    pub fn file(&mut self) -> &mut std::fs::File {
        match &mut self.target {
            Target::Renamed(staged, ..) => staged.as_file_mut(),
            Target::Direct(file) => file,
        }
    }

    /// Allocates `bytes` on the disk, which is cheaper than many small allocations and detects a full disk early. Does
    /// nothing on file systems without this operation.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Target::Renamed(staged, ..) = &mut self.target
            && bytes >= 1 << 20
        {
            use rustix::fs::{FallocateFlags, fallocate, fstatfs};
            /// Type of the file system tmpfs, on which an allocation writes zeros.
            const TMPFS: i128 = 0x0102_1994;
            if fstatfs(staged.as_file()).is_ok_and(|s| i128::from(s.f_type) == TMPFS) {
                return Ok(());
            }
            if fallocate(staged.as_file(), FallocateFlags::KEEP_SIZE, 0, bytes) == Err(rustix::io::Errno::NOSPC) {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        let _ = bytes;
        Ok(())
    }

    /// Renames the file to its target. A file that is dropped without this call is deleted.
    ///
    /// # Errors
    /// If the rename fails.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            Target::Renamed(staged, path, _unfinished) => staged.persist(path).map(drop).map_err(|e| e.error),
            Target::Direct(_) => Ok(()),
        }
    }
}

impl Write for Streamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// Identity of a file, independent of the spelling of its path and of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Standard output that is not a file.
    Stdout,
    /// An existing file: its file system and its inode number.
    Existing(u64, u64),
    /// A file that does not exist, or a file on a system without inode numbers: its path, with links in the folder
    /// resolved.
    Place(PathBuf),
}

impl Identity {
    /// Returns the identity of a path (`-` is standard output). `None` for folders and for devices such as a terminal,
    /// which can receive several results.
    pub fn from_output(path: &Path) -> Option<Identity> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Some(standard_stream(Stream::Output).unwrap_or(Identity::Stdout));
        }
        Identity::from_path(path)
    }

    /// Returns the identity of a path (`-` is standard input). `None` if the path is not a file.
    pub fn from_input(path: &Path) -> Option<Identity> {
        if path == Path::new("-") { standard_stream(Stream::Input) } else { Identity::from_path(path) }
    }

    fn from_path(path: &Path) -> Option<Identity> {
        #[cfg(unix)]
        if let Ok(there) = std::fs::metadata(path) {
            use std::os::unix::fs::{FileTypeExt, MetadataExt};
            let kind = there.file_type();
            let other = kind.is_char_device() || kind.is_block_device() || kind.is_dir();
            return (!other).then(|| Identity::Existing(there.dev(), there.ino()));
        }
        if let Ok(whole) = std::fs::canonicalize(path) {
            return Some(Identity::Place(whole));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Some(Identity::Place(folder.join(path.file_name()?)))
    }
}

enum Stream {
    Input,
    Output,
}

/// Returns the file of a standard stream; always `None`, as this system cannot identify such a file.
#[cfg(not(unix))]
fn standard_stream(_: Stream) -> Option<Identity> {
    None
}

/// Returns the file of a standard stream; `None` if it is not a file.
#[cfg(unix)]
fn standard_stream(stream: Stream) -> Option<Identity> {
    let stream = match stream {
        Stream::Input => rustix::stdio::stdin(),
        Stream::Output => rustix::stdio::stdout(),
    };
    let there = rustix::fs::fstat(stream).ok()?;
    let regular = rustix::fs::FileType::from_raw_mode(there.st_mode) == rustix::fs::FileType::RegularFile;
    regular.then_some(Identity::Existing(there.st_dev, there.st_ino))
}

/// Input files of a command, which this module neither writes nor deletes while this value exists.
#[derive(Debug)]
pub struct Protected(Vec<Identity>);

/// Protected files with their canonical paths, which [`remove_folder`] compares with the path of the folder.
static PROTECTED: Mutex<Vec<(Identity, Option<PathBuf>)>> = Mutex::new(Vec::new());

impl Protected {
    /// Protects files by their paths. Paths that are not files are ignored.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Protected {
        let of = |path: &'p Path| Some((Identity::from_input(path)?, std::fs::canonicalize(path).ok()));
        let entries: Vec<_> = paths.into_iter().filter_map(of).collect();
        let identities = entries.iter().map(|(identity, _)| identity.clone()).collect();
        PROTECTED.lock().unwrap_or_else(PoisonError::into_inner).extend(entries);
        Protected(identities)
    }
}

impl Drop for Protected {
    fn drop(&mut self) {
        let mut all = PROTECTED.lock().unwrap_or_else(PoisonError::into_inner);
        for identity in self.0.drain(..) {
            if let Some(at) = all.iter().position(|(known, _)| *known == identity) {
                all.swap_remove(at);
            }
        }
    }
}

/// Returns an error if the path is protected.
fn check_free(path: &Path) -> io::Result<()> {
    let all = PROTECTED.lock().unwrap_or_else(PoisonError::into_inner);
    if all.is_empty() {
        return Ok(());
    }
    let Some(identity) = Identity::from_output(path) else { return Ok(()) };
    match all.iter().any(|(known, _)| *known == identity) {
        true => Err(io::Error::new(io::ErrorKind::InvalidInput, "the same command reads this file")),
        false => Ok(()),
    }
}

/// Deletes a file.
///
/// # Errors
/// If the file cannot be deleted, or is protected.
pub fn remove(path: &Path) -> io::Result<()> {
    check_free(path)?;
    std::fs::remove_file(path)
}

/// Deletes a folder and its content.
///
/// # Errors
/// If the folder cannot be deleted, or contains a protected file, in which case nothing is deleted.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let whole = std::fs::canonicalize(folder)?;
    let holds = |(_, place): &(Identity, Option<PathBuf>)| place.as_ref().is_some_and(|p| p.starts_with(&whole));
    if PROTECTED.lock().unwrap_or_else(PoisonError::into_inner).iter().any(holds) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it contains a file that the same command reads"));
    }
    std::fs::remove_dir_all(folder)
}

/// Prefix of the names of temporary files.
const TEMPORARY: &str = ".alir2hdl-";

/// Creates a temporary file in the folder of `path`, with the permissions of an ordinary new file.
///
/// A caller that streams a result writes the temporary file, then calls [`tempfile::NamedTempFile::persist`] with
/// `path`.
///
/// # Errors
/// If the folder does not exist or is not writable.
pub fn temp_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let dir = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The default permissions of temporary files are 0600; the user's umask applies to 0666.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // Errors of tempfile contain a random file name, which is removed.
    builder.tempfile_in(dir).map_err(|error| {
        let said = error.to_string();
        io::Error::new(error.kind(), said.split(" at path \"").next().unwrap_or_default().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_that_cannot_be_written_leaves_no_empty_folders() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let mut files = FileSet::default();
        files.add("a/b/one", "1");
        // A file exists where a folder is needed.
        files.add("a/../file/two", "2");
        let root = dir.path().join("new/root");
        let mut blocked = files.clone();
        blocked.add("z", "3");
        std::fs::create_dir(dir.path().join("new")).unwrap();
        assert!(blocked.write_to(dir.path()).is_err());
        assert!(!dir.path().join("a").exists());
        let mut set = FileSet::default();
        set.add("rtl/one", "1");
        set.write_to(&root).unwrap();
        assert!(root.join("rtl/one").is_file());
        assert!(!holds_no_file(dir.path()).unwrap());
        std::fs::create_dir_all(dir.path().join("empty/deep")).unwrap();
        std::fs::write(dir.path().join("empty/deep/.alir2hdl-a1B2c3"), "half").unwrap();
        assert!(holds_no_file(&dir.path().join("empty")).unwrap());
        std::os::unix::fs::symlink("deep", dir.path().join("empty/link")).unwrap();
        assert!(!holds_no_file(&dir.path().join("empty")).unwrap());
    }

    #[test]
    fn errors_do_not_name_temporary_files() {
        let dir = tempfile::tempdir().unwrap();
        let error = temp_beside(&dir.path().join("absent/file.v")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().is_empty() && !error.to_string().contains("alir2hdl"), "{error}");
    }

    #[test]
    fn files_are_complete_and_temporary_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut set = FileSet::default();
        set.add("a/b.v", "module b;\n");
        set.add("c.txt", "c");
        set.write_to(dir.path()).unwrap();
        assert_eq!(std::fs::read(dir.path().join("a/b.v")).unwrap(), b"module b;\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_streamed_file_appears_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x");
        let mut file = Streamed::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(file);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut file = Streamed::create(&target).unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        assert!(Streamed::create(dir.path()).is_err());
    }

    #[test]
    fn unfinished_files_are_recorded_until_they_are_finished() {
        let known = |dir: &Path| UNFINISHED.lock().unwrap().iter().filter(|path| path.starts_with(dir)).count();
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (first, second) = (Streamed::create(&dir.join("x")).unwrap(), Streamed::create(&dir.join("y")).unwrap());
        assert_eq!(known(&dir), 2);
        first.finish().unwrap();
        assert_eq!(known(&dir), 1);
        drop(second);
        assert_eq!(known(&dir), 0);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_and_links_stay() {
        Streamed::create(Path::new("/dev/null")).unwrap().finish().unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut new = Streamed::create(&link).unwrap();
        new.write_all(b"new").unwrap();
        new.finish().unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
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

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("x"), dir.path().join("link"));
        std::fs::write(&target, "old").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("x", &link).unwrap();
        let mut batch = Batch::default();
        batch.add(&link, b"new").unwrap();
        batch.commit().unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        // A link to a file that does not exist yet.
        let (second, first) = (dir.path().join("second"), dir.path().join("first"));
        std::os::unix::fs::symlink("absent", &second).unwrap();
        std::os::unix::fs::symlink("second", &first).unwrap();
        let mut batch = Batch::default();
        batch.add(&first, b"batch").unwrap();
        batch.commit().unwrap();
        assert_eq!(std::fs::read(dir.path().join("absent")).unwrap(), b"batch");
        std::fs::remove_file(dir.path().join("absent")).unwrap();
        let mut streamed = Streamed::create(&first).unwrap();
        streamed.write_all(b"streamed").unwrap();
        streamed.finish().unwrap();
        assert_eq!(std::fs::read(dir.path().join("absent")).unwrap(), b"streamed");
        assert!(std::fs::symlink_metadata(&second).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let mut batch = Batch::default();
        batch.add(Path::new("/dev/null"), b"gone").unwrap();
        batch.commit().unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn protected_files_are_neither_replaced_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("input");
        std::fs::write(&file, "old").unwrap();
        let other_spelling = dir.path().join("inner/../inner/./input");
        let protected = Protected::new([other_spelling.as_path()]);
        for path in [&file, &other_spelling] {
            assert!(Batch::default().add(path, b"new").is_err());
            assert!(Streamed::create(path).is_err());
            assert!(remove(path).is_err());
        }
        assert!(remove_folder(&inner).is_err() && remove_folder(dir.path()).is_err());
        let mut set = FileSet::default();
        set.add("input", "new");
        set.add("before", "new");
        assert!(set.write_to(&inner).is_err());
        assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 1);
        assert_eq!(std::fs::read(&file).unwrap(), b"old");
        drop(protected);
        Batch::default().add(&file, b"new").unwrap();
        remove(&file).unwrap();
        remove_folder(&inner).unwrap();
    }

    #[test]
    fn identities_depend_on_the_file_and_not_on_its_spelling() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let same = |a: &str, b: &str| Identity::from_output(&path(a)) == Identity::from_output(&path(b));
        std::fs::write(path("here"), "x").unwrap();
        assert!(same("here", "./here") && same("absent", "./absent"));
        assert!(!same("here", "absent") && !same("absent", "absent2"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("here"), path("link")).unwrap();
            std::os::unix::fs::symlink(dir.path(), path("folder")).unwrap();
            assert!(same("here", "link") && same("absent", "folder/absent"));
            std::fs::hard_link(path("here"), path("hard")).unwrap();
            assert!(same("here", "hard"));
            assert_eq!(Identity::from_output(Path::new("/dev/null")), None);
        }
    }

    #[test]
    fn a_folder_is_refused_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut batch = Batch::default();
        assert_eq!(batch.add(dir.path(), b"").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}
