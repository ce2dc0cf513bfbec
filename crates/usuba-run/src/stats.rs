//! Quantiles, and whether two sets of samples differ.
//!
//! ```text
//! before: 10.1 10.2 10.1 10.4 …     rank_sum → p = 0.0003, so the difference is no accident
//! after:   9.7  9.8  9.7  9.9 …
//! ```
//!
//! Times have a long tail to one side, so nothing here assumes a normal distribution of samples:
//! places are medians, widths are quartiles, and differences are ranks.

use libm::erfc;

/// The probability of an accident below which a difference is claimed.
pub const SIGNIFICANT: f64 = 0.01;

/// Up to so many samples together, the distribution of the rank sum is counted out.
const EXACT: usize = 40;

/// The value that `share` (0 to 1) of the ascending samples do not exceed; between two samples, the
/// weighted mean of both.
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

/// The distance of the quartiles as a share of the median: how much samples scatter.
pub fn scatter(ascending: &[f64]) -> f64 {
    let median = quantile(ascending, 0.5);
    (quantile(ascending, 0.75) - quantile(ascending, 0.25)) / median
}

/// The geometric mean: of ratios, the one that treats a factor and its inverse alike. `None` of
/// nothing.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

/// The answer of Wilcoxon's rank-sum test (Mann and Whitney's U), two-sided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankSum {
    /// In how many of all pairs the sample of the first set is larger; an equal pair counts half.
    pub u: f64,
    /// The probability that samples of one and the same distribution lie apart so far, or farther.
    pub p: f64,
}

impl RankSum {
    /// Whether the difference can be claimed.
    pub fn is_significant(&self) -> bool {
        self.p < SIGNIFICANT
    }
}

/// Whether the samples `a` and `b`, in any order, come from distributions in different places.
///
/// Equal samples get the mean of their ranks. Up to 40 samples together, all ways to divide the
/// ranks are counted; above, the normal approximation with the corrections for equal samples and
/// for continuity is used. Nothing is claimed (`p = 1`) if a set is empty or all samples are equal.
pub fn rank_sum(a: &[f64], b: &[f64]) -> RankSum {
    let mut all: Vec<(f64, bool)> = a.iter().map(|&x| (x, true)).collect();
    all.extend(b.iter().map(|&x| (x, false)));
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    // Twice the ranks, which are whole numbers even where ranks are shared.
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

/// The share of all choices of `take` of `ranks` whose sum is at least as far from the mean as
/// `seen`.
fn counted(ranks: &[usize], take: usize, seen: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    // ways[k][s]: choices of k ranks with the sum s. At most 40 over 20, so exact.
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
    // Compared as whole numbers: N times the sum, against `take` times the sum of all.
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

    /// Permeability constants, Hollander and Wolfe (1973), page 69; R's `wilcox.test` says W = 35
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

    /// Ozone in New York in May and August 1973 (Chambers et al. 1983); R's `wilcox.test` says
    /// W = 127.5 and p = 0.0001208.
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

    /// 1 1 2 | 2 3 3: of the 20 divisions, 2 are as far apart (this one and its mirror image come
    /// twice each, because there are two equal samples in the middle).
    #[test]
    fn few_samples_with_ties_are_counted_out() {
        let answer = rank_sum(&[1.0, 1.0, 2.0], &[2.0, 3.0, 3.0]);
        assert_eq!(answer.u, 0.5);
        near(answer.p, 4.0 / 20.0, 1e-12);
    }

    /// The counted and the approximated answer agree where they meet.
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
