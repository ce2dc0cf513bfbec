//! IR verifier: checks every rule of Usuba0, after each pass in debug builds and in tests.
//!
//! A failure is a fault of the compiler, never of the user's program, so the message is one
//! sentence for the developer: node, place, rule.

use std::collections::BTreeSet;

use super::op::mask;
use super::{Call, Eqn, Loop, Node, Op, OpEqn, Port, Program, Slicing, Val};

/// The first rule that `program` breaks, if any.
pub fn verify(program: &Program) -> Result<(), String> {
    if program.entry.0 as usize >= program.nodes.len() {
        return Err(format!("the entry {} does not exist", program.entry.0));
    }
    let mut names = BTreeSet::new();
    for (id, node) in program.nodes.iter().enumerate() {
        if !is_identifier(&node.name) {
            return Err(format!("`{}` is not an identifier", node.name));
        }
        if !names.insert(node.name.as_str()) {
            return Err(format!("two nodes are named `{}`", node.name));
        }
        let callees = &program.nodes[..id];
        Checker::new(callees, node, program)
            .check()
            .map_err(|rule| format!("node `{}`: {rule}", node.name))?;
    }
    let most = if program.slicing == Slicing::W { 64 } else { 1 };
    if program.vector == 0 || program.vector > most {
        return Err(format!("vectors of {} words", program.vector));
    }
    if program.copies == 0 {
        return Err("a run computes no instance".into());
    }
    let params = program.params().into_iter().filter(|group| !group[0].constant);
    for group in params.chain(program.results()) {
        let shape = |port: &Port| (port.word, port.dims.clone(), port.constant);
        if group.len() != program.copies as usize
            || group.iter().any(|port| shape(port) != shape(&group[0]))
        {
            let (name, copies) = (&group[0].name, program.copies);
            return Err(format!("port `{name}` of the entry does not have {copies} copies"));
        }
    }
    Ok(())
}

fn is_identifier(name: &str) -> bool {
    let head = |c: char| c.is_ascii_alphabetic() || c == '_';
    let tail = |c: char| head(c) || c.is_ascii_digit() || c == '\'';
    name.starts_with(head) && name.chars().all(tail)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    /// In a loop that is over.
    Elsewhere,
    /// In scope.
    Here,
}

struct Checker<'a> {
    /// The nodes before this one: all that it may call.
    callees: &'a [Node],
    node: &'a Node,
    slicing: Slicing,
    vector: u8,
    /// Where each value is defined, seen from the current place.
    defined: Vec<Place>,
    /// The values that each open loop has defined.
    scopes: Vec<Vec<Val>>,
}

