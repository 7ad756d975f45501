//! Parser for whole arrays in npy files and npz archives, for weights and matrices instead of streams of samples.

use super::npy::{self, Scalar};
use super::npz;
use std::fs::File;
use std::io::Read;

/// An array in row-major order, converted from the order and byte order of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<u64>,
    /// Elements in row-major order.
    pub numbers: Numbers,
}

/// Elements of an array by their type in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// float16, float32, float64, including NaN and infinities.
    Floats(Vec<f64>),
    /// Integers of either sign, booleans as 0 and 1.
    Integers(Vec<i64>),
    /// Unsigned integers of 64 bits.
    Words(Vec<u64>),
}

impl Numbers {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Floats(v) => v.len(),
            Numbers::Integers(v) => v.len(),
            Numbers::Words(v) => v.len(),
        }
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Array {
    /// Reads an npy file with an array of at most `max_elements` elements and `max_axes` axes. No bytes may follow the
    /// array.
    ///
    /// # Errors
    /// The reason.
    pub fn read(reader: &mut dyn Read, max_elements: u64, max_axes: usize) -> Result<Array, String> {
        let header = read_header(reader)?;
        if header.shape.len() > max_axes {
            return Err(format!("an array of {} axes; at most {max_axes} are read", header.shape.len()));
        }
        let elements = header.shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
        let elements = elements
            .filter(|&n| n <= max_elements)
            .ok_or_else(|| format!("an array of shape {:?}; at most {max_elements} elements are read", header.shape))?;
        let size = header.scalar.size();
        let wanted = elements * size as u64;
        let mut bytes = Vec::new();
        reader.take(wanted).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        if (bytes.len() as u64) < wanted {
            return Err(format!("the file ends after {} of {wanted} bytes of its array", bytes.len()));
        }
        if reader.read(&mut [0]).map_err(|e| e.to_string())? > 0 {
            return Err("bytes follow the array".into());
        }
        let bytes = if header.fortran { row_major(&bytes, &header.shape, size) } else { bytes };
        let mut numbers = Numbers::Integers(Vec::new());
        match (header.scalar, &mut numbers) {
            (Scalar::Float(n), _) => {
                let mut reals = Vec::with_capacity(elements as usize);
                npy::decode_floats(&bytes, n, header.big_endian, &mut reals);
                numbers = Numbers::Floats(reals);
            }
            (Scalar::Uint(8), _) => numbers = Numbers::Words(npy::decode_words(&bytes, header.big_endian).collect()),
            (scalar, Numbers::Integers(integers)) => {
                npy::decode_integers(&bytes, scalar, header.big_endian, integers).ok_or("an integer beyond 64 bits")?;
            }
            _ => {}
        }
        Ok(Array { shape: header.shape, numbers })
    }
}

fn read_header(reader: &mut dyn Read) -> Result<npy::Header, String> {
    let mut prefix = [0; npy::PREFIX];
    let short = |_| "this is not an npy file: it ends within its header".to_string();
    reader.read_exact(&mut prefix).map_err(short)?;
    let mut header = vec![0; npy::header_length(&prefix)?];
    header[..npy::PREFIX].copy_from_slice(&prefix);
    reader.read_exact(&mut header[npy::PREFIX..]).map_err(short)?;
    npy::parse(&header)
}

/// Converts elements of `size` bytes from column-major to row-major order.
fn row_major(bytes: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let count = bytes.len() / size;
    // Distance in the file between neighbours along each axis, in elements.
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1usize;
    for &axis in shape {
        strides.push(stride);
        stride *= axis as usize;
    }
    let mut index = vec![0u64; shape.len()];
    let mut at = 0usize;
    for _ in 0..count {
        out.extend_from_slice(&bytes[at * size..(at + 1) * size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis] as usize;
            index[axis] = 0;
        }
    }
    out
}

/// Returns the names of the arrays in an npz archive.
///
/// # Errors
/// A description of the defect.
pub fn archive_names(mut file: File, length: u64) -> Result<Vec<String>, String> {
    npz::names(&mut file, length)
}

/// Opens the npy file of an array in an npz archive.
///
/// # Errors
/// A description of the defect.
pub fn open_in_archive(file: File, length: u64, array: &str) -> Result<Box<dyn Read + Send>, String> {
    npz::open(file, length, Some(array))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}}}\n");
        let mut bytes = npy::MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Array, String> {
        Array::read(&mut &bytes[..], 100, 4)
    }

    #[test]
    fn both_orders_of_axes_and_bytes() {
        let c = read(&npy("|i1", "False", "(2, 3)", &[1, 2, 3, 4, 5, 6])).unwrap();
        let f = read(&npy("|i1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6])).unwrap();
        assert_eq!(c, f);
        assert_eq!(c, Array { shape: vec![2, 3], numbers: Numbers::Integers(vec![1, 2, 3, 4, 5, 6]) });
        let deep = read(&npy("|u1", "True", "(2, 2, 2)", &[0, 4, 2, 6, 1, 5, 3, 7])).unwrap();
        assert_eq!(deep.numbers, Numbers::Integers((0..8).collect()));
        let big = read(&npy(">f4", "False", "(1,)", &1.5f32.to_be_bytes())).unwrap();
        assert_eq!(big.numbers, Numbers::Floats(vec![1.5]));
        let words = read(&npy("<u8", "False", "()", &u64::MAX.to_le_bytes())).unwrap();
        assert_eq!(words.numbers, Numbers::Words(vec![u64::MAX]));
    }

    #[test]
    fn wrong_sizes_are_rejected() {
        let short = npy("<f8", "False", "(2,)", &[0; 15]);
        assert!(read(&short).unwrap_err().contains("ends after 15 of 16"));
        assert!(read(&npy("|i1", "False", "(2,)", &[0; 3])).unwrap_err().contains("follow"));
        assert!(read(&npy("<f8", "False", "(4294967296, 4294967296, 2)", &[])).unwrap_err().contains("at most 100"));
        assert!(read(&npy("|i1", "True", "(1, 1, 1, 1, 1)", &[0])).unwrap_err().contains("5 axes"));
        assert!(read(b"\x93NUMPY").unwrap_err().contains("ends within its header"));
        assert!(read(&npy("|i1", "False", "(0, 7)", &[])).unwrap().numbers.is_empty());
    }
}
