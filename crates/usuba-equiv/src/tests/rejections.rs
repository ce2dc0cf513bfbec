//! Rejection tests: for each rule of the engines, pairs that it must not merge.
//!
//! ```text
//! rule     a term that occurs twice is none        x ^ y ^ x  =  y
//! wrong    y, x ^ y, x ^ y ^ (x <<< 1), ~y         equal if a condition of the rule is dropped
//! ```
//!
//! For every rule there is a pair that the engines make one node, and there are pairs that differ a
//! little. Evaluation shows that they differ. Both orders are tested, since the node that is made
//! first is the one that the second is compared with.

use super::*;
use crate::miter::{self, Decision, Effort};

/// Words that terms are made of.
const WORDS: usize = 16;

type Term<'a> = &'a dyn Fn(&mut Graph, &[Edge]) -> Edge;

fn graph(leaves: usize, bits: u8) -> (Graph, Vec<Edge>) {
    let mut g = Graph::new(Some(Rewrites::new(leaves)));
    let x = params(&mut g, &[bits; WORDS]);
    (g, x)
}

/// Whether some input tells two edges apart: each row of the first eight words, with words
/// everywhere that are uniform or random.
fn differ(g: &Graph, a: Edge, b: Edge) -> bool {
    let ones = mask(g.bits(a));
    let mut random = Random::new(3);
    (0..1024).any(|run| {
        let word = |v: usize| match run {
            0..512 if v < 8 => 0u64.wrapping_sub(run >> v & 1) & ones,
            0..512 => 0u64.wrapping_sub(run >> 8) & ones,
            _ => random.word() & ones,
        };
        let meaning = Meaning { graph: g, params: (0..WORDS).map(word).collect() };
        let around = Around::default();
        meaning.word(a, &around) != meaning.word(b, &around)
    })
}

/// `left` and `right` are one node in DAGs with this number of leaves on words of this width, and
/// no wrong term is the same node as `left`.
fn check(name: &str, shapes: &[(usize, u8)], left: Term, right: Term, wrong: &[Term]) {
    for &(leaves, bits) in shapes {
        let (mut g, x) = graph(leaves, bits);
        let (a, b) = (left(&mut g, &x), right(&mut g, &x));
        assert_eq!(a, b, "{name}: {leaves} leaves, {bits} bits");
        for (at, wrong) in wrong.iter().enumerate() {
            for turned in [false, true] {
                let (mut g, x) = graph(leaves, bits);
                let (first, second) = if turned { (*wrong, left) } else { (left, *wrong) };
                let (a, b) = (first(&mut g, &x), second(&mut g, &x));
                let what = format!("{name}: {at}, {leaves} leaves, {bits} bits");
                assert_ne!(a, b, "{what} is accepted");
                assert!(differ(&g, a, b), "{what} is no fault");
            }
        }
    }
}

fn rotated(g: &mut Graph, k: u8, x: Edge) -> Edge {
    let bits = g.bits(x);
    g.op(&Op::Rotl(k), bits, &[x])
}

fn sum(g: &mut Graph, terms: &[Edge]) -> Edge {
    terms[1..].iter().fold(terms[0], |sum, &term| g.xor(sum, term))
}

fn product(g: &mut Graph, factors: &[Edge]) -> Edge {
    factors[1..].iter().fold(factors[0], |all, &factor| g.and(all, factor))
}

/// 1 on one row alone.
fn minterm(g: &mut Graph, x: &[Edge], row: usize) -> Edge {
    let factors = x.iter().enumerate().map(|(v, &x)| x.flipped(row >> v & 1 == 0));
    let factors: Vec<Edge> = factors.collect();
    product(g, &factors)
}

/// The shapes for which words have bits that can be moved.
const ON_WORDS: [(usize, u8); 2] = [(3, 8), (5, 8)];

/// All shapes: E2 and E3 on words, E4 on bits and on words.
const ALL: [(usize, u8); 4] = [(3, 8), (5, 8), (3, 1), (5, 1)];

