//! Steps of any evidence: a step that is accepted names a literal that its gate equals for all inputs.

use usuba_replay::net::{Evidence, Guide, Kind, Lit, Net, Step};

/// No steps.
struct Alone;

impl Guide for Alone {
    fn step(&mut self, _: &Net, _: Kind, _: [Lit; 2]) -> Result<Option<Step>, String> {
        Ok(None)
    }

    fn made(&mut self, _: &Net) {}
}

/// Numbers that look random (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % end
    }
}

/// The values of six inputs.
const INPUTS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

#[test]
fn a_step_that_is_accepted_is_true() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut accepted = [0; 3];
    for _ in 0..200 {
        let mut net = Net::default();
        let mut literals: Vec<(Lit, u64)> = vec![(0, 0)];
        for value in INPUTS {
            literals.push((net.input(&mut Alone).expect("an input"), value));
        }
        for _ in 0..30 {
            let mut pick = || {
                let (literal, value) = literals[random.below(literals.len())];
                let flip = random.below(2) as Lit;
                (literal ^ flip, value ^ 0u64.wrapping_sub(flip.into()))
            };
            let [(a, x), (b, y)] = [pick(), pick()];
            let (kind, value) = match random.below(2) {
                0 => (Kind::And, x & y),
                _ => (Kind::Xor, x ^ y),
            };
            // A literal with the value of the gate, or any.
            let same = literals.iter().find(|(_, other)| *other == value);
            let (equals, other) = *same.unwrap_or(&literals[random.below(literals.len())]);
            let leaves: Vec<u32> = (0..random.below(7)).map(|leaf| leaf as u32 + 1).collect();
            let evidence = [
                Evidence::Window(leaves.clone(), Vec::new()),
                Evidence::Parity(leaves),
                Evidence::Polynomial,
            ];
            for (count, evidence) in accepted.iter_mut().zip(evidence) {
                if net.check(kind, [a, b], &Step { equals, evidence: evidence.clone() }).is_ok() {
                    assert_eq!(
                        value, other,
                        "{kind:?} of {a} and {b} is no {equals} by {evidence:?}"
                    );
                    *count += 1;
                }
            }
            let made = match kind {
                Kind::And => net.and(a, b, &mut Alone),
                Kind::Xor => net.xor(a, b, &mut Alone),
            };
            literals.push((made.expect("a gate"), value));
        }
    }
    assert!(accepted.iter().all(|&count| count > 100), "{accepted:?}");
}

#[test]
fn products_of_sums_are_polynomials() {
    let mut net = Net::default();
    let mut inputs = || net.input(&mut Alone).expect("an input");
    let [a, b, c, d] = std::array::from_fn(|_| inputs());
    let guide = &mut Alone;
    // (a + b + 1) (c + d) = a c + a d + b c + b d + c + d
    let mut sum = net.xor(c, d, guide).expect("a gate");
    for (x, y) in [(a, c), (a, d), (b, c), (b, d)] {
        let product = net.and(x, y, guide).expect("a gate");
        sum = net.xor(sum, product, guide).expect("a gate");
    }
    let [left, right] = [(a, b), (c, d)].map(|(x, y)| net.xor(x, y, guide).expect("a gate"));
    let check = |left: Lit, equals: Lit| {
        net.check(Kind::And, [left, right], &Step { equals, evidence: Evidence::Polynomial })
    };
    assert_eq!(check(left ^ 1, sum), Ok(()));
    for (left, equals) in [(left, sum), (left ^ 1, sum ^ 1), (left ^ 1, a), (b, sum)] {
        assert!(check(left, equals).is_err(), "{left} {equals}");
    }
}
