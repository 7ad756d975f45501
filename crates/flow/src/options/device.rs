//! Devices by name.

use super::by_name::near;
use crate::project;
use alir_hw::device::Device;

/// Name of a device: a family or a part number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDevice {
    /// The name.
    pub text: String,
}

impl NamedDevice {
    /// Returns the known device of this name.
    ///
    /// # Errors
    /// A message with the nearest name.
    pub fn parse(text: &str) -> Result<NamedDevice, String> {
        let named = NamedDevice { text: text.to_owned() };
        if named.figures().is_some() {
            return Ok(named);
        }
        if let Some(meant) = NamedDevice::meant(text) {
            return Err(format!("no such device; {meant}"));
        }
        let names = Device::ALL.map(Device::name);
        let nearest = near(text, names.into_iter()).or_else(|| project::find(text).err().flatten());
        let guess = nearest.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
        Err(format!("no such device; {guess}known are {}, and part numbers (`alir2hdl devices`)", names.join(", ")))
    }

    /// Returns a help text for a word that is not a device but probably names a family or a board; `None` for other
    /// words.
    pub fn meant(text: &str) -> Option<String> {
        if let Some(board) = project::BOARDS.iter().find(|board| board.name.eq_ignore_ascii_case(text)) {
            return Some(format!("{} is a board (project --board); its device is {}", board.name, board.part));
        }
        let parts = project::family_prefixes(text);
        (!parts.is_empty()).then(|| format!("part numbers of {text} begin with {}", parts.join(", ")))
    }

    /// Returns `true` if the name is that of a family rather than a part.
    pub fn is_family(&self) -> bool {
        Device::by_name(&self.text).is_some()
    }

    /// Returns the device model whose delays and resources are used; `None` for an unknown name.
    pub fn figures(&self) -> Option<Device> {
        Device::by_name(&self.text).or_else(|| project::find(&self.text).ok().map(|part| part.figures()))
    }

    /// Returns the part number, which is a usual part for a family; `None` if no flow supports a part of the family.
    pub fn part(&self) -> Option<&str> {
        match Device::by_name(&self.text) {
            Some(device) => usual_part(device),
            None => Some(&self.text).filter(|text| project::find(text).is_ok()).map(String::as_str),
        }
    }

    /// Returns the device model of the first known name.
    pub fn first_figures(devices: &[NamedDevice]) -> Option<Device> {
        devices.iter().find_map(NamedDevice::figures)
    }
}

/// Returns the part that represents a family in scripts of the vendor's tools.
fn usual_part(device: Device) -> Option<&'static str> {
    match device {
        Device::Xcvu13p | Device::UltrascalePlus => Some("xcvu13p-flga2577-2-e"),
        Device::Xcku5p => Some("xcku5p-ffvb676-2-e"),
        Device::Series7 => Some("xc7k325tffg900-2"),
        Device::Ecp5 => Some("LFE5U-25F"),
        Device::Agilex => Some("AGFB014R24A2E2V"),
        Device::Ice40 => Some("iCE40HX8K-CT256"),
        Device::Generic => None,
    }
}
