//! Devices of nextpnr: die, package and speed grade of a Lattice part number.
//!
//! Source: ordering information of FPGA-DS-02012 (ECP5), FPGA-DS-02029 (iCE40 LP/HX), FPGA-DS-02008 (iCE40 UltraPlus).

/// nextpnr program for a device family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextpnrFamily {
    /// `nextpnr-ecp5`: LPF constraints.
    Ecp5,
    /// `nextpnr-ice40`: PCF constraints.
    Ice40,
}

/// A part in the terms of nextpnr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextpnrDevice {
    /// The family.
    pub family: NextpnrFamily,
    /// Options of nextpnr for die, package and speed grade.
    pub options: String,
    /// Options of the synthesis command of Yosys.
    pub synthesis: &'static str,
    /// I/O pins of the package.
    pub pins: u32,
    /// Number of four-input LUTs of the die, according to nextpnr.
    pub luts: u32,
}

impl NextpnrDevice {
    /// Returns `true` if nextpnr can place a design whose ports have more bits than the package has pins (out of
    /// context).
    pub fn places_without_pins(&self) -> bool {
        self.family == NextpnrFamily::Ecp5
    }
}

/// Packages of ECP5: code in a part number, name in nextpnr, and number of I/O pins for dies of 12k or 25k, 45k, 85k
/// (0: not available).
const ECP5_PACKAGES: [(&str, &str, [u32; 3]); 6] = [
    ("tg144", "TQFP144", [98, 98, 0]),
    ("bg256", "CABGA256", [197, 197, 0]),
    ("mg285", "CSFBGA285", [118, 118, 118]),
    ("bg381", "CABGA381", [197, 203, 205]),
    ("bg554", "CABGA554", [0, 245, 259]),
    ("bg756", "CABGA756", [0, 0, 365]),
];

/// Number of LUTs of the ECP5 dies for 12k or 25k, 45k, 85k: nextpnr uses the whole die of 25k for 12k.
const ECP5_LUTS: [u32; 3] = [24_288, 43_848, 83_640];

