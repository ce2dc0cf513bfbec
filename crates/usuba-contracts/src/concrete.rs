//! Concrete execution of a node, in search of a minimal counterexample to its contract.
//!
//! An obligation that the abstract run cannot discharge may be false; then some input breaks it.
//! Inputs at the edges of their ranges come first. The counterexample that is reported is
//! minimised: its words shrink as long as it still breaks the contract.

use num_bigint::{BigInt, BigUint};
use usuba_lang::diag::{Code, Diagnostic, Span};
use usuba_lang::op::Op;
use usuba_lang::syntax::ast::{Clause, Relation, Role, TermOp};
use usuba_lang::typed::contract::{Integers, Meaning, Scope, Terms};
use usuba_lang::typed::eval::Numbers;
use usuba_lang::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use usuba_lang::typed::{Atom, Decl, DeclId, Instance, Program, Range, VarType, contract};

use super::chance::Chance;
use super::clause::{above_one, promises};
use super::poly::remainder;
use super::symbolic::ranges;

/// A counterexample: inputs, and the obligation that they break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// For each parameter its words.
    pub inputs: Vec<(String, Vec<u128>)>,
    /// The failure, at its line of the source.
    pub finding: Diagnostic,
}

/// The result of a search.
pub struct Search {
    pub found: Option<Counterexample>,
    /// The number of inputs that met the precondition.
    pub valid: usize,
    /// The number of steps that are left.
    steps: u64,
}

/// The numbers of inputs that are run beside a proof, and in search of a counterexample, and of
/// steps after which no further input is run.
const RUNS: [(usize, u64); 2] = [(24, 1 << 17), (800, 1 << 27)];

/// Runs a node on inputs in its ranges; a thorough search also tries examples, and inputs near
/// edges one by one.
pub fn search(program: &Program, id: DeclId, thorough: Option<Vec<Vec<u128>>>) -> Search {
    let decl = &program.decls[id];
    let bounds: Vec<(u128, u128)> = bounds(decl);
    let mut chance = Chance::new(id as u64 + 11);
    let (runs, steps) = RUNS[usize::from(thorough.is_some())];
    let mut search = Search { found: None, valid: 0, steps };
    for run in 0..runs {
        let word = |&(low, high): &(u128, u128)| {
            let word = chance.between(&BigUint::from(low), &BigUint::from(high), run);
            u128::try_from(word).expect("between two words")
        };
        let inputs = bounds.iter().map(word).collect();
        if search.fails(program, id, &bounds, inputs) {
            return search;
        }
    }
    let Some(examples) = thorough else { return search };
    for inputs in examples {
        if search.fails(program, id, &bounds, inputs) {
            return search;
        }
    }
    // All words at an edge but one, which is close to it.
    // A full word has one bit less than its range, or two if the word adds two.
    let full = |bits_less: u32| {
        let full = |&(low, high): &(u128, u128)| {
            let k = (high - low).checked_ilog2().and_then(|k| k.checked_sub(bits_less));
            low + k.map_or(0, |k| (1 << k) - 1)
        };
        bounds.iter().map(full).collect()
    };
    let edges: [Vec<u128>; 3] = [full(0), full(1), bounds.iter().map(|&(_, high)| high).collect()];
    for edge in &edges {
        for at in 0..bounds.len().min(NEAR.0) {
            for below in 1..NEAR.1.min(edge[at] - bounds[at].0 + 1) {
                let mut inputs = edge.clone();
                inputs[at] -= below;
                if search.fails(program, id, &bounds, inputs) {
                    return search;
                }
            }
        }
    }
    search
}

/// The numbers of words and of values per word that a thorough search tries near an edge.
const NEAR: (usize, u128) = (6, 64);

/// The runs that make a counterexample smaller: their number, and their steps together.
const MAX_SHRINKS: (u64, u64) = (400, 1 << 26);

