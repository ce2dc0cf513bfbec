//! Random declarations: tables, perms, nodes, and the program.

use crate::choices::Choices;
use crate::types::{Callee, Nat, Ty, Var, Word};

/// Largest estimate of operators that one program runs.
const LIMIT: usize = 6000;

/// The state of the generator.
pub(crate) struct Gen<'a, 'c> {
    pub choices: &'c mut Choices<'a>,
    text: String,
    pub callees: Vec<Callee>,
    /// The word sizes of the program.
    words: Vec<u8>,
    /// Whether operators may be used that horizontal slicing does not have.
    pub arithmetic: bool,
    /// Estimated operators of the node so far.
    cost: usize,

    /// The readable values in scope, oldest first.
    pub vars: Vec<Var>,
    /// Compile-time integers in scope.
    pub nats: Vec<Nat>,
    /// Declarations of the locals of the body.
    locals: Vec<(String, String)>,
    /// Lines of the body.
    lines: Vec<String>,
    pub indent: usize,
    /// Expressions that the equation may still nest.
    pub fuel: usize,
    /// Iterations of all open loops together.
    pub trip: usize,
    fresh: usize,
}

/// A program. Its entry is the last node; all its types are concrete.
pub fn program(choices: &mut Choices<'_>) -> String {
    let mut g = Gen {
        choices,
        text: String::new(),
        callees: Vec::new(),
        words: Vec::new(),
        arithmetic: false,
        cost: 0,
        vars: Vec::new(),
        nats: Vec::new(),
        locals: Vec::new(),
        lines: Vec::new(),
        indent: 0,
        fuel: 0,
        trip: 1,
        fresh: 0,
    };
    g.program();
    g.text
}

impl Gen<'_, '_> {
    fn program(&mut self) {
        // One word size without arithmetic exists in every slicing, horizontal among them.
        self.words = match self.choices.below(8) {
            0 => vec![1],
            1 | 2 => vec![*self.choices.pick(&[16u8, 8, 4, 2])],
            3 => vec![*self.choices.pick(&[8u8, 16, 32, 64])],
            4 => vec![*self.choices.pick(&[3u8, 5, 12, 24, 33, 48, 63])],
            5 => vec![8, 16],
            6 => vec![1, 32, 16],
            _ => vec![*self.choices.pick(&[4u8, 8, 1]), *self.choices.pick(&[64u8, 32, 7]), 1],
        };
        let alone = matches!(self.words[..], [1 | 2 | 4 | 8 | 16]);
        self.arithmetic = !alone || self.choices.chance(30);
        for _ in 0..self.choices.below(5) {
            match self.choices.below(6) {
                0 | 1 => self.table(),
                2 => self.perm(),
                _ => self.node(false),
            }
        }
        self.node(true);
    }

    /// Spends `cost` operators of the budget, once for each iteration of the open loops.
    pub fn spend(&mut self, cost: usize) -> bool {
        let cost = cost * self.trip;
        let fits = self.cost + cost <= LIMIT;
        if fits {
            self.cost += cost;
        }
        fits
    }

    pub fn fresh(&mut self, letter: &str) -> String {
        self.fresh += 1;
        let quote = if self.choices.chance(10) { "'" } else { "" };
        format!("{letter}{}{quote}", self.fresh)
    }

