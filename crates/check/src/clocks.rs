//! RTL files with an initiation interval above one, simulated cycle by cycle over gates.
//!
//! A sample is accepted in the first simulated cycle. The initial state is the state after reset (or at power-on if
//! the file has no reset), where each bit that differs one interval later is unknown; bits of counters remain known.
//! One interval later each known bit has the same value again, so by induction this state occurs at every sample, and
//! a proof for the first sample is a proof for each sample.

use crate::graph::{Graph, Lit};
use crate::text::{Built, Open, Process, Reader, Result, Role, Text};
use crate::words::choose;
use crate::{ValueCallback, ensure};

/// Timing of samples: initiation interval, latency and timing of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTiming {
    /// Initiation interval: clock cycles from one sample to the next, at least 2.
    pub interval: usize,
    /// Clock edges from inputs to outputs.
    pub latency: usize,
    /// Cycles in which the inputs are valid.
    pub input_timing: InputTiming,
}

/// Cycles in which the inputs of a sample are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputTiming {
    /// Only in the cycle in which the sample is accepted.
    Once,
    /// Stable for a whole interval.
    Held,
    /// In beats over one port: for each element with bits, the index of its beat and its lowest bit within the beat.
    Beats(Vec<(usize, usize)>),
}

/// Values of the input nets in one cycle: index of the net, and its bits.
pub(crate) type Given = Vec<(usize, Vec<Lit>)>;

impl SampleTiming {
    /// Returns the values of the port in each beat; bits that belong to no element are unknown. `port` is the index of
    /// its net and its width.
    ///
    /// # Errors
    /// If elements overlap or exceed the port, or if there are more beats than cycles in an interval.
    pub(crate) fn in_beats(
        &self,
        beats: &[(usize, usize)],
        inputs: &[Vec<Lit>],
        port: (usize, usize),
    ) -> Result<Vec<Given>> {
        let elements: Vec<&Vec<Lit>> = inputs.iter().filter(|bits| !bits.is_empty()).collect();
        let count = beats.iter().map(|beat| beat.0.saturating_add(1)).max().unwrap_or(0);
        ensure(elements.len() == beats.len() && (1..=self.interval).contains(&count), "invalid beats of inputs")?;
        let mut given = vec![vec![(port.0, vec![Lit::UNKNOWN; port.1])]; count];
        for (bits, &(beat, low)) in elements.into_iter().zip(beats) {
            let place = given[beat][0].1.get_mut(low..low.saturating_add(bits.len()));
            let place = place.filter(|place| place.iter().all(|bit| !bit.is_known()));
            place
                .ok_or("an input has bits in a beat that do not exist, or that another input has")?
                .copy_from_slice(bits);
        }
        Ok(given)
    }
}

/// Largest initiation interval and latency of a sample timing, in clock cycles.
pub const MOST_CLOCKS: usize = 1 << 16;

/// An RTL file after parsing, to be evaluated again at each cycle.
#[derive(Default)]
pub(crate) struct Clocks {
    /// `true` during the first evaluation, in which `reads` collects the nets that the current statement reads.
    pub(crate) is_first: bool,
    pub(crate) reads: Vec<usize>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) processes: Vec<Process>,
    /// `true` for a state machine, whose conditions may be any nets.
    pub(crate) is_machine: bool,
    /// Number of changes of nets so far.
    now: u64,
}

/// Driver of a net, or of some bits of a net.
pub(crate) struct Statement {
    /// Index of the scope in which names of the driver are resolved; `at` is the token index of its value.
    pub(crate) scope: usize,
    pub(crate) at: usize,
    /// Driven net, and its lowest driven bit.
    pub(crate) net: usize,
    pub(crate) low: usize,
    pub(crate) reads: Vec<usize>,
    /// Value of [`Clocks::now`] at the last evaluation.
    pub(crate) done: u64,
}

/// Values of the inputs in each cycle in which inputs are valid, and the nets of the one-bit outputs.
pub(crate) type Ports<'p> = (&'p [Given], &'p [usize]);

