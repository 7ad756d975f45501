//! Layout of a file: modules, sections, register groups, unread bits. The layout is the same for every language.
//!
//! Nets keep the order of the netlist within a section. There is one section for the inputs and one for each stage; the
//! registers of a stage follow its logic. Each name is declared before it is read, for any assignment of nets to
//! stages: registers that are read before their section are declared at the beginning (`Module::early`), and if logic
//! reads logic of a later stage, the order ignores stages. The nets of a section are grouped by the layers of the
//! source network, each with a heading.

use super::{Hierarchy, Options};
use crate::netlist::names::legalise;
use crate::netlist::{Cell, Direction, NetId, Netlist, Piece, Port, Reset, Wiring};
use rustc_hash::{FxHashMap, FxHashSet};

/// A module of the file.
pub(super) struct Module {
    /// Name of the module.
    pub(super) name: String,
    /// Part of the hardware in the module.
    pub(super) part: Part,
    /// Nets of other modules that the module reads. Empty for the top module.
    pub(super) imports: Vec<NetId>,
    /// Nets of the module that other modules read. Empty for the top module.
    pub(super) exports: Vec<NetId>,
    /// Registers that are read before their section.
    pub(super) early: Vec<NetId>,
    /// Sections of the module, in order.
    pub(super) sections: Vec<Section>,
    /// Modules instantiated in the module, by index.
    pub(super) instances: Vec<usize>,
    /// Nets that instantiated modules drive.
    pub(super) links: Vec<NetId>,
    /// Unread bits, in groups of at most [`UNREAD_GROUP`] signals of one section.
    pub(super) unread: Vec<UnreadGroup>,
    /// `true` if the module contains a register.
    pub(super) clocked: bool,
}

/// Part of the hardware in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The top module.
    Top,
    /// A stage of the pipeline.
    Stage,
    /// A node of the source network, by its index.
    Layer(u32),
}

/// Nets and registers under one heading.
pub(super) struct Section {
    /// Kind of the section.
    pub(super) kind: Kind,
    /// Inputs or logic, in order.
    pub(super) nets: Vec<NetId>,
    /// Registers of the section, which follow its nets.
    pub(super) groups: Vec<Group>,
    /// Memories that are first read in the section.
    pub(super) roms: Vec<u32>,
}

/// Kind of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The elements of the input ports.
    Inputs,
    /// Logic and registers of a stage; stage 0 is the part before the first stage.
    Stage(u32),
    /// All logic and registers of a module without stages.
    Logic,
}

/// Registers that share clock enable and reset, and therefore share one process.
pub(super) struct Group {
    /// Clock enable of the registers.
    pub(super) enable: Option<Wiring>,
    /// Reset of the registers; each register has its own reset value.
    pub(super) reset: Option<Reset>,
    /// The registers.
    pub(super) registers: Vec<NetId>,
}

/// Bits that are never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// Bits of a net. The file names the whole net, so that the list stays short.
    Net(NetId),
    /// An input port, by index.
    Port {
        /// The port.
        port: usize,
        /// Lowest bit.
        lo: u32,
        /// Number of bits.
        width: u32,
    },
}

/// Maximum number of signals with unread bits in one reduction. A single reduction over all signals would be evaluated
/// again whenever one of them changes: Icarus was eleven times slower on a network with 279 such signals.
const UNREAD_GROUP: usize = 8;

/// Signals of one section with unread bits.
pub(super) struct UnreadGroup {
    /// Name of the net that is assigned the reduction.
    pub(super) name: String,
    /// Kind of the section if the group is the first of its section and the module has stages; otherwise `None`.
    pub(super) heading: Option<Kind>,
    /// The signals.
    pub(super) signals: Vec<Unread>,
}

/// Contents of a file: all modules, the top module last.
pub(super) struct Plan {
    /// The modules.
    pub(super) modules: Vec<Module>,
    /// First net of each layer in a section, mapped to the index of the layer.
    pub(super) layer_starts: FxHashMap<NetId, u32>,
}

/// Returns the nets that `wiring` reads.
pub(super) fn nets_of(netlist: &Netlist, wiring: Wiring) -> impl Iterator<Item = NetId> + '_ {
    netlist.pieces(wiring).iter().filter_map(|piece| piece.net())
}

