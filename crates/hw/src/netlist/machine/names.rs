//! Names of a state machine's objects in the HDL source: ports, registers and wires keep the names of the input file,
//! and a block's name is the prefix of the names of its operations.
//!
//! A legal and unused name is unchanged. Element 3 of a signal with several elements is `name_3`. If a port has the
//! name `name`, the register of an output is `name_r`, helper nets of an output wire are `name_net_a`, and the net of
//! an input is `name_in`. Operation 17 of block `mac` is `mac_v17`.

use super::super::body::remark;
use super::super::builder::{Draft, DraftNet, Owner};
use super::super::cell::NetId;
use super::super::demand::{Demand, Select};
use super::super::describe::{Describer, push_runs};
use super::super::names::{Scheme, is_legal, legalise, push_letters};
use super::draw::first_objects;
use alir_core::ir::machine::{BlockId, Machine, SignalId, SignalKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use std::ops::Range;

/// Name of the block that contains all logic of time-multiplexed hardware. The numbers of its operations and inputs are
/// unrelated to those of the model.
pub(crate) const SHARED_LOGIC: &str = "logic";

/// Maximum number of characters of a name from the input file, because names are written millions of times.
const LONGEST: usize = 80;

/// Returns a name of the input file for comments and messages: one line, printable ASCII, of limited length.
pub(super) fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    name.chars().take(LONGEST).map(plain).collect()
}

/// Names in use, in lower case, because VHDL ignores case.
#[derive(Default)]
struct Taken(FxHashSet<String>);

impl Taken {
    /// Returns a legal, unused name near `wish` and marks it as used.
    fn claim(&mut self, wish: &str) -> String {
        let short: String = wish.chars().take(LONGEST).collect();
        let legal = legalise(&short);
        if self.0.insert(legal.to_ascii_lowercase()) {
            return legal;
        }
        let numbered = (2u32..).map(|n| format!("{legal}_{n}"));
        numbered.into_iter().find(|n| self.0.insert(n.to_ascii_lowercase())).expect("fewer names than numbers")
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name.to_ascii_lowercase())
    }
}

/// Writes names and comments into the netlist's text pool.
pub(super) struct Names<'a> {
    machine: &'a Machine,
    top: String,
    clock: String,
    /// Names of the ports, by signal; empty for signals that are not ports.
    ports: Vec<String>,
    /// Names of all elements.
    objects: Vec<String>,
    /// Index of each signal's first element among all elements.
    first: Vec<u32>,
    /// Number of named helper nets of each element.
    helpers: FxHashMap<u32, u32>,
    taken: Taken,
    /// Range of nets of each block, in order, with the describer of the block.
    blocks: Vec<(Range<u32>, Describer<'a>)>,
    text: String,
}

