//! Certificates of state machines for `alir2hdl-check`.

use super::{Correspondence, CounterexampleTrace, RegisterBit, flow};
use crate::certify::{self, Recorded, SideProgram};
use alir_core::ir::machine::Machine;
use alir_formats::{self, Target};
use alir2hdl_check::induction::Induction;
use alir2hdl_check::machine::Machine as Read;
use alir2hdl_check::program::Program;
use alir2hdl_check::text::Text;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of rounds in which bits without a recordable proof are removed from their classes.
const ROUNDS: usize = 16;

/// Returns the stages of a machine's optimisation as untrusted intermediate programs, with the contents of their files.
/// A machine that cannot be represented as a program is skipped.
pub fn beside(read: &Read, machines: &[Machine], found: &Correspondence) -> Vec<(SideProgram, Vec<u8>)> {
    let elements = read.elements();
    let mut out: Vec<(SideProgram, Vec<u8>)> = Vec::new();
    for machine in machines {
        let Some((model, feeds)) = flow::unrolled(machine, found.depth > 0) else { continue };
        let number = |(name, element, back): &flow::PastElement| {
            let at = elements.iter().position(|own| (own.0, own.1) == (name.as_str(), *element))?;
            Some(found.depth.checked_sub(*back as usize)? * elements.len() + at)
        };
        let Some(feeds) = feeds.iter().map(number).collect::<Option<Vec<usize>>>() else { continue };
        let mut packed = Vec::new();
        let written =
            alir_formats::prepare(&model, Target::Alir4).ok().map(|prepared| prepared.write_gzip(&mut packed));
        let Some(Ok(())) = written else { continue };
        let Ok(program) = Program::read(&packed) else { continue };
        if out.last().is_none_or(|last| last.1 != packed || last.0.2 != feeds) {
            let name = format!("program_{:02}.json.gz", out.len() + 1);
            out.push(((name, program, feeds), packed));
        }
    }
    out
}

/// Records a certificate from the proved register correspondence. Bits whose equality cannot be recorded are removed
/// from their classes, as outputs may not depend on them, and recording is repeated.
///
/// # Errors
/// Constructs of the RTL that the checker does not support.
pub fn record(
    machine: &Read,
    beside: &[SideProgram],
    text: &Text<'_>,
    found: &Correspondence,
) -> Result<Recorded, String> {
    let mut induction = numbered(machine, text, found)?;
    for _ in 1..ROUNDS {
        let recorded = certify::record_machine(machine, beside, text, &induction)?;
        let open = recorded.claimed.iter().zip(&recorded.shown).filter(|(_, shown)| !**shown);
        let open: FxHashSet<usize> = open.filter_map(|(claimed, _)| *claimed).collect();
        if open.is_empty() {
            return Ok(recorded);
        }
        let mut classes = Vec::new();
        for class in std::mem::take(&mut induction.classes) {
            let (others, own): (Vec<usize>, Vec<usize>) = class.into_iter().partition(|bit| open.contains(bit));
            // The removed bits may still be equal to each other; the first bit of their new class must not be
            // complemented.
            let flip = others.first().map_or(0, |first| first % 2);
            classes.extend([own, others.into_iter().map(|bit| bit ^ flip).collect()]);
        }
        classes.retain(|class| class.len() > 1);
        classes.sort_unstable();
        induction.classes = classes;
        induction.zeros.retain(|bit| !open.contains(bit));
    }
    certify::record_machine(machine, beside, text, &induction)
}

/// Converts the correspondence to the checker's bit numbers, without the bits that have no unique name.
fn numbered(machine: &Read, text: &Text<'_>, found: &Correspondence) -> Result<Induction, String> {
    let mut numbers: FxHashMap<RegisterBit, Option<usize>> = FxHashMap::default();
    let state = machine.state();
    let own = state.iter().map(|&(name, element, bit)| RegisterBit::Machine(name.to_owned(), element, bit));
    let registers = text.registers()?;
    let of_text = registers
        .iter()
        .flat_map(|&(name, width, _)| (0..width).map(move |bit| RegisterBit::File(name.to_owned(), bit)));
    for (number, bit) in own.chain(of_text).enumerate() {
        numbers.entry(bit).and_modify(|number| *number = None).or_insert(Some(number));
    }
    let sorted = |bits: &[(RegisterBit, bool)]| {
        let number = |(bit, flip): &(RegisterBit, bool)| Some(2 * (*numbers.get(bit)?)? + usize::from(*flip));
        let mut bits: Vec<usize> = bits.iter().filter_map(number).collect();
        bits.sort_unstable();
        bits
    };
    let mut classes: Vec<Vec<usize>> = found.classes.iter().map(|class| sorted(class)).collect();
    classes.retain(|class| class.len() > 1);
    for class in &mut classes {
        let flip = class[0] % 2;
        class.iter_mut().for_each(|bit| *bit ^= flip);
    }
    classes.sort_unstable();
    Ok(Induction { settled: found.settled, depth: found.depth, classes, zeros: sorted(&found.constant) })
}

/// Returns the inputs of a counterexample for all cycles, as bits in the checker's order.
pub fn case(machine: &Machine, read: &Read, c: &CounterexampleTrace) -> Vec<bool> {
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    let mut count = 0;
    for port in machine.inputs() {
        first.insert(&machine.signal(port).name, count);
        count += machine.signal(port).elements.len();
    }
    let mut bits = Vec::new();
    for row in &c.inputs {
        for (name, types) in read.ports(true) {
            let first = first.get(name).copied().unwrap_or(0);
            for (code, kind) in row.iter().skip(first).zip(types) {
                bits.extend((0..kind.width as u64).map(|bit| code.bit(bit)));
            }
        }
    }
    bits
}
