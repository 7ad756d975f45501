//! Roles of the ports of an RTL file: data, clock, reset, enable, handshake.

use super::phases::Phases;
use super::unroll::clock_of;
use alir_core::diag::counted;
use alir_core::ir::Model;
use alir_hdl::{Rtl, SignalId};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

/// Names of the control ports; a port without a given name is recognised by the usual names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlNames {
    /// Name of the clock port; required only if no register determines the clock.
    pub clock: Option<String>,
    /// Name of the reset port.
    pub reset: Option<String>,
    /// `Some(true)` for an active-low reset; with `None` the name of the port decides.
    pub reset_low: Option<bool>,
    /// Name of the clock enable port.
    pub enable: Option<String>,
    /// Name of the valid flag of the inputs.
    pub valid_in: Option<String>,
    /// Name of the valid flag of the outputs.
    pub valid_out: Option<String>,
    /// Name of the port that reports when a sample is accepted, in a design with an initiation interval above one.
    pub ready: Option<String>,
}

/// Roles of the ports, and timing of the inputs.
#[derive(Clone)]
pub(super) struct PortRoles {
    /// For each input element of the model: its port and its lowest bit there; `None` for an element without bits.
    pub(super) inputs: Vec<Option<(SignalId, u32)>>,
    /// Like `inputs`, for the output elements of the model.
    pub(super) outputs: Vec<Option<(SignalId, u32)>>,
    pub(super) clock: Option<SignalId>,
    pub(super) reset: Option<SignalId>,
    /// `true` for an active-low reset.
    pub(super) reset_low: bool,
    pub(super) enable: Option<SignalId>,
    /// Valid flags of the inputs and of the outputs.
    pub(super) valid: Option<(SignalId, SignalId)>,
    /// Port that reports when a sample is accepted.
    pub(super) ready: Option<SignalId>,
    /// Phase counters of a design with an initiation interval above one.
    pub(super) phases: Option<Phases>,
    /// For each input element of the model, the number of cycles after the accepting one in which it is on its port;
    /// empty if all are present in the accepting cycle.
    pub(super) beats: Vec<u32>,
    /// Number of cycles in which a sample is stable on its ports, including the accepting one.
    pub(super) hold: u32,
    /// Age of each input, if not all inputs are as old as the latency.
    pub(super) moments: Option<Moments>,
}

/// Ages of the inputs of a comparison, and of the oldest registers. A *moment* is a number of cycles before the
/// outputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    /// Moment of each input element of the model.
    pub(super) back: Vec<u32>,
    /// Number of cycles that registers are followed back.
    pub(super) depth: u32,
    /// Earlier values of registers; a register without an entry may have any value.
    pub(super) before: FxHashMap<SignalId, BigUint>,
}

impl PortRoles {
    /// Returns the moment of a model input (the oldest one, if the input is stable for several cycles). `latency` is
    /// the moment of the accepting cycle.
    pub(super) fn back(&self, input: usize, latency: u32) -> u32 {
        let after = self.beats.get(input).copied().unwrap_or(0);
        self.moments.as_ref().map_or(latency - after, |m| m.back[input])
    }

    /// Returns the model inputs on a port at moment `k`, each with its lowest bit there.
    pub(super) fn on(&self, signal: SignalId, k: u32, latency: u32) -> impl Iterator<Item = (usize, u32)> {
        let places = self.inputs.iter().enumerate();
        places.filter_map(move |(i, place)| {
            let here = self.back(i, latency).checked_sub(k).is_some_and(|since| since < self.hold);
            place.filter(|p| p.0 == signal && here).map(|(_, lo)| (i, lo))
        })
    }

    /// Returns a moment at which model inputs are on a port; `None` if the port is no data port.
    pub(super) fn moment(&self, signal: SignalId, latency: u32) -> Option<u32> {
        let mut places = self.inputs.iter().enumerate();
        places.find_map(|(i, place)| place.filter(|p| p.0 == signal).map(|_| self.back(i, latency)))
    }

    /// Returns the number of cycles that registers are followed back, for a design whose registers form chains of at
    /// most `structure`.
    pub(super) fn depth(&self, latency: u32, structure: u32) -> u32 {
        self.moments.as_ref().map_or(latency.max(structure) + 4, |m| m.depth)
    }

    /// Returns the value of a phase counter register at moment `k`; `None` for other signals.
    pub(super) fn phase(&self, signal: SignalId, k: u32) -> Option<&BigUint> {
        self.phases.as_ref()?.at(signal, k)
    }

    /// Returns the earlier value of bits of a register; `None` if it is unknown.
    pub(super) fn before(&self, signal: SignalId, lo: u32, width: u32) -> Option<BigUint> {
        let whole = self.moments.as_ref()?.before.get(&signal)?;
        Some((whole >> lo) & ((BigUint::from(1u32) << width) - 1u32))
    }
}

/// Returns the latency that the header comment states, as in `latency: 3` (case is ignored). The line with the command
/// is skipped, as it may contain options and file names with these words.
pub(super) fn stated_latency(rtl: &Rtl) -> Option<u32> {
    stated(rtl, "latency", &["none", "combinational"])
}

