//! Dumps of small programs, as text.

use super::*;
use crate::ir::NodeId;
use crate::ir::build::Builder;

fn text(node: Node, slicing: Slicing) -> String {
    let made = Program::new(vec![node], NodeId(0), slicing);
    crate::ir::verify::verify(&made).expect("a sound program");
    assert_eq!(program(&made), program(&made.clone()));
    program(&made)
}

#[test]
fn a_loop_walks_over_its_key() {
    let mut b = Builder::new("f", Slicing::V);
    let x = b.param(Port::new("x", 16, &[2]));
    let k = b.param(Port::new("t1", 16, &[3, 2]).constant());
    b.begin_loop(3, true);
    let (l, r) = (b.carry(x[0]), b.carry(x[1]));
    let key = b.read(vec![k[5], k[3], k[1]]);
    let turned = b.op(Op::Rotl(3), &[l]);
    let mixed = b.op(Op::Xor, &[turned, key]);
    let done = b.end_loop(&[r, mixed], &[mixed]);
    let sum = b.op(Op::Add, &[done.carried[0], done.collects[0][2]]);
    let outs = vec![
        (Port::new("y", 16, &[2]), vec![sum, done.carried[1]]),
        (Port::new("i", 16, &[]), vec![x[1]]),
    ];
    let expect = "\
node f (x:u<V>16[2], t1:const u<V>16[3][2]) returns (y:u<V>16[2], i:u<V>16)
vars s1, s2, t2, t3, t4: u<V>16,
     w1: u<V>16[3]
let
  s1 = x[0];
  s2 = x[1];
  _no_unroll forall i1 in [0,2] {
    t2 := t1[2-i1][1];
    t3 := s1 <<< 3;
    t4 := t3 ^ t2;
    w1[i1] = t4;
    (s1, s2) := (s2, t4)
  }
  y[0] = s1 + w1[2];
  y[1] = s2;
  i = x[1]
tel
";
    assert_eq!(text(b.finish(outs), Slicing::V), expect);
}

#[test]
fn lists_without_an_array_get_one() {
    let mut b = Builder::new("f", Slicing::B);
    let x = b.param(Port::new("x'", 2, &[]));
    let (one, zero) = (b.constant(1, 1), b.constant(1, 0));
    b.begin_loop(2, false);
    let s = b.carry(x[0]);
    let c = b.read(vec![one, zero]);
    let d = b.read(vec![x[1], zero]);
    let n = b.op(Op::Andn, &[s, c]);
    let m = b.op(Op::Or, &[n, d]);
    let done = b.end_loop(&[m], &[]);
    let expect = "\
node f (x':b<B>1[2]) returns (y:b<B>1)
vars s1, t1, t2, t3, t4: b<B>1,
     w1: b<B>1[2],
     w2: b<B>1[2]
let
  w1[0] = 1:b<B>1;
  w1[1] = 0:b<B>1;
  s1 = x'[0];
  w2[0] = x'[1];
  w2[1] = w1[1];
  forall i in [0,1] {
    t1 := w1[i];
    t2 := w2[i];
    t3 := ~s1 & t1;
    t4 := t3 | t2;
    s1 := t4
  }
  y = s1
tel
";
    assert_eq!(text(b.finish(vec![(Port::new("y", 1, &[]), done.carried)]), Slicing::B), expect);
}

#[test]
fn whole_arrays_are_passed_by_name() {
    let mut b = Builder::new("g", Slicing::H);
    let x = b.param(Port::new("x", 8, &[2]));
    let y = b.op(Op::Shuffle([1, 0].as_slice().into()), &[x[0]]);
    let g = b.finish(vec![(Port::new("y", 8, &[2]), vec![x[1], y])]);
    let mut b = Builder::new("f", Slicing::H);
    let x = b.param(Port::new("x", 8, &[2]));
    let t = b.call(NodeId(0), &g, &x);
    let u = b.call(NodeId(0), &g, &[t[1], t[1]]);
    let f = b.finish(vec![(Port::new("z", 8, &[2]), u)]);
    let made = Program::new(vec![g, f], NodeId(1), Slicing::H);
    let expect = "\
node g (x:u<H>8[2]) returns (y:u<H>8[2])
let
  y[1] = Shuffle(x[0], [1,0]);
  y[0] = x[1]
tel

node f (x:u<H>8[2]) returns (z:u<H>8[2])
vars t1, t2: u<H>8
let
  (t1, t2) = g(x);
  z = g(t2, t2)
tel
";
    assert_eq!(program(&made), expect);
}
