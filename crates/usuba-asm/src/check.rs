//! The allocation checker: allocated code computes the values of the code over virtual
//! registers.
//!
//! ```text
//! v7 = xor v3, v5       vpxord 64(%rsp), %zmm1, %zmm4     slot 1 holds v5 and zmm1 holds v3:
//!                                                         from here on zmm4 holds v7
//! ```
//!
//! The checker knows nothing of the allocator. It runs over the code and over the steps, and keeps
//! for each register and slot the values that it holds. Every instruction must be there once, in
//! the item that it belongs to, and read its operands. At the head of a loop a place holds the
//! values that it holds both before the first turn and at the end of each: the checker begins with the former and
//! runs over the body until nothing more is lost.
//!
//! *Limits:* the addresses of cells and slots are the printer's. The proof of the object has no
//! limits of this kind; this check is faster and names the first wrong step.
//!
//! *Reference:* Rideau, Leroy 2010 (validation of register allocation).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Access, Cell, Code, Inst, Item, Kind, Loop, LoopId, Value};
use crate::form::Form;
use crate::steps::{Allocated, Banks, Memory, Place, Reg, Step};

/// Checks that the steps compute the code.
///
/// # Errors
/// The first wrong step.
pub fn check(code: &Code, allocated: &Allocated, regs: usize) -> Result<(), String> {
    let mut homes: FxHashMap<&Cell, Vec<Value>> = FxHashMap::default();
    for (at, home) in code.homes.iter().enumerate() {
        if let Some(cell) = home {
            homes.entry(cell).or_default().push(Value(at as u32));
        }
    }
    let state =
        State { regs: vec![Vec::new(); regs], slots: vec![Vec::new(); allocated.slots as usize] };
    let mut filled = FxHashSet::default();
    code.items.iter().for_each(|item| filled_by(item, &mut filled));
    let mut checker =
        Checker { unfilled: filled, code, homes, steps: &allocated.steps, at: 0, state };
    checker.items(&code.items)?;
    match checker.steps.get(checker.at) {
        None => Ok(()),
        Some(_) => Err(checker.wrong("it belongs to no item")),
    }
}

/// The values that places hold, in ascending order.
#[derive(Clone, PartialEq)]
struct State {
    regs: Vec<Vec<Value>>,
    slots: Vec<Vec<Value>>,
}

impl State {
    /// Replaces the values of each place.
    fn map(&self, of: impl Fn(&[Value]) -> Vec<Value>) -> State {
        let all = |places: &[Vec<Value>]| places.iter().map(|values| of(values)).collect();
        State { regs: all(&self.regs), slots: all(&self.slots) }
    }

    fn exchange(&mut self, banks: Option<Banks>) {
        if let Some(banks) = banks {
            for at in 0..banks.size {
                self.slots.swap((banks.first + at) as usize, (banks.second + at) as usize);
            }
        }
    }

    /// Keeps the values that a place holds in both.
    fn meet(&mut self, other: &State) {
        let places = self.regs.iter_mut().chain(&mut self.slots);
        for (values, others) in places.zip(other.regs.iter().chain(&other.slots)) {
            values.retain(|v| others.contains(v));
        }
    }
}

struct Checker<'a> {
    code: &'a Code,
    /// Values whose homes are not filled yet.
    unfilled: FxHashSet<Value>,
    /// The values that cells hold.
    homes: FxHashMap<&'a Cell, Vec<Value>>,
    steps: &'a [Step],
    /// The next step.
    at: usize,
    state: State,
}

impl<'a> Checker<'a> {
    fn wrong(&self, why: &str) -> String {
        format!("step {}, {:?}: {why}", self.at, self.steps.get(self.at))
    }

    fn items(&mut self, items: &'a [Item]) -> Result<(), String> {
        for item in items {
            match item {
                Item::Straight(insts) => self.straight(insts)?,
                Item::Loop(l) => self.run_loop(l)?,
            }
        }
        Ok(())
    }

