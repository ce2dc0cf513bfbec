//! Allocation of loops: each value that a turn hands to the next has one home, a register or a slot.
//!
//! ```text
//! head:   s0 in zmm3, s1 in zmm7, s2 in slot 4
//! body    ... Belady's rule on straight code ...
//! end:    the next s0, s1, s2 are brought to these places
//! ```
//!
//! The values that are in registers at the end of a body are the best ones to have there at its
//! head. So the body is allocated several times, each time with the head that the end before asked
//! for, and the cheapest try is kept. A value of the next turn prefers its home from its definition
//! on; where that home still holds a value that the turn needs, values have two homes by turns,
//! in two banks of slots that change places. Constants and other values that do not change compete for registers as if they were carried;
//! they always are in memory, too.

use rustc_hash::FxHashMap;

use super::moves::{From, To};
use super::uses::{After, BEYOND, CARRIED, inside};
use super::{Allocator, Context, State};
use crate::code::{Cell, Loop, Value};
use crate::steps::{Banks, Memory, Place, Reg, Step};

/// Heads that are tried, by the number of loops around; the last number holds for all deeper ones.
const TRIES: [usize; 3] = [7, 2, 1];

/// Bytes of slots that leave room for data in the first-level cache, which has 32 KiB or more.
const NEAR: u32 = 24 << 10;

/// Tries without a gain after which there are no more.
const GIVE_UP: u32 = 2;

/// Registers that no loop-carried value has at the head, for moves.
const RESERVE: usize = 1;

/// A value at the head: `param` in the body, `init` before the first turn, `next` at the end.
struct Head {
    param: Value,
    init: Value,
    next: Value,
    /// `None` for a value that stays the same.
    result: Option<Value>,
}

/// Where the values of the head are.
struct Places {
    head: Vec<Option<To>>,
    /// Where a turn leaves the values of the next one.
    end: Vec<Option<To>>,
    /// Where they are after the loop.
    exit: Vec<Option<To>>,
    banks: Option<Banks>,
}

/// The result of a try.
struct Found {
    cost: u64,
    state: State,
}

