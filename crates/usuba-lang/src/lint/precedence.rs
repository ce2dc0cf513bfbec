//! U1101: operators that C would apply in another order.
//!
//! ```text
//! key ^ x <<< 3     Usuba: (key ^ x) <<< 3     C: key ^ (x <<< 3)
//! a - b ^ c         Usuba: a - (b ^ c)         C: (a - b) ^ c
//! ```
//!
//! Only neighbouring operators without parentheses between them count. Rotations stand where C has
//! its shifts.

use super::edit::{is_balanced, length};
use super::visit;
use crate::diag::{Code, Diagnostic, Edit, Sources, Span};
use crate::syntax::ast::{BinOp, ExprKind, Link, LinkKind};
use crate::typed::Body;

/// Longer repairs are described and not written out.
const LONGEST: usize = 60;

pub(super) fn lint(sources: &Sources, body: &Body) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for equation in visit::equations(&body.stmts) {
        for part in visit::parts(&equation.value) {
            if let ExprKind::Chain(_, links) = &part.kind {
                let left = links.windows(2).filter_map(|two| on_the_left(sources, two));
                found.extend(left);
                found.extend(links.iter().filter_map(|link| on_the_right(sources, link)));
            }
        }
    }
    found
}

/// How tightly an operator binds in C, and its spelling.
fn in_c(link: &LinkKind) -> (u8, &'static str) {
    match link {
        LinkKind::Shift(op, _) => (4, op.symbol()),
        LinkKind::Bin(op, _) => (level(*op), op.symbol()),
    }
}

fn level(op: BinOp) -> u8 {
    match op {
        BinOp::Or => 1,
        BinOp::Xor => 2,
        BinOp::And => 3,
        BinOp::Add | BinOp::Sub => 5,
        BinOp::Mul | BinOp::Div | BinOp::Mod => 6,
    }
}

/// `a ^ b <<< 3`: the first operation is the left operand of the second one.
fn on_the_left(sources: &Sources, two: &[Link]) -> Option<Diagnostic> {
    let [first, second] = two else { return None };
    let LinkKind::Bin(_, operand) = &first.kind else { return None };
    let ((inner, tight), (outer, loose)) = (in_c(&first.kind), in_c(&second.kind));
    // With parentheses around the first operation the second one begins before it.
    if inner >= outer || first.span.start != second.span.start {
        return None;
    }
    let repairs = || {
        let rest = Span { start: first.span.end, ..second.span };
        let (done, rest) = (sources.text(first.span), sources.text(rest).trim());
        let before = sources.text(Span { end: operand.span.start, ..first.span });
        let before = before.trim_end_matches(['(', ' ', '\t', '\r', '\n']);
        let last = done[before.len()..].trim();
        [format!("({done}) {rest}"), format!("{before} ({last} {rest})")]
    };
    Some(finding(sources, second.span, first.span, [tight, loose], repairs))
}

/// `a - b ^ c`: the second operation is the right operand of the first one.
fn on_the_right(sources: &Sources, link: &Link) -> Option<Diagnostic> {
    let LinkKind::Bin(op, right) = &link.kind else { return None };
    let ExprKind::Chain(_, links) = &right.kind else { return None };
    // Operations in parentheses begin later, and with parentheses around all the link ends later.
    let open = links.iter().filter(|inner| inner.span.start == right.span.start);
    let inner = open.map(|link| in_c(&link.kind)).find(|(inner, _)| *inner <= level(*op));
    let (_, tight) = inner.filter(|_| link.span.end == right.span.end)?;
    let repairs = || {
        let before = sources.text(Span { end: right.span.start, ..link.span }).trim_end();
        let left = before.strip_suffix(op.symbol()).unwrap_or(before).trim_end();
        let first = links.first().map_or(right.span, |link| link.span);
        let other = match links.len() {
            1 => {
                let operand = Span { end: operand_end(sources, first, tight), ..first };
                let rest = sources.text(Span { start: operand.end, ..right.span }).trim();
                format!("({left} {} {}) {rest}", op.symbol(), sources.text(operand).trim())
            }
            _ => String::new(),
        };
        [format!("{before} ({})", sources.text(right.span)), other]
    };
    Some(finding(sources, link.span, right.span, [tight, op.symbol()], repairs))
}

/// Where the left operand of the only operator in a place ends.
fn operand_end(sources: &Sources, span: Span, symbol: &str) -> u32 {
    let text = sources.text(span);
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 && text[at..].starts_with(symbol) => return span.start + at as u32,
            _ => {}
        }
    }
    span.end
}

fn finding(
    sources: &Sources,
    span: Span,
    inner: Span,
    [tight, loose]: [&str; 2],
    repairs: impl Fn() -> [String; 2],
) -> Diagnostic {
    let text = format!("`{tight}` binds tighter than `{loose}` in Usuba, unlike in C");
    let is_shown = |text: &String| !text.is_empty() && !text.contains('\n');
    let shown = (length(span) <= LONGEST).then(&repairs).filter(|two| two.iter().all(is_shown));
    let help = match shown {
        Some([here, other]) => format!("write `{here}` for the current meaning, or `{other}`"),
        None => format!("write parentheses around the operation `{tight}` for the current meaning"),
    };
    let finding = Diagnostic::warning(Code::UnusualPrecedence, span, text).help(help);
    if !is_balanced(sources, inner) {
        return finding;
    }
    let at = |offset| Span { start: offset, end: offset, ..inner };
    finding.fix(vec![Edit::new(at(inner.start), "("), Edit::new(at(inner.end), ")")], true)
}
