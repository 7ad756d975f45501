//! The frame of a file: magic, version, columns in parts, checksum.

use super::COLUMNS;
use super::columns::{Reader, Writer};
use crate::diag::{Diagnostic, Place};
use flate2::read::DeflateEncoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::Read;

/// How a file starts: not text, and damaged by transfers that change line ends.
pub(in super::super) const MAGIC: &[u8; 8] = b"\x8aALIRZ\r\n";

/// The version that is written.
const VERSION: u8 = 1;

/// Behind the magic the version, at the end a checksum.
const BODY: usize = MAGIC.len() + 1;
const CHECKSUM: usize = 4;

/// Columns at least this long can be a part of their own.
const ALONE: usize = 200;

/// A part's bytes are as they are.
const STORED: u8 = 0;
/// A part's bytes are raw deflate.
const DEFLATED: u8 = 1;

/// The file of these columns.
pub(super) fn pack(columns: &[Vec<u8>; COLUMNS]) -> Vec<u8> {
    let mut together = Writer::default();
    part(columns, &mut together);
    let mut apart = Writer::default();
    let mut from = 0;
    for to in 1..=COLUMNS {
        // A long column ends a part, and so does the end of a run of short ones.
        if to == COLUMNS || columns[to - 1].len() >= ALONE || columns[to].len() >= ALONE {
            part(&columns[from..to], &mut apart);
            from = to;
        }
    }
    let shorter = if apart.0.len() < together.0.len() { apart } else { together };

    let mut file = Writer(MAGIC.to_vec());
    file.byte(VERSION);
    columns.iter().for_each(|column| file.number(column.len() as u64));
    file.0.extend(shorter.0);
    let mut crc = Crc::new();
    crc.update(&file.0);
    file.0.extend(crc.sum().to_le_bytes());
    file.0
}

/// Adds a part of these columns: how many, how packed, how long, the bytes.
fn part(columns: &[Vec<u8>], out: &mut Writer) {
    let raw = columns.concat();
    let mut packed = Vec::new();
    DeflateEncoder::new(raw.as_slice(), flate2::Compression::best())
        .read_to_end(&mut packed)
        .expect("compressing memory into memory");
    let (method, bytes) = if packed.len() < raw.len() { (DEFLATED, packed) } else { (STORED, raw) };
    out.number(columns.len() as u64);
    out.byte(method);
    out.number(bytes.len() as u64);
    out.0.extend(bytes);
}

fn fault(code: &'static str, at: usize, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, Place::Byte(at as u64), message).with_help("the file is damaged: copy it again")
}

/// The least room that is made at once for what comes out of deflated data.
const ROOM: usize = 1 << 15;

/// Appends what the bytes unpack to, and no more than one byte beyond `length`.
fn inflate(inflater: &mut Decompress, mut bytes: &[u8], raw: &mut Vec<u8>, length: usize) -> Result<(), String> {
    let start = raw.len();
    loop {
        let have = raw.len() - start;
        if have > length {
            return Ok(());
        }
        // A first guess that is mostly enough; then twice what was there.
        raw.reserve_exact((length + 1 - have).min(ROOM.max(4 * bytes.len()).max(have)));
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

/// The columns of a file, one behind the other, and where each ends.
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
    let mut inflater = Decompress::new(false);
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
                inflater.reset(false);
                inflate(&mut inflater, bytes, &mut raw, length).map_err(|what| fault("E0162", place, what))?;
            }
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
