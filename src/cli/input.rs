//! Options for reading models, common to all sub-commands.

use super::matrix::{MatrixArgs, MatrixFacts};
use super::rtl_graph::{NameAlignment, corresponding_names};
use super::source::{self, Kind, ReadNetwork, SourceArgs};
use super::{Failure, Global, report};
use crate::compile::{self, Provenance, Source, Spec};
use crate::diag::{COUNTED, Diagnostic, Diagnostics, Place};
use crate::emit::Language;
use crate::formats::{self, Format};
use crate::ir::machine::Machine;
use crate::ir::{Labels, Layers, Limits, Model};
use crate::llvlir::{self, Program};
use crate::network::matrix;
use crate::network::port::ReferenceSemantics;
use crate::options::{HardwareOptions, OptionFault, OptionValue, choice, invalid, or_next, unsigned, within};
use crate::rtl::Rtl;
use clap::ValueEnum;
use clap::builder::{Resettable, StyledStr};
use flate2::Crc;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which model is read, and how large it may be.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct InputArgs {
    /// Model: ALIR, DAIS, byte code, LLVLIR, IR v2 or QONNX network, npy matrix; - for stdin
    #[arg(value_name = "MODEL")]
    pub(super) model: PathBuf,
    #[command(flatten)]
    reading: AtTheEnd,
}

/// Options of [`ReadingOptions`], which [`with_reading_options`] adds after all other options, as few users need them.
#[derive(Clone, Debug)]
pub(super) struct AtTheEnd(ReadingOptions);

impl clap::FromArgMatches for AtTheEnd {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<AtTheEnd, clap::Error> {
        ReadingOptions::from_arg_matches(matches).map(AtTheEnd)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl clap::Args for AtTheEnd {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

/// Returns the command; if it reads a model, the reading options follow its other options.
pub(super) fn with_reading_options(command: clap::Command) -> clap::Command {
    if !command.get_arguments().any(|arg| arg.get_id() == "model") {
        return command;
    }
    // The parser replaces the description of the command with the doc comment of the options, so restore it.
    let of = |text: Option<&StyledStr>| Resettable::from(text.cloned());
    let (about, long) = (of(command.get_about()), of(command.get_long_about()));
    <ReadingOptions as clap::Args>::augment_args(command).about(about).long_about(long)
}

/// Options for reading the file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadingOptions {
    /// Read the file as this format, whatever its content
    #[arg(long, value_enum, value_name = "FORMAT", hide_short_help = true)]
    format: Option<Form>,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    matrix: MatrixArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

impl ReadingOptions {
    /// Names of the options.
    pub const NAMES: &'static [&'static str] = &[
        "format",
        "weights",
        "quant",
        "weight_map",
        "nodes",
        "output_buffer",
        "tokens",
        "position_offset",
        "input_type",
        "max_adders",
        "max_table_bits",
        "cmvm_latency",
        "cmvm_budget",
        "max_bytes",
        "max_ops",
        "max_table_entries",
        "max_shift",
        "max_width",
        "max_division",
        "max_problems",
    ];

    /// Sets an option by its name.
    ///
    /// # Errors
    /// If the option does not exist, or if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        if name == "format" {
            self.format = Some(variant(value).map_err(|expected| invalid(name, value, expected))?);
            return Ok(());
        }
        let set = or_next(self.sources.set(name, value), || self.matrix.set(name, value));
        or_next(set, || self.limits.set(name, value))
    }
}

/// Returns the variant of a value enumeration that a word names.
pub(super) fn variant<T: ValueEnum + Copy>(value: &OptionValue) -> Result<T, String> {
    let named = |&variant: &T| Some((variant.to_possible_value()?, variant));
    let known: Vec<_> = T::value_variants().iter().filter_map(named).collect();
    let known: Vec<(&str, T)> = known.iter().map(|(name, variant)| (name.get_name(), *variant)).collect();
    choice(value, &known)
}

