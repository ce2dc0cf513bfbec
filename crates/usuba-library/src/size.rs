//! Sizes as expressions in parameters, and the tokens of C that they consist of.
//!
//! ```text
//! 64   length + 16   16 * nblocks   count * length   (bits + 7) / 8   lengths[i]   strlen(name)
//! ```

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest number of terms of a size, and of parentheses and macros inside of each other.
const MOST: usize = 16;

/// A polynomial in parameters, divided and rounded down. A negative value is zero bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size {
    /// Coefficients by products of names, which are sorted: a parameter, element `i` of one as
    /// `name[i]`, or `strlen(name)`.
    terms: BTreeMap<Vec<String>, i64>,
    divisor: u64,
}

impl Size {
    /// The value, if it depends on no parameter.
    pub fn fixed(&self) -> Option<u64> {
        let value = match self.terms.iter().next() {
            None => 0,
            Some((names, value)) if names.is_empty() && self.terms.len() == 1 => *value,
            Some(_) => return None,
        };
        Some(u64::try_from(value).unwrap_or(0) / self.divisor)
    }

    /// The coefficients with the products of names that they belong to.
    pub fn terms(&self) -> impl Iterator<Item = (i64, &[String])> {
        self.terms.iter().map(|(names, factor)| (*factor, &names[..]))
    }

    /// The divisor of the sum of all terms.
    pub fn divisor(&self) -> u64 {
        self.divisor
    }

    /// This number of elements of `bytes` each.
    pub(super) fn times(&self, bytes: u64) -> Size {
        let times = |factor: &i64| *factor * bytes as i64;
        let terms = self.terms.iter().map(|(names, factor)| (names.clone(), times(factor)));
        Size { terms: terms.collect(), divisor: self.divisor }
    }

    fn name(name: String) -> Size {
        Size { terms: BTreeMap::from([(vec![name], 1)]), divisor: 1 }
    }

    /// `self + sign * other`; `None` if that is no polynomial of this size.
    fn plus(mut self, other: &Size, sign: i64) -> Option<Size> {
        for (names, factor) in &other.terms {
            let sum = self.terms.entry(names.clone()).or_default();
            *sum = sum.checked_add(factor.checked_mul(sign)?)?;
        }
        self.terms.retain(|_, factor| *factor != 0);
        (self.divisor == 1 && other.divisor == 1 && self.terms.len() <= MOST).then_some(self)
    }

    fn product(&self, other: &Size) -> Option<Size> {
        let mut all = Size::from(0);
        for (one, a) in &self.terms {
            for (two, b) in &other.terms {
                let mut names = [&one[..], two].concat();
                names.sort();
                let terms = BTreeMap::from([(names, a.checked_mul(*b)?)]);
                all = all.plus(&Size { terms, divisor: 1 }, 1)?;
            }
        }
        let fits = all.terms.keys().all(|names| names.len() <= MOST);
        (fits && self.divisor == 1 && other.divisor == 1).then_some(all)
    }
}

impl From<u64> for Size {
    fn from(value: u64) -> Size {
        let terms = if value == 0 { BTreeMap::new() } else { [(Vec::new(), value as i64)].into() };
        Size { terms, divisor: 1 }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut text = String::new();
        let (constant, rest): (Vec<_>, Vec<_>) =
            self.terms().partition(|(_, names)| names.is_empty());
        for (factor, names) in rest.into_iter().chain(constant) {
            text += match (text.is_empty(), factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let own = factor.unsigned_abs();
            let number = (own != 1 || names.is_empty()).then(|| own.to_string());
            let parts: Vec<&str> = number.iter().chain(names).map(String::as_str).collect();
            text += &parts.join(" * ");
        }
        match (text.is_empty(), self.divisor) {
            (true, _) => f.write_str("0"),
            (false, 1) => f.write_str(&text),
            (false, divisor) => write!(f, "({text}) / {divisor}"),
        }
    }
}

impl From<Size> for String {
    fn from(size: Size) -> String {
        size.to_string()
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        let (tokens, macros) = tokens(&text)?;
        Parser::new(&tokens, &macros).whole()
    }
}

/// A token of C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Word(String),
    Number(u64),
    Mark(char),
    /// A comment about a size.
    Note(String),
    /// A string.
    Text,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Token::Word(word) => f.write_str(word),
            Token::Number(number) => write!(f, "{number}"),
            Token::Mark(mark) => write!(f, "{mark}"),
            Token::Note(note) => write!(f, "/* {note} */"),
            Token::Text => f.write_str("\"…\""),
        }
    }
}

/// Macros without parameters.
pub(super) type Macros = BTreeMap<String, Vec<Token>>;

/// The tokens of a text, without directives and prose, and its macros.
pub(super) fn tokens(text: &str) -> Result<(Vec<Token>, Macros), String> {
    let (mut all, mut macros) = (Vec::new(), Macros::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = |found: Option<usize>, skip: usize| found.map_or(rest.len(), |at| at + skip);
        let length = if let Some(comment) = rest.strip_prefix("/*") {
            let inside = comment.split("*/").next().unwrap_or_default().trim();
            if inside.starts_with(['[', '<']) || ["public", "out"].contains(&inside) {
                all.push(Token::Note(inside.to_string()));
            }
            end(comment.find("*/"), 4)
        } else if first == '#' {
            let line = &rest[..end(rest.find('\n'), 0)];
            if let Some(definition) = line.strip_prefix("#define ") {
                let at = definition.find(|c| !word(c)).unwrap_or(definition.len());
                let (name, value) = definition.split_at(at);
                if !value.starts_with('(') {
                    macros.insert(name.to_string(), tokens(value)?.0);
                }
            }
            line.len()
        } else if first == '"' {
            all.push(Token::Text);
            end(rest[1..].find('"'), 2)
        } else if word(first) {
            let length = end(rest.find(|c| !word(c)), 0);
            let token = &rest[..length];
            all.push(match first.is_ascii_digit() {
                true => Token::Number(token.parse().map_err(|_| unexpected(token))?),
                false => Token::Word(token.to_string()),
            });
            length
        } else {
            if !first.is_whitespace() {
                all.push(Token::Mark(first));
            }
            first.len_utf8()
        };
        rest = &rest[length.min(rest.len())..];
    }
    Ok((all, macros))
}

