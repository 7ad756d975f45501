//! Names of HDL objects that are legal and unique in both Verilog-2001 and VHDL.
//!
//! VHDL ignores case and forbids doubled and trailing underscores, so both rules hold for every name here. The names of
//! nets follow a scheme and are unique by construction, without a table of a million strings: operation 17 is `v17`,
//! its helpers are `v17_a`, `v17_b`, ..., and its register at the end of stage 2 is `v17_s2`. Only module and port
//! names are arbitrary; [`Scheme::avoiding`] chooses a prefix that avoids conflicts with them.

use super::keywords::{Languages, NameKind, is_reserved, reserved_by};
use rustc_hash::FxHashSet;

/// Returns `true` if `name` is legal in both languages.
pub fn is_legal(name: &str) -> bool {
    // No reserved word has a digit in second place, but nearly every generated name does.
    is_spelt(name) && (name.as_bytes().get(1).is_some_and(u8::is_ascii_digit) || !is_reserved(name))
}

/// Returns `true` if `name` is legal for a module or a port in these languages.
pub fn is_legal_in(name: &str, kind: NameKind, languages: Languages) -> bool {
    is_spelt(name) && reserved_by(name, kind, languages).is_none()
}

/// Returns `true` if the characters of a name are legal in both languages.
pub(super) fn is_spelt(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut before = b'_';
    for &b in bytes {
        // No doubled underscores, and no underscore at the beginning.
        if !(b.is_ascii_alphanumeric() || (b == b'_' && before != b'_')) {
            return false;
        }
        before = b;
    }
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && before != b'_'
}

/// Returns a legal name close to `name`: illegal characters become underscores, repeated, leading and trailing
/// underscores are removed, an `m` precedes a leading digit, and `_m` follows a reserved word. A legal name is
/// unchanged.
pub fn legalise(name: &str) -> String {
    legalised(name, is_reserved)
}

/// Like [`legalise`] for a module or a port that is used in these languages only.
pub fn legalise_in(name: &str, kind: NameKind, languages: Languages) -> String {
    legalised(name, |name| reserved_by(name, kind, languages).is_some())
}

fn legalised(name: &str, is_reserved: impl Fn(&str) -> bool) -> String {
    let mut legal = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c != '_' || !(legal.is_empty() || legal.ends_with('_')) {
            legal.push(c);
        }
    }
    while legal.ends_with('_') {
        legal.pop();
    }
    if !legal.starts_with(|c: char| c.is_ascii_alphabetic()) {
        legal.insert(0, 'm');
    }
    if is_reserved(&legal) {
        legal.push_str("_m");
    }
    legal
}

/// Returns a legal name close to `name` that differs from all names in `taken`.
pub(super) fn unique(name: &str, taken: &[&str]) -> String {
    differing(legalise(name), taken)
}

/// Like [`unique`] for a port that is used in these languages only.
pub(super) fn unique_in(name: &str, taken: &[&str], languages: Languages) -> String {
    differing(legalise_in(name, NameKind::Port, languages), taken)
}

fn differing(legal: String, taken: &[&str]) -> String {
    let free = |candidate: &str| !taken.iter().any(|t| t.eq_ignore_ascii_case(candidate));
    if free(&legal) {
        return legal;
    }
    (2u32..).map(|n| format!("{legal}_{n}")).find(|c| free(c)).expect("fewer names than numbers")
}

/// Beginnings of the names that follow the scheme; a digit comes next.
const BEGINNINGS: [&str; 5] = ["v", "in", "out", "rom", "valid_s"];

/// Naming scheme of nets, memories and flags as in the module documentation, with a prefix if a port name would
/// conflict otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scheme {
    prefix: String,
}

