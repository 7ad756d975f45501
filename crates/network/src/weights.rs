//! Parsers of weights: safetensors, npz, npy, folders of npy. Files are untrusted.
//!
//! Opening a file reads only its directory. A tensor is read at its first use, up to the size that the caller allows.
//! Pickles are never read.

use super::json::{self, Value};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_interp::samples::array::{Array, Numbers, archive_names, open_in_archive};
use alir_interp::samples::half;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Maximum size of a header in bytes, as the safetensors format defines it.
const MAX_HEADER: u64 = 100_000_000;

/// Maximum number of JSON values of a header, which allows about 300,000 tensors.
const MAX_VALUES: usize = 1 << 22;

/// Maximum number of axes of a tensor.
const MAX_AXES: usize = 32;

/// A tensor in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Sizes of the axes.
    pub shape: Vec<u64>,
    /// Elements of the tensor.
    pub numbers: Numbers,
}

impl Tensor {
    /// Returns `true` if the elements are integers in the file.
    pub fn is_integer(&self) -> bool {
        !matches!(self.numbers, Numbers::Floats(_))
    }
}

/// Location of a tensor.
#[derive(Clone, Debug)]
enum Home {
    Npy(PathBuf),
    Npz(PathBuf, String),
    Safetensors { file: PathBuf, dtype: Dtype, shape: Vec<u64>, start: u64, bytes: u64 },
}

/// Element types of safetensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dtype {
    F64,
    F32,
    F16,
    Bf16,
    Int(u8),
    Uint(u8),
}

impl Dtype {
    fn parse(name: &str) -> Option<Dtype> {
        Some(match name {
            "F64" => Dtype::F64,
            "F32" => Dtype::F32,
            "F16" => Dtype::F16,
            "BF16" => Dtype::Bf16,
            "I8" => Dtype::Int(1),
            "I16" => Dtype::Int(2),
            "I32" => Dtype::Int(4),
            "I64" => Dtype::Int(8),
            "U8" | "BOOL" => Dtype::Uint(1),
            "U16" => Dtype::Uint(2),
            "U32" => Dtype::Uint(4),
            "U64" => Dtype::Uint(8),
            _ => return None,
        })
    }

    fn size(self) -> u64 {
        match self {
            Dtype::F64 => 8,
            Dtype::F32 => 4,
            Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::Int(n) | Dtype::Uint(n) => n.into(),
        }
    }

    fn decode(self, bytes: &[u8]) -> Numbers {
        fn each<const N: usize, T>(bytes: &[u8], f: impl Fn([u8; N]) -> T) -> Vec<T> {
            bytes.as_chunks::<N>().0.iter().map(|b| f(*b)).collect()
        }
        match self {
            Dtype::F64 => Numbers::Floats(each(bytes, f64::from_le_bytes)),
            Dtype::F32 => Numbers::Floats(each(bytes, |b| f32::from_le_bytes(b).into())),
            Dtype::F16 => Numbers::Floats(each(bytes, |b| half(u16::from_le_bytes(b)))),
            Dtype::Bf16 => {
                Numbers::Floats(each(bytes, |b| f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16).into()))
            }
            Dtype::Int(1) => Numbers::Integers(each(bytes, |b: [u8; 1]| i64::from(b[0] as i8))),
            Dtype::Int(2) => Numbers::Integers(each(bytes, |b| i16::from_le_bytes(b).into())),
            Dtype::Int(4) => Numbers::Integers(each(bytes, |b| i32::from_le_bytes(b).into())),
            Dtype::Int(_) => Numbers::Integers(each(bytes, i64::from_le_bytes)),
            Dtype::Uint(1) => Numbers::Integers(each(bytes, |b: [u8; 1]| b[0].into())),
            Dtype::Uint(2) => Numbers::Integers(each(bytes, |b| u16::from_le_bytes(b).into())),
            Dtype::Uint(4) => Numbers::Integers(each(bytes, |b| u32::from_le_bytes(b).into())),
            Dtype::Uint(_) => Numbers::Words(each(bytes, u64::from_le_bytes)),
        }
    }
}

fn wrong(file: impl AsRef<Path>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E2005", Place::Whole, message).in_file(file.as_ref())
}

/// Builds the problem of one tensor of a file; the place names the file and the tensor.
fn wrong_tensor(file: impl AsRef<Path>, tensor: &str, message: impl Into<String>) -> Diagnostic {
    let place = Place::Path(format!("{}: {tensor}", file.as_ref().display()));
    Diagnostic { place, ..wrong(file, message) }
}