/// Returns the pieces of bits `lo .. lo + width` of a sequence of pieces.
pub(super) fn slice(pieces: &[Piece], lo: u32, width: u32) -> Vec<Piece> {
    let (mut out, mut at) = (Vec::new(), 0);
    for &piece in pieces {
        let (from, to) = (lo.max(at), (lo + width).min(at + piece.width()));
        if from < to {
            let (skipped, width) = (from - at, to - from);
            out.push(match piece {
                Piece::Bits { net, lo, .. } => Piece::Bits { net, lo: lo + skipped, width },
                Piece::Repeat { net, bit, .. } if width == 1 => Piece::Bits { net, lo: bit, width: 1 },
                Piece::Repeat { net, bit, .. } => Piece::Repeat { net, bit, count: width },
                Piece::Const { one, .. } => Piece::Const { one, width },
            });
        }
        at += piece.width();
        if at >= lo + width {
            break;
        }
    }
    out
}

/// A part of an output port, and its driver.
pub(super) struct OutputSlice {
    /// Lowest bit on the port.
    pub(super) lo: u32,
    /// Number of bits.
    pub(super) width: u32,
    /// Driver of the part.
    pub(super) pieces: Vec<Piece>,
    /// Comment that describes the element; empty if the part is not an element.
    pub(super) remark: String,
}

/// Returns the drivers of an output port, one for each element. Separate assignments are readable and keep lines short.
pub(super) fn output_slices(netlist: &Netlist, port: &Port) -> Vec<OutputSlice> {
    let Some(driver) = port.driver else { return Vec::new() };
    let mut cuts: Vec<(u32, u32, String)> = netlist
        .interface
        .outputs
        .iter()
        .filter(|e| e.port == port.name && e.width > 0)
        .map(|e| (e.lsb, e.width, format!("{} {}", e.name, e.kif())))
        .collect();
    cuts.sort_by_key(|cut| cut.0);
    let mut whole = Vec::with_capacity(cuts.len() + 1);
    let mut at = 0;
    for (lo, width, remark) in cuts {
        if lo > at {
            whole.push((at, lo - at, String::new()));
        }
        at = lo + width;
        whole.push((lo, width, remark));
    }
    if at < port.width {
        whole.push((at, port.width - at, String::new()));
    }
    // A single pass over all pieces, as a port of 100,000 bits may have as many pieces.
    let pieces = netlist.pieces(driver);
    let (mut first, mut start) = (0, 0);
    whole
        .into_iter()
        .map(|(lo, width, remark)| {
            while start + pieces[first].width() <= lo {
                start += pieces[first].width();
                first += 1;
            }
            OutputSlice { lo, width, pieces: slice(&pieces[first..], lo - start, width), remark }
        })
        .collect()
}

/// Returns the port name if a net is the whole of a scalar input port, otherwise `None`. Such a port is read by its own
/// name.
pub(super) fn scalar_port(netlist: &Netlist, net: NetId) -> Option<&str> {
    match netlist.net(net).cell {
        Cell::Input { port, .. } => {
            let port = &netlist.ports()[port.0 as usize];
            port.scalar.then_some(port.name.as_str())
        }
        _ => None,
    }
}

/// Index of the section of each net: 0 for inputs, otherwise the stage plus one.
struct Places {
    of: Vec<u32>,
    staged: bool,
    /// `true` for each net that is a register. A separate vector, because nets are large and each operand is looked up.
    is_register: Vec<bool>,
}

