//! Messages of `onnx.proto` that the parser uses, and the decoder of a file.
//!
//! The structs are written by hand after onnx.proto (IR version 10), including the field numbers, so that a build needs
//! no `protoc`; unused fields are omitted and skipped. Before `prost` allocates memory, [`Tally`] scans the bytes and
//! counts the resulting items, because a message of two bytes becomes a struct of hundreds of bytes.

use prost::Message;

/// Maximum number of nodes of a file.
pub(super) const MAX_NODES: usize = 65_536;
/// Maximum number of small parts (attributes, names, dimensions) of a file.
const MAX_PARTS: usize = 1 << 22;

#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelProto {
    #[prost(int64, optional, tag = "1")]
    pub(super) ir_version: Option<i64>,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, optional, tag = "1")]
    pub(super) domain: Option<String>,
    #[prost(int64, optional, tag = "2")]
    pub(super) version: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeProto>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "15")]
    pub(super) sparse_initializer: Vec<Nothing>,
}

/// A message of which only the presence is relevant.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Nothing {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) op_type: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
    #[prost(string, optional, tag = "7")]
    pub(super) domain: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttributeProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(super) s: Option<Vec<u8>>,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<TensorProto>,
    #[prost(float, repeated, tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(int32, optional, tag = "20")]
    pub(super) kind: Option<i32>,
    #[prost(string, optional, tag = "21")]
    pub(super) ref_attr_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) data_type: Option<i32>,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, optional, tag = "8")]
    pub(super) name: Option<String>,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<StringStringEntryProto>,
    #[prost(int32, optional, tag = "14")]
    pub(super) data_location: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, optional, tag = "1")]
    pub(super) key: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) value: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorTypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorTypeProto {
    #[prost(int32, optional, tag = "1")]
    pub(super) elem_type: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<ShapeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<DimensionProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DimensionProto {
    #[prost(int64, optional, tag = "1")]
    pub(super) value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) parameter: Option<String>,
}

/// Decodes the model in these bytes.
///
/// # Errors
/// Returns the reason why the bytes are not a model.
pub(super) fn decode(bytes: &[u8]) -> Result<ModelProto, String> {
    Tally::default().message(bytes, &MODEL).map_err(|e| format!("no ONNX file: {e}"))?;
    let mut model = ModelProto::decode(bytes).map_err(|e| format!("no ONNX file: {e}"))?;
    model.graph.as_mut().map_or(Ok(()), split_outputs)?;
    Ok(model)
}

/// Internal attributes: index of the output of a `Split` that a node computes, and number of outputs.
pub(super) const PART: &str = "alir2hdl part";
pub(super) const PARTS: &str = "alir2hdl parts";

/// Maximum number of outputs of a `Split`.
const MAX_SPLIT: usize = 1024;

/// Replaces each `Split` with a node for every output; all nodes except the first are appended to the graph.
fn split_outputs(graph: &mut GraphProto) -> Result<(), String> {
    let integer = |name: &str, value: usize| AttributeProto {
        name: Some(name.into()),
        i: Some(value as i64),
        kind: Some(2),
        ..AttributeProto::default()
    };
    let mut more = Vec::new();
    for node in graph.node.iter_mut().filter(|node| node.op_type.as_deref() == Some("Split")) {
        let outputs = std::mem::take(&mut node.output);
        if outputs.len() > MAX_SPLIT || more.len() + outputs.len() > MAX_NODES {
            return Err(format!("no ONNX file: a Split of more than {MAX_SPLIT} outputs"));
        }
        let one = |part: usize, output: &String| {
            let mut one = node.clone();
            one.output = vec![output.clone()];
            one.attribute.extend([integer(PART, part), integer(PARTS, outputs.len())]);
            one
        };
        let mut parts =
            outputs.iter().enumerate().map(|(part, output)| one(part, output)).collect::<Vec<_>>().into_iter();
        let Some(first) = parts.next() else { continue };
        more.extend(parts);
        *node = first;
    }
    graph.node.extend(more);
    Ok(())
}