/// Formats of model files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// ALIR JSON, versions 2 to 4
    AlirJson,
    /// DAIS JSON without a header, opcodes as before version 2
    DaisJson,
    /// DAIS JSON without a header, opcodes as in version 2
    Dais2Json,
    /// 32-bit words, header of six: DAIS 0 and 1, byte code of ALIR 2
    Words,
    /// 32-bit words, header of three: DAIS before version 0
    Words3,
    /// Byte code of ALIR 3 and 4
    Bytecode,
    /// JSON of a stateful design
    Fsm,
    /// Integer kernels, bytes or text
    Llvlir,
}

impl Form {
    /// Returns the format of a program; `None` for a stateful design.
    fn format(self) -> Option<Format> {
        Some(match self {
            Form::AlirJson => Format::Alir,
            Form::DaisJson => Format::Dais,
            Form::Dais2Json => Format::Dais2,
            Form::Words => Format::Words,
            Form::Words3 => Format::Words3,
            Form::Bytecode => Format::Bytecode,
            Form::Fsm | Form::Llvlir => return None,
        })
    }
}

/// Limits on what a file may require.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Limits of a model")]
struct LimitArgs {
    /// Bytes of the file, decompressed
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_bytes, hide_short_help = true)]
    max_bytes: u64,
    /// Operations
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_ops, hide_short_help = true)]
    max_ops: u64,
    /// Entries of all look-up tables
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_table_entries, hide_short_help = true)]
    max_table_entries: u64,
    /// Shift, and fractional bits
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_shift, hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(0..=1 << 24))]
    max_shift: u32,
    /// Bits of a value
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_width, hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    max_width: u32,
    /// Bits of a division in an integer kernel
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_division, hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    max_division: u32,
    /// Problems that are shown
    #[arg(long, value_name = "N", default_value_t = LimitArgs::default().max_problems, hide_short_help = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_problems: u32,
}

impl InputArgs {
    /// Returns the path of the model.
    pub(super) fn path(&self) -> &Path {
        &self.model
    }

    /// Builds the arguments for a file with reading options.
    pub(super) fn new(path: &Path, reading: ReadingOptions) -> InputArgs {
        InputArgs { model: path.to_owned(), reading: AtTheEnd(reading) }
    }

    /// Builds the arguments for a file with reading options of a command line.
    pub(super) fn with_limits(path: &Path, reading: &AtTheEnd) -> InputArgs {
        InputArgs { model: path.to_owned(), reading: reading.clone() }
    }

    /// Returns the arguments for another file with the options of this one.
    pub(super) fn with_path(&self, path: &Path) -> InputArgs {
        InputArgs { model: path.to_owned(), ..self.clone() }
    }

    /// Reads the design of another file with these options; notes are not printed.
    pub(super) fn read_other(&self, path: &Path, global: Global) -> Result<Design, Failure> {
        let (design, _) = self.with_path(path).read_design(Global { quiet: true, ..global })?;
        Ok(design)
    }

    /// Returns the arguments with the latency limit for matrices of another command line. Returns `None` if these
    /// arguments have a limit, if the other command line has none, or if the model cannot be read twice.
    pub(super) fn with_latency_of(&self, command: &[&str]) -> Option<InputArgs> {
        if self.model.as_os_str() == "-" {
            return None;
        }
        let mut args = self.clone();
        args.reading.0.matrix.copy_latency(command).then_some(args)
    }

    fn format(&self) -> Option<Format> {
        self.reading.0.format.and_then(Form::format)
    }

    fn limits(&self) -> &LimitArgs {
        &self.reading.0.limits
    }

    /// Returns the limits on a model.
    pub(super) fn model_limits(&self) -> Limits {
        self.limits().limits()
    }

    /// Builds a failure from problems in the file.
    fn wrong(&self, found: impl Into<Diagnostics>) -> Failure {
        self.cut(Failure::input(found.into()))
    }

    /// Limits the number of problems in a failure to the requested maximum.
    pub(super) fn cut(&self, failure: Failure) -> Failure {
        let (most, counted) = (self.limits().max_problems as usize, self.limits().limits().max_problems);
        Failure { diagnostics: failure.diagnostics.cut(most, counted).in_file(&self.model), ..failure }
    }