fn places(netlist: &Netlist) -> Places {
    let nets = netlist.nets();
    let is_register: Vec<bool> = nets.iter().map(|net| matches!(net.cell, Cell::Register { .. })).collect();
    let mut of: Vec<u32> = nets
        .iter()
        .map(|net| match net.cell {
            Cell::Input { .. } => 0,
            _ => net.stage + 1,
        })
        .collect();
    // The section of the inputs comes first, so only reads of logic can constrain the order.
    let reads_later_stage = |of: &[u32], id: usize| {
        let mut later = false;
        nets[id].cell.for_each_operand(|w| {
            later |= nets_of(netlist, w).any(|read| of[read.index()] > of[id] && !is_register[read.index()]);
        });
        later
    };
    let staged = (0..nets.len()).all(|id| is_register[id] || !reads_later_stage(&of, id));
    if !staged {
        of.iter_mut().for_each(|place| *place = (*place).min(1));
    }
    // A register is placed after all logic that it reads.
    for (id, net) in nets.iter().enumerate() {
        if is_register[id] {
            let mut place = of[id];
            net.cell.for_each_operand(|w| {
                for read in nets_of(netlist, w).filter(|&read| !is_register[read.index()]) {
                    place = place.max(of[read.index()]);
                }
            });
            of[id] = place;
        }
    }
    Places { of, staged, is_register }
}

impl Plan {
    /// Plans the file of `netlist`.
    pub(super) fn new(netlist: &Netlist, options: &Options) -> Plan {
        let places = places(netlist);
        let mut sections = sections(netlist, &places);
        let early = early_registers(netlist, &places, &sections);
        let layers = netlist.layers_of_nets();
        let divisible = has_stages(netlist, &places) && sections.len() > 2;
        let by_stage = match options.hierarchy {
            Hierarchy::Auto => netlist.nets().len() > options.split_above,
            Hierarchy::Stages => true,
            Hierarchy::Flat | Hierarchy::Layers => false,
        };
        let by_layer = options.hierarchy == Hierarchy::Layers && !layers.is_empty();
        let layer_starts = match by_layer {
            true => FxHashMap::default(),
            false => order_by_layer(&layers, &mut sections),
        };
        let mut modules = if by_layer {
            let part = layers.iter().map(|layer| layer.map_or(0, |layer| layer + 1)).collect();
            divide(netlist, Parts { names: layer_modules(netlist), part, kind: Part::Layer }, sections, &early)
        } else if by_stage && divisible {
            let top = &netlist.interface.top;
            let last = places.of.iter().copied().max().unwrap_or(0);
            let names = (0..last).map(|stage| format!("{top}_stage_{stage}")).collect();
            divide(netlist, Parts { names, part: places.of.clone(), kind: |_| Part::Stage }, sections, &early)
        } else {
            vec![top(netlist, sections, early)]
        };
        let mut bits = BitUse::new(netlist);
        let prefix = unread_prefix(netlist);
        for index in 0..modules.len() {
            let unread = bits.unread(netlist, &modules, index);
            modules[index].unread = unread_groups(netlist, (&places, &prefix), &modules[index], &unread);
            place_roms(netlist, &mut modules[index]);
        }
        Plan { modules, layer_starts }
    }
}

/// Returns `true` if the sections are the stages of a pipeline. The sections of a time-multiplexed design are not
/// stages.
fn has_stages(netlist: &Netlist, places: &Places) -> bool {
    places.staged && netlist.interface.has_stages()
}

fn sections(netlist: &Netlist, places: &Places) -> Vec<Section> {
    let last = places.of.iter().copied().max().unwrap_or(0);
    let pipelined = has_stages(netlist, places);
    let mut sections: Vec<Section> = (0..=last)
        .map(|place| Section {
            kind: match place {
                0 => Kind::Inputs,
                _ if pipelined => Kind::Stage(place - 1),
                _ => Kind::Logic,
            },
            nets: Vec::new(),
            groups: Vec::new(),
            roms: Vec::new(),
        })
        .collect();
    for (id, net) in netlist.nets().iter().enumerate() {
        let id = NetId(id as u32);
        let section = &mut sections[places.of[id.index()] as usize];
        let Cell::Register { enable, reset, .. } = net.cell else {
            section.nets.push(id);
            continue;
        };
        // A module has few groups of registers: with and without reset, for valid flags and for data.
        let same = |group: &Group| {
            same_wiring(netlist, group.enable, enable)
                && same_wiring(netlist, group.reset.map(|r| r.when), reset.map(|r| r.when))
                && group.reset.map(|r| (r.active_high, r.asynchronous))
                    == reset.map(|r| (r.active_high, r.asynchronous))
        };
        match section.groups.iter_mut().rev().find(|group| same(group)) {
            Some(group) => group.registers.push(id),
            None => section.groups.push(Group { enable, reset, registers: vec![id] }),
        }
    }
    sections.retain(|s| !s.nets.is_empty() || !s.groups.is_empty());
    sections
}

