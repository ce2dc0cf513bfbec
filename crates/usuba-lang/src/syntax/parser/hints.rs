//! Hints for the words and signs of other languages: how Usuba writes the same.
//!
//! ```text
//! for (i = 0; i < 4; i++)     loops read `forall i in [0,3] { ... }`
//! y = a && b                  `&&` is written `&`, and works on every bit
//! ```

/// Statements, by their first word.
const STATEMENTS: &[(&[&str], &str)] = &[
    (&["for", "while", "do", "loop", "foreach"], "loops read `forall i in [0,3] { ... }`"),
    (
        &["if", "else", "elif", "switch", "match", "case"],
        "there are no branches: choose by a mask of equal bits, `y = (a & m) ^ (b & ~m)`",
    ),
    (&["return"], "results have names: write `y = x`, where `y` stands behind `returns`"),
    (
        &["var", "mut", "auto", "int", "uint", "unsigned", "static", "local"],
        "declare locals before `let`: `vars t:u32 let t = x; ... tel`",
    ),
    (&["print", "printf", "assert"], "programs have no effects; remove this statement"),
];

/// Declarations, by their first word.
const DECLARATIONS: &[&str] =
    &["def", "fn", "func", "function", "fun", "void", "static", "inline", "proc", "module"];

/// Operators that are words elsewhere.
const WORDS: &[(&str, &str)] = &[
    ("and", "write `a & b`"),
    ("or", "write `a | b`"),
    ("xor", "write `a ^ b`"),
    ("not", "write `~a`"),
    ("mod", "write `%`, in index expressions only"),
    ("rol", "write `x <<< 3`"),
    ("ror", "write `x >>> 3`"),
    ("shl", "write `x << 3`"),
    ("shr", "write `x >> 3`"),
    ("as", "write `u32(x)` for another size"),
    ("if", "there is no choice: write `(a & m) ^ (b & ~m)` with a mask `m` of equal bits"),
];

/// The hint about comparisons.
pub(super) const COMPARISON: &str =
    "there are no comparisons: `less(a, b)` is 1 if a is below b, else 0";

/// The hint about a statement that begins with this name.
pub(super) fn statement(name: &str) -> Option<&'static str> {
    STATEMENTS.iter().find(|(names, _)| names.contains(&name)).map(|(_, help)| *help)
}

/// The hint about a declaration that begins with this name.
pub(super) fn declaration(name: &str) -> Option<&'static str> {
    match name {
        "const" | "constant" | "define" => Some(
            "a constant is a node without parameters: `node c () returns (y:u32) let y = 5 tel`",
        ),
        name => DECLARATIONS
            .contains(&name)
            .then_some("nodes begin with `node`: `node f (x:u32) returns (y:u32) let y = x tel`"),
    }
}

/// The hint about a name where an operator is expected.
pub(super) fn word(name: &str) -> Option<&'static str> {
    WORDS.iter().find(|(word, _)| *word == name).map(|(_, help)| *help)
}

/// The hint about a sign behind a whole expression.
pub(super) fn behind_expression(sign: &str) -> Option<&'static str> {
    Some(match sign {
        ")" | "]" | "}" => "is one bracket too many, or one missing before?",
        "[" => "only variables have indices: name the value, `t = f(x)`, and write `t[0]`",
        ":" => "only numbers have a type behind them",
        "=" | "!" => "there are no comparisons: `a ^ b` is 0 if a and b are equal",
        "<" | ">" => COMPARISON,
        "~" => "write `a ^ ~b`: `~` has one operand, on its right",
        _ => return None,
    })
}

/// The hint about a sign where an operand is expected; `before` is the sign in front of it.
pub(super) fn operand(before: &str, sign: &str) -> Option<&'static str> {
    Some(match (before, sign) {
        ("&", "&") => "`&&` is written `&`, and works on every bit",
        ("|", "|") => "`||` is written `|`, and works on every bit",
        ("*", "*") => "there are no powers of words; write a product",
        ("-", ">") => "results stand behind `returns`",
        (_, "-") => "there are no negative numbers; all ones is `~0` or `0xffffffff`",
        (_, "=") => "equality is not an operator; equations use one `=`",
        (_, "<" | ">") => COMPARISON,
        (_, "[" | "{") => "tuples are written with parentheses: `(a,b)`",
        _ => return None,
    })
}

/// The hint about a sign behind the left side and an operator of an equation.
pub(super) fn update(operator: Option<&str>, sign: &str) -> Option<&'static str> {
    Some(match (operator, sign) {
        (Some("+"), "+") => "write `x := x + 1`",
        (Some("-"), "-") => "write `x := x - 1`",
        (_, "(") => "a call gives a value: write `x = f(y)`",
        (_, "<<" | ">>" | ">>!" | "<<<" | ">>>") => {
            "shifts have no short form; write `x := x <<< 3`"
        }
        (_, "<") => "equations read `x = a`, without an arrow",
        _ => return None,
    })
}