impl Search {
    /// Runs one input; true if it breaks the contract.
    fn fails(
        &mut self,
        program: &Program,
        id: DeclId,
        bounds: &[(u128, u128)],
        inputs: Vec<u128>,
    ) -> bool {
        if self.steps == 0 && self.valid > 0 {
            return false;
        }
        let mut steps = 0;
        let outcome = check(program, id, &inputs, &mut steps);
        self.steps = self.steps.saturating_sub(steps);
        self.valid += usize::from(!matches!(outcome, Err(None)));
        let fails = matches!(outcome, Err(Some(_)));
        if fails {
            let shrinks = (MAX_SHRINKS.1 / steps.max(1)).min(MAX_SHRINKS.0);
            self.found = Some(smallest(program, id, bounds, inputs, shrinks));
        }
        fails
    }
}

/// The least and greatest word of each parameter.
fn bounds(decl: &Decl) -> Vec<(u128, u128)> {
    let mut all = Vec::new();
    for var in &decl.params {
        let VarType::Words { atom, .. } = &var.ty else { continue };
        let bits = atom.bits().expect("a node without open sizes") as u32;
        let most = u128::MAX >> (128 - bits);
        let bounds = |at| var.range(at).map_or((0, most), |range| (range.low, range.high));
        all.extend((0..var.ty.atoms()).map(bounds));
    }
    all
}

/// Shrinks the words of an input by `left` runs as long as it still breaks the contract.
fn smallest(
    program: &Program,
    id: DeclId,
    bounds: &[(u128, u128)],
    mut inputs: Vec<u128>,
    mut left: u64,
) -> Counterexample {
    let fails = |inputs: &[u128]| check(program, id, inputs, &mut 0).err().flatten();
    let mut changed = true;
    while changed && left > 0 {
        changed = false;
        for at in 0..inputs.len() {
            let (low, now) = (bounds[at].0, inputs[at]);
            for other in [low, low + 1, low + (now - low) / 2, now.saturating_sub(1)] {
                if other < inputs[at] && left > 0 {
                    left -= 1;
                    let mut smaller = inputs.clone();
                    smaller[at] = other;
                    if fails(&smaller).is_some() {
                        inputs = smaller;
                        changed = true;
                    }
                }
            }
        }
    }
    let mut finding = *fails(&inputs).expect("only inputs that fail were taken");
    let decl = &program.decls[id];
    let mut rest = inputs.as_slice();
    let mut named = Vec::new();
    for var in &decl.params {
        let (these, after) = rest.split_at(var.ty.atoms());
        rest = after;
        named.push((var.name.to_string(), these.to_vec()));
    }
    let show = |words: &[u128]| {
        let words: Vec<String> = words.iter().map(|word| format!("{word:#x}")).collect();
        if words.len() == 1 { words[0].clone() } else { format!("({})", words.join(", ")) }
    };
    let list: Vec<String> =
        named.iter().map(|(name, words)| format!("{name} = {}", show(words))).collect();
    finding.message = format!("{}, for {}", finding.message, list.join(", "));
    Counterexample { inputs: named, finding }
}

/// Checks the contract on an input, and counts the steps of the run; `Err(None)` if the input breaks
/// the precondition.
fn check(
    program: &Program,
    id: DeclId,
    inputs: &[u128],
    steps: &mut u64,
) -> Result<(), Option<Box<Diagnostic>>> {
    let decl = &program.decls[id];
    let mut scope = contract::bind(&decl.params, inputs);
    let clauses = |role: Role| decl.contract.iter().filter(move |clause| clause.role == role);
    for clause in clauses(Role::Requires) {
        if !matches!(holds(program, &scope, clause), Ok(None)) {
            return Err(None);
        }
    }
    let mut walker = Walker::new(program, Concrete::default());
    let outs = walker.run(&Instance::open(id, 0), inputs.to_vec());
    *steps = walker.steps();
    let Ok(outs) = outs else {
        let finding = walker.diags.into_iter().find(Diagnostic::is_error);
        return Err(finding.map(Box::new));
    };
    for (at, (range, &out)) in ranges(&decl.results).iter().zip(&outs).enumerate() {
        let Some(range) = range else { continue };
        if let Err(refusal) = within(out, range) {
            let text = format!("result {at}: {}", refusal.message);
            let finding = Diagnostic::error(refusal.code, range.span, text);
            return Err(Some(Box::new(finding.help("carry before, or widen the range"))));
        }
    }
    scope.extend(contract::bind(&decl.results, &outs));
    for clause in clauses(Role::Ensures) {
        match holds(program, &scope, clause) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let finding = Diagnostic::error(Code::ContractFails, clause.span, text);
                let help = "the program or the contract is wrong; run the node on this input";
                return Err(Some(Box::new(finding.help(help))));
            }
            Err(finding) => return Err(Some(finding)),
        }
    }
    Ok(())
}

