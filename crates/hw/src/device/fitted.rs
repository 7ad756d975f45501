//! Written by `benches/qor/fit.py` from `fit_data.json`; do not edit.

use super::technology::{ErrorOf, Scale, Times};

pub(super) const ULTRASCALE_PLUS: Scale = Scale { logic: 1.035, multiplexers: 0.848, carry: 0.955 };
pub(super) const ULTRASCALE_PLUS_ERROR: ErrorOf = ErrorOf { lut: Some(0.170), clock: None };

pub(super) const SERIES7: Scale = Scale { logic: 1.000, multiplexers: 1.063, carry: 0.998 };
pub(super) const SERIES7_ERROR: ErrorOf = ErrorOf { lut: Some(0.150), clock: None };

pub(super) const ECP5: Scale = Scale { logic: 0.996, multiplexers: 1.020, carry: 0.991 };
pub(super) const ECP5_ERROR: ErrorOf = ErrorOf { lut: Some(0.164), clock: Some(0.171) };
pub(super) const ECP5_TIMES: Times = Times {
    register: 0.992,
    table: 1.116,
    wide_input: 0.499,
    chain: 1.833,
    carry: 0.0294,
    multiplier: 4.0,
    spread: 0.070,
};

pub(super) const ICE40: Scale = Scale { logic: 0.981, multiplexers: 1.049, carry: 1.000 };
pub(super) const ICE40_ERROR: ErrorOf = ErrorOf { lut: Some(0.261), clock: Some(0.120) };
pub(super) const ICE40_TIMES: Times = Times {
    register: 1.983,
    table: 0.882,
    wide_input: 0.000,
    chain: 1.319,
    carry: 0.1205,
    multiplier: 0.0,
    spread: 0.200,
};
