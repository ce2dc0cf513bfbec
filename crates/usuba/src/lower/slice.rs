//! The domain that writes Usuba0: one value per atom in V and H, one value per bit in B.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::linear_layer::{self, Matrix};
use super::scope::Scope;
use super::{Options, arith, bytes, roll};
use crate::circuit::{self, Circuit, Gate, Goal, Table};
use crate::diag::{Code, Span};
use crate::ir::{Inline, Node, NodeId, Op, Port, Slicing, Val};
use crate::syntax::ast::{DeclOpt, LoopOpt};
use crate::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use crate::typed::{Atom, Decl, Instance, Program, Size, Var, VarType};

/// Most equations that one program may be lowered to.
pub const MAX_EQUATIONS: u64 = 1_000_000;

/// The values of one atom: one in V and H, but two of 64 bits for a word of 128 bits, the upper one
/// first; in B its bits, most significant first.
pub(super) type Bits = SmallVec<[Val; 1]>;

pub(super) struct Lower<'a> {
    program: &'a Program,
    options: &'a Options<'a>,
    pub(super) nodes: Vec<Node>,
    /// For each node its matrix, if it is one, in bitslicing.
    matrices: Vec<Option<Matrix>>,
    /// The node of each instance; `None` for a column of a node that is not column-wise.
    pub(super) done: FxHashMap<Instance, Option<NodeId>>,
    names: FxHashSet<String>,
    circuits: FxHashMap<Table, Rc<Circuit>>,
    /// Tables of bytes as instructions of the target, if they are any.
    instructions: FxHashMap<Rc<[u64]>, Option<Rc<[Op]>>>,
    pub(super) scopes: Vec<Scope>,
    equations: u64,
}

/// The word size of which Usuba0 has halves only.
pub(super) const WIDE: u8 = 128;

/// Values of one word in V and H.
fn parts(bits: u8) -> usize {
    if bits == WIDE { 2 } else { 1 }
}

type LowerWalker<'p, 'a> = Walker<'p, Lower<'a>>;

impl<'a> Lower<'a> {
    pub fn new(program: &'a Program, options: &'a Options<'a>) -> Lower<'a> {
        Lower {
            program,
            options,
            nodes: Vec::new(),
            matrices: Vec::new(),
            done: FxHashMap::default(),
            names: FxHashSet::default(),
            circuits: FxHashMap::default(),
            instructions: FxHashMap::default(),
            scopes: Vec::new(),
            equations: 0,
        }
    }

    pub fn finish(self) -> Vec<Node> {
        self.nodes
    }

    pub(super) fn options(&self) -> &Options<'a> {
        self.options
    }

