//! The domain that writes W: vectors of words of one instance.
//!
//! ```text
//! a = a + b;               t1 = a + b                         all four words at once
//! d = (d ^ a)[1,2,3,0];                                       a move, which is written when ...
//! c = c + d;               t2 = d ^ t1; t3 = move t2; t4 = c + t3         ... an operator reads it
//! ```
//!
//! A word is a lane of a vector. `:=`, selections, list shifts and perms move words around and
//! write nothing; an operator gathers its operands. Operators on lists of as many words as a
//! vector has are written on whole vectors. An operator on fewer words is written where its
//! youngest operand lies, on a whole vector too, and the same one is written once: the four quarter
//! rounds of a column, one after the other in the source, become one.
//! A call on whole vectors, or of an instruction of the target, is a call; any other is written down
//! where it is made.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::scope::Scope;
use super::slice::{Lower, operator, port};
use super::{Options, roll};
use crate::circuit::Table;
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::op::{Lanes, mask};
use crate::ir::{Inline, Node, NodeId, Op, Val};
use crate::syntax::ast::LoopOpt;
use crate::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use crate::typed::{Atom, Decl, Instance, Program, Var, VarType};

/// Where a word is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// It is this number.
    Known(u64),
    /// In this lane of this vector.
    Lane(Val, u8),
}

pub(super) struct Words<'a> {
    lower: Lower<'a>,
    vector: u8,
    /// Operators on whole vectors of the open iteration, or of the body outside of loops, and the
    /// vectors that hold them.
    written: Written,
    /// Operators on fewer words, in the whole body: operators of later iterations may be equal.
    shared: Written,
    /// Whether fewer words are written than a vector has.
    part: bool,
    /// Whether the open node is an instruction, whose body is a specification.
    in_instruction: bool,
}

type Written = FxHashMap<(Op, SmallVec<[Val; 3]>), Val>;

type Run<T> = Result<T, Refusal>;

/// Words of one vector, or fewer; `None` for a lane that may hold anything.
type Chunk = Vec<Option<Word>>;

/// The number of words of a vector: the shortest row of any port of the entry. Longer rows are
/// several vectors.
///
/// # Errors
/// A port is not made of such vectors, or they have no register.
pub(super) fn vector(
    program: &Program,
    instance: &Instance,
    options: &Options<'_>,
) -> Result<u8, Diagnostic> {
    let decl = &program.decls[instance.decl];
    let fail = |span, text: String, help: &str| {
        Err(Diagnostic::error(Code::NoSuchWordSize, span, text).help(help))
    };
    let rows = "write every parameter and result of the entry in rows of one vector or several, \
                as in `u32x4[4]`";
    let mut ports = Vec::new();
    for var in decl.params.iter().chain(&decl.results) {
        let VarType::Words { atom, dims } = &var.ty else { continue };
        let (Some(&row), Some(bits)) = (dims.last(), instance.apply(atom).bits()) else {
            let text = format!("`{}` of the entry is no vector of words", var.name);
            return fail(var.span, text, rows);
        };
        ports.push((var, row, bits));
    }
    let Some(&(var, vector, bits)) = ports.iter().min_by_key(|(_, row, _)| row) else {
        return fail(decl.name_span, format!("the entry `{}` has no words", decl.name), rows);
    };
    let total = vector.saturating_mul(bits as u32);
    if !matches!(bits, 8 | 16 | 32 | 64) || vector == 1 || !matches!(total, 128 | 256 | 512) {
        let text = format!("a vector of {vector} words of {bits} bits");
        let help = "vectors have words of 8, 16, 32 or 64 bits, and 128, 256 or 512 bits together";
        return fail(var.span, text, help);
    }
    for &(other, row, size) in &ports {
        if size != bits || !row.is_multiple_of(vector) {
            let text = format!(
                "`{}` has rows of {row} words of {size} bits, and no vectors of {vector} of {bits} \
                 as `{}`",
                other.name, var.name
            );
            return fail(other.span, text, rows);
        }
    }
    let turned = (0..vector as u8).map(|lane| (lane + 1) % vector as u8).collect();
    match (options.lacks)(&Op::Lanes(Lanes::Move(turned)), bits) {
        Some(why) => fail(var.span, why, "compile for a target with wider registers, or for -V"),
        None => Ok(vector as u8),
    }
}