#[test]
fn sums_keep_each_term_its_number_and_its_complement() {
    check(
        "the order does not matter",
        &ALL,
        &|g, x| sum(g, &x[..5]),
        &|g, x| sum(g, &[x[4], x[2], x[0], x[3], x[1]]),
        &[
            &|g, x| sum(g, &[x[4], x[2], x[0], x[3]]),
            &|g, x| sum(g, &[x[4], x[2], x[0], x[3], x[5]]),
            &|g, x| sum(g, &[x[4], x[2], x[0], x[3], x[1], x[5]]),
            &|g, x| !sum(g, &[x[4], x[2], x[0], x[3], x[1]]),
        ],
    );
    check(
        "a term that occurs twice is none",
        &ALL,
        &|g, x| sum(g, &[x[0], x[1], x[2], x[1]]),
        &|g, x| sum(g, &[x[2], x[0]]),
        &[
            &|g, x| sum(g, &[x[0], x[1], x[2]]),
            &|g, x| sum(g, &[x[0], x[1], x[2], x[1], x[1]]),
            &|g, x| sum(g, &[x[0], x[1], x[2], !x[1]]),
            &|_, x| x[2],
        ],
    );
    check(
        "complements are counted",
        &ALL,
        &|g, x| sum(g, &[!x[0], !x[1], x[2], x[3]]),
        &|g, x| sum(g, &[x[3], x[2], x[1], x[0]]),
        &[&|g, x| sum(g, &[!x[3], x[2], x[1], x[0]]), &|g, x| sum(g, &[!x[3], !x[2], !x[1], x[0]])],
    );
}

#[test]
fn sums_are_moved_as_a_whole() {
    check(
        "a permutation of a sum is the sum of permuted terms",
        &ON_WORDS,
        &|g, x| {
            let all = sum(g, &x[..3]);
            rotated(g, 3, all)
        },
        &|g, x| {
            let y = [2, 0, 1].map(|v| rotated(g, 3, x[v]));
            sum(g, &y)
        },
        &[
            &|g, x| {
                let y = [(2, 3), (0, 3), (1, 2)].map(|(v, k)| rotated(g, k, x[v]));
                sum(g, &y)
            },
            &|g, x| {
                let y = [0, 1, 2].map(|v| rotated(g, 5, x[v]));
                sum(g, &y)
            },
            &|g, x| {
                let y = [rotated(g, 3, x[0]), rotated(g, 3, x[1]), x[2]];
                sum(g, &y)
            },
            &|g, x| {
                let y = [(0, 3), (1, 3), (1, 3)].map(|(v, k)| rotated(g, k, x[v]));
                sum(g, &y)
            },
        ],
    );
    let with = |c: u64, k: u8| {
        move |g: &mut Graph, x: &[Edge]| {
            let (a, b, c) = (rotated(g, k, x[0]), rotated(g, k, x[1]), g.constant(8, c));
            sum(g, &[a, c, b])
        }
    };
    check(
        "a constant in a sum is moved, and may become odd",
        &ON_WORDS,
        &|g, x| {
            let c = g.constant(8, 0x35);
            let all = sum(g, &[x[0], x[1], c]);
            rotated(g, 3, all)
        },
        &with(0xa9, 3),
        &[&with(0x35, 3), &with(0xa8, 3), &with(0x56, 3), &with(0xa9, 2)],
    );
}

/// Sums of more terms than the limit: only their structure is compared.
#[test]
fn long_sums_lose_nothing() {
    let terms = |g: &mut Graph, x: &[Edge], but: usize| {
        let pairs = (0..9).flat_map(|i| (0..i).map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|pair| *pair != (but, but / 2)).collect();
        let terms: Vec<Edge> = pairs.into_iter().map(|(i, j)| g.and(x[i], x[j])).collect();
        assert!(terms.len() > 32);
        sum(g, &terms)
    };
    let whole = |g: &mut Graph, x: &[Edge]| terms(g, x, 0);
    check(
        "long sums",
        &[(3, 8), (3, 1)],
        &whole,
        &whole,
        &[&|g, x| terms(g, x, 8), &|g, x| terms(g, x, 1), &|g, x| {
            let all = whole(g, x);
            sum(g, &[all, x[15]])
        }],
    );
}

