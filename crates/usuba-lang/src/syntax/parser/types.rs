//! The grammar of types, which are words of one token such as `u<'D>32x4`, with lengths behind them.

use super::*;

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parsed<Deep<Type>> {
        let start = self.token.span;
        let word = match self.token.tok {
            Tok::Ident | Tok::TypeWord => match type_word(self.text_of(start)) {
                Ok(word) => word,
                Err(TypeProblem::NoType) if may_name_type(self.text_of(start)) => {
                    TypeWord::Named(self.text_of(start).to_string())
                }
                Err(problem) => return Err(self.bad_type(problem)),
            },
            _ => return Err(self.bad_type(TypeProblem::NoType)),
        };
        self.bump();
        if self.at("<") {
            return Err(self.bad_type(TypeProblem::LateDirection));
        }
        let (mut dims, mut height) = (Vec::new(), 0);
        while self.eat("[") {
            let dim = self.nested(Self::aexpr)?;
            self.expect("]", "`]` after the array size", "several sizes are written `[2][3]`")?;
            dims.push(dim.tree);
            height = height.max(dim.height);
        }
        Ok(Deep { tree: Type { word, dims, span: self.span_from(start) }, height })
    }

    fn bad_type(&mut self, problem: TypeProblem) -> Stop {
        let span = self.token.span;
        let text = short(self.text_of(span));
        let found = self.found();
        let (code, message, help) = match problem {
            TypeProblem::TooLarge => (
                Code::BadInteger,
                format!("a number in the type `{text}` is larger than 2^64-1"),
                "words have at most 64 bits; write longer data as arrays".to_string(),
            ),
            TypeProblem::LateDirection => (
                Code::BadTypeWord,
                "the direction of a type stands before its size, without blanks".to_string(),
                "write for example `u<H>16x8`".to_string(),
            ),
            TypeProblem::NoType => (
                Code::BadTypeWord,
                match text {
                    "bool" => "the type `bool` was removed from the language".to_string(),
                    _ => format!("expected a type, found {found}"),
                },
                match text {
                    "bool" => "write `b1`".to_string(),
                    "u" | "b" | "v" => format!("a size follows without a blank: `{text}8`"),
                    "int" | "uint" => "write a word with its size, such as `u32`".to_string(),
                    _ => match text.strip_prefix("uint").and_then(|t| t.strip_suffix("_t")) {
                        Some(size) if decimal_len(size) == size.len() && !size.is_empty() => {
                            format!("write `u{size}`")
                        }
                        _ => "types are `u32`, `u32x4`, `b8`, `v4`, `u'm`, `u<H>16` or `nat`, \
                              then array sizes such as `[4]`"
                            .to_string(),
                    },
                },
            ),
        };
        self.report(Diagnostic::error(code, span, message).help(help));
        Stop::Equation
    }
}

enum TypeProblem {
    NoType,
    TooLarge,
    LateDirection,
}

/// Whether a name can be the name of a type: it does not look like a word of some size, so a typing
/// error in one is reported in its place.
pub fn may_name_type(name: &str) -> bool {
    let sized = ["uint", "nat", "u", "b", "v"].iter().any(|word| {
        let rest = name.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    !sized && !name.contains(['<', '\'']) && !["bool", "int"].contains(&name)
}

/// The type of a name such as `u64`, which in front of parentheses changes the size of a word.
pub fn size_word(name: &str) -> Option<TypeWord> {
    match type_word(name) {
        Ok(word @ TypeWord::U { len: None, .. }) => Some(word),
        _ => None,
    }
}

/// Reads a whole type word such as `u<'D>32x4`.
fn type_word(text: &str) -> Result<TypeWord, TypeProblem> {
    use TypeProblem::NoType;
    if text == "nat" {
        return Ok(TypeWord::Nat);
    }
    let letter = text.chars().next().filter(|c| "ubv".contains(*c)).ok_or(NoType)?;
    let rest = &text[1..];
    let (dir, rest) = match rest.strip_prefix('<') {
        None => (None, rest),
        Some(rest) => {
            let (dir, rest) = rest.split_once('>').ok_or(NoType)?;
            let dir = match dir {
                "H" => DirWord::H,
                "V" => DirWord::V,
                "B" => DirWord::B,
                "W" => DirWord::W,
                _ => match dir.strip_prefix('\'') {
                    Some(name) => DirWord::Var(name.to_string()),
                    None => DirWord::Number(size(dir)?),
                },
            };
            (Some(dir), rest)
        }
    };
    match letter {
        'b' => Ok(TypeWord::B { dir, len: size(rest)? }),
        'v' => Ok(TypeWord::V { dir, len: size(rest)? }),
        _ => {
            if let Some(name) = rest.strip_prefix('\'') {
                if name.is_empty() || ident_len(name) != name.len() {
                    return Err(NoType);
                }
                return Ok(TypeWord::U { dir, width: Width::Var(name.to_string()), len: None });
            }
            let (bits, len) = match rest.split_once('x') {
                Some((bits, len)) => (bits, Some(size(len)?)),
                None => (rest, None),
            };
            Ok(TypeWord::U { dir, width: Width::Bits(size(bits)?), len })
        }
    }
}

fn size(digits: &str) -> Result<u64, TypeProblem> {
    if digits.is_empty() || decimal_len(digits) != digits.len() {
        return Err(TypeProblem::NoType);
    }
    digits.parse().map_err(|_| TypeProblem::TooLarge)
}
