//! Bounded stream of a file's bytes, which are decompressed if they are gzip.
//!
//! gzip is recognised by its magic bytes only. Concatenated members are one file. Other data after a member is an
//! error, as is a truncated member or a wrong checksum. Reading stops at the byte limit, before and after
//! decompression, so that neither an endless file nor a gzip bomb costs more than the limit.

use alir_core::diag::{Diagnostic, Place};
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The first two bytes of every gzip member.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Size in bytes of the pieces in which compressed data is read.
const CHUNK: usize = 1 << 16;

/// Error of a source, boxed because it is rare.
pub(super) type Stop = Box<Diagnostic>;

/// A bounded stream of decompressed bytes.
pub(super) struct Source<R: Read> {
    inner: Inner<R>,
    /// Decompressed bytes that were examined but not returned yet.
    head: Vec<u8>,
    /// Number of decompressed bytes returned so far.
    given: u64,
    max_bytes: u64,
}

enum Inner<R: Read> {
    Plain(Counted<R>),
    /// Inside a member.
    Gzip(Box<GzDecoder<Counted<R>>>),
    /// After the last member.
    Ended,
}

/// A buffered reader that counts the bytes that it returned.
struct Counted<R: Read> {
    reader: BufReader<R>,
    taken: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buf)?;
        self.taken += n as u64;
        Ok(n)
    }
}

impl<R: Read> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.taken += n as u64;
        self.reader.consume(n);
    }
}

impl<R: Read> Source<R> {
    /// Returns `true` if the file is gzip. Must be called before the first read.
    pub(super) fn is_gzip(&self) -> bool {
        matches!(self.inner, Inner::Gzip(_))
    }

    /// Creates a stream, after a check of the first bytes of `reader` for gzip.
    ///
    /// # Errors
    /// `E0105` if the reader fails.
    pub(super) fn new(reader: R, max_bytes: u64) -> Result<Source<R>, Stop> {
        let mut reader = Counted { reader: BufReader::with_capacity(CHUNK, reader), taken: 0 };
        let inner = if starts_with_magic(&mut reader)? {
            Inner::Gzip(Box::new(GzDecoder::new(reader)))
        } else {
            Inner::Plain(reader)
        };
        Ok(Source { inner, head: Vec::new(), given: 0, max_bytes })
    }

    /// Fills the front of `buf`, and returns the number of bytes; 0 only at the end of the file.
    ///
    /// # Errors
    /// `E0101` to `E0105`.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Stop> {
        if !self.head.is_empty() {
            let n = self.head.len().min(buf.len());
            buf[..n].copy_from_slice(&self.head[..n]);
            self.head.drain(..n);
            return Ok(n);
        }
        self.fill(buf)
    }

    /// Returns the next `n` bytes without consuming them; fewer bytes at the end of the file.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub(super) fn peek(&mut self, n: usize) -> Result<&[u8], Stop> {
        let mut buf = vec![0; n];
        while self.head.len() < n {
            let missing = n - self.head.len();
            match self.fill(&mut buf[..missing])? {
                0 => break,
                got => self.head.extend_from_slice(&buf[..got]),
            }
        }
        Ok(&self.head)
    }

    /// Returns all remaining bytes.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub(super) fn read_to_end(&mut self) -> Result<Vec<u8>, Stop> {
        let mut all = std::mem::take(&mut self.head);
        // Plain data is copied from the buffer of the reader.
        while let Inner::Plain(reader) = &mut self.inner {
            let piece = retrying(|| reader.fill_buf().map(<[u8]>::len)).map_err(|e| failed(&e))?;
            if piece == 0 {
                return Ok(all);
            }
            all.extend_from_slice(&reader.reader.buffer()[..piece]);
            reader.consume(piece);
            self.given += piece as u64;
            if self.given > self.max_bytes {
                return Err(self.too_large());
            }
        }
        let mut piece = vec![0; CHUNK];
        loop {
            match self.fill(&mut piece)? {
                0 => return Ok(all),
                n => all.extend_from_slice(&piece[..n]),
            }
        }
    }

    fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Stop> {
        let n = self.read_unbounded(buf)?;
        self.given += n as u64;
        if self.given > self.max_bytes {
            return Err(self.too_large());
        }
        Ok(n)
    }

    fn read_unbounded(&mut self, buf: &mut [u8]) -> Result<usize, Stop> {
        loop {
            let member = match &mut self.inner {
                Inner::Plain(reader) => return retrying(|| reader.read(buf)).map_err(|e| failed(&e)),
                Inner::Gzip(member) => member,
                Inner::Ended => return Ok(0),
            };
            if member.get_ref().taken > self.max_bytes {
                return Err(self.too_large());
            }
            let n = retrying(|| member.read(buf)).map_err(|e| gzip_error(&e, member.get_ref().taken))?;
            if n > 0 {
                return Ok(n);
            }
            // The member is complete and its checksum correct; another member, the end, or invalid data follows.
            let Inner::Gzip(member) = std::mem::replace(&mut self.inner, Inner::Ended) else { return Ok(0) };
            let mut reader = member.into_inner();
            if retrying(|| reader.fill_buf().map(<[u8]>::is_empty)).map_err(|e| failed(&e))? {
                return Ok(0);
            }
            if !starts_with_magic(&mut reader)? {
                let place = Place::Byte(reader.taken);
                return Err(Box::new(
                    Diagnostic::error("E0103", place, "bytes after the end of the gzip data")
                        .with_help("only further gzip members may follow; was something appended to the file?"),
                ));
            }
            self.inner = Inner::Gzip(Box::new(GzDecoder::new(reader)));
        }
    }

    fn too_large(&self) -> Stop {
        let message = format!("the file is larger than the limit of {} bytes (decompressed)", self.max_bytes);
        Box::new(Diagnostic::error("E0104", Place::Whole, message).with_help("raise --max-bytes if that is expected"))
    }
}

