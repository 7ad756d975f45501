//! Devices by their part numbers.
//!
//! A part number consists of the device, package, speed grade and temperature range. Only the devices are listed here
//! (from the vendors' product tables): the vendor tool checks the rest.

use super::Flow;

/// A device, with its family as the vendor's tools name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartFamily {
    /// Prefix of the device's part numbers, lower case.
    pub prefix: &'static str,
    /// Vendor's name of the family.
    pub family: &'static str,
    /// Tool flow for the device.
    pub flow: Flow,
}

impl PartFamily {
    /// Returns `true` for devices before UltraScale, whose part numbers have no `-` before the package.
    pub fn is_series_7(&self) -> bool {
        self.prefix.starts_with("xc7")
    }

    /// Returns `true` if a part number has package and speed grade after the device, as the vendors' tools require.
    pub fn has_package(&self, part: &str) -> bool {
        let rest = part.get(self.prefix.len()..).unwrap_or_default().to_ascii_lowercase();
        match self.flow {
            // `clg400-1`, `-ffvb676-2-e`.
            Flow::Vivado => {
                let rest = if self.is_series_7() { Some(rest.as_str()) } else { rest.strip_prefix('-') };
                rest.and_then(|rest| rest.split_once('-')).is_some_and(|(package, grade)| {
                    package.starts_with(|c: char| c.is_ascii_alphabetic())
                        && package.ends_with(|c: char| c.is_ascii_digit())
                        && grade.starts_with(|c: char| c.is_ascii_digit())
                })
            }
            // A digit of the package, a letter for the temperature range, a digit for the speed grade, further letters.
            Flow::Quartus => match rest.trim_end_matches(|c: char| c.is_ascii_alphabetic()).as_bytes() {
                [.., package, temperature, speed] => {
                    package.is_ascii_digit() && b"aceim".contains(temperature) && speed.is_ascii_digit()
                }
                _ => false,
            },
            Flow::Yosys => true,
            _ => rest.bytes().filter(u8::is_ascii_alphanumeric).count() >= 4,
        }
    }

    /// Returns the device model whose delays and resources are used.
    pub fn figures(&self) -> alir_hw::device::Device {
        use alir_hw::device::Device;
        match self.family {
            "Virtex UltraScale+" => Device::Xcvu13p,
            "Kintex UltraScale+" => Device::Xcku5p,
            "ECP5" => Device::Ecp5,
            "iCE40" => Device::Ice40,
            family if family.ends_with("-7") || family == "Zynq-7000" => Device::Series7,
            family if family.contains("UltraScale+") || matches!(family, "Alveo" | "Kria") => Device::UltrascalePlus,
            family if family.starts_with("Agilex") => Device::Agilex,
            _ => Device::Generic,
        }
    }
}

const fn amd(prefix: &'static str, family: &'static str) -> PartFamily {
    PartFamily { prefix, family, flow: Flow::Vivado }
}

const fn altera(prefix: &'static str, family: &'static str) -> PartFamily {
    PartFamily { prefix, family, flow: Flow::Quartus }
}

const fn microchip(prefix: &'static str) -> PartFamily {
    PartFamily { prefix, family: "PolarFire", flow: Flow::Libero }
}

const fn lattice(prefix: &'static str, family: &'static str) -> PartFamily {
    PartFamily { prefix, family, flow: Flow::Yosys }
}

