//! Random statements: equations, updates and loops.

use crate::decl::Gen;
use crate::expr::Place;
use crate::types::{Nat, Ty, Var, Word};

/// Deepest nesting of an expression.
const DEPTH: usize = 4;

impl Gen<'_, '_> {
    /// One statement, and the variables that it defines.
    pub fn statement(&mut self) {
        match self.choices.below(14) {
            0..=2 => self.definition(),
            3 => self.pattern(),
            4 => self.update(),
            5 => self.map_loop(),
            6 => self.state_loop(),
            7 => self.rolling_loop(),
            8 => self.update_loop(),
            9 => self.feistel_loop(),
            10 => self.nested_loop(),
            11 => self.growing_loop(),
            12 => self.results_of_a_call(),
            _ => self.nat(),
        }
    }

    /// A right side.
    fn value(&mut self, ty: &Ty) -> String {
        self.fuel = 14 / self.trip.min(5) + 2;
        let depth = self.choices.between(1, DEPTH);
        self.spend(8 * ty.atoms());
        self.expr(ty.word, ty.atoms(), depth, Place::Known)
    }

    /// A word of the values in scope, so that expressions find variables.
    fn known_word(&mut self) -> Word {
        let at = self.choices.below(self.vars.len());
        self.vars[at].ty.word
    }

    fn some_type(&mut self) -> Ty {
        Ty { word: self.known_word(), dims: self.some_dims() }
    }

    fn new_local(&mut self, letter: &str, ty: &Ty) -> String {
        let name = self.fresh(letter);
        self.local(&name, ty);
        name
    }

    fn add(&mut self, name: String, ty: Ty) {
        self.vars.push(Var { name, ty, updatable: true });
    }

    /// Defines a declared variable that nothing has defined yet, as a whole or by elements.
    pub fn define(&mut self, name: &str, ty: &Ty) {
        if ty.dims.is_empty() || self.choices.chance(60) {
            let value = self.value(ty);
            let equals = if self.choices.chance(10) { ":=" } else { "=" };
            self.line(format!("{name} {equals} {value};"));
            return;
        }
        let element = ty.element();
        let dim = ty.dims[0];
        if dim > 2 && self.choices.chance(40) {
            // A range, downwards or upwards, then the remaining elements.
            let cut = self.choices.between(1, dim - 1);
            let mut dims = element.dims.clone();
            dims.insert(0, cut);
            let part = Ty { word: ty.word, dims };
            let value = self.value(&part);
            let (a, b) = (0, cut - 1);
            let range =
                if self.choices.chance(50) { format!("{a}..{b}") } else { format!("{b}..{a}") };
            self.line(format!("{name}[{range}] = {value};"));
            for at in cut..dim {
                let value = self.value(&element);
                self.line(format!("{name}[{at}] = {value};"));
            }
            return;
        }
        let turn = self.choices.below(dim);
        for at in 0..dim {
            let value = self.value(&element);
            self.line(format!("{name}[{}] = {value};", (at + turn) % dim));
        }
    }

    fn definition(&mut self) {
        let ty = self.some_type();
        let name = self.new_local("t", &ty);
        self.define(&name, &ty);
        self.add(name, ty);
    }

    /// `(a, b) = (e, f)`
    fn pattern(&mut self) {
        let word = self.known_word();
        let mut names = Vec::new();
        let mut types = Vec::new();
        for _ in 0..self.choices.between(2, 3) {
            let ty = Ty { word, dims: self.some_dims() };
            names.push(self.new_local("t", &ty));
            types.push(ty);
        }
        let atoms = types.iter().map(Ty::atoms).sum();
        let value = self.value(&Ty { word, dims: vec![atoms] });
        self.line(format!("({}) = {value};", names.join(", ")));
        for (name, ty) in names.into_iter().zip(types) {
            self.add(name, ty);
        }
    }

    /// A call whose results may have several word sizes.
    fn results_of_a_call(&mut self) {
        if self.callees.is_empty() {
            return self.definition();
        }
        let at = self.choices.below(self.callees.len());
        let callee = self.callees[at].clone();
        let word = self.known_word();
        self.fuel = 6;
        let Some(call) = self.call_of(&callee, word, 2) else { return self.definition() };
        let mut names = Vec::new();
        for ty in &callee.results {
            let word = if ty.word == Word::Open { word } else { ty.word };
            let ty = Ty { word, dims: ty.dims.clone() };
            let name = self.new_local("t", &ty);
            names.push((name, ty));
        }
        let list: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        self.line(format!("({}) = {call};", list.join(", ")));
        for (name, ty) in names {
            self.add(name, ty);
        }
    }

    fn nat(&mut self) {
        if self.nats.len() > 2 {
            return self.definition();
        }
        let name = self.fresh("k");
        self.nat_local(&name);
        let value = self.choices.between(0, 6);
        self.line(format!("{name} = {value} * 3 / 3;"));
        self.nats.push(Nat { name, most: value });
    }