fn unexpected(found: &str) -> String {
    format!("found `{found}` in a size, expected a number, a parameter or an operator")
}

/// A parser of sizes, which names of `macros` are part of.
pub(super) struct Parser<'a> {
    rest: &'a [Token],
    macros: &'a Macros,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub fn new(tokens: &'a [Token], macros: &'a Macros) -> Parser<'a> {
        Parser { rest: tokens, macros, depth: 0 }
    }

    /// The size that all tokens are.
    pub fn whole(mut self) -> Result<Size, String> {
        let size = self.sum()?;
        self.end().map(|()| size)
    }

    /// Takes a mark if it is next.
    pub fn has(&mut self, mark: char) -> bool {
        let found = self.rest.first() == Some(&Token::Mark(mark));
        self.rest = if found { &self.rest[1..] } else { self.rest };
        found
    }

    pub fn expect(&mut self, mark: char) -> Result<(), String> {
        if self.has(mark) { Ok(()) } else { Err(self.wrong()) }
    }

    /// Checks that no token is left.
    pub fn end(&self) -> Result<(), String> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.wrong()) }
    }

    pub fn sum(&mut self) -> Result<Size, String> {
        let mut size = Size::from(0);
        let mut sign = if self.has('-') { -1 } else { 1 };
        loop {
            let next = self.product()?;
            let is_first = size.terms.is_empty() && sign == 1;
            size = if is_first { next } else { size.plus(&next, sign).ok_or_else(too_large)? };
            sign = match (self.has('+'), self.has('-')) {
                (true, _) => 1,
                (_, true) => -1,
                _ => return Ok(size),
            };
        }
    }

    fn product(&mut self) -> Result<Size, String> {
        let mut size = self.atom()?;
        loop {
            if self.has('*') {
                size = size.product(&self.atom()?).ok_or_else(too_large)?;
            } else if self.has('/') {
                let by = self.atom()?.fixed().filter(|&by| by > 0).ok_or_else(|| self.wrong())?;
                size.divisor = size.divisor.checked_mul(by).ok_or_else(too_large)?;
            } else {
                return Ok(size);
            }
        }
    }

    fn atom(&mut self) -> Result<Size, String> {
        self.depth += 1;
        let Some((first, rest)) = self.rest.split_first().filter(|_| self.depth <= MOST) else {
            return Err(self.wrong());
        };
        let before = std::mem::replace(&mut self.rest, rest);
        let size = match first {
            Token::Number(number) if i64::try_from(*number).is_ok() => Ok(Size::from(*number)),
            Token::Mark('(') => self.sum().and_then(|size| self.expect(')').map(|()| size)),
            Token::Word(word) => match self.macros.get(word) {
                Some(tokens) => {
                    let inner = Parser { rest: tokens, macros: self.macros, depth: self.depth };
                    inner.whole()
                }
                None => self.name(word).map(Size::name),
            },
            _ => {
                self.rest = before;
                Err(self.wrong())
            }
        };
        self.depth -= 1;
        size
    }

    /// A parameter, or `i` or a string after it.
    fn name(&mut self, word: &str) -> Result<String, String> {
        if word == "strlen" {
            self.expect('(')?;
            let Some((Token::Word(name), rest)) = self.rest.split_first() else {
                return Err(self.wrong());
            };
            self.rest = rest;
            self.expect(')')?;
            return Ok(format!("strlen({name})"));
        }
        match self.has('[') {
            false => Ok(word.to_string()),
            true => {
                let index = self.rest.split_first().filter(|(i, _)| **i == Token::Word("i".into()));
                self.rest = index.ok_or_else(|| self.wrong())?.1;
                self.expect(']').map(|()| format!("{word}[i]"))
            }
        }
    }

    fn wrong(&self) -> String {
        unexpected(&self.rest.first().map_or_else(|| "the end".into(), Token::to_string))
    }
}

fn too_large() -> String {
    format!("found a size that is no polynomial of {MOST} terms, expected one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, expected) in [
            ("64", "64"),
            ("(2 + 1) * 8 - 24", "0"),
            ("16 + length", "length + 16"),
            ("length - 16", "length - 16"),
            ("-16 + length", "length - 16"),
            ("nblocks * 8 * 2", "16 * nblocks"),
            ("length * count", "count * length"),
            ("(bits + 7) / 8", "(bits + 7) / 8"),
            ("lengths[i]", "lengths[i]"),
            ("strlen(name) + 1", "strlen(name) + 1"),
        ] {
            let size = Size::try_from(text.to_string()).expect(text);
            assert_eq!(size.to_string(), expected);
            assert_eq!(Size::try_from(expected.to_string()), Ok(size));
        }
        let deep = "(".repeat(100_000);
        let wide = "(a + b + c) * ".repeat(30) + "1";
        for text in ["", "a b", "1 +", "a[j]", "strlen(1)", "a / 0", "99999999999999999999"]
            .into_iter()
            .chain([&*deep, &wide, "9223372036854775807 * 9223372036854775807"])
        {
            let message = Size::try_from(text.to_string()).expect_err(text);
            assert!(message.contains("found") && message.contains("expected"), "{message}");
        }
    }
}
