//! Verdicts: whether a number of ours shows a difference, and whether it agrees with a published
//! one.
//!
//! ```text
//! processes of a side more than 10 % apart           noisy
//! p < 0.01 after Holm, interval beyond the floor     faster, slower
//! interval within the floor                          no difference
//! otherwise                                          not resolved
//! ```
//!
//! A published ratio *holds* if ours has the same direction and the published number lies in our
//! interval, widened by half a unit of its last digit.

use serde::{Deserialize, Serialize};

use super::published::Figure;
use crate::difference::FLOOR;
use usuba_run::stats::{self, Ratio};

/// The least number of processes of a side that makes a claim.
pub const LEAST_PROCESSES: usize = 8;

/// How often noise is measured: once, and three times more.
const ATTEMPTS: u32 = 4;

/// Measures until nothing is noisy, at most [`ATTEMPTS`] times; the attempt with the least noise
/// counts.
///
/// # Errors
/// The first error of a measurement.
pub fn quietest<T>(
    mut measure: impl FnMut() -> Result<T, String>,
    noise: impl Fn(&T) -> usize,
) -> Result<T, String> {
    let mut best = measure()?;
    for _ in 1..ATTEMPTS {
        if noise(&best) == 0 {
            break;
        }
        let next = measure()?;
        if noise(&next) < noise(&best) {
            best = next;
        }
    }
    Ok(best)
}

/// The difference that a ratio of ours shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Standing {
    #[serde(rename = "faster")]
    Faster,
    #[serde(rename = "slower")]
    Slower,
    /// Of counts.
    #[serde(rename = "more")]
    More,
    #[serde(rename = "less")]
    Less,
    #[serde(rename = "no difference")]
    NoDifference,
    #[serde(rename = "not resolved")]
    NotResolved,
    #[serde(rename = "noisy")]
    Noisy,
}

/// A published ratio beside ours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Against {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "holds, other size")]
    OtherSize,
    #[serde(rename = "opposite")]
    Opposite,
    #[serde(rename = "no difference here")]
    NoDifference,
    #[serde(rename = "cannot be told")]
    CannotBeTold,
}

impl Standing {
    /// The verdict on a ratio of speeds: `p` is corrected for all tests of its table.
    pub fn of_times(ratio: Option<Ratio>, p: f64, processes: usize, noisy: bool) -> Standing {
        let Some(Ratio { low, high, .. }) = ratio.filter(|_| processes >= LEAST_PROCESSES) else {
            return if noisy { Standing::Noisy } else { Standing::NotResolved };
        };
        let sure = p < stats::SIGNIFICANT;
        match () {
            () if noisy => Standing::Noisy,
            () if sure && low > 1.0 + FLOOR => Standing::Faster,
            () if sure && high < 1.0 / (1.0 + FLOOR) => Standing::Slower,
            () if low >= 1.0 / (1.0 + FLOOR) && high <= 1.0 + FLOOR => Standing::NoDifference,
            () => Standing::NotResolved,
        }
    }

    /// The verdict on a ratio of counts, which are exact.
    pub fn of_counts(ratio: f64) -> Standing {
        match () {
            () if ratio > 1.0 + FLOOR => Standing::More,
            () if ratio < 1.0 / (1.0 + FLOOR) => Standing::Less,
            () => Standing::NoDifference,
        }
    }

    /// Whether the difference is claimed.
    pub fn is_claim(self) -> bool {
        use Standing::{Faster, Less, More, Slower};
        matches!(self, Faster | Slower | More | Less)
    }

    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Faster => "faster",
            Standing::Slower => "slower",
            Standing::More => "more",
            Standing::Less => "less",
            Standing::NoDifference => "no difference",
            Standing::NotResolved => "not resolved",
            Standing::Noisy => "noisy",
        }
    }
}

/// Whether a published ratio is so near to equal that nothing confirms or refutes it.
pub fn is_near(value: f64) -> bool {
    // The last digit of 1.02 is not exact in binary.
    (value - 1.0).abs() <= FLOOR + 1e-9
}

impl Against {
    /// All of them, in the order of tables.
    pub const ALL: [Against; 5] = [
        Against::Holds,
        Against::OtherSize,
        Against::Opposite,
        Against::NoDifference,
        Against::CannotBeTold,
    ];