    /// `x := e`, `x[i] := e`, `(x, y) := (e, f)`, `x op:= e` on something that may change.
    pub fn update(&mut self) {
        let fit: Vec<Var> = self.vars.iter().filter(|v| v.updatable).cloned().collect();
        if fit.is_empty() {
            return self.definition();
        }
        let var = self.choices.pick(&fit).clone();
        let (name, ty) = if !var.ty.dims.is_empty() && self.choices.chance(60) {
            let index = self.index(var.ty.dims[0]);
            (format!("{}[{index}]", var.name), var.ty.element())
        } else {
            (var.name.clone(), var.ty.clone())
        };
        let same: Vec<Var> =
            fit.iter().filter(|v| v.ty == ty && v.name != var.name).cloned().collect();
        if !same.is_empty() && self.choices.chance(40) {
            let other = self.choices.pick(&same).clone();
            let (a, b) = (self.value(&ty), self.value(&ty));
            // Bare bits would share the whole list, so the parts are cut by operators.
            let zero = |text: String, name: &str| format!("({text}) ^ {name}");
            let (a, b) = (zero(a, &name), zero(b, &other.name));
            self.line(format!("({name}, {}) := ({a}, {b});", other.name));
            return;
        }
        let value = self.value(&ty);
        let mut ops = vec!["", "^", "&", "|"];
        if self.arithmetic && ty.word.has_arithmetic() && self.spend(80 * ty.atoms()) {
            ops.extend(["+", "-"]);
        }
        let op = *self.choices.pick(&ops);
        let space = if self.choices.chance(10) { " " } else { "" };
        self.line(format!("{name} {op}{space}:= {value};"));
    }

    /// Opens a loop over `from..=to` and returns its bounds and its index.
    fn open(&mut self, count: usize) -> Option<String> {
        if self.trip * count > 60 {
            return None;
        }
        let name = self.fresh("i");
        let option = match self.choices.below(8) {
            6 => "_unroll ",
            7 => "_no_unroll ",
            5 if self.choices.chance(30) => "_pipelined ",
            _ => "",
        };
        let (a, b) = (0, count - 1);
        let bounds = if self.choices.chance(25) { format!("{b},{a}") } else { format!("{a},{b}") };
        self.line(format!("{option}forall {name} in [{bounds}] {{"));
        self.indent += 1;
        self.trip *= count;
        self.nats.push(Nat { name: name.clone(), most: count - 1 });
        Some(name)
    }

    fn close(&mut self, count: usize) {
        self.nats.pop();
        self.trip /= count;
        self.indent -= 1;
        let end = if self.choices.chance(20) { "};" } else { "}" };
        self.line(end.to_string());
    }

    /// Locals of one iteration, before the statements on the state.
    fn helpers(&mut self) {
        for _ in 0..if self.choices.chance(30) { self.choices.between(1, 2) } else { 0 } {
            let ty = self.some_type();
            let name = self.new_local("t", &ty);
            let value = self.value(&ty);
            self.line(format!("{name} := {value};"));
            self.add(name, ty);
        }
    }

    /// `y[i] = f(i)` for every i.
    fn map_loop(&mut self) {
        let word = self.known_word();
        let count = self.choices.between(1, 6);
        let inner = if self.choices.chance(30) { vec![2] } else { vec![] };
        let element = Ty { word, dims: inner.clone() };
        let ty = Ty { word, dims: [vec![count], inner].concat() };
        let name = self.new_local("a", &ty);
        let Some(i) = self.open(count) else { return self.define_and_add(name, ty) };
        self.helpers();
        let value = self.value(&element);
        let at = if self.choices.chance(25) { format!("{} - {i}", count - 1) } else { i };
        self.line(format!("{name}[{at}] = {value};"));
        self.close(count);
        self.add(name, ty);
    }

    fn define_and_add(&mut self, name: String, ty: Ty) {
        self.define(&name, &ty);
        self.add(name, ty);
    }

    /// `s[i+1] = f(s[i])`, or downwards.
    fn state_loop(&mut self) {
        let element = self.some_type();
        let count = self.choices.between(1, 6);
        let mut dims = element.dims.clone();
        dims.insert(0, count + 1);
        let ty = Ty { word: element.word, dims };
        let name = self.new_local("s", &ty);
        let down = self.choices.chance(25);
        let first = self.value(&element);
        self.line(format!("{name}[{}] = {first};", if down { count } else { 0 }));
        if self.trip * count > 60 {
            for at in 1..=count {
                let (at, from) = if down { (count - at, count - at + 1) } else { (at, at - 1) };
                let value = self.value(&element);
                self.line(format!("{name}[{at}] = {value} ^ {name}[{from}];"));
            }
            return self.add(name, ty);
        }
        // The loop has the direction of the state.
        let index = self.fresh("i");
        let bounds = if down { format!("{},0", count - 1) } else { format!("0,{}", count - 1) };
        let option = ["", "", "", "_no_unroll ", "_unroll "][self.choices.below(5)];
        self.line(format!("{option}forall {index} in [{bounds}] {{"));
        self.indent += 1;
        self.trip *= count;
        self.nats.push(Nat { name: index.clone(), most: count - 1 });
        let (from, to) = if down {
            (format!("{name}[{index} + 1]"), format!("{name}[{index}]"))
        } else {
            (format!("{name}[{index}]"), format!("{name}[{index} + 1]"))
        };
        let scope = self.vars.len();
        self.vars.push(Var { name: from.clone(), ty: element.clone(), updatable: false });
        self.helpers();
        let value = self.value(&element);
        let keep = if self.choices.chance(50) { format!("({value}) ^ {from}") } else { value };
        self.line(format!("{to} = {keep};"));
        self.vars.remove(scope);
        self.close(count);
        let last = format!("{name}[{}]", if down { 0 } else { count });
        self.add(name, ty);
        self.vars.push(Var { name: last, ty: element, updatable: false });
    }

