//! Sums of words of 64 bits, against sums of pairs of words of 32 bits with carries.

use usuba_replay::certificate::{Certificate, Meaning};
use usuba_replay::trace::{Id, Op, Trace, Writer};

/// A word of 64 bits, or a pair of words of 32 bits, the lower one first.
type Value = Vec<Id>;

/// Number 5, as a term.
const FIVE: i64 = 9;

/// A sum: number 2 adds input 2, and -2 subtracts it. Input 0 is its first term.
fn trace(is_pair: bool, terms: &[i64]) -> Trace {
    let mut writer = Writer::default();
    let widths: &[u8] = if is_pair { &[32, 32] } else { &[64] };
    let mut value = || -> Value { widths.iter().map(|&bits| writer.input(bits)).collect() };
    let inputs: Vec<Value> = (0..5).map(|_| value()).collect();
    let mut sum = inputs[0].clone();
    for &term in terms {
        let five = || widths.iter().enumerate().map(|(at, &bits)| (at, bits));
        let other: Value = match term.abs() {
            FIVE => five().map(|(at, bits)| writer.number(bits, [5, 0][at])).collect(),
            number => inputs[number as usize].clone(),
        };
        let op = if term > 0 { Op::Add } else { Op::Sub };
        sum = match (&sum[..], &other[..]) {
            (&[a0, a1], &[b0, b1]) => {
                let low = writer.op(op, 32, 0, &[a0, b0]);
                let compared = if term > 0 { [low, a0] } else { [a0, low] };
                let carry = writer.op(Op::Less, 32, 0, &compared);
                let high = writer.op(op, 32, 0, &[a1, b1]);
                vec![low, writer.op(op, 32, 0, &[high, carry])]
            }
            _ => vec![writer.op(op, 64, 0, &[sum[0], other[0]])],
        };
    }
    writer.finish(&sum)
}

/// The claim that a sum of pairs is a sum of words.
fn claim(source: &[i64], function: &[i64]) -> Certificate {
    let bit = |word, bit| Meaning::Bit { word, bit, instance: Some(0), is_complement: false };
    let half = |at: u32| (0..32).map(|low| bit(at / 2, low + 32 * (at % 2) as u8)).collect();
    Certificate {
        source: trace(false, source),
        between: Vec::new(),
        function: trace(true, function),
        entry: (0..10).map(half).collect(),
        exit: (0..2).map(half).collect(),
        steps: Vec::new(),
    }
}

#[test]
fn sums_of_pairs_are_known_by_their_terms() {
    let orders: [(&[i64], &[i64]); 9] = [
        (&[1], &[1]),
        (&[1, 2], &[2, 1]),
        (&[-1], &[-1]),
        (&[-1, -2], &[-2, -1]),
        (&[FIVE, -1], &[-1, FIVE]),
        (&[-FIVE, 1, -FIVE], &[-FIVE, -FIVE, 1]),
        (&[-1, 2, 3, -4], &[3, -4, 2, -1]),
        (&[1, 2, -1], &[2]),
        (&[2, 2, 2, -3], &[-3, 2, 2, 2]),
    ];
    for (source, function) in orders {
        let replayed = claim(source, function).replay();
        assert!(replayed.is_ok(), "{source:?} and {function:?}: {replayed:?}");
    }
}

#[test]
fn other_sums_are_no_equal_ones() {
    let others: [(&[i64], &[i64]); 6] = [
        (&[1], &[-1]),
        (&[1, 2], &[1, 3]),
        (&[1, 2], &[1, 2, 2]),
        (&[FIVE, 1], &[1]),
        (&[-FIVE, 1], &[1, FIVE]),
        (&[1, 1], &[1]),
    ];
    for (source, function) in others {
        assert!(claim(source, function).replay().is_err(), "{source:?} and {function:?}");
    }
}

#[test]
fn a_wrong_carry_is_found() {
    let right = claim(&[1, -2, 3], &[1, -2, 3]);
    let mut wrong = right.clone();
    for at in 0..right.function.words.len() {
        if right.function.words[at].op == Op::Less {
            wrong.function.words[at].op = Op::LessSigned;
            assert!(wrong.replay().is_err(), "word {at}");
            wrong.function.words[at].op = Op::Less;
        }
    }
    assert!(wrong.replay().is_ok());
}
