//! Searches find known circuits, prove known lower bounds, and are deterministic.

use usuba_circuit::{Profile, Table, simulate};

use super::exact::{Answer, Question, ask};
use super::*;

/// A permutation by its entries in hexadecimal.
fn digits(text: &str) -> Table {
    let entries: Vec<u64> =
        text.chars().map(|c| c.to_digit(16).expect("hexadecimal") as u64).collect();
    let bits = entries.len().ilog2() as u8;
    Table { inputs: bits, outputs: bits, entries }
}

/// A four-bit permutation that four gates of three inputs make.
const SMALL: &str = "081f2a794d56e3bc";

#[test]
fn even_permutations_are_found_in_place() {
    for (profile, gates) in [(Profile::Basic, 8), (Profile::Andn, 8), (Profile::Lut3, 4)] {
        let table = digits(SMALL);
        let circuit = inplace::search(&table, profile, &mut Meter { left: 4_000_000 });
        let circuit = circuit.expect("the budget suffices");
        assert_eq!(simulate(&circuit), table.entries);
        assert_eq!(circuit.cost(profile), Some(gates), "{profile:?}");
    }
}

#[test]
fn odd_permutations_need_a_detour() {
    // Only the last two entries of the identity are exchanged: d ^= a & b & c.
    let table = digits("0123456789abcdfe");
    for (profile, gates) in [(Profile::Andn, 3), (Profile::Lut3, 2)] {
        let circuit = inplace::search(&table, profile, &mut Meter { left: 8_000_000 });
        let circuit = circuit.expect("the budget suffices");
        assert_eq!(simulate(&circuit), table.entries);
        assert_eq!(circuit.cost(profile), Some(gates), "{profile:?}");
    }
}

#[test]
fn three_bits_borrow_a_wire() {
    let table = digits("13652470");
    let circuit = in_place(&table, Profile::Lut3, &mut Meter { left: 4_000_000 });
    let circuit = circuit.expect("the budget suffices");
    assert_eq!(circuit.inputs, 3);
    assert_eq!(simulate(&circuit), table.entries);
    assert_eq!(circuit.cost(Profile::Lut3), Some(3));
}

/// The answer of the solver about a table.
fn exact(table: &Table, arity: usize, gates: usize) -> Answer {
    ask(&question(table, arity), gates, 200_000).0
}

#[test]
fn the_solver_agrees_with_counts_that_others_proved() {
    // Pyjamask-96: 6 gates with free complements, 3 of three inputs.
    let table = digits("13652470");
    assert_eq!(exact(&table, 2, 5), Answer::No);
    for (arity, gates) in [(2, 6), (3, 3)] {
        let Answer::Yes(circuit) = exact(&table, arity, gates) else {
            panic!("{gates} gates of {arity} inputs suffice");
        };
        assert_eq!(simulate(&circuit), table.entries);
        assert_eq!(paid(&circuit), gates);
    }
    assert_eq!(exact(&table, 3, 2), Answer::No);
    assert_eq!(exact(&digits(SMALL), 3, 3), Answer::No);
}

#[test]
fn too_few_conflicts_are_no_answer() {
    assert_eq!(ask(&question(&digits("c56b90ad3ef84712"), 2), 12, 50).0, Answer::Unknown);
}

#[test]
fn outputs_that_cost_nothing_are_free() {
    // An input, its complement, a constant, and twice the same and.
    let output = |x: u64| (x >> 1) << 4 | (1 ^ x & 1) << 3 | 1 << 2 | ((x >> 1 & x & 1) * 3);
    let table = Table { inputs: 2, outputs: 5, entries: (0..4).map(output).collect() };
    let Answer::Yes(circuit) = exact(&table, 2, 1) else { panic!("one gate suffices") };
    assert_eq!(simulate(&circuit), table.entries);
    assert_eq!(exact(&table, 2, 0), Answer::No);
}

#[test]
fn rows_that_never_occur_are_free_too() {
    // On 00, 01 and 10 alone, xor and or are the same.
    let question = Question {
        rows: 3,
        inputs: vec![[0b100; 4], [0b010; 4]],
        outputs: vec![[0b110, 0, 0, 0]],
        arity: 2,
    };
    assert!(matches!(ask(&question, 1, 1000).0, Answer::Yes(_)));
    assert_eq!(ask(&question, 0, 1000).0, Answer::No);
}

#[test]
fn windows_find_a_gate_that_is_too_much() {
    // ((a ^ b) & c) ^ (a & c) is b & c.
    let wasteful =
        usuba_circuit::parse("5 bits: 0^1 5&2 0&2 6^7 8^3 9&4 -> 10").expect("a circuit");
    let mut meter = Meter { left: 40_000_000 };
    let small = windows::shrink(&wasteful, Profile::Basic, &mut meter);
    assert_eq!(simulate(&small), simulate(&wasteful));
    assert_eq!(small.cost(Profile::Basic), Some(3));
}

