//! Dense C: long functions with short names for repeated words, and without needless spaces.
//!
//! ```text
//!                                                       #define T const __m256i
//!                                                       #define XOR _mm256_xor_si256
//! static void f(const __m256i *x, __m256i *y)           static void f(const __m256i *x, __m256i *y)
//! {                                                     {
//!     const __m256i v100 = _mm256_xor_si256(x[0], k);   T v0=XOR(x[0],k);
//!     const __m256i v101 = _mm256_xor_si256(x[1], v1);  T v1=XOR(x[1],v0);
//!     …                                                 …
//! }                                                     }
//! ```
//!
//! A compiler sees the same tokens, up to names of variables and the base of small numbers, so the
//! object file is the same. Kernels are most of a file, and most of their text are names of
//! instructions, types and variables. Short functions, comments, strings and directives stay.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The smallest function that becomes dense, in bytes of its text.
const LEAST: usize = 1500;

/// The shortest name that is worth an alias.
const NAME: usize = 6;

/// Names of constant types, the most frequent one first.
const LETTERS: [&str; 4] = ["T", "U", "V", "W"];

/// C with dense functions.
#[derive(Debug)]
pub struct Dense {
    /// Definitions of macros, which precede the text.
    pub macros: String,
    pub text: String,
    /// The end of these macros.
    pub end: String,
}

/// The text with its long functions dense. Functions are in the format of the emitter: a first line
/// without indentation that ends with the parameters, and a last line `}`.
pub fn dense(text: &str) -> Dense {
    let lines = lines(text);
    let code = || lines.iter().filter(|line| line.is_code).map(|line| line.text);
    let phrases = chosen(code(), text);
    let mut result = Dense { macros: String::new(), text: String::new(), end: String::new() };
    let mut aliases: Vec<(&str, &str)> =
        phrases.iter().map(|(phrase, alias)| (&**alias, &**phrase)).collect();
    aliases.sort_unstable();
    for (alias, phrase) in aliases {
        result.macros += &format!("#define {alias} {phrase}\n");
        result.end += &format!("#undef {alias}\n");
    }
    for function in lines.chunk_by(|one, other| one.function == other.function) {
        let names = variables(function);
        for line in function {
            match line.is_code {
                true => write(&mut result.text, line.text, &phrases, &names),
                false => result.text += line.text,
            }
        }
    }
    result
}

/// A line with its end.
struct Line<'a> {
    text: &'a str,
    /// Whether it belongs to the body of a long function and consists of statements.
    is_code: bool,
    /// The number of its function.
    function: Option<usize>,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line> = Vec::new();
    // The beginning of the current function in `lines`, and the bytes of its body.
    let mut function: Option<(usize, usize)> = None;
    let (mut in_comment, mut in_directive) = (false, false);
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        let was_special = in_comment || in_directive;
        in_directive = (in_directive || plain.starts_with('#')) && plain.ends_with('\\');
        if let Some(at) = plain.rfind("/*") {
            in_comment = !plain[at..].contains("*/");
        } else if plain.contains("*/") {
            in_comment = false;
        }
        let special = was_special
            || plain.starts_with('#')
            || ["/*", "*/", "//", "\"", "'"].iter().any(|mark| plain.contains(mark));
        let is_head = !line.starts_with([' ', '#', '}', '{']) && plain.contains('(');
        if is_head && !special && (plain.ends_with(") {") || plain.ends_with(')')) {
            function = Some((lines.len(), 0));
            lines.push(Line { text: line, is_code: false, function: Some(lines.len()) });
            continue;
        }
        let is_code = function.is_some() && !special && plain != "{";
        lines.push(Line { text: line, is_code, function: function.map(|(first, _)| first) });
        if let Some((first, length)) = &mut function {
            *length += line.len();
            if line.trim_end() == "}" {
                let (first, long) = (*first, *length >= LEAST);
                lines[first..].iter_mut().for_each(|line| line.is_code &= long);
                lines.last_mut().expect("the line is there").is_code = false;
                function = None;
            }
        }
    }
    if let Some((first, _)) = function {
        lines[first..].iter_mut().for_each(|line| line.is_code = false);
    }
    lines
}

