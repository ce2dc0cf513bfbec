//! Induction over loops: it agrees with every run, and says which carried word breaks it.

use usuba_lang::diag::Sources;
use usuba_lang::syntax::splice::NoIncludes;
use usuba_lang::typed::eval::eval;

use super::*;

fn program(text: &str) -> Program {
    let mut sources = Sources::default();
    let root = sources.add("loops.ua", text);
    let checked = usuba_lang::front(&mut sources, root, &mut NoIncludes, None, Default::default());
    checked.unwrap_or_else(|found| panic!("{text}: {found:?}")).program
}

/// Whether one abstract interpretation proves the entry, and whether it used induction.
fn proved(program: &Program, induction: bool) -> (bool, bool) {
    let mut symbolic = Symbolic::new(induction);
    let shown = prove(program, program.entry, false, &mut symbolic, &mut Vec::new());
    (shown.is_ok(), !symbolic.carried.is_empty())
}

/// Loops over three words of two bits, by every sequence of these updates and every bound on the
/// result: a proof by induction means that all 16 inputs keep the bound.
#[test]
fn what_induction_proves_holds_on_all_inputs() {
    const UPDATES: [&str; 6] =
        ["a := b", "b := c", "c := a | b", "a := (a + 1) & 3", "b := c >> 1", "c := a & b"];
    let (mut inductive, mut refused) = (0, 0);
    for chosen in 0..UPDATES.len().pow(3) {
        let body: Vec<&str> = (0..3).map(|k| UPDATES[chosen / 6usize.pow(k) % 6]).collect();
        let text = |high: u64| {
            format!(
                "node f (x,y:u8 in [0, 3]) returns (r:u8 in [0, {high}])\n\
                 vars a, b, c: u8\n\
                 let\n  a = x;\n  b = y;\n  c = 0;\n\
                 forall i in [0,4] {{ {} }}\n  r = a\ntel\n",
                body.join("; ")
            )
        };
        let exact = program(&text(3));
        let run = |input: u64| {
            let words = [input & 3, input >> 2];
            eval(&exact, &Instance::open(exact.entry, 0), &words).expect("it runs")[0]
        };
        let greatest = (0..16).map(run).max().expect("inputs");
        for high in 0..3 {
            let (shown, by_induction) = proved(&program(&text(high)), true);
            assert!(!shown || greatest <= high, "{body:?} gives {greatest}, and keeps {high}");
            inductive += usize::from(shown && by_induction);
            refused += usize::from(!shown);
        }
    }
    assert!(inductive > 50 && refused > 50, "{inductive} proved, {refused} refused");
}

const STEP: &str = "node step (a:u8 in [0, 100]) returns (b:u8 in [0, 100])\n\
                    let b = less(a, 7) * 100 tel\n";

/// A loop that carries the parameter in a word.
fn turns(count: u32, body: &str) -> Program {
    program(&format!(
        "{STEP}node f (x:u8 in [0, 9]) returns (r:u8 in [0, 100])\nvars a: u8\n\
         let\n  a = x;\n  forall i in [1,{count}] {{ {body} }}\n  r = a\ntel\n"
    ))
}

#[test]
fn a_word_that_leaves_its_range_a_turn_later_is_named() {
    let later = turns(200, "a := step(a) + 1");
    let Verdict::Refuted(found) = check_node(&later, later.entry).verdict else {
        panic!("the second turn takes 101")
    };
    assert!(found.finding.message.contains("argument 0 of `step`"), "{}", found.finding.message);
    // No run breaks this, and intervals say nothing of a shuffled word.
    let unknown = turns(3, "a := step(a); a := a{7,6,5,4,3,2,1,0}; a := a{7,6,5,4,3,2,1,0}");
    let verdict = check_node(&unknown, unknown.entry).verdict;
    let Verdict::Unknown(finding) = verdict else { panic!("{verdict:?}") };
    assert!(
        finding.message.contains("a turn of the loop begins with `a` from 0 to"),
        "{finding:?}"
    );
}

#[test]
fn induction_replaces_turns_and_unrolling_remains() {
    let kept = turns(60_000, "a := step(a)");
    let report = check_node(&kept, kept.entry);
    assert!(matches!(report.verdict, Verdict::Proved(_)), "{report:?}");
    assert!(report.calls < 5, "{report:?}");
    // No interval is kept by a sum, but its turns end in time.
    let few = turns(9, "a := a + 1");
    assert_eq!((proved(&few, true), proved(&few, false)), ((false, true), (true, false)));
    assert!(matches!(check_node(&few, few.entry).verdict, Verdict::Proved(_)));
}

/// The sixth power of a number on free limbs has too many terms to be a fact of the caller.
#[test]
fn clauses_with_too_many_terms_are_not_assumed() {
    let text = "value num (a:u64[12]) = sum(i in [0,11], a[i] * 2^(8*i))\n\
                node keep (a:u64[12] in [0, 3]) returns (r:u64[12] in [0, 3])\n\
                ensures num(r)^6 == num(a)^6\nlet r = a tel\n\
                node f (a:u64[12] in [0, 3]) returns (r:u64[12] in [0, 6])\n\
                let r = keep(a) + keep(a) tel\n";
    let program = program(text);
    let verdict = check_node(&program, program.entry).verdict;
    assert!(matches!(verdict, Verdict::Proved(_)), "{verdict:?}");
}

#[test]
fn the_reached_declarations_are_what_bodies_and_contracts_call() {
    let text = "node z (x:u8) returns (y:u8) let y = x tel\n\
                node a (x:u8) returns (y:u8) let y = z(x) tel\n\
                value v (x:u8) = a(x)\n\
                node b (x:u8) returns (y:u8) let y = x tel\n\
                node c (x:u8) returns (y:u8) ensures v(y) == x let y = x tel\n\
                node d (x:u8) returns (y:u8) let y = c(x) tel\n";
    let program = program(text);
    let names = program.reached(program.entry).into_iter().map(|id| &*program.decls[id].name);
    assert_eq!(names.collect::<Vec<_>>(), ["z", "a", "c", "d"]);
}