/// Code of a package, and its number of I/O pins.
type Package = (&'static str, u32);

/// Dies of iCE40: part, options of Yosys, LUTs, packages. The first package is the default. nextpnr uses the whole die
/// of 8k for parts of 4k, and that of up5k for up3k.
const ICE40_DIES: [(&str, &str, u32, &[Package]); 9] = [
    ("lp384", " -device lp", 384, &[("sg32", 21), ("cm36", 25), ("cm49", 37)]),
    (
        "lp1k",
        " -device lp",
        1_280,
        &[("cm81", 63), ("cm36", 25), ("cm49", 35), ("cb81", 62), ("cm121", 95), ("qn84", 67)],
    ),
    ("lp4k", " -device lp", 7_680, &[("cm225", 167), ("cm81", 63), ("cm121", 93)]),
    ("lp8k", " -device lp", 7_680, &[("cm225", 178), ("cm81", 63), ("cm121", 93)]),
    ("hx1k", " -device hx", 1_280, &[("tq144", 95), ("vq100", 72), ("cb132", 95)]),
    ("hx4k", " -device hx", 7_680, &[("tq144", 107), ("cb132", 95), ("bg121", 93)]),
    ("hx8k", " -device hx", 7_680, &[("ct256", 206), ("cm225", 178), ("cb132", 95), ("bg121", 93)]),
    ("up5k", " -device u", 5_280, &[("sg48", 39), ("uwg30", 21)]),
    ("up3k", " -device u", 5_280, &[("uwg30", 21)]),
];

/// Returns the device of a part number with the prefix of one of [`super::DEVICES`]: `LFE5U-25F-6BG256C`,
/// `iCE40HX8K-CT256`. A missing package or speed grade is replaced with a usual one.
///
/// # Errors
/// A message if package or speed grade do not exist for the device.
pub fn nextpnr_device(part: &str) -> Result<NextpnrDevice, String> {
    let lower = part.to_ascii_lowercase();
    match lower.strip_prefix("ice40") {
        Some(rest) => ice40(rest),
        None => ecp5(lower.strip_prefix("lfe5").unwrap_or(&lower)),
    }
}

fn ecp5(rest: &str) -> Result<NextpnrDevice, String> {
    let mut words = rest.split('-');
    let (series, die, order) = (words.next().unwrap_or(""), words.next().unwrap_or(""), words.next().unwrap_or(""));
    let die = die.strip_suffix('f').unwrap_or(die);
    let (speed, code) = order.split_at(order.find(|c: char| !c.is_ascii_digit()).unwrap_or(order.len()));
    let column = match die {
        "45" => 1,
        "85" => 2,
        _ => 0,
    };
    // Dies with transceivers are larger and have no TQFP144 and CABGA256 packages.
    let exists = |(code, _, pins): &&(&str, &str, [u32; 3])| {
        pins[column] > 0 && (series == "u" || !["tg144", "bg256"].contains(code))
    };
    // The last letters are the temperature range and the packing.
    let is_meant =
        |(name, ..): &(&str, &str, [u32; 3])| if code.is_empty() { *name == "bg381" } else { code.starts_with(name) };
    let Some((_, package, pins)) = ECP5_PACKAGES.iter().filter(exists).find(|package| is_meant(package)) else {
        let known: Vec<String> =
            ECP5_PACKAGES.iter().filter(exists).map(|(code, ..)| code.to_ascii_uppercase()).collect();
        return Err(format!("no such package; the device has {}", known.join(", ")));
    };
    let grades: &[&str] = if series == "um5g" { &["8"] } else { &["6", "7", "8"] };
    let speed = if speed.is_empty() { grades[0] } else { speed };
    if !grades.contains(&speed) {
        return Err(format!("no such speed grade; the device has {}", grades.join(", ")));
    }
    let prefix = series.strip_prefix('u').unwrap_or("");
    let size = if prefix.is_empty() { format!("--{die}k") } else { format!("--u{prefix}-{die}k") };
    Ok(NextpnrDevice {
        family: NextpnrFamily::Ecp5,
        options: format!("{size} --package {package} --speed {speed}"),
        synthesis: "",
        pins: pins[column],
        luts: ECP5_LUTS[column],
    })
}

fn ice40(rest: &str) -> Result<NextpnrDevice, String> {
    let Some((die, synthesis, luts, packages)) = ICE40_DIES.iter().find(|(die, ..)| rest.starts_with(die)) else {
        return Err("no such device".to_owned());
    };
    let code = rest[die.len()..].trim_start_matches('-');
    let is_meant = |(name, _): &&(&str, u32)| code.is_empty() || code.starts_with(name);
    let Some((package, pins)) = packages.iter().find(is_meant) else {
        let known: Vec<String> = packages.iter().map(|(code, _)| code.to_ascii_uppercase()).collect();
        return Err(format!("no such package; the device has {}", known.join(", ")));
    };
    Ok(NextpnrDevice {
        family: NextpnrFamily::Ice40,
        options: format!("--{die} --package {package}"),
        synthesis,
        pins: *pins,
        luts: *luts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn die_package_and_speed_grade_are_those_of_the_part() {
        for (part, options, pins) in [
            ("LFE5U-25F", "--25k --package CABGA381 --speed 6", 197),
            ("LFE5U-25F-6BG256C", "--25k --package CABGA256 --speed 6", 197),
            ("lfe5u-85f-8bg756i", "--85k --package CABGA756 --speed 8", 365),
            ("LFE5U-12F-7TG144CTR", "--12k --package TQFP144 --speed 7", 98),
            ("LFE5UM-45F-7MG285C", "--um-45k --package CSFBGA285 --speed 7", 118),
            ("LFE5UM5G-85F-8BG554C", "--um5g-85k --package CABGA554 --speed 8", 259),
            ("LFE5UM5G-25F", "--um5g-25k --package CABGA381 --speed 8", 197),
            ("iCE40HX8K-CT256", "--hx8k --package ct256", 206),
            ("ICE40UP5K-SG48I", "--up5k --package sg48", 39),
            ("ice40lp1k-cm36tr", "--lp1k --package cm36", 25),
            ("iCE40HX4K", "--hx4k --package tq144", 107),
        ] {
            let device = nextpnr_device(part).expect(part);
            assert_eq!((device.options.as_str(), device.pins), (options, pins), "{part}");
        }
        for (part, message) in [
            ("LFE5U-25F-6BG554C", "the device has TG144, BG256, MG285, BG381"),
            ("LFE5UM-25F-6BG256C", "the device has MG285, BG381"),
            ("LFE5U-25F-9BG256C", "the device has 6, 7, 8"),
            ("LFE5UM5G-25F-6BG381C", "the device has 8"),
            ("iCE40UP5K-CT256", "the device has SG48, UWG30"),
        ] {
            assert!(nextpnr_device(part).expect_err(part).contains(message), "{part}");
        }
    }
}