fn same_wiring(netlist: &Netlist, a: Option<Wiring>, b: Option<Wiring>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => netlist.pieces(a) == netlist.pieces(b),
        _ => false,
    }
}

/// Returns the registers that are read before their own section, or within their own section by logic or by an earlier
/// group of registers.
fn early_registers(netlist: &Netlist, places: &Places, sections: &[Section]) -> Vec<NetId> {
    // Index of the group of each register within its section.
    let mut group = vec![0; netlist.nets().len()];
    for section in sections {
        for (number, own) in section.groups.iter().enumerate() {
            own.registers.iter().for_each(|id| group[id.index()] = number);
        }
    }
    let mut early = vec![false; netlist.nets().len()];
    for (id, net) in netlist.nets().iter().enumerate() {
        let reader_is_register = places.is_register[id];
        net.cell.for_each_operand(|w| {
            for read in nets_of(netlist, w) {
                let (place, own) = (places.of[read.index()], places.of[id]);
                let is_behind = !reader_is_register || group[read.index()] > group[id];
                let stands_later = place > own || (place == own && is_behind);
                if stands_later && places.is_register[read.index()] {
                    early[read.index()] = true;
                }
            }
        });
    }
    (0..early.len() as u32).map(NetId).filter(|id| early[id.index()]).collect()
}

/// Sorts the nets of each section by layer. Returns the first net of each layer in a section.
fn order_by_layer(layers: &[Option<u32>], sections: &mut [Section]) -> FxHashMap<NetId, u32> {
    let mut starts = FxHashMap::default();
    if layers.is_empty() {
        return starts;
    }
    for section in sections {
        section.nets.sort_by_key(|id| layers[id.index()]);
        for run in section.nets.chunk_by(|a, b| layers[a.index()] == layers[b.index()]) {
            starts.extend(layers[run[0].index()].map(|layer| (run[0], layer)));
        }
    }
    starts
}

/// Returns the top module, with all of these sections.
fn top(netlist: &Netlist, sections: Vec<Section>, early: Vec<NetId>) -> Module {
    Module {
        name: netlist.interface.top.clone(),
        part: Part::Top,
        imports: Vec::new(),
        exports: Vec::new(),
        early,
        clocked: sections.iter().any(|s| !s.groups.is_empty()),
        sections,
        instances: Vec::new(),
        links: Vec::new(),
        unread: Vec::new(),
    }
}

/// Maximum length in bytes of the layer name within the name of a module.
const LAYER_NAME: usize = 48;

/// Returns the names of the modules of layers. They differ from each other and from the names of modules of stages and
/// look-up tables.
fn layer_modules(netlist: &Netlist) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let name = |layer: &String| {
        // The name of an ONNX node is followed by its operator in brackets.
        let legal = legalise(layer.rsplit_once(" (").map_or(layer.as_str(), |(name, _)| name));
        let short = legal[..legal.len().min(LAYER_NAME)].trim_end_matches('_');
        // Look-up tables in pieces are separate modules whose names begin with `rom`.
        let is_table = short.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("rom"));
        let first = format!("{}{short}", if is_table { "layer_" } else { "" });
        let numbered = (2u32..).map(|n| format!("{first}_{n}"));
        let mut names = std::iter::once(first.clone()).chain(numbered);
        let name = names.find(|name| taken.insert(name.to_ascii_lowercase())).expect("fewer names than numbers");
        format!("{}_{name}", netlist.interface.top)
    };
    netlist.layer_names().iter().map(name).collect()
}

/// A division of a netlist into modules.
struct Parts<K> {
    /// Part of each net: 0 for the top module, otherwise the index of the module's name plus one.
    part: Vec<u32>,
    /// Names of the other modules.
    names: Vec<String>,
    /// Maps the index of a module to its kind.
    kind: K,
}