/// Returns the number after `words` in the file's header comment, as [`stated_latency`] reads it; 0 if one of `zeros`
/// follows instead.
pub(super) fn stated(rtl: &Rtl, words: &str, zeros: &[&str]) -> Option<u32> {
    rtl.head.iter().filter(|line| !line.trim_start().starts_with("command:")).find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let rest = lower[lower.find(words)? + words.len()..].trim_start_matches([' ', ':', '=', '\t']);
        if zeros.iter().any(|zero| rest.starts_with(zero)) {
            return Some(0);
        }
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    })
}

/// Position of an element: index of its beat, and its lowest bit in the beat.
pub type BeatPlace = (u32, u32);

/// Returns the positions of the input elements in the beats of a sample, as the header comment states them; an element
/// without bits has none. Returns `None` if samples do not arrive in beats.
///
/// # Errors
/// If the header comment states that samples arrive in beats, but not the position of each element.
fn stated_beats(rtl: &Rtl, widths: &[u32]) -> Result<Option<Vec<Option<BeatPlace>>>, String> {
    /// Line before the lines of the elements.
    const ELEMENTS: &str = "elements: port bits";
    let Some(count) = stated(rtl, "inputs come in", &[]).filter(|&count| count > 1) else { return Ok(None) };
    let after = rtl.head.iter().skip_while(|line| !line.trim_start().starts_with(ELEMENTS)).skip(1);
    let mut places = Vec::with_capacity(widths.len());
    for (line, &width) in after.zip(widths) {
        // The position follows the name, which may contain any characters.
        let place = line.rfind(": ").map(|at| &line[at + 2..]).unwrap_or_default();
        if place.starts_with("always 0") {
            places.push(None);
            continue;
        }
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
        let bits = place.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let bounds = bits.map(|(bits, _)| bits.split_once(':').unwrap_or((bits, bits)));
        let lo = bounds.and_then(|(hi, lo)| {
            let lo = number(Some(lo))?;
            (number(Some(hi))?.checked_sub(lo)?.checked_add(1) == Some(width)).then_some(lo)
        });
        let beat = match bits.and_then(|(_, rest)| rest.strip_prefix(" in beat ")) {
            Some(rest) => number(rest.split(',').next()),
            None => Some(0),
        };
        let (Some(lo), Some(beat)) = (lo, beat.filter(|&beat| beat < count)) else {
            return Err(format!(
                "the header comment does not state in which of {count} beats an input arrives: {}",
                line.trim()
            ));
        };
        places.push(Some((beat, lo)));
    }
    if places.len() < widths.len() {
        return Err(format!("the header comment states the positions of {} of {} inputs", places.len(), widths.len()));
    }
    Ok(Some(places))
}

