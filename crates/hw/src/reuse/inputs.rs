//! Cycles and port bits at which the elements of a sample arrive.

use crate::netlist::{AtPorts, Element};
use alir_core::num::Kif;

/// Cycles and port bits at which the elements of a sample arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// All elements in the cycle whose edge accepts the sample. Registers capture them.
    #[default]
    Captured,
    /// All elements, stable from the accepting cycle until the next sample. No register captures them.
    Held,
    /// Some of the elements in each cycle, starting with the accepting one.
    Beats(Beats),
}

/// Port that the elements of a sample share: one beat per cycle, the first beat in the cycle whose edge accepts the
/// sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beats {
    /// Number of beats (cycles) of a sample.
    pub count: u32,
    /// Width of the port, in bits.
    pub width: u32,
    /// Lanes of the port.
    pub lanes: Vec<Lane>,
    /// For each element, its beat and the index of its lane; `None` for an element without bits.
    pub elements: Vec<Option<(u32, u32)>>,
}

/// Range of bits of a port that transfers beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    /// Lowest bit.
    pub lsb: u32,
    /// Number of bits.
    pub width: u32,
}

impl Inputs {
    /// Creates inputs whose elements come in beats. `places` contains, for each element, its beat, its first bit in the
    /// beat, and its number of bits. The port omits bits that belong to no element in any beat.
    pub fn beats(count: u32, places: &[(u32, u32, u32)]) -> Inputs {
        let mut used: Vec<(u32, u32)> =
            places.iter().filter(|(_, _, width)| *width > 0).map(|&(_, lo, width)| (lo, lo + width)).collect();
        used.sort_unstable();
        // Runs of bits that belong to elements: first bit, end, and position at the port.
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

    /// Returns the first cycle in which the design can read an element, from a register or from the port.
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

    /// Returns the shared port of the elements; `None` if every element has its own bits.
    pub fn as_beats(&self) -> Option<&Beats> {
        match self {
            Inputs::Beats(beats) => Some(beats),
            Inputs::Captured | Inputs::Held => None,
        }
    }

    /// Returns the port positions of elements of these types, for hardware with the initiation interval `interval`.
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

    /// Returns the number of cycles in which the ports transfer a sample.
    pub fn beat_count(&self) -> u32 {
        self.as_beats().map_or(1, |beats| beats.count)
    }
}

impl Beats {
    /// Returns the elements that a lane transfers.
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