#[test]
fn cuts_keep_leaves_and_tables() {
    let chosen = |g: &mut Graph, [s, a, b]: [Edge; 3]| {
        let change = g.xor(a, b);
        let taken = g.and(s, change);
        g.xor(taken, b)
    };
    let spelled = |g: &mut Graph, [s, a, b]: [Edge; 3]| {
        let (t, e) = (g.and(s, a), g.and(!s, b));
        g.or(t, e)
    };
    check(
        "equal tables of equal leaves",
        &ALL,
        &|g, x| chosen(g, [x[0], x[1], x[2]]),
        &|g, x| spelled(g, [x[0], x[1], x[2]]),
        &[
            &|g, x| spelled(g, [x[0], x[2], x[1]]),
            &|g, x| spelled(g, [!x[0], x[1], x[2]]),
            &|g, x| spelled(g, [x[1], x[0], x[2]]),
            &|g, x| spelled(g, [x[0], x[1], x[3]]),
            &|g, x| spelled(g, [x[0], !x[1], x[2]]),
            &|g, x| !spelled(g, [x[0], x[1], x[2]]),
        ],
    );
    check(
        "leaves on which nothing depends are none",
        &ALL,
        &|g, x| {
            let (t, e) = (g.and(x[0], x[1]), g.and(x[0], !x[1]));
            g.or(t, e)
        },
        &|_, x| x[0],
        &[&|g, x| {
            let (t, e) = (g.and(x[0], x[1]), g.and(x[0], !x[2]));
            g.or(t, e)
        }],
    );
    check(
        "a table of zeros is zero",
        &ALL,
        &|g, x| {
            let (s, p) = (g.xor(x[0], x[1]), g.and(x[0], x[1]));
            g.and(s, p)
        },
        &|g, x| g.dag.constant(g.dag.bits(x[0]), 0),
        &[
            &|g, x| {
                let (s, p) = (g.xor(x[0], x[1]), g.and(x[0], x[2]));
                g.and(s, p)
            },
            &|g, x| g.dag.constant(g.dag.bits(x[0]), mask(g.dag.bits(x[0]))),
        ],
    );
}

/// Every row of a table counts, for each number of leaves.
#[test]
fn cuts_compare_every_row() {
    for (leaves, count) in [(3, 3), (5, 5)] {
        for seed in [1, 5] {
            let right = |g: &mut Graph, x: &[Edge]| sum_of_rows(g, &x[..count], seed);
            for row in 0..1 << count {
                let wrong = |g: &mut Graph, x: &[Edge]| {
                    let (right, one) = (right(g, x), minterm(g, &x[..count], row));
                    g.xor(right, one)
                };
                check(
                    &format!("row {row} of seed {seed}"),
                    &[(leaves, 8)],
                    &|g, x| logic(g, &x[..count], seed),
                    &right,
                    &[&wrong],
                );
            }
        }
    }
}

#[test]
fn cuts_move_leaves_together() {
    let term = |g: &mut Graph, x: &[Edge]| {
        let t = g.and(x[0], x[1]);
        let u = g.xor(t, x[2]);
        g.or(u, x[3])
    };
    let after = |turns: [u8; 4]| {
        move |g: &mut Graph, x: &[Edge]| {
            let y: Vec<Edge> = (0..4).map(|v| rotated(g, turns[v], x[v])).collect();
            term(g, &y)
        }
    };
    check(
        "permutations move out of logic",
        &ON_WORDS,
        &|g, x| {
            let whole = term(g, x);
            rotated(g, 3, whole)
        },
        &after([3; 4]),
        &[
            &after([0; 4]),
            &after([5; 4]),
            &after([3, 3, 3, 2]),
            &after([0, 3, 3, 3]),
            &after([3, 3, 0, 3]),
        ],
    );
    let masked = |c: u64, k: u8| {
        move |g: &mut Graph, x: &[Edge]| {
            let (a, b, c) = (rotated(g, k, x[0]), rotated(g, k, x[1]), g.constant(8, c));
            let kept = g.and(a, c);
            g.or(kept, b)
        }
    };
    check(
        "a constant leaf is moved, and may become odd",
        &ON_WORDS,
        &|g, x| {
            let whole = masked(0x35, 0)(g, x);
            rotated(g, 3, whole)
        },
        &masked(0xa9, 3),
        &[&masked(0x35, 3), &masked(0xa8, 3), &masked(0x56, 3), &masked(0xa9, 5)],
    );
    check(
        "what leaves a word does not come back",
        &ON_WORDS,
        &|g, x| {
            let both = g.and(x[0], x[1]);
            g.op(&Op::Shl(1), 8, &[!both])
        },
        &|g, x| {
            let either = g.or(!x[0], !x[1]);
            g.op(&Op::Shl(1), 8, &[either])
        },
        &[
            &|g, x| {
                let both = g.and(x[0], x[1]);
                !g.op(&Op::Shl(1), 8, &[both])
            },
            &|g, x| {
                let both = g.and(x[0], x[1]);
                rotated(g, 1, !both)
            },
        ],
    );
    check(
        "carries are no logic",
        &ON_WORDS,
        &|g, x| g.op(&Op::Add, 8, &x[..2]),
        &|g, x| g.op(&Op::Add, 8, &[x[1], x[0]]),
        &[&|g, x| g.xor(x[0], x[1]), &|g, x| g.or(x[0], x[1]), &|g, x| g.op(&Op::Sub, 8, &x[..2])],
    );
}