/// All tensors of all files, by name.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    tensors: BTreeMap<String, Home>,
}

impl Weights {
    /// Opens files and folders.
    ///
    /// # Errors
    /// If a file is invalid, or if two files have a tensor of the same name.
    pub fn open(paths: &[PathBuf]) -> Result<Weights, Diagnostics> {
        let mut weights = Weights::default();
        for path in paths {
            weights.add(path)?;
        }
        Ok(weights)
    }

    /// Returns the names of all tensors, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Returns `true` if a tensor has this name.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn put(&mut self, name: String, home: Home, file: &str) -> Result<(), Diagnostic> {
        if self.tensors.contains_key(&name) {
            return Err(wrong_tensor(file, &name, "this tensor is in two of the files")
                .with_help("give each tensor once: leave out one --weights, or name npy files differently"));
        }
        self.tensors.insert(name, home);
        Ok(())
    }

    fn add(&mut self, path: &Path) -> Result<(), Diagnostic> {
        let shown = path.display().to_string();
        let meta = std::fs::metadata(path).map_err(|e| wrong(path, format!("cannot read: {e}")))?;
        if meta.is_dir() {
            return self.add_folder(path);
        }
        let mut file = File::open(path).map_err(|e| wrong(path, format!("cannot read: {e}")))?;
        let mut head = Vec::new();
        let read = (&mut file).take(9).read_to_end(&mut head);
        read.map_err(|e| wrong(path, format!("cannot read: {e}")))?;
        if head.starts_with(b"\x93NUMPY") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            return self.put(name, Home::Npy(path.into()), &shown);
        }
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            for name in archive_names(file, meta.len()).map_err(|e| wrong(path, e))? {
                self.put(name.clone(), Home::Npz(path.into(), name), &shown)?;
            }
            return Ok(());
        }
        // A safetensors file with a header of 384 or 640 bytes begins like a pickle; the bytes after the size
        // distinguish the two formats.
        let sized = head.get(4..) == Some(b"\0\0\0\0{");
        if !sized && (head.first() == Some(&0x80) || head.starts_with(b"\x1f\x8b")) {
            return Err(wrong(shown, "this is no safetensors, npz or npy file; pickles are never read")
                .with_help("save the weights with safetensors or numpy.savez"));
        }
        self.add_safetensors(path, &shown, &mut file, meta.len())
    }

    fn add_folder(&mut self, path: &Path) -> Result<(), Diagnostic> {
        let shown = path.display().to_string();
        let failed = |e: std::io::Error| wrong(path, format!("cannot read: {e}"));
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
                files.push(file);
            }
        }
        if files.is_empty() {
            return Err(wrong(shown, "there is no .npy file in this folder"));
        }
        // The order of files in a folder differs between systems.
        files.sort();
        files.iter().try_for_each(|file| self.add(file))
    }

    fn add_safetensors(&mut self, path: &Path, shown: &str, file: &mut File, length: u64) -> Result<(), Diagnostic> {
        let broken = |message: String| wrong(shown, message);
        if length < 8 {
            return Err(broken(format!("a file of {length} bytes is no safetensors, npz or npy file")));
        }
        let mut size = [0; 8];
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut size));
        read.map_err(|e| broken(format!("cannot read: {e}")))?;
        let size = u64::from_le_bytes(size);
        if size > length - 8 {
            return Err(broken(format!(
                "a header of {size} bytes in a file of {length}; this is no whole safetensors file"
            )));
        }
        if size > MAX_HEADER {
            return Err(broken(format!("a header of {size} bytes; at most {MAX_HEADER} are read")));
        }
        let mut header = vec![0; size as usize];
        file.read_exact(&mut header).map_err(|e| broken(format!("cannot read: {e}")))?;
        let header = json::parse(&header, MAX_VALUES)
            .map_err(|e| broken(format!("its header is not valid JSON: {}", e.what)))?;
        let members = header.members().ok_or_else(|| broken("its header is no object".into()))?;
        let data = length - 8 - size;
        let mut parts: Vec<(u64, u64, &str)> = Vec::new();
        for (name, record) in members {
            if name == "__metadata__" {
                continue;
            }
            let (home, start, end) = tensor_of(path, shown, name, record, 8 + size, data)?;
            parts.push((start, end, name));
            self.put(name.clone(), home, shown)?;
        }
        parts.sort_unstable();
        let mut filled = 0;
        for (start, end, name) in parts {
            if start != filled {
                let what = if start < filled { "overlaps the tensor before" } else { "leaves a gap before it" };
                return Err(wrong_tensor(shown, name, format!("data_offsets {start}..{end} {what}")));
            }
            filled = end;
        }
        if filled != data {
            return Err(broken(format!("{} bytes follow the last tensor", data - filled)));
        }
        Ok(())
    }

    /// Reads a tensor of at most `max_elements` elements; `None` if no tensor has this name.
    ///
    /// # Errors
    /// If the tensor is invalid.
    pub fn read(&self, name: &str, max_elements: u64) -> Result<Option<Tensor>, Diagnostic> {
        let Some(home) = self.tensors.get(name) else { return Ok(None) };
        let from_array = |array: Result<Array, String>, file: &Path| {
            let Array { shape, numbers } = array.map_err(|message| wrong_tensor(file, name, message))?;
            Ok(Some(Tensor { shape, numbers }))
        };
        match home {
            Home::Npy(path) => {
                let array = File::open(path).map_err(|e| e.to_string());
                from_array(array.and_then(|mut file| Array::read(&mut file, max_elements, MAX_AXES)), path)
            }
            Home::Npz(path, array) => {
                let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
                let reader = opened.map_err(|e| e.to_string()).and_then(|(n, file)| open_in_archive(file, n, array));
                from_array(reader.and_then(|mut reader| Array::read(&mut reader, max_elements, MAX_AXES)), path)
            }
            Home::Safetensors { file, dtype, shape, start, bytes } => {
                let count = bytes / dtype.size();
                if count > max_elements {
                    return Err(wrong_tensor(file, name, format!("{count} elements; at most {max_elements} are read")));
                }
                let mut data = vec![0; *bytes as usize];
                let read = File::open(file).and_then(|mut file| {
                    file.seek(SeekFrom::Start(*start))?;
                    file.read_exact(&mut data)
                });
                read.map_err(|e| wrong_tensor(file, name, format!("cannot read: {e}")))?;
                Ok(Some(Tensor { shape: shape.clone(), numbers: dtype.decode(&data) }))
            }
        }
    }
}

