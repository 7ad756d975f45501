//! Parser of ALIR and DAIS JSON: keys, arrays and tables; checks of the kinds and ranges of values.

use super::super::decode::{Era, shift_refused};
use super::super::json::{Json, Kind, Number};
use super::super::place::{At, Field, Layout, site_place};
use super::super::source::Stop;
use super::super::stages;
use super::super::upgrade::Negations;
use super::number::{BadInterval, BadNumber, Dyadic, interval, parse_f64, parse_i64};
use alir_core::diag::{Diagnostic, Diagnostics, Place};
use alir_core::ir::{Builder, Layers, Limits, Model, Op, Output, Part, Problem, Site, Table, ValueId};
use alir_core::num::{Code, Interval};
use std::io::Read;

/// Supported spec versions of `ALIRModel` files.
const KNOWN_VERSIONS: &str = "2, 3 and 4";

/// Structure of the JSON value of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Frame {
    /// An object with a header.
    Object,
    /// The model array alone, or a pipeline of such arrays.
    Bare(Era),
}

/// Parses the JSON value of a file as a model. Notes are returned with the model; `form` receives the name of the
/// format, `layers` the stages of a pipeline.
///
/// # Errors
/// Every problem of the file, up to [`Limits::max_problems`].
pub(in super::super) fn read<R: Read>(
    json: Json<R>,
    limits: &Limits,
    frame: Frame,
    form: &mut String,
    layers: &mut Layers,
) -> Result<(Model, Diagnostics), Diagnostics> {
    let mut reader = Reader::new(json, limits, frame);
    let outcome = match frame {
        Frame::Object => reader.file(),
        Frame::Bare(_) => reader.bare(),
    };
    *form = reader.form();
    reader.conclude(outcome, layers)
}

/// Parser of a file; collects problems.
pub(super) struct Reader<'l, R: Read> {
    pub(super) json: Json<R>,
    limits: &'l Limits,
    problems: Vec<Diagnostic>,
    /// Memory in bytes of integers beyond 64 bits, which are larger in memory than in the file.
    wide_bytes: u64,
    meta: Option<String>,
    version: Option<i64>,
    unknown_keys: Vec<String>,
    frame: Frame,
    /// The finished stages of a pipeline; `None` for a single model.
    stages: Option<Vec<Model>>,
    /// Index of the current stage of a pipeline.
    stage: Option<usize>,
    /// Number of operations of the earlier stages, which count towards the limit.
    earlier_ops: usize,
    /// Number of table entries of all stages so far, which count towards the limit.
    table_entries: u64,
    /// Index and opcode of the first record whose opcode has different semantics in different versions; only for a file
    /// without a header.
    pub(super) ambiguous_opcode: Option<(usize, i64)>,
    pub(super) draft: Draft,
}

/// Parts of the model that have been read.
pub(super) struct Draft {
    /// `true` if all parts are present, so that they can be checked together.
    complete: bool,
    shape: Option<(i64, i64)>,
    pub(super) builder: Builder,
    n_inputs: Option<usize>,
    out_idxs: Option<Vec<Option<ValueId>>>,
    out_shifts: Option<Vec<i32>>,
    out_negs: Option<Vec<bool>>,
    carry_size: i64,
    /// Indices of operations that replace invalid ones of the file, ascending.
    bad_ops: Vec<usize>,
    /// Indices of tables that replace invalid ones of the file, ascending.
    bad_tables: Vec<usize>,
    tables_known: bool,
    /// Operands that old opcodes negate before they use them.
    pub(super) negations: Negations,
    /// Index of each record at which the layout changes, and the new layout.
    layouts: Vec<(usize, Layout)>,
    /// Indices of the first quantise operations without a relative shift, which version 4 does not permit.
    pub(super) quantise_without_shift: Vec<usize>,
    /// Indices of the first quantise operations with a relative shift, which version 3 does not permit.
    pub(super) quantise_with_shift: Vec<usize>,
}

impl Draft {
    fn new(limits: &Limits) -> Draft {
        let mut builder = Builder::new(Vec::new());
        builder.limits(*limits);
        Draft {
            complete: false,
            shape: None,
            builder,
            n_inputs: None,
            out_idxs: None,
            out_shifts: None,
            out_negs: None,
            carry_size: 1,
            bad_ops: Vec::new(),
            bad_tables: Vec::new(),
            tables_known: true,
            negations: Negations::default(),
            layouts: Vec::new(),
            quantise_without_shift: Vec::new(),
            quantise_with_shift: Vec::new(),
        }
    }

    /// Returns the layout of a record.
    fn layout(&self, index: usize) -> Layout {
        let before = self.layouts.partition_point(|&(start, _)| start <= index);
        before.checked_sub(1).map_or(Layout::V3, |k| self.layouts[k].1)
    }
}

