//! Estimated cycles of allocated code: a simulation of an out-of-order processor.
//!
//! ```text
//! cycle  0: vpxor (p0)   vpaddd (p1)   load     an instruction begins once its operands are there
//!        1: vprold (p1)  store                  and a port that runs it is free
//! ```
//!
//! Instructions enter in order, a fixed number in a cycle, while those that have not ended fit in
//! the reorder buffer. Each begins on the first free port once its operands are ready; loads and
//! stores have ports of their own, and a slot is read some cycles after it was written. Loops run a
//! few turns, of which the last one stands for the rest. Predictions, caches and the positions of
//! frames are not modelled: estimates choose between orders of the same instructions.

use std::collections::HashMap;

use rustc_hash::FxHashMap;
use usuba::isa::cpu::Unit;

use crate::code::{Access, Cell, Code};
use crate::steps::{Allocated, Memory, Place, Step};

/// Instructions that have entered and not ended.
const BUFFER: usize = 224;

/// Cycles from the start of a load to its value.
const LOAD: u64 = 7;

/// Turns of a loop that are simulated.
const TURNS: u32 = 3;

/// Cycles over which loads, stores and ternary instructions are counted, and the parts of it that they
/// may take together.
const SPAN: u64 = 10;
const WHOLE: u32 = 1_000;

/// Cycles after which an operand is no longer a recent one.
const RECENT: u64 = 2;

/// The estimated cycles of one call.
pub fn cycles(code: &Code, allocated: &Allocated, unit: &Unit) -> u64 {
    let mut simulation = Simulation {
        code,
        unit,
        regs: vec![0; 64],
        slots: vec![0; allocated.slots as usize],
        cells: HashMap::default(),
        ports: Vec::new(),
        loads: Vec::new(),
        stores: Vec::new(),
        ternary: Vec::new(),
        ends: Vec::new(),
        entered: 0,
        last: 0,
        skipped: 0,
    };
    simulation.run(&allocated.steps);
    simulation.last + simulation.skipped
}

struct Simulation<'a> {
    code: &'a Code,
    unit: &'a Unit,
    /// The cycles in which registers, slots and cells have their values.
    regs: Vec<u64>,
    slots: Vec<u64>,
    cells: FxHashMap<&'a Cell, u64>,
    /// For each cycle the ports in use; for each span the parts of it that loads, stores and
    /// ternary instructions take.
    ports: Vec<u16>,
    loads: Vec<u32>,
    stores: Vec<u32>,
    ternary: Vec<u32>,
    /// The end of each instruction or of one before it, the latest.
    ends: Vec<u64>,
    entered: u64,
    last: u64,
    /// Cycles of turns that are not simulated.
    skipped: u64,
}