/// Returns one record of a safetensors header; `base` is the offset of the data, `data` the length of the data.
fn tensor_of(
    path: &Path,
    shown: &str,
    name: &str,
    record: &Value,
    base: u64,
    data: u64,
) -> Result<(Home, u64, u64), Diagnostic> {
    let wrong = |message: String| wrong_tensor(shown, name, message);
    let dtype = record.get("dtype").and_then(Value::text).ok_or_else(|| wrong("there is no dtype".into()))?;
    let dtype = Dtype::parse(dtype).ok_or_else(|| {
        wrong(format!("the dtype {dtype:?} is not supported"))
            .with_help("F64, F32, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64 and BOOL are read")
    })?;
    let sizes = |key: &str| {
        let list = record.get(key).and_then(Value::elements)?;
        list.iter().map(|v| v.integer().and_then(|v| u64::try_from(v).ok())).collect::<Option<Vec<u64>>>()
    };
    let shape = sizes("shape").ok_or_else(|| wrong("the shape is no list of sizes".into()))?;
    if shape.len() > MAX_AXES {
        return Err(wrong(format!("{} axes; at most {MAX_AXES} are read", shape.len())));
    }
    let offsets = sizes("data_offsets");
    let Some(&[start, end]) = offsets.as_deref() else {
        return Err(wrong("data_offsets are no two offsets".into()));
    };
    if start > end || end > data {
        return Err(wrong(format!("data_offsets {start}..{end} are outside of the {data} bytes of data")));
    }
    let bytes = shape.iter().try_fold(dtype.size(), |n, &size| n.checked_mul(size));
    if bytes != Some(end - start) {
        return Err(wrong(format!("{} bytes of data, which are no tensor of shape {shape:?}", end - start)));
    }
    Ok((Home::Safetensors { file: path.into(), dtype, shape, start: base + start, bytes: end - start }, start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> tempfile::NamedTempFile {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn open(header: &str, data: &[u8]) -> Result<Weights, String> {
        let file = file(header, data);
        let weights = Weights::open(&[file.path().into()]).map_err(|d| d.to_string())?;
        for name in weights.names() {
            weights.read(name, 1000).map_err(|d| d.to_string())?.unwrap();
        }
        Ok(weights)
    }

    #[test]
    fn a_header_whose_size_looks_like_a_pickle_or_gzip_is_read() {
        let record = r#"{"w":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}"#;
        for size in [0x180, 0x280, 0x480, 0x80, 0x88b1f] {
            let header = format!("{record}{}}}", " ".repeat(size - record.len() - 1));
            assert_eq!(header.len(), size);
            assert_eq!(open(&header, &[7]).unwrap().names().count(), 1, "{size}");
        }
    }

    #[test]
    fn elements_of_every_kind() {
        for (dtype, data, expected) in [
            ("F64", (-1.5f64).to_le_bytes().to_vec(), Numbers::Floats(vec![-1.5])),
            ("F32", 0.1f32.to_le_bytes().to_vec(), Numbers::Floats(vec![f64::from(0.1f32)])),
            ("F16", vec![0x00, 0x3c], Numbers::Floats(vec![1.0])),
            ("BF16", vec![0x80, 0xbf], Numbers::Floats(vec![-1.0])),
            ("I8", vec![0x80], Numbers::Integers(vec![-128])),
            ("I16", vec![0xff, 0xff], Numbers::Integers(vec![-1])),
            ("U16", vec![0xff, 0xff], Numbers::Integers(vec![65535])),
            ("I32", vec![0, 0, 0, 0x80], Numbers::Integers(vec![-(1 << 31)])),
            ("U32", vec![0, 0, 0, 0x80], Numbers::Integers(vec![1 << 31])),
            ("I64", i64::MIN.to_le_bytes().to_vec(), Numbers::Integers(vec![i64::MIN])),
            ("U64", u64::MAX.to_le_bytes().to_vec(), Numbers::Words(vec![u64::MAX])),
            ("BOOL", vec![1], Numbers::Integers(vec![1])),
        ] {
            let header =
                format!("{{\"t\": {{\"dtype\": \"{dtype}\", \"shape\": [1], \"data_offsets\": [0, {}]}}}}", data.len());
            let file = file(&header, &data);
            let weights = Weights::open(&[file.path().into()]).unwrap();
            let tensor = weights.read("t", 1).unwrap().unwrap();
            assert_eq!(tensor, Tensor { shape: vec![1], numbers: expected }, "{dtype}");
        }
    }

    #[test]
    fn lies_are_refused_with_their_place() {
        let one =
            |offsets: &str| format!("{{\"t\": {{\"dtype\": \"I8\", \"shape\": [2], \"data_offsets\": {offsets}}}}}");
        for (header, data, expected) in [
            (one("[0, 3]"), 3, "no tensor of shape"),
            (one("[2, 0]"), 3, "outside"),
            (one("[1, 3]"), 3, "leaves a gap"),
            (one("[0, 2]"), 3, "1 bytes follow"),
            (one("[0, 2]"), 1, "outside of the 1 bytes"),
            (one("[0]"), 2, "no two offsets"),
            (one("[0, 2]").replace("I8", "Q4_0"), 2, "\"Q4_0\" is not supported"),
            (one("[0, 2]").replace("[2]", "[18446744073709551615, 3]"), 2, "no list of sizes"),
            (one("[0, 2]").replace("[2]", "[4611686018427387904, 4]"), 2, "no tensor of shape"),
            ("[]".into(), 0, "no object"),
            ("{".into(), 0, "not valid JSON"),
        ] {
            let error = open(&header, &vec![0; data]).unwrap_err();
            assert!(error.contains(expected), "{header}: {error}");
        }
        let two = "{\"a\": {\"dtype\": \"I8\", \"shape\": [2], \"data_offsets\": [0, 2]}, \
                    \"b\": {\"dtype\": \"I8\", \"shape\": [2], \"data_offsets\": [1, 3]}}";
        assert!(open(two, &[0; 3]).unwrap_err().contains("overlaps"));
    }

    #[test]
    fn a_header_longer_than_its_file_is_not_allocated() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), (1u64 << 60).to_le_bytes()).unwrap();
        let error = Weights::open(&[file.path().into()]).unwrap_err().to_string();
        assert!(error.contains("header of 1152921504606846976 bytes in a file of 8"), "{error}");
    }

    #[test]
    fn a_tensor_in_two_files_is_refused() {
        let header = "{\"t\": {\"dtype\": \"I8\", \"shape\": [1], \"data_offsets\": [0, 1]}}";
        let (a, b) = (file(header, &[1]), file(header, &[1]));
        let error = Weights::open(&[a.path().into(), b.path().into()]).unwrap_err().to_string();
        assert!(error.contains("in two of the files"), "{error}");
    }
}
