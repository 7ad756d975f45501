//! Signed digits of an integer.

/// Returns the canonical signed digits of a number (G. W. Reitwiesner, 1960): the sets of positions `plus` and `minus`,
/// where `plus - minus` is the number and no two digits are adjacent.
pub(crate) fn canonical(number: i128) -> (u128, u128) {
    let magnitude = number.unsigned_abs();
    let (half, triple) = (magnitude >> 1, magnitude + (magnitude >> 1));
    let (plus, minus) = (triple & !half, half & !triple);
    if number < 0 { (minus, plus) } else { (plus, minus) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_sum_to_the_number_and_are_not_adjacent() {
        for number in (-3000..3000).chain([(1 << 100) - 1, -(1 << 90) + 12345]) {
            let (plus, minus) = canonical(number);
            assert_eq!(plus as i128 - minus as i128, number);
            let all = plus | minus;
            assert_eq!((plus & minus, all & all << 1), (0, 0));
        }
    }
}
