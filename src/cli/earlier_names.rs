//! Assignment of operation numbers in an earlier RTL file to corresponding operations of a new model.

use super::rtl_graph::{NameAlignment, SignalNames};
use crate::ir::{Labels, Model};
use crate::rtl::{Rtl, operation_in_name};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Assigns numbers of the earlier file to the `operations` operations of a model.
///
/// An operation that replaces a removed one gets its number. An operation without a signal gets a free number between
/// those of its neighbours. A new operation gets a number above those of the file. Returns `false` if no signal of the
/// file has a number in its name.
pub(super) fn number(labels: &mut Labels, operations: usize, names: &NameAlignment) -> bool {
    let [old, new] = [&names.old, &names.new].map(numbers_of);
    let Some(&last) = old.last() else { return false };
    let mut votes: HashMap<(u32, u32), usize> = HashMap::new();
    for (of_old, of_new) in &names.pairs {
        let of_new = by_suffix(of_new);
        for (suffix, of_old) in by_suffix(of_old) {
            let of_new = of_new.get(suffix).into_iter().flatten();
            of_old.iter().zip(of_new).for_each(|(x, y)| *votes.entry((*y, *x)).or_default() += 1);
        }
    }
    let mut votes: Vec<((u32, u32), usize)> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    let mut numbers: Vec<Option<u32>> = vec![None; operations];
    let mut taken: HashSet<u32> = HashSet::new();
    for ((origin, number), _) in votes {
        if let Some(place @ None) = numbers.get_mut(origin as usize)
            && taken.insert(number)
        {
            *place = Some(number);
        }
    }
    number_replaced(&mut numbers, (&old, &|origin| new.contains(&origin)), &mut taken);
    number_hidden(&mut numbers, (&old, &new), &mut taken);
    let mut free = last.saturating_add(1)..;
    labels.numbers = numbers
        .into_iter()
        .map(|number| number.unwrap_or_else(|| free.find(|number| !taken.contains(number)).expect("free numbers")))
        .collect();
    true
}

/// Assigns numbers of an earlier model to the operations of a new model. An operation that replaces a removed one gets
/// its number.
pub(super) fn number_like(labels: &mut Labels, old: &Model, new: &Model) {
    labels.number_like(old, new);
    let size = old.nodes().len() as u32;
    let mut numbers: Vec<Option<u32>> =
        labels.numbers.iter().map(|&number| (number < size).then_some(number)).collect();
    let mut taken = numbers.iter().copied().flatten().collect();
    number_replaced(&mut numbers, (&(0..size).collect(), &|_| true), &mut taken);
    let mut free = size..;
    labels.numbers =
        numbers.into_iter().map(|number| number.unwrap_or_else(|| free.next().expect("free numbers"))).collect();
}

/// Returns the RTL of an earlier model with its signals renamed to the corresponding operations of the new model. Also
/// returns the operations of the new model that have a signal in its own RTL, but none in the file.
pub(super) fn renumbered(rtl: &Rtl, operations: usize, names: &NameAlignment) -> Option<(Rtl, Vec<u32>)> {
    let mut labels = Labels::default();
    if !number(&mut labels, operations, names) {
        return None;
    }
    let old = numbers_of(&names.old);
    let inserted = numbers_of(&names.new).into_iter();
    let inserted = inserted.filter(|&new| labels.numbers.get(new as usize).is_some_and(|number| !old.contains(number)));
    let place: HashMap<u32, usize> = labels.numbers.iter().enumerate().map(|(at, number)| (*number, at)).collect();
    let rename = |name: &str| match operation_in_name(name) {
        Some((number, suffix)) => match place.get(&number) {
            Some(at) => format!("v{at}{suffix}"),
            None => format!("removed_{name}"),
        },
        None => name.to_owned(),
    };
    Some((rtl.renamed(rename), inserted.collect()))
}

/// Assigns numbers of removed operations to operations without a number between the same two operations. Assignment
/// starts from the last one, as an inserted operation precedes the changed ones that read it. `is_named` selects
/// operations with a signal.
fn number_replaced(
    numbers: &mut [Option<u32>],
    (old, is_named): (&BTreeSet<u32>, &dyn Fn(u32) -> bool),
    taken: &mut HashSet<u32>,
) {
    for (origins, between) in gaps(numbers, old) {
        let between = old.range(between.start..between.end.max(between.start)).rev();
        let removed: Vec<u32> = between.copied().filter(|number| !taken.contains(number)).take(origins.len()).collect();
        let changed = origins.rev().filter(|&origin| is_named(origin as u32));
        for (origin, number) in changed.zip(removed) {
            taken.insert(number);
            numbers[origin] = Some(number);
        }
    }
}

