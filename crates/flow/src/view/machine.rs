//! Drawing of a state machine: a box for each element of ports, registers and wires and for each operation of the
//! blocks, in columns by the number of registers before the box.

use super::drawing::{Column, Declarations, Drawing, Node, Observed};
use super::model::{nodes, run};
use super::rank::ranks;
use alir_core::ir::Op;
use alir_core::ir::machine::{Access, BlockId, Connection, Machine, Settle, SignalId, SignalKind};
use alir_core::num::Kif;
use alir_hw::netlist::names::legalise;
use alir_interp::LookupMiss;
use alir_interp::machine::Simulation;
use alir_interp::samples::Port;
use alir_opt::schedule::{ByWidth, Delay, LatencyFields};
use num_bigint::BigInt;

/// Returns the name of an element of a signal.
fn element(machine: &Machine, signal: SignalId, at: usize) -> String {
    let signal = machine.signal(signal);
    if signal.elements.len() == 1 { signal.name.clone() } else { format!("{}[{at}]", signal.name) }
}

/// Returns element `k` of a view that a connection reads or writes, in words.
fn accessed(machine: &Machine, access: &Access, k: usize) -> String {
    match &access.dynamic {
        None => element(machine, access.signal, access.lo + k),
        Some((index, step)) => {
            let name = &machine.signal(access.signal).name;
            format!("{name}[{} + {step} * {}]", access.lo + k, accessed(machine, index, 0))
        }
    }
}

/// Returns a description of the value that a connection drives on its element `k`.
fn brings(machine: &Machine, connection: &Connection, k: usize) -> String {
    let mut text = accessed(machine, &connection.src, k);
    if let Some(enable) = &connection.enable_if {
        text.push_str(&format!(" while {} is 1", accessed(machine, enable, 0)));
    }
    if let Some(other) = &connection.alternative {
        text.push_str(&format!(", else {}", accessed(machine, other, k)));
    }
    text
}

/// Returns the elements of a signal that element `k` of an access may select.
fn reached(machine: &Machine, access: &Access, k: usize) -> Vec<usize> {
    let end = machine.signal(access.signal).elements.len();
    match &access.dynamic {
        None => vec![access.lo + k],
        Some((_, 0)) => vec![access.lo + k],
        Some((_, step)) => (access.lo + k..end).step_by(*step).collect(),
    }
}

/// A drawing under construction.
struct Draft<'a> {
    machine: &'a Machine,
    declared: Declarations<'a>,
    nodes: Vec<Node>,
    /// Boxes of each element of each signal: its own box, or the boxes that drive the element.
    at: Vec<Vec<Vec<u32>>>,
    /// First box of each block; `None` before the block is drawn.
    blocks: Vec<Option<u32>>,
}