impl Allocator<'_> {
    pub fn run_loop(&mut self, l: &Loop, after: &After) {
        let uses = inside(&l.body);
        let changes = |v: &Value| l.carried.iter().any(|c| c.param == *v);
        let mut heads: Vec<Head> = Vec::new();
        for c in &l.carried {
            heads.push(Head { param: c.param, init: c.init, next: c.next, result: Some(c.result) });
        }
        // Values from before the loop that it reads or that are read after it.
        let known = self.state.regs.iter().chain(&self.state.slots).flatten();
        let mut outer: Vec<Value> = known.copied().collect();
        outer.sort_unstable();
        outer.dedup();
        let is_next = |v: &Value| l.carried.iter().any(|c| c.next == *v);
        outer.retain(|v| uses.contains_key(v) || after.contains_key(v) || is_next(v));
        for &value in &outer {
            if self.memory(value).is_none() {
                self.uses.begin(&[], after);
                self.spill(value);
                self.uses.end(&[]);
            }
        }
        let mut constant: Vec<(u32, Value)> = Vec::new();
        for (&value, &at) in &uses {
            // Loops have rising numbers from the outside in.
            let walks = |cell: &Cell| {
                let jump = cell.jump.iter().map(|(id, _)| id);
                cell.walks.iter().map(|(id, _)| id).chain(jump).any(|id| *id >= l.id)
            };
            let walks = self.code.home(value).is_some_and(walks);
            if self.memory(value).is_some() && !walks && !changes(&value) {
                constant.push((at, value));
            }
        }
        constant.sort_unstable();
        let same = |(_, v): (u32, Value)| Head { param: v, init: v, next: v, result: None };
        heads.extend(constant.into_iter().map(same));

        let around = std::mem::take(&mut self.context);
        let base = self.state.clone();
        let mut best: Option<Found> = None;
        let depth = self.depth.min(TRIES.len() - 1);
        let tries = TRIES[depth];
        self.depth += 1;
        let ways: &[bool] = if depth == 0 { &[false, true] } else { &[false] };
        for &by_turns in ways {
            let mut worse = 0;
            let mut registers = self.first_guess(&heads, &uses);
            let mut ends: FxHashMap<usize, u32> = FxHashMap::default();
            for turn in 0..tries {
                self.state = base.clone();
                let wishes = if turn % 2 == 0 { &ends } else { &FxHashMap::default() };
                let places = match by_turns {
                    true => self.banks(&heads, &registers, l.count),
                    false => self.homes(&heads, &registers, wishes, &outer),
                };
                let ended = self.attempt(l, &heads, &places, &uses, &outer, after);
                let mut cost = cost(&self.state.steps[base.steps.len()..]);
                if by_turns {
                    // More memory is in use, of which other data has less then.
                    cost += cost / 12;
                }
                if self.state.slots.len() as u32 * self.slot_bytes > NEAR {
                    cost += cost / 2;
                }
                match best.as_ref().is_none_or(|known| cost < known.cost) {
                    true => (best, worse) = (Some(Found { cost, state: self.state.clone() }), 0),
                    false => worse += 1,
                }
                let (next, slots) = ended;
                if next == registers && turn > 0 || worse == GIVE_UP {
                    break;
                }
                (registers, ends) = (next, slots);
            }
        }
        self.depth -= 1;
        self.state = best.expect("there was a try").state;
        self.context = around;
    }

    /// Registers for the values that are used first, where their initial values are if possible.
    fn first_guess(&self, heads: &[Head], uses: &FxHashMap<Value, u32>) -> FxHashMap<usize, Reg> {
        let mut order: Vec<usize> = (0..heads.len()).collect();
        order.retain(|&i| heads[i].result.is_some());
        order.sort_by_key(|&i| (uses.get(&heads[i].param).copied().unwrap_or(u32::MAX), i));
        order.truncate(self.state.regs.len() - RESERVE);
        let mut guess: FxHashMap<usize, Reg> = FxHashMap::default();
        let mut free: Vec<bool> = vec![true; self.state.regs.len()];
        for &i in &order {
            if let Some(reg) = self.reg(heads[i].init)
                && std::mem::replace(&mut free[reg as usize], false)
            {
                guess.insert(i, reg);
            }
        }
        for &i in &order {
            if guess.contains_key(&i) {
                continue;
            }
            let reg =
                free.iter().position(|&f| f).expect("there are no more values than registers");
            free[reg] = false;
            guess.insert(i, reg as Reg);
        }
        guess
    }

    /// A place for each value of the head: a register, or a slot for values that change. Slots that values
    /// were in at the end of a try before are best, then those that the initial values are in.
    fn homes(
        &self,
        heads: &[Head],
        registers: &FxHashMap<usize, Reg>,
        wishes: &FxHashMap<usize, u32>,
        outer: &[Value],
    ) -> Places {
        let mut used: Vec<u32> = outer.iter().filter_map(|v| self.state.slot_of[v.at()]).collect();
        let mut places: Vec<Option<To>> =
            (0..heads.len()).map(|i| registers.get(&i).map(|&reg| To::Reg(reg))).collect();
        let open: Vec<usize> = (0..heads.len())
            .filter(|&i| places[i].is_none() && heads[i].result.is_some())
            .collect();
        for &i in &open {
            let initial = self.state.slot_of[heads[i].init.at()];
            for slot in [wishes.get(&i).copied(), initial].into_iter().flatten() {
                if places[i].is_none() && !used.contains(&slot) {
                    used.push(slot);
                    places[i] = Some(To::Slot(slot));
                }
            }
        }
        for &i in &open {
            if places[i].is_some() {
                continue;
            }
            let is_free = |slot: &u32| {
                !used.contains(slot)
                    && self.state.slots.get(*slot as usize).is_none_or(Option::is_none)
            };
            let slot = (0..).find(is_free).expect("there is always another slot");
            used.push(slot);
            places[i] = Some(To::Slot(slot));
        }
        Places { head: places.clone(), end: places.clone(), exit: places, banks: None }
    }

    /// The same with two slots by turns.
    fn banks(&self, heads: &[Head], registers: &FxHashMap<usize, Reg>, count: u32) -> Places {
        let in_slot = |i: &usize| heads[*i].result.is_some() && !registers.contains_key(i);
        let open: Vec<usize> = (0..heads.len()).filter(in_slot).collect();
        let (first, size) = (self.state.slots.len() as u32, open.len() as u32);
        let banks = Banks { first, second: first + size, size };
        let from = |base: u32| -> Vec<Option<To>> {
            let place = |i: usize| match registers.get(&i) {
                Some(&reg) => Some(To::Reg(reg)),
                None => open.binary_search(&i).ok().map(|at| To::Slot(base + at as u32)),
            };
            (0..heads.len()).map(place).collect()
        };
        let exit = if count.is_multiple_of(2) { banks.first } else { banks.second };
        Places {
            head: from(banks.first),
            end: from(banks.second),
            exit: from(exit),
            banks: Some(banks).filter(|_| size > 0),
        }
    }

    /// Allocates the loop with these places at its head. Returns the registers and slots that the
    /// values of the next turn were in at the end of the body, before they were moved.
    fn attempt(
        &mut self,
        l: &Loop,
        heads: &[Head],
        places: &Places,
        uses: &FxHashMap<Value, u32>,
        outer: &[Value],
        after: &After,
    ) -> (FxHashMap<usize, Reg>, FxHashMap<usize, u32>) {
        let into = |this: &Self, places: &[Option<To>], of: &dyn Fn(&Head) -> Value| {
            let pairs = heads.iter().zip(places);
            let pairs: Vec<(From, To)> = pairs
                .filter_map(|(head, to)| Some((this.from(of(head), (*to)?), (*to)?)))
                .collect();
            pairs
        };
        let all = places.head.iter().chain(&places.end).flatten();
        let slots = all.filter_map(|to| match to {
            To::Slot(slot) => Some(*slot as usize + 1),
            To::Reg(_) => None,
        });
        let slots = slots.max().unwrap_or(0).max(self.state.slots.len());
        self.state.slots.resize(slots, None);
        self.state.move_all(into(self, &places.head, &|head| head.init));
        self.hold(heads, &places.head, outer, &|head| Some(head.param));
        self.push(Step::Enter { id: l.id, count: l.count, banks: places.banks });

        let mut beyond = After::default();
        let mut later = |value: Value, distance: u32| {
            let known = beyond.entry(value).or_insert(distance);
            *known = distance.min(*known);
        };
        for head in heads.iter().filter(|head| head.result.is_some()) {
            later(head.next, uses.get(&head.param).copied().unwrap_or(CARRIED));
        }
        for &value in outer {
            let again = uses.get(&value).copied();
            later(
                value,
                again.unwrap_or_else(|| {
                    BEYOND + after.get(&value).copied().unwrap_or(0).min(BEYOND)
                }),
            );
        }
        for head in heads.iter().filter(|head| head.result.is_none()) {
            later(head.param, uses[&head.param]);
        }
        let mut context = Context::default();
        for (head, place) in heads.iter().zip(&places.end) {
            match place {
                Some(To::Slot(slot)) => {
                    context.home.insert(head.next, *slot);
                }
                Some(To::Reg(reg)) => {
                    context.hint.insert(head.next, *reg);
                    context.wanted.insert(*reg, head.next);
                }
                None => {}
            }
        }
        self.context = context;
        self.items(&l.body, &beyond);
        self.context = Context::default();

        let (mut registers, mut slots) = (FxHashMap::default(), FxHashMap::default());
        let mut taken = vec![false; self.state.regs.len()];
        for (i, head) in heads.iter().enumerate() {
            if let Some(reg) = self.reg(head.next)
                && uses.contains_key(&head.param)
                && registers.len() + RESERVE < taken.len()
                && !std::mem::replace(&mut taken[reg as usize], true)
            {
                registers.insert(i, reg);
                continue;
            }
            if let Some(slot) = self.state.slot_of[head.next.at()].filter(|_| head.result.is_some())
            {
                slots.insert(i, slot);
            }
        }
        self.state.move_all(into(self, &places.end, &|head| head.next));
        self.push(Step::Again { id: l.id, banks: places.banks });
        self.hold(heads, &places.exit, outer, &|head| head.result);
        (registers, slots)
    }

    /// Where a value that goes to `to` comes from: best from there.
    fn from(&self, value: Value, to: To) -> From {
        let slot = self.state.slot_of[value.at()];
        match (self.reg(value), slot) {
            (_, Some(slot)) if to == To::Slot(slot) => From::Memory(Memory::Slot(slot)),
            (Some(reg), _) => From::Reg(reg),
            _ => From::Memory(self.memory(value).expect("a value is in a register or in memory")),
        }
    }

    /// The state in which the heads are in their places, by the names that `name` gives them, and
    /// outer values in memory.
    fn hold(
        &mut self,
        heads: &[Head],
        places: &[Option<To>],
        outer: &[Value],
        name: &dyn Fn(&Head) -> Option<Value>,
    ) {
        let slots = outer.iter().map(|v| self.state.slot_of[v.at()]);
        let slots: Vec<Option<u32>> = slots.collect();
        self.forget(|_, _| true);
        for (&value, slot) in outer.iter().zip(slots) {
            if let Some(slot) = slot {
                self.state.slots[slot as usize] = Some(value);
                self.state.slot_of[value.at()] = Some(slot);
            }
        }
        for (head, place) in heads.iter().zip(places) {
            let value = name(head).unwrap_or(head.param);
            match place {
                Some(To::Reg(reg)) => self.set_reg(*reg, value),
                Some(To::Slot(slot)) => {
                    self.state.slots[*slot as usize] = Some(value);
                    self.state.slot_of[value.at()] = Some(*slot);
                }
                None => {}
            }
        }
    }
}

/// The price of steps, loops as often as they run: stores cost most, copies least.
pub fn cost(steps: &[Step]) -> u64 {
    let (mut total, mut times) = (0, vec![1u64]);
    for step in steps {
        let price = match step {
            Step::Op { from, .. } => {
                10 + 5 * from.iter().filter(|place| matches!(place, Place::Memory(_))).count()
                    as u64
            }
            Step::Copy { .. } => 7,
            Step::Load { .. } => 10,
            Step::Spill { .. } | Step::Store { .. } => 20,
            Step::Enter { count, .. } => {
                let around = *times.last().expect("the function is around all loops");
                times.push(around.saturating_mul(u64::from(*count)));
                0
            }
            Step::Again { .. } => {
                times.pop();
                0
            }
        };
        let times = *times.last().expect("the function is around all loops");
        total += times.saturating_mul(price);
    }
    total
}
