//! The meaning of a program of the language, as a program of words: the walk of `typed` that is
//! `typed::eval` on numbers, on equations.
//!
//! ```text
//! table T (x:v4) returns (y:v4) { 6, 5, 12, ... }        one multiplexer for each entry
//! forall i in [0,1] { s := R(s) }                        s1 = R(s);  s2 = R(s1)
//! ```
//!
//! Each atom is one word and each operator one equation with the operator of `ir::op`, whatever
//! the slicing; loops are written iteration by iteration, and an instance of a node or table is a
//! node. Nothing is shortened, rolled up or chosen: `lower` and its circuits, matrices and sums of
//! bits are what this program is compared with.

use rustc_hash::FxHashMap;
use usuba::diag::Span;
use usuba::ir::op::mask;
use usuba::ir::{Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Program, Slicing, Val};
use usuba::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use usuba::typed::{self, Atom, Instance, Var, VarType};

/// The meaning of an instance.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// One instance, on words; the entry is the instance that was asked for.
    pub program: Program,
    /// For each node the declaration that it is an instance of.
    pub instances: Vec<Instance>,
}

/// The meaning of an instance of a program that `usuba::front` accepts.
///
/// # Errors
/// What `typed::eval` would say of this instance on any input.
pub fn of(program: &typed::Program, instance: &Instance) -> Result<Meaning, String> {
    let writer = Writer { nodes: Vec::new(), instances: Vec::new(), done: FxHashMap::default() };
    let mut walker = Walker::new(program, Equations { writer, scopes: Vec::new() });
    let entry = node(&mut walker, instance);
    let faults = walker.diags.iter().filter(|d| d.is_error()).map(|d| d.message.clone());
    match entry {
        Ok(entry) => {
            let Writer { nodes, instances, .. } = walker.domain.writer;
            // A word is a word: V says no more than that.
            Ok(Meaning { program: Program::new(nodes, entry, Slicing::V), instances })
        }
        Err(_) => Err(faults.collect::<Vec<_>>().join("; ")),
    }
}

/// The domain of equations.
struct Equations {
    writer: Writer,
    /// The nodes that are being written, callers first.
    scopes: Vec<Scope>,
}

struct Writer {
    nodes: Vec<Node>,
    instances: Vec<Instance>,
    done: FxHashMap<Instance, NodeId>,
}

/// A node that is being written.
struct Scope {
    bits: Vec<u8>,
    body: Vec<Eqn>,
    constants: FxHashMap<(u8, u64), Val>,
}

impl Scope {
    fn fresh(&mut self, bits: u8) -> Val {
        self.bits.push(bits);
        Val(self.bits.len() as u32 - 1)
    }

    fn op(&mut self, op: Op, bits: u8, args: &[Val]) -> Val {
        if let Op::Const(word) = op
            && let Some(&known) = self.constants.get(&(bits, word))
        {
            return known;
        }
        let dst = self.fresh(bits);
        if let Op::Const(word) = op {
            self.constants.insert((bits, word), dst);
        }
        self.body.push(Eqn::Op(OpEqn { dst, op, args: args.iter().copied().collect() }));
        dst
    }

    /// The bits of a column of a table whose row numbers are in `args`, the first one most
    /// significant: the upper half of the column where the first bit is set, else the lower one.
    fn picked(&mut self, column: &[bool], args: &[Val], bits: u8, known: &mut Picked) -> Val {
        if column.iter().all(|&bit| bit == column[0]) {
            return self.op(Op::Const(if column[0] { mask(bits) } else { 0 }), bits, &[]);
        }
        if let Some(&value) = known.get(column) {
            return value;
        }
        let (top, rest) = args.split_first().expect("a column of one row is constant");
        let (low, high) = column.split_at(column.len() / 2);
        let (low, high) =
            (self.picked(low, rest, bits, known), self.picked(high, rest, bits, known));
        let value = if low == high {
            low
        } else {
            let differ = self.op(Op::Xor, bits, &[low, high]);
            let change = self.op(Op::And, bits, &[*top, differ]);
            self.op(Op::Xor, bits, &[low, change])
        };
        known.insert(column.to_vec(), value);
        value
    }
}

/// What each column that was needed became. Its length says which arguments it depends on.
type Picked = FxHashMap<Vec<bool>, Val>;

fn bits(ty: &Atom) -> u8 {
    ty.bits().expect("an evaluated instance has no open sizes")
}

/// Writes an instance once.
fn node(walker: &mut Walker<'_, Equations>, instance: &Instance) -> Result<NodeId, Stop> {
    if let Some(&done) = walker.domain.writer.done.get(instance) {
        return Ok(done);
    }
    let decl = &walker.program.decls[instance.decl];
    let params: Vec<Port> = decl.params.iter().filter_map(|var| port(var, instance)).collect();
    let results: Vec<Port> = decl.results.iter().filter_map(|var| port(var, instance)).collect();
    let mut scope = Scope { bits: Vec::new(), body: Vec::new(), constants: FxHashMap::default() };
    let mut args = Vec::new();
    for port in &params {
        args.extend((0..port.words()).map(|_| scope.fresh(port.word)));
    }
    walker.domain.scopes.push(scope);
    let outs = walker.run(instance, args);
    let Scope { bits, body, .. } = walker.domain.scopes.pop().expect("pushed above");
    let outs = outs?;
    let Writer { nodes, instances, done } = &mut walker.domain.writer;
    let id = NodeId(nodes.len() as u32);
    // Names of Usuba0 are unique; these are numbered, as nothing depends on them.
    let name = format!("{}'{}", decl.name, id.0);
    nodes.push(Node { name, params, results, bits, body, outs, inline: Inline::Auto });
    instances.push(instance.clone());
    done.insert(instance.clone(), id);
    Ok(id)
}

