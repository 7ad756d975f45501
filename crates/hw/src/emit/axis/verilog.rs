//! Code generator for the wrapper in Verilog-2001 and SystemVerilog-2017.

use super::Axis;
use super::view::{Dialect, View};
use askama::Template;

pub(super) fn text(axis: &Axis, is_system: bool) -> String {
    let w = if is_system { &SYSTEM_VERILOG_2017 } else { &VERILOG_2001 };
    File { v: View::new::<Verilog>(axis), w }.render().expect("templates always render") + "\n"
}

#[derive(Template)]
#[template(path = "wrapper/axis.v")]
struct File<'a> {
    v: View<'a>,
    w: &'a Keywords,
}

/// Keywords that differ between the standards. Icarus 11 prints a message for every part of a vector in an
/// `always_comb`.
struct Keywords {
    reg: &'static str,
    always_ff: &'static str,
}

const VERILOG_2001: Keywords = Keywords { reg: "reg", always_ff: "always" };
const SYSTEM_VERILOG_2017: Keywords = Keywords { reg: "logic", always_ff: "always_ff" };

/// Dialect of both standards.
struct Verilog;

impl Dialect for Verilog {
    const ZERO: &'static str = "1'b0";

    /// Returns a range such as `[7:0] `; one bit of data is a vector, too.
    fn range(width: u32) -> String {
        format!("[{}:0] ", width - 1)
    }

    fn part(name: &str, whole: u32, lo: u32, width: u32) -> String {
        match width {
            0 => String::new(),
            _ if width == whole => name.to_owned(),
            1 => format!("{name}[{lo}]"),
            _ => format!("{name}[{}:{lo}]", lo + width - 1),
        }
    }

    fn bit(name: &str, whole: u32, index: u32) -> String {
        Verilog::part(name, whole, index, 1)
    }

    fn fill(bit: &str, count: u32) -> String {
        format!("{{{count}{{{bit}}}}}")
    }

    fn concat(high: &str, low: &str) -> String {
        format!("{{{high}, {low}}}")
    }

    fn number(width: u32, value: u32) -> String {
        format!("{width}'d{value}")
    }

    fn connection(port: &str, signal: &str) -> String {
        format!(".{port}({signal})")
    }
}