/// Words, and other characters one by one.
fn tokens(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Whether a name is a type of C or of its vectors.
fn is_type(name: &str) -> bool {
    name.ends_with("_t") || name.starts_with("__m")
}

/// The phrase that begins at `at` in `tokens`: the number of its tokens, and its text. It is a type
/// in a declaration, a conversion, or a function in a call.
fn phrase(tokens: &[&str], at: usize) -> Option<(usize, String)> {
    match tokens[at..] {
        ["const", " ", name, " ", next, ..] if is_name(name) && is_name(next) => {
            Some((3, format!("const {name}")))
        }
        [name, " ", next, ..] if is_type(name) && is_name(next) => Some((1, name.to_string())),
        ["(", name, ")", ..] if is_type(name) && (at == 0 || !is_name(tokens[at - 1])) => {
            Some((3, format!("({name})")))
        }
        [name, "(", ..] if is_name(name) && name.len() >= NAME => Some((1, name.to_string())),
        _ => None,
    }
}

/// The phrases with an alias that makes the text shorter. `text` is around the lines of code, and
/// has no word that is an alias.
fn chosen<'a>(code: impl Iterator<Item = &'a str>, text: &str) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in code {
        let tokens = tokens(line);
        let mut at = 0;
        while at < tokens.len() {
            match phrase(&tokens, at) {
                Some((length, phrase)) => {
                    *counts.entry(phrase).or_default() += 1;
                    at += length;
                }
                None => at += 1,
            }
        }
    }
    let mut order: Vec<(String, usize)> = counts.into_iter().collect();
    order.sort_by(|one, other| {
        let weight = |(phrase, count): &(String, usize)| phrase.len() * count;
        weight(other).cmp(&weight(one)).then_with(|| one.0.cmp(&other.0))
    });
    let mut used: BTreeSet<String> = tokens(text).into_iter().map(String::from).collect();
    let functions = functions(text);
    let mut phrases = BTreeMap::new();
    for (phrase, count) in order {
        let letter = LETTERS.iter().find(|letter| !used.contains(**letter));
        let letter = letter.filter(|_| phrase.starts_with("const "));
        let wanted = letter.map_or_else(|| alias(&phrase, &functions), |own| own.to_string());
        let mut alias = wanted.clone();
        let mut number = 2;
        while used.contains(&alias) {
            alias = format!("{wanted}_{number}");
            number += 1;
        }
        let directives = "#define  \n#undef \n".len() + 2 * alias.len() + phrase.len();
        if count * phrase.len() > count * alias.len() + directives {
            used.insert(alias.clone());
            phrases.insert(phrase, alias);
        }
    }
    phrases
}

/// The functions that a text defines.
fn functions(text: &str) -> BTreeSet<&str> {
    let heads = text.lines().filter(|line| !line.starts_with([' ', '#', '/', '}', '{']));
    heads.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next()).collect()
}

/// Short names for the variables of a function, in the order of their declarations: the letter of
/// each with a number in [`DIGITS`].
fn variables<'a>(function: &[Line<'a>]) -> HashMap<&'a str, String> {
    let mut order: Vec<&str> = Vec::new();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut others: BTreeSet<&str> = BTreeSet::new();
    for line in function {
        let tokens = tokens(line.text);
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| is_name(token)) {
            let before = |back: usize| at.checked_sub(back).map_or("", |place| tokens[place]);
            let is_member = [".", ">"].contains(&before(1));
            let is_declared = before(1) == " " && is_name(before(2)) && before(2) != "return";
            if !is_numbered(token) || !line.is_code || is_member {
                others.insert(token);
            } else if found.insert(token) && is_declared {
                order.push(token);
            }
        }
    }
    let is_known: BTreeSet<&str> = order.iter().copied().collect();
    others.extend(found.difference(&is_known));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut names = HashMap::new();
    for name in order.into_iter().filter(|name| !others.contains(name)) {
        let count = counts.entry(&name[..1]).or_default();
        let short = loop {
            let short = format!("{}{}", &name[..1], digits(*count));
            *count += 1;
            if !others.contains(&*short) {
                break short;
            }
        };
        names.insert(name, short);
    }
    names
}