impl<'a> Simulation<'a> {
    fn run(&mut self, steps: &'a [Step]) {
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let &Step::Enter { id, count, banks } = step else {
                self.step(step);
                at += 1;
                continue;
            };
            let length = steps[at..].iter().position(|s| *s == Step::Again { id, banks });
            let length = length.expect("a loop has an end");
            let body = &steps[at + 1..at + length];
            let turns = count.min(TURNS);
            let mut before = self.last + self.skipped;
            for turn in 0..turns {
                before = if turn + 1 == turns { self.last + self.skipped } else { before };
                self.run(body);
                if let Some(banks) = banks {
                    for at in 0..banks.size {
                        self.slots.swap((banks.first + at) as usize, (banks.second + at) as usize);
                    }
                }
            }
            let turn = self.last + self.skipped - before;
            self.skipped += turn * u64::from(count - turns);
            at += length + 1;
        }
    }

    /// The first cycle in which an instruction can begin, as far as entering goes.
    fn enter(&mut self) -> u64 {
        let at = self.ends.len();
        let room = if at >= BUFFER { self.ends[at - BUFFER] } else { 0 };
        // Entering waits for room, and all that enters later waits too.
        let width = u64::from(self.unit.issue);
        self.entered = (self.entered + 1).max(room * width);
        self.entered / width
    }

    fn end(&mut self, at: u64) {
        let latest = self.ends.last().copied().unwrap_or(0).max(at);
        self.ends.push(latest);
        self.last = self.last.max(at);
    }

    fn load(&mut self, memory: &'a Memory, enter: u64) -> u64 {
        let (ready, rate) = match memory {
            Memory::Slot(slot) => (self.slots[*slot as usize], self.unit.loads),
            Memory::Cell(cell) => {
                let ready = self.cells.get(cell).copied().unwrap_or(0);
                let few = matches!(cell.access, Access::Broadcast(_)) && self.unit.broadcasts > 0;
                (ready, if few { self.unit.broadcasts } else { self.unit.loads })
            }
        };
        let begin = counted(&mut self.loads, rate, enter.max(ready));
        // A value that was just stored is there later than other memory.
        let forward = u64::from(self.unit.forward);
        (begin + LOAD).max(if ready > 0 { ready + forward } else { 0 })
    }

    fn store(&mut self, ready: u64) -> u64 {
        counted(&mut self.stores, self.unit.stores, ready)
    }

    fn step(&mut self, step: &'a Step) {
        let enter = self.enter();
        match step {
            Step::Op { form, to, from, .. } => {
                let form = &self.code.forms[*form as usize];
                let mut ready = enter;
                for place in from {
                    let at = match place {
                        Place::Reg(reg) => self.regs[*reg as usize],
                        Place::Memory(memory) => self.load(memory, enter),
                    };
                    ready = ready.max(at);
                }
                let figure = self.unit.figure(form.inst, form.lane);
                let (latency, ports) = figure.map_or((1, 1), |f| (u64::from(f.latency), f.ports));
                if form.is_ternary() {
                    ready = self.ternary(from, ready);
                }
                let begin = self.port(ports, ready);
                self.regs[*to as usize] = begin + latency;
                self.end(begin + latency);
            }
            Step::Copy { to, from } => {
                let at = self.regs[*from as usize];
                self.regs[*to as usize] = at.max(enter);
                self.end(at.max(enter));
            }
            Step::Load { to, from } => {
                let end = self.load(from, enter);
                self.regs[*to as usize] = end;
                self.end(end);
            }
            Step::Spill { slot, from } => {
                let end = self.store(enter.max(self.regs[*from as usize]));
                self.slots[*slot as usize] = end;
                self.end(end);
            }
            Step::Store { cell, from } => {
                let end = self.store(enter.max(self.regs[*from as usize]));
                if cell.access == Access::Whole {
                    self.cells.insert(cell, end);
                }
                self.end(end);
            }
            Step::Enter { .. } | Step::Again { .. } => {}
        }
    }

    /// The first cycle in which a ternary instruction can begin.
    fn ternary(&mut self, from: &[Place], ready: u64) -> u64 {
        let is_recent = |place: &&Place| match place {
            Place::Reg(reg) => self.regs[*reg as usize] + RECENT > ready,
            Place::Memory(_) => false,
        };
        let recent = from.iter().filter(is_recent).count().clamp(1, 3);
        match self.unit.ternary[recent - 1] {
            0 => ready,
            rate => counted(&mut self.ternary, rate, ready),
        }
    }

    /// The first cycle from `ready` on in which one of the ports is free.
    fn port(&mut self, ports: u16, ready: u64) -> u64 {
        let mut cycle = ready as usize;
        loop {
            if cycle >= self.ports.len() {
                self.ports.resize(cycle + 1, 0);
            }
            let free = ports & !self.ports[cycle];
            if free != 0 || ports == 0 {
                self.ports[cycle] |= free & free.wrapping_neg();
                return cycle as u64;
            }
            cycle += 1;
        }
    }
}

/// The first cycle from `ready` on whose span has room for one of these, of which `rate` fill it.
fn counted(spans: &mut Vec<u32>, rate: u32, ready: u64) -> u64 {
    let part = WHOLE / rate.max(1);
    let mut span = (ready / SPAN) as usize;
    loop {
        if span >= spans.len() {
            spans.resize(span + 1, 0);
        }
        if spans[span] + part <= WHOLE {
            spans[span] += part;
            return ready.max(span as u64 * SPAN);
        }
        span += 1;
    }
}