impl<'a> Reader<'_, 'a> {
    fn clocks(&mut self) -> &mut Clocks {
        self.clocks.as_mut().expect("clocks are simulated")
    }

    /// Sets the bits of a net from bit `low` on. Returns `true` if a bit changed.
    fn put(&mut self, net: usize, low: usize, bits: &[Lit]) -> bool {
        let old = &mut self.nets[net].bits[low..low + bits.len()];
        let is_changed = old != bits;
        if is_changed {
            old.copy_from_slice(bits);
            self.clocks().now += 1;
            self.nets[net].changed = self.clocks().now;
        }
        is_changed
    }

    /// Sets every bit of a net to `bit`.
    fn put_all(&mut self, net: usize, bit: Lit) {
        let bits = vec![bit; self.nets[net].bits.len()];
        self.put(net, 0, &bits);
    }

    /// Evaluates the statements that read a changed net.
    fn settle(&mut self, g: &mut Graph, on_value: ValueCallback<'_>) -> Result<()> {
        for i in 0..self.clocks().statements.len() {
            let Statement { scope, at, net, low, done, .. } = self.clocks().statements[i];
            let clocks = self.clocks.as_ref().expect("clocks are simulated");
            if !clocks.statements[i].reads.iter().any(|&read| self.nets[read].changed > done) {
                continue;
            }
            (self.scope, self.at) = (scope, at);
            self.clocks().statements[i].done = self.clocks().now;
            let value = self.source(g)?;
            if self.put(net, low, &value.bits) && value.bits.iter().any(|bit| bit.node() > Lit::UNKNOWN.node()) {
                self.seen.count += 1;
                on_value(g, self.seen.count - 1, Some(&value.bits))?;
            }
        }
        Ok(())
    }

    /// Returns the condition under which a process loads its values.
    fn load_condition(&self, process: &Process) -> Lit {
        process.enable.map_or(Lit::TRUE, |(net, is_high)| self.nets[net].bits[0].flipped(!is_high))
    }

    /// Simulates a clock edge: all registers load their next values simultaneously.
    fn edge(&mut self, g: &mut Graph) -> Result<()> {
        let processes = std::mem::take(&mut self.clocks().processes);
        let mut taken = Vec::new();
        let is_machine = self.clocks().is_machine;
        for process in &processes {
            let loads = g.root(self.load_condition(process));
            let reset = process.reset.as_ref().filter(|_| is_machine);
            for &(net, at, _) in process.next.iter().filter(|_| loads != Lit::FALSE || reset.is_some()) {
                (self.scope, self.at) = (process.scope, at);
                let value = self.source(g)?;
                let mut bits = choose(g, loads, &value.bits, &self.nets[net].bits);
                if let Some((condition, level, values)) = reset {
                    let select = self.nets[*condition].bits[0].flipped(!level.0);
                    let cleared = values.iter().find(|value| value.0 == net).ok_or("a register without its reset")?;
                    bits = choose(g, select, &cleared.2.bits, &bits);
                }
                taken.push((net, bits));
            }
        }
        self.clocks().processes = processes;
        taken.into_iter().for_each(|(net, bits)| _ = self.put(net, 0, &bits));
        Ok(())
    }

    /// Classifies the one-bit inputs that are neither clock nor reset. If no register loads a value while an input is
    /// 0, the input is the enable; any other input is the valid flag. Returns the net of the valid flag, or `None`.
    fn valid_flag(&mut self, g: &mut Graph) -> Result<Option<usize>> {
        let taken: Vec<&str> = self.seen.roles.values().map(|role| role.0).collect();
        let others = (0..self.nets.len()).filter(|&net| self.nets[net].is_control);
        let others: Vec<usize> = others.filter(|&net| !taken.contains(&self.nets[net].name)).collect();
        let mut flag = None;
        for net in others {
            self.put_all(net, Lit::FALSE);
            self.settle(g, &mut |_, _, _| Ok(()))?;
            let clocks = self.clocks.as_ref().expect("clocks are simulated");
            if clocks.processes.iter().all(|process| self.load_condition(process) == Lit::FALSE) {
                self.role(Role::Enable, net, (true, false))?;
                self.put_all(net, Lit::TRUE);
            } else {
                self.role(Role::Valid, net, (true, false))?;
                self.put_all(net, Lit::UNKNOWN);
                flag = Some(net);
            }
        }
        Ok(flag)
    }

    /// Evaluates the whole file for the first time, and records its statements and processes.
    fn read_once(&mut self, g: &mut Graph, is_machine: bool) -> Result<()> {
        self.clocks = Some(Clocks { is_first: true, is_machine, now: 1, ..Clocks::default() });
        self.body(g, &mut |_, _, _| Ok(()))?;
        self.clocks().is_first = false;
        self.seen.count = 0;
        let is_open = self.nets.iter().any(|net| net.open > 0 && (net.is_ahead || net.is_output));
        self.sure(!is_open, "a signal or an output without a driver")
    }

    /// Returns the values of all registers when the reset ends, or at power-on if the file has no reset.
    fn initial_state(&self) -> Given {
        let has_reset = self.seen.roles.contains_key(&Role::Reset);
        let mut state = Vec::new();
        for process in &self.clocks.as_ref().expect("clocks are simulated").processes {
            for (net, ..) in &process.next {
                let cleared = process.reset.iter().flat_map(|reset| &reset.2).find(|value| value.0 == *net);
                let register = &self.nets[*net];
                let first = register.first.as_ref().filter(|first| !has_reset && first.len() == register.bits.len());
                let first = first.map(|first| first.iter().map(|&bit| Lit::constant(bit)).collect());
                let bits = cleared.map(|value| value.2.bits.clone()).or(first);
                state.push((*net, bits.unwrap_or_else(|| vec![Lit::UNKNOWN; register.bits.len()])));
            }
        }
        state
    }

    /// Builds the gates of an RTL file with an initiation interval above one.
    ///
    /// # Errors
    /// Constructs that alir2hdl does not generate; a file that violates the sample timing; errors of `on_value`.
    pub(crate) fn simulate(
        mut self,
        g: &mut Graph,
        (given, single): Ports<'_>,
        outputs: &dyn Fn(&Self) -> Vec<Vec<Lit>>,
        sample_timing: &SampleTiming,
        on_value: ValueCallback<'_>,
    ) -> Result<Built> {
        let &SampleTiming { interval, latency, ref input_timing } = sample_timing;
        let no_callback: ValueCallback<'_> = &mut |_, _, _| Ok(());
        self.read_once(g, false)?;
        let flag = self.valid_flag(g)?;
        let mut state = self.initial_state();
        state.iter().for_each(|(net, bits)| _ = self.put(*net, 0, bits));
        self.settle(g, no_callback)?;
        let ready: Vec<usize> = single.iter().copied().filter(|&net| self.nets[net].bits[0] == Lit::TRUE).collect();
        let &[ready] = &ready[..] else {
            return self.wrong("none or several of the outputs report that a sample is accepted in the first cycle");
        };
        let shown: Vec<usize> = single.iter().copied().filter(|&net| net != ready).collect();
        self.sure(
            shown.len() == usize::from(flag.is_some()),
            "the valid flag of the inputs or of the outputs is missing",
        )?;
        // An unknown input reaches every register that depends on it within the latency.
        for _ in 0..latency / interval + 2 {
            for _ in 0..interval {
                self.settle(g, no_callback)?;
                self.edge(g)?;
            }
            let before = state.clone();
            for (net, bits) in &mut state {
                for (bit, later) in bits.iter_mut().zip(&self.nets[*net].bits) {
                    *bit = if bit == later { *bit } else { Lit::UNKNOWN };
                }
            }
            state.iter().for_each(|(net, bits)| _ = self.put(*net, 0, bits));
            if state == before {
                break;
            }
        }
        let valid = flag.map(|_| g.input());
        let (mut results, mut flags) = (Vec::new(), None);
        for clock in 0..(latency + interval).max(interval + 1) {
            for (net, bits) in given.get(clock).unwrap_or(&given[0]) {
                if clock < given.len() { _ = self.put(*net, 0, bits) } else { self.put_all(*net, Lit::UNKNOWN) }
            }
            if let Some(net) = flag {
                self.put_all(net, valid.filter(|_| clock == 0).unwrap_or(Lit::UNKNOWN));
            }
            let is_known = |(net, bits): &(usize, Vec<Lit>)| {
                bits.iter().zip(&self.nets[*net].bits).all(|(bit, later)| !bit.is_known() || bit == later)
            };
            self.sure(clock != interval || state.iter().all(is_known), "the state differs one interval later")?;
            self.settle(g, on_value)?;
            let is_ready = self.nets[ready].bits[0] == Lit::constant(clock % interval == 0);
            self.sure(is_ready, "samples are accepted at another interval")?;
            let flag_there = shown.first().map(|&net| self.nets[net].bits[0]);
            if clock == latency {
                results = outputs(&self);
                flags = valid.zip(flag_there);
            } else if (latency..latency + interval).contains(&clock) {
                let stays = outputs(&self) == results && flag_there.is_none_or(|flag| flag == Lit::FALSE);
                self.sure(stays, "outputs are not stable for an interval, or the valid flag is")?;
            }
            self.edge(g)?;
        }
        let stays = match input_timing {
            InputTiming::Once => String::new(),
            InputTiming::Held => " that stays on its ports".to_owned(),
            InputTiming::Beats(beats) => {
                let places = beats.iter().map(|(beat, low)| format!("{beat}:{low}"));
                format!(" whose inputs come in {} beats ({})", given.len(), places.collect::<Vec<_>>().join(" "))
            }
        };
        let clocks = format!("a sample every {interval} clocks{stays}, after {latency} clocks");
        Ok(Built { outputs: results, flags, statement: self.statement(clocks, " since power-on") })
    }
}

