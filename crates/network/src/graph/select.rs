//! Selection of the nodes that run: `--nodes "layer=1,op=mlp_*|swiglu;layer=0-2,op=residual_add,nth=1"`.

use super::read::Node;
use alir_core::diag::{Diagnostic, Place};

/// Alternatives, of which at least one must hold; without alternatives, all nodes run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    alternatives: Vec<Alternative>,
}

/// Conditions that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Alternative {
    layer: Option<(i64, i64)>,
    op: Option<String>,
    kernel: Option<String>,
    nth: Option<usize>,
}

/// Returns the error of a selection that contains no node.
pub(super) fn nothing_selected(reason: &str) -> Diagnostic {
    Diagnostic::error("E2003", Place::Path("nodes".into()), format!("nothing is selected: {reason}"))
        .with_help("info lists the nodes with their layers and conditions; see --nodes")
}

impl Selection {
    /// Parses the value of `--nodes`.
    ///
    /// # Errors
    /// Returns an error if the syntax is invalid.
    pub fn parse(text: &str) -> Result<Selection, Diagnostic> {
        let wrong = |message: String| {
            Diagnostic::error("E2003", Place::Flag("--nodes".into()), message)
                .with_help("for example --nodes \"layer=0-2,op=mlp_*|swiglu;layer=0,op=residual_add,nth=1\"")
        };
        let mut alternatives = Vec::new();
        for part in text.split(';') {
            let mut alternative = Alternative::default();
            for condition in part.split(',') {
                let (key, value) = condition.split_once('=').ok_or_else(|| {
                    wrong(format!("{:?} is no condition: there are layer=, op=, kernel=, nth=", condition.trim()))
                })?;
                let (key, value) = (key.trim(), value.trim());
                let number = |text: &str| {
                    text.trim().parse::<i64>().map_err(|_| wrong(format!("{key}={value}: {text:?} is no number")))
                };
                let given = match key {
                    "layer" => {
                        // A dash marks a range, except as the sign of -1.
                        let dash = value.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at);
                        let range = match dash {
                            Some(at) => (number(&value[..at])?, number(&value[at + 1..])?),
                            None => (number(value)?, number(value)?),
                        };
                        if range.0 > range.1 {
                            return Err(wrong(format!("layer={value}: the range is empty")));
                        }
                        alternative.layer.replace(range).is_some()
                    }
                    "op" => alternative.op.replace(value.into()).is_some(),
                    "kernel" => alternative.kernel.replace(value.into()).is_some(),
                    "nth" => {
                        let nth = usize::try_from(number(value)?);
                        let nth = nth.map_err(|_| wrong(format!("nth={value}: nodes count from 0")))?;
                        alternative.nth.replace(nth).is_some()
                    }
                    _ => return Err(wrong(format!("{key:?} is not known: there are layer=, op=, kernel=, nth="))),
                };
                if given {
                    return Err(wrong(format!("{key}= is given twice in {:?}", part.trim())));
                }
            }
            alternatives.push(alternative);
        }
        Ok(Selection { alternatives })
    }

    /// Returns `true` if a node is selected.
    pub fn holds(&self, node: &Node) -> bool {
        self.alternatives.is_empty() || self.alternatives.iter().any(|a| a.holds(node))
    }
}

impl Alternative {
    fn holds(&self, node: &Node) -> bool {
        let glob = |pattern: &Option<String>, name: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.split('|').any(|p| matches(p.trim(), name)))
        };
        self.layer.is_none_or(|(first, last)| (first..=last).contains(&node.layer))
            && glob(&self.op, &node.op)
            && glob(&self.kernel, &node.kernel)
            && self.nth.is_none_or(|nth| nth == node.nth)
    }
}

/// Returns `true` if a name matches a pattern with `*` and `?`; uses linear memory and no recursion.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Position to continue from if the rest of the pattern after the last star does not match.
    let mut retry = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match retry {
                Some((after, at)) => {
                    (p, n) = (after, at + 1);
                    retry = Some((after, at + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Kind;

    fn node(layer: i64, op: &str, nth: usize) -> Node {
        let kind = Kind::Unsupported(String::new());
        Node {
            index: 0,
            layer,
            op: op.into(),
            kernel: "gemm_serial".into(),
            nth,
            runs: true,
            unclear: None,
            bindings: vec![],
            kind,
        }
    }

    #[test]
    fn alternatives_and_globs() {
        let selection = Selection::parse("layer=1,op=mlp_*|swiglu; layer=0-2,op=residual_add,nth=1").unwrap();
        assert!(selection.holds(&node(1, "mlp_up", 0)));
        assert!(selection.holds(&node(1, "swiglu", 0)));
        assert!(!selection.holds(&node(0, "swiglu", 0)));
        assert!(selection.holds(&node(2, "residual_add", 1)));
        assert!(!selection.holds(&node(2, "residual_add", 0)));
        assert!(Selection::parse("layer=-1").unwrap().holds(&node(-1, "x", 0)));
        assert!(Selection::parse("layer=-1-3").unwrap().holds(&node(2, "x", 0)));
        assert!(Selection::parse("kernel=*mm_*al").unwrap().holds(&node(2, "x", 0)));
        assert!(Selection::default().holds(&node(2, "x", 0)));
    }

    #[test]
    fn globs_with_many_stars_end_soon() {
        assert!(!matches(&"*a".repeat(40), &"a".repeat(30)));
        assert!(matches("*a*b?", "xxaxxbxaabc"));
        assert!(matches("", "") && !matches("", "a") && matches("**", ""));
    }

    #[test]
    fn wrong_texts_are_refused() {
        for text in ["", "layer", "layer=x", "layer=3-1", "lay=1", "layer=1,layer=2", "nth=-1", "layer=1;"] {
            assert!(Selection::parse(text).is_err(), "{text:?}");
        }
    }
}