/// Whether a name is a letter with a decimal number.
fn is_numbered(name: &str) -> bool {
    let digits = name.strip_prefix(|c: char| c.is_ascii_lowercase());
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The digits of numbers in names.
const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A number in [`DIGITS`].
fn digits(mut number: usize) -> String {
    let mut text = Vec::new();
    loop {
        text.push(DIGITS[number % DIGITS.len()] as char);
        number /= DIGITS.len();
        if number == 0 {
            return text.into_iter().rev().collect();
        }
    }
}

/// A short name for a phrase, of its own characters.
///
/// ```text
/// uint64_t   (uint32_t)   _mm256_add_epi64   veorq_u8   usuba_f_kernel_rotl32_7, of a kernel
/// U64        C32          ADD64              EOR8       ROTL32_7
/// ```
fn alias(phrase: &str, functions: &BTreeSet<&str>) -> String {
    let name = phrase.trim_start_matches("const ").trim_matches(['(', ')']);
    if is_type(name) {
        let short = name.trim_matches('_').trim_end_matches("_t").replace("int", "");
        return match phrase.strip_prefix('(') {
            Some(_) => format!("C{}", short.trim_start_matches('u').to_uppercase()),
            None => short.to_uppercase(),
        };
    }
    let helper = |function: &&str| {
        let rest = phrase.strip_prefix(*function)?.strip_prefix('_')?;
        Some((function.len(), rest)).filter(|(_, rest)| !rest.is_empty())
    };
    let helper = functions.iter().filter_map(helper).max();
    let own = || phrase.strip_prefix("usuba_").or_else(|| phrase.strip_prefix("USUBA_"));
    let instruction = || {
        let others = ["wasm_v128_", "wasm_", "vec_"];
        if let Some(rest) = others.iter().find_map(|start| phrase.strip_prefix(start)) {
            return Some(rest);
        }
        if phrase.contains("q_") {
            return phrase.strip_prefix('v');
        }
        let rest = phrase.strip_prefix("_mm")?.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix('_')
    };
    let name = helper.map(|(_, rest)| rest).or_else(instruction).or_else(own).unwrap_or(phrase);
    let mut short = String::new();
    for part in name.split('_') {
        let is_bits = |start: &str| {
            let rest = part.strip_prefix(start)?;
            rest.starts_with(|c: char| c.is_ascii_digit()).then_some(rest)
        };
        // An instruction is about the whole register unless its name has another width.
        if is_bits("si").is_some() {
            continue;
        }
        let part = match (is_bits("epi").or_else(|| is_bits("u")), is_bits("epu")) {
            (Some(bits), _) => bits.to_string(),
            (_, Some(bits)) => format!("U{bits}"),
            // NEON's name of a whole register.
            _ => part.strip_suffix('q').unwrap_or(part).to_string(),
        };
        let is_digit = |c: char| c.is_ascii_digit();
        if short.ends_with(is_digit) && part.starts_with(is_digit) {
            short.push('_');
        }
        short += &part;
    }
    match short.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => short.to_uppercase(),
        false => format!("F{}", short.to_uppercase()),
    }
}

/// Appends a line with its aliases and without needless spaces. A level of indentation is a space,
/// the first level none.
fn write(
    result: &mut String,
    line: &str,
    phrases: &BTreeMap<String, String>,
    names: &HashMap<&str, String>,
) {
    let plain = line.trim_start_matches(' ');
    let level = (line.len() - plain.len()) / 4;
    // A line `}` alone is the end of a function.
    let closes = usize::from(plain.starts_with('}'));
    result.extend(std::iter::repeat_n(' ', level.saturating_sub(1).max(closes)));
    let tokens = tokens(plain.trim_end());
    let mut at = 0;
    while at < tokens.len() {
        if let Some((length, phrase)) = phrase(&tokens, at)
            && let Some(alias) = phrases.get(&phrase)
        {
            *result += alias;
            at += length;
            // A conversion has an end of its own, its alias has none.
            if tokens.get(at).is_some_and(|next| is_glued(alias, next)) {
                result.push(' ');
            }
            continue;
        }
        let needless = tokens[at] == " " && at > 0 && {
            let alias = phrase(&tokens, at + 1).and_then(|(_, phrase)| phrases.get(&phrase));
            let next = alias.map_or(tokens.get(at + 1).copied().unwrap_or("\n"), String::as_str);
            !is_glued(tokens[at - 1], next)
        };
        if !needless {
            *result += names.get(tokens[at]).map_or_else(|| number(tokens[at]), String::as_str);
        }
        at += 1;
    }
    result.push('\n');
}

/// A number of one digit is decimal: `0x1U` is `1U`.
fn number(token: &str) -> &str {
    let Some(digits) = token.strip_prefix("0x") else { return token };
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_short = digits.len() == rest.len() + 1 && rest.chars().all(|c| "uUlL".contains(c));
    if is_short { digits } else { token }
}