/// Assigns free numbers between those of the neighbours to operations without a signal, in order.
fn number_hidden(numbers: &mut [Option<u32>], (old, new): (&BTreeSet<u32>, &BTreeSet<u32>), taken: &mut HashSet<u32>) {
    for (origins, between) in gaps(numbers, old) {
        let mut free = between.filter(|number| !old.contains(number));
        for origin in origins.filter(|&origin| !new.contains(&(origin as u32))) {
            let Some(number) = free.find(|number| !taken.contains(number)) else { break };
            taken.insert(number);
            numbers[origin] = Some(number);
        }
    }
}

/// Returns each range of operations without a number, with the range of numbers between those of its neighbours.
fn gaps(numbers: &[Option<u32>], old: &BTreeSet<u32>) -> Vec<(Range<usize>, Range<u32>)> {
    let end = (numbers.len(), old.last().map_or(0, |last| last + 1));
    let fixed = numbers.iter().enumerate().filter_map(|(origin, number)| Some((origin, (*number)?)));
    let (mut from, mut first, mut all) = (0, 0, Vec::new());
    for (origin, number) in fixed.chain([end]) {
        if from < origin {
            all.push((from..origin, first..number));
        }
        (from, first) = (origin + 1, number.saturating_add(1));
    }
    all
}

/// Returns the operation numbers in the names of signals.
fn numbers_of(names: &SignalNames) -> BTreeSet<u32> {
    names.iter().filter_map(|name| number_of(name)).map(|(number, _)| number).collect()
}

/// Groups operation numbers by the suffix of the name, which denotes a part of the value.
fn by_suffix(names: &SignalNames) -> BTreeMap<&str, BTreeSet<u32>> {
    let mut all: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (number, suffix) in names.iter().filter_map(|name| number_of(name)) {
        all.entry(suffix).or_default().insert(number);
    }
    all
}

/// Returns the number of the operation in a name such as `v17_a_s2`, and the suffix for the part of its value.
fn number_of(name: &str) -> Option<(u32, &str)> {
    let (number, mut suffix) = operation_in_name(name)?;
    let stage = suffix.rsplit_once("_s").filter(|(_, stage)| stage.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some((before, _)) = stage {
        suffix = before;
    }
    // New operations need at least one larger number.
    (number < u32::MAX).then_some((number, suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_scheme_have_numbers() {
        assert_eq!(number_of("v17"), Some((17, "")));
        assert_eq!(number_of("v17_s2"), Some((17, "")));
        assert_eq!(number_of("n_v17_a_s2"), Some((17, "_a")));
        assert_eq!(number_of("u_stage.v17_2"), Some((17, "_2")));
        assert_eq!(number_of("fc1_v17_s2"), Some((17, "")));
        assert_eq!(number_of("v4294967295"), None);
    }

    #[test]
    fn operations_in_the_place_of_removed_ones_have_their_numbers() {
        let numbered = |numbers: &[Option<u32>], size: u32| {
            let mut numbers = numbers.to_vec();
            let mut taken = numbers.iter().copied().flatten().collect();
            number_replaced(&mut numbers, (&(0..size).collect(), &|origin| origin != 9), &mut taken);
            numbers
        };
        // An inserted operation precedes two operations that read it. Gaps may also be before the first or after the
        // last number.
        assert_eq!(numbered(&[Some(0), None, None, None, Some(3)], 4), [Some(0), None, Some(1), Some(2), Some(3)]);
        assert_eq!(numbered(&[None, None, Some(1), None, None], 3), [None, Some(0), Some(1), None, Some(2)]);
        // No operation was removed; numbers in another order; an operation without a signal.
        assert_eq!(numbered(&[Some(0), None, Some(1)], 2), [Some(0), None, Some(1)]);
        assert_eq!(numbered(&[Some(2), None, Some(0)], 3), [Some(2), None, Some(0)]);
        let hidden: Vec<Option<u32>> = (0..9).map(Some).chain([None, Some(10)]).collect();
        assert_eq!(numbered(&hidden, 11), hidden);
    }

    #[test]
    fn hidden_operations_are_numbered_between_their_neighbours() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        // Operation 1 has no signal in either version; operation 2 of the new version was inserted.
        let alignment = NameAlignment {
            pairs: vec![(names(&["v0"]), names(&["v0"])), (names(&["v2", "v2_s1"]), names(&["v3"]))],
            old: names(&["v0", "v2", "v2_s1"]),
            new: names(&["v0", "v2", "v3"]),
        };
        let mut labels = Labels::default();
        assert!(number(&mut labels, 4, &alignment));
        assert_eq!(labels.numbers, [0, 1, 3, 2]);
    }
}
