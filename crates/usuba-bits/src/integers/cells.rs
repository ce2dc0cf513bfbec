//! Addition, subtraction, products and comparisons of cells over the integer abstraction.

use super::*;

/// The edges of cells of one instance, and the instance.
pub(super) fn gathered(bits: &Bits, words: &[&[Cell]]) -> Option<(Vec<Vec<Edge>>, Instance)> {
    let mut instance = Instance::Every;
    let mut all = Vec::with_capacity(words.len());
    for cells in words {
        let mut edges = Vec::with_capacity(cells.len());
        for &cell in *cells {
            edges.push(cell.edge()?);
            match (instance, cell.instance()) {
                _ if bits.value(cell).is_some() => {}
                (_, Instance::Every) => {}
                (Instance::Every, own) => instance = own,
                (one, own) if one != own => return None,
                _ => {}
            }
        }
        all.push(edges);
    }
    Some((all, instance))
}

pub(super) fn cells(bits: &Bits, edges: &[Edge], instance: Instance) -> Vec<Cell> {
    let cell = |&edge: &Edge| match is_constant(bits, edge) {
        Some(value) => bits.constant(value),
        None => Cell::new(edge, instance),
    };
    edges.iter().map(cell).collect()
}

/// Whether all bits are constant.
fn is_known(bits: &Bits, words: &[&[Cell]]) -> bool {
    words.iter().all(|cells| cells.iter().all(|&cell| bits.value(cell).is_some()))
}

impl Bits {
    /// Runs `f` with the words, which are taken out meanwhile.
    fn with_words<T>(
        &mut self,
        words: &[&[Cell]],
        f: impl FnOnce(&mut Words, &mut Bits, Vec<Vec<Edge>>) -> Option<T>,
    ) -> Option<(T, Instance)> {
        let (edges, instance) = gathered(self, words)?;
        let mut state = self.words.take()?;
        let found = f(&mut state, self, edges);
        self.words = Some(state);
        Some((found?, instance))
    }