    /// Reads and checks the model. Notes about the model are printed immediately. An integer kernel is lowered.
    ///
    /// # Errors
    /// All problems in the file (exit code 2).
    pub(super) fn read(&self, global: Global) -> Result<Model, Failure> {
        let (reader, head) = self.opened()?;
        if self.is_kernel(&head) {
            return self.kernel(reader).and_then(|(program, _)| self.lowered(&program)).map(|(model, _)| model);
        }
        if self.is_matrix(&head) {
            return self.matrix(reader).map(|(model, _)| model);
        }
        if let Some(kind) = self.network_kind(&head) {
            let (model, ..) = self.network(kind, reader, global)?;
            return Ok(model);
        }
        // The kind of the file is checked first, as an option may be valid for the file that the user intended to read.
        let (model, notes) =
            formats::read(reader, &self.limits().limits(), self.format()).map_err(|e| self.wrong(e))?;
        self.reading.0.matrix.refuse()?;
        self.sources().refuse()?;
        report(&notes.in_file(&self.model), global);
        Ok(model)
    }

    /// Reads and checks an integer kernel; returns `None` for other files.
    ///
    /// # Errors
    /// The first problem in the kernel (exit code 2).
    pub(super) fn read_kernel(&self) -> Result<Option<Program>, Failure> {
        let (reader, head) = self.opened()?;
        match self.is_kernel(&head) {
            true => self.kernel(reader).map(|(program, _)| Some(program)),
            false => Ok(None),
        }
    }

    /// Returns `true` if the first bytes of the file are those of an integer kernel.
    fn is_kernel(&self, head: &[u8]) -> bool {
        match self.reading.0.format {
            None => !formats::begins_json(head) && llvlir::is_program(&formats::unpacked(head)),
            Some(form) => form == Form::Llvlir,
        }
    }

    /// Returns `true` if the first bytes of the file are those of a matrix.
    fn is_matrix(&self, head: &[u8]) -> bool {
        self.reading.0.format.is_none() && head.starts_with(matrix::MAGIC)
    }

    fn matrix(&self, mut reader: impl Read) -> Result<(Model, MatrixFacts), Failure> {
        let sources = self.sources();
        sources.refuse_graph_options("a matrix")?;
        let name = source::shown(&self.model);
        let (input_type, max_adders) = (sources.input_type(), sources.max_adders());
        let read = self.reading.0.matrix.read(&mut reader, &name, self.limits().limits(), input_type, max_adders);
        read.map_err(|failure| self.cut(failure))
    }

    /// Returns the options for networks.
    pub(super) fn sources(&self) -> &SourceArgs {
        &self.reading.0.sources
    }

    /// Returns the kind of network that the first bytes of the file indicate; `None` for other files.
    fn network_kind(&self, head: &[u8]) -> Option<Kind> {
        if self.reading.0.format.is_none() { Kind::detect_file(head, &self.model) } else { None }
    }

    /// Reads a network and lowers it.
    fn network(&self, kind: Kind, reader: impl Read, global: Global) -> Result<(Model, Layers, ReadNetwork), Failure> {
        let bytes = self.bytes(reader)?;
        let cmvm = self.reading.0.matrix.options()?;
        let read = self.sources().read(kind, &bytes, &source::shown(&self.model), cmvm, global);
        read.map_err(|failure| self.cut(failure))
    }

    /// Returns the kind and the bytes of a network file; `None` for other files, and for standard input (`-`).
    ///
    /// # Errors
    /// If the file cannot be read (exit code 2).
    pub(super) fn network_file(&self) -> Result<Option<(Kind, Vec<u8>)>, Failure> {
        if self.model.as_os_str() == "-" {
            return Ok(None);
        }
        let (reader, head) = self.opened()?;
        match self.network_kind(&head) {
            Some(kind) => self.bytes(reader).map(|bytes| Some((kind, bytes))),
            None => Ok(None),
        }
    }

