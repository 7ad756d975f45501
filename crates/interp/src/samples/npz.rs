//! Parser and writer of NumPy's archives of arrays (`numpy.savez`, `numpy.savez_compressed`): zip files with one npy
//! file per array.
//!
//! The parser supports only what such archives contain (stored or deflated files, also zip64), and reads the directory
//! at the end of the archive. Every offset and size is checked against the file, an array is streamed independently of
//! its declared size, and its checksum is checked at its end.

use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// First bytes of every archive that contains a file.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// First bytes of an archive without files.
pub(super) const EMPTY: &[u8] = b"PK\x05\x06";

/// Largest size in bytes of a directory.
const MAX_DIRECTORY: u64 = 1 << 24;

/// Entry of the directory: an array.
struct Entry {
    name: String,
    method: u16,
    encrypted: bool,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

/// Returns a stream of an array's npy file: the array named `array`, or the only array.
///
/// # Errors
/// A description of the defect.
pub(super) fn open(mut file: File, length: u64, array: Option<&str>) -> Result<Box<dyn Read + Send>, String> {
    let entries = directory(&mut file, length)?;
    let names = || entries.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
    let entry = match array {
        Some(array) => entries.iter().find(|e| e.name == array),
        None if entries.len() == 1 => entries.first(),
        _ if entries.is_empty() => return Err("the archive has no arrays".into()),
        None => return Err(format!("the archive has {} arrays ({}): choose one with --array", entries.len(), names())),
    };
    let entry =
        entry.ok_or_else(|| format!("the archive has no array {:?}; it has {}", array.unwrap_or(""), names()))?;
    if entry.encrypted {
        return Err(format!("array {:?} is encrypted", entry.name));
    }
    let header: [u8; 30] = read_at(&mut file, length, entry.offset, 30)?.try_into().unwrap_or([0; 30]);
    if !header.starts_with(MAGIC) {
        return Err(broken("an array is not where its directory says"));
    }
    let start = entry.offset + 30 + u64::from(word(&header, 26)) + u64::from(word(&header, 28));
    if start.checked_add(entry.packed).is_none_or(|end| end > length) {
        return Err(broken("an array goes beyond the end of the file"));
    }
    file.seek(SeekFrom::Start(start)).map_err(|e| e.to_string())?;
    let packed = file.take(entry.packed);
    let bytes: Box<dyn Read + Send> = match entry.method {
        0 => Box::new(packed),
        8 => Box::new(DeflateDecoder::new(BufReader::with_capacity(1 << 16, packed))),
        other => {
            return Err(format!("array {:?} is packed by method {other}; stored and deflated are read", entry.name));
        }
    };
    Ok(Box::new(Checked { bytes, left: entry.size, crc: Crc::new(), expected: entry.crc }))
}

/// Returns the names of the archive's arrays.
///
/// # Errors
/// A description of the defect.
pub(super) fn names(file: &mut File, length: u64) -> Result<Vec<String>, String> {
    Ok(directory(file, length)?.into_iter().map(|entry| entry.name).collect())
}

/// Writes an archive of these files under these names, without compression.
///
/// # Errors
/// Errors of reading and writing. Files of 4 GiB or more, and more than 65,535 files, would need zip64, which is not
/// written.
pub fn write(out: &mut dyn Write, files: &[(String, PathBuf)]) -> io::Result<()> {
    let too_large = || io::Error::new(io::ErrorKind::InvalidInput, "too large for an npz file; name a folder");
    let short = |n: usize| u16::try_from(n).map_err(|_| too_large());
    let long = |n: u64| u32::try_from(n).ok().filter(|&n| n < u32::MAX).ok_or_else(too_large);
    let mut directory: Vec<u8> = Vec::new();
    let mut offset = 0u64;
    for (name, path) in files {
        let mut crc = Crc::new();
        let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
        loop {
            let bytes = reader.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            crc.update(bytes);
            let n = bytes.len();
            reader.consume(n);
        }
        let mut file = reader.into_inner();
        let size = file.stream_position()?;
        // Version 2.0, no flags, stored, midnight of 1 January 1980.
        let mut about: Vec<u8> = [20u16, 0, 0, 0, 0x21].iter().flat_map(|w| w.to_le_bytes()).collect();
        for number in [crc.sum(), long(size)?, long(size)?] {
            about.extend(number.to_le_bytes());
        }
        about.extend(short(name.len())?.to_le_bytes());
        about.extend([0, 0]);
        out.write_all(MAGIC)?;
        out.write_all(&about)?;
        out.write_all(name.as_bytes())?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file.take(size), out)?;
        directory.extend(b"PK\x01\x02");
        directory.extend(20u16.to_le_bytes());
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend(long(offset)?.to_le_bytes());
        directory.extend(name.as_bytes());
        offset += 30 + name.len() as u64 + size;
    }
    out.write_all(&directory)?;
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    let count = short(files.len())?.to_le_bytes();
    out.write_all(&[count, count].concat())?;
    out.write_all(&long(directory.len() as u64)?.to_le_bytes())?;
    out.write_all(&long(offset)?.to_le_bytes())?;
    out.write_all(&[0, 0])
}