/// Known devices.
pub const DEVICES: &[PartFamily] = &[
    amd("xc7a12t", "Artix-7"),
    amd("xc7a15t", "Artix-7"),
    amd("xc7a25t", "Artix-7"),
    amd("xc7a35t", "Artix-7"),
    amd("xc7a50t", "Artix-7"),
    amd("xc7a75t", "Artix-7"),
    amd("xc7a100t", "Artix-7"),
    amd("xc7a200t", "Artix-7"),
    amd("xc7k70t", "Kintex-7"),
    amd("xc7k160t", "Kintex-7"),
    amd("xc7k325t", "Kintex-7"),
    amd("xc7k410t", "Kintex-7"),
    amd("xc7s25", "Spartan-7"),
    amd("xc7s50", "Spartan-7"),
    amd("xc7s100", "Spartan-7"),
    amd("xc7v585t", "Virtex-7"),
    amd("xc7vx485t", "Virtex-7"),
    amd("xc7vx690t", "Virtex-7"),
    amd("xc7z007s", "Zynq-7000"),
    amd("xc7z010", "Zynq-7000"),
    amd("xc7z020", "Zynq-7000"),
    amd("xc7z030", "Zynq-7000"),
    amd("xc7z045", "Zynq-7000"),
    amd("xc7z100", "Zynq-7000"),
    amd("xcau10p", "Artix UltraScale+"),
    amd("xcau25p", "Artix UltraScale+"),
    amd("xck26", "Kria"),
    amd("xcku040", "Kintex UltraScale"),
    amd("xcku060", "Kintex UltraScale"),
    amd("xcku115", "Kintex UltraScale"),
    amd("xcku3p", "Kintex UltraScale+"),
    amd("xcku5p", "Kintex UltraScale+"),
    amd("xcku15p", "Kintex UltraScale+"),
    amd("xcu50", "Alveo"),
    amd("xcu55c", "Alveo"),
    amd("xcu200", "Alveo"),
    amd("xcu250", "Alveo"),
    amd("xcu280", "Alveo"),
    amd("xcvc1902", "Versal AI Core"),
    amd("xcvm1802", "Versal Prime"),
    amd("xcvu3p", "Virtex UltraScale+"),
    amd("xcvu5p", "Virtex UltraScale+"),
    amd("xcvu7p", "Virtex UltraScale+"),
    amd("xcvu9p", "Virtex UltraScale+"),
    amd("xcvu11p", "Virtex UltraScale+"),
    amd("xcvu13p", "Virtex UltraScale+"),
    amd("xcvu37p", "Virtex UltraScale+"),
    amd("xczu2eg", "Zynq UltraScale+"),
    amd("xczu3eg", "Zynq UltraScale+"),
    amd("xczu5ev", "Zynq UltraScale+"),
    amd("xczu7ev", "Zynq UltraScale+"),
    amd("xczu9eg", "Zynq UltraScale+"),
    amd("xczu28dr", "Zynq UltraScale+ RFSoC"),
    amd("xczu48dr", "Zynq UltraScale+ RFSoC"),
    altera("5cse", "Cyclone V"),
    altera("5ceb", "Cyclone V"),
    altera("5cgx", "Cyclone V"),
    altera("5sgx", "Stratix V"),
    altera("10cl", "Cyclone 10 LP"),
    altera("10cx", "Cyclone 10 GX"),
    altera("10m", "MAX 10"),
    altera("10as", "Arria 10"),
    altera("10ax", "Arria 10"),
    altera("1sg", "Stratix 10"),
    altera("1sx", "Stratix 10"),
    altera("ep4c", "Cyclone IV E"),
    altera("agf", "Agilex 7"),
    altera("agi", "Agilex 7"),
    lattice("lfe5u-12f", "ECP5"),
    lattice("lfe5u-25f", "ECP5"),
    lattice("lfe5u-45f", "ECP5"),
    lattice("lfe5u-85f", "ECP5"),
    lattice("lfe5um-25f", "ECP5"),
    lattice("lfe5um-45f", "ECP5"),
    lattice("lfe5um-85f", "ECP5"),
    lattice("lfe5um5g-25f", "ECP5"),
    lattice("lfe5um5g-45f", "ECP5"),
    lattice("lfe5um5g-85f", "ECP5"),
    lattice("ice40lp384", "iCE40"),
    lattice("ice40lp1k", "iCE40"),
    lattice("ice40lp4k", "iCE40"),
    lattice("ice40lp8k", "iCE40"),
    lattice("ice40hx1k", "iCE40"),
    lattice("ice40hx4k", "iCE40"),
    lattice("ice40hx8k", "iCE40"),
    lattice("ice40up3k", "iCE40"),
    lattice("ice40up5k", "iCE40"),
    microchip("mpf050t"),
    microchip("mpf100t"),
    microchip("mpf200t"),
    microchip("mpf300t"),
    microchip("mpf500t"),
];

/// A board with a processor, memory and programmable logic, for which a bitstream can be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name of the board on the command line.
    pub name: &'static str,
    /// Part number of the device on the board.
    pub part: &'static str,
    /// Name of Vivado's files of the board; `*` stands for any version.
    pub board_part: &'static str,
    /// `true` for the processor of Zynq UltraScale+; `false` for that of Zynq-7000.
    pub ultrascale: bool,
    /// Fastest clock of the AXI ports between processor and logic in MHz (data sheets DS925 and DS187).
    pub most_mhz: u32,
}

/// Known boards.
pub const BOARDS: &[Board] = &[
    Board {
        name: "kv260",
        part: "xck26-sfvc784-2LV-c",
        board_part: "xilinx.com:kv260_som:part0:*",
        ultrascale: true,
        most_mhz: 333,
    },
    Board {
        name: "zcu102",
        part: "xczu9eg-ffvb1156-2-e",
        board_part: "xilinx.com:zcu102:part0:*",
        ultrascale: true,
        most_mhz: 333,
    },
    Board {
        name: "pynq-z2",
        part: "xc7z020clg400-1",
        board_part: "tul.com.tw:pynq-z2:part0:*",
        ultrascale: false,
        most_mhz: 250,
    },
];

