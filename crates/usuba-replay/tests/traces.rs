//! Traces as bytes, and the values of operators.

use usuba_replay::Reader;
use usuba_replay::trace::{Id, Op, Trace, Writer};

/// A trace with each operator.
fn sample() -> Trace {
    let mut writer = Writer::default();
    let (a, b) = (writer.input(32), writer.input(32));
    let two = [Op::And, Op::Or, Op::Xor, Op::Add, Op::Sub, Op::Mul, Op::MulHigh, Op::Less];
    let more = [Op::LessSigned, Op::Clmul, Op::ClmulHigh];
    let mut words: Vec<Id> =
        two.into_iter().chain(more).map(|op| writer.op(op, 32, 0, &[a, b])).collect();
    for op in [Op::Shl, Op::Shr, Op::Sar, Op::Rotl] {
        words.push(writer.op(op, 32, 7, &[a]));
    }
    words.push(writer.op(Op::Not, 32, 0, &[b]));
    let byte = writer.op(Op::Field, 8, 16, &[a]);
    words.push(writer.op(Op::Extend, 32, 0, &[byte]));
    words.push(writer.op(Op::ExtendSigned, 32, 0, &[byte]));
    words.push(writer.op(Op::Join, 40, 0, &[byte, b]));
    let majority = [0, 0, 0, 1, 0, 1, 1, 1].map(|bit| bit == 1);
    words.push(writer.lut(32, &majority, &[a, b, words[0]]));
    words.push(writer.wire(&[3, 1, 1, 31], a));
    let seven = writer.number(32, 7);
    words.push(writer.op(Op::Add, 32, 0, &[b, seven]));
    writer.finish(&words)
}

#[test]
fn operators_have_their_values() {
    let (a, b) = (0x8040_2011u64, 0x0000_0013u64);
    let product = (0..32).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ a << i);
    let wanted = [
        a & b,
        a | b,
        a ^ b,
        0x8040_2024,
        0x8040_1ffe,
        (a * b) & 0xffff_ffff,
        (a * b) >> 32,
        0,
        1,
        product & 0xffff_ffff,
        product >> 32,
        0x2010_0880,
        0x0100_8040,
        0xff00_8040,
        0x2010_08c0,
        0xffff_ffec,
        0x40,
        0x40,
        0x1340,
        0x11,
        0b1000,
        0x1a,
    ];
    let found = sample().run(&[a, b]);
    assert_eq!(found, wanted);
}

#[test]
fn damaged_bytes_are_refused_or_another_trace() {
    let trace = sample();
    let bytes = trace.bytes();
    let read = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes);
        let trace = Trace::read(&mut reader)?;
        reader.end().map(|()| trace)
    };
    assert_eq!(read(&bytes).as_ref(), Ok(&trace));
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "{end} bytes");
    }
    // The widths of the inputs follow their number.
    for width in [0, 65, 255] {
        let mut damaged = bytes.clone();
        damaged[1] = width;
        assert!(read(&damaged).is_err(), "an input of {width} bits");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert_ne!(read(&damaged).as_ref(), Ok(&trace), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_trace_has_one_form() {
    let write = |in_order: bool| {
        let mut writer = Writer::default();
        let (a, b) = (writer.input(8), writer.input(8));
        let (three, four) = (writer.number(8, 3), writer.number(8, 4));
        let seven = writer.op(Op::Add, 8, 0, &[three, four]);
        if !in_order {
            writer.op(Op::And, 8, 0, &[b, a]);
        }
        let sum = writer.op(Op::Add, 8, 0, &[a, seven]);
        let nothing = writer.op(Op::Sub, 8, 0, &[seven, seven]);
        let same = writer.op(Op::Xor, 8, 0, &[nothing, sum]);
        let again = writer.op(Op::Rotl, 8, 0, &[same]);
        let last = writer.op(Op::Or, 8, 0, &[again, b]);
        writer.finish(&[last])
    };
    assert_eq!(write(true), write(false));
    assert_eq!(write(true).words.len(), 5);
}
