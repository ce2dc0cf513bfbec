//! The answer to a pointer at a place: type, shape, words and bits, order of bits, circuit, meaning.

use usuba::circuit::{Goal, Profile};
use usuba::diag::{FileId, Span};
use usuba::syntax::ast::DeclOpt;
use usuba::syntax::{Lexer, Tok};
use usuba::typed::{self, ByteOrder, Size, Var, VarType};

use crate::Analysis;
use crate::names::{Definition, Kind};
use crate::{tables, words};

/// The answer to a pointer at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The text that it is about.
    pub span: Span,
    /// A line of Usuba; may be empty.
    pub code: String,
    /// Sentences; backquotes enclose Usuba.
    pub lines: Vec<String>,
}

/// Facts about the name, operator or word at a place.
pub fn hover(analysis: &Analysis, file: FileId, offset: u32) -> Option<Hover> {
    if let Some((span, id)) = analysis.meant(file, offset) {
        let definition = &analysis.names.definitions[id];
        let (code, lines) = match definition.kind.is_global() {
            true => declaration(analysis, definition),
            false => variable(analysis, definition),
        };
        return Some(Hover { span, code, lines });
    }
    let (tokens, ..) = Lexer::everything(analysis.text(file), file);
    let at = tokens.iter().position(|t| t.span.start <= offset && offset < t.span.end)?;
    let span = tokens[at].span;
    let text = analysis.sources.text(span);
    let lines = match tokens[at].tok {
        Tok::Word(_) if in_contract(analysis, span) => vec![words::word(text)?.to_string()],
        Tok::Word(word) => match (words::operator(word), words::word(word)) {
            (Some(lines), _) => lines.map(str::to_string).to_vec(),
            (None, Some(line)) => vec![line.to_string()],
            (None, None) => return None,
        },
        Tok::Ident => {
            let call = analysis.text(file)[span.end as usize..].trim_start().starts_with('(');
            let builtin = words::builtin(text).filter(|_| call);
            vec![builtin.or_else(|| words::word(text))?.to_string()]
        }
        Tok::Int(value) => vec![format!("{value} = {value:#x} = {value:#b}")],
        _ => return None,
    };
    Some(Hover { span, code: String::new(), lines })
}

/// Whether a place is in a contract, where operators have their meaning on integers.
fn in_contract(analysis: &Analysis, span: Span) -> bool {
    let inside = |clause: Span| clause.start <= span.start && span.end <= clause.end;
    let decl = analysis.decl_at(span.file, span.start);
    decl.is_some_and(|decl| decl.contract.iter().any(|clause| inside(clause.span)))
}

fn declaration(analysis: &Analysis, definition: &Definition) -> (String, Vec<String>) {
    let Some(decl) = analysis.typed(definition.span) else {
        return (format!("{} {}", definition.kind.noun(), definition.name), Vec::new());
    };
    let mut lines = Vec::new();
    let count = |vars: &[Var]| {
        let words: Vec<&Var> = vars.iter().filter(|var| var.ty != VarType::Nat).collect();
        let bits = words.iter().map(|var| bits(&var.ty)).sum::<Option<usize>>();
        let words: usize = words.iter().map(|var| var.ty.atoms()).sum();
        let words = plural(words, "word");
        bits.map_or(words.clone(), |bits| format!("{words} ({})", plural(bits, "bit")))
    };
    lines.push(format!("{} to {}", count(&decl.params), count(&decl.results)));
    if decl.alternatives() > 1 || decl.array {
        lines.push(plural(decl.alternatives(), "alternative"));
    }
    if definition.kind == Kind::Table {
        lines.extend(table(decl));
    }
    if !decl.contract.is_empty() {
        lines.push(format!("contract of {}", plural(decl.contract.len(), "clause")));
    }
    (decl.signature(), lines)
}