impl<'a> Checker<'a> {
    fn new(callees: &'a [Node], node: &'a Node, program: &Program) -> Checker<'a> {
        let defined = vec![Place::Nowhere; node.bits.len()];
        let (slicing, vector) = (program.slicing, program.vector);
        Checker { callees, node, slicing, vector, defined, scopes: Vec::new() }
    }

    fn check(mut self) -> Result<(), String> {
        let node = self.node;
        for (index, &bits) in node.bits.iter().enumerate() {
            if bits == 0 || bits > 64 || (self.slicing == Slicing::B && bits != 1) {
                return Err(format!("%{index} has {bits} bits under {:?}", self.slicing));
            }
        }
        for port in node.params.iter().chain(&node.results) {
            if port.word == 0 || port.word > 64 || port.dims.contains(&0) {
                return Err(format!("port `{}` has a shape that does not exist", port.name));
            }
            if self.slicing == Slicing::W && port.dims.last() != Some(&(self.vector as u32)) {
                return Err(format!("port `{}` is not made of vectors", port.name));
            }
        }
        for (index, bits) in port_bits(&node.params, self.slicing).enumerate() {
            let v = Val(index as u32);
            self.define(v)?;
            self.want_bits(v, bits)?;
        }
        self.block(&node.body)?;
        let wanted = port_bits(&node.results, self.slicing).count();
        if node.outs.len() != wanted {
            return Err(format!("{} outs for {wanted} result values", node.outs.len()));
        }
        for (&out, bits) in node.outs.iter().zip(port_bits(&node.results, self.slicing)) {
            self.read(out)?;
            self.want_bits(out, bits)?;
        }
        Ok(())
    }

    fn block(&mut self, eqns: &[Eqn]) -> Result<(), String> {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.op(e)?,
                Eqn::Call(call) => self.call(call)?,
                Eqn::Loop(lp) => self.lp(lp)?,
            }
        }
        Ok(())
    }

    fn op(&mut self, e: &OpEqn) -> Result<(), String> {
        if e.args.len() != e.op.arity() {
            return Err(format!("{:?} = {:?} has {} operands", e.dst, e.op, e.args.len()));
        }
        for &arg in &e.args {
            self.read(arg)?;
        }
        self.define(e.dst)?;
        let m = self.node.bits_of(e.dst);
        let operand = match e.op {
            Op::Pack => m / 2,
            Op::Resize(from) => from,
            _ => m,
        };
        for &arg in &e.args {
            self.want_bits(arg, operand)?;
        }
        let fits = match &e.op {
            Op::Const(value) => value & !mask(m) == 0,
            Op::Shl(k) | Op::Shr(k) | Op::Sar(k) | Op::Rotl(k) => 1 <= *k && *k < m,
            Op::Shuffle(pattern) => {
                let groups = pattern.len();
                groups >= 1
                    && (m as usize).is_multiple_of(groups)
                    && pattern.iter().all(|&p| (p as usize) < groups)
            }
            Op::Bitmask(i) => *i < m,
            Op::Pack => m.is_multiple_of(2),
            Op::Affine(..) | Op::AffineInverse(..) => m == 8,
            Op::MulAdd(k) | Op::MulAddHigh(k) => 1 <= *k && *k < m && self.slicing == Slicing::V,
            Op::Resize(from) => *from != m && self.slicing == Slicing::V,
            Op::Lanes(lanes) => self.slicing == Slicing::W && lanes.fits(self.vector as usize, m),
            _ => true,
        };
        if !fits {
            return Err(format!("{:?} = {:?} does not fit {m} bits", e.dst, e.op));
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        let Some(callee) = self.callees.get(call.node.0 as usize) else {
            return Err(format!("calls node {}, which is not before it", call.node.0));
        };
        let wanted = callee.arity(self.slicing);
        if call.args.len() != wanted || call.dsts.len() != callee.outs.len() {
            return Err(format!(
                "calls `{}` with {} arguments for {} results",
                callee.name,
                call.args.len(),
                call.dsts.len()
            ));
        }
        for (&arg, bits) in call.args.iter().zip(port_bits(&callee.params, self.slicing)) {
            self.read(arg)?;
            self.want_bits(arg, bits)?;
        }
        for (&dst, bits) in call.dsts.iter().zip(port_bits(&callee.results, self.slicing)) {
            self.define(dst)?;
            self.want_bits(dst, bits)?;
        }
        Ok(())
    }

    fn lp(&mut self, lp: &Loop) -> Result<(), String> {
        if lp.count == 0 {
            return Err("a loop without iterations".to_string());
        }
        let count = lp.count as usize;
        for c in &lp.carried {
            self.read(c.init)?;
        }
        for read in &lp.reads {
            if read.list.len() != count {
                return Err(format!("{:?} reads {} of {count}", read.dst, read.list.len()));
            }
            for &member in &read.list {
                self.read(member)?;
                self.same_bits(read.dst, member)?;
            }
        }
        self.scopes.push(Vec::new());
        for c in &lp.carried {
            self.define(c.param)?;
            self.same_bits(c.param, c.init)?;
        }
        for read in &lp.reads {
            self.define(read.dst)?;
        }
        self.block(&lp.body)?;
        for c in &lp.carried {
            self.read(c.next)?;
            self.same_bits(c.param, c.next)?;
        }
        for collect in &lp.collects {
            self.read(collect.value)?;
            if collect.results.len() != count {
                let given = collect.results.len();
                return Err(format!("{:?} is collected {given} times, not {count}", collect.value));
            }
        }
        for v in self.scopes.pop().expect("the scope of the loop") {
            self.defined[v.0 as usize] = Place::Elsewhere;
        }
        for c in &lp.carried {
            self.define(c.result)?;
            self.same_bits(c.param, c.result)?;
        }
        for collect in &lp.collects {
            for &result in &collect.results {
                self.define(result)?;
                self.same_bits(collect.value, result)?;
            }
        }
        Ok(())
    }

    fn define(&mut self, v: Val) -> Result<(), String> {
        let Some(place) = self.defined.get_mut(v.0 as usize) else {
            return Err(format!("{v:?} has no width"));
        };
        if std::mem::replace(place, Place::Here) != Place::Nowhere {
            return Err(format!("{v:?} is defined twice"));
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(v);
        }
        Ok(())
    }

    fn read(&self, v: Val) -> Result<(), String> {
        match self.defined.get(v.0 as usize) {
            Some(Place::Here) => Ok(()),
            _ => Err(format!("{v:?} is read where it is not defined")),
        }
    }

    fn want_bits(&self, v: Val, bits: u8) -> Result<(), String> {
        let has = self.node.bits_of(v);
        if has == bits { Ok(()) } else { Err(format!("{v:?} has {has} bits, not {bits}")) }
    }

    /// `a` may be a value that is not defined yet, so its number is checked too.
    fn same_bits(&self, a: Val, b: Val) -> Result<(), String> {
        match self.node.bits.get(a.0 as usize) {
            Some(&bits) => self.want_bits(b, bits),
            None => Err(format!("{a:?} has no width")),
        }
    }
}

