//! Random expressions of a type: a number of atoms of one word size.

use crate::decl::Gen;
use crate::types::{Callee, Var, Word};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The type is known from outside, so that literals need none: a right side, an operand
    /// beside another one.
    Known,
    /// Literals must say their type.
    Open,
}

impl Gen<'_, '_> {
    /// An expression of `n` atoms.
    pub fn expr(&mut self, word: Word, n: usize, depth: usize, place: Place) -> String {
        if depth == 0 || self.fuel == 0 {
            return self.leaf(word, n, place);
        }
        self.fuel -= 1;
        let d = depth - 1;
        match self.choices.below(17) {
            0 => self.leaf(word, n, place),
            1..=4 => self.logic(word, n, d, place),
            5 => format!("{}{}", self.choices.pick(&["~", "!"]), self.tight(word, n, d, place)),
            6 | 7 => self.shift(word, n, d, place),
            8 | 9 if n > 1 => self.tuple(word, n, d, place),
            8..=11 => self.call(word, n, d).unwrap_or_else(|| self.logic(word, n, d, place)),
            12 => self.shuffle(word, n).unwrap_or_else(|| self.logic(word, n, d, place)),
            13 => self.bitmask_or_pack(word, n, d).unwrap_or_else(|| self.leaf(word, n, place)),
            14 | 15 if self.arithmetic && word.has_arithmetic() => self.arith(word, n, d, place),
            14 | 15 => self.logic(word, n, d, place),
            _ => format!("refresh({})", self.expr(word, n, d, Place::Open)),
        }
    }

    /// An expression that can stand beside an operator.
    fn tight(&mut self, word: Word, n: usize, depth: usize, place: Place) -> String {
        let text = self.expr(word, n, depth, place);
        let simple = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_'".contains(&b));
        if simple || self.choices.chance(5) && !text.contains(['<', '>']) {
            text
        } else {
            format!("({text})")
        }
    }

    fn leaf(&mut self, word: Word, n: usize, place: Place) -> String {
        if self.choices.chance(12)
            && let Some(literal) = self.literal(word, n, place)
        {
            return literal;
        }
        if let Some(text) = self.select(word, n) {
            return text;
        }
        if n > 1 && self.vars.iter().any(|v| v.ty.word == word) {
            let parts: Vec<String> = (0..n)
                .map(|_| self.select(word, 1).expect("there is a variable of the word"))
                .collect();
            return format!("({})", parts.join(", "));
        }
        self.literal(word, n, place).expect("polymorphic nodes have parameters of their word")
    }

    /// Literals for `n` atoms; none for an open word size.
    fn literal(&mut self, word: Word, n: usize, place: Place) -> Option<String> {
        let Word::Bits(m) = word else { return None };
        let bits = if m == 1 { n.min(64) as u32 } else { m as u32 };
        let bare = place == Place::Known && self.choices.chance(70);
        Some(match (m, n) {
            (1, _) if bare => self.number(bits),
            (1, _) => format!("{}:b{n}", self.number(bits)),
            (_, 1) if bare => self.number(bits),
            (_, 1) => format!("{}:u{m}", self.number(bits)),
            _ => {
                let parts: Vec<String> = (0..n)
                    .map(|_| {
                        if bare { self.number(bits) } else { format!("{}:u{m}", self.number(bits)) }
                    })
                    .collect();
                format!("({})", parts.join(", "))
            }
        })
    }

    /// A number below 2^bits; the edges are frequent.
    fn number(&mut self, bits: u32) -> String {
        let value = match self.choices.below(5) {
            0 => 0,
            1 => u64::MAX >> (64 - bits),
            _ => self.choices.word() >> (64 - bits),
        };
        if self.choices.chance(50) { format!("{value:#x}") } else { value.to_string() }
    }

    /// A selection of `n` atoms of one variable.
    pub fn select(&mut self, word: Word, n: usize) -> Option<String> {
        let fit: Vec<Var> = self
            .vars
            .iter()
            .filter(|v| v.ty.word == word && (n == 1 || !v.ty.dims.is_empty()))
            .cloned()
            .collect();
        if fit.is_empty() {
            return None;
        }
        // Variables that are new are read more often, so that chains grow long.
        let back = self.choices.below(fit.len()).min(self.choices.below(fit.len()));
        let var = &fit[fit.len() - 1 - back];
        let selectors = self.selectors(&var.ty.dims, n)?;
        Some(format!("{}{selectors}", var.name))
    }

