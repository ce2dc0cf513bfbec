//! Gates and bit-blasted words against numbers, and proofs that the RUP checker must reject.

use usuba::ir::random::Random;

use super::*;

const MANY: u64 = 1_000_000;

fn is_unsat(formula: &Formula) -> bool {
    match solve(formula, MANY) {
        Answer::Proved(_) => true,
        Answer::Refuted(_) => false,
        Answer::Unknown(why) => panic!("{why}"),
    }
}

/// The literal must have one value under `fixed`, and this value is `want`.
fn check(formula: &Formula, fixed: &[Lit], literal: Lit, want: bool) {
    let with = |value: bool| {
        let mut formula = copy(formula);
        fixed.iter().for_each(|&l| formula.clause(&[l]));
        formula.clause(&[literal.flipped(!value)]);
        formula
    };
    assert!(!is_unsat(&with(want)), "{literal:?} can be {want}");
    assert!(is_unsat(&with(!want)), "{literal:?} can not be {}", !want);
}

/// The formula with the same clauses and no gates.
fn copy(formula: &Formula) -> Formula {
    let mut out = Formula::new();
    out.word(formula.variables() as usize - 1);
    formula.clauses().for_each(|clause| out.clause(clause));
    out
}

#[test]
fn gates_mean_what_they_say() {
    let mut f = Formula::new();
    let x = f.word(3);
    let mut operands = vec![Lit::TRUE, Lit::FALSE];
    operands.extend(x.iter().flat_map(|&l| [l, !l]));
    let holds = |l: Lit, row: usize| match l.variable() {
        0 => !l.is_negated(),
        v => (row >> (v - 1) & 1 == 1) != l.is_negated(),
    };
    type Meaning = fn(bool, bool, bool) -> bool;
    let mut gates: Vec<(Lit, [Lit; 3], Meaning)> = Vec::new();
    for &a in &operands {
        for &b in &operands {
            gates.push((f.and(a, b), [a, b, b], |a, b, _| a && b));
            gates.push((f.or(a, b), [a, b, b], |a, b, _| a || b));
            gates.push((f.xor(a, b), [a, b, b], |a, b, _| a != b));
            for &c in &operands {
                gates.push((f.if_else(a, b, c), [a, b, c], |a, b, c| if a { b } else { c }));
                gates.push((f.majority(a, b, c), [a, b, c], |a, b, c| {
                    a as u8 + b as u8 + c as u8 > 1
                }));
            }
        }
    }
    for row in 0..8 {
        // All gates at once: one model for the row, and none in which some gate is another.
        let mut one = copy(&f);
        let mut other = copy(&f);
        for (v, &l) in x.iter().enumerate() {
            one.clause(&[l.flipped(row >> v & 1 == 0)]);
            other.clause(&[l.flipped(row >> v & 1 == 0)]);
        }
        let mut wrong = Vec::new();
        for (gate, operands, meaning) in &gates {
            let [a, b, c] = operands.map(|l| holds(l, row));
            let right = gate.flipped(!meaning(a, b, c));
            one.clause(&[right]);
            wrong.push(!right);
        }
        other.clause(&wrong);
        assert!(!is_unsat(&one), "row {row}");
        assert!(is_unsat(&other), "row {row}");
    }
}

#[test]
fn words_are_numbers() {
    let mut random = Random::new(3);
    for bits in [1usize, 3, 8] {
        let mut f = Formula::new();
        let (x, y) = (f.word(bits), f.word(bits));
        let (add, sub, mul) = (f.add(&x, &y), f.sub(&x, &y), f.mul(&x, &y));
        let (sum, product) = (f.sum(&x, &y), f.product(&x, &y));
        let (less, equal) = (f.less(&x, &y), f.equal(&x, &y));
        let chosen = f.choose(less, &x, &y);
        let ones = (1u128 << bits) - 1;
        for _ in 0..8 {
            let [a, b] = [0; 2].map(|_| random.word() as u128 & ones);
            let mut fixed = f.constant(bits, a);
            fixed.extend(f.constant(bits, b));
            let inputs: Vec<Lit> = x.iter().chain(&y).copied().collect();
            let mut one = copy(&f);
            let units: Vec<Lit> = inputs
                .iter()
                .zip(&fixed)
                .map(|(l, value)| l.flipped(*value == Lit::FALSE))
                .collect();
            units.iter().for_each(|&unit| one.clause(&[unit]));
            let Answer::Refuted(model) = solve(&one, MANY) else { panic!("operands have values") };
            let words = [&add, &sub, &mul, &sum, &product, &chosen].map(|word| model.word(word));
            let want =
                [(a + b) & ones, a.wrapping_sub(b) & ones, (a * b) & ones, a + b, a * b, a.min(b)];
            assert_eq!(words, want, "{a} and {b} of {bits} bits");
            assert_eq!([model.holds(less), model.holds(equal)], [a < b, a == b]);
            check(&f, &units, less, a < b);
            check(&f, &units, equal, a == b);
        }
    }
}

