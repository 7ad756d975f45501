//! When and where the elements of a sample are at the input ports.

use crate::netlist::{AtPorts, Element};
use alir_core::num::Kif;

/// When and where the elements of a sample are at the input ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// All in the clock whose edge accepts the sample, where registers capture them.
    #[default]
    Captured,
    /// All, in that clock and those up to the next sample: no register captures them.
    Held,
    /// Some of them in each clock from that one on.
    Beats(Beats),
}

/// A port that the elements of a sample share: a beat of them in each clock, the first in the one whose edge accepts
/// the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beats {
    /// Clocks that a sample takes at the port.
    pub count: u32,
    /// Bits of the port.
    pub width: u32,
    /// The places on the port.
    pub lanes: Vec<Lane>,
    /// For each element its beat, and which of the places it has there; nothing for one without bits.
    pub elements: Vec<Option<(u32, u32)>>,
}

/// A place on a port that beats come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    /// The lowest bit.
    pub lsb: u32,
    /// Bits.
    pub width: u32,
}

impl Inputs {
    /// Creates inputs whose elements come in beats: for each element its beat, its first bit in that beat, and its
    /// number of bits. Bits of a beat without an element are not at the port.
    pub fn beats(count: u32, places: &[(u32, u32, u32)]) -> Inputs {
        let mut used: Vec<(u32, u32)> =
            places.iter().filter(|(_, _, width)| *width > 0).map(|&(_, lo, width)| (lo, lo + width)).collect();
        used.sort_unstable();
        // Runs of bits that elements have, and where each begins at the port.
        let mut runs: Vec<(u32, u32, u32)> = Vec::new();
        for (lo, hi) in used {
            match runs.last_mut() {
                Some((_, end, _)) if lo <= *end => *end = hi.max(*end),
                last => {
                    let at = last.map_or(0, |&mut (start, end, at)| at + end - start);
                    runs.push((lo, hi, at));
                }
            }
        }
        let at_port = |lo: u32| {
            let run = runs.iter().rev().find(|(start, ..)| *start <= lo);
            run.map_or(0, |(start, _, at)| at + lo - start)
        };
        let lane = |&(_, lo, width): &(u32, u32, u32)| Lane { lsb: at_port(lo), width };
        let mut lanes: Vec<Lane> = places.iter().filter(|(_, _, width)| *width > 0).map(lane).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let element = |place: &(u32, u32, u32)| {
            let at = lanes.binary_search(&lane(place)).ok()?;
            (place.2 > 0).then_some((place.0, at as u32))
        };
        let elements = places.iter().map(element).collect();
        let width = runs.last().map_or(0, |(start, end, at)| at + end - start);
        Inputs::Beats(Beats { count, width, lanes, elements })
    }

    /// The first clock in which the design shows an element: by a register, or by the port.
    pub fn born(&self, element: u32) -> u32 {
        match self {
            Inputs::Captured => 1,
            Inputs::Held => 0,
            Inputs::Beats(beats) => 1 + beats.elements[element as usize].map_or(0, |(beat, _)| beat),
        }
    }

    /// Returns `true` if ports are stable until the next sample.
    pub fn are_held(&self) -> bool {
        *self == Inputs::Held
    }

    /// The elements' place on a port that they share.
    pub fn as_beats(&self) -> Option<&Beats> {
        match self {
            Inputs::Beats(beats) => Some(beats),
            Inputs::Captured | Inputs::Held => None,
        }
    }

    /// Where elements of these types are at the ports of hardware that takes a sample every `interval` clocks.
    pub fn at_ports(&self, kifs: &[Kif], interval: u32) -> AtPorts {
        let beats = match self {
            Inputs::Captured => return AtPorts::Whole(1),
            Inputs::Held => return AtPorts::Whole(interval),
            Inputs::Beats(beats) => beats,
        };
        let element = |(kif, place): (&Kif, &Option<(u32, u32)>)| Element {
            port: String::new(),
            lsb: place.map_or(0, |(_, lane)| beats.lanes[lane as usize].lsb),
            width: kif.width(),
            signed: kif.signed,
            fractionals: kif.frac,
            name: String::new(),
            beat: place.map_or(0, |(beat, _)| beat),
        };
        AtPorts::Beats(beats.count, kifs.iter().zip(&beats.elements).map(element).collect())
    }

    /// Clocks that a sample takes at the ports.
    pub fn beat_count(&self) -> u32 {
        self.as_beats().map_or(1, |beats| beats.count)
    }
}

impl Beats {
    /// Elements that come through a lane.
    pub(super) fn lane(&self, lane: u32) -> impl Iterator<Item = u32> {
        let elements = (0..).zip(&self.elements);
        elements.filter_map(move |(e, place)| place.filter(|(_, own)| *own == lane).map(|_| e))
    }
}

impl Lane {
    /// Returns the type of the lane's bits as an unsigned number.
    pub(super) fn kif(self) -> Kif {
        Kif { signed: false, int: self.width as i32, frac: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_no_element_has_are_not_at_the_port() {
        // Two beats of two slots of eight bits; elements of 6, 3, 5 bits, and one without bits.
        let inputs = Inputs::beats(2, &[(0, 0, 6), (0, 8, 3), (1, 0, 5), (1, 8, 0)]);
        let beats = inputs.as_beats().unwrap();
        assert_eq!(beats.width, 9);
        let lane = |lsb, width| Lane { lsb, width };
        assert_eq!(beats.lanes, [lane(0, 5), lane(0, 6), lane(6, 3)]);
        assert_eq!(beats.elements, [Some((0, 1)), Some((0, 2)), Some((1, 0)), None]);
        assert_eq!([0, 1, 2].map(|e| inputs.born(e)), [1, 1, 2]);
    }
}
