//! The frame of a file: magic, version, columns in parts, checksum.

use super::COLUMNS;
use super::columns::{Reader, Writer};
use alir_core::diag::{Diagnostic, Place};
use flate2::read::DeflateEncoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::Read;

/// Magic bytes of a file: not text, and damaged by transfers that change line ends.
pub(in super::super) const MAGIC: &[u8; 8] = b"\x8aALIRZ\r\n";

/// The version that is written.
const VERSION: u8 = 1;

/// After the magic the version, at the end a checksum.
const BODY: usize = MAGIC.len() + 1;
const CHECKSUM: usize = 4;

/// A part's bytes are as they are.
const STORED: u8 = 0;
/// A part's bytes are raw deflate.
const DEFLATED: u8 = 1;
/// A part's bytes are halves of bytes, each the number of a frequent value.
const HALVES: u8 = 2;

/// The half that says that the value is not among the frequent ones, and how many of these there may be.
const OTHER: u8 = 15;

/// The file of these columns.
pub(super) fn pack(columns: &[Vec<u8>; COLUMNS]) -> Vec<u8> {
    let mut file = Writer(MAGIC.to_vec());
    file.byte(VERSION);
    columns.iter().for_each(|column| file.number(column.len() as u64));
    let mut from = 0;
    while from < COLUMNS {
        let (method, mut bytes) = packed(&columns[from]);
        // What takes no room goes with anything, and columns as they are with one another.
        let mut to = from + 1;
        while let Some(column) = columns.get(to) {
            let stored = || method == STORED && packed(column).0 == STORED;
            if !column.is_empty() && !stored() {
                break;
            }
            bytes.extend(column);
            to += 1;
        }
        file.number((to - from) as u64);
        file.byte(method);
        file.number(bytes.len() as u64);
        file.0.extend(bytes);
        from = to;
    }
    let mut crc = Crc::new();
    crc.update(&file.0);
    file.0.extend(crc.sum().to_le_bytes());
    file.0
}

/// The packing that a column gets: halves are unpacked at once, deflate takes its time and has to be worth it.
fn packed(column: &[u8]) -> (u8, Vec<u8>) {
    let halves = halves(column);
    let (mut method, mut bytes) =
        if 4 * halves.len() < 3 * column.len() { (HALVES, halves) } else { (STORED, column.to_vec()) };
    let mut deflated = Vec::new();
    DeflateEncoder::new(column, flate2::Compression::best())
        .read_to_end(&mut deflated)
        .expect("compressing memory into memory");
    if 2 * deflated.len() + WORTH < bytes.len() {
        (method, bytes) = (DEFLATED, deflated);
    }
    (method, bytes)
}

/// Bytes that deflate has to save in addition to half of all.
const WORTH: usize = 100;

/// Packs bytes: how many frequent values there are, these, a half for each byte (the lower one first), the bytes that
/// are none of the frequent values.
fn halves(raw: &[u8]) -> Vec<u8> {
    let mut counts = [0usize; 256];
    raw.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let mut values: Vec<u8> = (0..=255).filter(|&byte| counts[usize::from(byte)] > 0).collect();
    values.sort_by_key(|&byte| std::cmp::Reverse(counts[usize::from(byte)]));
    values.truncate(OTHER.into());
    let half = |byte: &u8| values.iter().position(|value| value == byte).map_or(OTHER, |k| k as u8);
    let mut packed = vec![values.len() as u8];
    packed.extend(&values);
    packed.extend(raw.chunks(2).map(|two| half(&two[0]) | two.get(1).map_or(0, half) << 4));
    packed.extend(raw.iter().filter(|byte| half(byte) == OTHER));
    packed
}

/// Appends `length` bytes that were packed by [`halves`].
fn unpack_halves(packed: &[u8], raw: &mut Vec<u8>, length: usize) -> Result<(), String> {
    let (&count, rest) = packed.split_first().ok_or("no number of frequent values")?;
    if count > OTHER {
        return Err(format!("{count} frequent values"));
    }
    let (values, rest) = rest.split_at_checked(count.into()).ok_or("the frequent values end early")?;
    let (halves, others) = rest.split_at_checked(length.div_ceil(2)).ok_or("the halves end early")?;
    let mut table = [0; 16];
    table[..values.len()].copy_from_slice(values);
    // What asks for a second look: other values, and halves that stand for nothing.
    let mut odd = [true; 16];
    odd[..values.len()].fill(false);
    let start = raw.len();
    raw.resize(start + 2 * halves.len(), 0);
    let (pairs, _) = raw[start..].as_chunks_mut::<2>();
    let mut others = others.iter();
    let last = halves.len().wrapping_sub(1);
    for (k, (pair, &byte)) in pairs.iter_mut().zip(halves).enumerate() {
        let both = [byte & 15, byte >> 4];
        *pair = both.map(|half| table[usize::from(half)]);
        if !(odd[usize::from(both[0])] || odd[usize::from(both[1])]) {
            continue;
        }
        let used = if k == last && length % 2 == 1 { 1 } else { 2 };
        for (slot, half) in pair.iter_mut().zip(both).take(used) {
            match half {
                OTHER => *slot = *others.next().ok_or("the other values end early")?,
                half if half >= count => return Err(format!("half {half} of {count} frequent values")),
                _ => {}
            }
        }
    }
    if length % 2 == 1 && halves[last] >> 4 != 0 {
        return Err("something in the half behind the last".into());
    }
    raw.truncate(start + length);
    if others.next().is_some() {
        return Err("bytes behind the other values".into());
    }
    Ok(())
}