/// Determines the roles of the ports of a file. A control port is recognised by its name in `names`, or by a usual
/// name. A port with a usual name is a data port nevertheless if the model's data ports are complete only with it (such
/// as the only output of a model, called `ready`). `beats` has the positions of inputs in beats if the header comment
/// has none.
///
/// # Errors
/// If the ports do not fit the model.
pub(super) fn find_ports(
    model: &Model,
    rtl: &Rtl,
    names: &ControlNames,
    beats: Option<&[Option<BeatPlace>]>,
) -> Result<PortRoles, String> {
    let widths: Vec<u32> = model.input_kifs().iter().map(|k| k.width()).collect();
    let stated = stated_beats(rtl, &widths)?.or_else(|| beats.map(<[_]>::to_vec));
    let clock = clock_of(rtl)?.map(|(s, _)| s);
    let named = |list: &[SignalId], given: &Option<String>, usual: &[&str]| {
        let fits = |s: &SignalId| match given {
            Some(name) => rtl.signal(*s).name.eq_ignore_ascii_case(name),
            None => usual.iter().any(|n| rtl.signal(*s).name.eq_ignore_ascii_case(n)),
        };
        list.iter().copied().find(|s| fits(s) && rtl.signal(*s).width == 1 && Some(*s) != clock)
    };
    let resets = ["rst", "reset", "rst_n", "reset_n", "aresetn", "areset", "ap_rst", "ap_rst_n"];
    let mut reset = named(&rtl.inputs, &names.reset, &resets);
    let mut enable = named(&rtl.inputs, &names.enable, &["ce", "enable", "en", "clk_en", "ap_ce"]);
    let valid_in = named(&rtl.inputs, &names.valid_in, &["valid_in", "in_valid", "ap_start"]);
    let valid_out = named(&rtl.outputs, &names.valid_out, &["valid_out", "out_valid", "ap_done"]);
    let valid = match (valid_in, valid_out) {
        (Some(i), Some(o)) => Some((i, o)),
        (None, None) => None,
        _ => return Err("one of valid_in and valid_out is missing".into()),
    };
    let mut ready = named(&rtl.outputs, &names.ready, &["ready", "in_ready", "ap_ready"]);
    // A design may have a clock port although it has no registers.
    let idle_clock = named(&rtl.inputs, &names.clock, &["clk", "clock", "aclk", "ap_clk"]);
    let reset_low = names.reset_low.unwrap_or_else(|| {
        let name = reset.map(|r| rtl.signal(r).name.to_ascii_lowercase()).unwrap_or_default();
        ["_n", "resetn", "rstn"].iter().any(|ending| name.ends_with(ending))
    });
    let control: FxHashSet<SignalId> =
        [clock, idle_clock, reset, enable, valid_in].into_iter().flatten().chain(valid_out).chain(ready).collect();
    let place = |list: &[SignalId], widths: &[u32], what: &str, as_data: Option<SignalId>| {
        let is_data = |s: &SignalId| !control.contains(s) || Some(*s) == as_data;
        let data: Vec<SignalId> = list.iter().copied().filter(is_data).collect();
        let total: u32 = widths.iter().sum();
        let mut lo = 0;
        if let [only] = data[..]
            && rtl.signal(only).width == total
        {
            return Ok(widths
                .iter()
                .map(|&w| {
                    let at = lo;
                    lo += w;
                    (w > 0).then_some((only, at))
                })
                .collect());
        }
        // One port for each element with bits, matched by the number at the end of its name.
        let mut by_number: FxHashMap<usize, SignalId> = FxHashMap::default();
        for &s in &data {
            let name = &rtl.signal(s).name;
            let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            if let Ok(n) = name[name.len() - digits..].parse() {
                by_number.insert(n, s);
            }
        }
        let found: Vec<Option<(SignalId, u32)>> = widths
            .iter()
            .enumerate()
            .map(|(i, &w)| by_number.get(&i).filter(|&&s| w > 0 && rtl.signal(s).width == w).map(|&s| (s, 0)))
            .collect();
        let complete = found.iter().zip(widths).all(|(f, &w)| w == 0 || f.is_some());
        if complete && found.iter().flatten().count() == data.len() {
            return Ok(found);
        }
        let seen: Vec<String> =
            data.iter().map(|&s| format!("{} ({})", rtl.signal(s).name, counted(rtl.signal(s).width, "bit"))).collect();
        let seen = if seen.is_empty() { "there are none".to_owned() } else { seen.join(", ") };
        Err(format!("the {what} ports do not fit the model's {}: {seen}", counted(total, "bit")))
    };
    // Either all ports with usual control names are controls, or one of them, which `names` does not give, is a data
    // port.
    let place = |list: &[SignalId], widths: &[u32], what: &str, optional: &mut [(&mut Option<SignalId>, bool)]| {
        let all_named = place(list, widths, what, None);
        if all_named.is_err() {
            for (control, _) in optional.iter_mut().filter(|(control, is_given)| control.is_some() && !is_given) {
                if let Ok(places) = place(list, widths, what, **control) {
                    **control = None;
                    return Ok(places);
                }
            }
        }
        all_named
    };
    let out_widths: Vec<u32> = (0..model.outputs().len()).map(|j| model.output_kif(j).width()).collect();
    let mut of_inputs = [(&mut enable, names.enable.is_some()), (&mut reset, names.reset.is_some())];
    let (inputs, beats) = match stated {
        None => (place(&rtl.inputs, &widths, "input", &mut of_inputs)?, Vec::new()),
        Some(places) => {
            let end = places.iter().zip(&widths).filter_map(|(place, width)| Some(place.as_ref()?.1 + width)).max();
            let whole = place(&rtl.inputs, &[end.unwrap_or(0)], "input", &mut of_inputs)?;
            let port = whole[0].map(|(port, _)| port);
            let unsaid = |(_, (place, width)): &(usize, (&Option<BeatPlace>, &u32))| place.is_none() == (**width > 0);
            if let Some((e, _)) = places.iter().zip(&widths).enumerate().find(unsaid) {
                return Err(format!("the header comment does not state the position of input {e}"));
            }
            let beats = places.iter().map(|place| place.map_or(0, |(beat, _)| beat)).collect();
            (places.iter().map(|place| Some((port?, (*place)?.1))).collect(), beats)
        }
    };
    let outputs = place(&rtl.outputs, &out_widths, "output", &mut [(&mut ready, names.ready.is_some())])?;
    Ok(PortRoles {
        inputs,
        outputs,
        clock,
        reset,
        reset_low,
        enable,
        valid,
        ready,
        phases: None,
        beats,
        hold: 1,
        moments: None,
    })
}

/// Constant levels of control inputs while gates are built: each a port and its level.
#[derive(Clone, Copy)]
pub(super) struct ControlValues {
    pub(super) reset: Option<(SignalId, bool)>,
    pub(super) enable: Option<(SignalId, bool)>,
}

impl ControlValues {
    /// Returns the levels for normal operation: reset inactive, clock enabled.
    pub(super) fn running(ports: &PortRoles) -> ControlValues {
        ControlValues { reset: ports.reset.map(|r| (r, ports.reset_low)), enable: ports.enable.map(|s| (s, true)) }
    }

    /// Returns the constant level of a control port, `None` for any other port.
    pub(super) fn level(&self, signal: SignalId) -> Option<bool> {
        [self.reset, self.enable].into_iter().flatten().find(|c| c.0 == signal).map(|c| c.1)
    }
}
