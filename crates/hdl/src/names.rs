//! Operations in names of signals.

/// Returns the number of the operation in the name of a signal in generated RTL, and the rest of the name: 17 and
/// `_a_s2` for `top.u_stage.fc1_v17_a_s2`.
pub fn operation_in_name(name: &str) -> Option<(u32, &str)> {
    let name = &name[name.rfind('.').map_or(0, |dot| dot + 1)..];
    let begins = name.rmatch_indices('_').map(|(at, _)| at + 1).chain([0]);
    begins.into_iter().find_map(|at| {
        let rest = name[at..].strip_prefix(['v', 'V'])?;
        let (digits, suffix) = rest.split_at(rest.find('_').unwrap_or(rest.len()));
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some((digits.parse().ok().filter(|_| is_number)?, suffix))
    })
}

#[cfg(test)]
mod tests {
    use super::operation_in_name;

    #[test]
    fn names_of_generated_signals_state_operations() {
        for (name, number, suffix) in [
            ("v17", 17, ""),
            ("V17_S2", 17, "_S2"),
            ("n_v17_a_s2", 17, "_a_s2"),
            ("u_stage.v17_2", 17, "_2"),
            ("top.v3.conv_v2_1_v40_v", 40, "_v"),
        ] {
            assert_eq!(operation_in_name(name), Some((number, suffix)), "{name}");
        }
        for other in ["", "valid_s2", "v", "v_s1", "va", "v1x", "in17", "v+1", "v4294967296", "v17.x", "conv2", "ä_v"]
        {
            assert_eq!(operation_in_name(other), None, "{other}");
        }
    }
}
