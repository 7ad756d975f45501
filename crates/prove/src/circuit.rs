//! A graph with named pins as a design: the netlist that another tool derived from a file. It is proved like a file
//! that our own front end has parsed.
//!
//! The graph has single bits only. Ports are composed from the names `port[7]` of its pins, and so are the signals that
//! the tool exposes in addition to the outputs. A proof can stop at these signals: all downstream logic that reads a
//! gate that drives a bit of such a signal reads the signal instead.

use super::aig::{Aig, Gate, Lit};
use alir_core::diag::{Diagnostic, Place};
use alir_hdl::{Binary, NodeId, Register, Rtl, SignalId};
use rustc_hash::FxHashMap;

/// Port of the module from which the graph was derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitPort {
    /// Name of the port.
    pub name: String,
    /// `true` for an input.
    pub input: bool,
    /// Index of its lowest bit.
    pub lowest: u32,
    /// Number of bits.
    pub width: u32,
}

/// Module information that a graph does not contain.
#[derive(Clone, Debug, Default)]
pub struct CircuitModule {
    /// Name of the module.
    pub name: String,
    /// Ports in order.
    pub ports: Vec<CircuitPort>,
    /// Clock port of all registers, with `true` for the rising edge.
    pub clock: Option<(String, bool)>,
    /// Comments at the start of the file.
    pub head: Vec<String>,
}

/// Returns the names of a pin, each with its bit index. A tool with several names for one bit separates them by spaces.
fn names(pin: &str) -> impl Iterator<Item = (&str, Option<u32>)> {
    pin.split(' ').filter(|name| !name.is_empty()).map(|name| {
        let split = name.strip_suffix(']').and_then(|n| n.rsplit_once('['));
        match split.and_then(|(base, index)| Some((base, index.parse().ok()?))) {
            Some((base, index)) => (base, Some(index)),
            None => (name, None),
        }
    })
}

/// Returns the port and the bit of a pin; `None` if the pin belongs to no port.
fn port_of(places: &FxHashMap<&str, &CircuitPort>, pin: &str) -> Option<(String, u32)> {
    let whole = places.get(pin).filter(|port| port.width == 1);
    if let Some(port) = whole {
        return Some((port.name.clone(), 0));
    }
    names(pin).find_map(|(base, index)| {
        let port = places.get(base)?;
        let bit = index.unwrap_or(port.lowest).checked_sub(port.lowest).filter(|&bit| bit < port.width)?;
        (index.is_some() || port.width == 1).then(|| (port.name.clone(), bit))
    })
}

