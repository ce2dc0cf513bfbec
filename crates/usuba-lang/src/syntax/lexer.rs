//! Lexer: text to tokens, one at a time.
//!
//! Longest match, and a keyword wins over an identifier of the same spelling. A type word
//! without `<` (`u32x4`, `b8`, `u'n`) is an ordinary identifier that the parser reads again
//! where a type is wanted; only the forms with a direction (`u<H>16x8`) are tokens of their own,
//! because `<` would end an identifier.
//!
//! The language is ASCII, but comments, include paths and the text after `__END__` may hold any
//! text, so that names of people survive in comments.

use crate::diag::{Code, Diagnostic, FileId, Span};

/// A token without its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tok {
    Ident,
    /// A type word with a direction, such as `u<'D>'m`.
    TypeWord,
    Int(u128),
    /// A non-empty string; the span includes the quotes.
    Str,
    /// A keyword, operator or mark; the text is its spelling.
    Word(&'static str),
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub tok: Tok,
    pub span: Span,
}

/// A comment from its `#` or `//` to the end of the line, without trailing blanks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comment {
    pub start: u32,
    pub end: u32,
}

/// The words that are no identifiers.
pub const KEYWORDS: &[&str] = &[
    "node",
    "returns",
    "vars",
    "let",
    "tel",
    "perm",
    "table",
    "forall",
    "in",
    "include",
    "const",
    "lazyLift",
    "Shuffle",
    "Bitmask",
    "Pack",
    "_inline",
    "_no_inline",
    "_interleave",
    "_no_opt",
    "_lsb_first",
    "_unroll",
    "_no_unroll",
    "_pipelined",
];

/// Names that have a meaning in some places, and are names in all others.
pub const CONTEXTUAL: &[&str] =
    &["value", "type", "link", "requires", "ensures", "mod", "sum", "le", "be", "nat"];

/// Operators and marks: longest first, so that the first that fits is the longest match.
pub const MARKS: &[&str] = &[
    "<<<", ">>>", ">>!", "<<", ">>", "..", "[]", "=", ":", ";", ",", "(", ")", "[", "]", "{", "}",
    "<", ">", "&", "|", "^", "~", "!", "+", "-", "*", "/", "%",
];

/// Longest name: messages repeat names, and C compilers have limits, too.
const MAX_NAME: usize = 255;

const END_MARKER: &str = "__END__";

