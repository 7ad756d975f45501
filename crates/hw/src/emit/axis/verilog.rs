//! The wrapper in Verilog-2001.

use super::Axis;
use super::view::{Dialect, View};
use askama::Template;

pub(super) fn text(axis: &Axis) -> String {
    File { v: View::new::<Verilog>(axis) }.render().expect("templates render what they are given") + "\n"
}

#[derive(Template)]
#[template(path = "wrapper/axis.v")]
struct File<'a> {
    v: View<'a>,
}

/// Verilog-2001.
struct Verilog;

impl Dialect for Verilog {
    const ZERO: &'static str = "1'b0";

    /// `[7:0] `; one bit of data is a vector too.
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
