//! Constant folding and algebraic simplification of single equations.
//!
//! ```text
//! t1 = x ^ x;               t1 = 0;
//! t2 = ~t1 & y;      →      t2 = y;
//! t3 = y <<< 3 <<< 5;       t3 = y;          (8-bit words)
//! ```
//!
//! Sound because every rule below is an identity of the operators on words of one width, and
//! constant operands are computed by `Op::eval` itself; the tests check each rule on words.
//! Requires nothing; finds more after `cse`, which makes equal operands the same value.
//! Turns equations into constants, copies or cheaper operators in place: `copy-prop` and `dce`
//! clean up. Limits: does not look through loops and does not reassociate.

use super::Pass;
use crate::ir::op::{Lanes, mask};
use crate::ir::{Args, Eqn, Node, Op, OpEqn, Val};

pub const PASS: Pass = Pass {
    name: "const-fold",
    about: "compute what is known at compile time",
    run: |program, _| program.nodes.iter_mut().for_each(node),
};

fn node(node: &mut Node) {
    let mut folder = Folder { bits: &node.bits, known: vec![Known::Nothing; node.bits.len()] };
    folder.block(&mut node.body);
}

/// The form of a value, known from its definition.
#[derive(Clone)]
enum Known {
    Nothing,
    Const(u64),
    /// It equals this value.
    Copy(Val),
    /// A unary operator that some rule looks through.
    Unary(Op, Val),
}

struct Folder<'a> {
    bits: &'a [u8],
    known: Vec<Known>,
}