/// Evaluation of a state machine's RTL file, one clock cycle at a time, from any state.
pub(crate) struct Running<'t, 'a> {
    reader: Reader<'t, 'a>,
    ports: Open,
    /// Indices of the nets that are registers.
    registers: Vec<usize>,
}

/// A register of an RTL file: its name, its width in bits, and its power-on value.
pub type Register<'a> = (&'a str, usize, Option<Vec<bool>>);

impl<'a> Text<'a> {
    /// Prepares the RTL file of a state machine for evaluation cycle by cycle.
    ///
    /// # Errors
    /// Constructs that alir2hdl does not generate.
    pub(crate) fn run(&self, g: &mut Graph) -> Result<Running<'_, 'a>> {
        let (mut reader, ports) = self.open()?;
        reader.read_once(g, true)?;
        ensure(ports.single.is_empty(), "an output of a state machine that is not a vector")?;
        let processes = &reader.clocks.as_ref().expect("clocks are simulated").processes;
        let registers = processes.iter().flat_map(|process| process.next.iter().map(|next| next.0)).collect();
        Ok(Running { reader, ports, registers })
    }

    /// Returns the registers of the RTL file of a state machine.
    ///
    /// # Errors
    /// Constructs that alir2hdl does not generate.
    pub fn registers(&self) -> Result<Vec<Register<'a>>> {
        Ok(self.run(&mut Graph::new())?.registers())
    }
}