pub struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    pos: usize,
    /// Filled only on request: a compilation has no use for them.
    comments: Option<Vec<Comment>>,
    /// Where `__END__` starts, once it is reached.
    end_marker: Option<u32>,
    pub errors: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, file: FileId) -> Lexer<'a> {
        Lexer { text, file, pos: 0, comments: None, end_marker: None, errors: Vec::new() }
    }

    /// All tokens and comments, and the offset of `__END__`; for the formatter.
    pub fn everything(text: &str, file: FileId) -> (Vec<Token>, Vec<Comment>, Option<u32>) {
        let mut lexer = Lexer { comments: Some(Vec::new()), ..Lexer::new(text, file) };
        let mut tokens = Vec::new();
        loop {
            let token = lexer.advance();
            if token.tok == Tok::End {
                return (tokens, lexer.comments.unwrap_or_default(), lexer.end_marker);
            }
            tokens.push(token);
        }
    }

    /// The next token; at the end of the input `End` again and again.
    pub fn advance(&mut self) -> Token {
        loop {
            self.skip_blanks();
            let start = self.pos;
            let rest = &self.text[start..];
            let Some(&first) = rest.as_bytes().first() else {
                return self.token(Tok::End, start, start);
            };
            if first.is_ascii_alphabetic() || first == b'_' {
                let end = start + ident_len(rest);
                let word = &self.text[start..end];
                if word == END_MARKER {
                    self.end_marker = Some(start as u32);
                    self.text = &self.text[..start];
                    return self.token(Tok::End, start, start);
                }
                if let Some(keyword) = KEYWORDS.iter().find(|&&k| k == word) {
                    return self.token(Tok::Word(keyword), start, end);
                }
                if let Some(len) = sliced_type_word_len(rest) {
                    return self.token(Tok::TypeWord, start, start + len);
                }
                if end - start > MAX_NAME {
                    let message = format!("a name of {} bytes", end - start);
                    let help = format!("names have at most {MAX_NAME} bytes");
                    self.error(Code::TooLarge, start, end, message, &help);
                }
                return self.token(Tok::Ident, start, end);
            }
            if first.is_ascii_digit() {
                return self.integer();
            }
            if first == b'"' {
                if let Some(token) = self.string() {
                    return token;
                }
                continue;
            }
            if rest.starts_with("/*") {
                self.block_comment();
                continue;
            }
            if let Some(mark) = MARKS.iter().find(|&&m| rest.starts_with(m)) {
                return self.token(Tok::Word(mark), start, start + mark.len());
            }
            self.unexpected();
        }
    }

    fn token(&mut self, tok: Tok, start: usize, end: usize) -> Token {
        self.pos = end;
        Token { tok, span: Span::new(self.file, start, end) }
    }

    fn error(&mut self, code: Code, start: usize, end: usize, message: String, help: &str) {
        let span = Span::new(self.file, start, end);
        self.errors.push(Diagnostic::error(code, span, message).help(help));
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.pos) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.pos += 1,
                Some(b'#') => self.comment(),
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'/') => self.comment(),
                _ => return,
            }
        }
    }

    fn comment(&mut self) {
        let rest = &self.text[self.pos..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        if let Some(comments) = &mut self.comments {
            let end = self.pos + line.trim_end().len();
            comments.push(Comment { start: self.pos as u32, end: end as u32 });
        }
        self.pos += line.len();
    }

    fn integer(&mut self) -> Token {
        let start = self.pos;
        let rest = &self.text[start..];
        let in_base = |prefix: &str, accept: fn(u8) -> bool| {
            rest.strip_prefix(prefix).map_or(0, |digits| run(digits, accept))
        };
        let (radix, prefixed) = match in_base("0x", |b| b.is_ascii_hexdigit()) {
            0 => (2, in_base("0b", |b| matches!(b, b'0' | b'1'))),
            hex => (16, hex),
        };
        let len = if prefixed > 0 { 2 + prefixed } else { run(rest, |b| b.is_ascii_digit()) };
        let digits = &rest[..len];
        // `5tel` is two tokens; any other letters after a number can only be a mistake.
        let tail = &rest[len..];
        let tail = &tail[..run(tail, is_ident_byte)];
        if !tail.is_empty() && !KEYWORDS.contains(&tail) && tail != END_MARKER {
            let end = start + len + tail.len();
            let help = match (digits, tail.chars().next()) {
                ("0", Some('x' | 'X')) => {
                    "write a hexadecimal number as `0x1F`: a small `x`, then at least one digit"
                }
                ("0", Some('b' | 'B')) => {
                    "write a binary number as `0b101`: a small `b`, then digits 0 and 1"
                }
                _ => {
                    "numbers are decimal or start with `0x` or `0b`, without separators or suffixes"
                }
            };
            let message = format!("`{}` is not a number", short(&self.text[start..end]));
            self.error(Code::BadInteger, start, end, message, help);
            return self.token(Tok::Int(0), start, end);
        }
        if prefixed == 0 && len > 1 && digits.starts_with('0') {
            let message = format!("the number `{}` starts with a zero", short(digits));
            let help = "leave out the leading zeros; there are no octal numbers";
            self.error(Code::BadInteger, start, start + len, message, help);
            return self.token(Tok::Int(0), start, start + len);
        }
        let value = match prefixed {
            0 => digits.parse(),
            _ => u128::from_str_radix(&digits[2..], radix),
        };
        let value = value.unwrap_or_else(|_| {
            let message = "this number is larger than 2^128-1".to_string();
            let help = "split the constant into several words";
            self.error(Code::BadInteger, start, start + len, message, help);
            0
        });
        self.token(Tok::Int(value), start, start + len)
    }

    fn string(&mut self) -> Option<Token> {
        let start = self.pos;
        let rest = &self.text[start + 1..];
        let len = rest.find(['"', '\n']).unwrap_or(rest.len());
        match Some(len).filter(|_| rest[len..].starts_with('"')) {
            Some(0) => {
                let message = "this string is empty".to_string();
                let help = "write the path of the file between the quotes";
                self.error(Code::UnexpectedToken, start, start + 2, message, help);
                self.pos = start + 2;
                None
            }
            Some(len) => Some(self.token(Tok::Str, start, start + len + 2)),
            None => {
                let end = start + 1 + rest[..len].trim_end().len();
                let message = "this string has no closing quote on its line".to_string();
                self.error(Code::UnterminatedString, start, end, message, "add a `\"`");
                self.pos = start + 1 + len;
                None
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        let rest = &self.text[start..];
        let len = rest[2..].find("*/").map_or(rest.len(), |i| i + 4);
        let message = "there are no `/* */` comments".to_string();
        let help = "start each line of the comment with `#` or `//`";
        self.error(Code::UnexpectedChar, start, start + 2, message, help);
        self.pos = start + len;
    }

    /// One error for a whole run of characters that start no token.
    fn unexpected(&mut self) {
        let start = self.pos;
        let rest = &self.text[start..];
        let len = rest.find(starts_token).unwrap_or(rest.len());
        // The first character is wrong even if it looks like a start (the dot of `..`).
        let len = len.max(rest.chars().next().map_or(1, char::len_utf8));
        let bad = rest.chars().next().unwrap_or(' ');
        let (message, help) = match bad {
            '.' => (
                "a single `.` means nothing here".to_string(),
                "elements are chosen with `x[4]`, ranges are written `a..b`",
            ),
            '?' => (
                "there is no operator `?`".to_string(),
                "choose by a mask `m` of equal bits: `(a & m) ^ (b & ~m)`",
            ),
            '@' | '$' | '\\' | '`' | '\'' => (
                format!("no token starts with `{bad}`"),
                "a quote may follow a name (`x'`), the other signs have no use",
            ),
            c if c.is_ascii_graphic() => {
                (format!("no token starts with `{c}`"), "remove this character")
            }
            c => (
                format!("the character {} cannot appear here", c.escape_unicode()),
                "outside of comments, programs are plain ASCII text",
            ),
        };
        self.error(Code::UnexpectedChar, start, start + len, message, help);
        self.pos = start + len;
    }
}

fn is_ident_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'\''
}

fn starts_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_ \t\r\n#\"=:;,()[]{}<>&|^~!+-*/%.".contains(c)
}

