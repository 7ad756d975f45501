//! Constant tensors: exact numbers with a shape, and their parsers from a file's tensors.

use super::proto::TensorProto;
use crate::exact::Rational;
use num_bigint::BigInt;

/// Maximum number of axes of a tensor.
pub(super) const MAX_AXES: usize = 32;
/// Maximum number of elements of a tensor.
pub(super) const MAX_ELEMENTS: usize = 1 << 24;

/// Tensor of exact numbers in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Sizes of the axes.
    pub shape: Vec<usize>,
    /// Elements in row-major order.
    pub values: Vec<Rational>,
}

impl Tensor {
    /// Returns a vector of integers.
    pub(super) fn from_integers(values: impl IntoIterator<Item = i64>) -> Tensor {
        let values: Vec<_> = values.into_iter().map(Rational::from).collect();
        Tensor { shape: vec![values.len()], values }
    }

    /// Returns the only element; `None` if the tensor does not have exactly one element.
    pub(super) fn single(&self) -> Option<&Rational> {
        match self.values.as_slice() {
            [value] => Some(value),
            _ => None,
        }
    }

    /// Returns the elements as integers of 64 bits; `None` if an element is not such an integer.
    pub(super) fn integers(&self) -> Option<Vec<i64>> {
        let whole = |value: &Rational| value.is_integer().then(|| i64::try_from(value.numerator()).ok()).flatten();
        self.values.iter().map(whole).collect()
    }

    /// Returns the tensor in another data type: rounded to float and double, unchanged in integer types that can
    /// represent its numbers.
    ///
    /// # Errors
    /// Returns the reason why the type is not supported, or the number that it cannot represent.
    pub(super) fn cast(&self, code: i32) -> Result<Tensor, String> {
        let kind = DataType::from_code(code);
        let cast = |value: &Rational| match kind {
            Some(DataType::Double) => finite_or_mask(value.to_f64()).ok_or_else(|| beyond(value, code)),
            Some(DataType::Float) => {
                let double = value.to_f64();
                // A number between two doubles would be rounded twice.
                let exact = finite_or_mask(double).filter(|exact| exact == value);
                exact.and_then(|_| finite_or_mask((double as f32).into())).ok_or_else(|| beyond(value, code))
            }
            Some(DataType::Integer { signed, bytes }) if value.is_integer() => {
                let bits = 8 * bytes as u64 - u64::from(signed);
                let (number, end) = (value.numerator(), BigInt::from(1) << bits);
                let least = if signed { -&end } else { BigInt::ZERO };
                if (least..end).contains(&number) { Ok(value.clone()) } else { Err(beyond(value, code)) }
            }
            _ => Err(may_round(code)),
        };
        let values = self.values.iter().map(cast).collect::<Result<_, _>>()?;
        Ok(Tensor { shape: self.shape.clone(), values })
    }
}

/// Returns the number of elements of a shape; `None` if it exceeds [`MAX_ELEMENTS`].
pub(super) fn elements(shape: &[usize]) -> Option<usize> {
    let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))?;
    (product <= MAX_ELEMENTS).then_some(product)
}

/// Returns the shape of a file's tensor.
///
/// # Errors
/// Returns a message if the shape is invalid.
pub(super) fn shape_of(proto: &TensorProto) -> Result<Vec<usize>, String> {
    if proto.dims.len() > MAX_AXES {
        return Err(format!("{} axes; at most {MAX_AXES} are supported", proto.dims.len()));
    }
    let shape: Option<Vec<usize>> = proto.dims.iter().map(|&d| usize::try_from(d).ok()).collect();
    let shape = shape.ok_or_else(|| format!("a negative size in the shape {:?}", proto.dims))?;
    elements(&shape).ok_or_else(|| format!("the shape {shape:?} has more than {MAX_ELEMENTS} elements"))?;
    Ok(shape)
}

/// Returns the numbers of a file's tensor.
///
/// # Errors
/// Returns a message if the tensor is invalid: a type that is not supported, too few or too many numbers, NaN,
/// infinity.
pub(super) fn read(proto: &TensorProto) -> Result<Tensor, String> {
    let shape = shape_of(proto)?;
    let count = elements(&shape).unwrap_or(0);
    let values = numbers(proto, count)?;
    if values.len() != count {
        return Err(format!("{} numbers for the shape {shape:?}, which has {count}", values.len()));
    }
    Ok(Tensor { shape, values })
}

