//! Programs that fold, and programs that must not.

use crate::circuit::Profile;
use crate::diag::Sources;
use crate::ir::{Eqn, Loop, Program, Slicing, interp, verify};
use crate::syntax::splice::NoIncludes;
use crate::{Slice, front, to_usuba0, typed};

/// Lowers a program in V and checks it against `eval` on `inputs`.
fn lowered(text: &str, inputs: &[u64]) -> Program {
    let mut sources = Sources::default();
    let root = sources.add("test.ua", text);
    let checked = front(&mut sources, root, &mut NoIncludes, None, Default::default())
        .expect("the program is right");
    let slice = Slice {
        slicing: Slicing::V,
        word: None,
        profile: Profile::Basic,
        vectors: true,
        instructions: None,
    };
    let program = to_usuba0(&checked.program, slice, &|_, _, _| None).expect("it lowers");
    verify::verify(&program).expect("it is well-formed");
    let instance =
        typed::check::entry_instance(&checked.program, Slicing::V, None).expect("an entry");
    let expected = typed::eval(&checked.program, &instance, inputs).expect("it runs");
    assert_eq!(interp::run(&program, inputs).expect("it runs"), expected);
    program
}

fn loops(program: &Program) -> Vec<&Loop> {
    let pick = |eqn: &'_ Eqn| matches!(eqn, Eqn::Loop(_));
    let body = &program.entry().body;
    body.iter()
        .filter(|e| pick(e))
        .map(|e| match e {
            Eqn::Loop(l) => &**l,
            _ => unreachable!("filtered"),
        })
        .collect()
}

#[test]
fn state_arrays_become_carried_values() {
    let text = "node f(x:u16, k:u16[9]) returns (y:u16) vars s:u16[10] let s[0] = x;
        forall i in [0,8] { s[i+1] = (s[i] ^ k[i]) <<< 3 } y = s[9] tel";
    let program = lowered(text, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let [l] = loops(&program)[..] else { panic!("one loop") };
    assert_eq!((l.count, l.carried.len(), l.reads.len(), l.collects.len()), (9, 1, 1, 0));
}

#[test]
fn feistel_swaps_are_carried_with_a_delay() {
    let text = "node f(l, r:u8, k:u8[6]) returns (a, b:u8) vars t:u8[8] let t[0] = l;
        t[1] = r; forall i in [0,5] { t[i+2] = t[i] ^ (t[i+1] & k[i]) }
        (a, b) = (t[6], t[7]) tel";
    let program = lowered(text, &[200, 17, 3, 99, 4, 5, 255, 77]);
    let [l] = loops(&program)[..] else { panic!("one loop") };
    assert_eq!((l.count, l.carried.len(), l.collects.len()), (6, 2, 0));
}

#[test]
fn results_of_every_iteration_are_collected() {
    let text = "node f(x:u8[7]) returns (y:u8[7]) let
        forall i in [0,6] { y[i] = (x[6-i] <<< 1) ^ x[i] } tel";
    let program = lowered(text, &[1, 2, 3, 4, 5, 6, 7]);
    let [l] = loops(&program)[..] else { panic!("one loop") };
    assert_eq!((l.carried.len(), l.reads.len(), l.collects.len()), (0, 2, 1));
}

#[test]
fn loops_fold_inside_of_loops() {
    let text = "node f(x:u32x4, k:u32[5]) returns (y:u32x4) let
        forall r in [0,4] { forall i in [0,3] { x[i] := (x[i] <<< 7) ^ k[r] };
        x := x <<< 1 } y = x tel";
    let program = lowered(text, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let [l] = loops(&program)[..] else { panic!("one loop") };
    assert!(matches!(l.body[..], [Eqn::Loop(_)]), "{:?}", l.body);
}

#[test]
fn repeating_iterations_fold_by_their_period() {
    let text = "node[] g(x:u8) returns (y:u8) [ let y = ~x tel ; let y = x <<< 1 tel ]
        node f(x:u8) returns (y:u8) vars s:u8[12] let s[0] = x;
        forall i in [0,10] { s[i+1] = g<i%2>(s[i]) } y = s[11] tel";
    let program = lowered(text, &[0x5a]);
    let [l] = loops(&program)[..] else { panic!("one loop") };
    assert_eq!((l.count, l.body.len()), (5, 2));
    assert_eq!(program.entry().body.len(), 2, "the loop and the eleventh round");
}

#[test]
fn loops_that_are_left_over_keep_their_names() {
    let text = "node f(x:u8[6]) returns (y:u8[32]) vars k:u8[6][6] let k[0] = x;
        forall r in [0,4] { k[r+1][0] = k[r][0] ^ k[r][5];
        forall i in [1,2] { k[r+1][i] = k[r][i] ^ k[r+1][i-1] };
        forall i in [3,5] { k[r+1][i] = k[r][i] ^ k[r+1][i-1] } } y = (k[0..4], k[5][0..1]) tel";
    lowered(text, &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn iterations_that_differ_stay_unrolled() {
    let text = "node f(x:u8) returns (y:u8) vars s:u8[8] let s[0] = x;
        forall i in [0,6] { s[i+1] = s[i] ^ (x >> (i+1)) } y = s[7] tel";
    assert!(loops(&lowered(text, &[0xb3])).is_empty());
}

#[test]
fn unroll_is_obeyed() {
    let text = "node f(x:u8) returns (y:u8) let
        _unroll forall i in [0,6] { x := x <<< 3 } y = x tel";
    assert!(loops(&lowered(text, &[0xb3])).is_empty());
}