    /// Reads all bytes of a source.
    fn bytes(&self, reader: impl Read) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let most = self.limits().max_bytes;
        let read = reader.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|e| Failure::io(&self.model, "read", &e))?;
        if bytes.len() as u64 > most {
            let message = format!("the file has more than {most} bytes");
            return Err(self.wrong(Diagnostic::error("E0813", Place::Whole, message).with_help("raise --max-bytes")));
        }
        Ok(bytes)
    }

    /// Opens the file. Also returns a copy of its first bytes, before decompression.
    fn opened(&self) -> Result<(Box<dyn Read>, Vec<u8>), Failure> {
        let mut reader: Box<dyn Read> = match self.model.as_os_str() == "-" {
            true => Box::new(io::stdin().lock()),
            false => Box::new(formats::open(&self.model).map_err(Failure::input)?),
        };
        let head = formats::head(&mut reader).map_err(|e| Failure::io(&self.model, "read", &e))?;
        Ok((Box::new(io::Cursor::new(head.clone()).chain(reader)), head))
    }

    /// Reads a kernel. Also returns the name of its format.
    fn kernel(&self, reader: impl Read) -> Result<(Program, String), Failure> {
        let (bytes, is_gzip) = formats::read_bytes(reader, self.limits().max_bytes).map_err(|e| self.wrong(e))?;
        let limits = llvlir::Limits {
            max_ops: self.limits().max_ops,
            max_table_elements: self.limits().max_table_entries,
            max_division: self.limits().max_division,
        };
        let program = llvlir::read(&bytes, limits).map_err(|problem| self.wrong(problem.diagnostic()))?;
        Ok((program, kernel_form(&bytes, is_gzip)))
    }

    fn lowered(&self, program: &Program) -> Result<(Model, Labels), Failure> {
        llvlir::lower::labelled(program, &self.limits().limits()).map_err(|e| self.wrong(e))
    }

    /// Reads and checks a model or a stateful design. Notes are printed immediately. Also returns facts about the file.
    /// An integer kernel is lowered, and the facts include the kernel itself.
    ///
    /// # Errors
    /// All problems in the file (exit code 2).
    pub(super) fn read_design(&self, global: Global) -> Result<(Design, FileFacts), Failure> {
        let (reader, head) = self.opened()?;
        let mut summed = Summed { reader, crc: Crc::new(), sha: Sha256::new(), head: Vec::new() };
        let limits = self.limits().limits();
        let (mut kernel, mut network, mut of_matrix) = (None, None, None);
        let mut labels = Labels::default();
        let (design, form) = if self.is_kernel(&head) {
            let (program, form) = self.kernel(&mut summed)?;
            let (model, names) = self.lowered(&program)?;
            labels = names;
            kernel = Some(program);
            (Design::Model(model), form)
        } else if self.is_matrix(&head) {
            let (model, facts) = self.matrix(&mut summed)?;
            of_matrix = Some(facts);
            (Design::Model(model), MATRIX_FORM.into())
        } else if let Some(kind) = self.network_kind(&head) {
            let (model, layers, made) = self.network(kind, &mut summed, global)?;
            labels.layers = layers;
            labels.has_layered_names = true;
            let form = made.form.clone();
            network = Some(Arc::new(made));
            (Design::Model(model), form)
        } else if self.reading.0.format.map_or_else(|| formats::is_machine(&head), |form| form == Form::Fsm) {
            let machine = formats::read_machine(&mut summed, &limits).map_err(|e| self.wrong(e))?;
            let is_gzip = summed.head.starts_with(&[0x1f, 0x8b]);
            (Design::Machine(machine), machine_form(is_gzip))
        } else {
            let read = formats::recognise(&mut summed, &limits, self.format()).map_err(|e| self.wrong(e))?;
            report(&read.notes.in_file(&self.model), global);
            labels.layers = read.layers;
            (Design::Model(read.model), read.form)
        };
        // The kind of the file is checked first, as an option may be valid for the file that the user intended to read.
        if of_matrix.is_none() && network.is_none() {
            self.reading.0.matrix.refuse()?;
            self.sources().refuse()?;
        }
        let checksum = format!("crc32:{:08x}", summed.crc.sum());
        let sha256 = summed.sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let labels = Arc::new(labels);
        Ok((design, FileFacts { checksum, sha256, form, kernel, labels, network, matrix: of_matrix }))
    }
}

/// Format of a matrix file in messages.
pub(super) const MATRIX_FORM: &str = "a matrix in npy";

/// Returns the format of an integer kernel for messages; `bytes` are uncompressed.
pub(super) fn kernel_form(bytes: &[u8], is_gzip: bool) -> String {
    let form = if bytes.first() == Some(&b'L') { "LLVLIR bytes" } else { "LLVLIR text" };
    format!("{form}, edition 0{}", if is_gzip { ", gzip" } else { "" })
}