    pub(super) fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("values exist inside of nodes only")
    }

    fn bitsliced(&self) -> bool {
        self.options.slicing == Slicing::B || self.options.single_bits
    }

    /// A name that no other node has: the declaration, the alternative, then how it was
    /// instantiated. The entry keeps its own, followed by the arguments that were given for it.
    pub(super) fn name(&mut self, instance: &Instance, entry: bool) -> String {
        let decl = &self.program.decls[instance.decl];
        let mut name = decl.name.to_string();
        if decl.array {
            name += &format!("'{}", instance.alternative);
        }
        let arguments = &self.program.arguments;
        if entry {
            arguments.nats.iter().for_each(|nat| name += &format!("'{nat}"));
            arguments.sizes.iter().for_each(|(size, bits)| name += &format!("'{size}{bits}"));
            // It is not the name of another declaration.
            while name != *decl.name && self.program.decls.iter().any(|d| *d.name == name) {
                name.push('\'');
            }
        } else {
            let letter = match self.options.slicing {
                Slicing::B => "B",
                Slicing::V => "V",
                Slicing::H => "H",
                Slicing::W => "W",
            };
            let sizes: Vec<String> = word_sizes(decl, instance).iter().map(u8::to_string).collect();
            name += &format!("'{letter}{}", sizes.join("_"));
            for nat in &instance.nats {
                name += &format!("'{}", nat.unsigned_abs());
            }
        }
        let mut unique = name.clone();
        let mut count = 1;
        while !self.names.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}''{count}");
        }
        unique
    }

    pub(super) fn circuit(&mut self, table: Table) -> Rc<Circuit> {
        let profile = self.options.profile;
        let goal = if self.bitsliced() { Goal::Size } else { Goal::Chain };
        let make = |table: &Table| Rc::new(circuit::for_table(table, profile, goal));
        self.circuits.entry(table.clone()).or_insert_with(|| make(&table)).clone()
    }

    /// Writes the gates of a circuit on values of `bits` bits.
    fn gates(&mut self, circuit: &Circuit, inputs: &[Val], bits: u8) -> Vec<Val> {
        let mut wires: Vec<Val> = inputs.to_vec();
        let ones = crate::ir::op::mask(bits);
        for gate in &circuit.gates {
            let (op, operands) = operator(*gate, ones);
            let args: SmallVec<[Val; 3]> = operands.iter().map(|&i| wires[i as usize]).collect();
            let value = self.scope().op(op, bits, &args);
            wires.push(value);
        }
        circuit.outputs.iter().map(|&w| wires[w as usize]).collect()
    }

    /// The node with a shorter program, if it is a matrix for which one is known.
    /// Its equations then come from `place`.
    fn shortened(&mut self, scope: Scope, outs: Vec<Val>, place: Span) -> (Scope, Vec<Val>) {
        if !self.bitsliced() {
            return (scope, outs);
        }
        let ports: usize = scope.node.params.iter().map(|port| port.values(Slicing::B)).sum();
        let callee = |node: u32| self.matrices[node as usize].as_ref();
        let matrix = linear_layer::matrix(&scope, ports, &outs, &callee);
        let profile = self.options.profile;
        let known = matrix.as_ref().and_then(|m| circuit::for_matrix(m.inputs, &m.rows, profile));
        self.matrices.push(matrix);
        let Some(circuit) = known else { return (scope, outs) };
        let Node { name, params, results, inline, .. } = scope.node;
        let mut short = Scope::new(name, inline);
        let mut inputs = Vec::new();
        for port in params {
            let count = port.values(Slicing::B);
            inputs.extend(short.param(port, count, 1, place));
        }
        short.node.results = results;
        self.scopes.push(short);
        let outs = self.gates(&circuit, &inputs, 1);
        (self.scopes.pop().expect("pushed above"), outs)
    }

    fn bit_op(&mut self, op: &Op, m: u8, args: &[&Bits]) -> Result<Bits, Refusal> {
        let m = m as usize;
        if let Op::Lookup(entries) = op {
            return self.lookup_circuit(entries, m, args[0]);
        }
        let scope = self.scope();
        Ok(match op {
            Op::Const(value) => {
                // A word of 128 bits may be longer than its literal.
                let bit = |at: usize| if at < 64 { value >> at & 1 } else { 0 };
                (0..m).rev().map(|at| scope.constant(1, bit(at))).collect()
            }
            Op::Copy => args[0].clone(),
            op if op.is_bitwise() => (0..m)
                .map(|bit| {
                    let args: SmallVec<[Val; 3]> = args.iter().map(|arg| arg[bit]).collect();
                    scope.op(op.clone(), 1, &args)
                })
                .collect(),
            Op::Add => arith::add(scope, args[0], args[1]).into(),
            Op::Sub => arith::sub(scope, args[0], args[1]).into(),
            Op::Mul => arith::mul(scope, args[0], args[1]).into(),
            Op::MulHigh => arith::mul_high(scope, args[0], args[1]).into(),
            Op::Clmul => arith::carryless(scope, args[0], args[1])[m..].into(),
            Op::ClmulHigh => arith::carryless(scope, args[0], args[1])[..m].into(),
            Op::Less => {
                let zero = scope.constant(1, 0);
                let below = arith::less(scope, args[0], args[1]);
                std::iter::repeat_n(zero, m - 1).chain([below]).collect()
            }
            Op::Resize(_) => {
                let given = args[0].len();
                let zero = scope.constant(1, 0);
                let zeros = std::iter::repeat_n(zero, m.saturating_sub(given));
                zeros.chain(args[0][given.saturating_sub(m)..].iter().copied()).collect()
            }
            Op::Rotl(k) => {
                let mut bits = args[0].clone();
                bits.rotate_left(*k as usize);
                bits
            }
            Op::Shl(k) => {
                let zero = scope.constant(1, 0);
                let kept = args[0][*k as usize..].iter().copied();
                kept.chain(std::iter::repeat_n(zero, *k as usize)).collect()
            }
            Op::Shr(k) => {
                let zero = scope.constant(1, 0);
                let kept = args[0][..m - *k as usize].iter().copied();
                std::iter::repeat_n(zero, *k as usize).chain(kept).collect()
            }
            Op::Sar(k) => {
                let kept = args[0][..m - *k as usize].iter().copied();
                std::iter::repeat_n(args[0][0], *k as usize).chain(kept).collect()
            }
            Op::Shuffle(pattern) => {
                let group = m / pattern.len();
                let take = |&p: &u8| args[0][p as usize * group..][..group].iter().copied();
                pattern.iter().flat_map(take).collect()
            }
            Op::Bitmask(i) => std::iter::repeat_n(args[0][m - 1 - *i as usize], m).collect(),
            Op::Pack => args[0].iter().chain(args[1].iter()).copied().collect(),
            _ => unreachable!("{op:?} is bitwise or handled above"),
        })
    }

    /// A look-up by a word of m bits as a circuit; entries beyond the end of the table are zero.
    fn lookup_circuit(&mut self, entries: &[u64], m: usize, arg: &Bits) -> Result<Bits, Refusal> {
        if m > crate::typed::resolve::MAX_TABLE_INPUTS {
            return Err(Refusal {
                code: Code::NoSuchOperation,
                message: format!("a look-up by a word of {m} bits in bitslicing"),
                help: Some("circuits have at most 8 input bits; compile for V on gp64".into()),
            });
        }
        let circuit = self.circuit(bytes::table(entries, m as u8));
        Ok(self.gates(&circuit, arg, 1).into())
    }

    /// A look-up by a word that stays whole, if it is no load: by instructions of the target for
    /// it, else by a circuit.
    pub(super) fn lookup_word(
        &mut self,
        entries: &Rc<[u64]>,
        m: u8,
        word: Val,
    ) -> Result<Option<Val>, Refusal> {
        let lacks = self.options.lacks;
        if m == 8 && lacks(&Op::AffineInverse(0, 0), m).is_none() {
            let make = || bytes::instructions(entries).map(Rc::from);
            let known = self.instructions.entry(entries.clone()).or_insert_with(make).clone();
            if let Some(ops) = known {
                self.limit(ops.len())?;
                let scope = self.scope();
                let value = ops.iter().fold(word, |word, op| scope.op(op.clone(), m, &[word]));
                return Ok(Some(value));
            }
        }
        if self.program.flags.keep_tables || m as usize > crate::typed::resolve::MAX_TABLE_INPUTS {
            return Ok(None);
        }
        let circuit = self.circuit(bytes::table(entries, m));
        self.limit(bytes::equations(&circuit, m))?;
        let bits = bytes::spread(self.scope(), word, m);
        let bits = self.gates(&circuit, &bits, m);
        Ok(Some(bytes::gathered(self.scope(), &bits, m)))
    }

    /// One operator on words of Usuba0.
    pub(super) fn word_op(&mut self, op: &Op, m: u8, args: &[Val]) -> Result<Val, Refusal> {
        self.limit(1)?;
        if let Some(why) = (self.options.lacks)(op, m) {
            let help = match self.options.slicing {
                Slicing::H => "compile the program for -V or -B",
                _ => "compile the program for another slicing or target",
            };
            let help = Some(help.to_string());
            return Err(Refusal { code: Code::NoSuchOperation, message: why, help });
        }
        Ok(self.scope().op(op.clone(), m, args))
    }

    /// A constant word.
    pub(super) fn word(&mut self, m: u8, value: u64) -> Val {
        self.scope().constant(m, value)
    }

    fn limit(&mut self, count: usize) -> Result<(), Refusal> {
        self.equations += count as u64;
        if self.equations <= MAX_EQUATIONS {
            return Ok(());
        }
        Err(Refusal {
            code: Code::TooLarge,
            message: format!(
                "the program has more than {MAX_EQUATIONS} equations in this slicing; \
                 this is the limit"
            ),
            help: Some("shorten the loops, split the program, or choose another slicing".into()),
        })
    }
}