/// The port of a parameter or result; a `nat` has none.
fn port(var: &Var, instance: &Instance) -> Option<Port> {
    let VarType::Words { atom, dims } = &var.ty else { return None };
    let word = bits(&instance.apply(atom));
    Some(Port { name: var.name.to_string(), word, dims: dims.clone(), constant: var.constant })
}

impl Domain for Equations {
    type V = Val;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Val]) -> Result<Val, Refusal> {
        let args: Vec<Val> = args.iter().map(|&&v| v).collect();
        Ok(self.scope().op(op.clone(), bits(ty), &args))
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[Val],
    ) -> Result<Vec<Val>, Refusal> {
        let mut known = Picked::default();
        let column = |at: usize| {
            let bit = |entry: &u64| entry >> (outputs - 1 - at) & 1 == 1;
            entries.iter().map(bit).collect::<Vec<bool>>()
        };
        let scope = self.scope();
        Ok((0..outputs).map(|at| scope.picked(&column(at), args, bits(ty), &mut known)).collect())
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<Val>>,
        _: &[Atom],
        _: Span,
    ) -> Result<Vec<Val>, Stop> {
        let id = node(walker, instance)?;
        let Equations { writer, scopes } = &mut walker.domain;
        let callee = &writer.nodes[id.0 as usize];
        let scope = scopes.last_mut().expect("calls are inside of nodes");
        let dsts: Vec<Val> = callee.outs.iter().map(|&v| scope.fresh(callee.bits_of(v))).collect();
        let args = args.into_iter().map(|(_, value)| value).collect();
        scope.body.push(Eqn::Call(usuba::ir::Call { dsts: dsts.clone(), node: id, args }));
        Ok(dsts)
    }
}

impl Equations {
    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("values exist inside of nodes only")
    }
}

#[cfg(test)]
mod tests {
    use usuba::diag::Sources;
    use usuba::front;
    use usuba::ir::random::{self, Random};
    use usuba::ir::{interp, verify};
    use usuba::syntax::splice::NoIncludes;

    use super::*;

    /// The program of a text, and the instance that its entry is on words of eight bits.
    fn read(text: &str) -> (typed::Program, Instance) {
        let mut sources = Sources::default();
        let root = sources.add("test.ua", text);
        let checked = front(&mut sources, root, &mut NoIncludes, None, Default::default());
        let program = checked.expect("a right program").program;
        let slicing = typed::check::slicing(&program, Slicing::V).expect("any slicing");
        let instance = typed::check::entry_instance(&program, slicing, Some(8));
        (program, instance.expect("an entry"))
    }

    fn check(text: &str) {
        let (program, instance) = read(text);
        let meaning = of(&program, &instance).expect("a meaning");
        verify::verify(&meaning.program).expect("a sound program");
        let mut random = Random::new(7);
        for _ in 0..40 {
            let input = random::inputs(&mut random, &meaning.program);
            let wanted = typed::eval(&program, &instance, &input).expect("inputs that fit");
            let found = interp::run(&meaning.program, &input).expect("inputs that fit");
            assert_eq!(found, wanted, "{text} on {input:x?}");
        }
    }

    #[test]
    fn the_meaning_is_what_eval_computes() {
        check("node f (a:u'm, b:u'm) returns (c:u'm) let c = (a + b) ^ (~a >> 3) & (b - a) tel");
        check(
            "table T (x:v4) returns (y:v2) { 0, 1, 2, 3, 3, 2, 1, 0, 1, 1, 2, 2, 0, 3, 0, 3 }
             node f (a:u8[4]) returns (c:u8[2]) let c = T(a) tel",
        );
        check(
            "node g (x:u16, n:nat) returns (y:u16) let y = (x <<< n) + (x & 0xff) tel
             node f (a:u16, k:const u16[4]) returns (b:u16)
             vars s:u16[5]
             let
               s[0] = a;
               forall i in [0,3] { s[i+1] = g(s[i], i + 1) ^ k[i] }
               b = s[4]
             tel",
        );
        check(
            "perm p (a:b4) returns (b:b4) { 2, 4, 1, 3 }
             node f (a:b4) returns (c:b4) let c = p(p(a)) ^ (0, 1, 1, 0) tel",
        );
    }

    #[test]
    fn an_instance_is_written_once() {
        let (program, instance) = read(
            "node g (x:u8) returns (y:u8) let y = ~x tel
             node f (a:u8) returns (b:u8) let b = g(g(g(a))) tel",
        );
        let meaning = of(&program, &instance).expect("a meaning");
        assert_eq!(meaning.program.nodes.len(), 2);
        assert_eq!(meaning.instances.len(), 2);
    }
}