/// How many bytes at the start of `text` satisfy `accept`.
fn run(text: &str, accept: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&b| accept(b)).count()
}

/// The text for a message: its start only if it is long. Tokens other than strings are ASCII.
pub fn short(text: &str) -> &str {
    match text.char_indices().nth(40) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The length of the identifier at the start of `text`, 0 if there is none.
pub fn ident_len(text: &str) -> usize {
    match text.bytes().next() {
        Some(b) if b.is_ascii_alphabetic() || b == b'_' => run(text, is_ident_byte),
        _ => 0,
    }
}

/// Whether a text can be the name of a declaration or of a variable.
pub fn is_name(text: &str) -> bool {
    let len = ident_len(text);
    len == text.len() && (1..=MAX_NAME).contains(&len) && !KEYWORDS.contains(&text)
}

/// The length of a decimal integer without leading zeros at the start of `text`, 0 if none.
pub fn decimal_len(text: &str) -> usize {
    match run(text, |b| b.is_ascii_digit()) {
        n if n > 1 && text.starts_with('0') => 0,
        n => n,
    }
}

/// The length of `u<dir>width[xlen]`, `b<dir>len` or `v<dir>len` at the start of `text`.
fn sliced_type_word_len(text: &str) -> Option<usize> {
    let letter = text.bytes().next().filter(|b| b"ubv".contains(b))?;
    let rest = text[1..].strip_prefix('<')?;
    let dir = match rest.bytes().next()? {
        b'H' | b'V' | b'B' | b'W' => 1,
        b'\'' => Some(ident_len(&rest[1..])).filter(|&n| n > 0)? + 1,
        _ => Some(decimal_len(rest)).filter(|&n| n > 0)?,
    };
    let rest = rest[dir..].strip_prefix('>')?;
    let quoted = letter == b'u' && rest.starts_with('\'');
    let width = if quoted { ident_len(&rest[1..]) + 1 } else { decimal_len(rest) };
    if width == usize::from(quoted) {
        return None;
    }
    // A quoted width swallows every following letter, `x` included.
    let tail = rest[width..].strip_prefix('x').filter(|_| letter == b'u' && !quoted);
    let len = tail.map_or(0, decimal_len);
    Some(1 + 1 + dir + 1 + width + if len > 0 { 1 + len } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> (Vec<String>, Vec<Diagnostic>) {
        let mut lexer = Lexer::new(text, FileId(0));
        let mut words = Vec::new();
        loop {
            let t = lexer.advance();
            if t.tok == Tok::End {
                return (words, lexer.errors);
            }
            words.push(text[t.span.start as usize..t.span.end as usize].to_string());
        }
    }

    fn words(text: &str) -> Vec<String> {
        let (words, errors) = lex(text);
        assert_eq!(errors, []);
        words
    }

    #[test]
    fn the_longest_operator_wins() {
        assert_eq!(
            words("a<<<b<<c>>!d>>>e>>f"),
            "a <<< b << c >>! d >>> e >> f".split(' ').collect::<Vec<_>>()
        );
        assert_eq!(words("0..3"), ["0", "..", "3"]);
        assert_eq!(words("table[] [ ]"), ["table", "[]", "[", "]"]);
        assert_eq!(words("p^:=e"), ["p", "^", ":", "=", "e"]);
    }

    #[test]
    fn type_words_with_a_direction_are_one_token() {
        assert_eq!(
            words("u<H>16x8 u<'D>'m b<B>4 v<4>4"),
            ["u<H>16x8", "u<'D>'m", "b<B>4", "v<4>4"]
        );
        assert_eq!(words("u<'D>'mx4"), ["u<'D>'mx4"]);
        assert_eq!(words("u<0>(x)"), ["u", "<", "0", ">", "(", "x", ")"]);
    }

    #[test]
    fn the_end_marker_ends_the_text() {
        assert_eq!(words("a __END__ @@ \u{e9}"), ["a"]);
        assert_eq!(words("a __END__b"), ["a", "__END__b"]);
    }
}