impl<'a> Words<'a> {
    pub fn new(program: &'a Program, options: &'a Options<'a>, vector: u8) -> Words<'a> {
        let (written, shared) = (Written::default(), Written::default());
        let lower = Lower::new(program, options);
        Words { lower, vector, written, shared, part: false, in_instruction: false }
    }

    pub fn finish(self) -> Vec<Node> {
        self.lower.finish()
    }

    fn lanes(&self) -> usize {
        self.vector as usize
    }

    /// One operator on vectors, if it is not written yet.
    fn write(&mut self, op: Op, bits: u8, args: &[Val]) -> Run<Val> {
        if let Op::Const(value) = op {
            return Ok(self.lower.word(bits, value));
        }
        let key = (op, SmallVec::from_slice(args));
        if let Some(&known) = self.written.get(&key).or_else(|| self.shared.get(&key)) {
            return Ok(known);
        }
        let value = match &key.0 {
            Op::Lookup(_) if self.in_instruction => {
                self.lower.scope().op(key.0.clone(), bits, args)
            }
            Op::Lookup(entries) => match self.lower.lookup_word(entries, bits, args[0])? {
                Some(value) => value,
                None => self.lower.word_op(&key.0, bits, args)?,
            },
            op => self.lower.word_op(op, bits, args)?,
        };
        let known = if self.part { &mut self.shared } else { &mut self.written };
        known.insert(key, value);
        Ok(value)
    }

    /// A vector with these words.
    fn gather(&mut self, words: &[Option<Word>], bits: u8) -> Run<Val> {
        let mut sources: SmallVec<[Val; 4]> = SmallVec::new();
        let mut known = false;
        for word in words.iter().flatten() {
            match word {
                Word::Lane(v, _) if !sources.contains(v) => sources.push(*v),
                Word::Lane(..) => {}
                Word::Known(_) => known = true,
            }
        }
        if known || sources.is_empty() {
            let number = |word: &Option<Word>| match word {
                Some(Word::Known(value)) => *value,
                _ => 0,
            };
            let numbers: Vec<u64> = words.iter().map(number).collect();
            let literal = self.literal(&numbers, bits)?;
            if sources.is_empty() {
                return Ok(literal);
            }
            let lane = |(at, word): (usize, &Option<Word>)| match word {
                Some(Word::Known(_)) => Some(Word::Lane(literal, at as u8)),
                word => *word,
            };
            let words: Chunk = words.iter().enumerate().map(lane).collect();
            return self.gather(&words, bits);
        }
        if let [source] = sources[..] {
            let pattern = turned(&self.pattern(words, source), self.vector);
            return match pattern.iter().enumerate().all(|(at, &p)| at == p as usize) {
                true => Ok(source),
                false => self.write(Op::Lanes(Lanes::Move(pattern.into())), bits, &[source]),
            };
        }
        // The first two at once, then one more at a time.
        let mut joined = sources[0];
        let mut done: Vec<Option<u8>> = self.pattern(words, sources[0]);
        for &source in &sources[1..] {
            let second = self.pattern(words, source);
            let lanes = self.vector;
            let lane = |at: usize| match (done[at], second[at]) {
                (_, Some(p)) => lanes + p,
                (Some(p), None) => p,
                (None, None) => at as u8,
            };
            let pattern: Vec<u8> = (0..self.lanes()).map(lane).collect();
            joined = self.write(Op::Lanes(Lanes::Join(pattern.into())), bits, &[joined, source])?;
            let taken = |at: usize| (done[at].or(second[at])).map(|_| at as u8);
            done = (0..self.lanes()).map(taken).collect();
        }
        Ok(joined)
    }

    fn literal(&mut self, numbers: &[u64], bits: u8) -> Run<Val> {
        match numbers.iter().all(|n| *n == numbers[0]) {
            true => self.write(Op::Const(numbers[0]), bits, &[]),
            false => self.write(Op::Lanes(Lanes::Const(numbers.into())), bits, &[]),
        }
    }

    /// For each lane the lane of `source` that it takes, if it takes one.
    fn pattern(&self, words: &[Option<Word>], source: Val) -> Vec<Option<u8>> {
        let lane = |word: Option<&Option<Word>>| match word {
            Some(Some(Word::Lane(v, lane))) if *v == source => Some(*lane),
            _ => None,
        };
        (0..self.lanes()).map(|at| lane(words.get(at))).collect()
    }

    /// Operators on at most as many words as a vector has, one for each.
    fn chunk(&mut self, ops: &[Op], bits: u8, args: &[&[Word]]) -> Run<Vec<Word>> {
        let count = ops.len();
        if let Some(words) = numbers(ops, bits, args) {
            return Ok(words);
        }
        if ops.iter().all(|op| *op == Op::Copy) {
            return Ok(args[0].to_vec());
        }
        self.part = count < self.lanes();
        // A whole vector stays in order; fewer words stay where the youngest operand has them, so
        // that the words that move have been known for longest.
        let mut places: Vec<usize> = (0..count).collect();
        if self.part
            && let Some((_, own)) = args.iter().filter_map(|list| lanes_of(list)).max()
        {
            places = own;
        }
        let mut operands: SmallVec<[Val; 3]> = SmallVec::new();
        for list in args {
            let mut words: Chunk = vec![None; self.lanes()];
            for (word, &place) in list.iter().zip(&places) {
                words[place] = Some(*word);
            }
            // A number may stand in every lane, so that the same operator on other words is this.
            if count < self.lanes() && list.iter().all(|w| *w == list[0] && is_known(w)) {
                words.fill(Some(list[0]));
            }
            operands.push(self.gather(&words, bits)?);
        }
        let mut each = vec![ops[0].clone(); self.lanes()];
        for (op, &place) in ops.iter().zip(&places) {
            each[place] = op.clone();
        }
        let value = match each.iter().all(|op| *op == each[0]) {
            true => self.write(each[0].clone(), bits, &operands)?,
            false => self.write(Op::Lanes(Lanes::Each(each.into())), bits, &operands)?,
        };
        Ok(places.iter().map(|&place| Word::Lane(value, place as u8)).collect())
    }

    /// Whether a node takes and gives whole vectors, and is called with such.
    fn is_call(&self, decl: &Decl, args: &[Word]) -> bool {
        let words = |var: &&Var| var.ty != VarType::Nat;
        let mut vars = decl.params.iter().chain(&decl.results).filter(words);
        let whole = |chunk: &[Word]| match chunk[0] {
            Word::Known(_) => chunk.iter().all(is_known),
            Word::Lane(v, _) => {
                chunk.iter().enumerate().all(|(at, word)| *word == Word::Lane(v, at as u8))
            }
        };
        vars.all(|var| var.ty.atoms().is_multiple_of(self.lanes()))
            && args.chunks(self.lanes()).all(whole)
    }

    /// Whether the target has an instruction for a node: on vectors, each parameter and result one.
    fn is_instruction(&self, decl: &Decl, instance: &Instance) -> bool {
        let mut vars = decl.params.iter().chain(&decl.results);
        let is_vector = |var: &Var| var.ty != VarType::Nat && var.ty.atoms() == self.lanes();
        let bits = match &decl.results[0].ty {
            VarType::Words { atom, .. } => instance.apply(atom).bits(),
            VarType::Nat => None,
        };
        let has = |bits| (self.lower.options().has_instruction)(&decl.name, bits, self.vector);
        decl.is_standard && vars.all(is_vector) && bits.is_some_and(has)
    }

    /// The words of vectors, in order.
    fn spread(&self, values: &[Val]) -> Vec<Word> {
        let lanes = |&v: &Val| (0..self.vector).map(move |lane| Word::Lane(v, lane));
        values.iter().flat_map(lanes).collect()
    }

    /// Vectors with these words.
    fn vectors(&mut self, words: &[Word], bits: u8) -> Run<Vec<Val>> {
        self.part = false;
        let lanes = self.lanes();
        let whole = |chunk: &[Word]| chunk.iter().map(|w| Some(*w)).collect::<Chunk>();
        words.chunks(lanes).map(|chunk| self.gather(&whole(chunk), bits)).collect()
    }

    /// A node begins; gives the facts known in its caller.
    fn open(&mut self) -> (Written, Written) {
        (std::mem::take(&mut self.written), std::mem::take(&mut self.shared))
    }

    /// An iteration begins or ends.
    fn forget(&mut self) {
        self.written.clear();
    }
}

/// The youngest vector of some words and their lanes, if no two of them lie in one lane.
fn lanes_of(words: &[Word]) -> Option<(Val, Vec<usize>)> {
    let mut lanes: Vec<usize> = Vec::with_capacity(words.len());
    let mut youngest = None;
    for word in words {
        match word {
            Word::Lane(v, lane) if !lanes.contains(&(*lane as usize)) => {
                lanes.push(*lane as usize);
                youngest = youngest.max(Some(*v));
            }
            _ => return None,
        }
    }
    Some((youngest?, lanes))
}

fn is_known(word: &Word) -> bool {
    matches!(word, Word::Known(_))
}

/// The results of operators on numbers alone.
fn numbers(ops: &[Op], bits: u8, args: &[&[Word]]) -> Option<Vec<Word>> {
    let number = |word: &Word| match word {
        Word::Known(value) => Some(*value),
        Word::Lane(..) => None,
    };
    let one = |(at, op): (usize, &Op)| {
        if matches!(op, Op::Const(_)) {
            return Some(Word::Known(op.eval(bits, &[])));
        }
        let words: Option<SmallVec<[u64; 3]>> = args.iter().map(|list| number(&list[at])).collect();
        Some(Word::Known(op.eval(bits, &words?)))
    };
    ops.iter().enumerate().map(one).collect()
}

/// The pattern with its open lanes filled: as the given ones move, if all of these move alike, and
/// otherwise as they are.
fn turned(pattern: &[Option<u8>], lanes: u8) -> Vec<u8> {
    let distance = |at: usize, p: u8| (p + lanes - at as u8) % lanes;
    let mut given = pattern.iter().enumerate().filter_map(|(at, p)| p.map(|p| distance(at, p)));
    let first = given.next().unwrap_or(0);
    let turn = if given.all(|d| d == first) { first } else { 0 };
    let lane = |(at, p): (usize, &Option<u8>)| p.unwrap_or((at as u8 + turn) % lanes);
    pattern.iter().enumerate().map(lane).collect()
}

/// Lowers an instance once.
pub(super) fn node(
    walker: &mut Walker<'_, Words<'_>>,
    instance: &Instance,
    entry: bool,
) -> Result<NodeId, Stop> {
    if let Some(&Some(done)) = walker.domain.lower.done.get(instance) {
        return Ok(done);
    }
    let program = walker.program;
    let decl = &program.decls[instance.decl];
    let lanes = walker.domain.lanes();
    let name = walker.domain.lower.name(instance, entry);
    let is_instruction = !entry && walker.domain.is_instruction(decl, instance);
    let inline = if is_instruction { Inline::Instruction } else { super::slice::inline(decl) };
    let mut scope = Scope::new(name, inline);
    let mut args: Vec<Word> = Vec::new();
    for var in decl.params.iter().filter(|var| var.ty != VarType::Nat) {
        let port = vectors_port(var, instance, lanes);
        let (count, bits) = (var.ty.atoms() / lanes, port.word);
        let values = scope.param(port, count, bits, var.span);
        args.extend(walker.domain.spread(&values));
    }
    let ports = decl.results.iter().map(|var| vectors_port(var, instance, lanes));
    scope.node.results = ports.collect();
    walker.domain.lower.scopes.push(scope);
    let outer = walker.domain.open();
    let around = std::mem::replace(&mut walker.domain.in_instruction, is_instruction);
    let outs = walker.run(instance, args).and_then(|words| {
        let bits = walker.domain.lower.scope().node.results[0].word;
        let vectors = walker.domain.vectors(&words, bits);
        vectors.map_err(|refusal| walker.refuse(refusal, decl.name_span))
    });
    (walker.domain.written, walker.domain.shared) = outer;
    walker.domain.in_instruction = around;
    let scope = walker.domain.lower.scopes.pop().expect("pushed above");
    let node = roll::roll(scope, outs?);
    let id = NodeId(walker.domain.lower.nodes.len() as u32);
    walker.domain.lower.nodes.push(node);
    walker.domain.lower.done.insert(instance.clone(), Some(id));
    Ok(id)
}

/// The port of words that fill vectors: as it is in the source, if its rows are vectors, and else
/// cut into such rows.
fn vectors_port(var: &Var, instance: &Instance, lanes: usize) -> crate::ir::Port {
    let mut port = port(var, instance);
    if port.dims.last() != Some(&(lanes as u32)) {
        let row = port.dims.pop().unwrap_or(1) as usize;
        let rows = if row.is_multiple_of(lanes) { row / lanes } else { 0 };
        match rows {
            0 => port.dims = vec![(var.ty.atoms() / lanes) as u32, lanes as u32],
            _ => port.dims.extend([rows as u32, lanes as u32]),
        }
    }
    port
}

impl Domain for Words<'_> {
    type V = Word;