/// Builds the design of a graph.
///
/// Inputs of the graph that belong to no port are undefined values. Outputs that belong to no port are signals, and
/// words if all their bits exist. `rank` orders them so that each signal comes before its readers; signals without a
/// rank are omitted. The order is a hint: any order is correct, and a good one keeps cones small.
///
/// # Errors
/// `E0909` if bits of a port are missing, or there are registers but no clock.
pub fn rtl(aig: &Aig, module: &CircuitModule, rank: &dyn Fn(&str) -> Option<u64>) -> Result<Rtl, Diagnostic> {
    let fault = |message: String| Diagnostic::error("E0909", Place::Whole, message);
    let mut made =
        Making { aig, rtl: Rtl::new(module.name.clone(), module.head.clone()), values: vec![None; aig.len()] };
    let side = |input: bool| -> FxHashMap<&str, &CircuitPort> {
        module.ports.iter().filter(|p| p.input == input).map(|p| (p.name.as_str(), p)).collect()
    };
    let mut signals: FxHashMap<&str, SignalId> = FxHashMap::default();
    for port in &module.ports {
        let id = made.rtl.add_signal(port.name.clone(), port.width, 0);
        signals.insert(&port.name, id);
        made.rtl.signal_mut(id).input = port.input;
        if port.input { made.rtl.inputs.push(id) } else { made.rtl.outputs.push(id) }
    }
    let inputs = side(true);
    for pin in aig.inputs() {
        let value = match port_of(&inputs, &pin.name) {
            Some((port, bit)) => {
                let word = made.rtl.read(signals[port.as_str()]);
                made.rtl.slice(word, bit, 1)
            }
            None => made.rtl.free(1),
        };
        made.values[pin.lit.node() as usize] = Some(value);
    }
    let clock = match &module.clock {
        Some((name, rising)) => match signals.get(name.as_str()).filter(|id| made.rtl.signal(**id).input) {
            Some(&id) => Some((id, *rising)),
            None => return Err(fault(format!("the clock {name} is not an input of the top module"))),
        },
        None => None,
    };
    let mut registers = Vec::new();
    for (number, latch) in aig.latches().iter().enumerate() {
        let (signal, edge) = match clock {
            Some((signal, rising)) => (signal, rising),
            None => return Err(fault("registers without a clock".into())),
        };
        let name = latch.name.split(' ').next().filter(|n| !n.is_empty());
        let id = made.rtl.add_signal(name.map_or_else(|| format!("register {number}"), str::to_owned), 1, 0);
        made.values[latch.node as usize] = Some(made.rtl.read(id));
        registers.push((id, latch, signal, edge));
    }
    let outputs = side(false);
    let mut bits: FxHashMap<SignalId, Vec<Option<Lit>>> = FxHashMap::default();
    let mut shown: FxHashMap<&str, Vec<(u32, Lit)>> = FxHashMap::default();
    for pin in aig.outputs() {
        match port_of(&outputs, &pin.name) {
            Some((port, bit)) => {
                let id = signals[port.as_str()];
                let width = made.rtl.signal(id).width as usize;
                bits.entry(id).or_insert_with(|| vec![None; width])[bit as usize] = Some(pin.lit);
            }
            None => {
                for (base, index) in names(&pin.name) {
                    shown.entry(base).or_default().push((index.unwrap_or(0), pin.lit));
                }
            }
        }
    }
    let mut order: Vec<(u64, &str, Vec<Lit>)> = Vec::new();
    for (name, mut word) in shown {
        word.sort_unstable();
        let first = word[0].0;
        let whole = word.iter().enumerate().all(|(i, (at, _))| *at == first + i as u32);
        if let Some(rank) = rank(name).filter(|_| whole) {
            order.push((rank, name, word.into_iter().map(|(_, lit)| lit).collect()));
        }
    }
    order.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    for (_, name, word) in order {
        let id = made.rtl.add_signal(name.to_owned(), word.len() as u32, 0);
        made.drive(id, &word);
        // From here on the bits are read through the signal.
        for (bit, lit) in word.iter().enumerate().filter(|(_, lit)| lit.as_const().is_none()) {
            let read = made.rtl.read(id);
            let seen = made.rtl.slice(read, bit as u32, 1);
            let value = if lit.is_negated() { made.rtl.not(seen) } else { seen };
            made.values[lit.node() as usize] = Some(value);
        }
    }
    for id in made.rtl.outputs.clone() {
        let name = made.rtl.signal(id).name.clone();
        let word: Option<Vec<Lit>> = bits.remove(&id).and_then(|bits| bits.into_iter().collect());
        let word = word.ok_or_else(|| fault(format!("the graph lacks bits of the output {name}")))?;
        made.drive(id, &word);
    }
    for (id, latch, clock, rising) in registers {
        let next = made.value(latch.next.unwrap_or(Lit::new(latch.node, false)));
        let init = latch.init.map(|value| made.rtl.number(u64::from(value), 1));
        let signal = made.rtl.signal_mut(id);
        signal.registers.push(Register { lo: 0, next, clock, rising, resets: Vec::new() });
        signal.init = init;
    }
    Ok(made.rtl)
}

struct Making<'a> {
    aig: &'a Aig,
    rtl: Rtl,
    /// For each node of the graph: the expression through which it is read.
    values: Vec<Option<NodeId>>,
}

