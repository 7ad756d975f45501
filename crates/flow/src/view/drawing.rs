//! Drawing of a program or a state machine: boxes in columns, and their values for samples.

use alir_interp::samples::Port;
use num_bigint::{BigInt, Sign};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Number of bars of a histogram.
const BINS: usize = 24;
/// Maximum number of characters of an RTL line that are shown.
const LINE: usize = 400;

/// A box: an operation, or an element of a port, wire or register.
pub(super) struct Node {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Index of the box's column.
    pub(super) column: u32,
    /// Type of the box's value, and its binary point.
    pub(super) port: Port,
    /// Smallest and largest raw integer value.
    pub(super) range: (BigInt, BigInt),
    /// Delay of the box itself.
    pub(super) delay: f64,
    pub(super) meaning: String,
    /// Declaration in the RTL: line number from 1, and the line; the number is 0 if there is none.
    pub(super) line: (usize, String),
    pub(super) operands: Vec<u32>,
    /// Index of the layer of a network that the operation was created for.
    pub(super) layer: Option<usize>,
}

impl Node {
    /// Returns the real number of a raw integer value, as text.
    fn real(&self, code: &BigInt) -> String {
        let (value, exact) = self.port.real_of_code(code);
        format!("{}{value}", if exact { "" } else { "about " })
    }
}

/// A column: a stage of a pipeline, or a step of a state machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Title above the column.
    pub title: String,
    /// Name of the column in a table.
    pub short: String,
    /// Longest path that ends in the column; `None` if there is no meaningful one.
    pub delay: Option<f64>,
    /// Bits of the registers at the end of the column (pipeline) or at its beginning (state machine).
    pub register_bits: u64,
}

impl Column {
    fn data(&self) -> Value {
        json!({ "title": self.title, "short": self.short, "delay": self.delay, "bits": self.register_bits })
    }
}

/// All contents of the HTML viewer for a design.
pub struct Drawing {
    pub(super) nodes: Vec<Node>,
    pub(super) columns: Vec<Column>,
    pub(super) has_registers: bool,
    /// `true` if values feed back: registers are boxes, and arrival times do not restart in a stage.
    pub(super) has_loops: bool,
    /// Unit of the delays.
    pub(super) unit: &'static str,
    /// Names of the layers of a network; empty for other designs.
    pub(super) layers: Vec<String>,
    /// Words for the boxes from which the depth of a box is counted, in operations.
    pub(super) origin: &'static str,
    /// Longest path of each column; empty if a column has none.
    pub(super) paths: Vec<Vec<u32>>,
    /// Arrival and slack of each box; `None` if they are the sums of the boxes' own delays.
    pub(super) times: Option<(Vec<f64>, Vec<f64>)>,
    /// Outputs: name, and the box that drives the output.
    pub(super) outputs: Vec<(String, Option<u32>)>,
    pub(super) observed: Option<Observed>,
}

/// Values of every box over all samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Observed {
    pub(super) samples: u32,
    /// Values of the first sample; `None` for an undefined value.
    first: Vec<Option<BigInt>>,
    /// Smallest and largest observed value.
    range: Vec<Option<(BigInt, BigInt)>>,
    /// For each box [`BINS`] counts of values, one for each equal part of its range.
    bins: Vec<u32>,
}

impl Observed {
    pub(super) fn new(nodes: usize) -> Observed {
        Observed { samples: 0, first: vec![None; nodes], range: vec![None; nodes], bins: vec![0; nodes * BINS] }
    }

    /// Records a value of node `k` in the current sample.
    pub(super) fn note(&mut self, k: usize, node: &Node, code: &BigInt) {
        if self.samples == 0 {
            self.first[k] = Some(code.clone());
        }
        match &mut self.range[k] {
            Some((least, most)) => {
                if code < least {
                    least.clone_from(code);
                } else if code > most {
                    most.clone_from(code);
                }
            }
            none => *none = Some((code.clone(), code.clone())),
        }
        self.bins[k * BINS + bin(&node.range, code)] += 1;
    }
}

/// Returns the index of the part of a range that contains a value. Values outside the range (which wrap) count to the
/// nearest part.
fn bin((min, max): &(BigInt, BigInt), code: &BigInt) -> usize {
    let size: BigInt = max - min + 1u32;
    let part: BigInt = (code - min) * BINS / size;
    let last = BINS - 1;
    if part.sign() == Sign::Minus { 0 } else { usize::try_from(part).unwrap_or(last).min(last) }
}

/// Positions of declarations in Verilog source: by name, and by the first words of the comment after them.
pub(super) struct Declarations<'a> {
    names: FxHashMap<&'a str, (usize, &'a str)>,
    remarks: FxHashMap<&'a str, (usize, &'a str)>,
}