    /// As [`Bits::sum`], of integers; `None` if there are none, or the bits are constant.
    pub fn sum_of_integers(
        &mut self,
        a: &[Cell],
        b: &[Cell],
        carry: Cell,
    ) -> Option<(Vec<Cell>, Cell)> {
        self.words.as_ref()?;
        let carry = [carry];
        let operands = [a, b, &carry[..]];
        if is_known(self, &operands) {
            return None;
        }
        if self.value(carry[0]) == Some(false)
            && let Some(apart) = self.disjoint(a, b)
        {
            return Some((apart, carry[0]));
        }
        // Where engines merge bits, a word and itself are the word moved up by one bit.
        if self.graph.rewrites.is_some() && self.value(carry[0]) == Some(false) && a == b {
            let moved = [&carry[..], &a[..a.len() - 1]].concat();
            return Some((moved, a[a.len() - 1]));
        }
        let width = a.len();
        let sum = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            let (mut total, mut least, mut most) = (Poly::default(), BigUint::ZERO, BigUint::ZERO);
            for edges in &edges {
                let Integer { poly, low, high } = words.integer(bits, edges, false)?;
                (total, least, most) = (total.add(&poly), least + low, most + high);
            }
            if let Some((low, high)) = words.integers.chosen(&total) {
                least = low.to_biguint().map_or(least.clone(), |low| low.max(least));
                most = high.to_biguint().map_or(most.clone(), |high| high.min(most));
            }
            let (low, quotient) = words.reduced(bits, &total, Some((&least, &most)), width)?;
            Some((low, words.carry(bits, quotient)))
        };
        Some(self.result(width, &operands, sum))
    }

    /// As [`Bits::difference`], less another bit.
    pub fn difference_of_integers(
        &mut self,
        a: &[Cell],
        b: &[Cell],
        borrow: Cell,
    ) -> Option<(Vec<Cell>, Cell)> {
        self.words.as_ref()?;
        let borrow = [borrow];
        let operands = [a, b, &borrow[..]];
        if is_known(self, &operands) {
            return None;
        }
        if self.value(borrow[0]) == Some(false)
            && let Some(without) = self.without(a, b)
        {
            return Some((without, borrow[0]));
        }
        let width = a.len();
        let difference = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            let Integer { poly: mut total, mut low, mut high } =
                words.integer(bits, &edges[0], false)?;
            let mut borrows = false;
            // The bounds of the minuend and of the subtrahend.
            let (least, greatest) = (low.clone(), high.clone());
            let (mut taken, mut most) = (BigUint::ZERO, BigUint::ZERO);
            for edges in &edges[1..] {
                let less = words.integer(bits, edges, false)?;
                total = total.sub(&less.poly);
                borrows |= low < less.high;
                taken += &less.low;
                most += &less.high;
                if !borrows {
                    (low, high) = (low - less.high, high - less.low);
                }
            }
            // 0 or -1: all bits are the same one.
            if least + 1u8 >= most
                && greatest <= taken
                && let Some(edge) = words.bit_of(&total.scaled(&BigInt::from(-1)))
            {
                return Some((vec![edge; width], edge));
            }
            let bounds = (!borrows).then_some((&low, &high));
            let (low, quotient) = words.reduced(bits, &total, bounds, width)?;
            let borrow = words.carry(bits, quotient.scaled(&BigInt::from(-1)));
            let top = |word: &[Edge]| word[width - 1];
            words.remember(bits, [top(&edges[0]), top(&edges[1]), top(&low)], borrow);
            Some((low, borrow))
        };
        Some(self.result(width, &operands, difference))
    }

    /// All bits of a product, twice as many as a factor has.
    pub fn product_of_integers(&mut self, a: &[Cell], b: &[Cell]) -> Option<Vec<Cell>> {
        self.words.as_ref()?;
        let operands = [a, b];
        if is_known(self, &operands) {
            return None;
        }
        let width = a.len();
        let product = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            // A multiple of a word is a sum, if compilers may write it as a few shifts and
            // additions.
            let short = |of: usize| {
                let other = edges[1 - of].iter().map(|&edge| is_constant(bits, edge));
                let ones = other.clone().filter(|bit| *bit == Some(true)).count();
                other.clone().any(|bit| bit.is_none()) || ones > SHIFTS
            };
            let short = [short(0), short(1)];
            let a = words.integer(bits, &edges[0], short[0])?;
            let b = words.integer(bits, &edges[1], short[1])?;
            let total = a.poly.mul(&b.poly)?;
            let (low, high) = (a.low * b.low, a.high * b.high);
            let (low, quotient) = words.reduced(bits, &total, Some((&low, &high)), width)?;
            let upper = Integer::up_to(high >> width, quotient);
            let upper = words.word(bits, upper, width);
            Some(([low, upper].concat(), edge_of(bits, false)))
        };
        Some(self.result(2 * width, &operands, product).0)
    }

    /// The result of known operands, or opaque bits.
    fn result(
        &mut self,
        width: usize,
        operands: &[&[Cell]],
        f: impl FnOnce(&mut Words, &mut Bits, Vec<Vec<Edge>>) -> Option<(Vec<Edge>, Edge)>,
    ) -> (Vec<Cell>, Cell) {
        match self.with_words(operands, f) {
            Some(((word, carry), instance)) => {
                let word = cells(self, &word, instance);
                (word, cells(self, &[carry], instance)[0])
            }
            None => (vec![Cell::OPAQUE; width], Cell::OPAQUE),
        }
    }

    /// The sum of words that have no place in common where both may be one.
    fn disjoint(&mut self, a: &[Cell], b: &[Cell]) -> Option<Vec<Cell>> {
        let mut out = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let both = self.and(x, y);
            if self.value(both) != Some(false) {
                return None;
            }
            out.push(self.or(x, y));
        }
        Some(out)
    }

    /// The difference of words where only constant ones are taken from, each by one bit: 1 - (x & y)
    /// is a gate, as code writes it without arithmetic.
    fn without(&self, a: &[Cell], b: &[Cell]) -> Option<Vec<Cell>> {
        let place = |(&x, &y): (&Cell, &Cell)| match (self.value(x), self.value(y)) {
            (_, Some(false)) => Some(x),
            (Some(true), _) => Some(self.not(y)),
            _ => None,
        };
        a.iter().zip(b).map(place).collect()
    }

    /// Whether two words are one integer, of the same instance, or one bit by bit.
    pub fn are_equal(&mut self, a: &[Cell], b: &[Cell]) -> bool {
        let same = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            if edges[0].iter().zip(&edges[1]).all(|(&x, &y)| words.are_one(bits, x, y)) {
                return Some(true);
            }
            let a = words.integer(bits, &edges[0], false)?;
            let b = words.integer(bits, &edges[1], false)?;
            Some(a.poly == b.poly)
        };
        self.with_words(&[a, b], same).is_some_and(|(equal, _)| equal)
    }

    /// Whether a word is zero, where it is compared with zero: whether it borrows when one is taken
    /// away. `None` for other comparisons, and if there are no integers.
    pub fn is_integer_zero(&mut self, a: &[Cell], b: &[Cell]) -> Option<Cell> {
        self.words.as_ref()?;
        let zero = b.iter().all(|&cell| self.value(cell) == Some(false));
        let open = a.iter().filter(|&&cell| self.value(cell).is_none()).count();
        if !zero || open < 2 {
            return None;
        }
        let one = self.number(1, a.len());
        let sum = self.sum_of_joined(a);
        Some(self.difference(sum.as_deref().unwrap_or(a), &one).1)
    }

    /// If a word is several words joined by `or`: their sum, which is zero where they all are.
    fn sum_of_joined(&mut self, a: &[Cell]) -> Option<Vec<Cell>> {
        let (edges, instance) = gathered(self, &[a])?;
        let state = self.words.take()?;
        let joined = state.joined(self, &edges[0]);
        self.words = Some(state);
        let mut words = joined?.into_iter();
        let mut sum = cells(self, &words.next()?, instance);
        for word in words {
            let word = cells(self, &word, instance);
            let (more, carry) = self.sum(&sum, &word, false);
            if self.value(carry) != Some(false) {
                return None;
            }
            sum = more;
        }
        Some(sum)
    }

    /// The greatest value of a word, if a bound is known.
    pub fn greatest(&mut self, word: &[Cell]) -> Option<u64> {
        if let Some(value) = self.word(word) {
            return Some(value);
        }
        let most = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            u64::try_from(words.integer(bits, &edges[0], false)?.high).ok()
        };
        self.with_words(&[word], most).map(|(most, _)| most)
    }

    /// Whether words are integers.
    pub fn has_integers(&self) -> bool {
        self.words.is_some()
    }

    /// A word from 0 to `most`.
    pub fn free_word(&mut self, width: usize, most: u64) -> Vec<Edge> {
        let mut words = self.words.take().unwrap_or_default();
        let edges = words.parameter(self, width, most);
        self.words = Some(words);
        edges
    }
}
