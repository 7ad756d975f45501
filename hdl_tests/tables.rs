//! Tables of every width and shape, in every form, in every simulator.

use crate::harness::{Case, assert_equal_everywhere, optimised};
use alir2hdl::device::Device;
use alir2hdl::emit::{self, RomStyle};
use alir2hdl::netlist::Options;
use alir2hdl::random::tables;
use alir2hdl::schedule;

#[test]
fn sim_tables_are_equal_in_every_form() {
    let styles = [
        RomStyle::Pieces { table_inputs: 6 },
        RomStyle::Pieces { table_inputs: 4 },
        RomStyle::ByCost { device: Device::Ice40 },
        RomStyle::Auto,
        RomStyle::Block,
        RomStyle::Logic,
    ];
    let case = |seed: u64| {
        let model = tables::program(seed);
        let built = optimised(&model, (seed % 3) as u8);
        let stages = if seed % 4 == 3 { 2 } else { 0 };
        let schedule = schedule::random(&built, stages, false, seed);
        let options = Options { top: format!("table_{seed}"), ..Options::default() };
        let emit = emit::Options { rom_style: styles[seed as usize / 3 % styles.len()], ..emit::Options::default() };
        Case { emit, ..Case::of_optimised(&model, &built, &schedule, &options, 150, seed) }
    };
    let cases: Vec<Case> = (0..90).map(case).collect();
    assert_equal_everywhere(&cases);
}