#[test]
fn laws_have_proofs_and_others_counterexamples() {
    let law = |wrong: bool| {
        let mut f = Formula::new();
        let (x, y, z) = (f.word(4), f.word(4), f.word(4));
        let sum = f.add(&x, &y);
        let (left, a, b) = (f.mul(&sum, &z), f.mul(&x, &z), f.mul(&y, &z));
        let right = if wrong { f.sub(&a, &b) } else { f.add(&a, &b) };
        let equal = f.equal(&left, &right);
        f.clause(&[!equal]);
        (solve(&f, MANY), [x, y, z])
    };
    assert!(matches!(law(false).0, Answer::Proved(steps) if steps > 10));
    let (Answer::Refuted(model), words) = law(true) else { panic!("no law") };
    let [x, y, z] = words.map(|word| model.word(&word));
    assert_ne!((x + y) * z % 16, (x * z + 256 - y * z) % 16);
}

#[test]
fn ranges_of_carry_chains() {
    // x = q·2^13 + r with r below 2^13, x below 2^26 + 2^13: q + 1 is at most 2^13 + 1, not 2^13.
    let mut f = Formula::new();
    let x = f.word(32);
    let limit = f.constant(32, (1 << 26) + (1 << 13));
    let below = f.less(&x, &limit);
    f.clause(&[below]);
    let one = f.constant(1, 1);
    let carry = f.sum(&x[13..], &one);
    for (limit, holds) in [((1 << 13) + 2, true), ((1 << 13) + 1, false)] {
        let limit = f.constant(14, limit);
        let fits = f.less(&carry, &limit);
        let mut formula = copy(&f);
        formula.clause(&[!fits]);
        assert_eq!(is_unsat(&formula), holds);
    }
}

#[test]
fn few_conflicts_are_not_believed() {
    let mut f = Formula::new();
    let (x, y) = (f.word(12), f.word(12));
    let (left, right) = (f.mul(&x, &y), f.mul(&y, &x));
    let equal = f.equal(&left, &right);
    f.clause(&[!equal]);
    assert!(matches!(solve(&f, 10), Answer::Unknown(_)));
}

/// Two of three pigeons share one of two holes.
fn pigeons() -> (Formula, Vec<Lit>) {
    let mut f = Formula::new();
    let x = f.word(6);
    for pigeon in 0..3 {
        f.clause(&x[2 * pigeon..2 * pigeon + 2]);
        for other in 0..pigeon {
            for hole in 0..2 {
                f.clause(&[!x[2 * pigeon + hole], !x[2 * other + hole]]);
            }
        }
    }
    (f, x)
}

fn proof(steps: &[(&[Lit], bool)]) -> Proof {
    let mut out = Proof::default();
    for (clause, adds) in steps {
        match adds {
            true => out.add(clause.iter().copied()),
            false => out.forget(clause.iter().copied()),
        }
    }
    out
}

#[test]
fn a_right_proof_passes() {
    let (f, x) = pigeons();
    assert_eq!(replay(&f, &proof(&[(&[x[0]], true)])), Ok(()));
    assert_eq!(replay(&f, &proof(&[(&[!x[0]], true), (&[], true)])), Ok(()));
    // Steps after a conflict are not read, and deleting an unknown clause does nothing.
    assert_eq!(replay(&f, &proof(&[(&[x[5], x[0]], false), (&[x[0]], true)])), Ok(()));
}

#[test]
fn proofs_with_one_fault() {
    let (f, x) = pigeons();
    // The proof is empty.
    assert_eq!(replay(&f, &proof(&[])), Err(Fault::Open));
    assert_eq!(replay(&f, &proof(&[(&[x[0], !x[0]], true)])), Err(Fault::Open));
    // There is no conflict yet.
    assert_eq!(replay(&f, &proof(&[(&[], true)])), Err(Fault::Step(0)));
    // The clause follows, but not by unit propagation.
    assert_eq!(replay(&f, &proof(&[(&[x[0], x[2]], true), (&[], true)])), Err(Fault::Step(1)));
    // The variable does not exist.
    let stranger = Lit::new(f.variables(), false);
    assert_eq!(replay(&f, &proof(&[(&[stranger], true)])), Err(Fault::Unknown(0)));
    // A deleted clause takes part in no later step.
    let needed: &[Lit] = &[x[3], x[2]];
    assert_eq!(
        replay(&f, &proof(&[(needed, false), (&[x[0]], true), (&[!x[0]], true)])),
        Err(Fault::Step(1))
    );
}

