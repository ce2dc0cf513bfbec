//! Resolution of types: evaluates sizes and dimensions, which are constants.

use crate::diag::{Code, Diagnostic};
use crate::syntax::ast;
use crate::typed::types::*;

/// Resolves a type of the syntax tree.
pub fn resolve_type(ty: &ast::Type) -> Result<VarType, Box<Diagnostic>> {
    let fail = |code, text: String, help: &str| {
        Err(Box::new(Diagnostic::error(code, ty.span, text).help(help)))
    };
    let mut dims = Vec::new();
    for dim in &ty.dims {
        dims.push((constant(dim)?, dim.span()));
    }
    let direction = |dir: &Option<ast::DirWord>| match dir {
        None => Ok(Dir::Var("D".into())),
        Some(ast::DirWord::H) => Ok(Dir::H),
        Some(ast::DirWord::V) => Ok(Dir::V),
        Some(ast::DirWord::B) => Ok(Dir::B),
        Some(ast::DirWord::W) => Ok(Dir::W),
        Some(ast::DirWord::Var(name)) => Ok(Dir::Var(name.as_str().into())),
        Some(ast::DirWord::Number(n)) => Err(*n),
    };
    let (dir, size, len) = match &ty.word {
        ast::TypeWord::Named(name) => {
            let text = format!("expected a type, found `{name}`");
            let help = "types are `u32`, `u32x4`, `b8`, `v4`, `u'm`, `u<H>16` or `nat`, or have \
                        a name that is declared above: `type limbs = u64x5`";
            return fail(Code::BadTypeWord, text, help);
        }
        ast::TypeWord::Nat => {
            if !dims.is_empty() {
                let text = "an array of nats".to_string();
                return fail(Code::UnsupportedType, text, "declare one nat for each value");
            }
            return Ok(VarType::Nat);
        }
        ast::TypeWord::U { dir, width, len } => {
            let size = match width {
                ast::Width::Bits(bits @ (1..=64 | 128)) => Size::Bits(*bits as u8),
                ast::Width::Bits(bits) => {
                    let text = format!("a word of {bits} bits");
                    let help =
                        "words have 1 to 64 bits, or 128; use a vector such as u32x4 for more";
                    return fail(Code::UnsupportedType, text, help);
                }
                ast::Width::Var(name) => Size::Var(name.as_str().into()),
            };
            (dir, size, *len)
        }
        ast::TypeWord::B { dir, len } => (dir, Size::Bits(1), Some(*len)),
        ast::TypeWord::V { dir, len } => (dir, Size::Var("m".into()), Some(*len)),
    };
    let dir = match direction(dir) {
        Ok(dir) => dir,
        Err(n) => {
            let text = format!("the direction <{n}>");
            let help = "numeric directions are not supported; use <H>, <V> or <B>";
            return fail(Code::UnsupportedType, text, help);
        }
    };
    let len = len.unwrap_or(1);
    if len != 1 {
        dims.push((len as i128, ty.span));
    }
    let mut atoms: i128 = 1;
    for &(dim, span) in &dims {
        if dim < 1 {
            let text = format!("a dimension of {dim}");
            let d = Diagnostic::error(Code::UnsupportedType, span, text);
            return Err(Box::new(d.help("every dimension is at least 1")));
        }
        atoms = atoms.saturating_mul(dim);
    }
    if atoms > MAX_ATOMS as i128 {
        let text = format!("a variable of more than {MAX_ATOMS} atoms; this is the limit");
        return fail(Code::TooLarge, text, "split the variable, or shrink its dimensions");
    }
    let dims = dims.into_iter().map(|(dim, _)| dim as u32).collect();
    Ok(VarType::Words { atom: Atom { dir, size }, dims })
}

/// Evaluates an index expression without names.
fn constant(e: &ast::AExpr) -> Result<i128, Box<Diagnostic>> {
    let bad = |span, text: String, code| Err(Box::new(Diagnostic::error(code, span, text)));
    match e {
        ast::AExpr::Int(value, _) => Ok(*value as i128),
        ast::AExpr::Name(id) => {
            let text = format!("`{}` in a type; dimensions are constant expressions", id.name);
            bad(id.span, text, Code::NotConstant)
        }
        ast::AExpr::Bin(op, l, r) => {
            let (a, b) = (constant(l)?, constant(r)?);
            let value = match op {
                ast::ABinOp::Add => a.checked_add(b),
                ast::ABinOp::Sub => a.checked_sub(b),
                ast::ABinOp::Mul => a.checked_mul(b),
                ast::ABinOp::Div if b == 0 => {
                    return bad(r.span(), "a division by zero".into(), Code::DivisionByZero);
                }
                ast::ABinOp::Mod if b == 0 => {
                    return bad(r.span(), "a remainder by zero".into(), Code::DivisionByZero);
                }
                ast::ABinOp::Div => Some(a / b),
                ast::ABinOp::Mod => Some(a.rem_euclid(b)),
            };
            match value {
                Some(value) => Ok(value),
                None => bad(e.span(), "an integer that is too large".into(), Code::TooLarge),
            }
        }
    }
}
