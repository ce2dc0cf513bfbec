//! Transposition as a permutation of index bits.
//!
//! Every bit of a batch of blocks has an index: the register, and the position in it. If all counts
//! are powers of two, packing is a permutation of the bits of that index:
//!
//! ```text
//!                register | position        position 0..2 bit of a byte, 3..6 byte of 16
//! loaded   RECTANGLE, sse:  j j | j a a i ī ī ī      ī = complemented: bytes start at their top bit
//! wanted   lanes of 16:     a a | j j j ī ī ī ī
//! ```
//!
//! `i` are bits of the index inside a word, `a` of the index of a word, `j` of the instance. One
//! [`Step`] exchanges a few index bits in all registers at once, so a plan has few steps for any
//! batch size. Exchanging with a complement is free nearly everywhere, so reversed bytes and bits
//! mostly vanish in the other steps.
//!
//! The groups of 128 bits of a wider register have index bits of their own. [`Step::Groups`] moves
//! these once, beside the plan for the inside of a group.
//!
//! Every step is its own inverse, except for shuffles, whose inverse is a shuffle; unpacking runs
//! the plan backwards.

/// The meaning of a bit of the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Bit k of the position inside a word, counted from the most significant bit of the word.
    Word(u8),
    /// Bit k of the index of the word in its tile.
    Atom(u8),
    /// Bit k of the index of the instance.
    Instance(u8),
}

/// The meaning of one index bit; `flip` if the bit is the complement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub part: Part,
    pub flip: bool,
}

impl Place {
    /// `part` as it is.
    pub fn plain(part: Part) -> Place {
        Place { part, flip: false }
    }

    /// The complement of `part`.
    pub fn flipped(part: Part) -> Place {
        Place { part, flip: true }
    }
}

/// One exchange of index bits, done to all registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Exchanges bit k of the number of a group in its register with bit `regs[k]` of the register
    /// index: for each k, pairs of registers become their even and their odd groups.
    Groups { regs: Vec<u8> },
    /// Interleaves pairs of registers, once per entry and always with elements of
    /// 2^(7 - entries) bits: exchanges bit `regs[j]` of the register index with position 6 - j.
    Zip { regs: Vec<u8> },
    /// Exchanges bit `reg` of the register index with position `bit`, by masks and shifts; `anti`
    /// complements both.
    Swap { reg: u8, bit: u8, anti: bool },
    /// Exchanges two positions, `low < high`; `anti` complements both.
    Delta { low: u8, high: u8, anti: bool },
    /// Complements a position.
    Flip { bit: u8 },
    /// Result byte b of each 16 is source byte `from[b]`.
    Shuffle { from: [u8; 16] },
}

impl Step {
    /// The step that undoes this one.
    pub fn inverse(&self) -> Step {
        match self {
            Step::Shuffle { from } => {
                let mut back = [0; 16];
                for (to, &source) in from.iter().enumerate() {
                    back[source as usize] = to as u8;
                }
                Step::Shuffle { from: back }
            }
            other => other.clone(),
        }
    }
}

/// The steps, and the meaning of the index bits after them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// Positions inside a register (a group of 128 bits on SIMD).
    pub inside: Vec<Place>,
    /// Bits of the register index.
    pub regs: Vec<Place>,
}

/// Finds the steps from the loaded places to `goal`, which gives the wanted place of each
/// position, or `None` where any instance bit may stay (any word index, if a batch is one
/// instance). `vector` says that registers have zips and byte shuffles, on 7 positions.
///
/// # Panics
/// If `goal` names a part that no place has, or more parts must enter a register than may leave it:
/// the callers derive both from one shape.
pub fn plan(vector: bool, inside: &[Place], regs: &[Place], goal: &[Option<Place>]) -> Plan {
    let mut work = Work {
        plan: Plan { steps: Vec::new(), inside: inside.to_vec(), regs: regs.to_vec() },
        goal,
    };
    if vector {
        work.exchange_with_registers();
        work.arrange_vector();
    } else {
        work.follow_registers();
        work.arrange_scalar();
    }
    work.plan
}

struct Work<'a> {
    plan: Plan,
    goal: &'a [Option<Place>],
}