impl<'a> Running<'_, 'a> {
    /// Returns the registers in the order in which [`Running::clock`] expects their values.
    pub(crate) fn registers(&self) -> Vec<Register<'a>> {
        let nets = self.registers.iter().map(|&net| &self.reader.nets[net]);
        nets.map(|net| (net.name, net.bits.len(), net.first.clone().filter(|first| first.len() == net.bits.len())))
            .collect()
    }

    /// Returns the input or output ports with these names and widths. A port without a match by name is matched by its
    /// width if exactly one unmatched port has this width; such matches are appended to `port_matches`.
    ///
    /// # Errors
    /// If a port has no match.
    pub(crate) fn ports(
        &self,
        is_input: bool,
        wanted: &[(String, usize)],
        port_matches: &mut String,
    ) -> Result<Vec<usize>> {
        let own = if is_input { &self.ports.into } else { &self.ports.out };
        let plain = |name: &str| name.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "");
        let (mut found, mut rest) = (vec![None; wanted.len()], own.clone());
        let name = |net: usize| self.reader.nets[net].name;
        for pass in 0..3 {
            let open: Vec<usize> = (0..wanted.len()).filter(|&at| found[at].is_none()).collect();
            for &at in &open {
                let (wanted_name, width) = &wanted[at];
                let fits = |&net: &usize| match pass {
                    0 => name(net) == wanted_name,
                    1 => plain(name(net)) == plain(wanted_name),
                    _ => true,
                };
                let fitting: Vec<usize> = rest
                    .iter()
                    .copied()
                    .filter(|&net| self.reader.nets[net].bits.len() == *width)
                    .filter(fits)
                    .collect();
                let is_alone = pass < 2 || open.iter().filter(|&&other| wanted[other].1 == *width).count() == 1;
                if let (&[net], true) = (&fitting[..], is_alone) {
                    found[at] = Some(net);
                    rest.retain(|other| *other != net);
                    if pass == 2 {
                        *port_matches += &format!(", with port {} for {wanted_name:?}", name(net));
                    }
                }
            }
        }
        let found: Option<Vec<usize>> = found.into_iter().collect();
        found
            .filter(|_| rest.is_empty())
            .ok_or_else(|| "the ports of the RTL file do not match those of the machine".into())
    }

    /// Evaluates one cycle from these inputs (by their nets) and register values; returns the output bits and the next
    /// register values.
    ///
    /// # Errors
    /// Errors of `on_value`.
    pub(crate) fn clock(
        &mut self,
        g: &mut Graph,
        inputs: &[(usize, Vec<Lit>)],
        state: &[Lit],
        outputs: &[usize],
        on_value: ValueCallback<'_>,
    ) -> Result<(Vec<Vec<Lit>>, Vec<Lit>)> {
        let reader = &mut self.reader;
        inputs.iter().for_each(|(net, bits)| _ = reader.put(*net, 0, bits));
        let mut rest = state;
        for &net in &self.registers {
            let (own, others) = rest.split_at(reader.nets[net].bits.len());
            (rest, _) = (others, reader.put(net, 0, own));
        }
        reader.settle(g, on_value)?;
        let shown = outputs.iter().map(|&net| reader.nets[net].bits.clone()).collect();
        reader.edge(g)?;
        let next = self.registers.iter().flat_map(|&net| self.reader.nets[net].bits.clone()).collect();
        Ok((shown, next))
    }
}
