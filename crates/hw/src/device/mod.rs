//! Cost of hardware on a device: LUTs, flip-flops, carry cells, DSPs, BRAMs, clock frequency.
//!
//! A netlist is decomposed into single-bit gates ([`gates`]), covered with LUTs as in a synthesis tool ([`cover`]), and
//! timed bit by bit along its carry chains ([`timing`]). The devices differ in the functions that fit into a LUT and in
//! delays ([`technology`]). `benches/qor/fit.py` fits these parameters to results of open-source tools where such tools
//! exist (`fitted.rs`); the other parameters come from vendor publications. `docs/estimates.md` lists the errors of the
//! estimates.
//!
//! | file | contents |
//! |---|---|
//! | `technology`, `fitted` | cells and delays of each device family |
//! | `arcs` | timing arcs of AMD slices and wires |
//! | `gates` | decomposition of a netlist into single-bit gates |
//! | `cover` | LUT mapping: the gates that each LUT implements |
//! | `timing` | arrival time of each bit |
//! | `count` | number of LUTs of a cover |
//! | `forms` | possible implementations of look-up tables |
//! | `tables` | selection of BRAM, logic or pieces for each look-up table |
//! | `absorbed` | registers inside DSPs |
//! | `estimate` | resources and clock frequency of a netlist |
//! | `delays`, `paths` | delays of operations and of paths through operations, for the scheduler |

mod absorbed;
mod arcs;
mod count;
mod cover;
mod delays;
mod estimate;
mod fitted;
mod forms;
mod gates;
mod paths;
mod tables;
mod technology;
mod timing;

pub use arcs::{Arcs, Carry, Multiplexer, Wires};
pub use count::Tables;
pub use delays::{Delays, InARow};
pub use estimate::{Estimate, Resources, Surroundings};
pub(crate) use forms::{Form, Forms};
pub use tables::TableStyle;
pub(crate) use tables::memory_words;
pub use technology::{ErrorOf, NarrowSums, PartTimes, Scale, Technology, Times};
pub use timing::Path;

/// A device, or a device family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// AMD Virtex UltraScale+ VU13P.
    Xcvu13p,
    /// AMD Kintex UltraScale+ KU5P.
    Xcku5p,
    /// Any AMD UltraScale+.
    UltrascalePlus,
    /// Any device of AMD's 7 series.
    Series7,
    /// Lattice ECP5.
    Ecp5,
    /// Lattice iCE40 HX.
    Ice40,
    /// Intel Agilex 7.
    Agilex,
    /// No particular device.
    #[default]
    Generic,
}

impl Device {
    /// All devices.
    pub const ALL: [Device; 8] = [
        Device::Xcvu13p,
        Device::Xcku5p,
        Device::UltrascalePlus,
        Device::Series7,
        Device::Ecp5,
        Device::Ice40,
        Device::Agilex,
        Device::Generic,
    ];

    /// Returns the name of the device on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Device::Xcvu13p => "xcvu13p",
            Device::Xcku5p => "xcku5p",
            Device::UltrascalePlus => "ultrascale+",
            Device::Series7 => "7series",
            Device::Ecp5 => "ecp5",
            Device::Ice40 => "ice40",
            Device::Agilex => "agilex",
            Device::Generic => "generic",
        }
    }

    /// Returns the device with this name, ignoring case, or `None` if the name is unknown.
    pub fn by_name(name: &str) -> Option<Device> {
        let lower = name.to_ascii_lowercase();
        Device::ALL.into_iter().find(|device| device.name() == lower)
    }

    /// Returns the technology data of the device.
    pub fn technology(self) -> &'static Technology {
        match self {
            Device::Xcvu13p | Device::Xcku5p | Device::UltrascalePlus => &technology::ULTRASCALE_PLUS,
            Device::Series7 => &technology::SERIES7,
            Device::Ecp5 => &technology::ECP5,
            Device::Ice40 => &technology::ICE40,
            Device::Agilex => &technology::AGILEX,
            Device::Generic => &technology::GENERIC,
        }
    }
}
