//! Levels of lints and of other warnings: allow, warn and deny.

use crate::diag::{Code, Diagnostic, Severity};
use crate::names::did_you_mean;

/// The treatment of a warning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// It is not shown.
    Allow,
    /// It is shown.
    Warn,
    /// It is an error.
    Deny,
}

/// The name of all codes that are shown.
const WARNINGS: &str = "warnings";

/// Codes whose level can change, with the level that they have.
const DEFAULTS: &[(Code, Level)] = &[
    (Code::ShadowedName, Level::Warn),
    (Code::OverwriteInLoop, Level::Warn),
    (Code::OldUpdateForm, Level::Warn),
    (Code::LegacyTable, Level::Warn),
    (Code::UnusualPrecedence, Level::Warn),
    (Code::UnusedVariable, Level::Warn),
    (Code::UnusedParameter, Level::Warn),
    (Code::UnusedValue, Level::Warn),
    (Code::UncalledNode, Level::Allow),
    (Code::LongRotation, Level::Warn),
    (Code::LongShift, Level::Warn),
    (Code::ConstantResult, Level::Warn),
    (Code::SameOperands, Level::Warn),
    (Code::NotInverse, Level::Warn),
    (Code::DownwardLoop, Level::Warn),
    (Code::CostlyAddition, Level::Allow),
];

/// The codes that a level is given to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    One(Code),
    /// Every code that is shown otherwise.
    Warnings,
}

impl std::str::FromStr for Group {
    type Err = String;

    /// Reads a code in upper or lower case, or `warnings`.
    fn from_str(name: &str) -> Result<Group, String> {
        if name == WARNINGS {
            return Ok(Group::Warnings);
        }
        let upper = name.to_ascii_uppercase();
        if let Some((code, _)) = DEFAULTS.iter().find(|(code, _)| code.as_str() == upper) {
            return Ok(Group::One(*code));
        }
        if Code::ALL.iter().any(|code| code.as_str() == upper) {
            return Err(format!("{upper} is an error in every program, and no warning"));
        }
        let codes = DEFAULTS.iter().map(|(code, _)| code.as_str());
        let near = did_you_mean(name, codes.clone().chain([WARNINGS]));
        let all =
            || format!("the codes are `{WARNINGS}`, {}", codes.collect::<Vec<_>>().join(", "));
        Err(near.unwrap_or_else(all))
    }
}

/// The levels of one run.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Levels {
    given: Vec<(Group, Level)>,
}

impl Levels {
    /// Gives a level to a code or to all warnings.
    pub fn set(&mut self, group: Group, level: Level) {
        self.given.push((group, level));
    }

    /// The level of a warning. A level for its code precedes one for all warnings, and the stricter
    /// one of two is taken.
    pub fn of(&self, code: Code) -> Level {
        let given = |wanted: Group| {
            self.given.iter().filter(|(group, _)| *group == wanted).map(|(_, level)| *level).max()
        };
        let default = DEFAULTS.iter().find(|(known, _)| *known == code);
        let default = default.map_or(Level::Warn, |(_, level)| *level);
        match given(Group::One(code)) {
            Some(level) => level,
            None if default == Level::Allow => default,
            None => given(Group::Warnings).unwrap_or(default),
        }
    }

    /// The findings as these levels show them; errors stay.
    pub fn apply(&self, findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let shown = |mut finding: Diagnostic| {
            if finding.severity == Severity::Warning {
                match self.of(finding.code) {
                    Level::Allow => return None,
                    Level::Warn => {}
                    Level::Deny => finding.severity = Severity::Error,
                }
            }
            Some(finding)
        };
        findings.into_iter().filter_map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_precedes_all_warnings() {
        let levels = |given: &[(&str, Level)]| {
            let mut levels = Levels::default();
            for (name, level) in given {
                levels.set(name.parse().expect("a code"), *level);
            }
            levels
        };
        let (unused, uncalled) = (Code::UnusedVariable, Code::UncalledNode);
        assert_eq!(Levels::default().of(unused), Level::Warn);
        assert_eq!(Levels::default().of(uncalled), Level::Allow);
        let strict = levels(&[("warnings", Level::Deny), ("u1102", Level::Allow)]);
        assert_eq!(strict.of(unused), Level::Allow);
        assert_eq!(strict.of(uncalled), Level::Allow);
        assert_eq!(strict.of(Code::LongShift), Level::Deny);
        assert_eq!(levels(&[("U1105", Level::Warn)]).of(uncalled), Level::Warn);
    }

    #[test]
    fn names_of_codes_are_checked() {
        let error = |name: &str| name.parse::<Group>().expect_err(name);
        assert_eq!(error("U0201"), "U0201 is an error in every program, and no warning");
        assert_eq!(error("warning"), "did you mean `warnings`?");
        assert!(error("unused").starts_with("the codes are `warnings`, U0205, "));
    }

    /// Each lint has a level, and each code that the table has is one of a warning.
    #[test]
    fn every_lint_has_a_default() {
        let lints = Code::ALL.iter().filter(|code| code.as_str().starts_with("U11"));
        for lint in lints {
            assert!(DEFAULTS.iter().any(|(code, _)| code == lint), "{lint}");
        }
    }
}
