//! Options of a project folder, and the specification of its hardware.

use super::{BOARDS, Board, CoreName, Flow, default_part, families, find, nextpnr_device};
use crate::compile::{NOT_WITH_WRAPPER, Spec, Stages};
use crate::options::{
    HardwareOptions, NamedDevice, OptionFault, OptionValue, choices, invalid, path, text, texts, unsigned, within,
};
use crate::verify::options::SampleOptions;
use alir_core::diag::{Diagnostic, Place, four_digits};
use alir_core::files;
use alir_hw::emit::axis::Packing;
use std::path::PathBuf;

/// Default width of a board's streams in bits: the width of its memory ports.
const BOARD_STREAM: u32 = 64;
/// Stream widths that the DMA engine of a board supports, in bits.
const DMA_STREAMS: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];
/// Default clock period, in nanoseconds.
const DEFAULT_CLOCK: f64 = 5.0;

/// Options of a project folder, and of its hardware.
#[derive(Clone, Debug)]
pub struct ProjectOptions {
    /// Folder of the project.
    pub output: PathBuf,
    /// Flows, in order, each once.
    pub flows: Vec<Flow>,
    /// Board with a processor.
    pub board: Option<&'static Board>,
    /// Samples in the testbenches.
    pub samples: u32,
    /// Seed of samples and stalls.
    pub seed: u64,
    /// Vendor of the core.
    pub core_vendor: String,
    /// Library of the core.
    pub core_library: String,
    /// Name of the core; `None`: the name of the module.
    pub core_name: Option<String>,
    /// Version of the core.
    pub core_version: String,
    /// The user's own samples.
    pub own: SampleOptions,
    /// Options of the hardware; [`ProjectOptions::problems`] reports unknown devices.
    pub hardware: HardwareOptions,
}

impl Default for ProjectOptions {
    fn default() -> ProjectOptions {
        ProjectOptions {
            output: PathBuf::new(),
            flows: vec![Flow::Plain],
            board: None,
            samples: 200,
            seed: 1,
            core_vendor: "alir2hdl".into(),
            core_library: "model".into(),
            core_name: None,
            core_version: "1.0.0".into(),
            own: SampleOptions::default(),
            hardware: HardwareOptions::default(),
        }
    }
}

/// Returns the board with this name.
///
/// # Errors
/// A message with the names of all boards.
pub fn board(text: &str) -> Result<&'static Board, String> {
    let known = || BOARDS.iter().map(|board| board.name).collect::<Vec<_>>().join(", ");
    let found = BOARDS.iter().find(|board| board.name.eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("no such board; known are {}", known()))
}

fn refuse(flag: &str, message: String) -> Diagnostic {
    Diagnostic::error("E0805", Place::Flag(flag.into()), message)
}

