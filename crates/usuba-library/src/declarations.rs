//! C declarations of a header as data: functions, structs, and the sizes of memory behind pointers.
//!
//! ```text
//! int f(const uint8_t nonce[24], const uint8_t *in /* [length] */, uint8_t *out /* [length] */,
//!     size_t length);
//! ```
//!
//! Where C has no size, a comment behind the name has it, as an expression in other parameters, with
//! `name[i]` for element i and `strlen(name)` for a string. A second size is for the elements of an
//! array of pointers. `/* public */`, or `, public` behind the size, marks memory without secrets,
//! `/* out */` memory whose content at entry has no meaning, and `/* < 16 */` a number in a struct
//! that is always below 16.
//! Layouts are the System V ABI on x86-64.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::size::{Macros, Parser, Size, Token, tokens};

/// The functions and types of a header.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Declarations {
    /// Functions that the header exports.
    pub exported: Vec<Function>,
    /// Functions that other files define.
    pub external: Vec<Function>,
    pub types: Vec<Struct>,
}

/// A function with its parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: String,
    /// The type of its result.
    pub returns: String,
    #[serde(default, rename = "parameter", skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
}

/// A parameter. Values of parameters are public, and so are pointers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub name: String,
    /// The C type; an array is a pointer.
    #[serde(rename = "type")]
    pub c_type: String,
    /// The memory behind a pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// The memory behind a pointer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    pub bytes: Size,
    /// The alignment of its elements.
    pub align: u64,
    /// The bytes behind element `i`, if the elements are pointers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Size>,
    pub access: Access,
    /// Whether its bytes, behind all pointers, may be secret; of a struct only the secret fields.
    pub secret: bool,
}

/// How a function accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// The declaration is `const`.
    Read,
    /// It may also be read.
    Write,
    /// Its content at entry has no meaning.
    Out,
}

/// A struct.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Struct {
    pub name: String,
    pub size: u64,
    pub align: u64,
    #[serde(rename = "field")]
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    /// The C type; of an array the type of its elements.
    #[serde(rename = "type")]
    pub c_type: String,
    pub offset: u64,
    pub bytes: u64,
    /// Whether its bytes may be secret; in a struct of its own only the secret fields.
    pub secret: bool,
    /// A bound on a public number of eight bytes: it is less between the calls of functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<u64>,
    /// The memory behind a pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// A name with its type, as C declares it.
struct Declarator {
    name: String,
    /// The type before the pointers, without `const`.
    base: String,
    /// Whether the memory behind the last pointer is `const`.
    constant: bool,
    pointers: usize,
    /// The type as text.
    text: String,
    /// The number of elements of an array.
    array: Option<u64>,
    note: Note,
}

/// The comment behind a name.
#[derive(Default)]
struct Note {
    /// Sizes in elements.
    sizes: Vec<Size>,
    public: bool,
    out: bool,
    below: Option<u64>,
}

/// Size and alignment of a type, and whether it is a struct.
#[derive(Clone, Copy)]
struct Layout {
    size: u64,
    align: u64,
    is_struct: bool,
}

impl Declarations {
    /// Reads a header; macros that end with `_API` mark exported functions.
    ///
    /// # Errors
    /// The text has other declarations, or a pointer has no size; the message names the function.
    pub fn read(text: &str) -> Result<Declarations, String> {
        let (tokens, macros) = tokens(text)?;
        let mut reader =
            Reader { macros: &macros, types: BTreeMap::new(), all: Declarations::default() };
        let mut rest = &tokens[..];
        while let Some(first) = rest.first() {
            let block = matches!(rest, [Token::Word(word), Token::Text, ..] if word == "extern");
            if block || *first == Token::Mark('}') {
                rest = &rest[if block { 3.min(rest.len()) } else { 1 }..];
                continue;
            }
            let (item, after) = item(rest);
            reader.item(item)?;
            rest = after;
        }
        Ok(reader.all)
    }
}

/// Splits a declaration or a definition from the tokens behind it.
fn item(tokens: &[Token]) -> (&[Token], &[Token]) {
    let (mut depth, mut is_function) = (0, false);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(') if depth == 0 => is_function = true,
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            _ => {}
        }
        let end = match token {
            Token::Mark(';') => depth == 0,
            Token::Mark('}') => depth == 0 && is_function,
            _ => false,
        };
        if end {
            return tokens.split_at(at + 1);
        }
    }
    tokens.split_at(tokens.len())
}

struct Reader<'a> {
    macros: &'a Macros,
    types: BTreeMap<String, Layout>,
    all: Declarations,
}

