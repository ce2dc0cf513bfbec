//! A circuit as a node of the language.
//!
//! ```text
//! 3 bits: 0&2 ~1&3 -> 4 3      →     node f (x:v3) returns (y:v2)
//!                                    vars g:v1[2]
//!                                    let
//!                                      g[0] = x[0] & x[2];
//!                                      g[1] = ~x[1] & g[0];
//!                                      y = (g[1], g[0])
//!                                    tel
//! ```
//!
//! The language has no gates of three inputs: they are written with two, which the compiler puts
//! together again where the target has them.

use usuba_circuit::{Circuit, Gate, Wire};
use usuba_lang::syntax::ast::{
    self, AExpr, BinOp, Body, Decl, DeclKind, Expr, ExprKind, ParamGroup, Selector, Stmt, Type,
    TypeWord, Var,
};
use usuba_lang::syntax::davio::lut3;
use usuba_lang::syntax::print;

/// A word without bits, or with all of them, of the first input.
fn constant(set: bool) -> Expr {
    let input = || Expr::from(element("x", 0));
    let zero = Expr::bin(BinOp::Xor, input(), input());
    if set { Expr::complement(zero) } else { zero }
}

fn element(array: &str, index: usize) -> Var {
    Var::new(array, vec![Selector::Index(AExpr::from(index as u64))])
}

/// The text of a node called `name` that computes `circuit` on `v` words, `x[0]` being `i_0`.
pub fn node(name: &str, circuit: &Circuit) -> String {
    let inputs = circuit.inputs as usize;
    let wire = |w: Wire| match w as usize {
        w if w < inputs => element("x", w),
        w => element("g", w - inputs),
    };
    let arg = |w: Wire| Expr::from(wire(w));
    let gate = |gate: &Gate| match *gate {
        Gate::Zero => constant(false),
        Gate::One => constant(true),
        Gate::Not(a) => Expr::complement(arg(a)),
        Gate::And(a, b) => Expr::bin(BinOp::And, arg(a), arg(b)),
        Gate::Or(a, b) => Expr::bin(BinOp::Or, arg(a), arg(b)),
        Gate::Xor(a, b) => Expr::bin(BinOp::Xor, arg(a), arg(b)),
        Gate::Andn(a, b) => Expr::bin(BinOp::And, Expr::complement(arg(a)), arg(b)),
        Gate::Lut3(table, a, b, c) => lut3(table, [&arg(a), &arg(b), &arg(c)], &constant),
    };
    let mut stmts: Vec<Stmt> = circuit
        .gates
        .iter()
        .enumerate()
        .map(|(i, made)| Stmt::define(vec![element("g", i)], false, gate(made)))
        .collect();
    stmts.push(match &circuit.outputs[..] {
        [one] => Stmt::define(vec![element("y", 0)], false, arg(*one)),
        many => {
            let outputs = ExprKind::Tuple(many.iter().map(|&w| arg(w)).collect());
            Stmt::define(vec![Var::new("y", vec![])], false, outputs.into())
        }
    });
    let port = |name: &str, word| vec![ParamGroup::new(vec![name.into()], Type::new(word, []))];
    let words = |len: usize| TypeWord::V { dir: None, len: len as u64 };
    let bit = Type::new(TypeWord::V { dir: None, len: 1 }, [circuit.gates.len() as u64]);
    let gates = match circuit.gates.is_empty() {
        true => Vec::new(),
        false => vec![ParamGroup::new(vec!["g".into()], bit)],
    };
    let (params, results) = (port("x", words(inputs)), port("y", words(circuit.outputs.len())));
    let decl = Decl::new(name, params, results, DeclKind::Node(Body::new(gates, stmts)));
    print::print(&ast::File { items: vec![ast::Item::Decl(decl)] })
}