impl Work<'_> {
    fn part(&self, position: usize) -> Part {
        self.plan.inside[position].part
    }

    fn position(&self, part: Part) -> usize {
        let found = self.plan.inside.iter().position(|place| place.part == part);
        found.expect("every wanted part is inside the registers by now")
    }

    /// The goal of `part`, if it has one.
    fn goal_of(&self, part: Part) -> Option<usize> {
        self.goal.iter().position(|goal| goal.is_some_and(|goal| goal.part == part))
    }

    /// Appends `step` and applies it to the places as to the data.
    fn push(&mut self, step: Step) {
        let Plan { inside, regs, .. } = &mut self.plan;
        match &step {
            Step::Zip { regs: bits } => {
                for (j, &reg) in bits.iter().enumerate() {
                    std::mem::swap(&mut inside[6 - j], &mut regs[reg as usize]);
                }
            }
            Step::Swap { reg, bit, anti } => {
                let (bit, reg) = (&mut inside[*bit as usize], &mut regs[*reg as usize]);
                std::mem::swap(bit, reg);
                bit.flip ^= anti;
                reg.flip ^= anti;
            }
            Step::Delta { low, high, anti } => {
                inside.swap(*low as usize, *high as usize);
                inside[*low as usize].flip ^= anti;
                inside[*high as usize].flip ^= anti;
            }
            Step::Flip { bit } => inside[*bit as usize].flip ^= true,
            Step::Groups { .. } => unreachable!("a plan is for groups that stay"),
            // Only `shuffle` makes these, and it knows the places.
            Step::Shuffle { .. } => {}
        }
        self.plan.steps.push(step);
    }

    /// Puts `wanted` at the positions 3 to 6, which hold the same parts in another order.
    fn shuffle(&mut self, wanted: [Place; 4]) {
        if self.plan.inside[3..7] == wanted {
            return;
        }
        let from = std::array::from_fn(|byte| {
            let mut source = 0;
            for (bit, place) in wanted.iter().enumerate() {
                let old = self.position(place.part);
                let flip = place.flip != self.plan.inside[old].flip;
                source |= ((byte as u8 >> bit & 1) ^ flip as u8) << (old - 3);
            }
            source
        });
        self.push(Step::Shuffle { from });
        self.plan.inside[3..7].copy_from_slice(&wanted);
    }

    /// Brings everything into the registers that belongs there, and word indices out.
    fn exchange_with_registers(&mut self) {
        let enters = |part: Part| !matches!(part, Part::Atom(_));
        // Parts that belong into bits of a byte come first: there they replace word indices.
        let mut entering: Vec<usize> =
            (0..self.plan.regs.len()).filter(|&reg| enters(self.plan.regs[reg].part)).collect();
        let wants = |reg: &usize| self.goal_of(self.plan.regs[*reg].part).unwrap_or(7);
        entering.sort_by_key(|reg| (wants(reg) >= 3, *reg));
        let leaves = |position: &usize| {
            let part = self.part(*position);
            matches!(part, Part::Atom(_)) && self.goal_of(part).is_none()
        };
        let leaving: Vec<usize> = (0..self.plan.inside.len()).filter(leaves).collect();
        assert_eq!(entering.len(), leaving.len(), "as many index bits leave as enter");
        let (bits, bytes): (Vec<usize>, Vec<usize>) =
            leaving.into_iter().partition(|&position| position < 3);
        let (for_bits, for_bytes) = entering.split_at(bits.len());
        if !bytes.is_empty() {
            self.raise(&bytes);
            let regs = for_bytes.iter().rev().map(|&reg| reg as u8).collect();
            self.push(Step::Zip { regs });
        }
        for (&bit, &reg) in bits.iter().zip(for_bits) {
            self.push(Step::Swap { reg: reg as u8, bit: bit as u8, anti: false });
        }
    }

    /// Without byte shuffles: a part that belongs inside goes from the register index to its place
    /// at once. The part that was there is next, until a word index comes out. An exchange of two
    /// registers is half the work of one inside each of them.
    fn follow_registers(&mut self) {
        for reg in 0..self.plan.regs.len() {
            loop {
                let Place { part, flip } = self.plan.regs[reg];
                if matches!(part, Part::Atom(_)) {
                    break;
                }
                let free = |at: &usize| {
                    self.goal[*at].is_none() && !matches!(self.part(*at), Part::Instance(_))
                };
                let at = self.goal_of(part).or_else(|| (0..self.goal.len()).find(free));
                let at = at.expect("as many index bits leave as enter");
                let anti = self.goal[at].is_some_and(|goal| goal.flip != flip);
                self.push(Step::Swap { reg: reg as u8, bit: at as u8, anti });
            }
        }
    }

    /// Moves the `leaving` byte positions to the top, where zips reach them.
    fn raise(&mut self, leaving: &[usize]) {
        if leaving.iter().all(|&position| position >= 7 - leaving.len()) {
            return;
        }
        let stay = (3..7).filter(|position| !leaving.contains(position));
        let order: Vec<usize> = stay.chain(leaving.iter().copied()).collect();
        // A part that stays takes its goal's complement along, which often saves the next shuffle.
        self.shuffle(std::array::from_fn(|k| {
            let place = self.plan.inside[order[k]];
            let goal = self.goal[k + 3].filter(|goal| goal.part == place.part);
            goal.unwrap_or(place)
        }));
    }

    /// Positions by exchanges in pairs: the only way without byte shuffles.
    fn arrange_scalar(&mut self) {
        for position in 0..self.goal.len() {
            let Some(goal) = self.goal[position] else { continue };
            let now = self.position(goal.part);
            let flip = self.plan.inside[now].flip != goal.flip;
            if now != position {
                let (low, high) = (now.min(position) as u8, now.max(position) as u8);
                self.push(Step::Delta { low, high, anti: flip });
            } else if flip {
                self.push(Step::Flip { bit: position as u8 });
            }
        }
    }

    /// Positions by at most two shuffles around at most three exchanges between the bits and the
    /// bytes of each 64 bits.
    fn arrange_vector(&mut self) {
        for bit in 0..3 {
            let Some(goal) = self.goal[bit] else { continue };
            let now = self.position(goal.part);
            if now < 3 && now != bit {
                let (low, high) = (now.min(bit) as u8, now.max(bit) as u8);
                self.push(Step::Delta { low, high, anti: false });
            }
        }
        let pairs = self.pairs();
        let (wanted, deltas) = self.meeting_points(&pairs);
        self.shuffle(wanted);
        for delta in deltas {
            self.push(delta);
        }
        let order = self.at_goals(&[None; 4]);
        self.shuffle(order);
        for bit in 0..3 {
            if self.goal[bit].is_some_and(|goal| goal != self.plan.inside[bit]) {
                self.push(Step::Flip { bit: bit as u8 });
            }
        }
    }

    /// For each bit of a byte that holds the wrong part: the part of the byte index to bring.
    fn pairs(&self) -> Vec<(usize, Part)> {
        let mut pairs: Vec<(usize, Part)> = Vec::new();
        for bit in 0..3 {
            let instance = matches!(self.part(bit), Part::Instance(_));
            match self.goal[bit] {
                Some(goal) if goal.part != self.part(bit) => pairs.push((bit, goal.part)),
                None if !instance => {
                    let free = (3..7).map(|position| self.part(position)).find(|&part| {
                        matches!(part, Part::Instance(_))
                            && self.goal_of(part).is_none()
                            && pairs.iter().all(|&(_, taken)| taken != part)
                    });
                    pairs.push((bit, free.expect("an instance bit is free to come")));
                }
                _ => {}
            }
        }
        pairs
    }

    /// Where each pair meets: a position of 3 to 5, if possible the one where the part that
    /// comes from the bits belongs. Returns the places of the byte positions that make it so,
    /// and the exchanges.
    fn meeting_points(&self, pairs: &[(usize, Part)]) -> ([Place; 4], Vec<Step>) {
        let mut points: Vec<Option<usize>> = vec![None; pairs.len()];
        for (point, &(bit, _)) in points.iter_mut().zip(pairs) {
            *point = self.goal_of(self.part(bit)).filter(|goal| (3..6).contains(goal));
        }
        for index in 0..points.len() {
            let mut free = (3..6).filter(|at| !points.contains(&Some(*at)));
            let here = self.position(pairs[index].1);
            let stay = free.clone().find(|&at| at == here);
            points[index] = points[index].or(stay).or_else(|| free.next());
        }
        let mut fixed = [None; 4];
        let mut deltas = Vec::new();
        for (&(bit, part), point) in pairs.iter().zip(&points) {
            let at = point.expect("three positions for at most three pairs");
            let leaver = self.plan.inside[bit];
            let anti =
                self.goal[at].is_some_and(|g| g.part == leaver.part && g.flip != leaver.flip);
            let here = self.plan.inside[self.position(part)].flip;
            let flip = self.goal[bit].map_or(here, |goal| goal.flip != anti);
            fixed[at - 3] = Some(Place { part, flip });
            deltas.push(Step::Delta { low: bit as u8, high: at as u8, anti });
        }
        (self.at_goals(&fixed), deltas)
    }

    /// The byte positions with `fixed` where given, every other part at its goal where that is
    /// free, and the rest wherever there is room.
    fn at_goals(&self, fixed: &[Option<Place>; 4]) -> [Place; 4] {
        let mut order = *fixed;
        let mut rest = Vec::new();
        for &place in &self.plan.inside[3..7] {
            if fixed.iter().flatten().any(|taken| taken.part == place.part) {
                continue;
            }
            match self.goal_of(place.part) {
                Some(at) if at >= 3 && order[at - 3].is_none() => order[at - 3] = self.goal[at],
                _ => rest.push(place),
            }
        }
        // A part that may stay anywhere stays where it is, if it can.
        rest.retain(|&place| {
            let at = self.position(place.part);
            let free = order[at - 3].is_none();
            if free {
                order[at - 3] = Some(place);
            }
            !free
        });
        let mut rest = rest.into_iter();
        order.map(|place| place.or_else(|| rest.next()).expect("four places for four parts"))
    }
}
