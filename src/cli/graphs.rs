//! And-inverter graphs as files of `alir2hdl convert`: AIGER and Aignet, from a program or from one another.

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::ir::Model;
use crate::prove::aig::Aig;
use crate::prove::aignet::GateFlag;
use crate::prove::{aiger, aignet, blast, equiv};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Gates that a program may need at most, counted from above: their numbers fit both forms, and memory.
const MOST_GATES: u64 = 1 << 27;

/// Nodes that an Aignet array can have: literals take 30 bits.
const MOST_NODES: usize = 1 << 29;

/// Bytes of a graph that are read at most.
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
    /// The form that a file's name asks for, `.gz` aside.
    pub(super) fn from_file_name(path: &Path) -> Option<Form> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        [(".aag", Form::Aag), (".aig", Form::Aig), (".aignet", Form::Aignet)]
            .into_iter()
            .find_map(|(ending, form)| name.ends_with(ending).then_some(form))
    }

    /// The graph in this form.
    ///
    /// # Errors
    /// `E1107` if the form cannot say it (exit code 2).
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

/// A request that no form can meet.
pub(super) fn refused(flag: &str, message: String) -> Failure {
    let error = Diagnostic::error("E1107", Place::Flag(flag.into()), message);
    Failure::input(error.with_help("graphs are read and written as .aig, .aag and .aignet"))
}

/// A program's outputs as functions of its inputs, with `latency` registers after each output bit.
///
/// # Errors
/// `E1108` if it could need more gates than are made (exit code 2).
pub(super) fn model_graph(model: &Model, latency: u32) -> Result<Aig, Failure> {
    let registers = (0..model.outputs().len()).map(|j| u64::from(model.output_kif(j).width())).sum::<u64>();
    let gates = blast::gates_at_most(model).saturating_add(registers.saturating_mul(u64::from(latency)));
    if gates > MOST_GATES {
        let message = format!("as gates this program could need {gates}, and {MOST_GATES} is the limit");
        return Err(Failure::input(Diagnostic::error("E1108", Place::Whole, message)));
    }
    Ok(equiv::model_graph(model, latency))
}

/// Reads a graph, plain or gzip.
///
/// # Errors
/// What the file system says, and what is wrong in the file (exit code 2).
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
