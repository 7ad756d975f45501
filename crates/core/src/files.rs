//! Generated files in memory, and the one place that writes to disk.
//!
//! Everything that produces text returns a [`FileSet`] or bytes; nothing else opens a file for writing. A
//! file is written to a temporary neighbour first and renamed, so that there is never half of one, and all
//! files of a set are written before the first is renamed. Nothing that is [`Protected`], such as a command's own
//! input, is replaced or deleted.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
    /// The first file system error; then no file of the set was replaced, except by a failing rename, and no folder
    /// that was created stays empty.
    pub fn write_to(&self, dir: &Path) -> io::Result<()> {
        let mut created = Vec::new();
        let written = self.write_below(dir, &mut created);
        if written.is_err() {
            // Deepest first; a folder with something in it stays.
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

/// Returns `true` if the path is a folder, the empty path being the current one.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.is_dir()
}

/// Returns `true` if a folder holds no file, however deep, but at most empty folders and the temporary files of a run
/// that was killed.
///
/// # Errors
/// If the folder or one in it cannot be read.
pub fn holds_no_file(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() && entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            continue;
        }
        // A link is something that somebody made.
        if !kind.is_dir() || !holds_no_file(&entry.path())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Several files at arbitrary places that appear together or not at all.
///
/// A target that exists keeps its permissions; a symbolic link stays one, and what it points to is replaced. Devices
/// and pipes (`/dev/stdout`) cannot be renamed over: their contents are kept aside and copied by [`Batch::commit`], as
/// are those for standard output.
#[derive(Default)]
pub struct Batch {
    staged: Vec<Staged>,
}

enum Staged {
    /// A finished neighbour of a file.
    Neighbour(tempfile::NamedTempFile, PathBuf, Unfinished),
    /// Contents for something that is not a file.
    Held(std::fs::File, PathBuf),
    /// Contents for standard output.
    Stdout(std::fs::File),
}

impl Batch {
    /// Writes `contents` to a temporary neighbour of `path`; `-` is standard output.
    ///
    /// # Errors
    /// If the neighbour cannot be made or written.
    pub fn add(&mut self, path: &Path, contents: &[u8]) -> io::Result<()> {
        self.add_with(path, |out| out.write_all(contents))
    }

    /// Like [`Batch::add`] for contents that `write` streams.
    ///
    /// # Errors
    /// If the neighbour cannot be made or written.
    pub fn add_with(&mut self, path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        // `/dev/stdout` may be redirected into a file at some position, which a rename would take no notice of.
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
                self.staged.push(Staged::Held(held, path.to_owned()));
            }
            existing => {
                let (mut staged, unfinished) = Unfinished::stage(&target)?;
                write(staged.as_file_mut())?;
                if let Ok(existing) = existing {
                    staged.as_file().set_permissions(existing.permissions())?;
                }
                self.staged.push(Staged::Neighbour(staged, target, unfinished));
            }
        }
        Ok(())
    }

    /// Renames all of them into place.
    ///
    /// # Errors
    /// If a rename or a copy fails; those done before it stay.
    pub fn commit(self) -> io::Result<()> {
        self.commit_each().map_err(|(_, error)| error)
    }

    /// Like [`Batch::commit`].
    ///
    /// # Errors
    /// The path whose rename or copy failed, `-` for standard output, and why; those done before it stay.
    pub fn commit_each(mut self) -> Result<(), (PathBuf, io::Error)> {
        // What may fail comes before anything is replaced.
        self.staged.sort_by_key(|staged| !matches!(staged, Staged::Held(..)));
        for staged in self.staged {
            match staged {
                Staged::Neighbour(file, path, _unfinished) => {
                    file.persist(&path).map_err(|e| (path, e.error))?;
                }
                Staged::Held(held, path) => {
                    let opened = std::fs::OpenOptions::new().write(true).open(&path);
                    opened.and_then(|mut to| copy(held, &mut to)).map_err(|e| (path, e))?;
                }
                Staged::Stdout(held) => copy(held, &mut io::stdout().lock()).map_err(|e| ("-".into(), e))?,
            }
        }
        Ok(())
    }
}