impl Draft<'_> {
    fn add(&mut self, kind: &'static str, signal: SignalId, at: usize, meaning: String) -> u32 {
        let name = element(self.machine, signal, at);
        let kif: Kif = self.machine.signal(signal).elements[at];
        let remark = if kind == "wire" { name.clone() } else { format!("{kind} {name}") };
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            kind,
            line: self.declared.remarked(&remark),
            name,
            column: 0,
            port: Port { kif, frac: i64::from(kif.frac) },
            range: (kif.min_code(), kif.max_code()),
            delay: 0.0,
            meaning,
            operands: Vec::new(),
            layer: None,
        });
        self.at[signal.index()][at] = vec![node];
        node
    }

    /// Returns the boxes that determine element `k` of an access.
    fn sources(&self, access: &Access, k: usize) -> Vec<u32> {
        let own = reached(self.machine, access, k).into_iter().flat_map(|at| &self.at[access.signal.index()][at]);
        let mut all: Vec<u32> = own.copied().collect();
        all.extend(access.dynamic.iter().flat_map(|(index, _)| self.sources(index, 0)));
        all
    }

    /// Returns the boxes that determine the value that a connection drives on its element `k`.
    fn operands(&self, connection: &Connection, k: usize) -> Vec<u32> {
        let mut all = self.sources(&connection.src, k);
        all.extend(connection.enable_if.iter().flat_map(|enable| self.sources(enable, 0)));
        all.extend(connection.alternative.iter().flat_map(|other| self.sources(other, k)));
        all.extend(connection.dst.dynamic.iter().flat_map(|(index, _)| self.sources(index, 0)));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Adds the boxes of input ports and registers, whose values are known at the start of a cycle.
    fn first(&mut self) {
        for id in self.machine.signal_ids() {
            let signal = self.machine.signal(id);
            for at in 0..signal.elements.len() {
                match signal.kind {
                    SignalKind::Input => self.add("input", id, at, "an input port".to_owned()),
                    SignalKind::Register => self.add("register", id, at, String::new()),
                    _ => continue,
                };
            }
        }
    }

    /// Adds a combinational connection.
    fn connect(&mut self, connection: &Connection) {
        let signal = connection.dst.signal;
        for k in 0..connection.dst.len() {
            let operands = self.operands(connection, k);
            let at = connection.dst.lo + k;
            if self.machine.signal(signal).kind == SignalKind::Wire {
                let node = self.add("wire", signal, at, brings(self.machine, connection, k));
                self.nodes[node as usize].operands = operands;
            } else {
                self.at[signal.index()][at] = operands;
            }
        }
    }

    fn block(&mut self, id: BlockId, delay: &dyn Delay) {
        let block = &self.machine.blocks()[id.index()];
        let first = self.nodes.len() as u32;
        let prefix = format!("{}_", legalise(&block.name));
        let mut drawn = nodes(&block.model, &prefix, first, delay, &self.declared, |_| 0);
        if let Some(input) = block.input {
            for (node, drawn) in block.model.nodes().iter().zip(&mut drawn) {
                if let Op::Input { input: index } = node.op {
                    drawn.operands.clone_from(&self.at[input.index()][index as usize]);
                }
            }
        }
        self.nodes.append(&mut drawn);
        self.blocks[id.index()] = Some(first);
        if let Some(output) = block.output {
            for (at, driver) in block.model.outputs().iter().enumerate() {
                self.at[output.index()][at] = driver.source.map(|v| first + v.0).into_iter().collect();
            }
        }
    }

    /// Adds the connections that load the registers, after every element has a box.
    fn registers(&mut self) {
        let machine = self.machine;
        let mut loads: Vec<Vec<String>> = vec![Vec::new(); self.nodes.len()];
        for connection in machine.connections() {
            let dst = &connection.dst;
            if machine.signal(dst.signal).kind != SignalKind::Register {
                continue;
            }
            for k in 0..dst.len() {
                let operands = self.operands(connection, k);
                let place = dst.dynamic.iter().map(|_| format!(" where it is {}", accessed(machine, dst, k)));
                let text = brings(machine, connection, k) + &place.collect::<String>();
                for at in reached(machine, dst, k) {
                    let node = self.at[dst.signal.index()][at][0] as usize;
                    self.nodes[node].operands.extend(&operands);
                    loads[node].push(text.clone());
                }
            }
        }
        for id in machine.signal_ids().filter(|&s| machine.signal(s).kind == SignalKind::Register) {
            let signal = machine.signal(id);
            for at in 0..signal.elements.len() {
                let node = self.at[id.index()][at][0] as usize;
                let mut meaning = match &signal.reset_to {
                    Some(first) => format!("begins as code {}", first[at]),
                    None => "begins undefined".to_owned(),
                };
                if !loads[node].is_empty() {
                    meaning.push_str(&format!("; loads {}", loads[node].join("; ")));
                }
                if let Some(when) = &signal.reset_if {
                    meaning.push_str(&format!("; resets while {} is 1", accessed(machine, when, 0)));
                    let sources = self.sources(when, 0);
                    self.nodes[node].operands.extend(sources);
                }
                let operands = &mut self.nodes[node].operands;
                operands.sort_unstable();
                operands.dedup();
                self.nodes[node].meaning = meaning;
            }
        }
    }

    /// Returns the columns, and the longest path that ends in each.
    fn columns(&mut self) -> (Vec<Column>, Vec<Vec<u32>>) {
        let operands: Vec<&[u32]> = self.nodes.iter().map(|node| node.operands.as_slice()).collect();
        let rank = ranks(&operands, |k| self.nodes[k].kind == "register");
        let count = rank.iter().copied().max().unwrap_or(0) as usize + 1;
        let mut bits = vec![0; count];
        // Boxes are in evaluation order between two clock edges.
        let mut arrival = vec![0.0f64; self.nodes.len()];
        let mut came: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut latest: Vec<Option<u32>> = vec![None; count];
        for (k, node) in self.nodes.iter_mut().enumerate() {
            node.column = rank[k];
            let column = rank[k] as usize;
            if node.kind == "register" {
                bits[column] += u64::from(node.port.kif.width());
                continue;
            }
            let later = |a: &&u32, b: &&u32| arrival[**a as usize].total_cmp(&arrival[**b as usize]);
            came[k] = node.operands.iter().max_by(later).copied();
            arrival[k] = node.delay + came[k].map_or(0.0, |v| arrival[v as usize]);
            if latest[column].is_none_or(|v| arrival[v as usize] < arrival[k]) {
                latest[column] = Some(k as u32);
            }
        }
        let path = |end: &Option<u32>| {
            let mut path: Vec<u32> = std::iter::successors(*end, |&v| came[v as usize]).collect();
            path.reverse();
            path
        };
        let column = |k: usize| Column {
            title: if k == 0 { "inputs".to_owned() } else { format!("registers {k} deep") },
            short: k.to_string(),
            delay: Some(latest[k].map_or(0.0, |v| arrival[v as usize])),
            register_bits: bits[k],
        };
        ((0..count).map(column).collect(), latest.iter().map(path).collect())
    }

    /// Returns the values of every box in each cycle of a run from power-on.
    fn observe(&self, inputs: &[Vec<BigInt>]) -> Observed {
        let machine = self.machine;
        let mut all = Observed::new(self.nodes.len());
        let mut simulation = Simulation::new(machine, LookupMiss::Zero);
        for row in inputs {
            let mut rest = row.as_slice();
            for port in machine.inputs() {
                let (own, more) = rest.split_at(machine.signal(port).elements.len());
                simulation.apply(port, own);
                rest = more;
            }
            simulation.settle().expect("a missed lookup reads zero");
            for id in machine.signal_ids() {
                let own =
                    matches!(machine.signal(id).kind, SignalKind::Input | SignalKind::Register | SignalKind::Wire);
                for (cell, boxes) in simulation.values(id).iter().zip(&self.at[id.index()]) {
                    if let (true, true, [node]) = (own, cell.defined, boxes.as_slice()) {
                        all.note(*node as usize, &self.nodes[*node as usize], &cell.code);
                    }
                }
            }
            for (block, first) in machine.blocks().iter().zip(&self.blocks) {
                let cells = block.input.map_or(&[] as &[_], |input| simulation.values(input));
                // Values that depend on an undefined value are not recorded.
                let (Some(first), true) = (first, cells.iter().all(|cell| cell.defined)) else { continue };
                let codes: Vec<BigInt> = cells.iter().map(|cell| cell.code.clone()).collect();
                run(&block.model, &codes, |id, code| {
                    let node = *first as usize + id.index();
                    all.note(node, &self.nodes[node], code);
                });
            }
            all.samples += 1;
            simulation.clock();
        }
        all
    }
}