    fn at(&mut self, place: Span) {
        self.lower.scope().origin = Some(place);
    }

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Word]) -> Run<Word> {
        let args: SmallVec<[[Word; 1]; 3]> = args.iter().map(|&&word| [word]).collect();
        let args: SmallVec<[&[Word]; 3]> = args.iter().map(|list| &list[..]).collect();
        let bits = ty.bits().expect("a lowered instance has no open sizes");
        self.size(op, bits)?;
        let words = self.chunk(std::slice::from_ref(op), bits, &args)?;
        Ok(words[0])
    }

    fn list(&mut self, ops: &[Op], types: &[Atom], args: &[&[Word]]) -> Run<Vec<Word>> {
        let mut out = Vec::with_capacity(ops.len());
        let bits = |ty: &Atom| ty.bits().expect("a lowered instance has no open sizes");
        for (op, ty) in ops.iter().zip(types) {
            self.size(op, bits(ty))?;
        }
        for (at, ops) in ops.chunks(self.lanes()).enumerate() {
            let from = at * self.lanes();
            let part: SmallVec<[&[Word]; 3]> =
                args.iter().map(|list| &list[from..from + ops.len()]).collect();
            // Shifts may differ from lane to lane; nothing else is written so.
            let shifts = |op: &Op| {
                matches!(op, Op::Copy | Op::Rotl(_) | Op::Shl(_) | Op::Shr(_) | Op::Sar(_))
                    || *op == Op::Const(0)
            };
            if ops.iter().all(|op| *op == ops[0]) || ops.iter().all(shifts) {
                out.extend(self.chunk(ops, bits(&types[from]), &part)?);
                continue;
            }
            for (i, op) in ops.iter().enumerate() {
                let one: SmallVec<[&[Word]; 3]> = part.iter().map(|list| &list[i..i + 1]).collect();
                out.extend(self.chunk(std::slice::from_ref(op), bits(&types[from + i]), &one)?);
            }
        }
        Ok(out)
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[Word],
    ) -> Run<Vec<Word>> {
        let bits = ty.bits().expect("a lowered instance has no open sizes");
        self.size(&Op::Xor, bits)?;
        let table = Table { inputs: args.len() as u8, outputs: outputs as u8, entries };
        let circuit = self.lower.circuit(table);
        let mut wires: Vec<Word> = args.to_vec();
        for gate in &circuit.gates {
            let (op, operands) = operator(*gate, mask(bits));
            let args: SmallVec<[[Word; 1]; 3]> =
                operands.iter().map(|&i| [wires[i as usize]]).collect();
            let args: SmallVec<[&[Word]; 3]> = args.iter().map(|list| &list[..]).collect();
            wires.push(self.chunk(&[op], bits, &args)?[0]);
        }
        Ok(circuit.outputs.iter().map(|&wire| wires[wire as usize]).collect())
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<Word>>,
        results: &[Atom],
        span: Span,
    ) -> Result<Vec<Word>, Stop> {
        let decl = &walker.program.decls[instance.decl];
        let words: Vec<Word> = args.iter().map(|(_, word)| *word).collect();
        // An instruction is worth a gathering of its operands.
        let domain = &walker.domain;
        let is_whole = domain.is_call(decl, &words) || domain.is_instruction(decl, instance);
        let is_call = is_whole && !domain.in_instruction;
        if !is_call || results.is_empty() {
            return walker.run(instance, words);
        }
        let bits = results[0].bits().expect("a lowered instance has no open sizes");
        let id = node(walker, instance, false)?;
        let vectors = walker.domain.vectors(&words, bits);
        let vectors = vectors.map_err(|refusal| walker.refuse(refusal, span))?;
        let outs = vec![bits; results.len() / walker.domain.lanes()];
        let outs = walker.domain.lower.scope().call(id, vectors, &outs);
        Ok(walker.domain.spread(&outs))
    }

    fn loop_enter(&mut self, opts: &[LoopOpt]) {
        self.forget();
        self.lower.loop_enter(opts);
    }

    fn iteration(&mut self) {
        self.forget();
        self.lower.iteration();
    }

    fn loop_exit(&mut self) {
        self.forget();
        self.lower.loop_exit();
    }
}

impl Words<'_> {
    /// All words of a program in W have one size, the length of its vectors.
    fn size(&self, op: &Op, bits: u8) -> Run<()> {
        let scope = self.lower.scopes.last().expect("values exist inside of nodes only");
        let ports = scope.node.params.iter().chain(&scope.node.results);
        let word = ports.map(|port| port.word).next().unwrap_or(bits);
        let fixed = !matches!(op, Op::Pack | Op::Resize(_));
        if word == bits && fixed {
            return Ok(());
        }
        let message = match fixed {
            true => format!("a word of {bits} bits among vectors of words of {word} bits"),
            false => format!("`{}` on the words of vectors", op.name()),
        };
        let help = Some("all words of a program in W have one size; use -V or -B".to_string());
        Err(Refusal { code: Code::NoSuchOperation, message, help })
    }
}
