//! And-inverter graphs in `alir2hdl convert`: AIGER and Aignet files, from a program or from each other.

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::ir::Model;
use crate::prove::aig::Aig;
use crate::prove::aignet::GateFlag;
use crate::prove::{aiger, aignet, blast, equiv};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest estimated number of gates of a program, so that gate numbers fit both formats and memory.
const MOST_GATES: u64 = 1 << 27;

/// Maximum number of nodes of an Aignet array, whose literals have 30 bits.
const MOST_NODES: usize = 1 << 29;

/// Maximum size of a graph file in bytes.
const MOST_BYTES: u64 = 1 << 32;

/// Format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// AIGER 1.9, ASCII.
    Aag,
    /// AIGER 1.9, binary.
    Aig,
    /// The array of ACL2's Aignet.
    Aignet,
}

impl Form {
    /// Returns the format for the extension of a file name, ignoring `.gz`.
    pub(super) fn from_file_name(path: &Path) -> Option<Form> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        [(".aag", Form::Aag), (".aig", Form::Aig), (".aignet", Form::Aignet)]
            .into_iter()
            .find_map(|(ending, form)| name.ends_with(ending).then_some(form))
    }

    /// Returns the graph in this format.
    ///
    /// # Errors
    /// `E1107` if the format cannot represent the graph (exit code 2).
    pub(super) fn write(self, graph: &Aig) -> Result<Vec<u8>, Failure> {
        match self {
            Form::Aag => Ok(aiger::write(graph, aiger::Encoding::Ascii)),
            Form::Aig => Ok(aiger::write(graph, aiger::Encoding::Binary)),
            Form::Aignet => {
                let refuse = |message: String| Err(refused("--to", message));
                if graph.len() + graph.outputs().len() + graph.latches().len() > MOST_NODES {
                    return refuse(format!("an Aignet array has at most {MOST_NODES} nodes, this graph has more"));
                }
                if let Some(i) = graph.latches().iter().position(|l| l.init != Some(false)) {
                    let name = &graph.latches()[i].name;
                    return refuse(format!("an Aignet register is 0 at power-on, register {i} ({name:?}) is not"));
                }
                Ok(aignet::write(graph))
            }
        }
    }
}

/// Returns the error of a request that no format supports.
pub(super) fn refused(flag: &str, message: String) -> Failure {
    let error = Diagnostic::error("E1107", Place::Flag(flag.into()), message);
    Failure::input(error.with_help("graphs are read and written as .aig, .aag and .aignet"))
}

/// Returns a program's outputs as functions of its inputs, with `latency` registers after each output bit.
///
/// # Errors
/// `E1108` if the program could need more gates than the limit (exit code 2).
pub(super) fn model_graph(model: &Model, latency: u32) -> Result<Aig, Failure> {
    let registers = (0..model.outputs().len()).map(|j| u64::from(model.output_kif(j).width())).sum::<u64>();
    let gates = blast::gates_at_most(model).saturating_add(registers.saturating_mul(u64::from(latency)));
    if gates > MOST_GATES {
        let message = format!("this program could need {gates} gates, and {MOST_GATES} is the limit");
        return Err(Failure::input(Diagnostic::error("E1108", Place::Whole, message)));
    }
    Ok(equiv::model_graph(model, latency))
}

/// Reads a graph, plain or gzip.
///
/// # Errors
/// If the file cannot be read or is invalid (exit code 2).
pub(super) fn read(path: &Path, form: Form, flag: GateFlag) -> Result<Aig, Failure> {
    let failed = |e: &io::Error| Failure::io(path, "read", e);
    let mut file = File::open(path).map_err(|e| failed(&e))?.take(MOST_BYTES);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let packed = std::mem::take(&mut bytes);
        let mut unpacked = flate2::read::MultiGzDecoder::new(packed.as_slice()).take(MOST_BYTES);
        unpacked.read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    }
    if bytes.len() as u64 >= MOST_BYTES {
        return Err(refused("MODEL", format!("the graph has {MOST_BYTES} bytes or more")));
    }
    let graph = match form {
        Form::Aag | Form::Aig => aiger::read(&bytes),
        Form::Aignet => aignet::read(&bytes, flag),
    };
    graph.map_err(|wrong| Failure::input(Diagnostics::from(wrong).in_file(path)))
}
