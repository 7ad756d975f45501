//! Help messages for handwritten programs: corrections of wrong words, and the spelling of operations.

use super::rows::{ROWS, Row, rows_of};

/// Names of operations in other languages, each with the name of the equivalent row.
const ELSEWHERE: [(&str, &str); 41] = [
    ("andn", "andc"),
    ("ashr", "sra"),
    ("asr", "sra"),
    ("bitrev", "brev"),
    ("bitreverse", "brev"),
    ("cmp", "cmps"),
    ("cpop", "popc"),
    ("ctlz", "clz"),
    ("ctpop", "popc"),
    ("cttz", "ctz"),
    ("fshl", "fsll"),
    ("fshr", "fsrl"),
    ("icmp", "cmps"),
    ("ite", "select"),
    ("li", "const"),
    ("load", "ld"),
    ("lshr", "srl"),
    ("mod", "remu"),
    ("mov", "mv"),
    ("mulhs", "mulh"),
    ("mux", "select"),
    ("orn", "orc"),
    ("popcnt", "popc"),
    ("popcount", "popc"),
    ("rev8", "bswap"),
    ("rotl", "rol"),
    ("rotr", "ror"),
    ("sar", "sra"),
    ("sdiv", "div"),
    ("setcc", "cmps"),
    ("shl", "sll"),
    ("shr", "srl"),
    ("slt", "cmps"),
    ("sltu", "cmps"),
    ("smax", "max"),
    ("smin", "min"),
    ("srem", "rem"),
    ("udiv", "divu"),
    ("umax", "maxu"),
    ("umin", "minu"),
    ("urem", "remu"),
];

/// Length of the longest name for which similar names are suggested.
const LONGEST: usize = 20;

/// Returns a description of the operand that a letter denotes.
pub(super) fn kind(letter: u8) -> &'static str {
    match letter {
        b'r' => "an integer",
        b'x' => "a vector",
        b'm' => "a mask",
        b'a' => "an address",
        b'i' => "a number",
        b'c' => "a comparison",
        b'o' => "a memory order",
        b'l' => "a label",
        b'b' => "data",
        _ => "a string",
    }
}

/// Returns an example of an operation of the row.
fn spelling(row: &Row) -> String {
    let mut word = row.name.to_owned();
    let mut types = if row.name == "trunc" { ["i8", "i32"] } else { ["i32", "i8"] }.into_iter();
    for letter in row.suffix.bytes() {
        word.push('.');
        match letter {
            b'I' => word.push_str(types.next().unwrap_or("i8")),
            b'V' => word.push_str("v4"),
            b'L' => word.push_str("local"),
            b'N' => word.push('3'),
            other => word.push(char::from(other.to_ascii_lowercase())),
        }
    }
    word
}

fn read_rows(rows: &[u16]) -> impl Iterator<Item = &'static Row> {
    rows.iter().map(|code| &ROWS[usize::from(*code)]).filter(|row| !row.is_refused())
}

/// Returns the spellings of operations of one name; if any is supported, only the supported ones.
pub(super) fn spellings(rows: &[u16]) -> String {
    let read: Vec<String> = read_rows(rows).map(spelling).collect();
    if read.is_empty() {
        let titles: Vec<String> = rows.iter().map(|code| ROWS[usize::from(*code)].title()).collect();
        return format!("{} exists, but is not supported", titles.join(", "));
    }
    format!("it is written {}", read.join(" or "))
}

/// Returns a suggestion for a word that names no operation.
pub(super) fn for_word(word: &str) -> Option<String> {
    let name = word.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if matches!(name.as_str(), "input" | "inp" | "output" | "in" | "out") {
        return Some("a port is written `in %0 \"name\": i32` or `out \"name\" = %0`".into());
    }
    let named = |name: &str| read_rows(rows_of(name)).next().is_some();
    if let Some(plain) = name.strip_suffix('i')
        && named(plain)
    {
        return Some(format!("`{plain}` accepts registers only; `const` and `constu` load a number into one"));
    }
    let elsewhere = ELSEWHERE.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
    let ours = || ROWS.iter().map(|row| row.name).filter(|ours| named(ours));
    let same = || ours().find(|ours| *ours == name);
    let meant = elsewhere.or_else(same).or_else(|| ours().find(|ours| is_near(&name, ours)))?;
    let spelt: Vec<String> = read_rows(rows_of(meant)).map(|row| format!("`{}`", spelling(row))).collect();
    Some(format!("did you mean {}?", spelt.join(" or ")))
}

/// Returns `true` if two names differ in at most one replaced, missing or additional letter.
fn is_near(theirs: &str, ours: &str) -> bool {
    let (short, long) = if theirs.len() <= ours.len() { (theirs, ours) } else { (ours, theirs) };
    if short.len() < 3 || long.len() > LONGEST || long.len() - short.len() > 1 {
        return theirs == ours;
    }
    let (short, long) = (short.as_bytes(), long.as_bytes());
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let after = if short.len() == long.len() { same + 1 } else { same };
    short.get(after..).unwrap_or_default() == &long[long.len().min(same + 1)..]
}

/// Returns help for a number in place of operand `k`, which must be a register.
pub(super) fn for_number(row: &Row, k: usize) -> Option<String> {
    let immediate = format!("{}i", row.name);
    let takes = |other: &&Row| other.suffix == row.suffix && other.operands().get(k) == Some(&b'i');
    match read_rows(rows_of(&immediate)).find(takes) {
        Some(_) => Some(format!("`{immediate}` takes a number here")),
        None if row.operands()[k] == b'r' => {
            Some("load the number into a register first, with `const` or `constu`".into())
        }
        None => None,
    }
}

/// Returns help for a register in place of operand `k`, which must be a number.
pub(super) fn for_register(row: &Row, k: usize) -> Option<String> {
    let plain = row.name.strip_suffix('i')?;
    let takes = |other: &&Row| other.suffix == row.suffix && other.operands().get(k) == Some(&b'r');
    read_rows(rows_of(plain)).find(takes).map(|_| format!("`{plain}` takes a register here"))
}

/// Returns help for the missing operand `k`.
pub(super) fn for_missing(row: &Row, k: usize) -> Option<String> {
    (row.operands()[k] == b'm').then(|| {
        "`mvm` converts an integer to a mask: after `%0 = const.iv4 -1`, `%m0 = mvm %0` has four lanes, all enabled"
            .into()
    })
}