/// The operator of a gate on words that may be `ones`, and the wires of its operands.
pub(super) fn operator(gate: Gate, ones: u64) -> (Op, SmallVec<[u16; 3]>) {
    match gate {
        Gate::Zero => (Op::Const(0), smallvec![]),
        Gate::One => (Op::Const(ones), smallvec![]),
        Gate::Not(a) => (Op::Not, smallvec![a]),
        Gate::And(a, b) => (Op::And, smallvec![a, b]),
        Gate::Or(a, b) => (Op::Or, smallvec![a, b]),
        Gate::Xor(a, b) => (Op::Xor, smallvec![a, b]),
        Gate::Andn(a, b) => (Op::Andn, smallvec![a, b]),
        Gate::Lut3(table, a, b, c) => (Op::Lut3(table), smallvec![a, b, c]),
    }
}

/// The inlining option of a declaration.
pub(super) fn inline(decl: &Decl) -> Inline {
    match () {
        () if decl.opts.contains(&DeclOpt::NoInline) => Inline::Never,
        () if decl.opts.contains(&DeclOpt::Inline) => Inline::Always,
        () => Inline::Auto,
    }
}

/// Lowers an instance once. `None`: a column of a node that is not column-wise.
pub(super) fn node(
    walker: &mut LowerWalker<'_, '_>,
    instance: &Instance,
    entry: bool,
) -> Result<Option<NodeId>, Stop> {
    if let Some(&done) = walker.domain.done.get(instance) {
        return Ok(done);
    }
    let program = walker.program;
    let decl = &program.decls[instance.decl];
    let slicing = walker.domain.options.slicing;
    let name = walker.domain.name(instance, entry);
    let mut scope = Scope::new(name, inline(decl));
    let mut args: Vec<Bits> = Vec::new();
    for var in decl.params.iter().filter(|var| var.ty != VarType::Nat) {
        let port = port(var, instance);
        let (count, bits) = (port.values(slicing), port.value_bits(slicing));
        let per_word = count / var.ty.atoms();
        let values = scope.param(port, count, bits, var.span);
        args.extend(values.chunks(per_word).map(Bits::from));
    }
    scope.node.results = decl.results.iter().map(|var| port(var, instance)).collect();
    walker.domain.scopes.push(scope);
    let findings = walker.diags.len();
    let outs = walker.run(instance, args);
    let scope = walker.domain.scopes.pop().expect("pushed above");
    match outs {
        Ok(outs) => {
            let outs: Vec<Val> = outs.into_iter().flatten().collect();
            let (scope, outs) = walker.domain.shortened(scope, outs, decl.name_span);
            let id = NodeId(walker.domain.nodes.len() as u32);
            walker.domain.nodes.push(roll::roll(scope, outs));
            walker.domain.done.insert(instance.clone(), Some(id));
            Ok(Some(id))
        }
        Err(Stop::NotColumnwise) => {
            walker.diags.truncate(findings);
            walker.domain.done.insert(instance.clone(), None);
            Ok(None)
        }
        Err(Stop::Error) => Err(Stop::Error),
    }
}

