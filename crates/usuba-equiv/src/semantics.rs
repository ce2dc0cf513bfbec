//! The reference semantics of an instance, as a program of words: the interpreter of `typed::eval`
//! over the domain of equations.
//!
//! ```text
//! table T (x:v4) returns (y:v4) { 6, 5, 12, ... }        one multiplexer for each entry
//! forall i in [0,1] { s := R(s) }                        s1 = R(s);  s2 = R(s1)
//! ```
//!
//! Each atom is one word (128-bit atoms are two words of 64 bits, the upper one first, as
//! `wide_words` says), and each operator is one equation with the operator of `ir::op`, in every
//! slicing. Loops are unrolled, and an instance of a node becomes a node. Nothing is optimised or
//! chosen: `lower`, with its circuits, matrices and bit-blasted additions, is compared with this
//! program.

use rustc_hash::FxHashMap;
use usuba::diag::Span;
use usuba::ir::op::mask;
use usuba::ir::{Call, Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Program, Slicing, Val};
use usuba::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use usuba::typed::{self, Atom, Instance, Var, VarType};

/// The semantics of an instance.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// One instance, on words; the entry is the instance that was requested.
    pub program: Program,
    /// The instance that each node stands for.
    pub instances: Vec<Instance>,
}

/// The semantics of an instance of a program that `usuba::front` accepts.
///
/// # Errors
/// The error of `typed::eval` for this instance, on any input.
pub fn of(program: &typed::Program, instance: &Instance) -> Result<Meaning, String> {
    let writer = Writer { nodes: Vec::new(), instances: Vec::new(), done: FxHashMap::default() };
    let mut walker = Walker::new(program, Equations { writer, scopes: Vec::new() });
    let entry = node(&mut walker, instance);
    let faults = walker.diags.iter().filter(|d| d.is_error()).map(|d| d.message.clone());
    match entry {
        Ok(entry) => {
            let Writer { nodes, instances, .. } = walker.domain.writer;
            // Words are not split, which is slicing V.
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

/// The value of an atom: a word, of which one of 128 bits has an upper half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    pub high: Option<Val>,
    pub low: Val,
}

impl Word {
    fn values(self) -> impl Iterator<Item = Val> {
        self.high.into_iter().chain([self.low])
    }
}

/// A node that is being written.
pub struct Scope {
    bits: Vec<u8>,
    body: Vec<Eqn>,
    constants: FxHashMap<(u8, u64), Val>,
}

impl Scope {
    fn fresh(&mut self, bits: u8) -> Val {
        self.bits.push(bits);
        Val(self.bits.len() as u32 - 1)
    }

    /// The size of a value.
    pub fn bits_of(&self, v: Val) -> u8 {
        self.bits[v.0 as usize]
    }

    /// Writes an operator.
    pub fn op(&mut self, op: Op, bits: u8, args: &[Val]) -> Val {
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

    /// A new word of a size.
    fn word(&mut self, size: u8) -> Word {
        let high = (size > 64).then(|| self.fresh(64));
        Word { high, low: self.fresh(size.min(64)) }
    }

    /// The bits of a column of a table at the row number in `args`, the first argument most
    /// significant: a multiplexer of the upper and the lower half of the column, by the first bit.
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

/// The value of each column that was needed. Its length gives the arguments that it depends on.
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
    for var in &decl.params {
        let VarType::Words { atom, .. } = &var.ty else { continue };
        let size = bits(&instance.apply(atom));
        args.extend((0..var.ty.atoms()).map(|_| scope.word(size)));
    }
    walker.domain.scopes.push(scope);
    let outs = walker.run(instance, args);
    let Scope { bits, body, .. } = walker.domain.scopes.pop().expect("pushed above");
    let outs = outs?.into_iter().flat_map(Word::values).collect();
    let Writer { nodes, instances, done } = &mut walker.domain.writer;
    let id = NodeId(nodes.len() as u32);
    // Names of Usuba0 are unique; these are numbered, as nothing depends on them.
    let name = format!("{}'{}", decl.name, id.0);
    let (origins, inline) = (Default::default(), Inline::Auto);
    nodes.push(Node { name, params, results, bits, origins, body, outs, inline });
    instances.push(instance.clone());
    done.insert(instance.clone(), id);
    Ok(id)
}

/// The port of a parameter or result; a `nat` has none. A word of 128 bits is a row of two of 64.
fn port(var: &Var, instance: &Instance) -> Option<Port> {
    let VarType::Words { atom, dims } = &var.ty else { return None };
    let size = bits(&instance.apply(atom));
    let halves = (size > 64).then_some(2);
    let dims = dims.iter().copied().chain(halves).collect();
    let (name, word) = (var.name.to_string(), size.min(64));
    Some(Port { name, word, dims, constant: var.constant, bytes: var.bytes })
}

impl Domain for Equations {
    type V = Word;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Word]) -> Result<Word, Refusal> {
        let size = bits(ty);
        if matches!(op, Op::Resize(_)) && (size > 64 || args[0].high.is_some()) {
            return Ok(self.scope().wide_resize(size, args[0]));
        }
        if size > 64 {
            return self.scope().wide_op(op, args);
        }
        let args: Vec<Val> = args.iter().map(|arg| arg.low).collect();
        Ok(Word { high: None, low: self.scope().op(op.clone(), size, &args) })
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[Word],
    ) -> Result<Vec<Word>, Refusal> {
        let size = bits(ty).min(64);
        let column = |at: usize| {
            let bit = |entry: &u64| entry >> (outputs - 1 - at) & 1 == 1;
            entries.iter().map(bit).collect::<Vec<bool>>()
        };
        let scope = self.scope();
        let mut picked = |args: &[Val]| -> Vec<Val> {
            let mut known = Picked::default();
            (0..outputs).map(|at| scope.picked(&column(at), args, size, &mut known)).collect()
        };
        let low = picked(&args.iter().map(|arg| arg.low).collect::<Vec<_>>());
        let highs: Option<Vec<Val>> = args.iter().map(|arg| arg.high).collect();
        let high = highs.filter(|_| bits(ty) > 64).map(|args| picked(&args));
        let word = |at: usize| Word { high: high.as_ref().map(|high| high[at]), low: low[at] };
        Ok((0..outputs).map(word).collect())
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<Word>>,
        results: &[Atom],
        _: Span,
    ) -> Result<Vec<Word>, Stop> {
        let id = node(walker, instance)?;
        let scope = walker.domain.scope();
        let words: Vec<Word> = results.iter().map(|ty| scope.word(bits(ty))).collect();
        let dsts = words.iter().flat_map(|word| word.values()).collect();
        let args = args.into_iter().flat_map(|(_, word)| word.values()).collect();
        scope.body.push(Eqn::Call(Call { dsts, node: id, args }));
        Ok(words)
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
    fn words_of_128_bits_are_two() {
        let halves = "z[0] = u64(y >> 64); z[1] = u64(y)";
        for body in [
            "y = u128(a) * u128(b)",
            "y = (u128(a) * u128(b) + u128(b)) * u128(a) - u128(b)",
            "y = ((u128(a) << 64) - u128(b)) >> 3",
            "y = (u128(a) << 70) ^ (u128(b) << 5) ^ ~(u128(a) >> 1)",
            "y = ((u128(a) << 64) + u128(b)) <<< 13",
            "y = ((u128(a) << 64) + u128(b)) <<< 77",
            "y = ((u128(a) << 64) + u128(b)) >> 100",
        ] {
            check(&format!(
                "node f (a:u64, b:u64) returns (z:u64[2]) vars y:u128 let {body}; {halves} tel"
            ));
        }
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