/// Returns the modules of all parts, the top module last.
fn divide(
    netlist: &Netlist,
    parts: Parts<impl Fn(u32) -> Part>,
    sections: Vec<Section>,
    early: &[NetId],
) -> Vec<Module> {
    let Parts { part, names, kind } = parts;
    let part = |id: NetId| part[id.index()];
    let mut divided: Vec<Vec<Section>> = (0..=names.len()).map(|_| Vec::new()).collect();
    for section in sections {
        section.divide(part, &mut divided);
    }
    // Nets that are read outside their module, and the nets of other modules that each module reads.
    let mut leaves = vec![false; netlist.nets().len()];
    let mut reader_of = vec![u32::MAX; netlist.nets().len()];
    let mut imports: Vec<Vec<NetId>> = Vec::new();
    for (index, sections) in (0..).zip(&divided) {
        let mut foreign = Vec::new();
        for id in sections.iter().flat_map(Section::all_nets) {
            netlist.net(id).cell.for_each_operand(|w| {
                for read in nets_of(netlist, w) {
                    if part(read) != index && reader_of[read.index()] != index {
                        reader_of[read.index()] = index;
                        leaves[read.index()] = true;
                        foreign.push(read);
                    }
                }
            });
        }
        foreign.sort_unstable();
        imports.push(foreign);
    }
    for port in netlist.ports() {
        for read in port.driver.iter().flat_map(|&w| nets_of(netlist, w)) {
            leaves[read.index()] = true;
        }
    }
    let mut divided = divided.into_iter();
    let own = divided.next().expect("the part of the top module");
    let mut modules = Vec::new();
    for (index, ((sections, imports), name)) in (0..).zip(divided.zip(imports.into_iter().skip(1)).zip(names)) {
        if sections.is_empty() {
            continue;
        }
        let mut exports: Vec<NetId> =
            sections.iter().flat_map(Section::all_nets).filter(|id| leaves[id.index()]).collect();
        exports.sort_unstable();
        let early = early.iter().copied().filter(|&id| part(id) == index + 1).collect();
        modules.push(Module { name, part: kind(index), imports, exports, ..top(netlist, sections, early) });
    }
    let mut links: Vec<NetId> = modules.iter().flat_map(|m| m.exports.iter().copied()).collect();
    links.sort_unstable();
    let instances = (0..modules.len()).collect();
    let top = top(netlist, own, early.iter().copied().filter(|&id| part(id) == 0).collect());
    let clocked = top.clocked || modules.iter().any(|m| m.clocked);
    modules.push(Module { instances, links, clocked, ..top });
    modules
}

impl Section {
    /// Adds the nets, registers and groups of each part to the sections of that part.
    fn divide(self, part: impl Fn(NetId) -> u32, divided: &mut [Vec<Section>]) {
        let Section { kind, nets, groups, roms: _ } = self;
        let mut shares: Vec<Option<Section>> = divided.iter().map(|_| None).collect();
        let empty = || Section { kind, nets: Vec::new(), groups: Vec::new(), roms: Vec::new() };
        for id in nets {
            shares[part(id) as usize].get_or_insert_with(empty).nets.push(id);
        }
        for Group { enable, reset, mut registers } in groups {
            registers.sort_by_key(|&id| part(id));
            for registers in registers.chunk_by(|&a, &b| part(a) == part(b)) {
                let share = shares[part(registers[0]) as usize].get_or_insert_with(empty);
                share.groups.push(Group { enable, reset, registers: registers.to_vec() });
            }
        }
        for (sections, share) in divided.iter_mut().zip(shares) {
            sections.extend(share);
        }
    }

    /// Returns all nets of the section: logic first, then registers.
    pub(super) fn all_nets(&self) -> impl Iterator<Item = NetId> + '_ {
        self.nets.iter().copied().chain(self.groups.iter().flat_map(|g| g.registers.iter().copied()))
    }
}

/// Assigns each memory to the first section that reads it.
fn place_roms(netlist: &Netlist, module: &mut Module) {
    let mut used = vec![false; netlist.roms().len()];
    for section in &mut module.sections {
        for &id in &section.nets {
            if let Cell::Rom { rom, .. } = netlist.net(id).cell
                && !std::mem::replace(&mut used[rom.0 as usize], true)
            {
                section.roms.push(rom.0);
            }
        }
    }
}

