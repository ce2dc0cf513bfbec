//! Instantiation of the entry: the text of `--entry` and of `node` in a `cipher.toml`.
//!
//! ```text
//! entry    = ident [ "<" integer ">" ] [ "(" argument { "," argument } ")" ]
//! argument = integer | "'" ident "=" integer
//! ```
//!
//! It is a call without its words: `turn<1>(14, 16)` is alternative 1 of `turn` with these
//! arguments for its `nat` parameters. A call takes word sizes from its words; here they are
//! given by name, as in `f('m=32)`.

use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;

use super::types::{Arguments, Decl, Instance, Program, Size, VarType};
use crate::diag::{Code, Diagnostic};

/// An entry as it was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub node: String,
    pub arguments: Arguments,
}

impl Entry {
    /// Reads the text of an entry.
    pub fn parse(text: &str) -> Result<Entry, Diagnostic> {
        let mut reader = Reader { text, at: 0 };
        let node = reader.ident()?;
        let mut arguments = Arguments::default();
        if reader.eat("<") {
            arguments.index = Some(reader.integer()?);
            reader.expect(">")?;
        }
        if reader.eat("(") {
            loop {
                if reader.eat("'") {
                    let name: Rc<str> = reader.ident()?.into();
                    reader.expect("=")?;
                    let bits = reader.number("a word size from 1 to 64", 1..=64)?;
                    arguments.sizes.push((name, bits as u8));
                } else {
                    arguments.nats.push(reader.integer()?);
                }
                if !reader.eat(",") {
                    break;
                }
            }
            reader.expect(")")?;
        }
        reader.end()?;
        arguments.sizes.sort();
        Ok(Entry { node, arguments })
    }
}

/// The text in which places are counted.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(' ').len();
        &self.text[self.at..]
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let eaten = self.rest().starts_with(symbol);
        self.at += if eaten { symbol.len() } else { 0 };
        eaten
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Diagnostic> {
        match self.eat(symbol) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{symbol}`"))),
        }
    }

    fn word(&mut self, inside: impl Fn(char) -> bool) -> &str {
        let rest = self.rest();
        let length = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        self.at += length;
        &self.text[self.at - length..self.at]
    }

    fn ident(&mut self) -> Result<String, Diagnostic> {
        let begins = self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        match begins {
            true => Ok(self.word(|c| c.is_ascii_alphanumeric() || "_'".contains(c)).to_string()),
            false => Err(self.wrong("a name")),
        }
    }

    fn integer(&mut self) -> Result<i64, Diagnostic> {
        self.number("an integer below 2^63", 0..=i64::MAX)
    }

    fn number(&mut self, expected: &str, range: RangeInclusive<i64>) -> Result<i64, Diagnostic> {
        let from = self.at;
        let number = self.word(|c| c.is_ascii_digit()).parse().ok();
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            self.at = from;
            self.wrong(expected)
        })
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        match self.rest().is_empty() {
            true => Ok(()),
            false => Err(self.wrong("the end")),
        }
    }

    fn wrong(&mut self, expected: &str) -> Diagnostic {
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let found = match rest.chars().next() {
            Some(_) if digits > 0 => format!("`{}`", &rest[..digits]),
            Some(c) => format!("`{c}`"),
            None => "the end".to_string(),
        };
        let text = format!(
            "the entry `{}` does not parse: expected {expected}, found {found} at column {}",
            self.text,
            self.text[..self.at].chars().count() + 1
        );
        Diagnostic::global(Code::UnexpectedToken, text)
            .help("write a node as `f`, `f<1>`, `f(10, 12)` or `f('m=32)`")
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.node, self.arguments)
    }
}

impl fmt::Display for Arguments {
    /// As it is written behind the name of the node.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(index) = self.index {
            write!(f, "<{index}>")?;
        }
        let nats = self.nats.iter().map(i64::to_string);
        let sizes = self.sizes.iter().map(|(name, bits)| format!("'{name}={bits}"));
        let all: Vec<String> = nats.chain(sizes).collect();
        if all.is_empty() { Ok(()) } else { write!(f, "({})", all.join(", ")) }
    }
}

