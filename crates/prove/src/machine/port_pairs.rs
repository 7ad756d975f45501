//! Correspondence of the ports of a file and of a machine.

use crate::unroll::clock_of;
use alir_core::diag::counted;
use alir_core::ir::machine::{Machine, SignalId};
use alir_hdl::{self, Rtl};
use rustc_hash::{FxHashMap, FxHashSet};

/// Corresponding ports of file and machine, in both directions.
pub(super) struct PortPairs {
    /// The machine's port for each input of the file.
    pub(super) inputs: FxHashMap<alir_hdl::SignalId, SignalId>,
    /// The file's port for each output of the machine that has bits.
    pub(super) outputs: FxHashMap<SignalId, alir_hdl::SignalId>,
    /// Ports that correspond only by their order: names in the machine and in the file.
    pub(super) by_order: Vec<(String, String)>,
}

/// Returns a name in a normal form for comparison: letters and digits, in lower case.
pub(super) fn key(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the number of bits of a machine's signal.
fn width(machine: &Machine, id: SignalId) -> u32 {
    machine.signal(id).elements.iter().map(|kif| kif.width()).sum()
}

/// Finds the corresponding ports: by name, otherwise by order.
///
/// # Errors
/// If the ports do not correspond.
pub(super) fn find(machine: &Machine, rtl: &Rtl) -> Result<PortPairs, String> {
    let clock = clock_of(rtl)?.map(|(signal, _)| signal);
    let with_bits = |id: &SignalId| width(machine, *id) > 0;
    let wanted: Vec<SignalId> = machine.inputs().filter(with_bits).collect();
    let mut there: Vec<alir_hdl::SignalId> = rtl.inputs.iter().copied().filter(|&s| Some(s) != clock).collect();
    // A file may have a clock port although it has no registers.
    if clock.is_none() && there.len() == wanted.len() + 1 {
        let idle = |s: &alir_hdl::SignalId| matches!(key(&rtl.signal(*s).name).as_str(), "clk" | "clock" | "aclk");
        if let Some(at) = there.iter().position(idle) {
            there.remove(at);
        }
    }
    let inputs = matched(machine, rtl, &wanted, &there, "input")?;
    let wanted: Vec<SignalId> = machine.outputs().filter(with_bits).collect();
    let outputs = matched(machine, rtl, &wanted, &rtl.outputs, "output")?;
    let unlike =
        |&&(id, s): &&(SignalId, alir_hdl::SignalId)| key(&machine.signal(id).name) != key(&rtl.signal(s).name);
    let names =
        |&(id, s): &(SignalId, alir_hdl::SignalId)| (machine.signal(id).name.clone(), rtl.signal(s).name.clone());
    let by_order = inputs.iter().chain(&outputs).filter(unlike).map(names).collect();
    Ok(PortPairs {
        by_order,
        inputs: inputs.into_iter().map(|(machine, file)| (file, machine)).collect(),
        outputs: outputs.into_iter().collect(),
    })
}

fn matched(
    machine: &Machine,
    rtl: &Rtl,
    wanted: &[SignalId],
    there: &[alir_hdl::SignalId],
    what: &str,
) -> Result<Vec<(SignalId, alir_hdl::SignalId)>, String> {
    let list = |names: Vec<(String, u32)>| {
        let names: Vec<String> =
            names.into_iter().map(|(name, width)| format!("{name} ({})", counted(width, "bit"))).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let unfit = || {
        let machine = list(wanted.iter().map(|&id| (machine.signal(id).name.clone(), width(machine, id))).collect());
        let file = list(there.iter().map(|&s| (rtl.signal(s).name.clone(), rtl.signal(s).width)).collect());
        format!("the {what} ports differ: the machine has {machine}; the file has {file}")
    };
    if wanted.len() != there.len() {
        return Err(unfit());
    }
    let exact = |id: SignalId, s: alir_hdl::SignalId| rtl.signal(s).name == machine.signal(id).name;
    let near = |id: SignalId, s: alir_hdl::SignalId| key(&rtl.signal(s).name) == key(&machine.signal(id).name);
    let fits = |id: SignalId, s: alir_hdl::SignalId| rtl.signal(s).width == width(machine, id);
    let mut pairs: Vec<(SignalId, alir_hdl::SignalId)> = Vec::new();
    let (mut done, mut used): (FxHashSet<SignalId>, FxHashSet<alir_hdl::SignalId>) = Default::default();
    for same in [&exact as &dyn Fn(SignalId, alir_hdl::SignalId) -> bool, &near] {
        for &id in wanted {
            let free = |s: &&alir_hdl::SignalId| !used.contains(*s) && same(id, **s) && fits(id, **s);
            if !done.contains(&id)
                && let Some(&s) = there.iter().find(free)
            {
                pairs.push((id, s));
                done.insert(id);
                used.insert(s);
            }
        }
    }
    let rest: Vec<SignalId> = wanted.iter().copied().filter(|id| !done.contains(id)).collect();
    let left: Vec<alir_hdl::SignalId> = there.iter().copied().filter(|s| !used.contains(s)).collect();
    if !rest.iter().zip(&left).all(|(&id, &s)| fits(id, s)) {
        return Err(unfit());
    }
    pairs.extend(rest.into_iter().zip(left));
    Ok(pairs)
}