/// The port of a parameter or result. A word of 128 bits is a row of two of 64.
pub(super) fn port(var: &Var, instance: &Instance) -> Port {
    let VarType::Words { atom, dims } = &var.ty else {
        unreachable!("nats have no port");
    };
    let bits = instance.apply(atom).bits().expect("a lowered instance has no open sizes");
    let mut dims = dims.clone();
    let mut word = bits;
    if bits == WIDE {
        (word, dims) = (64, dims.into_iter().chain([2]).collect());
    }
    Port { name: var.name.to_string(), word, dims, constant: var.constant, bytes: var.bytes }
}

/// The word sizes of a signature, ascending, each once.
fn word_sizes(decl: &Decl, instance: &Instance) -> Vec<u8> {
    let vars = decl.params.iter().chain(&decl.results);
    let mut sizes: Vec<u8> = vars
        .filter_map(|var| match &var.ty {
            VarType::Words { atom, .. } => instance.apply(atom).bits(),
            VarType::Nat => None,
        })
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

impl Domain for Lower<'_> {
    type V = Bits;

    fn at(&mut self, place: Span) {
        self.scope().origin = Some(place);
    }

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Bits]) -> Result<Bits, Refusal> {
        let m = ty.bits().expect("a lowered instance has no open sizes");
        if self.bitsliced() {
            let before = self.scope().written;
            let result = self.bit_op(op, m, args)?;
            let written = self.scope().written - before;
            self.limit(written as usize)?;
            return Ok(result);
        }
        if let Op::Lookup(entries) = op
            && let Some(value) = self.lookup_word(entries, m, args[0][0])?
        {
            return Ok(smallvec![value]);
        }
        if m == WIDE || matches!(op, Op::Resize(WIDE)) {
            return self.wide_op(op, m, args);
        }
        let values: SmallVec<[Val; 3]> = args.iter().map(|arg| arg[0]).collect();
        Ok(smallvec![self.word_op(op, m, &values)?])
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[Bits],
    ) -> Result<Vec<Bits>, Refusal> {
        let table = Table { inputs: args.len() as u8, outputs: outputs as u8, entries };
        let circuit = self.circuit(table);
        let m = ty.bits().expect("a lowered instance has no open sizes");
        let columns = if self.bitsliced() { m as usize } else { parts(m) };
        self.limit(columns * circuit.gates.len())?;
        let mut outs = vec![Bits::new(); outputs];
        for column in 0..columns {
            let inputs: Vec<Val> = args.iter().map(|arg| arg[column]).collect();
            let bits = if self.bitsliced() { 1 } else { m.min(64) };
            let values = self.gates(&circuit, &inputs, bits);
            for (out, value) in outs.iter_mut().zip(values) {
                out.push(value);
            }
        }
        Ok(outs)
    }

    fn call(
        walker: &mut LowerWalker<'_, '_>,
        instance: &Instance,
        args: Vec<Typed<Bits>>,
        results: &[Atom],
        span: Span,
    ) -> Result<Vec<Bits>, Stop> {
        let args_types = args.iter().map(|(ty, _)| &ty.size);
        let mut sizes: Vec<&Size> = args_types.chain(results.iter().map(|ty| &ty.size)).collect();
        sizes.dedup();
        let width = match sizes.as_slice() {
            [Size::Bits(m)] if walker.domain.bitsliced() && *m > 1 => Some(*m as usize),
            _ => None,
        };
        let values: Vec<Bits> = args.into_iter().map(|(_, value)| value).collect();
        if let Some(m) = width {
            let mut column = instance.clone();
            column.column = true;
            column.sizes.clear();
            if let Some(id) = node(walker, &column, false)? {
                walker.domain.limit(m).map_err(|refusal| walker.refuse(refusal, span))?;
                let mut outs = vec![Bits::new(); results.len()];
                for bit in 0..m {
                    let args = values.iter().map(|value| value[bit]).collect();
                    let ones = vec![1; results.len()];
                    let part = walker.domain.scope().call(id, args, &ones);
                    for (out, value) in outs.iter_mut().zip(part) {
                        out.push(value);
                    }
                }
                return Ok(outs);
            }
        }
        let id = node(walker, instance, false)?.ok_or(Stop::NotColumnwise)?;
        let bits: Vec<u8> = {
            let callee = &walker.domain.nodes[id.0 as usize];
            callee.outs.iter().map(|&v| callee.bits_of(v)).collect()
        };
        walker.domain.limit(1).map_err(|refusal| walker.refuse(refusal, span))?;
        let args = values.into_iter().flatten().collect();
        let outs = walker.domain.scope().call(id, args, &bits);
        let bitsliced = walker.domain.bitsliced();
        let mut outs = outs.into_iter();
        let word = |ty: &Atom| -> Bits {
            let bits = ty.bits().unwrap_or(1);
            let width = if bitsliced { bits as usize } else { parts(bits) };
            outs.by_ref().take(width).collect()
        };
        Ok(results.iter().map(word).collect())
    }

    fn loop_enter(&mut self, opts: &[LoopOpt]) {
        let unroll = opts.contains(&LoopOpt::Unroll);
        let keep = opts.contains(&LoopOpt::NoUnroll);
        self.scope().loop_enter(unroll, keep);
    }

    fn iteration(&mut self) {
        self.scope().iteration();
    }

    fn loop_exit(&mut self) {
        self.scope().loop_exit();
    }
}
