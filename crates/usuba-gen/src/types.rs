//! Words, variables and callees as the generator sees them.

use crate::choices::Choices;

/// The word size of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    Bits(u8),
    /// `'m` inside of a polymorphic node.
    Open,
}

impl Word {
    /// Whether `+ - *` exist.
    pub fn has_arithmetic(self) -> bool {
        matches!(self, Word::Bits(8 | 16 | 32 | 64))
    }
}

/// The type of a variable: words in dimensions, outer one first; none for a single word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ty {
    pub word: Word,
    pub dims: Vec<usize>,
}

impl Ty {
    pub fn atoms(&self) -> usize {
        self.dims.iter().product()
    }

    /// The type of one element.
    pub fn element(&self) -> Ty {
        Ty { word: self.word, dims: self.dims[1..].to_vec() }
    }

    /// One of its spellings: the innermost dimension may belong to the type word.
    pub fn text(&self, choices: &mut Choices<'_>) -> String {
        let mut dims = self.dims.as_slice();
        let vector = match dims {
            // A vector of one word is a word.
            [outer @ .., last] if *last > 1 && choices.chance(60) => {
                dims = outer;
                Some(*last)
            }
            _ => None,
        };
        let mut text = match (self.word, vector) {
            (Word::Bits(1), Some(n)) => match choices.below(3) {
                0 | 1 => format!("b{n}"),
                _ => format!("u1x{n}"),
            },
            (Word::Bits(1), None) => ["b1", "u1"][choices.below(2)].to_string(),
            (Word::Bits(m), Some(n)) => format!("u{m}x{n}"),
            (Word::Bits(m), None) => format!("u{m}"),
            (Word::Open, Some(n)) => format!("v{n}"),
            (Word::Open, None) => ["v1", "u'm"][choices.below(2)].to_string(),
        };
        for dim in dims {
            text.push_str(&format!("[{dim}]"));
        }
        text
    }
}

/// Something that can be read: a variable, or a selection of one that is an array again.
#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    /// Whether `:=` may change it.
    pub updatable: bool,
}

/// A compile-time integer in scope.
#[derive(Clone, Debug)]
pub struct Nat {
    pub name: String,
    /// Its largest value; the smallest is 0 or more.
    pub most: usize,
}

/// A declaration that later nodes may call.
#[derive(Clone, Debug)]
pub struct Callee {
    pub name: String,
    /// Number of alternatives of an array.
    pub alternatives: Option<usize>,
    pub params: Vec<Ty>,
    /// Largest value of each nat parameter; they stand behind the others.
    pub nats: Vec<usize>,
    pub results: Vec<Ty>,
    /// Roughly the number of operators that a call runs.
    pub cost: usize,
}

impl Callee {
    /// The word of all results, if there is one, and their number of atoms.
    pub fn result(&self) -> Option<(Word, usize)> {
        let word = self.results[0].word;
        let same = self.results.iter().all(|ty| ty.word == word);
        same.then(|| (word, self.results.iter().map(Ty::atoms).sum()))
    }

    /// Whether the word size follows from the call.
    pub fn is_open(&self) -> bool {
        self.params[0].word == Word::Open
    }
}