/// Returns the device of a part number: the device with the longest matching prefix.
///
/// # Errors
/// The known device that was probably meant, which differs in few letters; `None` if there is none.
pub fn find(part: &str) -> Result<PartFamily, Option<&'static str>> {
    let lower = part.to_ascii_lowercase();
    let known = DEVICES.iter().filter(|d| lower.starts_with(d.prefix)).max_by_key(|d| d.prefix.len());
    let sound = part.len() <= 64 && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    match known {
        Some(device) if sound => Ok(*device),
        _ => Err(nearest(&lower)),
    }
}

/// Returns the prefixes of the part numbers of a family, given the vendor's name in any case and spacing. A part of a
/// name such as `zynq` selects every family whose name contains it. Empty if there is no such family.
pub fn family_prefixes(name: &str) -> Vec<&'static str> {
    let plain =
        |name: &str| name.chars().filter(|c| c.is_alphanumeric() || *c == '+').collect::<String>().to_ascii_lowercase();
    let name = plain(name);
    let is_named = |device: &&PartFamily| name.len() > 3 && plain(device.family).contains(&name);
    DEVICES.iter().filter(is_named).map(|device| device.prefix).collect()
}

/// Maximum number of letters in which a suggested device may differ; for a short name at most a third of its letters.
const MOST_EDITS: usize = 2;

/// Returns the device with the fewest edits to the beginning of `part`; `None` if even that device needs too many.
/// Among several such devices the longest is returned, as most of its letters agree.
fn nearest(part: &str) -> Option<&'static str> {
    let distance = |device: &&PartFamily| {
        let beginning: String = part.chars().take(device.prefix.len()).collect();
        (edits(beginning.as_bytes(), device.prefix.as_bytes()), std::cmp::Reverse(device.prefix.len()))
    };
    DEVICES
        .iter()
        .min_by_key(distance)
        .filter(|d| distance(d).0 <= MOST_EDITS.min(d.prefix.len() / 3))
        .map(|d| d.prefix)
}

/// Returns the common prefix of the part numbers of each known family, in the order of [`DEVICES`].
pub fn families() -> Vec<&'static str> {
    let mut families: Vec<(&str, &str)> = Vec::new();
    for device in DEVICES {
        match families.iter_mut().find(|(family, _)| *family == device.family) {
            Some((_, beginning)) => {
                let shared = beginning.bytes().zip(device.prefix.bytes()).take_while(|(a, b)| a == b).count();
                *beginning = &beginning[..shared];
            }
            None => families.push((device.family, device.prefix)),
        }
    }
    let mut beginnings: Vec<&str> = families.into_iter().map(|(_, beginning)| beginning).collect();
    beginnings.dedup();
    beginnings
}

/// Returns the Levenshtein distance.
pub fn edits(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_part_numbers_have_package_and_speed_grade() {
        let whole = |part: &str| find(part).unwrap().has_package(part);
        let parts = [
            "xc7a35tcpg236-1",
            "XC7K325TFFG900-2",
            "xc7a35ticsg324-1L",
            "xcvu13p-flga2577-2-e",
            "xck26-sfvc784-2LV-c",
            "5CSEMA5F31C6",
            "10AX115N2F45I1SG",
            "AGFB014R24A2E2V",
            "10M50DAF484C7G",
            "EP4CE22F17C6",
            "iCE40HX8K-CT256",
            "MPF300T-1FCG1152E",
        ];
        assert!(parts.iter().all(|part| whole(part)));
        let boards = BOARDS.iter().map(|board| board.part);
        assert!(boards.clone().all(whole) && boards.count() == BOARDS.len());
        for part in [
            "xcku5p",
            "xcku5p-ffva676",
            "xcku5pffva676",
            "xc7a35t-cpg236-1",
            "XC7A35T-1CPG236C",
            "xc7a35tcpg236",
            "5csema5f31",
            "5csema5",
            "10ax115n2f45",
            "agfb014",
            "xczu9eg-zzz",
        ] {
            assert!(!whole(part), "{part}");
        }
    }

    #[test]
    fn parts_are_found_by_their_device() {
        assert_eq!(find("xcvu13p-flga2577-2-e").map(|d| d.family), Ok("Virtex UltraScale+"));
        assert_eq!(find("XC7A35TCPG236-1").map(|d| d.prefix), Ok("xc7a35t"));
        assert_eq!(find("5CSEMA5F31C6").map(|d| d.flow), Ok(Flow::Quartus));
        assert_eq!(find("xcvu31p-flga2577-2-e"), Err(Some("xcvu11p")));
        assert_eq!(find("abacus"), Err(None));
        assert!(families().contains(&"xc7a") && families().len() < 40, "{:?}", families());
        assert!(find("xcvu13p; exec rm").is_err());
        assert!(find("").is_err());
    }
}
