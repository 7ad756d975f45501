//! External data of tensors: files that ONNX references by `location`, `offset` and `length`.
//!
//! Only files in the network's folder or below are opened.

use super::Refusal;
use super::proto::{ModelProto, TensorProto};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// Maximum size of all external data in bytes.
const MAX_BYTES: u64 = 1 << 28;
/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;

fn is_external(tensor: &TensorProto) -> bool {
    tensor.data_location.unwrap_or(0) != 0 || !tensor.external_data.is_empty()
}

/// Returns the stated length of a tensor's external data in bytes; zero if it is missing or above the limit.
pub(super) fn stated_length(tensor: &TensorProto) -> u64 {
    entry(tensor, "length").and_then(|text| text.parse().ok()).filter(|&length| length <= MAX_BYTES).unwrap_or(0)
}

fn entry<'t>(tensor: &'t TensorProto, key: &str) -> Option<&'t str> {
    tensor.external_data.iter().find(|entry| entry.key.as_deref() == Some(key))?.value.as_deref()
}

/// Loads the external data of all tensors.
///
/// # Errors
/// Returns each tensor whose data cannot be read, with its name.
pub(super) fn load(model: &mut ModelProto, folder: Option<&Path>) -> Result<(), Vec<Refusal>> {
    let Some(graph) = &mut model.graph else { return Ok(()) };
    let initialisers = graph.initializer.iter_mut().map(|tensor| (None, tensor));
    let constants = graph.node.iter_mut().flat_map(|node| {
        let name = node.output.first().cloned();
        node.attribute.iter_mut().filter_map(|attribute| attribute.t.as_mut()).map(move |tensor| (name.clone(), tensor))
    });
    let mut left = MAX_BYTES;
    let mut refusals = Vec::new();
    for (node, tensor) in initialisers.chain(constants).filter(|(_, tensor)| is_external(tensor)) {
        match read(tensor, folder, &mut left) {
            Ok(bytes) => {
                tensor.raw_data = Some(bytes);
                tensor.external_data.clear();
                tensor.data_location = None;
            }
            Err(message) => {
                let name = node.or_else(|| tensor.name.clone()).unwrap_or_default();
                let refusal = Refusal::new(format!("initialiser {name}"), message);
                refusals.push(refusal.with_help("keep the data files in the network's folder, or save it in one file"));
            }
        }
    }
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Returns the bytes of a tensor, and subtracts their number from the remaining limit.
fn read(tensor: &TensorProto, folder: Option<&Path>, left: &mut u64) -> Result<Vec<u8>, String> {
    if tensor.data_location != Some(EXTERNAL) {
        return Err(format!("data location {} is unknown", tensor.data_location.unwrap_or(0)));
    }
    let location = entry(tensor, "location").ok_or("its data is external, but the location is missing")?;
    let Some(folder) = folder else {
        return Err(format!("its data is in the file {location:?}, but the network is not read from a folder"));
    };
    let number = |key: &str| match entry(tensor, key) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| format!("{key} {text:?} of its data is not a number")),
    };
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
    let failed = |e: std::io::Error| format!("cannot read its data from {location:?}: {e}");
    let path = inside(folder, location)?;
    // Opening a pipe would block until another process writes to it.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(format!("{location:?}, which has its data, is not a file"));
    }
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let length = length.unwrap_or(size.saturating_sub(offset));
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(format!("{length} bytes from byte {offset} of {location:?}, which has {size}"));
    }
    *left = left.checked_sub(length).ok_or_else(|| format!("data files of more than {MAX_BYTES} bytes together"))?;
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Returns the path of a file in a folder or below it, with symbolic links resolved.
fn inside(folder: &Path, location: &str) -> Result<PathBuf, String> {
    let outside = || format!("{location:?}, which has its data, is not in the network's folder");
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if location.is_empty() || !Path::new(location).components().all(is_below) {
        return Err(outside());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let resolved =
        |path: &Path| path.canonicalize().map_err(|e| format!("cannot read its data from {location:?}: {e}"));
    let path = resolved(&folder.join(location))?;
    if path.starts_with(resolved(folder)?) { Ok(path) } else { Err(outside()) }
}