    pub fn line(&mut self, text: String) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.indent)));
    }

    pub fn local(&mut self, name: &str, ty: &Ty) {
        let text = ty.text(self.choices);
        self.locals.push((name.to_string(), text));
    }

    pub fn nat_local(&mut self, name: &str) {
        self.locals.push((name.to_string(), "nat".into()));
    }

    /// A word size of the program.
    pub fn some_word(&mut self) -> Word {
        Word::Bits(*self.choices.pick(&self.words))
    }

    /// Dimensions with at most eight atoms.
    pub fn some_dims(&mut self) -> Vec<usize> {
        match self.choices.below(9) {
            0..=2 => vec![],
            3..=5 => vec![self.choices.between(2, 4)],
            6 => vec![self.choices.between(5, 8)],
            7 => vec![2, self.choices.between(2, 4)],
            _ => vec![2, 2, 2],
        }
    }

    /// A word for a table or perm: concrete, or open so that each call chooses.
    fn table_word(&mut self) -> Word {
        if self.choices.chance(50) { Word::Open } else { self.some_word() }
    }

    fn group(&mut self, vars: &[(String, Ty, bool)]) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut last: Option<(&Ty, bool)> = None;
        for (name, ty, constant) in vars {
            if last == Some((ty, *constant)) && self.choices.chance(70) {
                // Grouped declarations: the name goes before the type of the one before it.
                let group = parts.last_mut().expect("there is one before");
                let (names, ty) = group.rsplit_once(':').expect("a group has a type");
                *group = format!("{names}, {name}:{ty}");
                continue;
            }
            let constant_word = if *constant { "const " } else { "" };
            parts.push(format!("{name}:{constant_word}{}", ty.text(self.choices)));
            last = Some((ty, *constant));
        }
        parts.join(", ")
    }

    /// Cuts `atoms` words into one or two variables.
    fn cut(&mut self, letter: &str, word: Word, atoms: usize) -> Vec<(String, Ty, bool)> {
        let first = if atoms > 1 { self.choices.between(1, atoms) } else { 1 };
        [first, atoms - first]
            .into_iter()
            .filter(|&n| n > 0)
            .map(|n| {
                let dims = if n == 1 { vec![] } else { vec![n] };
                (self.fresh(letter), Ty { word, dims }, false)
            })
            .collect()
    }

    fn table(&mut self) {
        let word = self.table_word();
        let (inputs, outputs) = (self.choices.between(2, 5), self.choices.between(1, 4));
        let count = self.choices.chance(25).then(|| self.choices.between(2, 3));
        let params = self.cut("x", word, inputs);
        let results = self.cut("y", word, outputs);
        let mut lists = Vec::new();
        for _ in 0..count.unwrap_or(1) {
            let mut entries: Vec<u64> = (0..1u64 << inputs).map(|i| i % (1 << outputs)).collect();
            for at in (1..entries.len()).rev() {
                entries.swap(at, self.choices.below(at + 1));
            }
            let entries: Vec<String> = entries.iter().map(u64::to_string).collect();
            lists.push(format!("{{ {} }}", entries.join(", ")));
        }
        let order = if self.choices.chance(30) { "_lsb_first " } else { "" };
        let cost = 12 * outputs;
        self.list("table", order, count, params, results, lists, cost);
    }

    fn perm(&mut self) {
        let word = self.table_word();
        let (inputs, outputs) = (self.choices.between(1, 8), self.choices.between(1, 8));
        let count = self.choices.chance(25).then(|| self.choices.between(2, 3));
        let params = self.cut("x", word, inputs);
        let results = self.cut("y", word, outputs);
        let mut lists = Vec::new();
        for _ in 0..count.unwrap_or(1) {
            let entries: Vec<String> =
                (0..outputs).map(|_| self.choices.between(1, inputs).to_string()).collect();
            lists.push(format!("{{ {} }}", entries.join(", ")));
        }
        self.list("perm", "", count, params, results, lists, 1);
    }

    #[allow(clippy::too_many_arguments)] // The parts of one declaration, in their order.
    fn list(
        &mut self,
        noun: &str,
        order: &str,
        count: Option<usize>,
        params: Vec<(String, Ty, bool)>,
        results: Vec<(String, Ty, bool)>,
        lists: Vec<String>,
        cost: usize,
    ) {
        let name = self.fresh(&noun[..1]);
        let array = if count.is_some() { "[]" } else { "" };
        let head = format!(
            "{order}{noun}{array} {name} ({}) returns ({})",
            self.group(&params),
            self.group(&results)
        );
        let body =
            if count.is_some() { format!("[ {} ]", lists.join(" ; ")) } else { lists.concat() };
        self.text.push_str(&format!("{head} {body}\n\n"));
        let types = |vars: Vec<(String, Ty, bool)>| vars.into_iter().map(|(_, ty, _)| ty).collect();
        self.callees.push(Callee {
            name,
            alternatives: count,
            params: types(params),
            nats: Vec::new(),
            results: types(results),
            cost,
        });
    }

    fn node(&mut self, entry: bool) {
        let open = !entry && self.choices.chance(25);
        let mut params = Vec::new();
        for at in 0..self.choices.between(1, 4) {
            let word = if open && at < 2 { Word::Open } else { self.some_word() };
            let ty = Ty { word, dims: self.some_dims() };
            let constant = self.choices.chance(20);
            params.push((self.fresh("x"), ty, constant));
        }
        let mut nats: Vec<Nat> = Vec::new();
        for _ in 0..if !entry && self.choices.chance(25) { self.choices.between(1, 2) } else { 0 } {
            let most = self.choices.between(1, 6);
            nats.push(Nat { name: self.fresh("n"), most });
        }
        let mut results = Vec::new();
        for _ in 0..self.choices.between(1, 3) {
            let word = if open { Word::Open } else { self.some_word() };
            results.push((self.fresh("y"), Ty { word, dims: self.some_dims() }, false));
        }
        let array = (!entry && self.choices.chance(20)).then(|| self.choices.between(2, 3));
        self.cost = 0;
        let bodies: Vec<String> =
            (0..array.unwrap_or(1)).map(|_| self.body(&params, &nats, &results)).collect();
        let name = if entry { "entry".to_string() } else { self.fresh("f") };
        let option = match self.choices.below(8) {
            5 => "_inline ",
            6 => "_no_inline ",
            7 => "_no_opt ",
            _ => "",
        };
        let mut signature = self.group(&params);
        for nat in &nats {
            signature.push_str(&format!(", {}:nat", nat.name));
        }
        let brackets = if array.is_some() { "[]" } else { "" };
        let head = format!(
            "{option}node{brackets} {name} ({signature}) returns ({})",
            self.group(&results)
        );
        let body = match array {
            None => bodies.concat(),
            Some(_) => format!("[\n{}]\n", bodies.join(";\n")),
        };
        self.text.push_str(&format!("{head}\n{body}\n"));
        let types =
            |vars: &[(String, Ty, bool)]| vars.iter().map(|(_, ty, _)| ty.clone()).collect();
        self.callees.push(Callee {
            name,
            alternatives: array,
            params: types(&params),
            nats: nats.iter().map(|nat| nat.most).collect(),
            results: types(&results),
            cost: self.cost + 1,
        });
    }

    /// `vars ... let ... tel`
    fn body(
        &mut self,
        params: &[(String, Ty, bool)],
        nats: &[Nat],
        results: &[(String, Ty, bool)],
    ) -> String {
        self.vars = params
            .iter()
            .map(|(name, ty, constant)| Var {
                name: name.clone(),
                ty: ty.clone(),
                updatable: !constant,
            })
            .collect();
        self.nats = nats.to_vec();
        self.locals.clear();
        self.lines.clear();
        self.indent = 1;
        self.trip = 1;
        for _ in 0..self.choices.below(6) {
            self.statement();
        }
        for (name, ty, _) in results {
            self.define(name, ty);
            self.vars.push(Var { name: name.clone(), ty: ty.clone(), updatable: true });
        }
        for _ in 0..if self.choices.chance(15) { 1 } else { 0 } {
            self.update();
        }
        let mut text = String::new();
        if !self.locals.is_empty() {
            let locals: Vec<String> =
                self.locals.iter().map(|(name, ty)| format!("{name}:{ty}")).collect();
            text.push_str(&format!("vars {}\n", locals.join(", ")));
        }
        text.push_str(&format!("let\n{}\ntel\n", self.lines.join("\n")));
        text
    }
}