#[test]
fn a_formula_without_one_clause_has_no_proof() {
    let (f, x) = pigeons();
    let all: Vec<&[Lit]> = f.clauses().collect();
    for left_out in 1..all.len() {
        let mut fewer = Formula::new();
        fewer.word(6);
        for (at, clause) in all.iter().enumerate() {
            if at != left_out {
                fewer.clause(clause);
            }
        }
        for first in [x[0], !x[0]] {
            assert!(replay(&fewer, &proof(&[(&[first], true), (&[], true)])).is_err());
        }
        assert!(!is_unsat(&fewer));
    }
}

/// The models of a formula of few variables, each as the set of its true ones.
fn models(formula: &Formula) -> Vec<u32> {
    let holds = |model: u32, l: Lit| (model >> l.variable() & 1 == 1) != l.is_negated();
    let all = 0..1u32 << formula.variables();
    let satisfies = |model: &u32| formula.clauses().all(|c| c.iter().any(|&l| holds(*model, l)));
    all.filter(satisfies).collect()
}

#[test]
fn no_proof_that_a_satisfiable_formula_is_not() {
    let mut random = Random::new(11);
    let (mut added, mut refused) = (0, 0);
    for _ in 0..400 {
        let mut f = Formula::new();
        f.word(8);
        let clause = |random: &mut Random, longest: usize| -> Vec<Lit> {
            let count = 1 + random.below(longest);
            (0..count).map(|_| Lit::new(random.below(9) as u32, random.once_in(2))).collect()
        };
        for _ in 0..14 + random.below(8) {
            f.clause(&clause(&mut random, 4));
        }
        let models = models(&f);
        let holds = |model: u32, l: Lit| (model >> l.variable() & 1 == 1) != l.is_negated();
        // Random clauses: every model satisfies each clause that the checker accepts.
        let mut passed = Proof::default();
        let mut shown: Vec<Vec<Lit>> = Vec::new();
        for _ in 0..30 {
            let step = clause(&mut random, 3);
            let mut longer = passed.clone();
            longer.add(step.iter().copied());
            match replay(&f, &longer) {
                Err(Fault::Step(_)) => refused += 1,
                Err(Fault::Open) => {
                    added += 1;
                    assert!(models.iter().all(|&m| step.iter().any(|&l| holds(m, l))));
                    passed = longer;
                    shown.push(step);
                    if random.once_in(3) {
                        passed.forget(shown[random.below(shown.len())].iter().copied());
                    }
                }
                outcome => {
                    assert_eq!(outcome, Ok(()));
                    assert!(models.is_empty());
                    break;
                }
            }
        }
        assert_eq!(is_unsat(&f), models.is_empty());
    }
    assert!(added > 500 && refused > 500, "{added} steps were added, {refused} refused");
}

#[test]
fn proofs_of_the_solver_are_read_to_the_end() {
    // The proof is long enough for deletions; it is then cut short or changed.
    let mut f = Formula::new();
    let (x, y) = (f.word(6), f.word(6));
    let (left, right) = (f.mul(&x, &y), f.mul(&y, &x));
    let equal = f.equal(&left, &right);
    f.clause(&[!equal]);
    let solver::Reply::Unsat(right) = solver::ask(&f, MANY).0 else {
        panic!("multiplication commutes")
    };
    assert!(right.steps().any(|(_, adds)| !adds), "nothing is forgotten");
    assert_eq!(replay(&f, &right), Ok(()));
    let count = right.len();
    let cut = |steps: usize| {
        let mut out = Proof::default();
        for (clause, adds) in right.steps().take(steps) {
            match adds {
                true => out.add(clause.iter().copied()),
                false => out.forget(clause.iter().copied()),
            }
        }
        out
    };
    assert_eq!(replay(&f, &cut(count / 2)), Err(Fault::Open));
    let mut jump = cut(count / 2);
    jump.add([]);
    assert_eq!(replay(&f, &jump), Err(Fault::Step(count / 2)));
    // The formula without its last clause must not be refuted by the same proof.
    let mut other = Formula::new();
    other.word(f.variables() as usize - 1);
    let clauses: Vec<&[Lit]> = f.clauses().collect();
    clauses[..clauses.len() - 1].iter().for_each(|clause| other.clause(clause));
    assert!(replay(&other, &right).is_err());
}