impl Folder<'_> {
    fn block(&mut self, eqns: &mut [Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.equation(e),
                Eqn::Call(call) => call.args.iter_mut().for_each(|v| *v = self.source(*v)),
                Eqn::Loop(lp) => self.block(&mut lp.body),
            }
        }
    }

    fn equation(&mut self, e: &mut OpEqn) {
        e.args.iter_mut().for_each(|v| *v = self.source(*v));
        // Each rule leaves fewer operands, a smaller operator or an older operand, so this ends.
        while let Some((op, args)) = self.simpler(e) {
            (e.op, e.args) = (op, args);
        }
        self.known[e.dst.0 as usize] = match e.op {
            Op::Const(value) => Known::Const(value),
            Op::Copy => Known::Copy(e.args[0]),
            Op::Not | Op::Shl(_) | Op::Shr(_) | Op::Sar(_) | Op::Rotl(_) | Op::Shuffle(_) => {
                Known::Unary(e.op.clone(), e.args[0])
            }
            _ => Known::Nothing,
        };
    }

    fn source(&self, v: Val) -> Val {
        match self.known[v.0 as usize] {
            Known::Copy(source) => source,
            _ => v,
        }
    }

    fn constant(&self, v: Val) -> Option<u64> {
        match self.known[v.0 as usize] {
            Known::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The value of which `v` is the complement.
    fn negated(&self, v: Val) -> Option<Val> {
        match self.known[v.0 as usize] {
            Known::Unary(Op::Not, source) => Some(source),
            _ => None,
        }
    }

    fn complements(&self, a: Val, b: Val) -> bool {
        self.negated(a) == Some(b) || self.negated(b) == Some(a)
    }

    /// A cheaper way to write the right-hand side, if a rule knows one.
    fn simpler(&self, e: &OpEqn) -> Option<(Op, Args)> {
        if matches!(e.op, Op::Const(_) | Op::Copy) {
            return self.known_copy(e);
        }
        let m = self.bits[e.dst.0 as usize];
        if let Op::Lanes(lanes) = &e.op {
            return self.lanes(lanes, &e.args);
        }
        let constants: Option<Vec<u64>> = e.args.iter().map(|&v| self.constant(v)).collect();
        if let Some(words) = constants {
            return to_const(e.op.eval(m, &words));
        }
        match e.args[..] {
            [a] => self.unary(&e.op, a, m),
            [a, b] => self.binary(&e.op, a, b, mask(m)),
            [a, b, c] => match e.op {
                Op::Lut3(table) => self.lut3(table, [a, b, c], mask(m)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A copy of a constant is a constant.
    fn known_copy(&self, e: &OpEqn) -> Option<(Op, Args)> {
        match e.op {
            Op::Copy => self.constant(e.args[0]).and_then(to_const),
            _ => None,
        }
    }

    /// Equal literals are one literal, and an operator that leaves every lane as it is is a copy.
    /// Nothing else moves lanes: the source places them.
    fn lanes(&self, lanes: &Lanes, args: &[Val]) -> Option<(Op, Args)> {
        let constant = |v: &Val| self.constant(*v);
        match lanes {
            Lanes::Const(words) if words.iter().all(|word| *word == words[0]) => to_const(words[0]),
            Lanes::Each(ops) if ops.iter().all(|op| *op == Op::Copy) => to_copy(args[0]),
            Lanes::Each(ops) if ops.iter().all(|op| *op == ops[0]) => {
                let args = if matches!(ops[0], Op::Const(_)) { &[] } else { args };
                Some((ops[0].clone(), args.into()))
            }
            Lanes::Move(pattern) if is_identity(pattern) => to_copy(args[0]),
            Lanes::Move(_) => constant(&args[0]).and_then(to_const),
            Lanes::Join(pattern) => {
                let second = |&p: &u8| p as usize >= pattern.len();
                if args[0] == args[1] {
                    let lanes = pattern.len() as u8;
                    let pattern = pattern.iter().map(|p| p % lanes).collect();
                    return Some((Op::Lanes(Lanes::Move(pattern)), Args::from_slice(&args[..1])));
                }
                let none = pattern.iter().all(|p| !second(p));
                let all = pattern.iter().all(second);
                if !none && !all {
                    return None;
                }
                let lanes = pattern.len() as u8;
                let pattern = pattern.iter().map(|p| p % lanes).collect();
                let source = args[usize::from(all)];
                Some((Op::Lanes(Lanes::Move(pattern)), Args::from_slice(&[source])))
            }
            Lanes::Const(_) | Lanes::Each(_) => None,
        }
    }

    fn unary(&self, op: &Op, a: Val, m: u8) -> Option<(Op, Args)> {
        if *op == Op::Bitmask(0) && m == 1 {
            return to_copy(a);
        }
        let Known::Unary(inner, source) = &self.known[a.0 as usize] else {
            return None;
        };
        let combined = match (op, inner) {
            (Op::Not, Op::Not) => return to_copy(*source),
            (Op::Rotl(j), Op::Rotl(k)) if (j + k) % m == 0 => return to_copy(*source),
            (Op::Rotl(j), Op::Rotl(k)) => Op::Rotl((j + k) % m),
            (Op::Shl(j), Op::Shl(k)) | (Op::Shr(j), Op::Shr(k)) if j + k >= m => {
                return to_const(0);
            }
            (Op::Shl(j), Op::Shl(k)) => Op::Shl(j + k),
            (Op::Shr(j), Op::Shr(k)) => Op::Shr(j + k),
            (Op::Sar(j), Op::Sar(k)) => Op::Sar((j + k).min(m - 1)),
            (Op::Shuffle(outer), Op::Shuffle(inner)) => {
                let pattern = compose(outer, inner);
                if is_identity(&pattern) {
                    return to_copy(*source);
                }
                Op::Shuffle(pattern.into())
            }
            _ => return None,
        };
        Some((combined, Args::from_slice(&[*source])))
    }

    fn binary(&self, op: &Op, a: Val, b: Val, ones: u64) -> Option<(Op, Args)> {
        let (known_a, known_b) = (self.constant(a), self.constant(b));
        if op.is_commutative() && known_a.is_some() {
            // At most one operand is constant here; look at it as the second one.
            return self.with_constant(op, b, known_a?, ones);
        }
        if let Some(word) = known_b {
            return self.with_constant(op, a, word, ones);
        }
        let opposite = self.complements(a, b);
        match op {
            Op::And | Op::Or if a == b => to_copy(a),
            Op::Xor | Op::Sub | Op::Andn | Op::Less if a == b => to_const(0),
            Op::And if opposite => to_const(0),
            Op::Or | Op::Xor if opposite => to_const(ones),
            // Now `~a` is `b`.
            Op::Andn if opposite => to_copy(b),
            Op::Andn => match (known_a, self.negated(a)) {
                (Some(0), _) => to_copy(b),
                (Some(word), _) if word == ones => to_const(0),
                (_, Some(source)) => Some((Op::And, Args::from_slice(&[source, b]))),
                _ => None,
            },
            _ => None,
        }
    }

    /// `op(a, word)`
    fn with_constant(&self, op: &Op, a: Val, word: u64, ones: u64) -> Option<(Op, Args)> {
        match (op, word) {
            (Op::And | Op::Andn | Op::Mul | Op::MulHigh | Op::Less, 0) => to_const(0),
            (Op::Clmul | Op::ClmulHigh, 0) => to_const(0),
            (Op::Or | Op::Xor | Op::Add | Op::Sub, 0) | (Op::Mul, 1) => to_copy(a),
            (Op::And, w) if w == ones => to_copy(a),
            (Op::Or, w) if w == ones => to_const(ones),
            (Op::Xor | Op::Andn, w) if w == ones => Some((Op::Not, Args::from_slice(&[a]))),
            _ => None,
        }
    }

    /// Operands that are constant or each other restrict the table; the remaining function may be
    /// one of the operands, its complement, or constant.
    fn lut3(&self, table: u8, args: [Val; 3], ones: u64) -> Option<(Op, Args)> {
        // Which of the eight rows can occur: row 4a + 2b + c.
        let mut possible = 0xffu8;
        for i in 0..3 {
            match self.constant(args[i]) {
                Some(0) => possible &= !OPERANDS[i],
                Some(word) if word == ones => possible &= OPERANDS[i],
                _ => {}
            }
            for j in 0..i {
                if args[i] == args[j] {
                    possible &= !(OPERANDS[i] ^ OPERANDS[j]);
                } else if self.complements(args[i], args[j]) {
                    possible &= OPERANDS[i] ^ OPERANDS[j];
                }
            }
        }
        let rows = table & possible;
        if rows == 0 {
            return to_const(0);
        }
        if rows == possible {
            return to_const(ones);
        }
        for i in 0..3 {
            if rows == OPERANDS[i] & possible {
                return to_copy(args[i]);
            }
            if rows == !OPERANDS[i] & possible {
                return Some((Op::Not, Args::from_slice(&[args[i]])));
            }
        }
        None
    }
}

/// The tables of the three operands of `Lut3`.
const OPERANDS: [u8; 3] = [0xf0, 0xcc, 0xaa];

fn to_const(word: u64) -> Option<(Op, Args)> {
    Some((Op::Const(word), Args::new()))
}

fn to_copy(v: Val) -> Option<(Op, Args)> {
    Some((Op::Copy, Args::from_slice(&[v])))
}

/// The pattern of `outer` after `inner`, in as many groups as both need.
fn compose(outer: &[u8], inner: &[u8]) -> Vec<u8> {
    // Both lengths divide the width, so their least common multiple does and is at most 64.
    let common = (outer.len()..).step_by(outer.len()).find(|n| n % inner.len() == 0);
    let groups = common.expect("the product is a common multiple");
    let refine = |pattern: &[u8], i: usize| {
        let part = groups / pattern.len();
        pattern[i / part] as usize * part + i % part
    };
    (0..groups).map(|i| refine(inner, refine(outer, i)) as u8).collect()
}

fn is_identity(pattern: &[u8]) -> bool {
    pattern.iter().enumerate().all(|(i, &p)| i == p as usize)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ops_after, word};
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::op::mask;

    /// The result of `const-fold`, `copy-prop` and `dce` on a node with the 8-bit parameters x, y
    /// and the result that `make` returns.
    fn fold(make: impl Fn(&mut Builder, Val, Val) -> Val) -> Vec<Op> {
        ops_after(&["const-fold", "copy-prop", "dce"], |b| {
            let (x, y) = (b.param(word("x"))[0], b.param(word("y"))[0]);
            vec![make(b, x, y)]
        })
    }

    #[test]
    fn identities_with_constants() {
        use Op::*;
        let with = |op: Op, value: u64, first: bool| {
            fold(|b, x, _| {
                let c = b.constant(8, value);
                if first { b.op(op.clone(), &[c, x]) } else { b.op(op.clone(), &[x, c]) }
            })
        };
        for first in [false, true] {
            assert_eq!(with(And, 0, first), [Const(0)]);
            assert_eq!(with(And, 255, first), []);
            assert_eq!(with(Or, 0, first), []);
            assert_eq!(with(Or, 255, first), [Const(255)]);
            assert_eq!(with(Xor, 0, first), []);
            assert_eq!(with(Xor, 255, first), [Not]);
            assert_eq!(with(Add, 0, first), []);
            assert_eq!(with(Mul, 0, first), [Const(0)]);
            assert_eq!(with(Mul, 1, first), []);
            assert_eq!(with(And, 254, first).len(), 2);
        }
        assert_eq!(with(Sub, 0, false), []);
        assert_eq!(with(Sub, 0, true).len(), 2);
        assert_eq!(with(Andn, 0, false), [Const(0)]);
        assert_eq!(with(Andn, 0, true), []);
        assert_eq!(with(Andn, 255, false), [Not]);
        assert_eq!(with(Andn, 255, true), [Const(0)]);
    }

    #[test]
    fn equal_and_opposite_operands() {
        use Op::*;
        let equal = |op: Op| fold(|b, x, _| b.op(op.clone(), &[x, x]));
        let opposite = |op: Op| {
            fold(|b, x, _| {
                let n = b.op(Not, &[x]);
                b.op(op.clone(), &[n, x])
            })
        };
        assert_eq!((equal(And), equal(Or)), (vec![], vec![]));
        assert_eq!(
            (equal(Xor), equal(Sub), equal(Andn)),
            (vec![Const(0)], vec![Const(0)], vec![Const(0)])
        );
        assert_eq!((opposite(And), opposite(Or)), (vec![Const(0)], vec![Const(255)]));
        assert_eq!((opposite(Xor), opposite(Andn)), (vec![Const(255)], vec![]));
        let both = fold(|b, x, y| {
            let n = b.op(Not, &[x]);
            b.op(Andn, &[n, y])
        });
        assert_eq!(both, [And]);
        let twice = fold(|b, x, _| {
            let n = b.op(Not, &[x]);
            b.op(Not, &[n])
        });
        assert_eq!(twice, []);
    }

    #[test]
    fn moves_combine() {
        let pair = |first: Op, second: Op| {
            fold(|b, x, _| {
                let t = b.op(first.clone(), &[x]);
                b.op(second.clone(), &[t])
            })
        };
        assert_eq!(pair(Op::Rotl(3), Op::Rotl(5)), []);
        assert_eq!(pair(Op::Rotl(7), Op::Rotl(5)), [Op::Rotl(4)]);
        assert_eq!(pair(Op::Shl(3), Op::Shl(5)), [Op::Const(0)]);
        assert_eq!(pair(Op::Shr(3), Op::Shr(4)), [Op::Shr(7)]);
        assert_eq!(pair(Op::Sar(3), Op::Sar(6)), [Op::Sar(7)]);
        assert_eq!(pair(Op::Shl(3), Op::Shr(3)).len(), 2);
        let shuffle = |pattern: &[u8]| Op::Shuffle(pattern.into());
        assert_eq!(pair(shuffle(&[1, 0]), shuffle(&[2, 3, 0, 1])), []);
        let reversed = pair(shuffle(&[1, 0]), shuffle(&[1, 0, 3, 2]));
        assert_eq!(reversed, [shuffle(&[3, 2, 1, 0])]);
    }

    #[test]
    fn constants_are_computed() {
        let left = fold(|b, x, _| {
            let (c, d) = (b.constant(8, 0x81), b.constant(8, 0x10));
            let t = b.op(Op::Rotl(1), &[c]);
            let u = b.op(Op::Mul, &[t, d]);
            let v = b.op(Op::Sub, &[u, d]);
            b.op(Op::Add, &[v, x])
        });
        assert_eq!(left, [Op::Const((0x03 * 0x10 - 0x10) & mask(8)), Op::Add]);
    }

    #[test]
    fn nothing_is_below_zero_or_itself() {
        let zero = fold(|b, x, _| {
            let zero = b.constant(8, 0);
            b.op(Op::Less, &[x, zero])
        });
        let itself = fold(|b, x, _| b.op(Op::Less, &[x, x]));
        assert_eq!((zero, itself), (vec![Op::Const(0)], vec![Op::Const(0)]));
    }

    #[test]
    fn tables_lose_known_operands() {
        // The multiplexer a ? b : c.
        let mux = |pick: fn(&mut Builder, Val, Val) -> [Val; 3]| {
            fold(move |b, x, y| {
                let args = pick(b, x, y);
                b.op(Op::Lut3(0xca), &args)
            })
        };
        assert_eq!(mux(|b, x, y| [b.constant(8, 255), x, y]), []);
        assert_eq!(mux(|_, x, y| [x, y, y]), []);
        assert_eq!(mux(|b, x, _| [x, b.constant(8, 0), b.constant(8, 255)]), [Op::Not]);
        assert_eq!(mux(|b, x, _| [x, b.op(Op::Not, &[x]), b.constant(8, 0)]), [Op::Const(0)]);
        assert_eq!(mux(|_, x, y| [x, y, x]), [Op::Lut3(0xca)]);
    }
}