/// Returns the arrays in the archive's directory; their names do not include `.npy`.
fn directory(file: &mut File, length: u64) -> Result<Vec<Entry>, String> {
    let tail_start = length.saturating_sub(22 + 0xffff);
    let tail = read_at(file, length, tail_start, length - tail_start)?;
    let end = (0..tail.len().saturating_sub(21)).rev().find(|&at| tail[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(|| broken("it has no directory at its end"))?;
    let (mut size, mut offset) = (u64::from(long(&tail, end + 12)), u64::from(long(&tail, end + 16)));
    if offset == 0xffff_ffff || size == 0xffff_ffff {
        // A locator before the end record contains the offset of the zip64 record.
        let locator = end.checked_sub(20).filter(|&at| tail[at..].starts_with(b"PK\x06\x07"));
        let record = quad(&tail, locator.ok_or_else(|| broken("its large directory is missing"))? + 8);
        let record = read_at(file, length, record, 56)?;
        (size, offset) = (quad(&record, 40), quad(&record, 48));
    }
    if size > MAX_DIRECTORY {
        return Err(broken("its directory is too large"));
    }
    let directory = read_at(file, length, offset, size)?;
    let mut entries = Vec::new();
    let mut rest = &directory[..];
    while let Some((entry, after)) = entry(rest)? {
        entries.push(entry);
        rest = after;
    }
    Ok(entries)
}

/// Returns the first entry of a directory, and the bytes after it; `None` if there is no further entry.
fn entry(rest: &[u8]) -> Result<Option<(Entry, &[u8])>, String> {
    if rest.len() < 46 || !rest.starts_with(b"PK\x01\x02") {
        return Ok(None);
    }
    let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(word(rest, at)));
    let after = rest.get(46 + name + extra + comment..).ok_or_else(|| broken("its directory is cut short"))?;
    let text = String::from_utf8_lossy(&rest[46..46 + name]).into_owned();
    let mut entry = Entry {
        name: text.strip_suffix(".npy").unwrap_or(&text).into(),
        encrypted: word(rest, 8) & 1 != 0,
        method: word(rest, 10),
        crc: long(rest, 16),
        packed: long(rest, 20).into(),
        size: long(rest, 24).into(),
        offset: long(rest, 42).into(),
    };
    // Sizes beyond 32 bits are in the extra field of kind 1, which contains only the marked ones, in this order.
    let mut extra = &rest[46 + name..46 + name + extra];
    while extra.len() >= 4 {
        let (kind, len) = (word(extra, 0), usize::from(word(extra, 2)));
        let Some(field) = extra.get(4..4 + len) else { break };
        if kind == 1 {
            let mut large = field.chunks_exact(8).map(|b| quad(b, 0));
            for value in [&mut entry.size, &mut entry.packed, &mut entry.offset] {
                if *value == 0xffff_ffff {
                    *value = large.next().ok_or_else(|| broken("a size is missing"))?;
                }
            }
        }
        extra = &extra[4 + len..];
    }
    Ok(Some((entry, after)))
}

fn broken(what: &str) -> String {
    format!("the archive is damaged: {what}")
}

fn read_at(file: &mut File, length: u64, offset: u64, size: u64) -> Result<Vec<u8>, String> {
    if offset.checked_add(size).is_none_or(|end| end > length) {
        return Err(broken("a place is beyond the end of the file"));
    }
    let mut bytes = vec![0; size as usize];
    let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(|e| e.to_string())
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn quad(bytes: &[u8], at: usize) -> u64 {
    u64::from(long(bytes, at)) | u64::from(long(bytes, at + 4)) << 32
}

/// Stream of exactly `left` bytes, which fails at the end if the checksum does not match.
struct Checked<R> {
    bytes: R,
    left: u64,
    crc: Crc,
    expected: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.bytes.read(&mut into[..wanted])?;
        self.crc.update(&into[..read]);
        self.left -= read as u64;
        if read == 0 && wanted > 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "an array of the archive is cut short"));
        }
        if self.left == 0 && read == wanted && self.crc.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an array of the archive has another checksum"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::DeflateEncoder;
    use std::io::Write;

    /// Returns an archive as NumPy writes it: with zip64 fields, optionally deflated.
    fn archive(arrays: &[(&str, &[u8])], deflate: bool, crc_off: u32) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, data) in arrays {
            let mut crc = Crc::new();
            crc.update(data);
            let crc = crc.sum() ^ crc_off;
            let packed = if deflate {
                let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(data).unwrap();
                encoder.finish().unwrap()
            } else {
                data.to_vec()
            };
            let offset = bytes.len() as u32;
            let name = format!("{name}.npy");
            let method = if deflate { 8u16 } else { 0 };
            let mut extra = [1u16.to_le_bytes(), 16u16.to_le_bytes()].concat();
            extra.extend((data.len() as u64).to_le_bytes());
            extra.extend((packed.len() as u64).to_le_bytes());
            let common = |bytes: &mut Vec<u8>| {
                bytes.extend([45, 0, 0, 0]);
                bytes.extend(method.to_le_bytes());
                bytes.extend([0; 4]);
                bytes.extend(crc.to_le_bytes());
                bytes.extend([0xff; 8]);
                bytes.extend((name.len() as u16).to_le_bytes());
                bytes.extend((extra.len() as u16).to_le_bytes());
            };
            bytes.extend(MAGIC);
            common(&mut bytes);
            bytes.extend(name.as_bytes());
            bytes.extend(&extra);
            bytes.extend(packed);
            directory.extend(b"PK\x01\x02\x2d\x03");
            common(&mut directory);
            directory.extend([0; 10]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
            directory.extend(&extra);
        }
        let offset = bytes.len() as u32;
        bytes.extend(&directory);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([(arrays.len() as u16).to_le_bytes(), (arrays.len() as u16).to_le_bytes()].concat());
        bytes.extend((directory.len() as u32).to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }

    fn read(archive: &[u8], array: Option<&str>) -> Result<Vec<u8>, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(archive).unwrap();
        let mut bytes = Vec::new();
        let mut stream = open(file, archive.len() as u64, array)?;
        stream.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    #[test]
    fn stored_and_deflated_arrays() {
        for deflate in [false, true] {
            let one = archive(&[("x", b"hello hello hello")], deflate, 0);
            assert_eq!(read(&one, None).unwrap(), b"hello hello hello");
            let two = archive(&[("x", b"first"), ("y", b"second")], deflate, 0);
            assert_eq!(read(&two, Some("y")).unwrap(), b"second");
            assert!(read(&two, None).unwrap_err().contains("2 arrays (x, y): choose one with --array"));
            assert!(read(&two, Some("z")).unwrap_err().contains("no array \"z\"; it has x, y"));
            let wrong = archive(&[("x", b"hello")], deflate, 1);
            assert!(read(&wrong, None).unwrap_err().contains("another checksum"));
        }
    }

    #[test]
    fn every_truncation_and_bit_flip_is_an_answer() {
        let whole = archive(&[("x", b"some bytes of an array")], true, 0);
        for cut in 0..whole.len() {
            assert!(read(&whole[..cut], None).is_err(), "cut at {cut}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // Some bit flips change only times or names.
            if let Ok(bytes) = read(&flipped, None) {
                assert_eq!(bytes, b"some bytes of an array", "bit {bit}");
            }
        }
    }
}
