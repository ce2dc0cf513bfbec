//! Certificates of primes: n is prime if some number has order n - 1 modulo n.
//!
//! ```text
//! p = 2^255 - 19     2 has order p - 1, because 2^((p-1)/q) is not 1 for the primes q of p - 1
//!                    these are 2, 3, 65147 and a q with a certificate of its own
//! ```
//!
//! *Reference:* Pratt, *Every prime has a succinct certificate*, 1975.

use num_bigint::BigUint;

/// A prime that is too long for trial division, a number of order n - 1, and the primes that divide
/// n - 1.
type Certificate = (&'static str, u8, &'static [&'static str]);

/// The prime of Curve25519, after the primes of whose certificates it makes use.
const CERTIFICATES: &[Certificate] = &[
    ("1919519569386763", 2, &["2", "3", "7", "19", "47", "127", "8574133"]),
    ("31757755568855353", 10, &["2", "3", "31", "107", "223", "4153", "430751"]),
    (
        "75445702479781427272750846543864801",
        7,
        &["2", "3", "5", "75707", "72106336199", "1919519569386763"],
    ),
    (
        "74058212732561358302231226437062788676166966415465897661863160754340907",
        2,
        &[
            "2",
            "3",
            "353",
            "57467",
            "132049",
            "1923133",
            "31757755568855353",
            "75445702479781427272750846543864801",
        ],
    ),
    (
        "57896044618658097711785492504343953926634992332820282019728792003956564819949",
        2,
        &[
            "2",
            "3",
            "65147",
            "74058212732561358302231226437062788676166966415465897661863160754340907",
        ],
    ),
];

/// The longest number, in bits, that is divided by all smaller ones.
const SHORT: u64 = 40;

/// Whether a number is prime; numbers that are long and have no certificate are not known to be.
pub fn is_prime(number: &BigUint) -> bool {
    is_prime_by(number, CERTIFICATES)
}

fn is_prime_by(number: &BigUint, certificates: &[Certificate]) -> bool {
    let one = BigUint::from(1u8);
    if number.bits() <= SHORT {
        let number = number.to_u64_digits().first().copied().unwrap_or(0);
        let divides = |by: u64| number.is_multiple_of(by);
        return number > 1 && !(2..=number.isqrt()).any(divides);
    }
    let parse = |digits: &str| digits.parse::<BigUint>().expect("digits");
    let Some(at) = certificates.iter().position(|known| parse(known.0) == *number) else {
        return false;
    };
    let (_, generator, primes) = certificates[at];
    let (less, generator) = (number - 1u8, BigUint::from(generator));
    let mut rest = less.clone();
    for prime in primes.iter().map(|prime| parse(prime)) {
        // Certificates come after those that they need.
        let is_factor = is_prime_by(&prime, &certificates[..at])
            && (&rest % &prime) == BigUint::ZERO
            && generator.modpow(&(&less / &prime), number) != one;
        if !is_factor {
            return false;
        }
        while (&rest % &prime) == BigUint::ZERO {
            rest /= &prime;
        }
    }
    rest == one && generator.modpow(&less, number) == one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prime_of_the_field_is_prime() {
        let prime = (BigUint::from(1u8) << 255) - 19u8;
        assert!(is_prime(&prime));
        assert!(!is_prime(&(prime - 2u8)));
        let small = |number: u32| is_prime(&number.into());
        let all: Vec<u32> = (0..30).filter(|&number| small(number)).collect();
        assert_eq!(all, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert!(!small(65_147 * 3) && !small(65_521 * 13));
    }

    /// A product, a number of smaller order, and a factor that is missing.
    #[test]
    fn false_certificates_are_refused() {
        let refused = |certificate: Certificate| {
            let number = certificate.0.parse().expect("digits");
            assert!(!is_prime_by(&number, &[certificate]), "{certificate:?}");
        };
        // 2^47 - 115 and 2^41 - 21 are prime.
        refused(("140737488355213", 1, &["2"]));
        refused(("2199023255531", 4, &["2", "5", "219902325553"]));
        let primes: &[&str] = &["2", "3", "7", "19", "47", "127", "8574133"];
        assert!(is_prime_by(
            &"1919519569386763".parse().expect("digits"),
            &[("1919519569386763", 2, primes)]
        ));
        refused(("1919519569386763", 2, &primes[..6]));
        refused(("1919519569386763", 1, primes));
        refused(("1919519569386763", 4, primes));
        refused(("1919519569386765", 2, primes));
    }
}
