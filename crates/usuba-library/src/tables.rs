//! Precomputed multiples of the base point of Ed25519, from its definition.
//!
//! ```text
//! comb     for each block j and m below 8: 2^(s (4 j + 3)) B plus or minus 2^(s (4 j + k)) B for k < 3
//! odd      B, 3 B, 5 B, …
//! entry    y + x, y - x, 2 d x y, each below p, as pairs of 32 bits: P(high, low)
//! ```
//!
//! Points are added by the complete formulas of Hisil, Wong, Carter and Dawson (ePrint 2008/522).
//! RFC 8032, section 5.1, defines the base point and d.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;

use num_bigint::BigUint;

/// Teeth of a comb in one block.
const TEETH: usize = 4;

/// Tooth distances of the comb, and windows for public scalars: for processors with caches, without
/// caches, and with little memory. The names are used in `lib/c/curve25519/point.c.in`.
const SIZES: [(&str, usize, u32); 3] = [("fast", 4, 8), ("short", 16, 5), ("small", 64, 4)];

/// The constants of the curve: the field prime, 2d and the group order.
struct Curve {
    p: BigUint,
    twice_d: BigUint,
    order: BigUint,
}

/// A point as X, Y, Z, T with x = X/Z, y = Y/Z, x y = T/Z.
#[derive(Clone)]
struct Point([BigUint; 4]);

impl Curve {
    fn new() -> Curve {
        let p = (BigUint::from(1u8) << 255u32) - 19u8;
        let over = BigUint::from(121666u32).modpow(&(&p - 2u8), &p);
        let d = (&p - 121665u32) * over % &p;
        let order = "27742317777372353535851937790883648493".parse::<BigUint>();
        let order = order.expect("these are digits") + (BigUint::from(1u8) << 252u32);
        Curve { twice_d: d * 2u8 % &p, p, order }
    }

    fn difference(&self, a: &BigUint, b: &BigUint) -> BigUint {
        (a + &self.p - b) % &self.p
    }

    fn inverse(&self, a: &BigUint) -> BigUint {
        a.modpow(&(&self.p - 2u8), &self.p)
    }

    /// The point with y = 4/5 and an even x.
    fn base(&self) -> Point {
        let (p, one) = (&self.p, BigUint::from(1u8));
        let y = BigUint::from(4u8) * self.inverse(&BigUint::from(5u8)) % p;
        let d = &self.twice_d * self.inverse(&BigUint::from(2u8)) % p;
        let yy = &y * &y % p;
        let xx = self.difference(&yy, &one) * self.inverse(&((d * &yy + 1u8) % p)) % p;
        let mut x = xx.modpow(&((p + 3u8) >> 3u32), p);
        if &x * &x % p != xx {
            x = x * BigUint::from(2u8).modpow(&((p - 1u8) >> 2u32), p) % p;
        }
        if x.bit(0) {
            x = p - x;
        }
        let t = &x * &y % p;
        Point([x, y, one, t])
    }

    fn sum(&self, one: &Point, other: &Point) -> Point {
        let p = &self.p;
        let ([x, y, z, t], [u, v, w, s]) = (&one.0, &other.0);
        let a = self.difference(y, x) * self.difference(v, u) % p;
        let b = (y + x) * (v + u) % p;
        let c = t * &self.twice_d * s % p;
        let d = z * w * 2u8 % p;
        let (e, f) = (self.difference(&b, &a), self.difference(&d, &c));
        let (g, h) = (d + c, b + a);
        Point([&e * &f % p, &g * &h % p, &f * &g % p, &e * &h % p])
    }

    fn negative(&self, Point([x, y, z, t]): &Point) -> Point {
        let zero = BigUint::ZERO;
        let (x, t) = (self.difference(&zero, x), self.difference(&zero, t));
        Point([x, y.clone(), z.clone(), t])
    }

    /// The table entry of a point.
    fn entry(&self, Point([x, y, z, _]): &Point) -> [BigUint; 3] {
        let over = self.inverse(z);
        let (x, y) = (x * &over % &self.p, y * &over % &self.p);
        let product = &x * &y * &self.twice_d % &self.p;
        [(&y + &x) % &self.p, self.difference(&y, &x), product]
    }
}

/// A 256-bit number as pairs, the lowest first.
fn pairs(number: &BigUint) -> String {
    let mut words = number.iter_u64_digits();
    let mut text = String::new();
    for at in 0..4 {
        let word = words.next().unwrap_or(0);
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(text, "{comma}P({:08x},{:08x})", word >> 32, word & 0xffff_ffff);
    }
    text
}

fn entries(points: impl Iterator<Item = [BigUint; 3]>) -> String {
    points
        .map(|entry| {
            let numbers: Vec<String> = entry.iter().map(pairs).collect();
            format!("{{{}}},\n", numbers.join(",\n "))
        })
        .collect()
}