impl<'a> Declarations<'a> {
    pub(super) fn new(rtl: &'a str) -> Declarations<'a> {
        let mut found = Declarations { names: FxHashMap::default(), remarks: FxHashMap::default() };
        for (number, line) in (1..).zip(rtl.lines()) {
            let words = line.trim_start();
            if !["wire", "reg", "input", "output"].iter().any(|w| words.starts_with(w)) {
                continue;
            }
            let declared = words.split(['=', ';', ',']).next().unwrap_or_default();
            if let Some(name) = declared.split_whitespace().last() {
                found.names.entry(name).or_insert((number, line));
            }
            if let Some(remark) = words.split_once("// ").and_then(|(_, remark)| remark.rsplit_once(", ")) {
                found.remarks.entry(remark.0).or_insert((number, line));
            }
        }
        found
    }

    /// Returns the number and text of the line that declares `name`.
    pub(super) fn named(&self, name: &str) -> (usize, String) {
        shown(self.names.get(name))
    }

    /// Returns the number and text of the line whose comment begins with `what`, followed by the type.
    pub(super) fn remarked(&self, what: &str) -> (usize, String) {
        shown(self.remarks.get(what))
    }
}

fn shown(found: Option<&(usize, &str)>) -> (usize, String) {
    found.map_or((0, String::new()), |(number, line)| (*number, line.trim().chars().take(LINE).collect()))
}

impl Drawing {
    /// Returns the columns that have a longest path.
    pub fn timed(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.delay.is_some())
    }

    /// Returns the unit of the delays.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// Returns the number of boxes.
    pub fn boxes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the input of the HTML viewer's script: columns of numbers and words.
    pub(super) fn data(&self) -> Value {
        let nodes = &self.nodes;
        let mut kinds: Vec<&'static str> = Vec::new();
        let mut kind_of = |kind: &'static str| {
            let found = kinds.iter().position(|k| *k == kind);
            found.unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            })
        };
        let k: Vec<usize> = nodes.iter().map(|node| kind_of(node.kind)).collect();
        let mut starts = vec![0];
        for node in nodes {
            starts.push(starts[starts.len() - 1] + node.operands.len());
        }
        let of = |each: fn(&Node) -> Value| nodes.iter().map(each).collect::<Vec<Value>>();
        let samples = self.observed.as_ref().map(|seen| {
            let real = |code: Option<&BigInt>, node: &Node| code.map_or("not defined".into(), |code| node.real(code));
            let ranges = |end: fn(&(BigInt, BigInt)) -> &BigInt| -> Vec<String> {
                nodes.iter().zip(&seen.range).map(|(node, range)| real(range.as_ref().map(end), node)).collect()
            };
            json!({
                "count": seen.samples, "bins": BINS, "h": seen.bins,
                "v": nodes.iter().zip(&seen.first).map(|(node, code)| real(code.as_ref(), node)).collect::<Vec<_>>(),
                "min": ranges(|range| &range.0), "max": ranges(|range| &range.1),
            })
        });
        let columns = self.columns.iter();
        let outputs = self.outputs.iter();
        json!({
            "kinds": kinds,
            "columns": columns.map(Column::data).collect::<Vec<_>>(),
            "registers": self.has_registers,
            "loops": self.has_loops,
            "unit": self.unit,
            "layers": self.layers,
            "origin": self.origin,
            "paths": self.paths,
            "arrival": self.times.as_ref().map(|times| &times.0),
            "slack": self.times.as_ref().map(|times| &times.1),
            "outputs": outputs.clone().map(|(_, v)| v.map_or(-1, i64::from)).collect::<Vec<_>>(),
            "outputNames": outputs.map(|(name, _)| name).collect::<Vec<_>>(),
            "samples": samples,
            "ops": {
                "k": k,
                "n": of(|node| node.name.as_str().into()),
                "s": of(|node| node.column.into()),
                "w": of(|node| node.port.kif.width().into()),
                "g": of(|node| u8::from(node.port.kif.signed).into()),
                "f": of(|node| node.port.kif.frac.into()),
                "lo": of(|node| node.real(&node.range.0).into()),
                "hi": of(|node| node.real(&node.range.1).into()),
                "d": of(|node| node.delay.into()),
                "a": nodes.iter().flat_map(|node| &node.operands).collect::<Vec<_>>(),
                "p": starts,
                "y": of(|node| node.layer.map_or(-1, |layer| layer as i64).into()),
                "m": of(|node| node.meaning.as_str().into()),
                "l": of(|node| node.line.0.into()),
                "t": of(|node| node.line.1.as_str().into()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_share_the_range() {
        let bin = |min: i64, max: i64, code: i64| bin(&(min.into(), max.into()), &BigInt::from(code));
        assert_eq!([-4, 0, 19].map(|c| bin(-4, 19, c)), [0, 4, 23]);
        assert_eq!([-100, 100].map(|c| bin(-4, 19, c)), [0, 23]);
        assert_eq!(bin(0, 0, 0), 0);
        assert_eq!(bin(0, 1, 1), 12);
    }

    #[test]
    fn declarations_are_found() {
        let rtl = "module m (\n    input  wire [3:0] a,\n    output wire b\n);\n  wire [8:0] v10 = {a, v1};  // sub\n  \
                   reg v11;  // register acc[1], s13.0\n";
        let found = Declarations::new(rtl);
        assert_eq!(found.named("v10").0, 5);
        assert_eq!(found.named("v11"), (6, "reg v11;  // register acc[1], s13.0".to_owned()));
        assert_eq!(found.named("a").0, 2);
        assert_eq!(found.remarked("register acc[1]").0, 6);
        assert_eq!(found.remarked("register acc[2]").0, 0);
    }
}