fn within(word: u128, range: &Range) -> Result<(), Refusal> {
    if (range.low..=range.high).contains(&word) {
        return Ok(());
    }
    Err(Refusal {
        code: Code::ContractFails,
        message: format!("{word:#x} is not from {:#x} to {:#x}", range.low, range.high),
        help: Some("carry before, or widen the range".into()),
    })
}

/// The failure of a clause, if it fails.
fn holds(
    program: &Program,
    scope: &Scope<u128>,
    clause: &Clause,
) -> Result<Option<String>, Box<Diagnostic>> {
    let terms = |modulus| Terms::new(&program.decls, &program.values, Plain { program, modulus });
    let modulus = match &clause.modulus {
        Some(term) => {
            let value = terms(None).integer(&Scope::new(), term)?;
            Some(above_one(Some(value), term.span)?)
        }
        None => None,
    };
    let sides = terms(modulus.clone()).sides(scope, clause)?;
    let (left, right) = match sides {
        (Meaning::Int(left), Meaning::Int(right)) => match &modulus {
            Some(modulus) => (remainder(&left, modulus), remainder(&right, modulus)),
            None => (left, right),
        },
        (Meaning::Words(left), Meaning::Words(right)) => {
            let at = left.iter().zip(&right).position(|(l, r)| l != r);
            return Ok(at.map(|at| {
                let (l, r) = (left[at], right[at]);
                format!(
                    "this does not hold: word {at} is {l:#x} on the left and {r:#x} on the right"
                )
            }));
        }
        _ => unreachable!("sides are both words or both integers"),
    };
    let fine = match clause.relation {
        Relation::Equal => left == right,
        Relation::Less => left < right,
        Relation::AtMost => left <= right,
    };
    let how = if modulus.is_some() { " modulo the modulus" } else { "" };
    let text =
        || format!("this does not hold: {left:#x} on the left and {right:#x} on the right{how}");
    Ok((!fine).then(text))
}

/// Integers of contracts on concrete numbers, modulo a constant where powers would be too long.
struct Plain<'p> {
    program: &'p Program,
    modulus: Option<BigInt>,
}

/// Bits that a power may have.
const MAX_BITS: u64 = 1 << 16;

impl Integers for Plain<'_> {
    type Word = u128;
    type Int = BigInt;

    fn literal(&mut self, value: u128) -> BigInt {
        BigInt::from(value)
    }

    fn word(&mut self, word: &u128) -> BigInt {
        BigInt::from(*word)
    }

    fn combine(&mut self, op: TermOp, a: BigInt, b: BigInt) -> Result<BigInt, String> {
        Ok(match op {
            TermOp::Add => a + b,
            TermOp::Sub => a - b,
            TermOp::Mul => a * b,
            TermOp::Div if b == BigInt::ZERO => return Err("a division by zero".into()),
            TermOp::Div => a / b,
            TermOp::Power if b < BigInt::ZERO => return Err("an exponent below zero".into()),
            TermOp::Power => match (u32::try_from(&b), &self.modulus) {
                (Ok(small), _) if a.bits().saturating_mul(small as u64) <= MAX_BITS => a.pow(small),
                (_, Some(modulus)) => a.modpow(&b, modulus),
                _ => return Err("a power that is too long".into()),
            },
        })
    }

    fn node(&mut self, node: DeclId, args: Vec<u128>) -> Result<Vec<u128>, String> {
        let mut walker = Walker::new(self.program, Concrete { free: 1, wraps: 0 });
        let outs = walker.run(&Instance::open(node, 0), args);
        outs.map_err(|_| "a node that has no meaning here".to_string())
    }
}

