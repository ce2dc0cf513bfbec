//! Statistics of samples: quantiles and the rank-sum test.
//!
//! ```text
//! before: 10.1 10.2 10.1 10.4 …     rank_sum → p = 0.0003, so the difference is significant
//! after:   9.7  9.8  9.7  9.9 …
//! ```
//!
//! Timings have a long tail to one side, so nothing here assumes a normal distribution. Location is
//! the median, scatter the interquartile range, and differences are ranked.

use libm::erfc;

/// The significance level of a claimed difference.
pub const SIGNIFICANT: f64 = 0.01;

/// Up to this total number of samples, the rank-sum distribution is computed exactly.
const EXACT: usize = 40;

/// The quantile at `share` (0 to 1) of ascending samples; between two samples, their weighted mean.
///
/// # Panics
/// If there are no samples.
pub fn quantile(ascending: &[f64], share: f64) -> f64 {
    assert!(!ascending.is_empty(), "no samples have no quantiles");
    let place = (ascending.len() - 1) as f64 * share.clamp(0.0, 1.0);
    let below = place.floor() as usize;
    let above = (below + 1).min(ascending.len() - 1);
    let weight = place - below as f64;
    ascending[below] * (1.0 - weight) + ascending[above] * weight
}

/// The interquartile range as a share of the median.
pub fn scatter(ascending: &[f64]) -> f64 {
    let median = quantile(ascending, 0.5);
    (quantile(ascending, 0.75) - quantile(ascending, 0.25)) / median
}

/// The geometric mean, which treats a ratio and its inverse alike. `None` for no ratios.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

/// The result of Wilcoxon's rank-sum test (Mann and Whitney's U), two-sided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankSum {
    /// The number of pairs in which the sample of the first set is larger; a tie counts half.
    pub u: f64,
    /// The probability of a difference at least as large if both sets have one distribution.
    pub p: f64,
}

impl RankSum {
    /// Whether the difference is significant.
    pub fn is_significant(&self) -> bool {
        self.p < SIGNIFICANT
    }
}

/// Wilcoxon's rank-sum test of the samples `a` and `b`, in any order.
///
/// Ties get the mean of their ranks. Up to 40 samples in total, the test enumerates all divisions
/// of the ranks. Above, it uses the normal approximation with corrections for ties and continuity.
/// Empty sets and all-equal samples give `p = 1`.
pub fn rank_sum(a: &[f64], b: &[f64]) -> RankSum {
    let mut all: Vec<(f64, bool)> = a.iter().map(|&x| (x, true)).collect();
    all.extend(b.iter().map(|&x| (x, false)));
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    // Twice the ranks, which are integers even for ties.
    let mut doubled = Vec::with_capacity(all.len());
    let mut ties = 0.0;
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let first = doubled.len();
        let t = group.len() as f64;
        ties += t * t * t - t;
        doubled.extend(group.iter().map(|_| 2 * first + group.len() + 1));
    }
    let sum: usize =
        doubled.iter().zip(&all).filter(|(_, (_, in_a))| *in_a).map(|(rank, _)| rank).sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let u = sum as f64 / 2.0 - n * (n + 1.0) / 2.0;
    let distance = (u - n * m / 2.0).abs();
    let total = n + m;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)).max(1.0));
    let p = if distance == 0.0 || variance <= 0.0 {
        1.0
    } else if all.len() <= EXACT {
        counted(&doubled, a.len(), sum)
    } else {
        erfc((distance - 0.5).max(0.0) / variance.sqrt() / std::f64::consts::SQRT_2)
    };
    RankSum { u, p }
}

/// The share of all choices of `take` of `ranks` with a sum at least as far from the mean as
/// `seen`.
fn counted(ranks: &[usize], take: usize, seen: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    // ways[k][s]: the number of choices of k ranks with sum s. At most 40 over 20, so exact.
    let mut ways = vec![vec![0.0f64; most + 1]; take + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for k in (1..=take).rev() {
            for s in (rank..=most).rev() {
                let more = ways[k - 1][s - rank];
                ways[k][s] += more;
            }
        }
    }
    // Compared as integers: N times the sum, against `take` times the sum of all.
    let mean = take * most;
    let far = |s: usize| (s * ranks.len()).abs_diff(mean);
    let extreme: f64 = (0..=most).filter(|&s| far(s) >= far(seen)).map(|s| ways[take][s]).sum();
    extreme / ways[take].iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// Permeability constants, Hollander and Wolfe (1973), page 69; R's `wilcox.test` gives W = 35
    /// and a one-sided p of 0.1272.
    #[test]
    fn few_samples_are_counted_out() {
        let x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let y = [1.15, 0.88, 0.90, 0.74, 1.21];
        let answer = rank_sum(&x, &y);
        assert_eq!(answer.u, 35.0);
        near(answer.p, 2.0 * 0.1272, 0.0002);
        let other = rank_sum(&y, &x);
        assert_eq!(other.u, 15.0);
        near(other.p, answer.p, 1e-12);
    }

    /// Ozone in New York in May and August 1973 (Chambers et al. 1983); R's `wilcox.test` gives W =
    /// 127.5 and p = 0.0001208.
    #[test]
    fn many_samples_with_ties_are_approximated() {
        let may = [
            41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23,
            45, 115, 37,
        ];
        let august = [
            39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168,
            73, 76, 118, 84, 85,
        ];
        let answer = rank_sum(&may.map(f64::from), &august.map(f64::from));
        assert_eq!(answer.u, 127.5);
        near(answer.p, 0.000_120_8, 0.000_000_05);
        assert!(answer.is_significant());
    }

    /// 1 1 2 | 2 3 3: of the 20 divisions, 2 are as far apart. This one and its mirror image occur
    /// twice each, because the two middle samples are tied.
    #[test]
    fn few_samples_with_ties_are_counted_out() {
        let answer = rank_sum(&[1.0, 1.0, 2.0], &[2.0, 3.0, 3.0]);
        assert_eq!(answer.u, 0.5);
        near(answer.p, 4.0 / 20.0, 1e-12);
    }

    /// The exact and the approximate result agree at the threshold.
    #[test]
    fn both_ways_agree() {
        let x: Vec<f64> = (0..20).map(|i| (i * 7 % 20) as f64).collect();
        let y: Vec<f64> = x.iter().map(|v| v + 4.5).collect();
        let counted = rank_sum(&x, &y).p;
        let more: Vec<f64> = y.iter().copied().chain([14.1]).collect();
        let approximated = rank_sum(&x, &more).p;
        near(counted, approximated, 0.01);
    }

    #[test]
    fn nothing_is_claimed_of_nothing() {
        assert_eq!(rank_sum(&[], &[1.0, 2.0]).p, 1.0);
        assert_eq!(rank_sum(&[3.0; 30], &[3.0; 30]).p, 1.0);
        let same = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(rank_sum(&same, &same).p, 1.0);
    }

    #[test]
    fn quantiles_lie_between_samples() {
        let samples = [1.0, 2.0, 3.0, 4.0, 6.0];
        assert_eq!(quantile(&samples, 0.5), 3.0);
        assert_eq!(quantile(&samples, 0.875), 5.0);
        assert_eq!((quantile(&samples, 0.0), quantile(&samples, 1.0)), (1.0, 6.0));
        near(scatter(&samples), 2.0 / 3.0, 1e-12);
        near(geometric_mean(&[2.0, 0.5]).expect("two"), 1.0, 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}
