//! Locations in an ALIR file, with the names that the specification gives to the positional arrays.

use alir_core::ir::{Part, Site};
use std::fmt;

/// Layout of a record, which follows from the length of the record, not from the version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[id0, id1, opcode, data, qint, latency, cost]`.
    V2,
    /// `[addr[], opcode, data[], qint, latency, cost]`.
    V3,
}

/// A field of an operation's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Whole,
    Id0,
    Id1,
    Addrs,
    Addr(usize),
    Opcode,
    /// The integer of version 2, or the array of versions 3 and 4.
    Data,
    DataAt(usize),
    Interval,
    Min,
    Max,
    Step,
    Latency,
    Cost,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Meta,
    SpecVersion,
    Model,
    /// A part of the model array, by its name.
    Part(&'static str),
    Entry(&'static str, usize),
    Op(usize, Field),
    /// A table, and the path of one of its parts.
    Table(usize, &'static str),
    TableEntry(usize, usize),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Meta => f.write_str("meta"),
            At::SpecVersion => f.write_str("spec_version"),
            At::Model => f.write_str("model"),
            At::Part(name) => write!(f, "model.{name}"),
            At::Entry(name, i) => write!(f, "model.{name}[{i}]"),
            At::Table(t, part) => write!(f, "model.lookup_tables[{t}]{part}"),
            At::TableEntry(t, k) => write!(f, "model.lookup_tables[{t}].table[{k}]"),
            At::Op(i, field) => {
                write!(f, "model.ops[{i}]")?;
                match field {
                    Field::Whole => Ok(()),
                    Field::Id0 => f.write_str(".id0"),
                    Field::Id1 => f.write_str(".id1"),
                    Field::Addrs => f.write_str(".addr"),
                    Field::Addr(k) => write!(f, ".addr[{k}]"),
                    Field::Opcode => f.write_str(".opcode"),
                    Field::Data => f.write_str(".data"),
                    Field::DataAt(k) => write!(f, ".data[{k}]"),
                    Field::Interval => f.write_str(".qint"),
                    Field::Min => f.write_str(".qint.min"),
                    Field::Max => f.write_str(".qint.max"),
                    Field::Step => f.write_str(".qint.step"),
                    Field::Latency => f.write_str(".latency"),
                    Field::Cost => f.write_str(".cost"),
                }
            }
        }
    }
}

/// Returns the place of a problem that the checks of the model report; `layout` returns the layout of each record.
pub(super) fn site_place(site: Site, layout: impl Fn(usize) -> Layout) -> At {
    match site {
        Site::Model => At::Model,
        Site::InputShift(i) => At::Entry("inp_shifts", i),
        Site::OutputSource(j) => At::Entry("out_idxs", j),
        Site::OutputShift(j) => At::Entry("out_shifts", j),
        Site::Table(t) => At::Table(t, ".spec.out_qint"),
        Site::TableEntry(t, k) => At::TableEntry(t, k),
        Site::Op(i, part) => At::Op(i, field(part, layout(i))),
    }
}

fn field(part: Part, layout: Layout) -> Field {
    match (part, layout) {
        (Part::Whole, _) => Field::Whole,
        (Part::Interval, _) => Field::Interval,
        (Part::Latency, _) => Field::Latency,
        (Part::Cost, _) => Field::Cost,
        (Part::Input, Layout::V2) | (Part::Operand(0), Layout::V2) => Field::Id0,
        (Part::Operand(1), Layout::V2) => Field::Id1,
        // The condition of a multiplexer, the only third operand of version 2, is encoded in its data.
        (Part::Operand(_), Layout::V2) | (Part::Data(_), Layout::V2) => Field::Data,
        (Part::Operand(k), Layout::V3) => Field::Addr(k),
        (Part::Input, Layout::V3) => Field::DataAt(0),
        (Part::Data(k), Layout::V3) => Field::DataAt(k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_names_of_the_specification() {
        let place = |part, layout| site_place(Site::Op(17, part), |_| layout).to_string();
        assert_eq!(place(Part::Operand(0), Layout::V3), "model.ops[17].addr[0]");
        assert_eq!(place(Part::Operand(0), Layout::V2), "model.ops[17].id0");
        assert_eq!(place(Part::Operand(2), Layout::V2), "model.ops[17].data");
        assert_eq!(place(Part::Input, Layout::V2), "model.ops[17].id0");
        assert_eq!(place(Part::Input, Layout::V3), "model.ops[17].data[0]");
        assert_eq!(site_place(Site::TableEntry(2, 5), |_| Layout::V2).to_string(), "model.lookup_tables[2].table[5]");
    }
}