fn numbers(proto: &TensorProto, count: usize) -> Result<Vec<Rational>, String> {
    let float = |x: f64| finite_or_mask(x).ok_or_else(|| "NaN or infinity".to_owned());
    let code = proto.data_type.unwrap_or(0);
    let Some(kind) = DataType::from_code(code) else {
        return Err(format!(
            "data type {} is not supported (float, double, float16, bfloat16, bool and integers of 4 to 64 bits are)",
            type_name(code)
        ));
    };
    if let Some(raw) = &proto.raw_data {
        if let DataType::Nibble { signed } = kind {
            // Two numbers per byte, the first in the low half; if the count is odd, the last high half is not used.
            if raw.len() != count.div_ceil(2) {
                return Err(format!("{} bytes for {count} numbers of 4 bits", raw.len()));
            }
            let halves = raw.iter().flat_map(|byte| [byte & 15, byte >> 4]);
            return Ok(halves.take(count).map(|bits| nibble(i32::from(bits), signed)).collect());
        }
        let size = kind.bytes();
        if count.checked_mul(size) != Some(raw.len()) {
            return Err(format!("{} bytes for {count} numbers of {size} bytes", raw.len()));
        }
        return raw
            .chunks_exact(size)
            .map(|bytes| kind.number(bytes).ok_or_else(|| "NaN or infinity".to_owned()))
            .collect();
    }
    match kind {
        DataType::Float => proto.float_data.iter().map(|&x| float(x.into())).collect(),
        DataType::Double => proto.double_data.iter().map(|&x| float(x)).collect(),
        DataType::Float16 => proto
            .int32_data
            .iter()
            .map(|&bits| u16::try_from(bits).ok().and_then(half).ok_or_else(|| "NaN or infinity".to_owned()))
            .collect(),
        DataType::Bfloat16 => proto
            .int32_data
            .iter()
            .map(|&bits| u16::try_from(bits).ok().and_then(bfloat).ok_or_else(|| "NaN or infinity".to_owned()))
            .collect(),
        DataType::Bool => Ok(proto.int32_data.iter().map(|&v| i64::from(v != 0).into()).collect()),
        // Typed fields contain the bytes of the packed format, each as an integer.
        DataType::Nibble { signed } => {
            let halves = proto.int32_data.iter().flat_map(|&byte| [byte & 15, (byte >> 4) & 15]);
            Ok(halves.take(count).map(|bits| nibble(bits, signed)).collect())
        }
        DataType::Integer { signed: true, bytes: 8 } => Ok(proto.int64_data.iter().map(|&v| v.into()).collect()),
        DataType::Integer { signed: false, bytes: 4 | 8 } => {
            Ok(proto.uint64_data.iter().map(|&v| BigInt::from(v).into()).collect())
        }
        DataType::Integer { .. } => Ok(proto.int32_data.iter().map(|&v| i64::from(v).into()).collect()),
    }
}

/// Returns `true` for the codes of float and double.
pub(super) fn is_float(code: i32) -> bool {
    matches!(DataType::from_code(code), Some(DataType::Float | DataType::Double))
}

/// Returns the reason against a conversion to a data type that may change values.
pub(super) fn may_round(code: i32) -> String {
    let name = type_name(code);
    format!("a change to {name} may round; FLOAT and DOUBLE are supported, integers of whole constants")
}

/// Returns the reason against a conversion of a constant that the data type cannot represent.
fn beyond(value: &Rational, code: i32) -> String {
    format!("the constant {value} is beyond {}", type_name(code))
}

/// Supported types of elements.
#[derive(Clone, Copy)]
enum DataType {
    Float,
    Double,
    Float16,
    Bfloat16,
    Bool,
    Nibble { signed: bool },
    Integer { signed: bool, bytes: usize },
}

