//! U1109: operators with twice the same operand.
//!
//! ```text
//! x[0] ^ x[0]     always 0
//! x & x           always x
//! ```

use super::visit;
use crate::diag::{Code, Diagnostic, Edit, FileId, Sources, Span};
use crate::syntax::ast::{BinOp, Expr, ExprKind, LinkKind, Selector, Var};
use crate::syntax::lexer::Lexer;
use crate::typed::{Body, Decl, Size, VarType};

pub(super) fn lint(sources: &Sources, decl: &Decl, body: &Body) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for equation in visit::equations(&body.stmts) {
        for part in visit::parts(&equation.value) {
            found.extend(operands(sources, decl, body, part));
        }
        let [target] = equation.targets.as_slice() else { continue };
        let value = &equation.value;
        if let (Some(op), ExprKind::Var(_)) = (equation.op, &value.kind)
            && same(sources, target.span, value.span)
        {
            let name = sources.text(target.span);
            found.extend(finding(equation.span, op, name).map(|(finding, _)| finding));
        }
    }
    found
}

/// The first operator of a chain.
fn operands(sources: &Sources, decl: &Decl, body: &Body, e: &Expr) -> Option<Diagnostic> {
    let ExprKind::Chain(first, links) = &e.kind else { return None };
    let link = links.first()?;
    let LinkKind::Bin(op, right) = &link.kind else { return None };
    // Calls with equal arguments may be meant: `one() - one()`.
    let is_var = |e: &Expr| matches!(e.kind, ExprKind::Var(_));
    if !is_var(first) || !is_var(right) || !same(sources, first.span, right.span) {
        return None;
    }
    let operand = sources.text(first.span);
    let (finding, is_zero) = finding(link.span, *op, operand)?;
    let text = match (&first.kind, is_zero) {
        (ExprKind::Var(var), true) => word(decl, body, var).map(|ty| format!("0:{ty}")),
        (ExprKind::Var(_), false) => Some(operand.to_string()),
        _ => None,
    };
    Some(match text {
        Some(text) => finding.fix(vec![Edit::new(link.span, text)], false),
        None => finding,
    })
}

/// The finding, and whether the value is 0.
fn finding(span: Span, op: BinOp, operand: &str) -> Option<(Diagnostic, bool)> {
    let is_zero = match op {
        BinOp::Xor | BinOp::Sub => true,
        BinOp::And | BinOp::Or => false,
        BinOp::Add | BinOp::Mul | BinOp::Div | BinOp::Mod => return None,
    };
    let symbol = op.symbol();
    let value = if is_zero { "0" } else { operand };
    let text = format!(
        "`{operand} {symbol} {operand}` is always {}",
        match is_zero {
            true => "0".to_string(),
            false => format!("`{operand}`"),
        }
    );
    let help = format!("write `{value}`, or correct an operand");
    Some((Diagnostic::warning(Code::SameOperands, span, text).help(help), is_zero))
}

/// Whether two places have the same tokens.
fn same(sources: &Sources, a: Span, b: Span) -> bool {
    let tokens = |span: Span| -> Vec<&str> {
        let text = sources.text(span);
        let (tokens, ..) = Lexer::everything(text, FileId::default());
        tokens.iter().map(|t| &text[t.span.start as usize..t.span.end as usize]).collect()
    };
    tokens(a) == tokens(b)
}

/// The type of a variable or element that is one word of a known size.
fn word(decl: &Decl, body: &Body, var: &Var) -> Option<String> {
    let mut known = decl.params.iter().chain(&decl.results).chain(&body.vars);
    let declared = known.find(|known| *known.name == *var.name.name)?;
    let VarType::Words { atom, dims } = &declared.ty else { return None };
    let is_one = dims.len() == var.selectors.len()
        && var.selectors.iter().all(|selector| matches!(selector, Selector::Index(_)));
    (is_one && matches!(atom.size, Size::Bits(_))).then(|| atom.to_string())
}
