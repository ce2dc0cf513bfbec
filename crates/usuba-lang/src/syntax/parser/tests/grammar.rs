//! The grammar of the book against the parser: a packrat recogniser that interprets the page.
//!
//! ```text
//! loop = … "forall" name "in" …  ──→  Rule("loop", Sequence([…, Text("forall"), Name, …]))
//! ```
//!
//! Alternatives are ordered, and repetitions take as much as they can, as the page says.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::super::*;

#[derive(Debug)]
enum Form {
    Text(String),
    Symbol(String),
    Sequence(Vec<Form>),
    Choice(Vec<Form>),
    Many(Box<Form>),
    Perhaps(Box<Form>),
}

/// The words and marks of EBNF; a string keeps its quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => rest[1..].find('"').expect("a token has two quotes") + 2,
            c if c.is_alphabetic() => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => 1,
        };
        words.push(rest[..len].to_string());
        rest = rest[len..].trim_start();
    }
    words
}

fn choice(words: &mut std::slice::Iter<String>) -> Form {
    let (mut all, mut now) = (Vec::new(), Vec::new());
    while let Some(word) = words.as_slice().first() {
        if ["}", "]", ")", ";"].contains(&word.as_str()) {
            break;
        }
        words.next();
        let mut inner = |close: &str| {
            let form = Box::new(choice(words));
            assert_eq!(words.next().map(String::as_str), Some(close));
            form
        };
        now.push(match word.as_str() {
            "|" => {
                all.push(Form::Sequence(std::mem::take(&mut now)));
                continue;
            }
            "{" => Form::Many(inner("}")),
            "[" => Form::Perhaps(inner("]")),
            "(" => *inner(")"),
            text if text.starts_with('"') => Form::Text(text.trim_matches('"').to_string()),
            symbol => Form::Symbol(symbol.to_string()),
        });
    }
    all.push(Form::Sequence(now));
    Form::Choice(all)
}

/// The rules of the page.
fn rules() -> HashMap<String, Form> {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/reference/grammar.md");
    let page = fs::read_to_string(page).expect("the page of the grammar can be read");
    let mut rules = HashMap::new();
    for block in page.split("```ebnf\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let all = words(block);
        let mut words = all.iter();
        while let Some(name) = words.next() {
            assert_eq!(words.next().map(String::as_str), Some("="), "{name}");
            assert!(rules.insert(name.clone(), choice(&mut words)).is_none(), "{name} twice");
            assert_eq!(words.next().map(String::as_str), Some(";"), "{name}");
        }
    }
    rules
}

struct Recogniser<'a> {
    rules: &'a HashMap<String, Form>,
    /// The kind and the text of each token.
    tokens: &'a [(Tok, &'a str)],
    known: HashMap<(&'a str, usize), Option<usize>>,
}

impl<'a> Recogniser<'a> {
    /// The position behind the text of `form` that begins at `at`.
    fn behind(&mut self, form: &'a Form, at: usize) -> Option<usize> {
        match form {
            Form::Text(text) => {
                let &(tok, found) = self.tokens.get(at)?;
                let fits = found == text && matches!(tok, Tok::Word(_) | Tok::Ident);
                fits.then_some(at + 1)
            }
            Form::Symbol(name) => self.symbol(name, at),
            Form::Sequence(parts) => parts.iter().try_fold(at, |at, part| self.behind(part, at)),
            Form::Choice(all) => all.iter().find_map(|form| self.behind(form, at)),
            Form::Perhaps(form) => Some(self.behind(form, at).unwrap_or(at)),
            Form::Many(form) => {
                let mut at = at;
                while let Some(next) = self.behind(form, at).filter(|&next| next > at) {
                    at = next;
                }
                Some(at)
            }
        }
    }

    fn symbol(&mut self, name: &'a str, at: usize) -> Option<usize> {
        if let Some(form) = self.rules.get(name) {
            if let Some(&end) = self.known.get(&(name, at)) {
                return end;
            }
            let end = self.behind(form, at);
            self.known.insert((name, at), end);
            return end;
        }
        let &(tok, _) = self.tokens.get(at)?;
        let fits = match name {
            "name" => tok == Tok::Ident,
            "number" => matches!(tok, Tok::Int(_)),
            "string" => tok == Tok::Str,
            "word" => matches!(tok, Tok::Ident | Tok::TypeWord),
            _ => panic!("the grammar has no rule `{name}`"),
        };
        fits.then_some(at + 1)
    }
}

/// Whether the tokens of a text are a program by the page; none where it has no tokens.
fn derived(rules: &HashMap<String, Form>, text: &str) -> bool {
    let (tokens, _, _) = Lexer::everything(text, FileId(0));
    let text_of = |token: &Token| &text[token.span.start as usize..token.span.end as usize];
    let tokens: Vec<(Tok, &str)> = tokens.iter().map(|token| (token.tok, text_of(token))).collect();
    let mut recogniser = Recogniser { rules, tokens: &tokens, known: HashMap::new() };
    recogniser.symbol("file", 0) == Some(tokens.len())
}

/// The errors of the parser that a grammar can express: no limits, numbers and words of types.
fn rejected(text: &str) -> Option<bool> {
    let mut sources = Sources::default();
    let file = sources.add("test.ua", text);
    let (_, errors) = parse(&sources, file);
    let beyond =
        |error: &Diagnostic| !matches!(error.code, Code::UnexpectedToken | Code::EmptyBody);
    (!errors.iter().any(beyond)).then_some(!errors.is_empty())
}

/// All programs of the repository.
fn programs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = ["ciphers", "arithmetic", "tests"].map(|name| root.join(name)).to_vec();
    let mut programs = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("the folder can be read");
        for path in entries.map(|entry| entry.expect("it has entries").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "ua") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                programs.push((path.display().to_string(), text));
            }
        }
    }
    programs.sort();
    programs
}

#[test]
fn the_page_has_every_keyword() {
    let page = format!("{:?}", rules());
    for keyword in crate::syntax::KEYWORDS {
        assert!(page.contains(&format!("Text({keyword:?})")), "{keyword}");
    }
}

#[test]
fn the_parser_accepts_the_programs_that_the_page_derives() {
    let rules = rules();
    let programs = programs();
    assert!(programs.len() > 200, "{} programs", programs.len());
    for (path, text) in &programs {
        if let Some(rejected) = rejected(text) {
            assert_eq!(derived(&rules, text), !rejected, "{path}");
        }
    }
}

/// The programs whose text is short, for damage.
fn short_programs() -> Vec<String> {
    programs().into_iter().map(|(_, text)| text).filter(|text| text.len() < 2000).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..Default::default() })]

    /// One token of a program is left out, or takes the place of another one.
    #[test]
    fn damaged_programs_are_rejected_by_both_or_none(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        drop in any::<bool>(),
    ) {
        thread_local! {
            static ALL: (HashMap<String, Form>, Vec<String>) = (rules(), short_programs());
        }
        ALL.with(|(rules, programs)| {
            let text = which.get(programs);
            let (tokens, _, _) = Lexer::everything(text, FileId(0));
            prop_assume!(!tokens.is_empty());
            let place = |index: prop::sample::Index| {
                let span = index.get(&tokens).span;
                span.start as usize..span.end as usize
            };
            let other = if drop { "" } else { &text[place(from)] };
            let mut damaged = text.clone();
            damaged.replace_range(place(at), &format!(" {other} "));
            if let Some(rejected) = rejected(&damaged) {
                prop_assert_eq!(derived(rules, &damaged), !rejected, "{}", damaged);
            }
            Ok(())
        })?;
    }
}