    /// `w[(i+1) % n] = f(w[i % n])`
    fn rolling_loop(&mut self) {
        let element = self.some_type();
        let slots = self.choices.between(2, 3);
        let count = slots + self.choices.below(4);
        let mut dims = element.dims.clone();
        dims.insert(0, slots);
        let ty = Ty { word: element.word, dims };
        let name = self.new_local("w", &ty);
        let first = self.value(&element);
        self.line(format!("{name}[0] = {first};"));
        if self.trip * count > 60 {
            for at in 1..slots {
                self.line(format!("{name}[{at}] = {name}[{}];", at - 1));
            }
            return self.add(name, ty);
        }
        let index = self.fresh("i");
        self.line(format!("forall {index} in [0,{}] {{", count - 1));
        self.indent += 1;
        self.trip *= count;
        self.nats.push(Nat { name: index.clone(), most: count - 1 });
        let from = format!("{name}[{index} % {slots}]");
        self.vars.push(Var { name: from.clone(), ty: element.clone(), updatable: false });
        let value = self.value(&element);
        self.vars.pop();
        self.line(format!("{name}[({index} + 1) % {slots}] = ({value}) ^ {from};"));
        self.close(count);
        self.add(name, ty);
    }

    /// Updates that are read by the next iteration and after the loop.
    fn update_loop(&mut self) {
        let count = self.choices.between(2, 6);
        if self.open(count).is_none() {
            return self.update();
        }
        for _ in 0..self.choices.between(1, 3) {
            self.update();
        }
        self.close(count);
    }

    /// `(l, r) := (r, l ^ f(r))`
    fn feistel_loop(&mut self) {
        let ty = self.some_type();
        let (l, r) = (self.new_local("l", &ty), self.new_local("r", &ty));
        for name in [&l, &r] {
            let value = self.value(&ty);
            self.line(format!("{name} = {value};"));
            self.add(name.clone(), ty.clone());
        }
        let count = self.choices.between(2, 6);
        if self.open(count).is_none() {
            return;
        }
        let value = self.value(&ty);
        match self.choices.below(3) {
            0 => self.line(format!("({l}, {r}) := ({r}, {l} ^ ({value}));")),
            1 => {
                let t = self.new_local("t", &ty);
                self.line(format!("{t} := {l} ^ ({value});"));
                self.line(format!("{l} := {r};"));
                self.line(format!("{r} := {t};"));
            }
            _ => {
                self.line(format!("{l} ^:= {value};"));
                self.line(format!("({l}, {r}) := ({r}, {l});"));
            }
        }
        self.close(count);
    }

    /// `y[i][j] = f(i, j)`
    fn nested_loop(&mut self) {
        let word = self.known_word();
        let (rows, columns) = (self.choices.between(2, 3), self.choices.between(2, 3));
        let ty = Ty { word, dims: vec![rows, columns] };
        let name = self.new_local("m", &ty);
        if self.trip * rows * columns > 60 {
            return self.define_and_add(name, ty);
        }
        let i = self.open(rows).expect("it fits");
        self.helpers();
        let j = self.open(columns).expect("it fits");
        let value = self.value(&Ty { word, dims: vec![] });
        self.line(format!("{name}[{i}][{j}] = {value};"));
        self.close(columns);
        self.close(rows);
        self.add(name, ty);
    }

    /// An accumulator in a loop whose inner bounds depend on the outer index.
    fn growing_loop(&mut self) {
        let ty = self.some_type();
        let name = self.new_local("c", &ty);
        self.define(&name, &ty);
        self.add(name.clone(), ty.clone());
        let count = self.choices.between(2, 4);
        if self.trip * count * count > 60 {
            return;
        }
        let Some(i) = self.open(count) else { return };
        let j = self.fresh("j");
        let bounds = ["0,", ""][self.choices.below(2)];
        let bounds =
            if bounds.is_empty() { format!("{i},{}", count - 1) } else { format!("0,{i}") };
        self.line(format!("forall {j} in [{bounds}] {{"));
        self.indent += 1;
        self.trip *= count;
        self.nats.push(Nat { name: j, most: count - 1 });
        let value = self.value(&ty);
        let op = *self.choices.pick(&["^", "|", "&", ""]);
        self.line(format!("{name} {op}:= {value};"));
        self.close(count);
        self.close(count);
    }
}
