//! Code generator for the wrapper in the common subset of VHDL-1993 and VHDL-2008.

use super::super::latin1;
use super::Axis;
use super::view::{Dialect, View};
use askama::Template;

pub(super) fn text(axis: &Axis) -> String {
    let text = File { v: View::new::<Vhdl>(axis) }.render().expect("templates always render") + "\n";
    latin1::escaped(&text).into_owned()
}

#[derive(Template)]
#[template(path = "wrapper/axis.vhd")]
struct File<'a> {
    v: View<'a>,
}

/// Dialect of VHDL-93.
struct Vhdl;

impl Dialect for Vhdl {
    const ZERO: &'static str = "'0'";

    /// Returns a range such as `(7 downto 0)`.
    fn range(width: u32) -> String {
        format!("({} downto 0)", width - 1)
    }

    /// Always returns a slice, even of one bit: both sides of an assignment are vectors.
    fn part(name: &str, _whole: u32, lo: u32, width: u32) -> String {
        match width {
            0 => String::new(),
            _ => format!("{name}({} downto {lo})", lo + width - 1),
        }
    }

    fn bit(name: &str, _whole: u32, index: u32) -> String {
        format!("{name}({index})")
    }

    fn fill(bit: &str, _count: u32) -> String {
        format!("(others => {bit})")
    }

    fn concat(high: &str, low: &str) -> String {
        format!("{high} & {low}")
    }

    fn number(_width: u32, value: u32) -> String {
        value.to_string()
    }

    fn connection(port: &str, signal: &str) -> String {
        format!("{port} => {signal}")
    }
}