impl ProjectOptions {
    /// Names of the options, without those of the hardware.
    pub const NAMES: &'static [&'static str] = &[
        "flow",
        "board",
        "vectors",
        "samples",
        "seed",
        "core_vendor",
        "core_library",
        "core_name",
        "core_version",
        "input",
        "array",
        "expect",
        "expect_array",
        "codes",
    ];

    /// Sets an option of the project or of its hardware by its name.
    ///
    /// # Errors
    /// If no option has that name; if the value is invalid.
    pub fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), OptionFault> {
        let result = match name {
            "output" => path(value).map(|folder| self.output = folder),
            "flow" => choices(value, &Flow::ALL.map(|flow| (flow.name(), flow))).map(|flows| self.set_flows(flows)),
            "board" => text(value).and_then(|name| {
                self.board = Some(board(&name)?);
                Ok(())
            }),
            "vectors" | "samples" => within(value, 1..=1_000_000).map(|count| self.samples = count),
            "seed" => unsigned(value).map(|seed| self.seed = seed),
            "core_vendor" => text(value).map(|vendor| self.core_vendor = vendor),
            "core_library" => text(value).map(|library| self.core_library = library),
            "core_name" => text(value).map(|name| self.core_name = Some(name)),
            "core_version" => text(value).map(|version| self.core_version = version),
            "device" | "part" => texts(value)
                .map(|names| self.hardware.devices.extend(names.into_iter().map(|text| NamedDevice { text }))),
            "input" | "array" | "expect" | "expect_array" | "codes" => return self.own.set(name, value),
            _ => return self.hardware.set(name, value),
        };
        result.map_err(|expected| invalid(name, value, expected))
    }

    /// Stores the flows, in order, each once.
    pub fn set_flows(&mut self, mut flows: Vec<Flow>) {
        flows.sort();
        flows.dedup();
        self.flows = flows;
    }

    /// Returns the flows with files for one part.
    fn flows_with_part(&self) -> impl Iterator<Item = Flow> {
        self.flows.iter().copied().filter(|flow| flow.has_part())
    }

    /// Returns the errors of the folder's options.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let with_parts: Vec<Flow> = self.flows_with_part().collect();
        let mut of_flows: Vec<(Flow, &NamedDevice)> = Vec::new();
        for named in &self.hardware.devices {
            let name = &named.text;
            if named.figures().is_none() {
                if let Some(meant) = NamedDevice::meant(name) {
                    problems.push(refuse("--device", format!("{name:?} is no device")).with_help(meant));
                    continue;
                }
                let nearest = find(name).err().flatten();
                let guess = nearest.map(|device| format!("did you mean one that begins with {device}? "));
                let (guess, known) = (guess.unwrap_or_default(), families().join(", "));
                let help =
                    format!("{guess}known part numbers begin with {known}; `alir2hdl devices` lists families too");
                problems.push(refuse("--device", format!("no known part begins like {name:?}")).with_help(help));
            } else if let Some(flow) = named.part().and_then(|part| find(part).ok()).map(|part| part.flow)
                && !with_parts.is_empty()
                && !with_parts.contains(&flow)
            {
                let flow = flow.name();
                let message = format!("{name} is a device of --flow {flow}, which this folder is not for");
                let help = format!("add --flow {flow}, or name a device of the flows (`alir2hdl devices`)");
                problems.push(refuse("--device", message).with_help(help));
            } else if let Some((part, number)) = named.part().and_then(|number| Some((find(number).ok()?, number))) {
                if let (Flow::Yosys, Err(message)) = (part.flow, nextpnr_device(number)) {
                    let help = "`alir2hdl devices` lists families; the data sheet of the family lists part numbers";
                    problems.push(refuse("--device", format!("{name}: {message}")).with_help(help));
                }
                // A family may be given together with one of its parts, which the scripts then name.
                let conflicts =
                    |other: &NamedDevice| other.is_family() == named.is_family() || other.figures() != named.figures();
                match of_flows.iter().find(|(flow, other)| *flow == part.flow && conflicts(other)) {
                    Some((_, first)) => {
                        let first = &first.text;
                        let message =
                            format!("{first} and {name} are of one vendor, and a folder has one part of each");
                        problems.push(refuse("--device", message).with_help("write a folder for each of them"));
                    }
                    None => of_flows.push((part.flow, named)),
                }
            }
        }
        if self.hardware.assertions {
            let message = "a project has Verilog-2001 and VHDL, and assertions are SystemVerilog".to_owned();
            problems.push(refuse("--assertions", message).with_help("use generate -o FILE.sv --assertions"));
        }
        if self.board.is_some() && !self.flows.contains(&Flow::Vivado) {
            problems.push(refuse("--board", "boards are made by Vivado".to_owned()).with_help("add --flow vivado"));
        }
        if self.board.is_some() && self.hardware.no_wrapper {
            let message = "a board's module has AXI4-Stream ports".to_owned();
            problems.push(refuse("--board", message).with_help("leave out --board, or --wrapper none"));
        }
        let figures = self.board.and_then(|board| find(board.part).ok()).map(|part| part.figures());
        let is_other = |device: &NamedDevice| !device.is_family() || device.figures() != figures;
        if self.board.is_some() && of_flows.iter().any(|(flow, device)| *flow == Flow::Vivado && is_other(device)) {
            let message = "the board has its own part".to_owned();
            problems.push(refuse("--device", message).with_help("leave --device out, or --board"));
        }
        let numbers: Vec<&str> = self.core_version.split('.').collect();
        let number = |n: &&str| !n.is_empty() && n.len() < 10 && n.bytes().all(|b| b.is_ascii_digit());
        if numbers.len() != 3 || !numbers.iter().all(number) {
            let message = format!("{:?} is no version", self.core_version);
            problems.push(refuse("--core-version", message).with_help("three numbers with dots: 1.0.0"));
        }
        let words = [("--core-vendor", Some(&self.core_vendor)), ("--core-library", Some(&self.core_library))];
        for (flag, word) in words.into_iter().chain([("--core-name", self.core_name.as_ref())]) {
            let Some(word) = word else { continue };
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if word.len() > 64 || !word.starts_with(|c: char| c.is_ascii_alphabetic()) || !word.chars().all(is_plain) {
                let message = format!("{word:?} is no part of a core's name");
                problems.push(refuse(flag, message).with_help("a letter, then letters, digits, `.`, `_` and `-`"));
            }
        }
        // A run that ended because of a full disk may have left empty folders.
        let occupied = self.output.is_dir() && !files::holds_no_file(&self.output).unwrap_or(false);
        if occupied && !self.output.join("metadata.json").is_file() {
            let message = format!("{} holds something that is no project", self.output.display());
            problems.push(refuse("--output", message).with_help("name a new folder"));
        }
        problems
    }

    /// Returns the parts: the board's part first, then the parts that the user named, then usual parts of the named
    /// families.
    pub fn parts(&self) -> Vec<&str> {
        let board = self.board.iter().map(|board| board.part);
        let (families, named): (Vec<_>, Vec<_>) = self.hardware.devices.iter().partition(|named| named.is_family());
        board.chain(named.into_iter().chain(families).filter_map(NamedDevice::part)).collect()
    }

    /// Returns a description of the parts of the flows (or of the device, if no flow has a part) and of the clock. A
    /// part without package is shown with the default package for nextpnr.
    pub fn purpose(&self, spec: &Spec) -> String {
        let named = self.parts();
        let part = |flow: Flow| {
            let is_of_flow = |part: &&&str| find(part).is_ok_and(|known| known.flow == flow);
            let part = named.iter().find(is_of_flow).map_or(default_part(flow), |part| *part);
            let is_bare = flow == Flow::Yosys && find(part).is_ok_and(|known| known.prefix.len() == part.len());
            match nextpnr_device(part) {
                Ok(device) if is_bare => format!("{part} ({})", device.options),
                _ => part.to_owned(),
            }
        };
        let parts: Vec<String> = self.flows_with_part().map(part).collect();
        let device = if parts.is_empty() { spec.device().name().to_owned() } else { parts.join(", ") };
        format!("{device} at {} ns", four_digits(self.period()))
    }

    /// Returns the clock period of the folder, in nanoseconds.
    pub fn period(&self) -> f64 {
        self.hardware.period().filter(|ns| *ns > 0.0).unwrap_or(DEFAULT_CLOCK)
    }

    /// Returns `true` if the clock period is a default rather than a requested one.
    pub fn is_default_clock(&self) -> bool {
        self.hardware.period().is_none()
    }

    /// Returns the options that set the core's name, vendor, library or version to another value than the default.
    pub fn given_of_core(&self) -> impl Iterator<Item = &'static str> {
        let default = ProjectOptions::default();
        let options = [
            ("--core-vendor", self.core_vendor != default.core_vendor),
            ("--core-library", self.core_library != default.core_library),
            ("--core-name", self.core_name != default.core_name),
            ("--core-version", self.core_version != default.core_version),
        ];
        options.into_iter().filter_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Returns the identifier of the core.
    pub fn core(&self) -> CoreName<'_> {
        CoreName {
            vendor: &self.core_vendor,
            library: &self.core_library,
            name: self.core_name.as_deref(),
            version: &self.core_version,
        }
    }

    /// Returns the errors of the hardware options of `spec`. Errors about a wrapper that a board implies name the
    /// board.
    pub fn hardware_problems(&self, spec: &Spec) -> Vec<Diagnostic> {
        let mut problems = self.with_board_wrapper().problems();
        problems.extend(self.board_problems(spec));
        problems.extend(spec.problems());
        if self.board.is_some() && !self.hardware.axis {
            for problem in problems.iter_mut().filter(|problem| problem.message == NOT_WITH_WRAPPER) {
                "incompatible with --board, which implies --wrapper axis".clone_into(&mut problem.message);
            }
        }
        problems
    }

    /// Returns the errors of a board's streams.
    fn board_problems(&self, spec: &Spec) -> Vec<Diagnostic> {
        let (Some(_), Some(streams)) = (self.board, &spec.wrapper) else { return Vec::new() };
        let mut problems = Vec::new();
        if let Some(width) = streams.width.filter(|width| !DMA_STREAMS.contains(width)) {
            let message = format!("the DMA engine of a board has no streams of {width} bits");
            problems.push(refuse("--axis-width", message).with_help("8, 16, 32, 64, 128, 256, 512 or 1024"));
        }
        if streams.packing == Packing::Dense {
            let message = "the driver of a board reads slots of whole bytes".to_owned();
            problems.push(refuse("--packing", message).with_help("leave --packing out"));
        }
        problems
    }

    /// Returns a warning about a clock above the limit of the processor's AXI ports, which have the same clock as the
    /// model in the board's design.
    pub fn board_clock(&self) -> Option<Diagnostic> {
        let board = self.board.filter(|board| 1000.0 / self.period() > f64::from(board.most_mhz))?;
        let (clock, most) = (four_digits(1000.0 / self.period()), board.most_mhz);
        let message =
            format!("{clock} MHz, and the AXI ports of the processor on {} run at {most} MHz at most", board.name);
        let help = format!("--freq {most} or less");
        let flag = if self.hardware.freq.is_some() { "--freq" } else { "--clock-period" };
        Some(Diagnostic::warning("W0808", Place::Flag(flag.into()), message).with_help(help))
    }

    /// Returns the options of the hardware, with the AXI4-Stream wrapper that a board implies.
    pub fn with_board_wrapper(&self) -> HardwareOptions {
        let mut hardware = self.hardware.clone();
        if self.board.is_some() {
            if !hardware.axis && hardware.axis_user == HardwareOptions::default().axis_user {
                // The DMA engine has no `tuser`.
                hardware.axis_user = 0;
            }
            hardware.axis = true;
            hardware.axis_width = hardware.axis_width.or(Some(BOARD_STREAM));
        }
        hardware
    }

    /// Returns the specification of the hardware, for the named device, otherwise for the default part of the first
    /// flow. `stem` is the default name of the module.
    pub fn spec(&self, stem: &str) -> Spec {
        let mut spec = self.with_board_wrapper().spec(stem);
        let of_part = || self.parts().into_iter().find_map(|part| find(part).ok());
        spec.target.device = spec.target.device.or_else(|| of_part().map(|part| part.figures()));
        // A folder has a clock period, which the schedule meets unless the stages are given.
        let pipeline = &mut spec.pipeline;
        let is_given = pipeline.stages.is_some_and(|stages| stages != Stages::Fewest)
            || pipeline.max_stage_delay.is_some()
            || pipeline.interval.is_some()
            || pipeline.budget.is_some();
        if !is_given {
            pipeline.stages = Some(Stages::Fewest);
            spec.clock.period = spec.clock.period.or(Some(DEFAULT_CLOCK));
        }
        let default = self.flows.first().and_then(|flow| find(default_part(*flow)).ok());
        spec.target.fallback = default.map(|part| part.figures());
        spec
    }

    /// Returns warnings about devices without package or speed grade, which the vendors' tools reject.
    pub fn parts_without_package(&self) -> Vec<Diagnostic> {
        let lacks =
            |part: &&str| find(part).is_ok_and(|family| self.flows.contains(&family.flow) && !family.has_package(part));
        let warning = |part: &str| {
            let message = format!(
                "{part} is no whole part number, with package and speed grade as the tool of its vendor writes them"
            );
            let example = match find(part) {
                Ok(family) if family.is_series_7() => "xc7z020clg400-1",
                Ok(family) => default_part(family.flow),
                Err(_) => default_part(Flow::Vivado),
            };
            let help = format!("give the whole part number, such as {example}");
            Diagnostic::warning("W0805", Place::Flag("--device".into()), message).with_help(help)
        };
        self.parts().into_iter().filter(lacks).map(warning).collect()
    }

    /// Returns notes about a default part and a default clock.
    pub fn assumptions(&self) -> Vec<Diagnostic> {
        let clock = self.is_default_clock().then(|| {
            let message = format!("no clock is given: the folder is for {} ns", four_digits(self.period()));
            let help = "--clock-period NS or --freq MHZ takes another clock";
            Diagnostic::note("N0803", Place::Flag("--clock-period".into()), message).with_help(help)
        });
        self.default_part_note().into_iter().chain(clock).collect()
    }

    /// Returns a note about a default part; `None` if a device or board is named.
    fn default_part_note(&self) -> Option<Diagnostic> {
        if !self.hardware.devices.is_empty() || self.board.is_some() {
            return None;
        }
        let mut parts: Vec<&str> = self.flows_with_part().map(default_part).collect();
        if parts.is_empty() {
            // The schedule is for this part.
            parts.extend(self.flows.first().map(|flow| default_part(*flow)));
        }
        let message = format!("no device is named: the folder is for {}", parts.join(", "));
        let help = "--device NAME takes another part or family; `alir2hdl devices` lists them";
        Some(Diagnostic::note("N0803", Place::Flag("--device".into()), message).with_help(help))
    }
}