impl Scheme {
    /// Returns a scheme whose names differ from all of `taken`.
    pub(super) fn avoiding<'a>(taken: impl Iterator<Item = &'a str> + Clone) -> Scheme {
        let prefixes = std::iter::once(String::new()).chain((0u32..).map(|n| match n {
            0 => "n_".to_owned(),
            n => format!("n{n}_"),
        }));
        let prefix =
            prefixes.into_iter().find(|p| Scheme::is_free(p, taken.clone())).expect("fewer names than prefixes");
        Scheme { prefix }
    }

    /// Returns the scheme with this prefix.
    pub(super) fn with_prefix(prefix: String) -> Scheme {
        Scheme { prefix }
    }

    /// Returns `true` if no name of the scheme with this prefix can be among `taken`.
    pub(super) fn is_free<'a>(prefix: &str, mut taken: impl Iterator<Item = &'a str>) -> bool {
        let prefix = prefix.to_ascii_lowercase();
        !taken.any(|name| {
            let lower = name.to_ascii_lowercase();
            let rest = lower.strip_prefix(&prefix).unwrap_or("");
            BEGINNINGS.iter().any(|b| rest.strip_prefix(b).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())))
        })
    }

    /// Returns the prefix of every name.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Maximum number of characters of a layer's name in signal names; whole paths would be hard to read.
const LAYER_CHARACTERS: usize = 20;

/// Returns the beginning of the names of a layer's operations, such as `fc1_`; empty if names with it could be among
/// `taken`.
///
/// The prefix is the end of a long path, because the ends of paths differ between layers. A number before the name and
/// a node kind in parentheses after it are omitted.
pub(super) fn layer_prefix(layer: &str, taken: &[&str]) -> String {
    let kind = layer.split_once(" (").filter(|(_, kind)| !kind.contains(' '));
    let name = kind.map_or(layer, |(name, _)| name);
    let unnumbered = name.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
    let legal = legalise(if unnumbered.is_empty() { name } else { unnumbered });
    let words = legal.match_indices('_').map(|(at, _)| &legal[at + 1..]);
    let starts = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic());
    let short = std::iter::once(&*legal).chain(words).filter(starts).find(|name| name.len() <= LAYER_CHARACTERS);
    let legal = short.unwrap_or_else(|| legal[..legal.len().min(LAYER_CHARACTERS)].trim_end_matches('_'));
    // `v3_v12` would look like a helper of `v3`.
    let prefix = if Scheme::is_free("", std::iter::once(legal)) { format!("{legal}_") } else { format!("l_{legal}_") };
    if Scheme::is_free(&prefix, taken.iter().copied()) { prefix } else { String::new() }
}

/// Stems of net names, from the names in a source: a net name is its stem, or its stem followed by an underscore and a
/// suffix.
///
/// No stem equals another stem followed by an underscore and a suffix, so net names with different stems always differ.
pub(super) struct Stems {
    taken: Vec<String>,
    stems: FxHashSet<String>,
    /// Prefixes before each underscore of the stems.
    beginnings: FxHashSet<String>,
}

impl Stems {
    /// Returns an empty set of stems; later stems differ from all of `taken`.
    pub(super) fn avoiding(taken: &[&str]) -> Stems {
        let taken = taken.iter().map(|name| name.to_ascii_lowercase()).collect();
        Stems { taken, stems: FxHashSet::default(), beginnings: FxHashSet::default() }
    }

    /// Adds a label as a stem and returns the stem.
    ///
    /// # Errors
    /// The label as a legal name, if names that begin with it could equal others.
    pub(super) fn take(&mut self, label: &str) -> Result<String, String> {
        let legal = legalise(label);
        let key = legal.to_ascii_lowercase();
        let before = || key.match_indices('_').map(|(at, _)| &key[..at]);
        let follows = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('_'));
        let clashes = !Scheme::is_free("", std::iter::once(key.as_str()))
            || self.taken.iter().any(|name| *name == key || follows(name, &key) || follows(&key, name))
            || self.stems.contains(&key)
            || self.beginnings.contains(&key)
            || before().any(|beginning| self.stems.contains(beginning));
        if clashes {
            return Err(legal);
        }
        self.beginnings.extend(before().map(str::to_owned));
        self.stems.insert(key);
        Ok(legal)
    }
}