/// Functions that are equal on all inputs but one of 256 are not equal.
#[test]
fn windows_compare_every_row() {
    for row in [0, 1, 63, 64, 127, 128, 200, 255] {
        let right = |g: &mut Graph, x: &[Edge]| logic(g, &x[..8], 9);
        let wrong = |g: &mut Graph, x: &[Edge]| {
            let (right, one) = (right(g, x), minterm(g, &x[..8], row));
            g.xor(right, one)
        };
        let inside = |g: &mut Graph, x: &[Edge]| {
            let (one, right) = (minterm(g, &x[..8], row), right(g, x));
            g.or(right, one)
        };
        let outside = |g: &mut Graph, x: &[Edge]| {
            let (one, right) = (minterm(g, &x[..8], row), right(g, x));
            g.and(right, !one)
        };
        // Of the last two, one is the same function.
        let (mut g, x) = graph(3, 1);
        let (a, b) = (right(&mut g, &x), inside(&mut g, &x));
        let other: Term = if differ(&g, a, b) { &inside } else { &outside };
        let name = format!("all but row {row}");
        check(&name, &[(3, 1), (5, 1), (5, 8)], &right, &right, &[&wrong, other]);
    }
}

#[test]
fn windows_write_sums_out_with_all_their_terms() {
    // Of more words than a window has leaves.
    let terms = |g: &mut Graph, x: &[Edge]| -> Vec<Edge> {
        let products = (0..6).map(|v| g.and(x[v], x[v + 1])).collect::<Vec<_>>();
        x[7..].iter().copied().chain(products).collect()
    };
    let backwards = |g: &mut Graph, terms: &[Edge]| {
        let turned: Vec<Edge> = terms.iter().rev().copied().collect();
        sum(g, &turned)
    };
    check(
        "sums are written out",
        &[(3, 1), (5, 1), (5, 8)],
        &|g, x| {
            let terms = terms(g, x);
            sum(g, &terms)
        },
        &|g, x| {
            let terms = terms(g, x);
            backwards(g, &terms)
        },
        &[
            &|g, x| {
                let terms = terms(g, x);
                backwards(g, &terms[1..])
            },
            &|g, x| {
                let terms = terms(g, x);
                !backwards(g, &terms)
            },
            &|g, x| {
                let mut terms = terms(g, x);
                terms.extend([x[7], x[7], x[7]]);
                backwards(g, &terms)
            },
            &|g, x| {
                let mut terms = terms(g, x);
                terms[12] = g.and(x[3], x[5]);
                backwards(g, &terms)
            },
        ],
    );
}

/// A constant of a window is a variable in its table, and another constant is another one.
#[test]
fn windows_know_constants_apart() {
    let parted = |low: u64, high: u64| {
        move |g: &mut Graph, x: &[Edge]| {
            let (low, high) = (g.constant(8, low), g.constant(8, high));
            let (a, b) = (g.and(x[0], low), g.and(x[1], high));
            g.xor(a, b)
        }
    };
    let whole = |mask: u64| {
        move |g: &mut Graph, x: &[Edge]| {
            let mask = g.constant(8, mask);
            let change = g.xor(x[0], x[1]);
            let taken = g.and(change, mask);
            g.xor(taken, x[1])
        }
    };
    check(
        "a mask and its complement",
        &[(5, 8)],
        &parted(0x0f, 0xf0),
        &whole(0x0f),
        &[&parted(0x0f, 0xf8), &parted(0x0e, 0xf0), &parted(0xf0, 0x0f), &whole(0xf0)],
    );
}

/// The last carry of a sum of bits, least significant first, and with one carry changed by `change`.
fn carry(g: &mut Graph, x: &[Edge], change: impl Fn(&mut Graph, usize, [Edge; 3]) -> Edge) -> Edge {
    let (x, y) = x.split_at(x.len() / 2);
    let mut carry = g.constant(1, 0);
    for (at, (&a, &b)) in x.iter().zip(y).enumerate() {
        carry = change(g, at, [a, b, carry]);
    }
    carry
}

/// The carry as a choice, and as a sum of products.
fn chosen(g: &mut Graph, _: usize, [a, b, c]: [Edge; 3]) -> Edge {
    let (same, both) = (g.xor(a, b), g.and(a, b));
    let moved = g.and(same, c);
    g.or(both, moved)
}

