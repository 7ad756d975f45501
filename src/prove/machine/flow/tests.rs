//! The programs against the golden simulator, and false statements that must not be proved.

use super::super::file::File;
use super::super::search::{self, Simulated};
use super::super::{Pair, Verdict, guarded, ports};
use super::program::{Asked, Shape, program};
use super::*;
use crate::interp::machine::Simulation;
use crate::interp::{LookupMiss, golden};
use crate::netlist::{Slack, lower_machine, retime};
use crate::passes;
use crate::prove::rtl::Rtl;
use crate::prove::sat::Embedded;
use crate::prove::text::{Language, read};
use crate::random::SplitMix;
use crate::random::machine::{MachineRecipe, stimulus};
use num_bigint::BigInt;

fn machine(seed: u64) -> Machine {
    MachineRecipe::seeded(4 + seed as usize % 12, seed).build()
}

/// The text of a machine with its registers moved, and whether any were.
fn moved(machine: &Machine, seed: u64) -> (String, bool) {
    let optimise = |model: &crate::ir::Model| passes::run(model, passes::pipeline((seed % 3) as u8)).0;
    let slack = if seed.is_multiple_of(2) { Slack::Registers } else { Slack::Delay };
    let retimed = retime(&machine.clone().with_blocks(optimise), slack, &optimise);
    let netlist = lower_machine(&retimed.machine, "machine");
    let text = crate::emit::text(&netlist, crate::emit::Language::Verilog, &crate::emit::Options::default());
    (text, retimed.pipelines.iter().any(|p| p.moved))
}

fn engine() -> Engine {
    Engine::new(Box::new(Embedded))
}

fn blank() -> Report {
    Report {
        verdict: Verdict::Proved,
        registers: Vec::new(),
        register_bits: 0,
        register_bits_in_machine: 0,
        operations_matched: 0,
        rounds: 0,
        bits: crate::prove::engine::Counts::default(),
        gates: 0,
        notes: Vec::new(),
    }
}

