//! Operation table of the LLVLIR specification: 281 rows in its order; the index of a row is its opcode.
//!
//! Errors of the specification are corrected here as `docs/llvlir.md` describes: row 47 is `addc.I`, rows 49 and 53
//! have a borrow input. [`Meaning`] names the operation of a row; the interpreter, the lowering and the prover
//! implement it independently of one another.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Interpretation of a bit pattern as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Two's complement.
    Signed,
    /// Unsigned binary number.
    Unsigned,
}

/// Direction of a shift or rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards bit 0; a shift inserts zeros.
    Right,
    /// Towards bit 0; a shift inserts copies of the sign.
    RightSigned,
    /// Away from bit 0.
    Left,
}

/// Operation on scalars, and on each lane of vectors. Operands are in the order of the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Copy of the operand.
    Move,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a + b + bit 0 of c`.
    AddCarry,
    /// `a - b - bit 0 of c`.
    SubBorrow,
    /// Bitwise and.
    And,
    /// Complement of bitwise and.
    Nand,
    /// `a & !b`.
    AndNot,
    /// Bitwise or.
    Or,
    /// Complement of bitwise or.
    Nor,
    /// `a | !b`.
    OrNot,
    /// Bitwise exclusive or.
    Xor,
    /// Complement of bitwise exclusive or.
    Xnor,
    /// `-a`.
    Neg,
    /// `!a`.
    Not,
    /// The smaller of two numbers.
    Min(Sign),
    /// The larger of two numbers.
    Max(Sign),
    /// The low half of the product.
    Mul,
    /// The high half of the product.
    MulHigh(Sign),
    /// Quotient, truncated towards zero.
    Div(Sign),
    /// Remainder with the dividend's sign.
    Rem(Sign),
    /// Shift by any number of places.
    Shift(Direction),
    /// Shift of two concatenated words, of which the first is the high word: the result is the low word of a right
    /// shift, or the high word of a left shift.
    Funnel(Direction),
    /// Comparison, whose kind is an operand: 1 if it holds, otherwise 0.
    Compare,
    /// The first value if the condition is not 0, otherwise the second.
    Select,
    /// Bytes in reverse order.
    ByteSwap,
    /// Number of zeros below the lowest 1 bit.
    TrailingZeros,
    /// Number of zeros above the highest 1 bit.
    LeadingZeros,
    /// Number of 1 bits.
    Ones,
    /// Bits in reverse order.
    BitReverse,
    /// Rotation by any number of places.
    Rotate(Direction),
    /// `(a >> offset) mod 2^count`.
    Extract,
    /// `(a mod 2^count) << offset`.
    Deposit,
    /// Extension to a width that is not narrower.
    Extend(Sign),
    /// Truncation to a width that is not wider.
    Truncate,
}

/// Operation of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Not supported: not part of straight-line integer logic.
    Refused,
    /// A scalar operation, applied to each lane, or once to scalars.
    Lanes(Lane),
    /// Bit k of a scalar is lane k of the mask.
    MaskFromBits,
    /// Vector with the scalar in lane 0 and zeros in the other lanes.
    FirstLane,
    /// Scalar with the value of lane 0.
    ReadFirstLane,
    /// Full products, in lanes of twice the width.
    WideMul(Sign),
    /// Lanes selected by fields of a scalar; each field has this number of bits.
    PermutePacked(u32),
    /// Lanes selected by lanes of a vector.
    Permute,
    /// Lanes moved by the number in lane 0 of the second operand.
    LaneShift {
        /// `true` if the lanes move towards lane 0.
        towards_zero: bool,
        /// `true` for a rotation, in which lanes that leave at one end re-enter at the other end.
        round: bool,
    },
    /// Alternating lanes of two vectors: lane `step * k + at` of the result is lane k of the first vector, the next
    /// lane is lane k of the second vector, all other lanes are 0.
    Zip {
        /// Lanes of the result for each lane of an operand.
        step: usize,
        /// Position of the pair.
        at: usize,
    },
    /// Lanes of two concatenated vectors whose number mod `step` is `at`.
    Unzip {
        /// Lanes of the operands for each lane of the result.
        step: usize,
        /// Index of the selected lane among `step` lanes.
        at: usize,
    },
    /// Exchange of neighbouring lanes.
    PairSwap,
    /// Sum or difference of neighbouring lanes.
    PairSum {
        /// `true` if the second lane is subtracted.
        subtract: bool,
    },
    /// Lane k is the sum of lanes 0 to k.
    RunningSum,
    /// Elements of a table, at one index for each lane.
    Gather,
    /// An element of a table.
    Load,
    /// Address moved by the given number of elements.
    MovePointer {
        /// `true` if the address moves towards element 0.
        back: bool,
    },
    /// The address of a table.
    Pointer,
    /// Name of a section of the program; without effect.
    Section,
    /// Name of a table or a result.
    Label,
    /// Elements of a table from a string.
    Text {
        /// Bytes of an element.
        unit: usize,
        /// `true` if a zero element follows the string.
        zero: bool,
    },
    /// One element of a table.
    Word,
    /// Several elements of a table.
    Array,
}

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    /// Name of the row without the suffix.
    pub name: &'static str,
    /// One letter for the kind of each parameter: `I` integer type, `V` lanes, `L` scope, `N` number, ....
    pub suffix: &'static str,
    /// One letter for the kind of each operand, with the result first (`v`: no result).
    pub template: &'static str,
    /// Operation of the row.
    pub meaning: Meaning,
}

impl Row {
    /// Returns the letters of the operands, without the result.
    pub fn operands(&self) -> &'static [u8] {
        &self.template.as_bytes()[1..]
    }

    /// Returns the letter of the result: the register file, or `v` for no result.
    pub fn result(&self) -> u8 {
        self.template.as_bytes()[0]
    }

    /// Returns the name and suffix in the spelling of the table: `add.VI`.
    pub fn title(&self) -> String {
        if self.suffix.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.name, self.suffix) }
    }

    /// Returns `true` if the row is part of the format but not supported here.
    pub fn is_refused(&self) -> bool {
        self.meaning == Meaning::Refused
    }

    /// Returns `true` if immediates of the row are signed.
    pub fn has_signed_immediate(&self) -> bool {
        matches!(self.name, "const" | "word" | "addi" | "subi" | "splati" | "ld" | "ldu")
    }

    /// Returns `true` if the row appends elements to a table.
    pub fn is_data(&self) -> bool {
        matches!(self.meaning, Meaning::Word | Meaning::Array | Meaning::Text { .. })
    }
}

/// Returns the indices of all rows with a name, in the order of the table.
pub fn rows_of(name: &str) -> &'static [u16] {
    static NAMES: OnceLock<HashMap<&'static str, Vec<u16>>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names: HashMap<&str, Vec<u16>> = HashMap::new();
        for (index, row) in ROWS.iter().enumerate() {
            names.entry(row.name).or_default().push(index as u16);
        }
        names
    });
    names.get(name).map_or(&[], Vec::as_slice)
}

const fn row(name: &'static str, suffix: &'static str, template: &'static str, meaning: Meaning) -> Row {
    Row { name, suffix, template, meaning }
}

use Direction::{Left, Right, RightSigned};
use Sign::{Signed, Unsigned};

/// Operation table.
pub static ROWS: [Row; 281] = [
    row("section", "", "vs", Meaning::Section),
    row("astring", "", "vs", Meaning::Text { unit: 1, zero: false }),
    row("astringz", "", "vs", Meaning::Text { unit: 1, zero: true }),
    row("ustring", "", "vs", Meaning::Text { unit: 1, zero: false }),
    row("ustringz", "", "vs", Meaning::Text { unit: 1, zero: true }),
    row("wstring", "", "vs", Meaning::Text { unit: 2, zero: false }),
    row("wstringz", "", "vs", Meaning::Text { unit: 2, zero: true }),
    row("word", "I", "vi", Meaning::Word),
    row("array", "NI", "vb", Meaning::Array),
    row("label", "L", "vl", Meaning::Label),
    row("consta", "L", "al", Meaning::Pointer),
    row("const", "I", "ri", Meaning::Lanes(Lane::Move)),
    row("constu", "I", "ri", Meaning::Lanes(Lane::Move)),
    row("const", "F", "fi", Meaning::Refused),
    row("sysbr", "I", "vi", Meaning::Refused),
    row("syscall", "I", "vi", Meaning::Refused),
    row("sysret", "I", "vi", Meaning::Refused),
    row("endbr", "I", "vi", Meaning::Refused),
    row("jalr", "", "aa", Meaning::Refused),
    row("jal", "L", "al", Meaning::Refused),
    row("j", "L", "vl", Meaning::Refused),
    row("cmpbr", "I", "vcrrl", Meaning::Refused),
    row("cmpbrlr", "I", "acrrl", Meaning::Refused),
    row("fence", "", "vo", Meaning::Refused),
    row("ld", "I", "raio", Meaning::Load),
    row("ldu", "I", "raio", Meaning::Load),
    row("ld", "F", "faio", Meaning::Refused),
    row("st", "I", "vaior", Meaning::Refused),
    row("st", "F", "vaiof", Meaning::Refused),
    row("ldidx", "I", "raarr", Meaning::Refused),
    row("ldidxu", "I", "raarr", Meaning::Refused),
    row("ldidx", "F", "raarr", Meaning::Refused),
    row("stidx", "I", "vaarrr", Meaning::Refused),
    row("stidx", "F", "vaarrr", Meaning::Refused),
    row("ll", "I", "raio", Meaning::Refused),
    row("llu", "I", "raio", Meaning::Refused),
    row("sc", "I", "raior", Meaning::Refused),
    row("mv", "", "rr", Meaning::Lanes(Lane::Move)),
    row("mvm", "", "mr", Meaning::MaskFromBits),
    row("mva", "", "ar", Meaning::Refused),
    row("addpc", "I", "arl", Meaning::Refused),
    row("addp", "I", "aar", Meaning::MovePointer { back: false }),
    row("subp", "I", "aar", Meaning::MovePointer { back: true }),
    row("pdiff", "I", "raa", Meaning::Refused),
    row("addi", "I", "rri", Meaning::Lanes(Lane::Add)),
    row("subi", "I", "rri", Meaning::Lanes(Lane::Sub)),
    row("add", "I", "rrr", Meaning::Lanes(Lane::Add)),
    row("addc", "I", "rrrr", Meaning::Lanes(Lane::AddCarry)),
    row("sub", "I", "rrr", Meaning::Lanes(Lane::Sub)),
    row("subb", "I", "rrrr", Meaning::Lanes(Lane::SubBorrow)),
    row("addu", "I", "rrr", Meaning::Lanes(Lane::Add)),
    row("addcu", "I", "rrrr", Meaning::Lanes(Lane::AddCarry)),
    row("subu", "I", "rrr", Meaning::Lanes(Lane::Sub)),
    row("subbu", "I", "rrrr", Meaning::Lanes(Lane::SubBorrow)),
    row("and", "I", "rrr", Meaning::Lanes(Lane::And)),
    row("nand", "I", "rrr", Meaning::Lanes(Lane::Nand)),
    row("andc", "I", "rrr", Meaning::Lanes(Lane::AndNot)),
    row("or", "I", "rrr", Meaning::Lanes(Lane::Or)),
    row("nor", "I", "rrr", Meaning::Lanes(Lane::Nor)),
    row("orc", "I", "rrr", Meaning::Lanes(Lane::OrNot)),
    row("xor", "I", "rrr", Meaning::Lanes(Lane::Xor)),
    row("xnor", "I", "rrr", Meaning::Lanes(Lane::Xnor)),
    row("neg", "I", "rr", Meaning::Lanes(Lane::Neg)),
    row("not", "I", "rr", Meaning::Lanes(Lane::Not)),
    row("min", "I", "rrr", Meaning::Lanes(Lane::Min(Signed))),
    row("max", "I", "rrr", Meaning::Lanes(Lane::Max(Signed))),
    row("minu", "I", "rrr", Meaning::Lanes(Lane::Min(Unsigned))),
    row("maxu", "I", "rrr", Meaning::Lanes(Lane::Max(Unsigned))),
    row("mul", "I", "rrr", Meaning::Lanes(Lane::Mul)),
    row("mulu", "I", "rrr", Meaning::Lanes(Lane::Mul)),
    row("mulh", "I", "rrr", Meaning::Lanes(Lane::MulHigh(Signed))),
    row("mulhu", "I", "rrr", Meaning::Lanes(Lane::MulHigh(Unsigned))),
    row("div", "I", "rrr", Meaning::Lanes(Lane::Div(Signed))),
    row("rem", "I", "rrr", Meaning::Lanes(Lane::Rem(Signed))),
    row("divu", "I", "rrr", Meaning::Lanes(Lane::Div(Unsigned))),
    row("remu", "I", "rrr", Meaning::Lanes(Lane::Rem(Unsigned))),
    row("srl", "I", "rrr", Meaning::Lanes(Lane::Shift(Right))),
    row("sra", "I", "rrr", Meaning::Lanes(Lane::Shift(RightSigned))),
    row("sll", "I", "rrr", Meaning::Lanes(Lane::Shift(Left))),
    row("srli", "I", "rri", Meaning::Lanes(Lane::Shift(Right))),
    row("srai", "I", "rri", Meaning::Lanes(Lane::Shift(RightSigned))),
    row("slli", "I", "rri", Meaning::Lanes(Lane::Shift(Left))),
    row("fsrl", "I", "rrrr", Meaning::Lanes(Lane::Funnel(Right))),
    row("fsra", "I", "rrrr", Meaning::Lanes(Lane::Funnel(RightSigned))),
    row("fsll", "I", "rrrr", Meaning::Lanes(Lane::Funnel(Left))),
    row("fsrai", "I", "rrri", Meaning::Lanes(Lane::Funnel(RightSigned))),
    row("fsrli", "I", "rrri", Meaning::Lanes(Lane::Funnel(Right))),
    row("fslli", "I", "rrri", Meaning::Lanes(Lane::Funnel(Left))),
    row("cmps", "I", "rcrr", Meaning::Lanes(Lane::Compare)),
    row("select", "I", "rrrr", Meaning::Lanes(Lane::Select)),
    row("amoadd", "I", "roar", Meaning::Refused),
    row("amoand", "I", "roar", Meaning::Refused),
    row("amoor", "I", "roar", Meaning::Refused),
    row("amoxor", "I", "roar", Meaning::Refused),
    row("amomin", "I", "roar", Meaning::Refused),
    row("amomax", "I", "roar", Meaning::Refused),
    row("amominu", "I", "roar", Meaning::Refused),
    row("amomaxu", "I", "roar", Meaning::Refused),
    row("amoswap", "I", "roa", Meaning::Refused),
    row("cmpswap", "I", "rcoar", Meaning::Refused),
    row("bswap", "I", "rr", Meaning::Lanes(Lane::ByteSwap)),
    row("ctz", "I", "rr", Meaning::Lanes(Lane::TrailingZeros)),
    row("clz", "I", "rr", Meaning::Lanes(Lane::LeadingZeros)),
    row("popc", "I", "rr", Meaning::Lanes(Lane::Ones)),
    row("brev", "I", "rr", Meaning::Lanes(Lane::BitReverse)),
    row("ror", "I", "rrr", Meaning::Lanes(Lane::Rotate(Right))),
    row("rol", "I", "rrr", Meaning::Lanes(Lane::Rotate(Left))),
    row("rori", "I", "rri", Meaning::Lanes(Lane::Rotate(Right))),
    row("roli", "I", "rri", Meaning::Lanes(Lane::Rotate(Left))),
    row("extract", "I", "rrii", Meaning::Lanes(Lane::Extract)),
    row("deposit", "I", "rrii", Meaning::Lanes(Lane::Deposit)),
    row("sext", "II", "rr", Meaning::Lanes(Lane::Extend(Signed))),
    row("zext", "II", "rr", Meaning::Lanes(Lane::Extend(Unsigned))),
    row("trunc", "II", "rr", Meaning::Lanes(Lane::Truncate)),
    row("cvt", "FI", "frd", Meaning::Refused),
    row("cvtu", "FI", "frd", Meaning::Refused),
    row("cvt", "IF", "rf", Meaning::Refused),
    row("cvt", "FF", "ffd", Meaning::Refused),
    row("frac", "IF", "rfd", Meaning::Refused),
    row("exp", "IF", "rfd", Meaning::Refused),
    row("comp", "FI", "frrd", Meaning::Refused),
    row("fgetrm", "", "r", Meaning::Refused),
    row("fgetex", "", "r", Meaning::Refused),
    row("fsetrm", "", "vr", Meaning::Refused),
    row("fsetex", "", "vr", Meaning::Refused),
    row("mv", "F", "ff", Meaning::Refused),
    row("madd", "F", "ffffd", Meaning::Refused),
    row("msub", "F", "ffffd", Meaning::Refused),
    row("mnadd", "F", "ffffd", Meaning::Refused),
    row("mnsub", "F", "ffffd", Meaning::Refused),
    row("add", "F", "fffd", Meaning::Refused),
    row("sub", "F", "fffd", Meaning::Refused),
    row("mul", "F", "fffd", Meaning::Refused),
    row("div", "F", "fffd", Meaning::Refused),
    row("copysign", "F", "fff", Meaning::Refused),
    row("copysign_xor", "F", "fff", Meaning::Refused),
    row("copysign_not", "F", "fff", Meaning::Refused),
    row("min", "F", "fff", Meaning::Refused),
    row("max", "F", "fff", Meaning::Refused),
    row("sqrt", "F", "ffd", Meaning::Refused),
    row("cmps", "F", "rcff", Meaning::Refused),
    row("select", "F", "frff", Meaning::Refused),
    row("class", "F", "rf", Meaning::Refused),
    row("ld", "VI", "xaiom", Meaning::Refused),
    row("ldu", "VI", "xaiom", Meaning::Refused),
    row("ld", "VF", "xaiom", Meaning::Refused),
    row("st", "VI", "vaioxm", Meaning::Refused),
    row("st", "VF", "vaioxm", Meaning::Refused),
    row("gather", "VII", "xaxom", Meaning::Gather),
    row("gatheru", "VII", "xaxom", Meaning::Gather),
    row("gather", "VIF", "xaxom", Meaning::Refused),
    row("scatter", "VII", "vaxoxm", Meaning::Refused),
    row("scatteru", "VII", "vaxoxm", Meaning::Refused),
    row("scatter", "VIF", "vaxoxm", Meaning::Refused),
    row("mv.x.x", "VI", "xx", Meaning::Lanes(Lane::Move)),
    row("mv.x.r", "VI", "xr", Meaning::FirstLane),
    row("mv.r.x", "VI", "rx", Meaning::ReadFirstLane),
    row("splati", "VI", "xim", Meaning::Lanes(Lane::Move)),
    row("splatui", "VI", "xim", Meaning::Lanes(Lane::Move)),
    row("splat", "VI", "xrm", Meaning::Lanes(Lane::Move)),
    row("add", "VI", "xxxm", Meaning::Lanes(Lane::Add)),
    row("addc", "VI", "xxxm", Meaning::Lanes(Lane::AddCarry)),
    row("sub", "VI", "xxxm", Meaning::Lanes(Lane::Sub)),
    row("subb", "VI", "xxxm", Meaning::Lanes(Lane::SubBorrow)),
    row("addu", "VI", "xxxm", Meaning::Lanes(Lane::Add)),
    row("addcu", "VI", "xxxm", Meaning::Lanes(Lane::AddCarry)),
    row("subu", "VI", "xxxm", Meaning::Lanes(Lane::Sub)),
    row("subbu", "VI", "xxxm", Meaning::Lanes(Lane::SubBorrow)),
    row("and", "VI", "xxxm", Meaning::Lanes(Lane::And)),
    row("nand", "VI", "xxxm", Meaning::Lanes(Lane::Nand)),
    row("andc", "VI", "xxxm", Meaning::Lanes(Lane::AndNot)),
    row("or", "VI", "xxxm", Meaning::Lanes(Lane::Or)),
    row("nor", "VI", "xxxm", Meaning::Lanes(Lane::Nor)),
    row("orc", "VI", "xxxm", Meaning::Lanes(Lane::OrNot)),
    row("xor", "VI", "xxxm", Meaning::Lanes(Lane::Xor)),
    row("xnor", "VI", "xxxm", Meaning::Lanes(Lane::Xnor)),
    row("neg", "VI", "xxm", Meaning::Lanes(Lane::Neg)),
    row("not", "VI", "xxm", Meaning::Lanes(Lane::Not)),
    row("min", "VI", "xxxm", Meaning::Lanes(Lane::Min(Signed))),
    row("max", "VI", "xxxm", Meaning::Lanes(Lane::Max(Signed))),
    row("minu", "VI", "xxxm", Meaning::Lanes(Lane::Min(Unsigned))),
    row("maxu", "VI", "xxxm", Meaning::Lanes(Lane::Max(Unsigned))),
    row("mul", "VI", "xxxm", Meaning::Lanes(Lane::Mul)),
    row("mul", "VID", "xxxm", Meaning::WideMul(Signed)),
    row("mulu", "VI", "xxxm", Meaning::Lanes(Lane::Mul)),
    row("mulu", "VID", "xxxm", Meaning::WideMul(Unsigned)),
    row("mulh", "VI", "xxxm", Meaning::Lanes(Lane::MulHigh(Signed))),
    row("mulhu", "VI", "xxxm", Meaning::Lanes(Lane::MulHigh(Unsigned))),
    row("div", "VI", "xxxm", Meaning::Lanes(Lane::Div(Signed))),
    row("rem", "VI", "xxxm", Meaning::Lanes(Lane::Rem(Signed))),
    row("divu", "VI", "xxxm", Meaning::Lanes(Lane::Div(Unsigned))),
    row("remu", "VI", "xxxm", Meaning::Lanes(Lane::Rem(Unsigned))),
    row("srl", "VI", "xxrm", Meaning::Lanes(Lane::Shift(Right))),
    row("sra", "VI", "xxrm", Meaning::Lanes(Lane::Shift(RightSigned))),
    row("sll", "VI", "xxrm", Meaning::Lanes(Lane::Shift(Left))),
    row("srli", "VI", "xxim", Meaning::Lanes(Lane::Shift(Right))),
    row("srai", "VI", "xxim", Meaning::Lanes(Lane::Shift(RightSigned))),
    row("slli", "VI", "xxim", Meaning::Lanes(Lane::Shift(Left))),
    row("srlx", "VI", "xxxm", Meaning::Lanes(Lane::Shift(Right))),
    row("srax", "VI", "xxxm", Meaning::Lanes(Lane::Shift(RightSigned))),
    row("sllx", "VI", "xxxm", Meaning::Lanes(Lane::Shift(Left))),
    row("fsrl", "VI", "xxxrm", Meaning::Lanes(Lane::Funnel(Right))),
    row("fsra", "VI", "xxxrm", Meaning::Lanes(Lane::Funnel(RightSigned))),
    row("fsll", "VI", "xxxrm", Meaning::Lanes(Lane::Funnel(Left))),
    row("fsrai", "VI", "xxxim", Meaning::Lanes(Lane::Funnel(RightSigned))),
    row("fsrli", "VI", "xxxim", Meaning::Lanes(Lane::Funnel(Right))),
    row("fslli", "VI", "xxxim", Meaning::Lanes(Lane::Funnel(Left))),
    row("fsrax", "VI", "xxxxm", Meaning::Lanes(Lane::Funnel(RightSigned))),
    row("fsrlx", "VI", "xxxxm", Meaning::Lanes(Lane::Funnel(Right))),
    row("fsllx", "VI", "xxxxm", Meaning::Lanes(Lane::Funnel(Left))),
    row("cmps", "VI", "mcxxm", Meaning::Lanes(Lane::Compare)),
    row("select", "VI", "xxxm", Meaning::Lanes(Lane::Select)),
    row("bswap", "VI", "xxm", Meaning::Lanes(Lane::ByteSwap)),
    row("ctz", "VI", "xxm", Meaning::Lanes(Lane::TrailingZeros)),
    row("clz", "VI", "xxm", Meaning::Lanes(Lane::LeadingZeros)),
    row("popc", "VI", "xxm", Meaning::Lanes(Lane::Ones)),
    row("brev", "VI", "xxm", Meaning::Lanes(Lane::BitReverse)),
    row("ror", "VI", "xxrm", Meaning::Lanes(Lane::Rotate(Right))),
    row("rol", "VI", "xxrm", Meaning::Lanes(Lane::Rotate(Left))),
    row("rori", "VI", "xxim", Meaning::Lanes(Lane::Rotate(Right))),
    row("roli", "VI", "xxim", Meaning::Lanes(Lane::Rotate(Left))),
    row("rorv", "VI", "xxxm", Meaning::Lanes(Lane::Rotate(Right))),
    row("rolv", "VI", "xxxm", Meaning::Lanes(Lane::Rotate(Left))),
    row("extract", "VI", "xxiim", Meaning::Lanes(Lane::Extract)),
    row("deposit", "VI", "xxiim", Meaning::Lanes(Lane::Deposit)),
    row("permute_16x4", "VI", "xxrm", Meaning::PermutePacked(4)),
    row("permute_8x8", "VI", "xxrm", Meaning::PermutePacked(8)),
    row("permute", "VII", "xxxm", Meaning::Permute),
    row("sext", "VII", "xxm", Meaning::Lanes(Lane::Extend(Signed))),
    row("zext", "VII", "xxm", Meaning::Lanes(Lane::Extend(Unsigned))),
    row("trunc", "VII", "xxm", Meaning::Lanes(Lane::Truncate)),
    row("lsr", "VI", "xxx", Meaning::LaneShift { towards_zero: true, round: false }),
    row("lsl", "VI", "xxx", Meaning::LaneShift { towards_zero: false, round: false }),
    row("lror", "VI", "xxx", Meaning::LaneShift { towards_zero: true, round: true }),
    row("ltor", "VI", "xxx", Meaning::LaneShift { towards_zero: false, round: true }),
    row("lzip01", "VID", "xxx", Meaning::Zip { step: 2, at: 0 }),
    row("lzip01", "VIQ", "xxx", Meaning::Zip { step: 4, at: 0 }),
    row("lzip23", "VIQ", "xxx", Meaning::Zip { step: 4, at: 2 }),
    row("lunzip0", "VI2", "xxx", Meaning::Unzip { step: 2, at: 0 }),
    row("lunzip1", "VI2", "xxx", Meaning::Unzip { step: 2, at: 1 }),
    row("lunzip0", "VI4", "xxx", Meaning::Unzip { step: 4, at: 0 }),
    row("lunzip1", "VI4", "xxx", Meaning::Unzip { step: 4, at: 1 }),
    row("lunzip2", "VI4", "xxx", Meaning::Unzip { step: 4, at: 2 }),
    row("lunzip3", "VI4", "xxx", Meaning::Unzip { step: 4, at: 3 }),
    row("pair.swap", "VI", "xxm", Meaning::PairSwap),
    row("pair.add", "VI2", "xxm", Meaning::PairSum { subtract: false }),
    row("pair.addu", "VI2", "xxm", Meaning::PairSum { subtract: false }),
    row("pair.sub", "VI2", "xxm", Meaning::PairSum { subtract: true }),
    row("pair.subu", "VI2", "xxm", Meaning::PairSum { subtract: true }),
    row("cumsum", "VI", "xxm", Meaning::RunningSum),
    row("cumsumu", "VI", "xxm", Meaning::RunningSum),
    row("mv.x.f", "VF", "xf", Meaning::Refused),
    row("mv.f.x", "VF", "fx", Meaning::Refused),
    row("splat", "VF", "xfm", Meaning::Refused),
    row("cvt", "VFI", "xxdm", Meaning::Refused),
    row("cvtu", "VFI", "xxdm", Meaning::Refused),
    row("cvt", "VIF", "xxm", Meaning::Refused),
    row("cvt", "VFF", "xxdm", Meaning::Refused),
    row("frac", "VIF", "xxdm", Meaning::Refused),
    row("exp", "VIF", "xxdm", Meaning::Refused),
    row("comp", "VFI", "xxxdm", Meaning::Refused),
    row("madd", "VF", "xxxxdm", Meaning::Refused),
    row("msub", "VF", "xxxxdm", Meaning::Refused),
    row("mnadd", "VF", "xxxxdm", Meaning::Refused),
    row("mnsub", "VF", "xxxxdm", Meaning::Refused),
    row("add", "VF", "xxxdm", Meaning::Refused),
    row("sub", "VF", "xxxdm", Meaning::Refused),
    row("mul", "VFD", "xxxdm", Meaning::Refused),
    row("div", "VF", "xxxdm", Meaning::Refused),
    row("copysign", "VF", "xxxm", Meaning::Refused),
    row("copysign_xor", "VF", "xxxm", Meaning::Refused),
    row("copysign_not", "VF", "xxxm", Meaning::Refused),
    row("min", "VF", "xxxm", Meaning::Refused),
    row("max", "VF", "xxxm", Meaning::Refused),
    row("sqrt", "VF", "xxdm", Meaning::Refused),
    row("cmps", "VIF", "xcxxm", Meaning::Refused),
    row("select", "VIF", "xxxxm", Meaning::Refused),
    row("class", "VIF", "xxm", Meaning::Refused),
    row("pair.add", "VF", "xxm", Meaning::Refused),
    row("pair.sub", "VF", "xxm", Meaning::Refused),
    row("cumsum", "VF", "xxm", Meaning::Refused),
];
