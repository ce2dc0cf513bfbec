//! Cells: instances that do not meet, masks, functions, sums and products of constants.

use super::*;

fn bits() -> (Bits, [Cell; 4]) {
    let mut graph = Graph::new(None);
    let param = |graph: &mut Graph, at| graph.intern(Kind::Param, 1, 0, at, 0);
    let (x, y) = (param(&mut graph, 0), param(&mut graph, 1));
    let at = |edge, number| Cell::new(edge, Instance::Number(number));
    let cells = [at(x, 0), at(y, 0), at(x, 511), Cell::new(y, Instance::Every)];
    (Bits::new(graph), cells)
}

#[test]
fn instances_do_not_meet() {
    let (mut bits, [x0, y0, x511, y]) = bits();
    let sum = bits.xor(x0, x511);
    assert!(sum.edge().is_none() && bits.is_secret(sum));
    assert_eq!(bits.xor(sum, x511), x0);
    let turned = bits.not(sum);
    assert_eq!(bits.xor(x0, turned), bits.not(x511));
    let more = bits.xor(sum, y);
    let shared = bits.xor(y, x511);
    assert_eq!(bits.xor(more, x0), shared);
    assert_eq!(bits.xor(sum, turned), bits.constant(true));
    assert_eq!(bits.and(sum, x0), Cell::OPAQUE);
    assert_eq!((bits.and(sum, sum), bits.and(turned, sum)), (sum, bits.constant(false)));
    let zero = bits.constant(false);
    assert_eq!((bits.and(sum, zero), bits.xor(sum, zero)), (zero, sum));
    assert_eq!(bits.and(x0, x511), Cell::OPAQUE);
    assert_eq!(bits.and(y0, x0), bits.and(x0, y0));
    assert_eq!(bits.and(x511, y).instance(), Instance::Number(511));
    assert_eq!(bits.and(x511, y).edge(), bits.and(x0, y0).edge());
    assert_eq!(bits.xor(x0, x0), bits.constant(false));
}

#[test]
fn masks_hide_what_is_not_known() {
    let (mut bits, [x, ..]) = bits();
    let (zero, one) = (bits.constant(false), bits.constant(true));
    for odd in [Cell::OPAQUE, Cell::UNSET] {
        assert_eq!(bits.and(odd, zero), zero);
        assert_eq!(bits.or(odd, one), one);
        assert_eq!(bits.xor(odd, x), Cell::OPAQUE);
        assert_eq!(bits.and(odd, one), odd);
        // The table of `b`.
        assert_eq!(bits.function(0xcc, [odd, x, odd]), x);
        // The table of `b ? c : a`.
        assert_eq!(bits.function(0xb8, [odd, one, x]), x);
        assert_eq!(bits.function(0xb8, [x, zero, odd]), x);
    }
    assert_eq!(bits.xor(Cell::UNSET, Cell::UNSET), Cell::UNSET);
    assert!(bits.is_secret(Cell::OPAQUE) && !bits.is_secret(Cell::UNSET));
}

#[test]
fn functions_of_constants_are_their_tables() {
    let (mut bits, _) = bits();
    for table in 0..=255u8 {
        for row in 0..8u8 {
            let operands = [4, 2, 1].map(|bit| bits.constant(row & bit != 0));
            let found = bits.function(table, operands);
            assert_eq!(bits.value(found), Some(table >> row & 1 == 1));
        }
    }
}

#[test]
fn sums_of_constants() {
    let (mut bits, _) = bits();
    for (a, b) in [(0u64, 1u64), (0xff, 1), (0x7f, 0x80), (0x1234, 0xfedc), (0xffff, 0xffff)] {
        let (x, y) = (bits.number(a, 16), bits.number(b, 16));
        let (sum, carry) = bits.sum(&x, &y, false);
        assert_eq!(bits.word(&sum), Some((a + b) & 0xffff));
        assert_eq!(bits.value(carry), Some(a + b > 0xffff));
        let (difference, borrow) = bits.difference(&x, &y);
        assert_eq!(bits.word(&difference), Some(a.wrapping_sub(b) & 0xffff));
        assert_eq!(bits.value(borrow), Some(a < b));
    }
}

/// Long words go bit by bit, and short ones at once: both are the numbers that they say.
#[test]
fn products_of_constants() {
    let (mut bits, _) = bits();
    for (a, b) in [(0u64, 7u64), (3, 5), (u64::MAX, u64::MAX), (1 << 63, 3), (0x1234_5678, 19)] {
        for size in [8, 32, 52, 64] {
            let ones = u64::MAX >> (64 - size);
            let (x, y) = (bits.number(a, size), bits.number(b, size));
            let whole = (a & ones) as u128 * (b & ones) as u128;
            let found = bits.whole_product(&x, &y);
            assert_eq!(bits.word(&found[..size]), Some(whole as u64 & ones));
            assert_eq!(bits.word(&found[size..]), Some((whole >> size) as u64));
            assert_eq!(bits.product(&x, &y), found[..size]);
            let zeros = bits.number(0, 128 - size);
            let (long_x, long_y) = ([&x[..], &zeros].concat(), [&y[..], &zeros].concat());
            assert_eq!(bits.product(&long_x, &long_y)[..2 * size], found);
            let (one, carry) = (bits.constant(true), bits.number(ones, size));
            assert_eq!(bits.sum_with(&carry, &x, one), (x.clone(), one));
        }
    }
}