impl Making<'_> {
    fn drive(&mut self, id: SignalId, word: &[Lit]) {
        let bits: Vec<NodeId> = word.iter().map(|&lit| self.value(lit)).collect();
        let value = self.rtl.concat(&bits);
        if !bits.is_empty() {
            self.rtl.signal_mut(id).wires.push((0, value));
        }
    }

    fn known(&mut self, lit: Lit) -> Option<NodeId> {
        if let Some(value) = lit.as_const() {
            return Some(self.rtl.number(u64::from(value), 1));
        }
        let value = self.values[lit.node() as usize]?;
        Some(if lit.is_negated() { self.rtl.not(value) } else { value })
    }

    /// Returns the value of a literal; builds its operands first, with an explicit stack.
    fn value(&mut self, lit: Lit) -> NodeId {
        let mut stack = vec![lit.node()];
        while let Some(&node) = stack.last() {
            if node == 0 || self.values[node as usize].is_some() {
                stack.pop();
                continue;
            }
            let Gate::And(a, b) = self.aig.gate(node) else {
                self.values[node as usize] = Some(self.rtl.free(1));
                continue;
            };
            match (self.known(a), self.known(b)) {
                (Some(a), Some(b)) => self.values[node as usize] = Some(self.rtl.binary(Binary::And, a, b)),
                _ => stack.extend([a, b].iter().map(|l| l.node())),
            }
        }
        match self.known(lit) {
            Some(value) => value,
            None => self.rtl.free(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equiv::{Request, Verdict, prove};
    use crate::sat::Embedded;

    fn ports(model: &alir_core::ir::Model) -> Vec<CircuitPort> {
        let port = |name: &str, input, width| CircuitPort { name: name.into(), input, lowest: 0, width };
        let out = (0..model.outputs().len()).map(|j| model.output_kif(j).width()).sum();
        vec![
            port("clk", true, 1),
            port("model_inp", true, model.input_kifs().iter().map(|k| k.width()).sum()),
            port("model_out", false, out),
        ]
    }

    #[test]
    fn a_models_own_graph_is_the_model_and_a_changed_one_is_not() {
        for seed in 0..20 {
            let model = alir_testing::random::Recipe::seeded(alir_testing::random::Profile::TINY, 12, seed).build();
            let latency = (seed % 3) as u32;
            let graph = crate::equiv::model_graph(&model, latency);
            let clock = (latency > 0).then(|| ("clk".to_owned(), true));
            let module = CircuitModule { name: "m".into(), ports: ports(&model), clock, head: Vec::new() };
            if module.ports.iter().any(|p| p.width == 0) {
                continue;
            }
            let verdict_of = |graph: &Aig, latency| {
                let rtl = rtl(graph, &module, &|_| None).unwrap();
                let request = Request { latency: Some(latency), gates_only: true, ..Request::default() };
                prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict
            };
            assert_eq!(verdict_of(&graph, latency), Verdict::Proved, "seed {seed}");
            let mut changed = Aig::new();
            let outputs = graph.outputs().len();
            copy(&graph, &mut changed, seed as usize % outputs);
            assert!(matches!(verdict_of(&changed, latency), Verdict::Differs { .. }), "seed {seed}");
        }
    }

    /// Copies a graph with one output negated.
    fn copy(from: &Aig, to: &mut Aig, negated: usize) {
        let mut lits: Vec<Lit> = Vec::new();
        let of = |lits: &[Lit], l: Lit| lits[l.node() as usize].xor(l.is_negated());
        for node in 0..from.len() as u32 {
            let lit = match from.gate(node) {
                Gate::False => Lit::FALSE,
                Gate::Input(n) => to.input(from.inputs()[n as usize].name.clone()),
                Gate::Latch(n) => to.latch(from.latches()[n as usize].name.clone(), Some(false)),
                Gate::And(a, b) => {
                    let (a, b) = (of(&lits, a), of(&lits, b));
                    to.and(a, b)
                }
            };
            lits.push(lit);
        }
        for (n, latch) in from.latches().iter().enumerate() {
            to.set_next(n, of(&lits, latch.next.unwrap()));
        }
        for (n, pin) in from.outputs().iter().enumerate() {
            to.output(of(&lits, pin.lit).xor(n == negated), pin.name.clone());
        }
    }

    #[test]
    fn a_graph_without_all_bits_is_refused() {
        let mut graph = Aig::new();
        let x = graph.input("a[0]");
        graph.output(x, "y[1]");
        let port = |name: &str, input| CircuitPort { name: name.into(), input, lowest: 0, width: 2 };
        let module = CircuitModule {
            name: "m".into(),
            ports: vec![port("a", true), port("y", false)],
            ..CircuitModule::default()
        };
        let error = rtl(&graph, &module, &|_| None).unwrap_err();
        assert!(error.code == "E0909" && error.message.contains("output y"), "{error}");
        let q = graph.latch("q", None);
        graph.output(q, "y[0]");
        assert!(rtl(&graph, &module, &|_| None).unwrap_err().message.contains("without a clock"));
    }
}