fn spelled(g: &mut Graph, _: usize, [a, b, c]: [Edge; 3]) -> Edge {
    let (p, q, r) = (g.and(a, b), g.and(a, c), g.and(b, c));
    sum(g, &[p, q, r])
}

#[test]
fn the_solver_calls_only_equal_what_is_equal() {
    const MANY: Effort = Effort { operators: 10_000, conflicts: 100_000 };
    // E1 alone, so that no other engine decides.
    let mut g = Graph::new(None);
    let x = params(&mut g, &[1; WORDS]);
    let left = carry(&mut g, &x, chosen);
    let right = carry(&mut g, &x, spelled);
    assert_ne!(left, right);
    assert_eq!(miter::decide(&mut g, left, right, MANY).0, Decision::Equal);
    assert_ne!(miter::decide(&mut g, left, !right, MANY).0, Decision::Equal);
    for place in 0..8 {
        type Change = fn(&mut Graph, [Edge; 3]) -> Edge;
        let faults: [Change; 4] = [
            |g, [a, b, _]| g.and(a, b),
            |g, [a, b, c]| {
                let any = g.or(a, b);
                g.or(any, c)
            },
            |g, [a, b, c]| {
                let (p, q) = (g.and(a, b), g.and(a, c));
                g.or(p, q)
            },
            |g, [a, b, c]| spelled(g, 0, [a, !b, c]),
        ];
        for (number, fault) in faults.iter().enumerate() {
            let wrong = carry(&mut g, &x, |g, at, bits| match at == place {
                true => fault(g, bits),
                false => spelled(g, at, bits),
            });
            // At the first bit there is no carry to lose.
            if place == 0 && [0, 2].contains(&number) {
                assert_eq!(miter::decide(&mut g, left, wrong, MANY).0, Decision::Equal);
                continue;
            }
            let Decision::Differ(values) = miter::decide(&mut g, left, wrong, MANY).0 else {
                panic!("fault {number} at {place}");
            };
            let input = miter::input(&g, &values, WORDS).expect("all leaves are parameters");
            let meaning = Meaning { graph: &g, params: input };
            let word = |edge| meaning.word(edge, &Around::default());
            assert_ne!(word(left), word(wrong), "fault {number} at {place}");
            // For all sizes of cones.
            for operators in [0, 1, 3, 10, 30] {
                let few = Effort { operators, ..MANY };
                assert_ne!(miter::decide(&mut g, left, wrong, few).0, Decision::Equal);
                let both = g.and(left, x[0]);
                assert!(!miter::is(&mut g, Kind::And, [wrong, x[0], both], few) || left == wrong);
            }
        }
    }
}

/// Where a cone ends above the parameters, values of its leaves are no input.
#[test]
fn what_differs_over_a_cut_may_be_equal() {
    let mut g = Graph::new(None);
    let x = params(&mut g, &[1; WORDS]);
    let (left, right) = (carry(&mut g, &x, chosen), carry(&mut g, &x, spelled));
    for operators in [0, 1, 2, 5] {
        let few = Effort { operators, conflicts: 1000 };
        match miter::decide(&mut g, left, right, few).0 {
            Decision::Differ(values) => {
                assert_eq!(miter::input(&g, &values, WORDS), None, "{operators} operators");
            }
            decision => panic!("{decision:?} with {operators} operators"),
        }
    }
    let none = Effort { operators: 10_000, conflicts: 1 };
    assert_eq!(miter::decide(&mut g, left, right, none).0, Decision::Unknown);
}

/// A table of one byte with one other entry is another function, and so is one of another byte.
#[test]
fn bytes_compare_every_entry() {
    let entries: Vec<u64> = (0..256u64).map(|x| (x * x * 7 + 3 * x + 1) & 0xff).collect();
    let mut g = Graph::new(None);
    let x = params(&mut g, &[8; WORDS]);
    let right = g.op(&Op::Lookup(entries.clone().into()), 8, &x[..1]);
    for at in 0..256 {
        for change in [1, 0x80, 0xff] {
            let mut wrong = entries.clone();
            wrong[at] ^= change;
            let other = g.op(&Op::Lookup(wrong.into()), 8, &x[..1]);
            assert_ne!(other, right, "entry {at}");
            assert_ne!(other, !right, "entry {at}");
        }
    }
    assert_ne!(g.op(&Op::Lookup(entries.clone().into()), 8, &x[1..2]), right);
    let turned = rotated(&mut g, 1, x[0]);
    assert_ne!(g.op(&Op::Lookup(entries.into()), 8, &[turned]), right);
}
