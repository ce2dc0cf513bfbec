//! Suggestions for misspelt names.

/// Longer names are not compared: messages would not show them.
const LONGEST: usize = 64;

/// The candidate within two edits of `name`, if there is one; upper and lower case differ by none.
///
/// Every message that suggests a name takes it from here.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|c| c.len() <= LONGEST)
        .map(|c| (strsim::osa_distance(&lower, &c.to_lowercase()), c))
        .filter(|&(d, c)| d <= 2 && d < c.len().max(name.len()).div_ceil(2))
        .min()
        .map(|(_, c)| c)
}

/// A question that suggests the closest candidate.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    closest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// The message that nothing has a name: with the closest candidate, or with all of them.
pub fn unknown<'a>(
    noun: &str,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let all = || format!("there are {}", candidates.join(", "));
    let help = did_you_mean(name, candidates.iter().copied()).unwrap_or_else(all);
    format!("there is no {noun} `{name}`; help: {help}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["encrypt", "decrypt", "sbox", "x"];
        for (name, near) in [
            ("encrpyt", Some("encrypt")),
            ("Sbox", Some("sbox")),
            ("dcrypt", Some("decrypt")),
            ("y", None),
            ("shuffle", None),
        ] {
            assert_eq!(closest(name, names), near, "{name}");
        }
        let found = unknown("table", "sbux", names);
        assert_eq!(found, "there is no table `sbux`; help: did you mean `sbox`?");
        let found = unknown("table", "t", ["a", "b2"]);
        assert_eq!(found, "there is no table `t`; help: there are a, b2");
    }
}