/// Computes the tables, keyed by their names in `lib/c/curve25519/point.c.in`.
fn made() -> BTreeMap<String, String> {
    let curve = Curve::new();
    let base = curve.base();
    let mut powers = vec![base.clone()];
    for i in 1..256 {
        let next = curve.sum(&powers[i - 1], &powers[i - 1]);
        powers.push(next);
    }
    let mut values = BTreeMap::new();
    let mut odd = Vec::new();
    let mut next = base;
    for _ in 0..1 << (SIZES[0].2 - 2) {
        odd.push(curve.entry(&next));
        next = curve.sum(&next, &powers[1]);
    }
    for (at, (name, spacing, window)) in SIZES.iter().enumerate() {
        let mut comb = String::new();
        for j in 0..256 / TEETH / spacing {
            let tooth = |k: usize| &powers[spacing * (TEETH * j + k)];
            let one = |m: usize| {
                let signed = |k: usize| match m >> k & 1 {
                    1 => tooth(k).clone(),
                    _ => curve.negative(tooth(k)),
                };
                let last = tooth(TEETH - 1).clone();
                curve.entry(&(0..TEETH - 1).fold(last, |sum, k| curve.sum(&sum, &signed(k))))
            };
            let block = (0..1 << (TEETH - 1)).map(one);
            let _ = write!(comb, "{{\n{}}},\n", entries(block));
        }
        values.insert(format!("{name}_comb"), comb);
        values.insert(format!("{name}_spacing"), spacing.to_string());
        values.insert(format!("{name}_window"), window.to_string());
        // Each table extends the shorter one.
        let shorter = SIZES.get(at + 1).map_or(0, |(.., window)| 1 << (window - 2));
        let own = odd[shorter..1 << (window - 2)].iter().cloned();
        values.insert(format!("{name}_odd"), entries(own));
    }
    let half = (&curve.order + 1u8) >> 1u32;
    let offset = ((BigUint::from(1u8) << 256u32) - 1u8) * &half % &curve.order;
    values.insert("half".to_string(), pairs(&half));
    values.insert("offset".to_string(), pairs(&offset));
    values
}

/// The tables, keyed by their names in `lib/c/curve25519/point.c.in`.
pub fn tables() -> &'static BTreeMap<String, String> {
    static MADE: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    MADE.get_or_init(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point as x and y.
    type Affine = (BigUint, BigUint);

    /// Adds two points by the affine group law, with divisions.
    fn sum(curve: &Curve, (x, y): &Affine, (u, v): &Affine) -> Affine {
        let p = &curve.p;
        let half = curve.inverse(&BigUint::from(2u8));
        let product = &curve.twice_d * half % p * x % p * u % p * y % p * v % p;
        let above = (x * v + u * y) * curve.inverse(&(&product + 1u8));
        let below = curve.difference(&BigUint::from(1u8), &product);
        (above % p, (y * v + x * u) * curve.inverse(&below) % p)
    }

    fn multiple(curve: &Curve, count: &BigUint) -> Affine {
        let base = curve.base().0;
        let base = (base[0].clone(), base[1].clone());
        let mut result = (BigUint::ZERO, BigUint::from(1u8));
        for bit in (0..count.bits()).rev() {
            result = sum(curve, &result, &result);
            if count.bit(bit) {
                result = sum(curve, &result, &base);
            }
        }
        result
    }

    /// The text of an entry.
    fn text(curve: &Curve, (x, y): &Affine) -> String {
        let product = x * y * &curve.twice_d % &curve.p;
        let entry = [(x + y) % &curve.p, curve.difference(y, x), product];
        entries([entry].into_iter())
    }

    fn value(name: &str) -> &'static str {
        &tables()[name]
    }

    #[test]
    fn the_base_point_is_that_of_rfc_8032() {
        let curve = Curve::new();
        let [x, y, ..] = curve.base().0;
        let known = [
            "15112221349535400772501151409588531511454012693041857206046113283949847762202",
            "46316835694926478169428394003475163141307993866256225615783033603165251855960",
        ];
        assert_eq!([x.to_string(), y.to_string()], known);
        let zero = multiple(&curve, &curve.order);
        assert_eq!(zero, (BigUint::ZERO, BigUint::from(1u8)));
    }

    #[test]
    fn entries_are_the_multiples_that_they_should_be() {
        let curve = Curve::new();
        for (name, spacing, window) in SIZES {
            let blocks: Vec<&str> = value(&format!("{name}_comb")).split("{\n").skip(1).collect();
            assert_eq!(blocks.len(), 64 / spacing);
            // Checks two entries in the first and the last block of each table.
            for j in [0, blocks.len() - 1] {
                for m in [0, 5] {
                    let power = |k: usize| BigUint::from(1u8) << (spacing * (4 * j + k));
                    let (mut above, mut below) = (power(3), BigUint::ZERO);
                    (0..3).for_each(|k| match m >> k & 1 {
                        1 => above += power(k),
                        _ => below += power(k),
                    });
                    let wanted = text(&curve, &multiple(&curve, &(above - below)));
                    let lines: Vec<&str> = blocks[j].lines().skip(3 * m).take(3).collect();
                    assert_eq!(lines.join("\n") + "\n", wanted, "{name}, block {j}, entry {m}");
                }
            }
            let last = multiple(&curve, &BigUint::from((1u32 << (window - 1)) - 1));
            assert!(value(&format!("{name}_odd")).ends_with(&text(&curve, &last)), "{name}");
        }
    }
}