fn fault(code: &'static str, at: usize, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, Place::Byte(at as u64), message).with_help("the file is damaged: copy it again")
}

/// The least room that is made at once for what comes out of deflated data.
const ROOM: usize = 1 << 12;

/// Appends what the bytes unpack to, and no more than one byte beyond `length`.
fn inflate(inflater: &mut Decompress, mut bytes: &[u8], raw: &mut Vec<u8>, length: usize) -> Result<(), String> {
    let start = raw.len();
    loop {
        let have = raw.len() - start;
        if have > length {
            return Ok(());
        }
        // A first guess that is mostly enough; then twice what was there.
        raw.reserve_exact((length + 1 - have).min(ROOM.max(8 * bytes.len()).max(have)));
        let before = inflater.total_in();
        let status = inflater
            .decompress_vec(bytes, raw, FlushDecompress::Finish)
            .map_err(|e| format!("deflated data is corrupt: {e}"))?;
        bytes = &bytes[(inflater.total_in() - before) as usize..];
        match status {
            Status::StreamEnd if bytes.is_empty() => return Ok(()),
            Status::StreamEnd => return Err(format!("{} bytes behind the deflated data of a part", bytes.len())),
            // Room is left, and nothing came.
            _ if raw.len() < raw.capacity() => return Err("deflated data ends early".into()),
            _ => {}
        }
    }
}

/// The columns of a file, one after the other, and the end of each.
pub(super) fn unpack(file: &[u8], max_bytes: u64) -> Result<(Vec<u8>, [usize; COLUMNS]), Diagnostic> {
    if !file.starts_with(MAGIC) {
        let problem = Diagnostic::error("E0115", Place::Byte(0), "an .alirz file starts with its magic");
        return Err(problem.with_help("leave --format away to have the kind of the file recognised"));
    }
    if file.len() < BODY + CHECKSUM {
        return Err(fault("E0162", file.len(), "the file ends before its contents"));
    }
    if file[MAGIC.len()] != VERSION {
        let message = format!("unknown version {} of .alirz", file[MAGIC.len()]);
        let problem = Diagnostic::error("E0160", Place::Byte(MAGIC.len() as u64), message);
        return Err(problem.with_help(format!("known is {VERSION}: a newer alir2hdl may read it")));
    }
    let (all, sum) = file.split_at(file.len() - CHECKSUM);
    let mut crc = Crc::new();
    crc.update(all);
    if crc.sum().to_le_bytes() != sum {
        return Err(fault("E0161", all.len(), "the checksum is wrong"));
    }

    let mut reader = Reader::new(&all[BODY..]);
    let at = |reader: &Reader<'_>| all.len() - reader.left();
    let number = |reader: &mut Reader<'_>| {
        reader
            .number()
            .map_err(|_| fault("E0162", at(reader), "the list of columns ends early or is no list of numbers"))
    };
    let mut ends = [0; COLUMNS];
    let mut total = 0u64;
    for end in &mut ends {
        total = total.saturating_add(number(&mut reader)?);
        if total > max_bytes {
            let message = format!("the file is larger than the limit of {max_bytes} bytes (decompressed)");
            let problem = Diagnostic::error("E0104", Place::Byte(at(&reader) as u64), message);
            return Err(problem.with_help("raise --max-bytes if that is expected"));
        }
        *end = total as usize;
    }
    // Grows with what really comes, not with what is claimed.
    let mut raw = Vec::new();
    let mut inflater = None;
    let mut column = 0;
    while column < COLUMNS {
        let count = number(&mut reader)?;
        let (from, start) = (column, raw.len());
        column =
            usize::try_from(count).ok().and_then(|n| n.checked_add(column)).filter(|&n| n <= COLUMNS).unwrap_or(from);
        if column == from {
            return Err(fault("E0162", at(&reader), format!("a part of {count} columns")));
        }
        let length = ends[column - 1] - start;
        let method = reader.byte().map_err(|_| fault("E0162", at(&reader), "the file ends before its contents"))?;
        let packed = usize::try_from(number(&mut reader)?).unwrap_or(usize::MAX);
        let place = at(&reader);
        let bytes = reader.take(packed).map_err(|_| fault("E0162", place, "a part is longer than the file"))?;
        match method {
            STORED => raw.extend_from_slice(bytes),
            DEFLATED => {
                let inflater = inflater.get_or_insert_with(|| Decompress::new(false));
                inflater.reset(false);
                inflate(inflater, bytes, &mut raw, length).map_err(|what| fault("E0162", place, what))?;
            }
            HALVES => unpack_halves(bytes, &mut raw, length).map_err(|what| fault("E0162", place, what))?,
            other => return Err(fault("E0162", place, format!("unknown packing {other}"))),
        }
        if raw.len() != ends[column - 1] {
            let message = format!("a part unpacks to {} bytes, {length} were announced", raw.len() - start);
            return Err(fault("E0162", place, message));
        }
    }
    if reader.left() > 0 {
        return Err(fault("E0151", at(&reader), format!("{} bytes behind the last column", reader.left())));
    }
    Ok((raw, ends))
}
