//! Register allocation: registers and slots of the frame for virtual registers.
//!
//! ```text
//! v7 = vpternlog v3, v5, v6        vmovdqa64 zmm4, [slot 2]          v5 was in memory
//!                                  vpternlogq zmm3, zmm4, key[1]     v3 dies, v6 is read in place
//! ```
//!
//! On straight code the value whose next use is farthest leaves its register; where values come
//! back to is decided by a loop around that, see [`loops`]. A value with a home in memory is never
//! stored, only read again. Instructions read memory in place unless the value is soon needed again.
//! Of the operands of a ternary instruction one that dies gives its register to the result, and its
//! truth table turns around.
//!
//! - `uses`: the distance to the next use of values.
//! - `moves`: moves that happen at once, one after the other.
//! - `loops`: loops, and the places of carried values.
//!
//! *Reference:* Belady 1966 (the farthest next use); Braun, Hack 2009 (spilling in SSA form).

mod loops;
mod moves;
mod uses;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::code::{Access, Args, Cell, Code, Inst, Item, Kind, Value};
use crate::form::Form;
use crate::steps::{Allocated, Memory, Place, Reg, Step};
use uses::{After, NEVER, Uses};

/// Allocates `regs` registers of `bytes` bytes.
pub fn allocate(code: &Code, regs: usize, bytes: u32) -> Allocated {
    let values = code.homes.len();
    let state = State {
        regs: vec![None; regs],
        reg_of: vec![None; values],
        slot_of: vec![None; values],
        slots: Vec::new(),
        steps: Vec::new(),
    };
    let (uses, context) = (Uses::new(values), Context::default());
    let mut allocator =
        Allocator { code, state, uses, context, now: 0, depth: 0, slot_bytes: bytes };
    allocator.items(&code.items, &After::default());
    let State { steps, slots, .. } = allocator.state;
    Allocated { steps, slots: slots.len() as u32 }
}

/// Where values are.
#[derive(Clone)]
struct State {
    regs: Vec<Option<Value>>,
    reg_of: Vec<Option<Reg>>,
    slot_of: Vec<Option<u32>>,
    slots: Vec<Option<Value>>,
    steps: Vec<Step>,
}

/// Wishes of the loop around.
#[derive(Clone, Default)]
struct Context {
    /// The slot that a value of the next turn is in.
    home: FxHashMap<Value, u32>,
    /// The register that it is in, and the value for each such register.
    hint: FxHashMap<Value, Reg>,
    wanted: FxHashMap<Reg, Value>,
    /// For slots that are homes the place of the definition of their value in this item.
    claims: FxHashMap<u32, u32>,
    /// Definitions of this item.
    defined: FxHashMap<Value, u32>,
}

struct Allocator<'c> {
    code: &'c Code,
    state: State,
    uses: Uses,
    context: Context,
    /// The place of the instruction in its item.
    now: u32,
    /// Loops around it.
    depth: usize,
    slot_bytes: u32,
}

/// A value in memory is worth a register if its next use is this many times nearer than the next
/// use of the value which must be stored for it.
const WORTH: u32 = 3;