/// Returns the format of a state machine for messages.
pub(super) fn machine_form(is_gzip: bool) -> String {
    format!("ALIRFSM JSON, version 4{}", if is_gzip { ", gzip" } else { "" })
}

/// The option for names of an earlier version.
#[derive(Debug, clap::Args)]
pub(super) struct NamesFromArgs {
    /// Keep the names of signals of an earlier version, as far as operations correspond (see diff): its model or RTL
    #[arg(long, value_name = "OLD", hide_short_help = true)]
    names_from: Option<PathBuf>,
}

impl NamesFromArgs {
    /// Stores the option in the hardware options.
    pub(super) fn fill(&self, options: &mut HardwareOptions) {
        options.names_from.clone_from(&self.names_from);
    }
}

impl FileFacts {
    /// Returns the names of `design` in the hardware of `spec`. If the options name an earlier version, operations keep
    /// the numbers of that version. `read_old` reads its model.
    ///
    /// # Errors
    /// Problems in the earlier file; if one of the two is a stateful design; if the hardware is shared (`--ii`).
    pub(super) fn labels_like(
        &self,
        options: &HardwareOptions,
        design: &Design,
        spec: &Spec,
        read_old: impl FnOnce(&Path) -> Result<Design, Failure>,
    ) -> Result<Arc<Labels>, Failure> {
        let Some(path) = &options.names_from else { return Ok(Arc::clone(&self.labels)) };
        let refuse = |message: String, help: &str| {
            let place = Place::Flag("--names-from".into());
            Failure::input(Diagnostic::error("E0804", place, message).with_help(help))
        };
        let stateful = || refuse("names of stateful designs are those of their signals".into(), "leave it out");
        let Design::Model(new) = design else { return Err(stateful()) };
        if spec.pipeline.interval.is_some() || spec.pipeline.budget.is_some() {
            let message = "signals of a design with --ii belong to shared hardware, which has no counterpart in OLD";
            return Err(refuse(message.into(), "leave out --names-from or --ii"));
        }
        let mut labels = (*self.labels).clone();
        if super::rtl_files::is_rtl(path) {
            let spec = Spec { prove: false, ..spec.clone() };
            let (old, language, _) = super::rtl_graph::read(path)?;
            let names = self.names_in_rtl(new, spec, (&old, language))?;
            if !super::earlier_names::number(&mut labels, new.nodes().len(), &names) {
                let message = format!("{} has no signals that are named by operations, such as v17", path.display());
                return Err(refuse(message, "name RTL that alir2hdl generated, or the earlier model"));
            }
            return Ok(Arc::new(labels));
        }
        let Design::Model(old) = read_old(path)? else { return Err(stateful()) };
        super::earlier_names::number_like(&mut labels, &old, new);
        Ok(Arc::new(labels))
    }
}

/// Facts about a file in addition to its contents.
#[derive(Clone)]
pub(super) struct FileFacts {
    /// CRC-32 of the file's bytes: `crc32:` and eight hexadecimal digits.
    pub(super) checksum: String,
    /// SHA-256 of the same bytes, in hexadecimal digits.
    pub(super) sha256: String,
    /// Format of the file for messages: `ALIR JSON, version 4, gzip`.
    pub(super) form: String,
    /// Integer kernel from which the model was lowered.
    pub(super) kernel: Option<Program>,
    /// Names of elements and values in the file.
    pub(super) labels: Arc<Labels>,
    /// Network from which the model was lowered.
    pub(super) network: Option<Arc<ReadNetwork>>,
    /// Facts about a matrix.
    pub(super) matrix: Option<MatrixFacts>,
}