/// Returns `true` if the next two bytes are the magic bytes of gzip, without consuming them.
fn starts_with_magic<R: Read>(reader: &mut Counted<R>) -> Result<bool, Stop> {
    // A pipe may deliver one byte at a time. Then the first magic byte suffices, as JSON never begins with it.
    let first = retrying(|| reader.fill_buf().map(|b| b.first().copied())).map_err(|e| failed(&e))?;
    if first != Some(GZIP_MAGIC[0]) {
        return Ok(false);
    }
    let buffered = reader.reader.buffer();
    Ok(buffered.len() < 2 || buffered[1] == GZIP_MAGIC[1])
}

/// Repeats a read that a signal interrupted.
fn retrying<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match read() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn failed(error: &io::Error) -> Stop {
    Box::new(Diagnostic::error("E0105", Place::Whole, format!("cannot read: {error}")))
}

fn gzip_error(error: &io::Error, at: u64) -> Stop {
    let place = Place::Byte(at);
    Box::new(match error.kind() {
        io::ErrorKind::UnexpectedEof => Diagnostic::error("E0101", place, "the gzip data ends early")
            .with_help("the file is truncated: copy or download it again"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
            Diagnostic::error("E0102", place, format!("the gzip data is corrupt: {error}"))
                .with_help("copy or download the file again")
        }
        _ => return failed(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_all(bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>, Stop> {
        let mut source = Source::new(bytes, max_bytes)?;
        let (mut all, mut piece) = (Vec::new(), [0; 1000]);
        loop {
            match source.read(&mut piece)? {
                0 => return Ok(all),
                n => all.extend_from_slice(&piece[..n]),
            }
        }
    }

    fn code_of(bytes: &[u8], max_bytes: u64) -> &'static str {
        read_all(bytes, max_bytes).unwrap_err().code
    }

    #[test]
    fn plain_and_gzip_are_distinguished_by_content() {
        assert_eq!(read_all(b"hello", 100).unwrap(), b"hello");
        assert_eq!(read_all(&gzip(b"hello"), 100).unwrap(), b"hello");
        assert_eq!(read_all(b"", 100).unwrap(), b"");
    }

    #[test]
    fn members_are_one_file() {
        let two = [gzip(b"hel"), gzip(b""), gzip(b"lo")].concat();
        assert_eq!(read_all(&two, 100).unwrap(), b"hello");
    }

    #[test]
    fn each_kind_of_corruption_has_its_own_message() {
        let whole = gzip(b"hello, hello, hello");
        for len in 2..whole.len() {
            assert_eq!(code_of(&whole[..len], 100), "E0101", "cut to {len} bytes");
        }
        let mut wrong_sum = whole.clone();
        let at = wrong_sum.len() - 6;
        wrong_sum[at] ^= 1;
        assert_eq!(code_of(&wrong_sum, 100), "E0102");
        assert_eq!(code_of(&[whole.as_slice(), b"\0"].concat(), 100), "E0103");
        assert_eq!(code_of(&[whole.as_slice(), b"rubbish"].concat(), 100), "E0103");
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let bomb = gzip(&vec![b' '; 1 << 20]);
        assert!(bomb.len() < 2000);
        assert_eq!(code_of(&bomb, 100_000), "E0104");
        assert_eq!(read_all(&bomb, 1 << 20).unwrap().len(), 1 << 20);
        // Members without content are bounded by the compressed bytes.
        assert_eq!(code_of(&gzip(b"").repeat(1000), 10_000), "E0104");
    }

    #[test]
    fn one_byte_at_a_time_is_enough() {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let n = self.0.len().min(buf.len()).min(1);
                self.0.read(&mut buf[..n])
            }
        }
        let bytes = [gzip(b"hel"), gzip(b"lo")].concat();
        let mut source = Source::new(Slow(&bytes), 100).unwrap();
        let (mut all, mut piece) = (Vec::new(), [0; 10]);
        loop {
            match source.read(&mut piece).unwrap() {
                0 => break,
                n => all.extend_from_slice(&piece[..n]),
            }
        }
        assert_eq!(all, b"hello");
    }
}
