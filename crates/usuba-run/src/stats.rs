//! Statistics of samples: quantiles, the rank-sum test and its interval, corrections for many tests.
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

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The quantile of the normal distribution that belongs to it.
const TWO_SIDED: f64 = 1.959_964;

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

/// Holm's step-down correction of the probabilities `ps` for testing all of them: a difference whose
/// corrected probability is below a level is wrong for none of them with that probability.
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|&a, &b| ps[a].total_cmp(&ps[b]));
    let mut corrected = vec![1.0; ps.len()];
    let mut least: f64 = 0.0;
    for (done, &at) in order.iter().enumerate() {
        least = least.max(ps[at] * (ps.len() - done) as f64).min(1.0);
        corrected[at] = least;
    }
    corrected
}

/// A ratio with an interval that holds the true one with a probability of at least 95 percent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// How much larger the samples `a` are than the samples `b`, which are positive: the median of all
/// quotients (Hodges and Lehmann), with the interval that belongs to the rank-sum test. `None` if
/// there are too few samples for an interval.
///
/// *Reference:* Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3.
pub fn ratio(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let mut quotients: Vec<f64> = a.iter().flat_map(|x| b.iter().map(move |y| x / y)).collect();
    quotients.sort_by(f64::total_cmp);
    let cut = left_out(a.len(), b.len())?;
    let (low, high) = (quotients[cut], quotients[quotients.len() - 1 - cut]);
    Some(Ratio { value: quantile(&quotients, 0.5), low, high })
}

/// The number of quotients to leave out at each end for 95 percent: the critical value of U, which
/// is the largest that is as improbable as half of the rest.
fn left_out(n: usize, m: usize) -> Option<usize> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    if n + m > EXACT {
        let (n, m) = (n as f64, m as f64);
        let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
        let cut = n * m / 2.0 - TWO_SIDED * deviation;
        return (n > 0.0 && m > 0.0).then_some(cut.max(0.0) as usize);
    }
    let ranks: Vec<usize> = (1..=n + m).collect();
    let sums = ways(&ranks, n);
    let all: f64 = sums.iter().sum();
    let least = n * (n + 1) / 2;
    let mut below = 0.0;
    for (u, ways) in sums.iter().skip(least).enumerate() {
        below += ways / all;
        if below > tail {
            return u.checked_sub(1);
        }
    }
    None
}

/// The standard deviation as a share of the mean; 0 of fewer than two samples.
pub fn deviation(samples: &[f64]) -> f64 {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    if samples.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() / mean }
}

/// Spearman's rank correlation of pairs: 1 if both have one order, -1 if they have opposite ones.
/// `None` if one of them has no order.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let below = |x: f64| values.iter().filter(|y| **y < x).count() as f64;
        let equal = |x: f64| values.iter().filter(|y| **y == x).count() as f64;
        values.iter().map(|&x| below(x) + (equal(x) + 1.0) / 2.0).collect()
    };
    let a = ranks(pairs.iter().map(|pair| pair.0).collect());
    let b = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let norm = (product(&a, &a) * product(&b, &b)).sqrt();
    (norm > 0.0).then(|| product(&a, &b) / norm)
}

/// The share of all choices of `take` of `ranks` with a sum at least as far from the mean as
/// `seen`.
fn counted(ranks: &[usize], take: usize, seen: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    let ways = ways(ranks, take);
    // Compared as integers: N times the sum, against `take` times the sum of all.
    let mean = take * most;
    let far = |s: usize| (s * ranks.len()).abs_diff(mean);
    let extreme: f64 = (0..=most).filter(|&s| far(s) >= far(seen)).map(|s| ways[s]).sum();
    extreme / ways.iter().sum::<f64>()
}

/// For each sum the number of choices of `take` of `ranks` that have it. At most 40 over 20, so exact.
fn ways(ranks: &[usize], take: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
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
    ways.swap_remove(take)
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

    /// Holm (1979): 0.01, 0.02, 0.03, 0.005 become 0.03, 0.04, 0.04, 0.02, as by R's `p.adjust`.
    #[test]
    fn many_tests_are_corrected() {
        let corrected = holm(&[0.01, 0.02, 0.03, 0.005]);
        for (is, want) in corrected.iter().zip([0.03, 0.04, 0.04, 0.02]) {
            near(*is, want, 1e-12);
        }
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    /// The table of Mann and Whitney: for 8 and 8 samples U may be 13 at a level of 5 percent, for 5
    /// and 5 it may be 2, for 3 and 3 there is no level.
    #[test]
    fn intervals_belong_to_the_test() {
        assert_eq!(
            (left_out(8, 8), left_out(5, 5), left_out(12, 12)),
            (Some(13), Some(2), Some(37))
        );
        assert_eq!((left_out(3, 3), left_out(1, 1)), (None, None));
        let large = left_out(20, 21).expect("it is approximated");
        assert!((130..140).contains(&large) && left_out(20, 20) == Some(127), "{large}");
    }

    /// A ratio of 2 with a spread of a few percent: the interval holds it, and excludes 1.
    #[test]
    fn ratios_have_an_interval() {
        let b: Vec<f64> = (0..8).map(|i| 1.0 + 0.01 * (i * 3 % 8) as f64).collect();
        let a: Vec<f64> = b.iter().map(|x| 2.0 * x).collect();
        let found = ratio(&a, &b).expect("enough samples");
        near(found.value, 2.0, 0.01);
        assert!(found.low < 2.0 && 2.0 < found.high && found.low > 1.9 && found.high < 2.1);
        let inverse = ratio(&b, &a).expect("enough samples");
        near(inverse.low, 1.0 / found.high, 1e-12);
        assert_eq!(ratio(&[1.0; 3], &[1.0; 3]), None);
    }

    /// Of many pairs of samples of one uniform distribution, 95 percent of the intervals hold 1, and
    /// a hundredth of the tests is significant.
    #[test]
    fn intervals_and_tests_are_as_sure_as_they_say() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            1.0 + 0.1 * (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (mut held, mut claimed) = (0, 0);
        let rounds = 2000;
        for _ in 0..rounds {
            let a: Vec<f64> = (0..8).map(|_| uniform()).collect();
            let b: Vec<f64> = (0..8).map(|_| uniform()).collect();
            let found = ratio(&a, &b).expect("enough samples");
            held += usize::from(found.low <= 1.0 && 1.0 <= found.high);
            claimed += usize::from(rank_sum(&a, &b).is_significant());
        }
        assert!((0.94..0.98).contains(&(held as f64 / rounds as f64)), "{held}");
        assert!((0.003..0.017).contains(&(claimed as f64 / rounds as f64)), "{claimed}");
    }

    #[test]
    fn orders_are_correlated() {
        let pairs = |ys: [f64; 4]| -> Vec<(f64, f64)> {
            [1.0, 2.0, 3.0, 4.0].into_iter().zip(ys).collect()
        };
        assert_eq!(rank_correlation(&pairs([10.0, 20.0, 21.0, 90.0])), Some(1.0));
        assert_eq!(rank_correlation(&pairs([4.0, 3.0, 2.0, 1.0])), Some(-1.0));
        near(rank_correlation(&pairs([1.0, 3.0, 2.0, 4.0])).expect("an order"), 0.8, 1e-12);
        assert_eq!(rank_correlation(&pairs([1.0; 4])), None);
        near(deviation(&[1.0, 2.0, 3.0]), 0.5, 1e-12);
        assert_eq!(deviation(&[5.0]), 0.0);
    }
}