/// Whether two tokens without a space between them might become one: two words, or two operators.
fn is_glued(one: &str, other: &str) -> bool {
    let is_word = |token: &str| token.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_operator = |token: &str| token.starts_with(|c: char| "+-*/%&|^<>=!~?:.".contains(c));
    is_word(one) && is_word(other) || is_operator(one) && is_operator(other)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;

    use usuba::isa;

    use super::*;
    use crate::Folder;

    /// The tokens of a text, with aliases replaced.
    fn expanded<'a>(text: &'a str, macros: &'a str) -> Vec<&'a str> {
        let define = |line: &'a str| line.strip_prefix("#define ")?.split_once(' ');
        let aliases: HashMap<&str, &str> = macros.lines().filter_map(define).collect();
        let replaced = |token: &'a str| match aliases.get(token) {
            Some(phrase) => tokens(phrase),
            None => vec![token],
        };
        let lines = text.split_inclusive('\n').flat_map(|line| tokens(line).into_iter());
        lines.flat_map(replaced).filter(|token| *token != " ").collect()
    }

    /// Checks that the tokens are the same up to variables of functions and the base of numbers.
    fn check(text: &str) -> Dense {
        let dense = dense(text);
        let ends: String =
            dense.macros.lines().map(|line| line.replace("#define", "#undef")).collect();
        let undefined: Vec<&str> = dense.end.lines().collect();
        assert!(undefined.iter().all(|line| ends.contains(line)));
        let (old, new) = (expanded(text, ""), expanded(&dense.text, &dense.macros));
        let newline = |token: &&str| *token != "\n";
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut back: HashMap<&str, &str> = HashMap::new();
        let (mut at, mut depth) = (0, 0);
        let new: Vec<&str> = new.into_iter().filter(newline).collect();
        for one in old.into_iter().filter(newline) {
            let other = new[at];
            at += 1;
            depth = if one == "{" { depth + 1 } else { depth - i32::from(one == "}") };
            if is_name(one) {
                assert_eq!(*names.entry(one).or_insert(other), other, "{one} behind {at}");
                assert_eq!(*back.entry(other).or_insert(one), one, "{other} behind {at}");
                assert!(one == other || is_numbered(one), "{one} is {other}");
            } else {
                assert_eq!(number(one), other);
            }
            if depth == 0 {
                names.clear();
                back.clear();
            }
        }
        assert_eq!(at, new.len());
        dense
    }

    #[test]
    fn kernels_keep_their_tokens_in_less_text() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        let targets = ["gp64", "avx2", "neon"].map(|name| isa::find(name).expect("it exists"));
        for name in ["drygascon", "keccak"] {
            let cipher = usuba_ciphers::read(&root.join(name)).expect("a cipher of the library");
            let folder = Folder::new(&cipher, &targets, "static ", false).expect("it compiles");
            for target in targets {
                let own = folder.cores.iter().filter(|core| core.target.name == target.name);
                let text: String = own.map(|core| core.text()).collect();
                let dense = check(&text);
                let length = dense.macros.len() + dense.text.len() + dense.end.len();
                assert!(10 * length < 8 * text.len(), "{name}, {}", target.name);
            }
        }
    }

    /// A long function with these lines.
    fn function(params: &str, lines: &str) -> String {
        let many: String =
            (0..80).map(|n| format!("    y[{n}] = usuba_long_name(x[{n}]);\n")).collect();
        format!("static void f({params})\n{{\n{lines}{many}}}\n")
    }

    #[test]
    fn lines_become_dense() {
        let lines = "    /* stays  as it is */\n    const uint64_t v100 = a - -b;\n    \
                     uint64_t s7 = (uint64_t)(v100 & &v100) + (uint64_t)a;\n#if A  ==  B\n    \
                     for (unsigned k0 = 0x0U; k0 < 0x10; k0++) {\n        s7 = p.v1 ^ v100;\n    }\n\
                     #endif\n    puts(\"v100  is\");\n";
        let dense = check(&function("const uint64_t *x", lines));
        assert_eq!(dense.macros, "#define LONGNAME usuba_long_name\n");
        assert_eq!(dense.end, "#undef LONGNAME\n");
        let body = "/* stays  as it is */\nconst uint64_t v100=a- -b;\nuint64_t s0=(uint64_t)(v100& \
                    &v100)+(uint64_t)a;\n#if A  ==  B\nfor(unsigned k0=0U;k0<0x10;k0++){\n \
                    s0=p.v1^v100;\n }\n#endif\n    puts(\"v100  is\");\ny[0]=LONGNAME(x[0]);\n";
        assert!(dense.text.contains(&body.replacen("/*", "    /*", 1)), "{}", dense.text);
    }

    #[test]
    fn an_alias_stays_apart_from_the_word_before_it() {
        let line = |n: usize| format!("    if (x[{n}]) return (uint64_t)(x[{n}] + 1);\n");
        let dense = check(&function("T *x", &(0..40).map(line).collect::<String>()));
        assert!(dense.macros.contains("#define C64 (uint64_t)\n"), "{}", dense.macros);
        assert!(dense.text.contains("if(x[0])return C64(x[0]+1);\n"), "{}", dense.text);
    }

    #[test]
    fn new_names_are_no_other_names() {
        let lines = "    T v100 = v0;\n    T v101 = v100;\n    T LONGNAME = v1;\n";
        let dense = check(&function("T v0, T v1", lines));
        assert!(dense.text.contains("T v2=v0;\nT v3=v2;\nT LONGNAME=v1;\n"), "{}", dense.text);
        assert!(dense.macros.contains("#define LONGNAME_2 usuba_long_name\n"), "{}", dense.macros);
    }

    #[test]
    fn short_functions_stay() {
        let text = "static int f(int v7)\n{\n    return v7 + 1;\n}\n";
        let Dense { macros, text: same, .. } = dense(text);
        assert_eq!((&*macros, &*same), ("", text));
    }
}