impl FileFacts {
    /// Returns the source that the program was lowered from, if any.
    pub(super) fn source(&self, lowered: &Model) -> Option<Box<dyn Source + '_>> {
        if let Some(program) = &self.kernel {
            return Some(Box::new(program));
        }
        let (meaning, kind) = self.meaning()?;
        Some(Box::new(compile::NetworkSource::new(meaning, kind, lowered)))
    }

    /// Returns the names in an RTL file and the corresponding names in the RTL that `spec` generates for `model`.
    ///
    /// # Errors
    /// If the hardware cannot be built.
    pub(super) fn names_in_rtl(
        &self,
        model: &Model,
        mut spec: Spec,
        (old, language): (&Rtl, Language),
    ) -> Result<NameAlignment, Failure> {
        spec.module.labels = Arc::clone(&self.labels);
        let hardware = match self.source(model) {
            Some(source) => compile::lowered(model, &*source, &spec, &|_| ())?,
            None => compile::compile_with_progress(model, &spec, &|_| ())?,
        };
        let new = crate::rtl::read(language, &hardware.text(language), None)?;
        Ok(corresponding_names(old, &new))
    }

    /// Returns the reference semantics of the network or matrix that the program was lowered from, and a word for its
    /// kind.
    pub(super) fn meaning(&self) -> Option<(&dyn ReferenceSemantics, &'static str)> {
        match (&self.network, &self.matrix) {
            (Some(made), _) => Some((&*made.meaning, "network")),
            (None, Some(facts)) => Some((&facts.product, "matrix")),
            (None, None) => None,
        }
    }

    /// Builds the facts about a program in memory that has no other source.
    pub(super) fn in_memory(checksum: &str, sha256: &str) -> FileFacts {
        let (checksum, sha256) = (checksum.to_owned(), sha256.to_owned());
        FileFacts {
            checksum,
            sha256,
            form: String::new(),
            kernel: None,
            labels: Arc::default(),
            network: None,
            matrix: None,
        }
    }

    /// Returns the provenance for generated RTL: the command and the checksum of the file.
    pub(super) fn provenance(&self, command: Vec<String>) -> Provenance {
        Provenance { command, model: self.sha256.clone() }
    }
}

/// Contents of a file.
#[derive(Clone)]
pub(super) enum Design {
    /// A program.
    Model(Model),
    /// State machine: programs with registers between them.
    Machine(Machine),
}

impl Design {
    /// Returns the number of operations of all programs.
    pub(super) fn operations(&self) -> usize {
        match self {
            Design::Model(model) => model.nodes().len(),
            Design::Machine(machine) => machine.blocks().iter().map(|block| block.model.nodes().len()).sum(),
        }
    }
}

/// Reader that computes checksums of the bytes that it returns.
struct Summed<R> {
    reader: R,
    crc: Crc,
    sha: Sha256,
    /// First two bytes.
    head: Vec<u8>,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.crc.update(&buffer[..n]);
        self.sha.update(&buffer[..n]);
        let missing = 2usize.saturating_sub(self.head.len());
        self.head.extend_from_slice(&buffer[..n.min(missing)]);
        Ok(n)
    }
}

impl Default for LimitArgs {
    fn default() -> LimitArgs {
        let limits = Limits::default();
        LimitArgs {
            max_bytes: limits.max_bytes,
            max_ops: limits.max_ops,
            max_table_entries: limits.max_table_entries,
            max_shift: limits.max_shift,
            max_width: limits.max_width,
            max_division: llvlir::Limits::default().max_division,
            max_problems: limits.max_problems as u32,
        }
    }
}

impl LimitArgs {
    /// Sets a limit by its name.
    ///
    /// # Errors
    /// If the limit does not exist, or if the value is invalid.
    fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "max_bytes" => unsigned(value).map(|bytes| self.max_bytes = bytes),
            "max_ops" => unsigned(value).map(|operations| self.max_ops = operations),
            "max_table_entries" => unsigned(value).map(|entries| self.max_table_entries = entries),
            "max_shift" => within(value, 0..=1 << 24).map(|shift| self.max_shift = shift),
            "max_width" => within(value, 1..=1 << 24).map(|bits| self.max_width = bits),
            "max_division" => within(value, 1..=1024).map(|bits| self.max_division = bits),
            "max_problems" => within(value, 1..=1_000_000).map(|count| self.max_problems = count),
            _ => return Err(OptionFault::Unknown(None)),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    fn limits(self) -> Limits {
        Limits {
            max_bytes: self.max_bytes,
            max_ops: self.max_ops,
            max_table_entries: self.max_table_entries,
            max_shift: self.max_shift,
            max_width: self.max_width,
            max_problems: (self.max_problems as usize).max(COUNTED),
        }
    }
}
