//! The meaning of operators, keywords and built-in functions, in a line or two each.

use usuba::typed::walk::Builtin;

/// The levels of binding, tightest first.
const LEVELS: [&str; 4] = [
    "`& | ^` bind tightest, from left to right; `~` before them",
    "`* / %` bind tighter than sums, and looser than `& | ^`",
    "`+ -` bind tighter than shifts, and looser than products",
    "shifts and rotations bind loosest: `a ^ b <<< 1` is `(a ^ b) <<< 1`",
];

/// Operators of expressions: symbol, meaning, level.
const OPERATORS: &[(&str, &str, usize)] = &[
    ("&", "and of each bit", 0),
    ("|", "or of each bit", 0),
    ("^", "exclusive or of each bit", 0),
    ("~", "complement of each bit", 0),
    ("!", "complement of each bit, as `~`", 0),
    ("*", "product modulo 2^m; of indices: product", 1),
    ("/", "quotient of indices; words have no division", 1),
    ("%", "remainder of indices, never negative", 1),
    ("+", "sum modulo 2^m; of indices: sum", 2),
    ("-", "difference modulo 2^m; of indices: difference", 2),
    ("<<", "shift to the left, in zeros; of several words: moves whole words", 3),
    (">>", "shift to the right, in zeros; of several words: moves whole words", 3),
    (">>!", "shift to the right, in copies of the most significant bit", 3),
    ("<<<", "rotation to the left; of several words: moves whole words", 3),
    (">>>", "rotation to the right; of several words: moves whole words", 3),
];

/// Keywords and names with a meaning in some places.
const WORDS: &[(&str, &str)] = &[
    ("node", "a function from words to words, as equations"),
    ("table", "a function by the list of its results, which becomes a circuit"),
    ("perm", "a permutation or selection of words; output k takes input `list[k]`, from 1"),
    ("returns", "the results follow"),
    ("vars", "the locals follow"),
    ("let", "the equations follow, up to `tel`"),
    ("tel", "the end of the equations"),
    ("forall", "a loop over compile-time integers; both ends belong to it"),
    ("include", "the declarations of another file, once"),
    ("const", "equal in all instances, as a key is"),
    ("lazyLift", "accepted for old programs, without an effect"),
    ("Shuffle", "the bits of a word in another order"),
    ("Bitmask", "a word whose bits all equal one bit of its argument"),
    ("Pack", "a word of two halves, the upper one first"),
    ("_inline", "calls of this node are always inlined"),
    ("_no_inline", "calls of this node stay calls"),
    ("_interleave", "the number of equations that interleaving takes in turn"),
    ("_no_opt", "accepted for old programs"),
    ("_lsb_first", "the first word of index and result is the least significant bit"),
    ("_unroll", "the loop is unrolled"),
    ("_no_unroll", "the loop stays a loop"),
    ("_pipelined", "accepted for old programs"),
    ("nat", "an integer that is known when the program is compiled"),
    ("requires", "a precondition, which callers prove"),
    ("ensures", "a postcondition, which the node proves"),
    ("link", "nodes that stay calls where this node is the entry"),
    ("value", "the integer that some words stand for, in contracts"),
    ("type", "another name for a type"),
    ("le", "bytes in memory, the least significant byte of a word first"),
    ("be", "bytes in memory, the most significant byte of a word first"),
];

/// The meaning of an operator and its precedence.
pub fn operator(symbol: &str) -> Option<[&'static str; 2]> {
    let (_, meaning, level) = OPERATORS.iter().find(|(known, ..)| *known == symbol)?;
    Some([meaning, LEVELS[*level]])
}

/// The meaning of a word of the language.
pub fn word(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// The effect of a function of the language.
pub fn builtin(name: &str) -> Option<&'static str> {
    match Builtin::of(name)? {
        Builtin::Resize(_) => Some("the same number as another word: its low bits, or zeros above"),
        found => Builtin::NAMED.iter().find(|(_, b, _)| *b == found).map(|(.., about)| *about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::syntax::{CONTEXTUAL, KEYWORDS, MARKS};

    #[test]
    fn the_words_are_those_that_the_lexer_has() {
        for (known, _) in WORDS {
            assert!(KEYWORDS.contains(known) || CONTEXTUAL.contains(known), "{known}");
        }
        let silent = ["in", "mod", "sum"];
        for known in KEYWORDS.iter().chain(CONTEXTUAL).filter(|known| !silent.contains(known)) {
            assert!(word(known).is_some(), "{known} has no meaning");
        }
        for (symbol, ..) in OPERATORS {
            assert!(MARKS.contains(symbol), "{symbol}");
        }
        let punctuation = ["..", "[]", "=", ":", ";", ",", "(", ")", "[", "]", "{", "}", "<", ">"];
        for mark in MARKS.iter().filter(|mark| !punctuation.contains(mark)) {
            assert!(operator(mark).is_some(), "{mark} has no meaning");
        }
    }

    /// The levels say the truth, as the parser has it.
    #[test]
    fn tighter_operators_group_first() {
        use usuba::diag::Sources;
        use usuba::syntax::{ast::*, parse};
        let links = |text: &str| {
            let mut sources = Sources::default();
            let file = sources.add("", format!("node f (a:u8) returns (b:u8) let b = {text} tel"));
            let (tree, found) = parse(&sources, file);
            assert_eq!(found, [], "{text}");
            let Some(Item::Decl(Decl { kind: DeclKind::Node(body), .. })) = tree.items.first()
            else {
                panic!("a node")
            };
            let Stmt::Equation(equation) = &body.stmts[0] else { panic!("an equation") };
            let ExprKind::Chain(_, links) = &equation.value.kind else { panic!("a chain") };
            links.len()
        };
        for (one, _, tight) in OPERATORS.iter().filter(|(symbol, ..)| !"~!".contains(symbol)) {
            for (other, _, loose) in OPERATORS.iter().filter(|(o, ..)| !"~!".contains(o)) {
                if tight < loose {
                    let amount = if loose == &3 { "1" } else { "a" };
                    assert_eq!(links(&format!("a {one} a {other} {amount}")), 2);
                    if loose < &3 {
                        assert_eq!(links(&format!("a {other} a {one} a")), 1);
                    }
                }
            }
        }
    }
}