    /// Selectors that pick `n` atoms of an array, members possibly more than once.
    fn selectors(&mut self, dims: &[usize], n: usize) -> Option<String> {
        let size: usize = dims.iter().product();
        if size == n && (dims.is_empty() || self.choices.chance(70)) {
            return Some(String::new());
        }
        let (&dim, rest) = dims.split_first()?;
        // The number of members of this dimension that are taken; inner dimensions take the rest.
        let counts: Vec<usize> =
            (1..=n).filter(|c| n.is_multiple_of(*c) && (n / c == 1 || !rest.is_empty())).collect();
        if counts.is_empty() {
            return None;
        }
        let count = *self.choices.pick(&counts);
        let below = self.selectors(rest, n / count)?;
        if count == 1 {
            return Some(format!("[{}]{below}", self.index(dim)));
        }
        if count <= dim && self.choices.chance(60) {
            let from = self.choices.below(dim - count + 1);
            let (a, b) = (from, from + count - 1);
            let range =
                if self.choices.chance(30) { format!("{b}..{a}") } else { format!("{a}..{b}") };
            return Some(format!("[{range}]{below}"));
        }
        let list: Vec<String> = (0..count).map(|_| self.index(dim)).collect();
        Some(format!("[{}]{below}", list.join(",")))
    }

    /// An index expression from 0 to `dim - 1`.
    pub fn index(&mut self, dim: usize) -> String {
        let constant = self.choices.below(dim);
        if self.nats.is_empty() || !self.choices.chance(70) {
            return match self.choices.below(8) {
                7 if constant > 0 => format!("{} + 1", constant - 1),
                6 => format!("{} % {dim}", constant + dim),
                5 => format!("{} / 2", constant * 2 + 1),
                _ => constant.to_string(),
            };
        }
        let nat = self.choices.pick(&self.nats).clone();
        let i = &nat.name;
        let fits = nat.most < dim;
        match self.choices.below(5) {
            0 | 1 if fits => i.clone(),
            2 if fits => format!("{} - {i}", dim - 1),
            3 => format!("({i} - {}) % {dim}", self.choices.below(5)),
            _ => format!("({i} * {} + {constant}) % {dim}", self.choices.between(1, 3)),
        }
    }

    /// A shift amount, mostly up to `most`.
    fn amount(&mut self, most: usize) -> String {
        let constant = self.choices.between(0, most + 1);
        if self.nats.is_empty() || !self.choices.chance(40) {
            return constant.to_string();
        }
        let nat = self.choices.pick(&self.nats).clone();
        match self.choices.below(3) {
            0 => nat.name,
            1 => format!("({} + {constant})", nat.name),
            _ => format!("{} * 3 % {}", nat.name, most + 1),
        }
    }

    fn logic(&mut self, word: Word, n: usize, depth: usize, place: Place) -> String {
        let op = *self.choices.pick(&["^", "&", "|", "^"]);
        let left = self.tight(word, n, depth, place);
        // A literal takes the type of the other operand; where that is bare, too, the type is
        // known from outside.
        if self.choices.chance(15)
            && let Some(literal) = self.literal(word, n, Place::Known)
        {
            return format!("{left} {op} {literal}");
        }
        let right = self.tight(word, n, depth, place);
        format!("{left} {op} {right}")
    }

    fn arith(&mut self, word: Word, n: usize, depth: usize, place: Place) -> String {
        let Word::Bits(m) = word else { unreachable!("open words have no arithmetic") };
        let cost = n * m as usize * if m <= 16 { 1 } else { 4 };
        let times = m <= 16 && n <= 2 && self.trip == 1 && self.choices.chance(15);
        if !self.spend(cost * if times { m as usize } else { 5 }) {
            return self.logic(word, n, depth, place);
        }
        let op = if times { "*" } else { *self.choices.pick(&["+", "-", "+"]) };
        let left = self.tight(word, n, depth, place);
        let right = self.tight(word, n, depth, place);
        format!("{left} {op} {right}")
    }

    fn shift(&mut self, word: Word, n: usize, depth: usize, place: Place) -> String {
        let inner = self.tight(word, n, depth, place);
        let width = match word {
            _ if n > 1 => n,
            Word::Bits(m) => m as usize,
            Word::Open => 4,
        };
        let ops = ["<<<", ">>>", "<<", ">>", ">>!"];
        let op = ops[self.choices.below(if n == 1 { 5 } else { 4 })];
        let amount = self.amount(width);
        format!("({inner} {op} {amount})")
    }