/// Returns `true` if the first bytes of a file are those of an ONNX file: fields of a model up to its graph, or to the
/// end of the bytes.
pub fn recognised(head: &[u8]) -> bool {
    let mut rest = head;
    let mut fields = 0;
    while !rest.is_empty() {
        let before = rest;
        let Ok(key) = varint(&mut rest) else { return fields > 0 };
        let known = match key >> 3 {
            1 | 5 => key & 7 == 0,
            2..=4 | 6..=8 | 14 | 20 | 25 | 26 => key & 7 == 2,
            _ => false,
        };
        if !known {
            return false;
        }
        if key >> 3 == 7 {
            // A graph begins with a node, a name or another of its fields; a file with other content is not ONNX.
            let mut length = rest;
            return varint(&mut length).is_ok_and(|bytes| bytes > 0) && fields > 0;
        }
        rest = before;
        if next_field(&mut rest).is_err() {
            return false;
        }
        fields += 1;
    }
    false
}

/// Fields of a message that are messages and cost memory.
struct Layout {
    /// Numbers and layouts of these fields.
    messages: &'static [(u64, &'static Layout)],
    /// Field that counts as a node.
    node: Option<u64>,
}

const LEAF: Layout = Layout { messages: &[], node: None };
const TENSOR: Layout = Layout { messages: &[(13, &LEAF)], node: None };
const ATTRIBUTE: Layout = Layout { messages: &[(5, &TENSOR)], node: None };
const NODE: Layout = Layout { messages: &[(5, &ATTRIBUTE)], node: None };
const SHAPE: Layout = Layout { messages: &[(1, &LEAF)], node: None };
const TENSOR_TYPE: Layout = Layout { messages: &[(2, &SHAPE)], node: None };
const TYPE: Layout = Layout { messages: &[(1, &TENSOR_TYPE)], node: None };
const VALUE_INFO: Layout = Layout { messages: &[(2, &TYPE)], node: None };
const GRAPH: Layout =
    Layout { messages: &[(1, &NODE), (5, &TENSOR), (11, &VALUE_INFO), (12, &VALUE_INFO), (15, &LEAF)], node: Some(1) };
const MODEL: Layout = Layout { messages: &[(7, &GRAPH), (8, &LEAF)], node: None };

/// Counter of the contents of a file, used before memory is allocated for them.
#[derive(Default)]
struct Tally {
    nodes: usize,
    parts: usize,
}

impl Tally {
    fn message(&mut self, mut bytes: &[u8], layout: &Layout) -> Result<(), String> {
        while !bytes.is_empty() {
            let (field, value) = next_field(&mut bytes)?;
            // The memory of a long field is proportional to its length; many short fields must be counted.
            self.parts += 1;
            self.nodes += usize::from(layout.node == Some(field));
            if self.nodes > MAX_NODES {
                return Err(format!("more than {MAX_NODES} nodes"));
            }
            if self.parts > MAX_PARTS {
                return Err(format!("more than {MAX_PARTS} fields"));
            }
            let inside = layout.messages.iter().find(|(number, _)| *number == field);
            if let (Some((_, inside)), Value::Bytes(bytes)) = (inside, value) {
                self.message(bytes, inside)?;
            }
        }
        Ok(())
    }
}

enum Value<'a> {
    Number,
    Fixed,
    Bytes(&'a [u8]),
}

/// Removes the first field of the bytes; returns its number and its content.
fn next_field<'a>(bytes: &mut &'a [u8]) -> Result<(u64, Value<'a>), String> {
    let key = varint(bytes)?;
    let take = |bytes: &mut &'a [u8], count: u64| match usize::try_from(count) {
        Ok(count) if count <= bytes.len() => {
            let (taken, rest) = bytes.split_at(count);
            *bytes = rest;
            Ok(taken)
        }
        _ => Err("a field is longer than what holds it".to_owned()),
    };
    let value = match key & 7 {
        0 => varint(bytes).map(|_| Value::Number)?,
        1 => take(bytes, 8).map(|_| Value::Fixed)?,
        2 => {
            let count = varint(bytes)?;
            Value::Bytes(take(bytes, count)?)
        }
        5 => take(bytes, 4).map(|_| Value::Fixed)?,
        kind => return Err(format!("wire type {kind}")),
    };
    Ok((key >> 3, value))
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0u64;
    for k in 0..10 {
        let Some((&byte, rest)) = bytes.split_first() else { return Err("it ends within a number".to_owned()) };
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * k);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number of more than ten bytes".to_owned())
}