/// Bits of each net that a module reads.
struct BitUse {
    /// Position in `read` of the first bit of each net.
    first: Vec<usize>,
    read: Vec<u64>,
}

impl BitUse {
    fn new(netlist: &Netlist) -> BitUse {
        let mut bits = 0;
        let first = netlist
            .nets()
            .iter()
            .map(|net| {
                let at = bits;
                bits += net.width as usize;
                at
            })
            .collect();
        BitUse { first, read: vec![0; bits.div_ceil(64)] }
    }

    fn set(&mut self, net: NetId, lo: u32, width: u32, value: bool) {
        let (mut at, end) = (self.first[net.index()] + lo as usize, self.first[net.index()] + (lo + width) as usize);
        while at < end {
            let in_word = (64 - at % 64).min(end - at);
            let mask = (u64::MAX >> (64 - in_word)) << (at % 64);
            if value {
                self.read[at / 64] |= mask
            } else {
                self.read[at / 64] &= !mask
            }
            at += in_word;
        }
    }

    /// Returns the position of the first unread bit from `from` to `end` (exclusive), or `end` if all are read.
    fn first_unread(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            let unread = !self.read[at / 64] >> (at % 64);
            if unread != 0 {
                return end.min(at + unread.trailing_zeros() as usize);
            }
            at = (at / 64 + 1) * 64;
        }
        end
    }

    /// Marks the low `limit` bits of `wiring` as read.
    fn mark(&mut self, netlist: &Netlist, wiring: Wiring, limit: u32) {
        let mut left = limit;
        for &piece in netlist.pieces(wiring) {
            match piece {
                Piece::Bits { net, lo, width } => self.set(net, lo, width.min(left), true),
                Piece::Repeat { net, bit, .. } => self.set(net, bit, 1, true),
                Piece::Const { .. } => {}
            }
            left -= piece.width().min(left);
            if left == 0 {
                break;
            }
        }
    }

    /// Returns the bits of module `index` that are unread within it. Clears all marks.
    fn unread(&mut self, netlist: &Netlist, modules: &[Module], index: usize) -> Vec<Unread> {
        let module = &modules[index];
        let is_top = module.part == Part::Top;
        for id in module.sections.iter().flat_map(Section::all_nets) {
            let net = netlist.net(id);
            // A product is computed modulo `2^n` for a net of `n` bits, so higher bits of its operands are not written.
            let limit = if matches!(net.cell, Cell::Mul { .. }) { net.width } else { u32::MAX };
            net.cell.for_each_operand(|w| self.mark(netlist, w, limit));
        }
        let whole = |bits: &mut BitUse, id: NetId| bits.set(id, 0, netlist.net(id).width, true);
        for &id in &module.exports {
            whole(self, id);
        }
        for &id in module.instances.iter().flat_map(|&m| modules[m].imports.iter()) {
            whole(self, id);
        }
        let mut unread = Vec::new();
        if is_top {
            for driver in netlist.ports().iter().filter_map(|p| p.driver) {
                self.mark(netlist, driver, u32::MAX);
            }
            unread_port_bits(netlist, &mut unread);
        }
        let own = module.sections.iter().flat_map(Section::all_nets);
        let mut here: Vec<NetId> =
            own.chain(module.imports.iter().copied()).chain(module.links.iter().copied()).collect();
        here.sort_unstable();
        unread.extend(here.iter().filter(|&&id| self.has_unread(netlist, id)).map(|&id| Unread::Net(id)));
        for id in here {
            self.set(id, 0, netlist.net(id).width, false);
        }
        unread
    }

    fn has_unread(&self, netlist: &Netlist, net: NetId) -> bool {
        let first = self.first[net.index()];
        let end = first + netlist.net(net).width as usize;
        self.first_unread(first, end) < end
    }
}