/// Copies a file from its start. A reader that has gone away (`| head`) is not an error.
fn copy(mut from: std::fs::File, to: &mut dyn Write) -> io::Result<()> {
    from.seek(io::SeekFrom::Start(0))?;
    match io::copy(&mut from, to).and_then(|_| to.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Returns the file that a path names, so that a link stays one; also that of a link whose target does not exist yet.
fn link_target(path: &Path) -> PathBuf {
    /// Links that are followed, as the kernel has it.
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

/// A file that is written bit by bit and appears at its place only when it is whole.
///
/// What is there already and is no ordinary file (a pipe, `/dev/null`) is written to directly. A symbolic link stays;
/// the file that it points to is replaced.
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

/// A folder for temporary files, gone with this value or with [`delete_unfinished`].
pub struct Scratch {
    folder: tempfile::TempDir,
    _unfinished: Unfinished,
}

impl Scratch {
    /// A new, empty folder where the system keeps temporary files.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> io::Result<Scratch> {
        let open = || tempfile::Builder::new().prefix("alir2hdl-").tempdir();
        let (folder, unfinished) = Unfinished::create(open, tempfile::TempDir::path)?;
        Ok(Scratch { folder, _unfinished: unfinished })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Copies a stream into a temporary file without a name, from whose start it can be read.
///
/// # Errors
/// If the stream cannot be read, or there is no place for temporary files.
pub fn spooled(stream: &mut dyn io::Read) -> io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    io::copy(stream, &mut file)?;
    file.seek(io::SeekFrom::Start(0))?;
    Ok(file)
}

/// Temporary files and folders that a killed process would leave.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An entry of [`UNFINISHED`], gone with this value.
struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates something and enters it. Under one lock, so that [`delete_unfinished`] misses nothing.
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

/// Deletes what unfinished files and [`Scratch`] folders have on disk. For a process that is about to end without
/// running destructors, on Ctrl-C: other threads cannot begin a file after this.
pub fn delete_unfinished() {
    let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in all.drain(..) {
        // If that fails, no output is possible.
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    std::mem::forget(all);
}

impl Streamed {
    /// Begins a file that shall be at `path`.
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

    /// The file itself, for writing at any place of it.
    pub fn file(&mut self) -> &mut std::fs::File {
        match &mut self.target {
            Target::Renamed(staged, ..) => staged.as_file_mut(),
            Target::Direct(file) => file,
        }
    }

    /// Takes `bytes` of the disk at once: cheaper than piece by piece, and a disk that is too full is an error before
    /// the work and not after it. File systems that cannot do that take them as they come.
    ///
    /// # Errors
    /// If there is no room.
    pub fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Target::Renamed(staged, ..) = &mut self.target
            && bytes >= 1 << 20
        {
            use rustix::fs::{FallocateFlags, fallocate, fstatfs};
            /// Where taking room means filling it with zeros.
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

    /// Puts the file at its place. Without this nothing is left of it.
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

/// Which file a path means, whatever way it is spelt and through whatever links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Standard output, where it is no file.
    Stdout,
    /// A file that exists: its file system and its number there.
    Existing(u64, u64),
    /// One that does not, or whose system has no such numbers: its place, the folder without links.
    Place(PathBuf),
}

impl Identity {
    /// Returns the identity of a path, `-` being standard output. `None` for folders, and for a terminal and other
    /// devices, which can receive several results.
    pub fn from_output(path: &Path) -> Option<Identity> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Some(standard_stream(Stream::Output).unwrap_or(Identity::Stdout));
        }
        Identity::from_path(path)
    }

    /// Returns the identity of a path, `-` being standard input. `None` if it is no file.
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

/// The file that a standard stream is, if it is one and that can be told.
#[cfg(not(unix))]
fn standard_stream(_: Stream) -> Option<Identity> {
    None
}

/// The file that a standard stream is, if it is one.
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

/// Files that nothing here writes or deletes while this value lives: what a command reads.
#[derive(Debug)]
pub struct Protected(Vec<Identity>);

/// Protected files, with their paths without links, for deletions of folders.
static PROTECTED: Mutex<Vec<(Identity, Option<PathBuf>)>> = Mutex::new(Vec::new());

impl Protected {
    /// Protects files, by their paths; what is no file has no need of it.
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

/// Refuses a path that is protected.
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

/// Deletes a file that is no longer wanted.
///
/// # Errors
/// If it cannot be deleted, or is protected.
pub fn remove(path: &Path) -> io::Result<()> {
    check_free(path)?;
    std::fs::remove_file(path)
}

/// Deletes a folder with everything in it.
///
/// # Errors
/// If it cannot be deleted, or holds something that is protected; then nothing is gone.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let whole = std::fs::canonicalize(folder)?;
    let holds = |(_, place): &(Identity, Option<PathBuf>)| place.as_ref().is_some_and(|p| p.starts_with(&whole));
    if PROTECTED.lock().unwrap_or_else(PoisonError::into_inner).iter().any(holds) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it holds a file that the same command reads"));
    }
    std::fs::remove_dir_all(folder)
}

/// Beginning of the names of temporary files.
const TEMPORARY: &str = ".alir2hdl-";

/// A temporary file in the folder of `path`, readable like an ordinary new file once it is renamed.
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
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The default of temporary files is 0600; the user's umask still applies to this.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // The name that tempfile puts into its errors is of no use and another one each time.
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
    fn errors_do_not_name_files_that_nobody_knows() {
        let dir = tempfile::tempdir().unwrap();
        let error = temp_beside(&dir.path().join("absent/file.v")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().is_empty() && !error.to_string().contains("alir2hdl"), "{error}");
    }

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
    fn unfinished_files_are_known_until_they_are_finished() {
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
    fn what_is_protected_is_neither_replaced_nor_deleted() {
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
    fn identities_go_by_the_file_and_not_by_its_spelling() {
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