/// What stays open of a statement, whatever correspondence is proposed; `None` if it is proved.
fn open(machine: &Machine, rtl: &Rtl, partition: impl Fn(&Pair<'_>) -> Option<Partition>) -> Option<String> {
    let (ports, file) = match (ports::find(machine, rtl), File::new(rtl)) {
        (Ok(ports), Ok(file)) => (ports, file),
        _ => return Some("no ports".into()),
    };
    let pair = Pair { machine, file: &file, ports: &ports };
    let Some(partition) = partition(&pair) else { return Some("no correspondence".into()) };
    let pipes = pipes(&pair, &partition);
    prove(&pair, &partition, &pipes, &mut blank(), &mut engine(), &engine).err().map(|open| open.reason)
}

/// Whether the proof that goes by which registers are defined leaves anything open.
fn guarded_open(machine: &Machine, rtl: &Rtl) -> bool {
    let (Ok(ports), Ok(file)) = (ports::find(machine, rtl), File::new(rtl)) else { return true };
    let pair = Pair { machine, file: &file, ports: &ports };
    !matches!(guarded::prove(&pair, &mut blank(), &mut engine(), &engine), Ok(None))
}

/// What the simulator proposes; nothing where it sees a difference.
fn simulated(machine: &Machine, rtl: &Rtl) -> Option<Partition> {
    let (ports, file) = (ports::find(machine, rtl).ok()?, File::new(rtl).ok()?);
    match search::simulate(&Pair { machine, file: &file, ports: &ports }, &mut engine()) {
        Ok(Simulated::Classes(partition)) => Some(partition),
        _ => None,
    }
}

#[test]
fn programs_of_pipelines_agree_with_the_golden_simulator() {
    let (mut compared, mut early) = (0, 0);
    for seed in 0..150 {
        let machine = machine(seed);
        let (text, _) = moved(&machine, 0);
        let rtl = read(Language::Verilog, &text, None).unwrap();
        let (ports, file) = (ports::find(&machine, &rtl).unwrap(), File::new(&rtl).unwrap());
        let pair = Pair { machine: &machine, file: &file, ports: &ports };
        let partition = Partition::new(Core::new(&pair).bits());
        let always = |p: &Pipes| p.control.reset.is_none() && p.control.enable.is_none();
        let Some(pipes) = pipes(&pair, &partition).into_iter().find(always) else { continue };
        let mut asked: Vec<Asked> = Vec::new();
        for port in machine.outputs() {
            asked.extend((0..machine.signal(port).elements.len()).map(|k| Asked::Output(port, k)));
        }
        for id in model::registers(&machine).filter(|id| !pipes.piped[id.index()]) {
            for (element, kif) in machine.signal(id).elements.iter().enumerate().filter(|(_, kif)| !kif.is_zero()) {
                asked.push(Asked::Next { register: id, element, lo: 0, width: kif.width() });
            }
        }
        // Signals in every cycle, then what the programs make of those before.
        let mut rng = SplitMix::new(seed);
        let mut sim = Simulation::new(&machine, LookupMiss::Zero);
        let mut history: Vec<Vec<Vec<crate::interp::machine::Cell>>> = Vec::new();
        for _ in 0..pipes.depth + 6 {
            for port in machine.inputs() {
                let codes = stimulus(&machine, port, &mut rng);
                sim.apply(port, &codes);
            }
            sim.settle().unwrap();
            history.push(machine.signal_ids().map(|id| sim.values(id).to_vec()).collect());
            sim.clock();
        }
        for now in 0..history.len() - 1 {
            let loads = if (now as u32) < pipes.depth { now as u32 } else { u32::MAX };
            let case = Case { start: Start::PowerOn, loads };
            for question in &asked {
                let asked = std::slice::from_ref(question);
                let Ok(made) = program(&machine, &pipes.piped, case, &|_, _| Shape::Whole, asked) else { continue };
                let expected = match question {
                    Asked::Output(port, k) => &history[now][port.index()][*k],
                    Asked::Next { register, element, .. } => &history[now + 1][register.index()][*element],
                    _ => unreachable!("only these are asked"),
                };
                let leaf = |f: &program::Feed| &history[now - f.back as usize][f.signal.index()][f.element];
                if !made.defined[0] {
                    assert!(!expected.defined, "seed {seed}, cycle {now}: {question:?}");
                    continue;
                }
                if !expected.defined || made.feeds.iter().any(|f| !leaf(f).defined) {
                    continue;
                }
                let inputs: Vec<BigInt> = made.feeds.iter().map(|f| leaf(f).code.clone()).collect();
                let found = golden(&made.model, &inputs, LookupMiss::Zero).unwrap();
                assert_eq!(found[0], expected.code, "seed {seed}, cycle {now}: {question:?}");
                compared += 1;
                early += usize::from(loads < u32::MAX);
            }
        }
    }
    eprintln!("{compared} values, {early} of the first cycles");
    assert!(compared >= 1_000 && early >= 100, "{compared} values, {early} of the first cycles");
}

/// What a line of the text makes a register load, if it does.
fn loads(line: &str) -> Option<(&str, &str)> {
    let (register, value) = line.trim().strip_suffix(';')?.split_once(" <= ")?;
    (!value.contains(['<', '\''])).then_some((register, value))
}

/// The text with one small change: in a register's place one more on the way or another's value; or an operator, a digit, an index.
fn changed(text: &str, registers: bool, rng: &mut SplitMix) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let fits =
        |l: &str| if registers { loads(l).is_some() } else { l.contains('=') && !l.trim_start().starts_with("//") };
    let places: Vec<usize> = (0..lines.len()).filter(|&i| fits(lines[i])).collect();
    let at = *places.get(rng.below(places.len().max(1) as u64) as usize)?;
    let line = lines[at];
    let mut changed: Vec<String> = lines.iter().map(|&l| l.to_owned()).collect();
    if registers {
        let (register, value) = loads(line)?;
        let named = |l: &str| l.trim_start().starts_with("reg") && l.contains(&format!(" {register};"));
        let declared = lines.iter().position(|l| named(l))?;
        let others: Vec<&str> = places.iter().filter_map(|&i| loads(lines[i])).map(|(_, v)| v).collect();
        let other = others[rng.below(others.len() as u64) as usize];
        if other == value || rng.below(2) == 0 {
            changed[declared] = format!("{}\n{}", lines[declared], lines[declared].replace(register, "one_more"));
            changed[at] = format!("one_more <= {value};\n{register} <= one_more;");
        } else {
            changed[at] = format!("{register} <= {other};");
        }
        return Some(changed.join("\n"));
    }
    let from = line.find('=')?;
    let bytes = line.as_bytes();
    let spots: Vec<usize> = (from..line.len()).filter(|&i| b"+-01234[&|^".contains(&bytes[i])).collect();
    let spot = *spots.get(rng.below(spots.len().max(1) as u64) as usize)?;
    let mut bytes = bytes.to_vec();
    bytes[spot] = match bytes[spot] {
        b'+' => b'-',
        b'-' => b'+',
        b'0' => b'1',
        b'1' => b'0',
        b'2' => b'1',
        b'3' => b'2',
        b'4' => b'3',
        b'&' => b'|',
        b'|' => b'^',
        b'^' => b'&',
        _ => return None,
    };
    changed[at] = String::from_utf8(bytes).ok()?;
    Some(changed.join("\n"))
}

#[test]
fn no_false_statement_is_proved() {
    let (mut good, mut guarded, mut bad, mut layouts) = (0, 0, 0, 0);
    for seed in 0..120 {
        let machine = machine(seed);
        let (text, moved) = moved(&machine, seed);
        if !moved {
            continue;
        }
        let rtl = read(Language::Verilog, &text, None).unwrap();
        let Some(partition) = simulated(&machine, &rtl) else { panic!("seed {seed}") };
        guarded += usize::from(!guarded_open(&machine, &rtl));
        good += usize::from(open(&machine, &rtl, |_| Some(partition.clone())).is_none());
        let mut rng = SplitMix::new(seed);
        for registers in [true, false, true, false] {
            let Some(text) = changed(&text, registers, &mut rng) else { continue };
            let Ok(other) = read(Language::Verilog, &text, None) else { continue };
            let bits = |rtl: &Rtl| File::new(rtl).map_or(0, |file| file.bits());
            if simulated(&machine, &other).is_some() || bits(&other) == 0 {
                continue;
            }
            // What the simulator knows to be another machine is not proved with the help of any correspondence.
            let same = bits(&other) == bits(&rtl);
            let one = |pair: &Pair<'_>| Some(Partition::new(Core::new(pair).bits()));
            let found = open(&machine, &other, one);
            assert!(found.is_some(), "seed {seed}\n{text}");
            assert!(guarded_open(&machine, &other), "seed {seed}\n{text}");
            if same {
                assert!(open(&machine, &other, |_| Some(partition.clone())).is_some(), "seed {seed}\n{text}");
            }
            bad += 1;
            layouts += usize::from(!same);
        }
    }
    eprintln!("{good} proved, {guarded} otherwise, {bad} not, {layouts} of them with other registers");
    assert!(
        good >= 20 && guarded >= 35 && bad >= 30 && layouts >= 15,
        "{good} proved, {bad} not, {layouts} with other registers"
    );
}