/// Returns the signals with unread bits by section, in groups.
fn unread_groups(
    netlist: &Netlist,
    (places, prefix): (&Places, &str),
    module: &Module,
    unread: &[Unread],
) -> Vec<UnreadGroup> {
    let has_stages = has_stages(netlist, places) && module.part != Part::Stage;
    let kind = |signal: &Unread| match *signal {
        _ if !has_stages => Kind::Logic,
        Unread::Port { .. } => Kind::Inputs,
        Unread::Net(net) => places.of[net.index()].checked_sub(1).map_or(Kind::Inputs, Kind::Stage),
    };
    let order = |kind: Kind| match kind {
        Kind::Inputs => 0,
        Kind::Stage(stage) => stage + 1,
        Kind::Logic => u32::MAX,
    };
    let mut signals: Vec<(Kind, Unread)> = unread.iter().map(|signal| (kind(signal), *signal)).collect();
    signals.sort_by_key(|&(kind, _)| order(kind));
    let name = |signal: &Unread| match *signal {
        Unread::Port { port, .. } => netlist.ports()[port].name.as_str(),
        Unread::Net(net) => netlist.name(net),
    };
    let mut taken = FxHashSet::default();
    let mut groups: Vec<UnreadGroup> = Vec::new();
    for section in signals.chunk_by(|a, b| a.0 == b.0) {
        let mut is_first = true;
        for (kind, signal) in section {
            let begins = |group: &UnreadGroup| begins_unread_group(group.signals.len(), name(signal));
            match groups.last_mut().filter(|group| !is_first && !begins(group)) {
                Some(group) => group.signals.push(*signal),
                None => {
                    let heading = (has_stages && is_first).then_some(*kind);
                    // Two parts of one port may each begin a group.
                    let names = (1u32..).map(|n| match n {
                        1 => format!("{prefix}{}", name(signal)),
                        n => format!("{prefix}{}_at_{n}", name(signal)),
                    });
                    let name = names.into_iter().find(|name| !taken.contains(name)).expect("fewer names than numbers");
                    taken.insert(name.clone());
                    groups.push(UnreadGroup { name, heading, signals: vec![*signal] });
                }
            }
            is_first = false;
        }
    }
    if let [only] = &mut groups[..] {
        prefix.trim_end_matches('_').clone_into(&mut only.name);
        only.heading = None;
    }
    groups
}

/// Returns `true` if a signal with this name begins a new group after a group of `size` signals.
///
/// Most borders depend on names, so that an additional signal changes only the groups next to it.
fn begins_unread_group(size: usize, name: &str) -> bool {
    let hash = name.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    size == UNREAD_GROUP || size >= UNREAD_GROUP / 2 && hash.is_multiple_of(3)
}

/// Returns a prefix with which no name of a port, net or memory begins.
fn unread_prefix(netlist: &Netlist) -> String {
    let is_free = |prefix: &str| {
        let begins = |name: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        !(netlist.ports().iter().any(|port| begins(&port.name))
            || (0..netlist.nets().len()).any(|net| begins(netlist.name(NetId(net as u32))))
            || netlist.roms().iter().any(|rom| begins(&rom.name)))
    };
    let prefixes = std::iter::once("unused_bits_".to_owned()).chain((2u32..).map(|n| format!("unused_bits{n}_")));
    prefixes.into_iter().find(|prefix| is_free(prefix)).expect("fewer names than prefixes")
}

/// Collects the unread bits of input ports. The clock port counts as read.
fn unread_port_bits(netlist: &Netlist, unread: &mut Vec<Unread>) {
    let mut taken: Vec<Vec<(u32, u32)>> = vec![Vec::new(); netlist.ports().len()];
    for net in netlist.nets() {
        if let Cell::Input { port, lo } = net.cell {
            taken[port.0 as usize].push((lo, lo + net.width));
        }
    }
    for (index, port) in netlist.ports().iter().enumerate() {
        if port.direction != Direction::In || netlist.interface.clock.as_ref() == Some(&port.name) {
            continue;
        }
        taken[index].sort_unstable();
        let mut at = 0;
        for &(lo, end) in taken[index].iter().chain([&(port.width, port.width)]) {
            if lo > at {
                unread.push(Unread::Port { port: index, lo: at, width: lo - at });
            }
            at = at.max(end);
        }
    }
}