impl<'a> Names<'a> {
    /// Returns the names for a machine whose blocks have these ranges of nets.
    pub(super) fn new(machine: &'a Machine, (top, clock): (&str, &str), blocks: &[(Range<u32>, BlockId)]) -> Names<'a> {
        let mut taken = Taken::default();
        // Ports claim their names before all other objects.
        let is_port = |id: SignalId| machine.signal(id).output || machine.signal(id).kind == SignalKind::Input;
        let port = |id: SignalId| if is_port(id) { taken.claim(&machine.signal(id).name) } else { String::new() };
        let ports: Vec<String> = machine.signal_ids().map(port).collect();
        let top = taken.claim(top);
        let clock = taken.claim(clock);
        let mut objects = Vec::new();
        for id in machine.signal_ids() {
            let signal = machine.signal(id);
            let single = match signal.kind {
                SignalKind::Input => "_in",
                SignalKind::Register if signal.output => "_r",
                _ if signal.output => "_net",
                _ => "",
            };
            let base: String = signal.name.chars().take(LONGEST - 20).collect();
            match signal.elements.len() {
                1 => objects.push(taken.claim(&format!("{base}{single}"))),
                n => objects.extend((0..n).map(|k| taken.claim(&format!("{base}_{k}")))),
            }
        }
        let mut prefixes = FxHashSet::default();
        let blocks = blocks
            .iter()
            .map(|(nets, id)| {
                let block = &machine.blocks()[id.index()];
                let prefix = prefix(&block.name, &taken, &mut prefixes);
                let describer = Describer::with_prefix(&block.model, prefix);
                let is_shared = block.name == SHARED_LOGIC;
                (nets.clone(), if is_shared { describer.without_input_numbers() } else { describer })
            })
            .collect();
        Names {
            machine,
            top,
            clock,
            ports,
            objects,
            first: first_objects(machine),
            helpers: FxHashMap::default(),
            taken,
            blocks,
            text: String::new(),
        }
    }

    pub(super) fn top(&self) -> &str {
        &self.top
    }

    pub(super) fn clock(&self) -> &str {
        &self.clock
    }

    pub(super) fn port(&self, id: SignalId) -> &str {
        &self.ports[id.index()]
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn since(&self, start: usize) -> (u32, u32) {
        let index = |n: usize| u32::try_from(n).expect("less than 4 GiB of names and comments");
        (index(start), index(self.text.len() - start))
    }

    /// Calls `describe` with the describer of the block that a net belongs to.
    fn in_block<R>(&mut self, net: NetId, describe: impl FnOnce(&mut Describer<'a>) -> R) -> R {
        let at = self.blocks.partition_point(|(nets, _)| nets.end <= net.0);
        let describer = &mut self.blocks[at].1;
        describer.swap_text(&mut self.text);
        let said = describe(describer);
        describer.swap_text(&mut self.text);
        said
    }

    /// Writes the name of a net.
    pub(super) fn name(&mut self, id: NetId, net: &DraftNet) -> (u32, u32) {
        let Owner::Object(object) = net.owner else {
            return self.in_block(id, |describer| describer.name(net.owner, net.helper, None));
        };
        let start = self.text.len();
        self.text.push_str(&self.objects[object as usize]);
        if net.helper > 0 {
            let plain = self.text.len();
            let count = self.helpers.entry(object).or_default();
            loop {
                *count += 1;
                self.text.truncate(plain);
                self.text.push('_');
                push_letters(&mut self.text, *count);
                let name = &self.text[start..];
                if is_legal(name) && !self.taken.has(name) {
                    break;
                }
            }
        }
        self.since(start)
    }

    /// Returns the name of the next memory whose first reader is this net.
    pub(super) fn rom(&mut self, reader: NetId, draft: &Draft) -> String {
        let owner = draft.nets[reader.index()].owner;
        self.in_block(reader, |describer| describer.rom_name(owner))
    }

    /// Writes the comment on a net, of which only demanded bits are kept.
    pub(super) fn comment(&mut self, id: NetId, draft: &Draft, demand: &Demand) -> (u32, u32) {
        let net = &draft.nets[id.index()];
        let Owner::Object(object) = net.owner else {
            return self.in_block(id, |describer| remark(describer, draft, demand, id));
        };
        if net.helper > 0 {
            return (0, 0);
        }
        let signal = SignalId(self.first.partition_point(|&first| first <= object) as u32 - 1);
        let element = (object - self.first[signal.index()]) as usize;
        let about = self.machine.signal(signal);
        let start = self.text.len();
        // The comment omits the signal name if the register has this name.
        if about.kind != SignalKind::Register || self.objects[object as usize] != about.name {
            self.text.push_str(match about.kind {
                SignalKind::Input => "input ",
                SignalKind::Register => "register ",
                _ => "",
            });
            self.text.push_str(&shown(&about.name));
            if about.elements.len() > 1 {
                let _ = write!(self.text, "[{element}]");
            }
            self.text.push_str(", ");
        }
        let _ = write!(self.text, "{}", about.elements[element]);
        if demand.count(Select::Of(id), net.width) < net.width {
            self.text.push_str(", only ");
            let run = |from| demand.run(Select::Of(id), from, net.width);
            push_runs(&mut self.text, std::iter::successors(run(0), |r| run(r.1)));
        }
        self.since(start)
    }
}

/// Returns the prefix of the names of a block's operations: the name of the block, changed until no other name can
/// begin with the prefix.
fn prefix(block: &str, taken: &Taken, prefixes: &mut FxHashSet<String>) -> String {
    let short: String = block.chars().take(LONGEST).collect();
    let legal = legalise(&short);
    let wishes = std::iter::once(format!("{legal}_")).chain((2u32..).map(|n| format!("{legal}_{n}_")));
    let mut free = wishes.filter(|wish| Scheme::is_free(wish, taken.0.iter().map(String::as_str)));
    free.find(|wish| prefixes.insert(wish.to_ascii_lowercase())).expect("fewer names than numbers")
}
