//! Values of options with several numbers of stages: ranges and lists.

/// Numbers of stages: in ascending order, without duplicates, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageCounts(pub Vec<u32>);

/// Maximum number of stages.
const MOST_STAGES: u32 = 1000;
/// Maximum number of stages in a comparison.
const MOST_COMPARED: u32 = 200;

impl StageCounts {
    /// Parses `1..4,8`: one to four, and eight. A hyphen or `..=` is accepted instead of the two dots.
    ///
    /// # Errors
    /// A message about the part that is not a number or range.
    pub fn parse(text: &str) -> Result<StageCounts, String> {
        StageCounts::parse_within(text, MOST_STAGES)
    }

    fn parse_within(text: &str, most: u32) -> Result<StageCounts, String> {
        let number = |word: &str| {
            let count = word.trim().parse::<u32>().ok().filter(|n| *n <= most);
            count.ok_or_else(|| format!("{word:?} is no number of stages from 0 to {most}"))
        };
        let mut found = Vec::new();
        for part in text.split(',') {
            let ends = ["..=", "..", "-"].iter().find_map(|dots| part.split_once(dots));
            match ends.filter(|(first, _)| !first.is_empty()) {
                Some((first, last)) => {
                    let (first, last) = (number(first)?, number(last)?);
                    if last < first {
                        return Err(format!("{part:?} ends before it begins"));
                    }
                    found.extend(first..=last);
                }
                None => found.push(number(part)?),
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(StageCounts(found))
    }

    /// Parses like [`StageCounts::parse`], but a single number is the end of a range from one.
    ///
    /// # Errors
    /// As [`StageCounts::parse`].
    pub fn parse_up_to(text: &str) -> Result<StageCounts, String> {
        match text.trim().parse::<u32>() {
            Ok(0) => Err("there is nothing to compare; 1 and more, or a range such as 0..6".to_owned()),
            Ok(last) => StageCounts::parse_within(&format!("1..{last}"), MOST_COMPARED),
            Err(_) => StageCounts::parse_within(text, MOST_COMPARED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_stages_are_ranges_and_lists() {
        assert_eq!(StageCounts::parse("1..4,8,2"), Ok(StageCounts(vec![1, 2, 3, 4, 8])));
        for text in ["0..2", "0-2", "0..=2", "0,1,2", "2,0-1"] {
            assert_eq!(StageCounts::parse(text), Ok(StageCounts(vec![0, 1, 2])), "{text}");
        }
        assert_eq!(StageCounts::parse("5"), Ok(StageCounts(vec![5])));
        assert_eq!(StageCounts::parse_up_to("3"), Ok(StageCounts(vec![1, 2, 3])));
        assert_eq!(StageCounts::parse_up_to("3,5"), Ok(StageCounts(vec![3, 5])));
        for wrong in ["", "4..1", "1..", "x", "-1", "1...3", "2000", "1-2-3", "--"] {
            assert!(StageCounts::parse(wrong).is_err(), "{wrong}");
            assert!(StageCounts::parse_up_to(wrong).is_err(), "{wrong}");
        }
        assert_eq!(StageCounts::parse_up_to("200").map(|counts| counts.0.len()), Ok(200));
        for wrong in ["0", "201", "0..201", "1,500"] {
            assert!(StageCounts::parse_up_to(wrong).is_err(), "{wrong}");
        }
    }
}
