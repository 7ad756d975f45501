//! Rows of a large npy file where the kernel has them, without a copy.
//!
//! A file is mapped a window at a time, so that memory does not grow with the number of samples. The numbers are those
//! of the file at the moment they are read: somebody who writes to the file meanwhile gets a mixture, and somebody who
//! cuts it off ends the process (the kernel's bus error), as with every program that maps files. A file that is too
//! short when its window is opened is an error like any other.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Bytes of a window at least.
const WINDOW: u64 = 1 << 24;

/// Windows begin at multiples of this; a multiple of every page size.
const STEP: u64 = 1 << 16;

/// A file whose numbers lie from `offset` on.
pub(super) struct MappedFile {
    file: File,
    offset: u64,
    window: Option<Arc<Window>>,
}

/// A part of a file in memory.
struct Window {
    base: *mut libc::c_void,
    length: usize,
    /// Offset in the file.
    begin: u64,
}

// SAFETY: the memory is only read, and unmapped once, when nobody has it any more.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Window {
    fn open(file: &File, begin: u64, end: u64) -> io::Result<Window> {
        let length = usize::try_from(end - begin).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let offset = libc::off_t::try_from(begin).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), offset)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping just made; the advice changes nothing but the kernel's reading ahead.
        unsafe { libc::madvise(base, length, libc::MADV_SEQUENTIAL) };
        Ok(Window { base, length, begin })
    }

    fn end(&self) -> u64 {
        self.begin + self.length as u64
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `open`.
        unsafe { libc::munmap(self.base, self.length) };
    }
}

/// Numbers of a mapped file.
pub struct MappedReals {
    window: Arc<Window>,
    /// Bytes from the window's beginning, a multiple of eight.
    first: usize,
    count: usize,
}

impl Deref for MappedReals {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        // SAFETY: `MappedFile::numbers` checked that they are inside the window and that they are aligned.
        unsafe { std::slice::from_raw_parts(self.window.base.cast::<u8>().add(self.first).cast(), self.count) }
    }
}

impl MappedFile {
    /// Whether it is worth it: `bytes` of little-endian doubles from `offset` on.
    pub(super) fn suits(offset: u64, bytes: u64) -> bool {
        cfg!(target_endian = "little") && offset.is_multiple_of(8) && bytes >= 1 << 20
    }

    pub(super) fn new(file: File, offset: u64) -> MappedFile {
        MappedFile { file, offset, window: None }
    }

    /// `count` numbers from number `index` on; `total` are in the file.
    ///
    /// # Errors
    /// If the file has become shorter, or the kernel refuses.
    pub(super) fn numbers(&mut self, index: u64, count: usize, total: u64) -> io::Result<MappedReals> {
        let begin = self.offset + 8 * index;
        let end = begin + 8 * count as u64;
        let there = self.window.take().filter(|w| w.begin <= begin && end <= w.end());
        let window = match there {
            Some(window) => window,
            None => {
                let whole = self.offset + 8 * total;
                if self.file.metadata()?.len() < whole {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was cut off while it was read"));
                }
                let from = begin / STEP * STEP;
                Arc::new(Window::open(&self.file, from, end.max(from + WINDOW).min(whole))?)
            }
        };
        self.window = Some(window.clone());
        Ok(MappedReals { first: (begin - window.begin) as usize, window, count })
    }
}