#[test]
fn a_search_of_any_budget_gives_a_right_circuit_and_repeats_it() {
    let entries = (0..32).map(|x: u64| (x * x * x + 5 * x) & 7).collect();
    let wide = Table { inputs: 5, outputs: 3, entries };
    let narrow = Table { inputs: 3, outputs: 2, entries: vec![0, 1, 2, 0, 3, 1, 1, 2] };
    for table in [&wide, &narrow, &digits("c56b90ad3ef84712")] {
        for (profile, budget) in
            [(Profile::Basic, 0), (Profile::Andn, 300_000), (Profile::Lut3, 2_000_000)]
        {
            let found = synthesise(table, profile, budget);
            assert_eq!(simulate(&found.circuit), table.entries);
            assert!(found.circuit.cost(profile).is_some_and(|cost| cost >= found.least));
            assert_eq!(synthesise(table, profile, budget), found);
        }
    }
}

#[test]
fn small_tables_are_proved_optimal() {
    let table = digits("13652470");
    let found = synthesise(&table, Profile::Lut3, 20_000_000);
    assert_eq!((found.circuit.cost(Profile::Lut3), found.least), (Some(3), 3));
}

#[test]
fn a_node_computes_what_its_circuit_does() {
    let gates =
        "4 bits: 0&1 2|4 ~5 5^6 ~3&7 9a(0,4,8) d2(3,2,1) f0(0,1,2) 96(1,8,9) 80(1,2,3) zero one";
    let circuit = format!("{gates} -> 4 5 6 7 8 9 10 11 12 13 14 15 0");
    let circuit = usuba_circuit::parse(&circuit).expect("a circuit");
    let mut sources = usuba_lang::diag::Sources::default();
    let root = sources.add("node.ua", node("f", &circuit));
    let mut none = usuba_lang::syntax::splice::NoIncludes;
    let checked = usuba_lang::front(&mut sources, root, &mut none, None, Default::default());
    let program = checked.expect("the node is a program").program;
    let sliced = usuba_lang::typed::Slicing::B;
    let instance = usuba_lang::typed::check::entry_instance(&program, sliced, Some(1));
    let instance = instance.expect("the size is given");
    for (x, entry) in simulate(&circuit).into_iter().enumerate() {
        let bits: Vec<u64> = (0..4).map(|i| x as u64 >> (3 - i) & 1).collect();
        let outputs =
            usuba_lang::typed::eval(&program, &instance, &bits).expect("well-formed inputs");
        let sum = outputs.iter().fold(0, |sum, bit| sum << 1 | bit & 1);
        assert_eq!(sum, entry, "{x:04b}");
    }
}

#[test]
fn matrices_are_read_and_bad_ones_refused() {
    let matrix =
        matrix::Matrix::parse("# two sums\n1 1 0\n\n011 # the second\n").expect("a matrix");
    assert_eq!((matrix.inputs, &matrix.rows[..]), (3, &[0b011, 0b110][..]));
    for text in ["", "# nothing\n", "10\n1\n", "12\n", &"1".repeat(129)] {
        assert!(matrix::Matrix::parse(text).is_err(), "{text}");
    }
}

#[test]
fn terms_that_cancel_save_xors() {
    // Row by row 8, with Paar 5: a^b, a^b^c, a^b^c^d, b^c^d, and the last is the third ^ a.
    let text = "1100\n1110\n1111\n0111\n";
    let matrix = matrix::Matrix::parse(text).expect("a matrix");
    assert_eq!(matrix.naive(), 8);
    let circuit = matrix::synthesise(&matrix, 2, 20_000, 1);
    assert_eq!(matrix::Matrix::of(&circuit), Some(matrix.clone()));
    assert_eq!(circuit.cost(Profile::Basic), Some(4));
    assert_eq!(matrix::synthesise(&matrix, 2, 20_000, 1), circuit);
}

#[test]
fn sums_of_three_terms_are_one_gate() {
    // a^b^c, a^b^c^d^e, and the sum of the two with f.
    let matrix = matrix::Matrix::parse("111000\n111110\n000111\n").expect("a matrix");
    let circuit = matrix::synthesise(&matrix, 3, 100_000, 1);
    assert_eq!(circuit.cost(Profile::Lut3), Some(3));
    assert_eq!(matrix::Matrix::of(&circuit), Some(matrix));
}

#[test]
fn rows_without_xors_are_wires() {
    let matrix = matrix::Matrix::parse("100\n000\n100\n").expect("a matrix");
    let circuit = matrix::synthesise(&matrix, 2, 1000, 1);
    assert_eq!(circuit.outputs, [0, 3, 0]);
    assert_eq!(circuit.cost(Profile::Basic), Some(0));
}