impl DataType {
    fn from_code(code: i32) -> Option<DataType> {
        let integer = |signed, bytes| DataType::Integer { signed, bytes };
        Some(match code {
            1 => DataType::Float,
            2 => integer(false, 1),
            3 => integer(true, 1),
            4 => integer(false, 2),
            5 => integer(true, 2),
            6 => integer(true, 4),
            7 => integer(true, 8),
            9 => DataType::Bool,
            10 => DataType::Float16,
            11 => DataType::Double,
            12 => integer(false, 4),
            13 => integer(false, 8),
            16 => DataType::Bfloat16,
            21 => DataType::Nibble { signed: false },
            22 => DataType::Nibble { signed: true },
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            DataType::Float => 4,
            DataType::Double => 8,
            DataType::Float16 | DataType::Bfloat16 => 2,
            DataType::Bool | DataType::Nibble { .. } => 1,
            DataType::Integer { bytes, .. } => bytes,
        }
    }

    /// Returns the number in these little-endian bytes; `None` for NaN and plus infinity.
    fn number(self, bytes: &[u8]) -> Option<Rational> {
        match self {
            DataType::Float => finite_or_mask(f32::from_le_bytes(bytes.try_into().ok()?).into()),
            DataType::Double => finite_or_mask(f64::from_le_bytes(bytes.try_into().ok()?)),
            DataType::Float16 => half(u16::from_le_bytes(bytes.try_into().ok()?)),
            DataType::Bfloat16 => bfloat(u16::from_le_bytes(bytes.try_into().ok()?)),
            DataType::Bool => Some(i64::from(bytes.first()? != &0).into()),
            DataType::Nibble { .. } => None,
            DataType::Integer { signed: true, .. } => Some(BigInt::from_signed_bytes_le(bytes).into()),
            DataType::Integer { signed: false, .. } => {
                Some(BigInt::from_bytes_le(num_bigint::Sign::Plus, bytes).into())
            }
        }
    }
}

/// Fractional bits of the number that represents minus infinity, which is below all numbers of binary64.
const MASK: i64 = -2000;

/// Returns a finite number exactly, and minus infinity as a number that only masks may contain; `None` for others.
pub(super) fn finite_or_mask(x: f64) -> Option<Rational> {
    if x == f64::NEG_INFINITY { Some(Rational::from_code(&BigInt::from(-1), MASK)) } else { Rational::from_f64(x) }
}

impl Tensor {
    /// Returns `true` if an element was minus infinity in the file.
    pub(super) fn has_infinity(&self) -> bool {
        let limit = Rational::from_code(&BigInt::from(-1), MASK + 1);
        self.values.iter().any(|value| *value < limit)
    }
}

/// Returns the value of a bfloat16, the upper half of a float32; `None` for NaN and plus infinity.
fn bfloat(bits: u16) -> Option<Rational> {
    finite_or_mask(f32::from_bits(u32::from(bits) << 16).into())
}

/// Returns the value of the low four bits.
fn nibble(bits: i32, signed: bool) -> Rational {
    let negative = signed && bits >= 8;
    i64::from(if negative { bits - 16 } else { bits }).into()
}

/// Returns the value of a float16; `None` for NaN and plus infinity.
fn half(bits: u16) -> Option<Rational> {
    let fraction = i64::from(bits & 0x3ff);
    let (mantissa, exponent) = match (bits >> 10) & 0x1f {
        0 => (fraction, -24),
        0x1f => return (bits == 0xfc00).then(|| finite_or_mask(f64::NEG_INFINITY)).flatten(),
        e => (fraction | 0x400, i64::from(e) - 25),
    };
    let magnitude = Rational::from(mantissa).shifted(exponent);
    Some(if bits >> 15 == 1 { -&magnitude } else { magnitude })
}

/// Returns the name of a data type of onnx.proto.
pub(super) fn type_name(code: i32) -> String {
    const NAMES: [&str; 24] = [
        "UNDEFINED",
        "FLOAT",
        "UINT8",
        "INT8",
        "UINT16",
        "INT16",
        "INT32",
        "INT64",
        "STRING",
        "BOOL",
        "FLOAT16",
        "DOUBLE",
        "UINT32",
        "UINT64",
        "COMPLEX64",
        "COMPLEX128",
        "BFLOAT16",
        "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2",
        "FLOAT8E5M2FNUZ",
        "UINT4",
        "INT4",
        "FLOAT4E2M1",
    ];
    usize::try_from(code).ok().and_then(|k| NAMES.get(k)).map_or_else(|| code.to_string(), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that represents minus infinity in a mask does not change in a conversion that rounds.
    #[test]
    fn masks_are_cast_to_masks() {
        let mask = Tensor { shape: vec![1], values: vec![finite_or_mask(f64::NEG_INFINITY).unwrap()] };
        for code in [1, 11] {
            let cast = mask.cast(code).unwrap();
            assert!(cast.has_infinity() && cast.values == mask.values, "{code}");
        }
        assert!(mask.cast(6).unwrap_err().contains("INT32"));
    }
}