impl Reader<'_> {
    fn item(&mut self, item: &[Token]) -> Result<(), String> {
        let Some(Token::Word(first)) = item.first() else { return Err(unexpected(item)) };
        let open = item.iter().position(|token| *token == Token::Mark('{'));
        match (&**first, open) {
            ("typedef", Some(open)) => self.structure(item, open),
            ("typedef", None) => {
                let declared = self.declarator(&item[1..item.len() - 1], None)?;
                let layout = self.layout(&declared)?;
                self.types.insert(declared.name, layout);
                Ok(())
            }
            ("static" | "enum", _) | (_, Some(_)) => Ok(()),
            ("extern", None) => self.function(&item[1..]).map(|f| self.all.external.push(f)),
            (word, None) if word.ends_with("_API") => {
                self.function(&item[1..]).map(|f| self.all.exported.push(f))
            }
            _ => self.function(item).map(|f| self.all.external.push(f)),
        }
    }

    /// `typedef struct { … } name;`
    fn structure(&mut self, item: &[Token], open: usize) -> Result<(), String> {
        let [inside @ .., Token::Mark('}'), Token::Word(name), Token::Mark(';')] =
            &item[open + 1..]
        else {
            return Err(unexpected(item));
        };
        let mut made = Struct { name: name.clone(), size: 0, align: 1, fields: Vec::new() };
        for line in inside.split(|token| *token == Token::Mark(';')).filter(|l| !l.is_empty()) {
            let mut base = None;
            for part in split(line) {
                let declared = self.declarator(part, base.as_deref())?;
                let Layout { size, align, is_struct } = self.layout(&declared)?;
                let offset = made.size.next_multiple_of(align);
                let bytes = size * declared.array.unwrap_or(1);
                made.size = offset + bytes;
                made.align = made.align.max(align);
                let memory = match declared.pointers {
                    0 => None,
                    _ => Some(self.memory(&declared).map_err(|why| format!("{name}: {why}"))?),
                };
                let holds = is_struct || declared.array.is_some();
                let below = declared.note.below;
                if below.is_some() && (holds || declared.pointers > 0 || size != 8) {
                    let field = &declared.name;
                    return Err(format!(
                        "{name}: found a bound on `{field}`, expected one on a \
                                        number of 8 bytes"
                    ));
                }
                made.fields.push(Field {
                    below,
                    secret: holds && memory.is_none() && !declared.note.public,
                    c_type: declared.text,
                    name: declared.name,
                    offset,
                    bytes,
                    memory,
                });
                base = Some(declared.base);
            }
        }
        made.size = made.size.next_multiple_of(made.align);
        let layout = Layout { size: made.size, align: made.align, is_struct: true };
        self.types.insert(name.clone(), layout);
        self.all.types.push(made);
        Ok(())
    }

    /// `type name(parameters);`
    fn function(&self, item: &[Token]) -> Result<Function, String> {
        let open = item.iter().position(|token| *token == Token::Mark('('));
        let (Some(open), [.., Token::Mark(')'), Token::Mark(';')]) = (open, item) else {
            return Err(unexpected(item));
        };
        let declared = self.declarator(&item[..open], None)?;
        let inside = &item[open + 1..item.len() - 2];
        let mut function =
            Function { name: declared.name, returns: declared.text, parameters: Vec::new() };
        if !matches!(inside, [Token::Word(word)] if word == "void") {
            let wrong = |why| format!("{}: {why}", function.name);
            let parameters =
                split(inside).map(|part| self.parameter(part)).collect::<Result<_, _>>();
            function.parameters = parameters.map_err(wrong)?;
        }
        Ok(function)
    }

    fn parameter(&self, tokens: &[Token]) -> Result<Parameter, String> {
        let declared = self.declarator(tokens, None)?;
        let points = declared.pointers > 0 || declared.array.is_some();
        let memory = if points { Some(self.memory(&declared)?) } else { None };
        let star = if declared.array.is_some() { " *" } else { "" };
        let c_type = format!("{}{star}", declared.text).replace("* *", "**");
        Ok(Parameter { name: declared.name, c_type, memory })
    }

    /// Reads specifiers, pointers, a name, an array and a comment; `base` is the type of a previous
    /// name in the same declaration.
    fn declarator(&self, tokens: &[Token], base: Option<&str>) -> Result<Declarator, String> {
        let (tokens, note) = match tokens {
            [before @ .., Token::Note(note)] => (before, self.note(note)?),
            _ => (tokens, Note::default()),
        };
        let bracket = tokens.iter().position(|token| *token == Token::Mark('['));
        let (tokens, array) = match (bracket, tokens.last()) {
            (Some(at), Some(Token::Mark(']'))) => {
                let size = Parser::new(&tokens[at + 1..tokens.len() - 1], self.macros).whole()?;
                let size = size.fixed().ok_or_else(|| format!("found the array size `{size}`"))?;
                (&tokens[..at], Some(size))
            }
            _ => (tokens, None),
        };
        let [before @ .., Token::Word(name)] = tokens else { return Err(unexpected(tokens)) };
        let (mut words, mut pointers, mut constant) = (Vec::new(), 0, false);
        let mut text = String::new();
        for token in before {
            match token {
                Token::Mark('*') => {
                    pointers += 1;
                    text += if text.ends_with('*') { "*" } else { " *" };
                }
                Token::Word(word) => {
                    constant |= pointers == 0 && word == "const";
                    let qualifies = matches!(&**word, "const" | "volatile" | "struct");
                    if !qualifies {
                        words.push(word.as_str());
                    }
                    if !text.is_empty() && !text.ends_with('*') {
                        text.push(' ');
                    }
                    text += word;
                }
                _ => return Err(unexpected(tokens)),
            }
        }
        let base = match (words.is_empty(), base) {
            (true, Some(base)) => {
                text = format!("{base}{text}");
                base.to_string()
            }
            _ => words.join(" "),
        };
        Ok(Declarator { name: name.clone(), base, constant, pointers, text, array, note })
    }

    /// Reads `[size]`, `[size][size]`, `public`, `out`, `< bound`, or some of them with commas.
    fn note(&self, text: &str) -> Result<Note, String> {
        let mut note = Note::default();
        let mut sizes = text;
        loop {
            let (before, last) = sizes.rsplit_once(',').unwrap_or(("", sizes));
            match last.trim() {
                "public" => note.public = true,
                "out" => note.out = true,
                bound if let Some(bound) = bound.strip_prefix('<') => {
                    let bound = Parser::new(&tokens(bound)?.0, self.macros).whole()?.fixed();
                    note.below = bound.filter(|&bound| bound > 0);
                    note.below.ok_or_else(|| format!("found the bound `{last}`"))?;
                }
                _ => break,
            }
            sizes = before;
        }
        let (tokens, _) = tokens(sizes)?;
        let mut parser = Parser::new(&tokens, self.macros);
        while parser.has('[') {
            note.sizes.push(parser.sum()?);
            parser.expect(']')?;
        }
        parser.end().map(|()| note)
    }

    /// The layout of a type: of an array the one of its elements.
    fn layout(&self, declared: &Declarator) -> Result<Layout, String> {
        let base = if declared.pointers > 0 { "size_t" } else { &declared.base };
        let size = match base {
            "void" | "char" | "unsigned char" | "uint8_t" => 1,
            "uint16_t" => 2,
            "int" | "unsigned" | "uint32_t" => 4,
            "size_t" | "uint64_t" | "unsigned long long" => 8,
            other => {
                let known = self.types.get(other).copied();
                return known.ok_or_else(|| format!("found the unknown type `{other}`"));
            }
        };
        Ok(Layout { size, align: size, is_struct: false })
    }

    /// The memory behind a pointer or an array.
    fn memory(&self, declared: &Declarator) -> Result<Memory, String> {
        let Declarator { name, base, constant, pointers, array, note, .. } = declared;
        let levels = pointers + usize::from(array.is_some());
        let at = |pointers| {
            let (name, base, text) = (name.clone(), base.clone(), String::new());
            let (note, array) = (Note::default(), None);
            self.layout(&Declarator { name, base, constant: false, pointers, text, array, note })
        };
        let (outer, inner) = (at(levels - 1)?, at(0)?);
        let one = inner.is_struct && levels == 1 && array.is_none();
        let bytes = match (array, &note.sizes[..]) {
            (Some(count), []) => Size::from(count * outer.size),
            (None, []) if one => Size::from(outer.size),
            (None, [count]) if levels == 1 => count.times(outer.size),
            (None, [count, _]) if levels == 2 => count.times(outer.size),
            _ => {
                return Err(format!(
                    "found `{name}` with {} sizes, expected one for each pointer; help: write \
                     `/* [length] */` behind its name",
                    note.sizes.len()
                ));
            }
        };
        let each = note.sizes.get(1).map(|size| size.times(inner.size));
        // Lengths, strings and statuses.
        let public = matches!(&**base, "size_t" | "char" | "int") || base.ends_with("_length");
        let access = match (constant, note.out) {
            (true, false) => Access::Read,
            (false, false) => Access::Write,
            (false, true) => Access::Out,
            (true, true) => return Err(format!("found `out` behind `{name}`, which is const")),
        };
        let secret = !public && !note.public;
        Ok(Memory { bytes, align: outer.align, each, access, secret })
    }
}