    fn straight(&mut self, insts: &'a [Inst]) -> Result<(), String> {
        let results = insts.iter().filter_map(|inst| Some((inst.dst?, inst)));
        let mut results: FxHashMap<Value, &Inst> = results.collect();
        let stores = insts.iter().filter_map(|inst| match &inst.kind {
            Kind::Store(cell) => Some((cell, inst.args[0])),
            Kind::Op { .. } => None,
        });
        let mut stores: FxHashMap<&Cell, Value> = stores.collect();
        while !results.is_empty() || !stores.is_empty() {
            match self.steps.get(self.at) {
                Some(Step::Op { value, form, imm, to, from }) => {
                    let inst = results.remove(value);
                    let inst = inst.ok_or_else(|| self.wrong("it is not to be computed here"))?;
                    self.operation(inst, *form, *imm, *to, from)?;
                    self.state.regs[*to as usize] = vec![*value];
                }
                Some(Step::Store { cell, from }) => {
                    let value = stores.remove(cell);
                    let value =
                        value.ok_or_else(|| self.wrong("nothing goes to this cell here"))?;
                    if !self.state.regs[*from as usize].contains(&value) {
                        return Err(self.wrong(&format!("the register does not hold {value:?}")));
                    }
                }
                _ => self.movement()?,
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A step that moves values.
    fn movement(&mut self) -> Result<(), String> {
        match self.steps.get(self.at) {
            Some(Step::Copy { to, from }) => {
                self.state.regs[*to as usize] = self.state.regs[*from as usize].clone();
            }
            Some(Step::Load { to, from }) => self.state.regs[*to as usize] = self.held(from),
            Some(Step::Spill { slot, from }) => {
                self.state.slots[*slot as usize] = self.state.regs[*from as usize].clone();
            }
            _ => return Err(self.wrong("something is missing before it")),
        }
        Ok(())
    }

    /// The values in memory.
    fn held(&self, memory: &Memory) -> Vec<Value> {
        match memory {
            Memory::Slot(slot) => self.state.slots[*slot as usize].clone(),
            Memory::Cell(cell) => {
                let held = self.homes.get(cell).into_iter().flatten();
                held.copied().filter(|v| !self.unfilled.contains(v)).collect()
            }
        }
    }

    fn operation(
        &self,
        inst: &Inst,
        form: u32,
        imm: Option<u64>,
        to: Reg,
        from: &[Place],
    ) -> Result<(), String> {
        let Kind::Op { form: known, imm: table } = inst.kind else {
            return Err(self.wrong("it is a store"));
        };
        if form != known || from.len() != inst.args.len() {
            return Err(self.wrong("it is another instruction"));
        }
        let form = &self.code.forms[form as usize];
        for (at, place) in from.iter().enumerate() {
            if let Place::Memory(memory) = place
                && !(form.memory == Some(at as u8) && reads(form, memory))
            {
                return Err(self.wrong("it does not read this memory"));
            }
        }
        if form.tied.is_some_and(|tied| from[tied as usize] != Place::Reg(to)) {
            return Err(self.wrong("the result is not in the register of its source"));
        }
        let held: Vec<Vec<Value>> = from
            .iter()
            .map(|place| match place {
                Place::Reg(reg) => self.state.regs[*reg as usize].clone(),
                Place::Memory(memory) => self.held(memory),
            })
            .collect();
        // Source i of the instruction is source `order[i]` of the code.
        let reads = |order: &[usize]| {
            held.iter().zip(order).all(|(held, &from)| held.contains(&inst.args[from]))
        };
        let straight: Vec<usize> = (0..from.len()).collect();
        let fits = if form.is_ternary() {
            let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
            orders.iter().any(|order| reads(order) && same_function(table, imm, order))
        } else {
            let swapped = form.commutes.map(|(a, b)| {
                let mut order = straight.clone();
                order.swap(a as usize, b as usize);
                order
            });
            imm == table && (reads(&straight) || swapped.is_some_and(|order| reads(&order)))
        };
        if fits {
            return Ok(());
        }
        let wanted: Vec<Value> = inst.args.to_vec();
        Err(self.wrong(&format!("it should read {wanted:?}, and its sources hold {held:?}")))
    }

    fn run_loop(&mut self, l: &'a Loop) -> Result<(), String> {
        while !matches!(self.steps.get(self.at), Some(Step::Enter { .. })) {
            self.movement()?;
            self.at += 1;
        }
        let banks = match self.steps[self.at] {
            Step::Enter { id, count, banks } if (id, count) == (l.id, l.count) => banks,
            _ => return Err(self.wrong("it is another loop")),
        };
        let head = self.at + 1;
        let inside = self.inside(l);
        let named =
            |values: &[Value], from: &dyn Fn(usize) -> Value, to: &dyn Fn(usize) -> Value| {
                let mut known: Vec<Value> =
                    values.iter().copied().filter(|v| !inside.contains(v)).collect();
                let carried = (0..l.carried.len()).filter(|&i| values.contains(&from(i)));
                known.extend(carried.map(to));
                known.sort_unstable();
                known.dedup();
                known
            };
        let (param, init) = (|i: usize| l.carried[i].param, |i: usize| l.carried[i].init);
        let (next, result) = (|i: usize| l.carried[i].next, |i: usize| l.carried[i].result);
        let mut start = self.state.map(|values| named(values, &init, &param));
        let end = loop {
            self.at = head;
            self.state = start.clone();
            l.body.iter().for_each(|item| filled_by(item, &mut self.unfilled));
            self.items(&l.body)?;
            while self.steps.get(self.at) != Some(&Step::Again { id: l.id, banks }) {
                self.movement()?;
                self.at += 1;
            }
            let before = start.clone();
            let mut turned = self.state.map(|values| named(values, &next, &param));
            turned.exchange(banks);
            start.meet(&turned);
            if start == before {
                let mut end = self.state.clone();
                // The banks have changed places after each turn but the last one.
                end.exchange(banks.filter(|_| l.count.is_multiple_of(2)));
                break end;
            }
        };
        self.at += 1;
        for value in &l.filled {
            self.unfilled.remove(value);
        }
        self.state = end.map(|values| named(values, &next, &result));
        Ok(())
    }

    /// The values that are others in each turn.
    fn inside(&self, l: &Loop) -> FxHashSet<Value> {
        let mut all = FxHashSet::default();
        defined(&Item::Loop(l.clone()), &mut all);
        // Loops have rising numbers from the outside in.
        let walks = |id: &LoopId| *id >= l.id;
        for (at, home) in self.code.homes.iter().enumerate() {
            let Some(cell) = home else { continue };
            let jumps = cell.jump.is_some_and(|(id, _)| walks(&id));
            if jumps || cell.walks.iter().any(|(id, _)| walks(id)) {
                all.insert(Value(at as u32));
            }
        }
        all
    }
}

/// The values whose homes the loops of an item fill.
fn filled_by(item: &Item, all: &mut FxHashSet<Value>) {
    if let Item::Loop(l) = item {
        all.extend(&l.filled);
        l.body.iter().for_each(|item| filled_by(item, all));
    }
}

fn defined(item: &Item, all: &mut FxHashSet<Value>) {
    match item {
        Item::Straight(insts) => all.extend(insts.iter().filter_map(|inst| inst.dst)),
        Item::Loop(l) => {
            all.extend(l.carried.iter().flat_map(|c| [c.param, c.result]));
            all.extend(&l.filled);
            l.body.iter().for_each(|item| defined(item, all));
        }
    }
}

/// Whether an instruction may read memory in place.
fn reads(form: &Form, memory: &Memory) -> bool {
    match memory {
        Memory::Cell(Cell { access: Access::Broadcast(bytes), .. }) => form.broadcasts(*bytes),
        Memory::Cell(_) | Memory::Slot(_) => true,
    }
}

/// Whether a table on sources in another order is the same function of three bits.
fn same_function(table: Option<u64>, other: Option<u64>, order: &[usize; 3]) -> bool {
    let (Some(table), Some(other)) = (table, other) else { return false };
    let at = |bits: [u64; 3]| bits[0] << 2 | bits[1] << 1 | bits[2];
    (0..8u64).all(|row| {
        let bits = [row >> 2 & 1, row >> 1 & 1, row & 1];
        table >> at(bits) & 1 == other >> at(order.map(|from| bits[from])) & 1
    })
}