impl Program {
    /// The entry as one writes it: the node and its arguments.
    pub fn entry_text(&self) -> String {
        format!("{}{}", self.decls[self.entry].name, self.arguments)
    }

    /// The entry with its arguments and nothing else bound.
    pub(super) fn entry_open(&self) -> Instance {
        let Arguments { index, nats, sizes } = &self.arguments;
        let mut instance = Instance::open(self.entry, index.unwrap_or(0) as usize);
        instance.nats.clone_from(nats);
        for (name, bits) in sizes {
            instance.bind_size(name, Size::Bits(*bits));
        }
        instance
    }
}

/// Checks the arguments against the declaration. An argument that is not given at all is left to
/// the compilation, because other commands need none.
pub(super) fn check(decl: &Decl, arguments: &Arguments) -> Option<Diagnostic> {
    let nats: Vec<&str> =
        decl.params.iter().filter(|p| p.ty == VarType::Nat).map(|p| &*p.name).collect();
    let name = &decl.name;
    let error = |code, text: String, help: String| {
        Some(Diagnostic::error(code, decl.name_span, text).help(help))
    };
    match arguments.index {
        Some(index) if !decl.array => {
            let text = format!("`{name}` is a single {}, not an array", decl.noun());
            return error(Code::UnwantedInstance, text, format!("remove `<{index}>`"));
        }
        Some(index) if index as usize >= decl.alternatives() => {
            let text = format!("index {index} of `{name}`, which has {}", decl.alternatives());
            let help = format!("indices go from 0 to {}", decl.alternatives() - 1);
            return error(Code::InstanceRange, text, help);
        }
        _ => {}
    }
    let given = arguments.nats.len();
    if given > 0 && given != nats.len() {
        let plural = if nats.len() == 1 { "" } else { "s" };
        let text = format!("`{name}` expects {} nat{plural}, found {given}", nats.len());
        let help = match nats.is_empty() {
            true => "remove the numbers".to_string(),
            false => format!("give one number for each of {}", nats.join(", ")),
        };
        return error(Code::NatEntry, text, help);
    }
    let known = decl.size_vars();
    let (unknown, _) = arguments.sizes.iter().find(|(size, _)| !known.contains(size))?;
    let text = format!("`{name}` has no word size '{unknown}");
    let help = match known.first() {
        None => format!("remove '{unknown}: all its words have a size"),
        Some(size) => format!("its open word size is '{size}"),
    };
    error(Code::PolymorphicEntry, text, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_printed_as_they_are_read() {
        for (text, printed) in [
            ("f", "f"),
            (" f' < 1 > ( 14,16 ) ", "f'<1>(14, 16)"),
            ("f('n=8, 3, 'm = 32)", "f(3, 'm=32, 'n=8)"),
        ] {
            let entry = Entry::parse(text).expect("an entry");
            assert_eq!(entry.to_string(), printed);
            assert_eq!(Entry::parse(printed), Ok(entry));
        }
    }

    #[test]
    fn every_error_names_its_place() {
        for (text, wanted) in [
            ("", "expected a name, found the end at column 1"),
            ("f(", "expected an integer below 2^63, found the end at column 3"),
            ("f()", "expected an integer below 2^63, found `)` at column 3"),
            ("f<x>", "expected an integer below 2^63, found `x` at column 3"),
            ("f(1 2)", "expected `)`, found `2` at column 5"),
            ("f(1) g", "expected the end, found `g` at column 6"),
            (
                "f(99999999999999999999)",
                "expected an integer below 2^63, found `99999999999999999999` at column 3",
            ),
            ("f('m)", "expected `=`, found `)` at column 5"),
            ("f('m=65)", "expected a word size from 1 to 64, found `65` at column 6"),
            ("f*/", "expected the end, found `*` at column 2"),
        ] {
            let error = Entry::parse(text).expect_err(text);
            assert!(error.message.ends_with(wanted), "{text}: {}", error.message);
        }
    }
}