/// The parts between the commas outside of parentheses.
fn split(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0;
    tokens.split(move |token| {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == Token::Mark(',')
    })
}

fn unexpected(tokens: &[Token]) -> String {
    let text: Vec<String> = tokens.iter().take(12).map(ToString::to_string).collect();
    format!("found the declaration `{}`, expected a function or a type", text.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_fields_and_results_are_read() {
        let text = |fields: &str, begin: &str| {
            format!("typedef struct {{ {fields} }} s;\nT_API void b({begin});")
        };
        let read = |fields: &str, begin: &str| Declarations::read(&text(fields, begin));
        let all =
            read("uint64_t phase, used /* < 4 * 4 + 1 */;", "s *state /* out */").expect("it is");
        let below: Vec<Option<u64>> = all.types[0].fields.iter().map(|field| field.below).collect();
        assert_eq!(below, [None, Some(17)]);
        let access = |memory: &Memory| memory.access;
        assert_eq!(all.exported[0].parameters[0].memory.as_ref().map(access), Some(Access::Out));
        for (fields, begin) in [
            ("uint32_t used /* < 16 */;", "s *state"),
            ("uint64_t used[2] /* < 16 */;", "s *state"),
            ("uint64_t used /* < 0 */;", "s *state"),
            ("uint64_t used;", "const s *state /* out */"),
        ] {
            assert!(read(fields, begin).is_err(), "{fields} {begin}");
        }
    }
}
