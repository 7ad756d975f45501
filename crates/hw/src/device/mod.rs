//! Cost of hardware on a device: look-up tables, flip-flops, carries, multipliers, memories, clock.
//!
//! A netlist is decomposed into bits ([`gates`]), covered with look-up tables as a synthesiser does ([`cover`]), and
//! timed bit by bit along its carry chains ([`timing`]). The devices differ in what a table can hold and in times
//! ([`technology`]); what the open tools can tell is fitted to them by `benches/qor/fit.py` (`fitted.rs`), the rest
//! comes from what the vendors publish. `docs/estimates.md` shows how far the estimates are off.
//!
//! | file | what |
//! |---|---|
//! | `technology`, `fitted` | what each device is made of |
//! | `arcs` | AMD's slices and wires, arc by arc |
//! | `gates` | a netlist bit by bit |
//! | `cover` | which gates become one table |
//! | `timing` | when each bit is there |
//! | `count` | how many tables a cover takes |
//! | `forms` | the forms that lookup tables can have |
//! | `tables` | which lookup tables become memories or pieces |
//! | `absorbed` | registers inside DSPs |
//! | `estimate` | the figures |
//! | `delays`, `paths` | how long operations and paths through them take, for the scheduler |

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
pub use technology::{ErrorOf, PartTimes, Scale, Technology, Times};
pub use timing::Path;

/// A device, or a family of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// AMD Virtex UltraScale+ VU13P.
    Xcvu13p,
    /// AMD Kintex UltraScale+ KU5P.
    Xcku5p,
    /// Any AMD UltraScale+.
    UltrascalePlus,
    /// Any of AMD's 7 series.
    Series7,
    /// Lattice ECP5.
    Ecp5,
    /// Lattice iCE40 HX.
    Ice40,
    /// Intel Agilex 7.
    Agilex,
    /// None in particular.
    #[default]
    Generic,
}

impl Device {
    /// All of them.
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

    /// Its name, as it is typed.
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

    /// The device of a name.
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