    fn tuple(&mut self, word: Word, n: usize, depth: usize, place: Place) -> String {
        let count = self.choices.between(2, n.min(4));
        let mut parts = Vec::new();
        let mut left = n;
        // One literal on bits takes the size that the other parts leave; two would have to share
        // it.
        let lone = (place == Place::Known && word == Word::Bits(1)).then(|| self.choices.below(8));
        for at in (0..count).rev() {
            let take = if at == 0 { left } else { self.choices.between(1, left - at) };
            left -= take;
            if lone == Some(at) {
                parts.push(self.number(take.min(64) as u32));
                continue;
            }
            // Bare words take one atom each.
            let bare = place == Place::Known && word != Word::Bits(1) && take == 1;
            parts.push(self.expr(word, take, depth, if bare { place } else { Place::Open }));
        }
        format!("({})", parts.join(", "))
    }

    fn shuffle(&mut self, word: Word, n: usize) -> Option<String> {
        let Word::Bits(m) = word else { return None };
        let var = self.select(word, n)?;
        let groups: Vec<usize> =
            (1..=m as usize).filter(|k| (m as usize).is_multiple_of(*k)).collect();
        let k = *self.choices.pick(&groups);
        let turn = self.choices.below(k);
        let permute = self.choices.chance(50);
        let pattern: Vec<String> = (0..k)
            .map(|i| if permute { (i + turn) % k } else { self.choices.below(k) }.to_string())
            .collect();
        let pattern = pattern.join(",");
        Some(match self.choices.below(2) {
            0 => format!("{var}{{{pattern}}}"),
            _ => format!("Shuffle({var}, [{pattern}])"),
        })
    }

    fn bitmask_or_pack(&mut self, word: Word, n: usize, depth: usize) -> Option<String> {
        let Word::Bits(m) = word else { return None };
        if !self.arithmetic {
            return None;
        }
        let half = Word::Bits(m / 2);
        if m % 2 == 0 && self.choices.chance(50) && self.vars.iter().any(|v| v.ty.word == half) {
            let a = self.expr(half, n, depth, Place::Known);
            let b = self.expr(half, n, depth, Place::Known);
            let times = if n > 1 { format!("x{n}") } else { String::new() };
            return Some(format!("Pack({a}, {b}):u{m}{times}"));
        }
        let bit = self.choices.below(m as usize);
        Some(format!("Bitmask({}, {bit})", self.expr(word, n, depth, Place::Open)))
    }

    /// A call whose results are all of the word and together `n` atoms.
    fn call(&mut self, word: Word, n: usize, depth: usize) -> Option<String> {
        let fit: Vec<Callee> = self
            .callees
            .iter()
            .filter(|c| {
                let Some((w, count)) = c.result() else { return false };
                count == n && (w == word || w == Word::Open)
            })
            .cloned()
            .collect();
        if fit.is_empty() {
            return None;
        }
        let callee = self.choices.pick(&fit).clone();
        self.call_of(&callee, word, depth)
    }

    /// A call of `callee`; its open words become `word`. None if it costs too much.
    pub fn call_of(&mut self, callee: &Callee, word: Word, depth: usize) -> Option<String> {
        let width = match (callee.is_open(), word) {
            (true, Word::Bits(m)) => m as usize,
            _ => 1,
        };
        if !self.spend(callee.cost * width) {
            return None;
        }
        let mut args = Vec::new();
        for ty in &callee.params {
            let word = if ty.word == Word::Open { word } else { ty.word };
            args.push(self.expr(word, ty.atoms(), depth, Place::Open));
        }
        for &most in &callee.nats {
            args.push(self.nat_argument(most));
        }
        let index = match callee.alternatives {
            None => String::new(),
            Some(count) => format!("<{}>", self.index(count)),
        };
        Some(format!("{}{index}({})", callee.name, args.join(", ")))
    }

    /// A nat expression from 0 to `most`.
    fn nat_argument(&mut self, most: usize) -> String {
        let constant = self.choices.between(0, most);
        let fit: Vec<String> =
            self.nats.iter().filter(|nat| nat.most <= most).map(|nat| nat.name.clone()).collect();
        if fit.is_empty() || self.choices.chance(50) {
            return match self.choices.below(3) {
                2 => format!("({constant} * 4 + 2) / 4"),
                _ => constant.to_string(),
            };
        }
        let i = self.choices.pick(&fit).clone();
        if self.choices.chance(50) { i } else { format!("({i} + {constant}) % {}", most + 1) }
    }
}