    /// Compares a ratio of ours, with the interval `low` to `high`, with a published one.
    pub fn new(standing: Standing, low: f64, high: f64, published: Figure) -> Against {
        use Standing::{Faster, Less, More, NoDifference, Noisy, NotResolved, Slower};
        let Figure { value, half } = published;
        let up = match standing {
            _ if is_near(value) => return Against::CannotBeTold,
            Noisy | NotResolved => return Against::CannotBeTold,
            NoDifference => return Against::NoDifference,
            Faster | More => true,
            Slower | Less => false,
        };
        match () {
            () if up != (value > 1.0) => Against::Opposite,
            () if value >= low - half && value <= high + half => Against::Holds,
            () => Against::OtherSize,
        }
    }

    /// The verdict on a number that the publication leaves open in some respect, so that several of
    /// ours stand beside it: the one they share.
    pub fn of_all(all: &[Against]) -> Against {
        use Against::{CannotBeTold, Holds, OtherSize};
        match all {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => *first,
            [_, ..] if all.iter().all(|one| matches!(one, Holds | OtherSize)) => OtherSize,
            _ => CannotBeTold,
        }
    }

    /// The words in tables.
    pub fn words(self) -> &'static str {
        match self {
            Against::Holds => "holds",
            Against::OtherSize => "holds, other size",
            Against::Opposite => "opposite",
            Against::NoDifference => "no difference here",
            Against::CannotBeTold => "cannot be told",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(low: f64, high: f64, p: f64, processes: usize, noisy: bool) -> Standing {
        let ratio = Ratio { value: (low + high) / 2.0, low, high };
        Standing::of_times(Some(ratio), p, processes, noisy)
    }

    #[test]
    fn differences_need_a_test_an_interval_and_processes() {
        assert_eq!(standing(1.3, 1.4, 1e-5, 12, false), Standing::Faster);
        assert_eq!(standing(0.7, 0.8, 1e-5, 12, false), Standing::Slower);
        assert_eq!(standing(1.3, 1.4, 0.02, 12, false), Standing::NotResolved);
        assert_eq!(standing(1.01, 1.4, 1e-5, 12, false), Standing::NotResolved);
        assert_eq!(standing(1.3, 1.4, 1e-5, 7, false), Standing::NotResolved);
        assert_eq!(standing(0.99, 1.01, 1e-5, 12, false), Standing::NoDifference);
        assert_eq!(standing(1.3, 1.4, 1e-5, 12, true), Standing::Noisy);
        assert_eq!(Standing::of_times(None, 1.0, 1, false), Standing::NotResolved);
    }

    #[test]
    fn noise_is_measured_again_three_times() {
        let run = |noises: &[usize]| {
            let mut left = noises.iter().copied();
            let measure = || left.next().ok_or("measured too often".to_string());
            quietest(measure, |noise| *noise)
        };
        assert_eq!(run(&[0]), Ok(0));
        assert_eq!(run(&[5, 0]), Ok(0));
        assert_eq!(run(&[5, 3, 4, 6]), Ok(3));
        assert_eq!(run(&[5, 3]), Err("measured too often".to_string()));
    }

    #[test]
    fn published_numbers_are_compared() {
        let published = |value| Figure { value, half: 0.005 };
        let against = |standing, value| Against::new(standing, 1.30, 1.36, published(value));
        assert_eq!(against(Standing::Faster, 1.33), Against::Holds);
        assert_eq!(against(Standing::Faster, 1.365), Against::Holds);
        assert_eq!(against(Standing::Faster, 1.10), Against::OtherSize);
        assert_eq!(against(Standing::Faster, 0.90), Against::Opposite);
        assert_eq!(against(Standing::NoDifference, 1.10), Against::NoDifference);
        assert_eq!(against(Standing::Noisy, 1.33), Against::CannotBeTold);
        assert_eq!(against(Standing::Faster, 1.02), Against::CannotBeTold);
    }

    #[test]
    fn open_conditions_need_one_verdict() {
        use Against::{CannotBeTold, Holds, Opposite, OtherSize};
        assert_eq!(Against::of_all(&[Holds, Holds]), Holds);
        assert_eq!(Against::of_all(&[Holds, OtherSize]), OtherSize);
        assert_eq!(Against::of_all(&[Holds, Opposite]), CannotBeTold);
        assert_eq!(Against::of_all(&[]), CannotBeTold);
    }
}