/// Appends `a`, `b`, ..., `z`, `aa`, ... for 1, 2, ...
pub(super) fn push_letters(text: &mut String, number: u32) {
    let mut letters = [0u8; 7];
    let mut at = letters.len();
    let mut rest = number;
    while rest > 0 {
        at -= 1;
        letters[at] = b'a' + ((rest - 1) % 26) as u8;
        rest = (rest - 1) / 26;
    }
    text.push_str(std::str::from_utf8(&letters[at..]).expect("letters are ASCII"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names_fit_both_languages() {
        for good in ["model", "v17_s2", "A1"] {
            assert!(is_legal(good), "{good}");
            assert_eq!(legalise(good), good);
        }
        for bad in ["", "1a", "_a", "a_", "a__b", "a-b", "ä", "signal", "Module", "always"] {
            assert!(!is_legal(bad), "{bad}");
            assert!(is_legal(&legalise(bad)), "{bad} -> {}", legalise(bad));
        }
        assert_eq!(legalise("my-model (2)"), "my_model_2");
        assert_eq!(legalise("entity"), "entity_m");
    }

    #[test]
    fn names_are_unique_whatever_their_case() {
        assert_eq!(unique("clk", &["CLK", "clk_2"]), "clk_3");
    }

    #[test]
    fn the_scheme_keeps_away_from_port_names() {
        assert_eq!(Scheme::avoiding(["model_inp", "value1", "invalid"].into_iter()).prefix(), "");
        assert_eq!(Scheme::avoiding(["V3"].into_iter()).prefix(), "n_");
        assert_eq!(Scheme::avoiding(["v3", "n_rom0"].into_iter()).prefix(), "n1_");
    }

    #[test]
    fn layers_give_short_prefixes() {
        for (layer, prefix) in [
            ("fc1 (Gemm)", "fc1_"),
            ("inputs", "inputs_"),
            ("12. mlp_up (layer 3)", "mlp_up_layer_3_"),
            ("/model/encoder/layers.0/fc1/MatMul (MatMul)", "layers_0_fc1_MatMul_"),
            ("v3 (Add)", "l_v3_"),
            ("3 (Add)", "m3_"),
            ("a_name_without_short_wordswhicharelongerthantwenty", "a_name_without_short_"),
            ("signal", "signal_m_"),
        ] {
            assert_eq!(layer_prefix(layer, &["clk", "model_inp"]), prefix, "{layer}");
        }
        assert_eq!(layer_prefix("fc1", &["fc1_v3"]), "");
    }

    #[test]
    fn stems_keep_apart_whatever_follows_them() {
        let mut stems = Stems::avoiding(&["clk", "model_inp"]);
        assert_eq!(stems.take("crc"), Ok("crc".into()));
        assert_eq!(stems.take("data[0]"), Ok("data_0".into()));
        assert_eq!(stems.take("data[1]"), Ok("data_1".into()));
        // `data_0_s2` would be a register of both.
        assert_eq!(stems.take("data[0] s2"), Err("data_0_s2".into()));
        assert_eq!(stems.take("data"), Err("data".into()));
        assert_eq!(stems.take("CRC"), Err("CRC".into()));
        assert_eq!(stems.take("model"), Err("model".into()));
        assert_eq!(stems.take("clk net"), Err("clk_net".into()));
        assert_eq!(stems.take("v17"), Err("v17".into()));
        assert_eq!(stems.take("signal"), Ok("signal_m".into()));
        assert_eq!(stems.take("ä"), Ok("m".into()));
    }

    #[test]
    fn letters_count_like_columns_of_a_sheet() {
        let mut text = String::new();
        for n in [1, 26, 27, 53, 702, 703] {
            push_letters(&mut text, n);
            text.push(' ');
        }
        assert_eq!(text, "a z aa ba zz aaa ");
    }
}