impl<'l, R: Read> Reader<'l, R> {
    fn new(json: Json<R>, limits: &'l Limits, frame: Frame) -> Reader<'l, R> {
        Reader {
            json,
            limits,
            problems: Vec::new(),
            wide_bytes: 0,
            meta: None,
            version: None,
            unknown_keys: Vec::new(),
            frame,
            stages: None,
            stage: None,
            earlier_ops: 0,
            table_entries: 0,
            ambiguous_opcode: None,
            draft: Draft::new(limits),
        }
    }

    /// Returns the semantics of the opcodes.
    pub(super) fn era(&self) -> Era {
        match self.frame {
            Frame::Object => Era::Two,
            Frame::Bare(era) => era,
        }
    }

    /// Returns `true` if the file states the semantics of its opcodes.
    pub(super) fn has_header(&self) -> bool {
        self.frame == Frame::Object
    }

    pub(super) fn in_pipeline(&self) -> bool {
        self.stage.is_some()
    }

    pub(super) fn max_shift(&self) -> u32 {
        self.limits.max_shift
    }

    /// Reports a problem; ignored if the limit on problems is reached.
    pub(super) fn problem(&mut self, code: &'static str, at: At, message: impl Into<String>, help: impl Into<String>) {
        if !self.is_full() {
            let place = self.place(at);
            self.problems.push(Diagnostic::error(code, place, message).with_help(help));
        }
    }

    /// Returns a place in the file; in a pipeline, the place includes the stage.
    fn place(&self, at: At) -> Place {
        Place::Path(match self.stage {
            None => at.to_string(),
            Some(k) => format!("stages[{k}].{at}"),
        })
    }

    fn is_full(&self) -> bool {
        self.problems.len() >= self.limits.max_problems
    }

    /// Parses a file with a header.
    fn file(&mut self) -> Result<(), Stop> {
        self.json.begin_object()?;
        let mut first = true;
        let mut seen: Vec<String> = Vec::new();
        while let Some(key) = self.json.key(&mut first)? {
            if matches!(key.as_str(), "meta" | "spec_version" | "model") && seen.contains(&key) {
                let message = format!("the key \"{key}\" comes twice");
                let diagnostic = Diagnostic::error("E0124", self.json.place(), message);
                return Err(Box::new(diagnostic.with_help("each key comes once; remove one of them")));
            }
            match key.as_str() {
                "meta" => self.meta = self.text(At::Meta)?,
                "spec_version" => self.version = self.i64(At::SpecVersion)?,
                "model" => self.payload()?,
                _ => {
                    if self.unknown_keys.len() < self.limits.max_problems {
                        self.unknown_keys.push(shortened(&key));
                    }
                    self.json.skip()?;
                    continue;
                }
            }
            seen.push(key);
        }
        for key in ["meta", "spec_version", "model"] {
            if !seen.iter().any(|s| s == key) {
                let diagnostic = Diagnostic::error("E0123", Place::Whole, format!("the key \"{key}\" is missing"))
                    .with_help("a model file is {\"meta\": \"ALIRModel\", \"spec_version\": 4, \"model\": [...]}");
                self.problems.push(diagnostic);
            }
        }
        self.json.finish()
    }

    /// Returns the name of the format of a valid file with this header.
    fn form(&self) -> String {
        let language = match (self.frame, self.meta.as_deref()) {
            (Frame::Object, Some(meta)) if meta.starts_with("DAIS") => "DAIS",
            (Frame::Object, _) => "ALIR",
            (Frame::Bare(_), _) => "DAIS",
        };
        let version = match (self.frame, self.version) {
            (Frame::Object, Some(version)) => format!(", version {version}"),
            (Frame::Bare(Era::Two), _) => " without a header, opcodes as in version 2".to_owned(),
            _ => " without a header".to_owned(),
        };
        let stages = self.stages.as_ref().map_or_else(String::new, |stages| match stages.len() {
            1 => ", a pipeline of 1 stage".to_owned(),
            n => format!(", a pipeline of {n} stages"),
        });
        format!("{language} JSON{version}{stages}")
    }

    /// Parses a file without a header.
    fn bare(&mut self) -> Result<(), Stop> {
        self.payload()?;
        self.json.finish()
    }

    /// Parses a model, or the stages of a pipeline: an array whose only element is the list of stages.
    fn payload(&mut self) -> Result<(), Stop> {
        if self.json.opens_arrays(3)? { self.pipeline() } else { self.model() }
    }

    fn pipeline(&mut self) -> Result<(), Stop> {
        self.stages = Some(Vec::new());
        self.json.begin_array()?;
        let (mut first, mut length) = (true, 0);
        while self.json.element(&mut first)? {
            if length == 0 {
                self.list_of_stages()?;
            } else {
                self.json.skip()?;
            }
            length += 1;
        }
        if length != 1 {
            let help = "a pipeline is an array of one element, the list of its stages";
            self.problem("E0125", At::Model, format!("{length} elements around the stages"), help);
        }
        Ok(())
    }

    fn list_of_stages(&mut self) -> Result<(), Stop> {
        self.json.begin_array()?;
        let (mut first, mut k) = (true, 0);
        while self.json.element(&mut first)? {
            self.stage = Some(k);
            self.draft = Draft::new(self.limits);
            self.model()?;
            let ops = self.draft.builder.nodes().len();
            if let Some(model) = self.check_model()? {
                self.stages.get_or_insert_default().push(model);
            }
            self.earlier_ops += ops;
            k += 1;
        }
        self.stage = None;
        Ok(())
    }

    fn model(&mut self) -> Result<(), Stop> {
        if !self.expect(At::Model, Kind::Array)? {
            return Ok(());
        }
        self.json.begin_array()?;
        let (mut first, mut length) = (true, 0);
        while self.json.element(&mut first)? {
            match length {
                0 => self.shape()?,
                1 => self.inp_shifts()?,
                2 => self.out_idxs()?,
                3 => self.draft.out_shifts = self.shifts("out_shifts")?,
                4 => self.out_negs()?,
                5 => self.ops()?,
                6 => self.draft.carry_size = self.i64(At::Part("carry_size"))?.unwrap_or(1),
                7 => {
                    let adder_size = self.i64(At::Part("adder_size"))?.unwrap_or(-1);
                    self.draft.builder.cost_model(self.draft.carry_size, adder_size);
                }
                8 => self.tables()?,
                _ => self.json.skip()?,
            }
            length += 1;
        }
        self.draft.complete = length >= 8;
        if !(8..=9).contains(&length) {
            self.problem(
                "E0125",
                At::Model,
                format!("{length} elements"),
                "there are 8 or 9: shape, inp_shifts, out_idxs, out_shifts, out_negs, ops, carry_size, adder_size, \
                 lookup_tables",
            );
        }
        Ok(())
    }

    fn shape(&mut self) -> Result<(), Stop> {
        let mut sizes = Vec::new();
        let whole = self.list("shape", |r, at| {
            let size = r.i64(at)?;
            if size.is_some_and(|s| s < 0) {
                r.problem("E0133", at, "a negative number of elements", "use 0 or more");
            }
            sizes.push(size.filter(|&s| s >= 0));
            Ok(())
        })?;
        match sizes[..] {
            [inputs, outputs] => self.draft.shape = inputs.zip(outputs),
            _ if whole => {
                let message = format!("{} elements", sizes.len());
                self.problem("E0126", At::Part("shape"), message, "the shape is [inputs, outputs]");
            }
            _ => {}
        }
        Ok(())
    }

    fn inp_shifts(&mut self) -> Result<(), Stop> {
        if let Some(shifts) = self.shifts("inp_shifts")? {
            self.draft.n_inputs = Some(shifts.len());
            self.draft.builder = Builder::new(shifts);
            self.draft.builder.limits(*self.limits);
        }
        Ok(())
    }

    fn out_idxs(&mut self) -> Result<(), Stop> {
        let (mut sources, mut good) = (Vec::new(), true);
        let whole = self.list("out_idxs", |r, at| {
            match r.i64(at)? {
                Some(-1) => sources.push(None),
                Some(index) => match u32::try_from(index) {
                    Ok(index) => sources.push(Some(ValueId(index))),
                    Err(_) => {
                        let message = format!("operation {index} does not exist");
                        r.problem("E0217", at, message, "use the index of an operation, or -1 for the constant zero");
                        sources.push(None);
                    }
                },
                None => good = false,
            }
            Ok(())
        })?;
        self.draft.out_idxs = (whole && good).then_some(sources);
        Ok(())
    }

    fn out_negs(&mut self) -> Result<(), Stop> {
        let (mut negs, mut good) = (Vec::new(), true);
        let whole = self.list("out_negs", |r, at| {
            if r.json.kind()? == Kind::Bool {
                negs.push(r.json.boolean()?);
                return Ok(());
            }
            match r.i64(at)? {
                Some(flag @ (0 | 1)) => negs.push(flag == 1),
                Some(other) => {
                    r.problem("E0140", at, format!("{other} is not a flag"), "use true or false, or 1 or 0");
                    good = false;
                }
                None => good = false,
            }
            Ok(())
        })?;
        self.draft.out_negs = (whole && good).then_some(negs);
        Ok(())
    }

    fn ops(&mut self) -> Result<(), Stop> {
        if !self.expect(At::Part("ops"), Kind::Array)? {
            return Ok(());
        }
        self.json.begin_array()?;
        let (mut first, mut index) = (true, 0);
        while self.json.element(&mut first)? {
            if (self.earlier_ops + index) as u64 >= self.limits.max_ops {
                return Err(self.too_many_ops());
            }
            // After the limit on problems is reached, only the syntax is parsed, as the version may follow.
            if self.is_full() {
                self.json.skip()?;
            } else {
                self.op(index)?;
            }
            index += 1;
        }
        Ok(())
    }

    fn too_many_ops(&self) -> Stop {
        let message = format!("more than {} operations", self.limits.max_ops);
        let place = self.place(At::Part("ops"));
        Box::new(Diagnostic::error("E0201", place, message).with_help("raise --max-ops"))
    }

    fn op(&mut self, index: usize) -> Result<(), Stop> {
        let (layout, node) = self.record(index)?;
        if let Some(layout) = layout
            && self.draft.layouts.last().is_none_or(|&(_, last)| last != layout)
            && self.draft.layouts.len() < 2 * self.limits.max_problems.max(50)
        {
            self.draft.layouts.push((index, layout));
        }
        match node {
            Some(node) => {
                if let Op::Lookup { base, .. } = &node.op {
                    self.count_wide(&[base])?;
                }
                self.draft.builder.push(node);
            }
            None => {
                self.draft.bad_ops.push(index);
                self.draft.builder.op(Op::Const { value: Code::ZERO }, Interval::new(0, 0, 0));
            }
        }
        Ok(())
    }

    fn tables(&mut self) -> Result<(), Stop> {
        if self.json.kind()? == Kind::Null {
            return self.json.skip();
        }
        let mut count = 0;
        self.draft.tables_known = self.list("lookup_tables", |r, _| {
            let table = r.table(count)?;
            if table.is_none() {
                r.draft.bad_tables.push(count);
            }
            r.draft.builder.table(table.unwrap_or_else(|| Table {
                entries: Vec::new(),
                out: Interval::new(0, 0, 0),
                hash: String::new(),
                inp_width: 0,
            }));
            count += 1;
            Ok(())
        })?;
        Ok(())
    }

    fn table(&mut self, t: usize) -> Result<Option<Table>, Stop> {
        if !self.expect(At::Table(t, ""), Kind::Object)? {
            return Ok(None);
        }
        self.json.begin_object()?;
        let mut first = true;
        let (mut spec, mut entries) = (None, None);
        while let Some(key) = self.json.key(&mut first)? {
            match key.as_str() {
                "spec" => spec = Some(self.table_spec(t)?),
                "table" => entries = Some(self.entries(t)?),
                _ => self.json.skip()?,
            }
        }
        for (key, missing) in [(".spec", spec.is_none()), (".table", entries.is_none())] {
            if missing {
                let help = "a table is {\"spec\": {\"hash\", \"out_qint\", \"inp_width\"}, \"table\": [...]}";
                self.problem("E0123", At::Table(t, key), "missing", help);
            }
        }
        let (Some(Some((hash, out, inp_width))), Some(Some(entries))) = (spec, entries) else { return Ok(None) };
        Ok(Some(Table { entries, out, hash, inp_width }))
    }

    fn table_spec(&mut self, t: usize) -> Result<Option<(String, Interval, i64)>, Stop> {
        if !self.expect(At::Table(t, ".spec"), Kind::Object)? {
            return Ok(None);
        }
        self.json.begin_object()?;
        let mut first = true;
        // Hash and input width are not interpreted, so both keys are optional.
        let (mut hash, mut out, mut inp_width) = (Some(String::new()), None, Some(0));
        let mut out_seen = false;
        while let Some(key) = self.json.key(&mut first)? {
            match key.as_str() {
                "hash" => hash = self.text(At::Table(t, ".spec.hash"))?,
                "out_qint" => {
                    out_seen = true;
                    out = self.interval_object(t)?;
                }
                "inp_width" => inp_width = self.i64(At::Table(t, ".spec.inp_width"))?,
                _ => self.json.skip()?,
            }
        }
        if !out_seen {
            let help = "give {\"min\": ..., \"max\": ..., \"step\": ...}";
            self.problem("E0123", At::Table(t, ".spec.out_qint"), "missing", help);
        }
        let (Some(hash), Some(out), Some(inp_width)) = (hash, out, inp_width) else { return Ok(None) };
        Ok(Some((hash, out, inp_width)))
    }

    fn interval_object(&mut self, t: usize) -> Result<Option<Interval>, Stop> {
        const NAMES: [&str; 3] = [".spec.out_qint.min", ".spec.out_qint.max", ".spec.out_qint.step"];
        if !self.expect(At::Table(t, ".spec.out_qint"), Kind::Object)? {
            return Ok(None);
        }
        self.json.begin_object()?;
        let mut first = true;
        let mut parts = [None, None, None];
        while let Some(key) = self.json.key(&mut first)? {
            let Some(k) = ["min", "max", "step"].iter().position(|name| *name == key) else {
                self.json.skip()?;
                continue;
            };
            parts[k] = Some(self.dyadic(At::Table(t, NAMES[k]))?);
        }
        for (k, part) in parts.iter().enumerate() {
            if part.is_none() {
                self.problem("E0123", At::Table(t, NAMES[k]), "missing", "an interval has min, max and step");
            }
        }
        let [Some(Some(min)), Some(Some(max)), Some(Some(step))] = parts else { return Ok(None) };
        let places = NAMES.map(|name| At::Table(t, name));
        self.checked_interval(&[min, max, step], At::Table(t, ".spec.out_qint"), places)
    }

    fn entries(&mut self, t: usize) -> Result<Option<Vec<i32>>, Stop> {
        let at = At::Table(t, ".table");
        if !self.expect(at, Kind::Array)? {
            return Ok(None);
        }
        self.json.begin_array()?;
        let (mut first, mut good, mut entries, mut k) = (true, true, Vec::new(), 0);
        while self.json.element(&mut first)? {
            self.table_entries += 1;
            if self.table_entries > self.limits.max_table_entries {
                let message = format!("more than {} table entries in all", self.limits.max_table_entries);
                let place = self.place(at);
                let help = "raise --max-table-entries";
                return Err(Box::new(Diagnostic::error("E0202", place, message).with_help(help)));
            }
            match self.i32(At::TableEntry(t, k))? {
                Some(entry) => entries.push(entry),
                None => good = false,
            }
            k += 1;
        }
        Ok(good.then_some(entries))
    }

    // Parsers of values. They report problems at the given place, and return `None` after a problem.

    /// Returns `true` if the next value is of this kind; a value of another kind is reported and skipped.
    pub(super) fn expect(&mut self, at: At, wanted: Kind) -> Result<bool, Stop> {
        let found = self.json.kind()?;
        if found == wanted {
            return Ok(true);
        }
        if found == Kind::NonFinite {
            let help = "JSON has no such numbers; every number of a model is finite";
            self.problem("E0113", at, "NaN or Infinity", help);
        } else {
            let help = match (wanted, found) {
                (Kind::Number, Kind::Null) => "some writers write null for NaN and infinities".to_owned(),
                _ => format!("write {} here", wanted.name()),
            };
            self.problem("E0120", at, format!("expected {}, found {}", wanted.name(), found.name()), help);
        }
        self.json.skip()?;
        Ok(false)
    }

    /// Parses the array `model.NAME` by calling `each` at every element. Returns `false` if the value is not an array.
    fn list(
        &mut self,
        name: &'static str,
        mut each: impl FnMut(&mut Self, At) -> Result<(), Stop>,
    ) -> Result<bool, Stop> {
        if !self.expect(At::Part(name), Kind::Array)? {
            return Ok(false);
        }
        self.json.begin_array()?;
        let (mut first, mut i) = (true, 0);
        while self.json.element(&mut first)? {
            each(self, At::Entry(name, i))?;
            i += 1;
        }
        Ok(true)
    }

    /// Parses an array of shifts.
    fn shifts(&mut self, name: &'static str) -> Result<Option<Vec<i32>>, Stop> {
        let (mut all, mut good) = (Vec::new(), true);
        let whole = self.list(name, |r, at| {
            match r.i64(at)? {
                Some(shift) => all.push(r.shift(at, shift).unwrap_or(0)),
                None => good = false,
            }
            Ok(())
        })?;
        Ok((whole && good).then_some(all))
    }

    /// Converts a shift to 32 bits. The checks of the model enforce its limit.
    pub(super) fn shift(&mut self, at: At, shift: i64) -> Option<i32> {
        let small = i32::try_from(shift).ok();
        if small.is_none() {
            let (message, help) = shift_refused(shift, self.limits.max_shift);
            self.problem("E0203", at, message, help);
        }
        small
    }

    fn text(&mut self, at: At) -> Result<Option<String>, Stop> {
        if self.expect(at, Kind::String)? { self.json.string().map(Some) } else { Ok(None) }
    }

    /// Parses an integer with `parse`, which returns `None` for an integer outside `range`.
    fn integer<T>(&mut self, at: At, range: &str, parse: impl Fn(Number<'_>) -> Option<T>) -> Result<Option<T>, Stop> {
        if !self.expect(at, Kind::Number)? {
            return Ok(None);
        }
        let number = self.json.number()?;
        if number.is_integer
            && let Some(value) = parse(number)
        {
            return Ok(Some(value));
        }
        let (shown, is_integer) = (shortened(number.text()), number.is_integer);
        if is_integer {
            self.problem("E0133", at, format!("{shown} is out of range"), format!("use an integer from {range}"));
        } else {
            let message = format!("expected an integer, found {shown}");
            self.problem("E0120", at, message, "write it without fraction and exponent");
        }
        Ok(None)
    }

    pub(super) fn i64(&mut self, at: At) -> Result<Option<i64>, Stop> {
        self.integer(at, "-2^63 to 2^63 - 1", parse_i64)
    }

    fn i32(&mut self, at: At) -> Result<Option<i32>, Stop> {
        self.integer(at, "-2^31 to 2^31 - 1", |number| i32::try_from(parse_i64(number)?).ok())
    }

    /// Parses the data field of version 2: from -2^63 to 2^64 - 1, modulo 2^64, as tools that write files disagree
    /// about the sign of the field.
    pub(super) fn data_of_v2(&mut self, at: At) -> Result<Option<i64>, Stop> {
        self.integer(at, "-2^63 to 2^64 - 1", |number| {
            parse_i64(number).or_else(|| number.text().parse::<u64>().ok().map(u64::cast_signed))
        })
    }

    pub(super) fn f64(&mut self, at: At) -> Result<Option<f64>, Stop> {
        if !self.expect(at, Kind::Number)? {
            return Ok(None);
        }
        match parse_f64(self.json.number()?) {
            Ok(value) => Ok(Some(value)),
            Err(_) => {
                self.problem("E0134", at, "the number is beyond the largest double", "use a finite number");
                Ok(None)
            }
        }
    }

    /// Parses a number exactly.
    fn dyadic(&mut self, at: At) -> Result<Option<Dyadic>, Stop> {
        if !self.expect(at, Kind::Number)? {
            return Ok(None);
        }
        match Dyadic::parse(self.json.number()?, self.limits.max_width) {
            Ok(value) => Ok(Some(value)),
            Err(BadNumber::Overflows) => {
                let help = "use a finite number; integers without exponent may be of any length";
                self.problem("E0134", at, "the number is beyond the largest double", help);
                Ok(None)
            }
            Err(BadNumber::TooLong) => {
                let message = format!("an integer of more than {} bits", self.limits.max_width);
                self.problem("E0141", at, message, "use smaller bounds, or raise --max-width");
                Ok(None)
            }
        }
    }

    /// Parses an operation's `[min, max, step]`.
    pub(super) fn interval(&mut self, index: usize) -> Result<Option<Interval>, Stop> {
        const FIELDS: [Field; 3] = [Field::Min, Field::Max, Field::Step];
        let whole = At::Op(index, Field::Interval);
        if !self.expect(whole, Kind::Array)? {
            return Ok(None);
        }
        self.json.begin_array()?;
        let mut parts = [None, None, None];
        let (mut first, mut length, mut good) = (true, 0, true);
        while self.json.element(&mut first)? {
            if length < 3 {
                parts[length] = self.dyadic(At::Op(index, FIELDS[length]))?;
                good &= parts[length].is_some();
            } else {
                self.json.skip()?;
            }
            length += 1;
        }
        if length != 3 {
            self.problem("E0142", whole, format!("{length} elements"), "an interval is [min, max, step]");
        }
        let [Some(min), Some(max), Some(step)] = parts else { return Ok(None) };
        if length != 3 || !good {
            return Ok(None);
        }
        self.interval_from_parts(index, &[min, max, step])
    }

    /// Builds an operation's interval from its min, max and step.
    pub(super) fn interval_from_parts(&mut self, index: usize, parts: &[Dyadic; 3]) -> Result<Option<Interval>, Stop> {
        let at = [Field::Min, Field::Max, Field::Step].map(|field| At::Op(index, field));
        self.checked_interval(parts, At::Op(index, Field::Interval), at)
    }

    /// Builds an interval from its parts. Problems are reported at `at` (min, max, step) or at `whole`.
    fn checked_interval(&mut self, parts: &[Dyadic; 3], whole: At, at: [At; 3]) -> Result<Option<Interval>, Stop> {
        let bad = match interval(&parts[0], &parts[1], &parts[2]) {
            Ok(interval) => {
                self.count_wide(&[&interval.min, &interval.max])?;
                return Ok(Some(interval));
            }
            Err(bad) => bad,
        };
        match bad {
            BadInterval::Step(message) => {
                self.problem("E0135", at[2], message, "use a step such as 0.25, 1 or 4");
            }
            BadInterval::Order(message) => self.problem("E0136", whole, message, "min is the smaller bound"),
            BadInterval::Min(message) => {
                self.problem("E0137", at[0], message, "both bounds are whole multiples of the step");
            }
            BadInterval::Max(message) => {
                self.problem("E0137", at[1], message, "both bounds are whole multiples of the step");
            }
        }
        Ok(None)
    }

    /// Counts the memory of integers beyond 64 bits. An interval such as `1e308` with step `5e-324` has few characters
    /// but 2,098 bits, and every lookup copies a bound of its operand's interval.
    ///
    /// # Errors
    /// `E0104` if the integers take more memory than the limit.
    fn count_wide(&mut self, codes: &[&Code]) -> Result<(), Stop> {
        for code in codes.iter().filter(|code| code.to_i64().is_none()) {
            self.wide_bytes += 64 + code.bits() / 8;
        }
        if self.wide_bytes <= self.limits.max_bytes {
            return Ok(());
        }
        let message = format!("bounds beyond 64 bits take more than {} bytes", self.limits.max_bytes);
        Err(Box::new(Diagnostic::error("E0104", self.json.place(), message).with_help("raise --max-bytes")))
    }

    /// Checks the file as a whole after parsing, and returns the model with its notes.
    fn conclude(mut self, outcome: Result<(), Stop>, layers: &mut Layers) -> Result<(Model, Diagnostics), Diagnostics> {
        let header = self.header_problems();
        if !header.is_empty() {
            // With an unknown layout, every other message would be a guess.
            return Err(Diagnostics(header));
        }
        if let Err(stop) = outcome {
            self.problems.push(*stop);
            return Err(Diagnostics(self.problems));
        }
        let stages = self.stages.as_ref().map_or(0, Vec::len);
        let model = match self.stages.take() {
            None => self.check_model().map_err(|stop| Diagnostics::from(*stop))?,
            Some(stages) if self.problems.is_empty() => Some(stages::join(stages, self.limits, layers)?),
            Some(_) => None,
        };
        match model {
            Some(model) if self.problems.is_empty() => Ok((model, self.notes(stages))),
            _ => Err(Diagnostics(self.problems)),
        }
    }

    /// Checks the model as a whole and returns it; `None` if a problem was reported.
    fn check_model(&mut self) -> Result<Option<Model>, Stop> {
        self.version_problems();
        self.outputs();
        if !self.problems.is_empty() {
            let found = if self.draft.complete { self.draft.builder.check() } else { Vec::new() };
            let reported: Vec<_> = found.into_iter().filter(|p| self.is_from_file(p)).collect();
            for problem in reported {
                self.semantic_problem(&problem);
            }
            return Ok(None);
        }
        let builder = std::mem::replace(&mut self.draft.builder, Builder::new(Vec::new()));
        match builder.finish() {
            Ok(model) => {
                let negations = std::mem::take(&mut self.draft.negations);
                negations.expand(model, self.limits).map(Some).ok_or_else(|| self.too_many_ops())
            }
            Err(found) => {
                for problem in &found {
                    self.semantic_problem(problem);
                }
                Ok(None)
            }
        }
    }

    /// Returns the problems of the header: a wrong `meta` or an unknown version. If there is such a problem, no other
    /// check is meaningful.
    fn header_problems(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let at = |at: At| Place::Path(at.to_string());
        if !self.has_header() {
            return found;
        }
        if let Some(meta) = &self.meta
            && (meta == "ALIRPipeline") != self.stages.is_some()
            && matches!(meta.as_str(), "ALIRModel" | "DAISModel" | "ALIRPipeline")
        {
            let is = if self.stages.is_some() { "a list of stages" } else { "no list of stages" };
            let message = format!("meta is {meta:?}, but the model is {is}");
            let help = "\"ALIRPipeline\" files, and no others, hold [[stage, stage, ...]]";
            found.push(Diagnostic::error("E0121", at(At::Meta), message).with_help(help));
            return found;
        }
        if let Some(meta) = &self.meta
            && !matches!(meta.as_str(), "ALIRModel" | "DAISModel" | "ALIRPipeline")
        {
            let message = format!("meta is {:?}", shortened(meta));
            let help = match meta.as_str() {
                "ALIRFSM" => {
                    "this is a stateful design: check, info, run, view, generate, project, verify, prove and diff \
                     accept it, other commands need a program"
                }
                _ => "a model file says \"ALIRModel\" (or \"DAISModel\", with spec_version 2)",
            };
            found.push(Diagnostic::error("E0121", at(At::Meta), message).with_help(help));
            return found;
        }
        let older = self.meta.as_deref() == Some("DAISModel");
        match self.version {
            None | Some(2) => {}
            Some(3 | 4) if !older => {}
            Some(version) => {
                let (name, known) = if older { ("DAISModel", "2") } else { ("ALIRModel", KNOWN_VERSIONS) };
                let message = format!("unknown spec version {version} of {name}");
                let help = format!("known versions: {known}");
                found.push(Diagnostic::error("E0122", at(At::SpecVersion), message).with_help(help));
            }
        }
        found
    }

    /// Reports the problems that depend on the version, which may be the last key of the file.
    fn version_problems(&mut self) {
        // Files without a header, and pipelines, always have the layout of version 2.
        let version = if self.has_header() && self.stage.is_none() { self.version } else { Some(2) };
        match version {
            Some(2) => {
                let newer = self.draft.layouts.iter().filter(|(_, l)| *l == Layout::V3).map(|&(i, _)| i);
                for index in newer.collect::<Vec<_>>() {
                    let help = "a version 2 record is [id0, id1, opcode, data, qint, latency, cost]";
                    self.problem(
                        "E0127",
                        At::Op(index, Field::Whole),
                        "6 elements in a file of version 2 or older",
                        help,
                    );
                }
            }
            Some(3) => {
                for index in std::mem::take(&mut self.draft.quantise_with_shift) {
                    let help = "a quantise has no data before version 4";
                    self.problem("E0131", At::Op(index, Field::Data), "a relative shift in version 3", help);
                }
            }
            Some(4) => {
                for index in std::mem::take(&mut self.draft.quantise_without_shift) {
                    let help = "in version 4 a quantise has one data entry, its relative shift (0 for none)";
                    self.problem("E0131", At::Op(index, Field::Data), "no relative shift in version 4", help);
                }
            }
            _ => {}
        }
    }

    /// Checks array lengths against the shape, and builds the outputs from their three arrays.
    fn outputs(&mut self) {
        let draft = &mut self.draft;
        let idxs = draft.out_idxs.take();
        let shifts = draft.out_shifts.take();
        let negs = draft.out_negs.take();
        let lengths = [
            ("inp_shifts", draft.n_inputs, draft.shape.map(|s| s.0), "inputs"),
            ("out_idxs", idxs.as_ref().map(Vec::len), draft.shape.map(|s| s.1), "outputs"),
            ("out_shifts", shifts.as_ref().map(Vec::len), draft.shape.map(|s| s.1), "outputs"),
            ("out_negs", negs.as_ref().map(Vec::len), draft.shape.map(|s| s.1), "outputs"),
        ];
        if let (Some(idxs), Some(shifts), Some(negs)) = (idxs, shifts, negs) {
            for ((source, shift), neg) in idxs.into_iter().zip(shifts).zip(negs) {
                draft.builder.output(Output { source, shift, neg });
            }
        }
        for (name, length, wanted, what) in lengths {
            let (Some(length), Some(wanted)) = (length, wanted) else { continue };
            if length as i64 != wanted {
                let message = format!("{length} elements, but the shape says {wanted} {what}");
                self.problem("E0126", At::Part(name), message, "array and shape must agree");
            }
        }
    }

    /// Returns `true` if a problem concerns the file itself, not an operation or table that replaces an invalid one.
    fn is_from_file(&self, problem: &Problem) -> bool {
        let draft = &self.draft;
        let Site::Op(index, part) = problem.site else {
            return match problem.site {
                Site::Table(t) | Site::TableEntry(t, _) => draft.bad_tables.binary_search(&t).is_err(),
                _ => true,
            };
        };
        let bad_op = |i: usize| draft.bad_ops.binary_search(&i).is_ok();
        let op = &draft.builder.nodes()[index].op;
        let mut good = !bad_op(index) && (part != Part::Input || draft.n_inputs.is_some());
        op.for_each_operand(|v| good &= !bad_op(v.index()));
        if let Op::Lookup { table, .. } = op {
            good &= draft.tables_known && draft.bad_tables.binary_search(&table.index()).is_err();
        }
        good
    }

    /// Reports a violated semantic rule at its place in the file.
    fn semantic_problem(&mut self, problem: &Problem) {
        let at = site_place(problem.site, |index| self.draft.layout(index));
        self.problem(problem.code, at, &problem.message, &problem.help);
    }

    /// Returns notes about unusual properties of a valid file with `stages` stages.
    fn notes(&self, stages: usize) -> Diagnostics {
        let mut notes = Vec::new();
        if stages > 1 {
            let message =
                format!("the {stages} stages of the pipeline are read as one program, without their registers");
            let note = Diagnostic::note("N0104", Place::Whole, message);
            notes.push(note.with_help("--pipeline N places registers where they are fewest"));
        }
        if let Some(version @ (3 | 4)) = self.version
            && self.draft.layouts.iter().any(|(_, l)| *l == Layout::V2)
        {
            let message = format!("the file says version {version} and has records of version 2");
            let note = Diagnostic::note("N0101", Place::Path(At::Part("ops").to_string()), message);
            notes.push(note.with_help("records of seven elements are always read as version 2"));
        }
        if let Some((index, opcode)) = self.ambiguous_opcode {
            let era = |era| if self.era() == era { "is read as" } else { "could mean" };
            let (old, new) = match opcode {
                -2 => ("relu(-x)", "-x"),
                _ => ("x + data * step", "x + low * 2^-high"),
            };
            let (was, is) = (era(Era::Old), era(Era::Two));
            let message = format!("opcode {opcode} {was} {old} (before version 2) and {is} {new} (version 2)");
            let place = Place::Path(At::Op(index, Field::Opcode).to_string());
            let note = Diagnostic::note("N0103", place, format!("the file does not state its version: {message}"));
            let other = if self.era() == Era::Old { "dais2-json" } else { "dais-json" };
            notes.push(note.with_help(format!("--format {other} reads it as the other one")));
        }
        for key in &self.unknown_keys {
            let message = format!("the key {key:?} is unknown and ignored");
            notes.push(Diagnostic::note("N0102", Place::Whole, message));
        }
        Diagnostics(notes)
    }
}

/// Shortens a string of the file for a message.
fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    match text.char_indices().nth(MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}...", &text[..at]),
    }
}