#[derive(Default)]
struct Concrete {
    wraps: usize,
    /// Calls around the current place whose contracts have their own proof.
    free: usize,
}

impl Concrete {
    fn wraps(&self, text: String) -> Result<(), Refusal> {
        let help = "carry before, use wider words, or write `wrap(...)` if it is meant so";
        Err(Refusal { code: Code::ArithmeticWraps, message: text, help: Some(help.into()) })
    }

    fn exact(&self, op: &Op, m: u8, a: u128, b: u128) -> Result<(), Refusal> {
        let most = u128::MAX >> (128 - m as u32);
        let fits = |value: Option<u128>| value.is_some_and(|value| value <= most);
        match op {
            Op::Add if !fits(a.checked_add(b)) => {
                self.wraps(format!("the sum of {a:#x} and {b:#x} does not fit {m} bits"))
            }
            Op::Sub if a < b => {
                self.wraps(format!("the difference of {a:#x} and {b:#x} is below zero"))
            }
            Op::Mul if !fits(a.checked_mul(b)) => {
                self.wraps(format!("the product of {a:#x} and {b:#x} does not fit {m} bits"))
            }
            Op::Resize(_) if !fits(Some(a)) => {
                self.wraps(format!("the number {a:#x} does not fit {m} bits"))
            }
            _ => Ok(()),
        }
    }
}

impl Domain for Concrete {
    type V = u128;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&u128]) -> Result<u128, Refusal> {
        if self.free == 0 && self.wraps == 0 {
            let m = ty.bits().expect("a node without open sizes");
            let at = |i: usize| args.get(i).map_or(0, |&&word| word);
            self.exact(op, m, at(0), at(1))?;
        }
        Numbers.op(op, ty, args)
    }

    fn wrap(&mut self, inside: bool) {
        self.wraps = if inside { self.wraps + 1 } else { self.wraps - 1 };
    }

    fn define(&mut self, range: &Range, _: &Atom, value: &u128) -> Result<(), Refusal> {
        if self.free == 0 { within(*value, range) } else { Ok(()) }
    }

    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[u128],
    ) -> Result<Vec<u128>, Refusal> {
        Numbers.table(entries, outputs, ty, args)
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<u128>>,
        _: &[Atom],
        span: Span,
    ) -> Result<Vec<u128>, Stop> {
        let program = walker.program;
        let decl = &program.decls[instance.decl];
        let args: Vec<u128> = args.into_iter().map(|(_, value)| value).collect();
        if walker.domain.free == 0
            && let Err(refusal) = takes(program, decl, &args)
        {
            return Err(walker.refuse(refusal, span));
        }
        let free = usize::from(promises(decl));
        walker.domain.free += free;
        // Overflow in a callee is part of the callee's own contract.
        let wraps = std::mem::take(&mut walker.domain.wraps);
        let outs = walker.run(instance, args);
        walker.domain.wraps = wraps;
        walker.domain.free -= free;
        outs
    }
}

/// Whether arguments meet the precondition of a node.
fn takes(program: &Program, decl: &Decl, args: &[u128]) -> Result<(), Refusal> {
    for (at, (range, &arg)) in ranges(&decl.params).iter().zip(args).enumerate() {
        let Some(range) = range else { continue };
        within(arg, range).map_err(|mut refusal| {
            refusal.message = format!("argument {at} of `{}`: {}", decl.name, refusal.message);
            refusal
        })?;
    }
    let scope = contract::bind(&decl.params, args);
    for clause in decl.contract.iter().filter(|clause| clause.role == Role::Requires) {
        let broken = match holds(program, &scope, clause) {
            Ok(None) => continue,
            Ok(Some(text)) => text,
            Err(finding) => finding.message,
        };
        return Err(Refusal {
            code: Code::ContractFails,
            message: format!("`{}` requires more: {broken}", decl.name),
            help: Some("show it before the call".into()),
        });
    }
    Ok(())
}