fn table(decl: &typed::Decl) -> Vec<String> {
    let functions = tables::functions(decl);
    let mut lines = Vec::new();
    let Some(first) = functions.first() else { return lines };
    let (inputs, name) = (first.table.inputs, decl.params.first().map_or("x", |var| &*var.name));
    if !first.by_word && decl.params.len() == 1 && inputs > 1 {
        lines.push(match decl.opts.contains(&DeclOpt::LsbFirst) {
            true => format!("entry i: `{name}[0]` is bit 0 of i, the least significant one"),
            false => {
                let top = inputs - 1;
                format!("entry i: `{name}[0]` is bit {top} of i, the most significant one")
            }
        });
    }
    let all = if functions.len() > 1 { "each is " } else { "" };
    lines.push(match tables::are_permutations(&functions) {
        true => format!("{all}a permutation: every value occurs once"),
        false => "not a permutation".to_string(),
    });
    for (profile, gates) in [
        (Profile::Basic, "`& | ^ ~`"),
        (Profile::Andn, "`& | ^ ~` and `~a & b`"),
        (Profile::Lut3, "functions of three bits"),
    ] {
        if let Some(size) = tables::size(&functions, profile, Goal::Size) {
            lines.push(format!("{}, depth {}, of {gates}", size.gates(), size.depth));
        }
    }
    lines
}

fn variable(analysis: &Analysis, definition: &Definition) -> (String, Vec<String>) {
    let written = definition.ty.map(|ty| analysis.sources.text(ty));
    let code = match written {
        Some(ty) => format!("{} : {ty}", definition.name),
        None => definition.name.clone(),
    };
    let program = analysis.program.as_ref();
    let find = |decl: &typed::Decl| {
        decl.all_vars()
            .find(|var| var.span == definition.span)
            .map(|var| (decl.noun(), var.clone()))
    };
    let found = program.and_then(|program| program.decls.iter().find_map(find));
    let mut lines = Vec::new();
    let owner = analysis.decl_at(definition.span.file, definition.span.start);
    let owner = owner.map(|decl| format!(" of `{}`", decl.name.name)).unwrap_or_default();
    lines.push(format!("{}{owner}", definition.kind.noun()));
    if definition.kind == Kind::Index {
        lines.push("an integer that is known when the program is compiled".to_string());
    }
    if let Some((noun, var)) = found {
        lines.extend(shape(&var, noun == "node"));
    }
    (code, lines)
}

/// Words, bits, order of bits and registers of a variable.
fn shape(var: &Var, of_node: bool) -> Vec<String> {
    let VarType::Words { atom, dims } = &var.ty else {
        return vec!["an integer that is known when the program is compiled".to_string()];
    };
    let words = var.ty.atoms();
    let mut lines = Vec::new();
    let product: Vec<String> = dims.iter().map(u32::to_string).collect();
    let shape = if dims.len() > 1 { format!(" ({})", product.join(" × ")) } else { String::new() };
    let words_text = plural(words, "word");
    match &atom.size {
        Size::Bits(1) => lines.push(format!("{}{shape}", plural(words, "bit"))),
        Size::Bits(m) => {
            let total = plural(words * *m as usize, "bit");
            lines.push(match words {
                1 => format!("a word of {m} bits"),
                _ => format!("{words_text}{shape} of {m} bits, {total}"),
            });
        }
        Size::Var(size) => {
            lines.push(format!("{words_text}{shape}, whose size '{size} each call decides"));
        }
    }
    let first = vec!["[0]"; dims.len()].concat();
    let name = &var.name;
    match &atom.size {
        Size::Bits(1) if words > 1 => {
            lines.push(format!("`{name}{first}` is the most significant bit"));
        }
        Size::Bits(m) if *m > 1 => lines.push(format!(
            "bit {} of a word is its most significant one, and in slicing B the first of its {m} \
             registers",
            m - 1
        )),
        _ => {}
    }
    if let (Size::Bits(m), true) = (&atom.size, of_node) {
        let sliced = words * *m as usize;
        let registers = |count| plural(count, "register");
        lines.push(match *m {
            1 => format!("{} in slicings V, H and B", registers(words)),
            _ => format!("{} in slicings V and H, {sliced} in B", registers(words)),
        });
    }
    if var.constant {
        lines.push("equal in all instances".to_string());
    }
    match var.bytes {
        Some(ByteOrder::Little) => {
            lines.push("bytes in memory, the least significant first".into())
        }
        Some(ByteOrder::Big) => lines.push("bytes in memory, the most significant first".into()),
        None => {}
    }
    lines
}

fn bits(ty: &VarType) -> Option<usize> {
    match ty {
        VarType::Nat => Some(0),
        VarType::Words { atom, .. } => Some(atom.bits()? as usize * ty.atoms()),
    }
}

/// `1 word`, `2 words`.
fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