impl Drawing {
    /// Returns the drawing of a state machine; `rtl` is its Verilog source. `inputs` are raw integer values of all
    /// input elements in each cycle from power-on; empty if no values are shown.
    pub fn from_machine(machine: &Machine, rtl: &str, inputs: &[Vec<BigInt>]) -> Drawing {
        let mut draft = Draft {
            machine,
            declared: Declarations::new(rtl),
            nodes: Vec::new(),
            at: machine.signals().iter().map(|signal| vec![Vec::new(); signal.elements.len()]).collect(),
            blocks: vec![None; machine.blocks().len()],
        };
        let timed = machine.blocks().iter().any(|block| block.model.has_delays());
        let delay: &dyn Delay = if timed { &LatencyFields } else { &ByWidth };
        draft.first();
        for step in machine.order() {
            match *step {
                Settle::Connection(c) => draft.connect(&machine.connections()[c]),
                Settle::Block(id) => draft.block(id, delay),
            }
        }
        draft.registers();
        let (columns, paths) = draft.columns();
        let observed = (!inputs.is_empty()).then(|| draft.observe(inputs));
        let outputs = machine.outputs().flat_map(|id| {
            let boxes = draft.at[id.index()].iter().enumerate();
            boxes.map(move |(at, boxes)| (element(machine, id, at), boxes.first().copied()))
        });
        let outputs = outputs.collect();
        Drawing {
            columns,
            has_registers: true,
            has_loops: true,
            unit: if timed { "latency units" } else { "LUT levels" },
            layers: Vec::new(),
            origin: "inputs and registers",
            paths,
            times: None,
            outputs,
            observed,
            nodes: draft.nodes,
        }
    }
}