/// The widths of the values of `ports`, in order.
fn port_bits(ports: &[Port], slicing: Slicing) -> impl Iterator<Item = u8> + '_ {
    ports.iter().flat_map(move |p| std::iter::repeat_n(p.value_bits(slicing), p.values(slicing)))
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::{Args, NodeId};
    use super::*;

    /// `x:u8[4]`, a call, a loop with everything in it, every kind of width.
    fn sound() -> Program {
        let mut b = Builder::new("g", Slicing::V);
        let x = b.param(Port::new("x", 8, &[2]));
        let y = b.op(Op::Pack, &[x[0], x[1]]);
        let g = b.finish(vec![(Port::new("y", 16, &[]), vec![y])]);
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[4]));
        let c = b.constant(8, 255);
        let t = b.op(Op::Shl(7), &[x[0]]);
        let t = b.op(Op::Shuffle([1, 0].as_slice().into()), &[t]);
        let t = b.op(Op::Bitmask(7), &[t]);
        let p = b.call(NodeId(0), &g, &[t, c])[0];
        b.begin_loop(2, false);
        let s = b.carry(p);
        let k = b.read(vec![x[1], x[2]]);
        let q = b.call(NodeId(0), &g, &[k, c])[0];
        let n = b.op(Op::Xor, &[s, q]);
        let done = b.end_loop(&[n], &[k]);
        let f = b.finish(vec![
            (Port::new("y", 16, &[]), done.carried),
            (Port::new("z", 8, &[2]), done.collects[0].clone()),
        ]);
        Program::new(vec![g, f], NodeId(1), Slicing::V)
    }

    fn f(program: &mut Program) -> &mut Node {
        &mut program.nodes[1]
    }

    /// Equations of `f`: Const, Shl, Shuffle, Bitmask, call, loop.
    fn op(program: &mut Program, index: usize) -> &mut OpEqn {
        match &mut f(program).body[index] {
            Eqn::Op(e) => e,
            _ => panic!("an operator"),
        }
    }

    fn call(program: &mut Program) -> &mut Call {
        match &mut f(program).body[4] {
            Eqn::Call(call) => call,
            _ => panic!("a call"),
        }
    }

    fn lp(program: &mut Program) -> &mut Loop {
        match &mut f(program).body[5] {
            Eqn::Loop(lp) => lp,
            _ => panic!("a loop"),
        }
    }

    #[test]
    fn accepts_a_sound_program() {
        assert_eq!(verify(&sound()), Ok(()));
    }

    macro_rules! rejects {
        ($($name:ident: $break:expr, $message:literal;)*) => {
            $(#[test]
            fn $name() {
                let mut program = sound();
                let change: fn(&mut Program) = $break;
                change(&mut program);
                let message = verify(&program).expect_err("a broken program");
                assert!(message.contains($message), "{message}");
            })*
        };
    }

    rejects! {
        entry_exists: |p| p.entry = NodeId(2), "entry 2";
        node_names_are_unique: |p| f(p).name = "g".into(), "two nodes";
        node_names_are_identifiers: |p| f(p).name = "1f".into(), "identifier";
        bits_are_one_to_64: |p| { f(p).fresh(65); }, "65 bits";
        bitsliced_values_have_one_bit: |p| p.slicing = Slicing::B, "under B";
        ports_have_elements: |p| f(p).results[1].dims[0] = 0, "port `z`";
        params_have_their_width: |p| f(p).params[0].word = 16, "%0 has 8 bits, not 16";
        values_are_defined_once: |p| op(p, 1).dst = Val(0), "%0 is defined twice";
        values_have_widths: |p| op(p, 1).dst = Val(999), "%999 has no width";
        values_are_defined_before_use: |p| f(p).body.swap(1, 2), "not defined";
        own_result_is_not_an_operand: |p| { let e = op(p, 1); e.args[0] = e.dst; }, "not defined";
        operands_have_the_right_number: |p| op(p, 1).args.push(Val(0)), "2 operands";
        operands_have_the_right_width: |p| {
            let dst = op(p, 1).dst;
            f(p).bits[dst.0 as usize] = 16;
        }, "%0 has 8 bits, not 16";
        constants_fit: |p| op(p, 0).op = Op::Const(256), "does not fit 8";
        shifts_are_below_the_width: |p| op(p, 1).op = Op::Shl(8), "does not fit 8";
        shifts_are_not_by_zero: |p| op(p, 1).op = Op::Rotl(0), "does not fit 8";
        shuffle_groups_divide_the_width: |p| {
            op(p, 2).op = Op::Shuffle([0, 1, 2].as_slice().into());
        }, "does not fit 8";
        shuffle_groups_exist: |p| op(p, 2).op = Op::Shuffle([0, 2].as_slice().into()), "fit 8";
        shuffle_has_groups: |p| op(p, 2).op = Op::Shuffle([].as_slice().into()), "fit 8";
        bitmask_is_below_the_width: |p| op(p, 3).op = Op::Bitmask(8), "does not fit 8";
        sizes_change: |p| op(p, 1).op = Op::Resize(8), "does not fit 8";
        resized_operands_have_their_width: |p| op(p, 1).op = Op::Resize(16), "%0 has 8 bits, not 16";
        pack_doubles: |p| {
            let e = op(p, 3);
            e.op = Op::Pack;
            e.args = Args::from_slice(&[Val(0), Val(1)]);
        }, "%0 has 8 bits, not 4";
        callees_come_first: |p| call(p).node = NodeId(1), "calls node 1";
        calls_pass_all_arguments: |p| { call(p).args.pop(); }, "1 arguments";
        calls_take_all_results: |p| call(p).dsts.clear(), "for 0 results";
        arguments_have_their_width: |p| f(p).bits[0] = 16, "not 8";
        call_results_have_their_width: |p| {
            let narrow = f(p).fresh(8);
            call(p).dsts[0] = narrow;
        }, "not 16";
        loops_iterate: |p| lp(p).count = 0, "without iterations";
        reads_have_a_member_per_iteration: |p| { lp(p).reads[0].list.pop(); }, "1 of 2";
        read_members_are_from_before: |p| {
            let own = lp(p).reads[0].dst;
            lp(p).reads[0].list[1] = own;
        }, "not defined";
        read_members_have_one_width: |p| lp(p).reads[0].list[1] = call(p).dsts[0], "not 8";
        carried_values_start_before: |p| lp(p).carried[0].init = lp(p).carried[0].next,
            "not defined";
        carried_values_keep_their_width: |p| lp(p).carried[0].next = Val(0), "not 16";
        carried_results_keep_their_width: |p| {
            let narrow = f(p).fresh(8);
            lp(p).carried[0].result = narrow;
        }, "not 16";
        collects_have_a_result_per_iteration: |p| { lp(p).collects[0].results.pop(); },
            "1 times, not 2";
        collects_keep_their_width: |p| lp(p).collects[0].value = lp(p).carried[0].next, "not 16";
        bodies_stay_closed: |p| f(p).outs[0] = lp(p).carried[0].next, "not defined";
        outs_match_the_results: |p| { f(p).outs.pop(); }, "2 outs for 3";
        outs_have_their_width: |p| f(p).outs[0] = Val(0), "not 16";
        params_are_not_missing: |p| f(p).params[0].dims[0] = 1000, "not 8";
    }
}
