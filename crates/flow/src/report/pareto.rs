//! Pareto front of several designs.

/// Returns `true` for each design on the Pareto front of `(speed, area)`, where more speed and less area are better. A
/// design is not on the front if another one is at least as good in both and better in one. Of several equal designs
/// only the first is on the front; a design without figures is not.
pub fn pareto(points: &[Option<(f64, f64)>]) -> Vec<bool> {
    let is_beaten = |at: usize, (speed, area): (f64, f64)| {
        let others = points.iter().enumerate().filter(|(k, _)| *k != at);
        others.filter_map(|(k, other)| Some((k, (*other)?))).any(|(k, (other_speed, other_area))| {
            let as_good = other_speed >= speed && other_area <= area;
            as_good && (other_speed > speed || other_area < area || k < at)
        })
    };
    points.iter().enumerate().map(|(at, own)| own.is_some_and(|own| !is_beaten(at, own))).collect()
}

#[cfg(test)]
mod tests {
    use super::pareto;

    #[test]
    fn what_is_slower_or_larger_is_beaten_and_of_equals_the_first_stays() {
        let points = [(100.0, 15.0), (100.0, 14.0), (101.0, 15.0), (100.0, 14.0), (200.0, 16.0)].map(Some);
        assert_eq!(pareto(&points), [false, true, true, false, true]);
        assert_eq!(pareto(&[None, Some((1.0, 1.0))]), [false, true]);
    }
}