impl Allocator<'_> {
    fn items(&mut self, items: &[Item], outer: &After) {
        let afters = uses::afters(items, outer);
        for (item, after) in items.iter().zip(&afters) {
            match item {
                Item::Straight(insts) => self.straight(insts, after),
                Item::Loop(l) => self.run_loop(l, after),
            }
        }
    }

    fn straight(&mut self, insts: &[Inst], after: &After) {
        self.uses.begin(insts, after);
        self.context.defined.clear();
        for (at, inst) in insts.iter().enumerate() {
            if let Some(dst) = inst.dst {
                self.context.defined.insert(dst, at as u32);
            }
        }
        self.context.claims.clear();
        for (&value, &slot) in &self.context.home {
            if self.state.slot_of[value.at()] != Some(slot) {
                let at = self.context.defined.get(&value).copied();
                self.context.claims.insert(slot, at.unwrap_or(insts.len() as u32));
            }
        }
        self.now = 0;
        self.forget(|this, value| this.uses.first(value) == NEVER);
        for (at, inst) in insts.iter().enumerate() {
            self.now = at as u32;
            self.instruction(inst);
        }
        self.uses.end(insts);
    }

    /// Forgets the values for which `is_gone` says so.
    fn forget(&mut self, is_gone: impl Fn(&mut Self, Value) -> bool) {
        let known = self.state.regs.iter().chain(&self.state.slots).flatten();
        let known: Vec<Value> = known.copied().collect();
        for value in known {
            if is_gone(self, value) {
                self.release(value);
            }
        }
    }

    fn next(&mut self, value: Value) -> u32 {
        self.uses.after(value, self.now)
    }

    fn is_dead(&mut self, value: Value) -> bool {
        self.next(value) == NEVER
    }

    fn reg(&self, value: Value) -> Option<Reg> {
        self.state.reg_of[value.at()]
    }

    /// The memory that a value is in.
    fn memory(&self, value: Value) -> Option<Memory> {
        let slot = self.state.slot_of[value.at()].map(Memory::Slot);
        slot.or_else(|| self.code.home(value).cloned().map(Memory::Cell))
    }

    fn push(&mut self, step: Step) {
        self.state.steps.push(step);
    }

    fn set_reg(&mut self, reg: Reg, value: Value) {
        self.state.regs[reg as usize] = Some(value);
        self.state.reg_of[value.at()] = Some(reg);
    }

    fn drop_reg(&mut self, value: Value) {
        if let Some(reg) = self.state.reg_of[value.at()].take() {
            self.state.regs[reg as usize] = None;
        }
    }

    fn release(&mut self, value: Value) {
        self.drop_reg(value);
        if let Some(slot) = self.state.slot_of[value.at()].take() {
            self.state.slots[slot as usize] = None;
        }
    }

    /// The value that leaves its register next.
    fn victim(&mut self, pinned: &[Value]) -> Option<Value> {
        let mut best: Option<(u32, bool, Value)> = None;
        for at in 0..self.state.regs.len() {
            let Some(value) = self.state.regs[at].filter(|v| !pinned.contains(v)) else { continue };
            let key = (self.next(value), self.memory(value).is_some(), value);
            if best.is_none_or(|known| (key.0, key.1) > (known.0, known.1)) {
                best = Some(key);
            }
        }
        best.map(|(_, _, value)| value)
    }

    /// A register for a value that is read last at `death`.
    fn take(&mut self, value: Value, death: u32, pinned: &[Value]) -> Reg {
        if let Some(reg) = self.free(value, death) {
            return reg;
        }
        let victim = self
            .victim(pinned)
            .expect("an instruction reads fewer values than there are registers");
        self.evict(victim)
    }

    /// A free register: the one that the value should be in, else one that no other value will want
    /// before this one dies.
    fn free(&self, value: Value, death: u32) -> Option<Reg> {
        let is_free = |reg: &Reg| self.state.regs[*reg as usize].is_none();
        if let Some(reg) = self.context.hint.get(&value).copied().filter(is_free) {
            return Some(reg);
        }
        let all = || (0..self.state.regs.len() as Reg).filter(is_free);
        // When the value that wants a register is defined.
        let wanted = |reg: &Reg| {
            let value = self.context.wanted.get(reg)?;
            let at = self.context.defined.get(value).copied().unwrap_or(NEVER);
            (at > self.now || at == NEVER).then_some(at)
        };
        let soon = all().filter_map(|reg| Some((wanted(&reg)?, reg)));
        let fits = soon.filter(|&(at, _)| at >= death && at != NEVER).min();
        fits.map(|(_, reg)| reg)
            .or_else(|| all().find(|reg| wanted(reg).is_none()))
            .or_else(|| all().max_by_key(|reg| wanted(reg)))
    }

    /// Empties the register of a value, which is stored if it is nowhere else.
    fn evict(&mut self, value: Value) -> Reg {
        if self.memory(value).is_none() {
            self.spill(value);
        }
        let reg = self.reg(value).expect("it is in a register");
        self.drop_reg(value);
        reg
    }

    fn spill(&mut self, value: Value) {
        let slot = self.slot_for(value);
        self.state.slots[slot as usize] = Some(value);
        self.state.slot_of[value.at()] = Some(slot);
        let from = self.reg(value).expect("it is in a register");
        self.push(Step::Spill { slot, from });
    }

    /// A free slot: the home of the value, else one that is not needed as a home before it dies.
    fn slot_for(&mut self, value: Value) -> u32 {
        let is_free = |slot: u32| self.state.slots.get(slot as usize).is_none_or(Option::is_none);
        let home = self.context.home.get(&value).copied();
        if let Some(slot) = home.filter(|&slot| is_free(slot)) {
            if slot as usize >= self.state.slots.len() {
                self.state.slots.resize(slot as usize + 1, None);
            }
            return slot;
        }
        let death = self.uses.last(value);
        let mut best: Option<(u32, u32)> = None;
        for slot in (0..self.state.slots.len() as u32).filter(|&slot| is_free(slot)) {
            let key = match self.context.claims.get(&slot) {
                Some(&claim) if claim < death || claim <= self.now => continue,
                Some(&claim) => (claim, slot),
                None => (NEVER, slot),
            };
            if best.is_none_or(|known| key < known) {
                best = Some(key);
            }
        }
        match best {
            Some((_, slot)) => slot,
            None => {
                self.state.slots.push(None);
                self.state.slots.len() as u32 - 1
            }
        }
    }

    /// Brings a value into a register.
    fn load(&mut self, value: Value, pinned: &[Value]) {
        let from = self.memory(value).expect("a value is in a register or in memory");
        let to = self.take(value, self.uses.last(value), pinned);
        self.push(Step::Load { to, from });
        self.set_reg(to, value);
    }

    fn instruction(&mut self, inst: &Inst) {
        match &inst.kind {
            Kind::Store(cell) => {
                let value = inst.args[0];
                if self.reg(value).is_none() {
                    self.load(value, &[]);
                }
                let from = self.reg(value).expect("it was loaded");
                self.push(Step::Store { cell: cell.clone(), from });
                if self.is_dead(value) {
                    self.release(value);
                }
            }
            Kind::Op { form, imm } => self.operation(inst, *form, *imm),
        }
    }

    fn operation(&mut self, inst: &Inst, at: u32, imm: Option<u64>) {
        let code = self.code;
        let form = &code.forms[at as usize];
        let dst = inst.dst.expect("an operation has a result");
        let args = &inst.args;
        let missing: Args = distinct(args).filter(|&v| self.reg(v).is_none()).collect();
        let (folded, into) = self.fold(form, args, &missing);
        for &value in missing.iter().filter(|v| Some(**v) != folded && Some(**v) != into) {
            self.load(value, args);
        }
        let hint = self.context.hint.get(&dst).copied();
        let (order, imm) = self.order((form, imm), args, hint, (folded, into));
        let sources: Args = order.iter().map(|&i| args[i as usize]).collect();
        let place = |this: &Self, value: Value| match this.reg(value) {
            Some(reg) => Place::Reg(reg),
            None => Place::Memory(this.memory(value).expect("a folded value is in memory")),
        };
        let mut from: SmallVec<[Place; 3]> = sources.iter().map(|&v| place(self, v)).collect();
        let death = self.uses.last(dst);
        let to = match form.tied {
            Some(tied) => {
                let tied = tied as usize;
                let value = sources[tied];
                let dies = self.is_dead(value);
                match (from[tied].clone(), dies) {
                    (Place::Reg(reg), true) => {
                        self.drop_reg(value);
                        reg
                    }
                    (known, _) => {
                        let to = self.take(dst, death, args);
                        match known {
                            Place::Reg(reg) => self.push(Step::Copy { to, from: reg }),
                            Place::Memory(memory) => self.push(Step::Load { to, from: memory }),
                        }
                        from[tied] = Place::Reg(to);
                        to
                    }
                }
            }
            None => {
                for value in distinct(args) {
                    if self.is_dead(value) {
                        self.drop_reg(value);
                    }
                }
                let kept: Args = args.iter().copied().filter(|&v| self.reg(v).is_some()).collect();
                self.take(dst, death, &kept)
            }
        };
        self.push(Step::Op { value: dst, form: at, imm, to, from });
        for value in distinct(args) {
            if self.is_dead(value) {
                self.release(value);
            }
        }
        self.set_reg(to, dst);
        if self.is_dead(dst) {
            self.release(dst);
        }
    }

    /// The value that the instruction reads in memory, and the value that is loaded into the
    /// register of the result instead of a copy.
    fn fold(&mut self, form: &Form, args: &Args, missing: &Args) -> (Option<Value>, Option<Value>) {
        let mut best: Option<(u32, Value)> = None;
        for &value in missing {
            let at = args.iter().position(|v| *v == value).expect("it is an operand") as u8;
            let once = args.iter().filter(|v| **v == value).count() == 1;
            let next = self.next(value);
            if once && self.may_fold(form, at, value) && best.is_none_or(|known| next > known.0) {
                best = Some((next, value));
            }
        }
        let lone = missing.len() == 1;
        if let Some((next, value)) = best {
            if lone && next != NEVER && self.is_worth_a_register(next, args) {
                return (None, None);
            }
            // A copy would be needed, if no operand in a register dies.
            let dies = |this: &mut Self, v: Value| this.reg(v).is_some() && this.is_dead(v);
            let copies = form.is_ternary() && distinct(args).all(|v| !dies(self, v));
            return if lone && copies { (None, Some(value)) } else { (Some(value), None) };
        }
        // The result's register is filled from memory.
        let tied = form.tied.map(|tied| args[tied as usize]);
        let once = |v: &Value| args.iter().filter(|other| *other == v).count() == 1;
        let into = tied.filter(|v| missing.contains(v) && once(v) && !form.is_ternary());
        (None, into)
    }

    /// Whether a source may be read from the memory that it is in.
    fn may_fold(&self, form: &Form, at: u8, value: Value) -> bool {
        let Some(memory) = form.memory else { return false };
        let swapped =
            form.commutes.is_some_and(|(a, b)| (at, memory) == (a, b) || (at, memory) == (b, a));
        let reaches = at == memory || swapped || form.is_ternary();
        reaches
            && match self.memory(value) {
                Some(Memory::Slot(_)) => true,
                Some(Memory::Cell(Cell { access: Access::Whole, .. })) => true,
                Some(Memory::Cell(Cell { access: Access::Broadcast(bytes), .. })) => {
                    form.broadcasts(bytes)
                }
                None => false,
            }
    }

    /// Whether a value that is used again at `next` should have a register.
    fn is_worth_a_register(&mut self, next: u32, pinned: &Args) -> bool {
        let free = self.state.regs.iter().filter(|reg| reg.is_none()).count();
        if free > 1 {
            return true;
        }
        let Some(victim) = self.victim(pinned) else { return false };
        let (far, near) = (self.next(victim), next - self.now);
        let far = if far == NEVER { NEVER } else { far - self.now };
        let is_clean = self.memory(victim).is_some();
        is_clean && far > near || far > near.saturating_mul(WORTH)
    }

    /// The order of the sources in the instruction, and its immediate in that order.
    fn order(
        &mut self,
        (form, imm): (&Form, Option<u64>),
        args: &Args,
        hint: Option<Reg>,
        (folded, into): (Option<Value>, Option<Value>),
    ) -> (SmallVec<[u8; 3]>, Option<u64>) {
        let mut order: SmallVec<[u8; 3]> = (0..args.len() as u8).collect();
        if form.is_ternary() {
            // First the source whose register becomes the result: one that dies, and best one in
            // the register that the result should have; last the source in memory.
            let mut key = |i: &u8| {
                let value = args[*i as usize];
                let (last, reg) = (Some(value) == folded, self.reg(value));
                let first = Some(value) != into && (into.is_some() || !self.is_dead(value));
                (last, first, hint.is_some() && reg != hint, *i)
            };
            order.sort_by_cached_key(&mut key);
            let table = imm.expect("a ternary instruction has a table");
            return (order.clone(), Some(turned(table, &order)));
        }
        if let (Some((a, b)), Some(memory)) = (form.commutes, form.memory)
            && folded.is_some_and(|value| args[memory as usize] != value)
        {
            order.swap(a as usize, b as usize);
        }
        (order, imm)
    }
}

/// The values without repetitions.
fn distinct(args: &Args) -> impl Iterator<Item = Value> {
    let seen = |i: &usize| !args[..*i].contains(&args[*i]);
    (0..args.len()).filter(seen).map(|i| args[i])
}

/// The table of three bits for sources in another order: source i is the old source `order[i]`.
fn turned(table: u64, order: &[u8]) -> u64 {
    let row = |new: u64| {
        let bit = |i: usize| new >> (2 - i) & 1;
        let old = (0..3).fold(0, |old, i| old | bit(i) << (2 - order[i]));
        (table >> old & 1) << new
    };
    (0..8).map(row).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_turn_with_their_sources() {
        // a & ~b, for the order b, c, a.
        let table = (0..8u64).filter(|x| x >> 2 & 1 == 1 && x >> 1 & 1 == 0).map(|x| 1 << x).sum();
        let expected: u64 =
            (0..8u64).filter(|x| x & 1 == 1 && x >> 2 & 1 == 0).map(|x| 1 << x).sum();
        assert_eq!(turned(table, &[1, 2, 0]), expected);
    }
}
