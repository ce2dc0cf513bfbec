//! General-purpose registers for addresses and counters of loops.
//!
//! ```text
//! key[2 * k + 1]      a pointer that starts at key and gains two elements in each turn; + 1 element
//! ```
//!
//! Each parameter has a register from the entry on. Cells of one area that walk alike share a
//! pointer for as long as the innermost of their loops runs; they differ by a displacement.

use std::fmt::Write;

use crate::code::{Area, Cell, LoopId};
use crate::steps::{Allocated, Banks, Memory, Place, Step};

/// The way of cells through memory: their area, and the bytes that the turns of loops add.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Walk {
    area: Area,
    walks: Vec<(LoopId, i32)>,
}

/// Registers of the first parameters, and all others: those that a caller expects to keep last.
const PARAMETERS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
const OTHERS: [&str; 7] = ["r10", "r11", "rbx", "r12", "r13", "r14", "r15"];

/// The register that holds a distance, just before the instruction that uses it, or a mask.
const DISTANCE: &str = "rax";

/// The register of a parameter that has none of its own, just before the instruction that uses it.
const BASE: &str = "r11";

/// Registers that parameters leave for loops.
const LOOPS: usize = 4;

/// Registers that belong to the caller.
pub const SAVED: [&str; 5] = ["rbx", "r12", "r13", "r14", "r15"];

/// Registers of a function while it is printed.
pub struct Addresses {
    free: Vec<&'static str>,
    /// The register of each parameter that is used.
    ports: Vec<Option<&'static str>>,
    /// Whether a parameter that is used lies on the stack of the caller.
    is_on_stack: bool,
    /// For each loop its walks, in the order of their first use.
    loops: Vec<Vec<Walk>>,
    records: Vec<i32>,
    open: Vec<Open>,
    /// Registers that were in use.
    pub used: Vec<&'static str>,
}

/// A loop that is being printed.
struct Open {
    id: LoopId,
    counter: &'static str,
    pointers: Vec<(Walk, &'static str)>,
    /// Its banks, with the registers of both.
    banks: Option<(Banks, [&'static str; 2])>,
}

/// Cells that steps access.
fn cells<'a>(step: &'a Step) -> impl Iterator<Item = &'a Cell> {
    let of = |memory: &'a Memory| match memory {
        Memory::Cell(cell) => Some(cell),
        Memory::Slot(_) => None,
    };
    let (one, list) = match step {
        Step::Op { from, .. } => (None, Some(from.iter())),
        Step::Load { from, .. } => (of(from), None),
        Step::Store { cell, .. } => (Some(cell), None),
        Step::Copy { .. } | Step::Spill { .. } | Step::Enter { .. } | Step::Again { .. } => {
            (None, None)
        }
    };
    let listed = list.into_iter().flatten().filter_map(move |place| match place {
        Place::Memory(memory) => of(memory),
        Place::Reg(_) => None,
    });
    one.into_iter().chain(listed)
}

impl Addresses {
    /// The registers of a function with this number of parameters, and with records of these sizes
    /// in the tables of its loops.
    pub fn new(code: &Allocated, parameters: usize, records: &[i32]) -> Result<Addresses, String> {
        let mut all = Addresses {
            free: Vec::new(),
            ports: vec![None; parameters],
            is_on_stack: false,
            loops: vec![Vec::new(); records.len()],
            records: records.to_vec(),
            open: Vec::new(),
            used: Vec::new(),
        };
        let mut is_used = vec![false; parameters];
        for cell in code.steps.iter().flat_map(cells) {
            if let Area::Port(at) = cell.area {
                is_used[at as usize] = true;
            }
            for depth in 1..=cell.walks.len() {
                let walk = Walk { area: cell.area, walks: cell.walks[..depth].to_vec() };
                all.add(walk);
            }
            if let Some((id, _)) = cell.jump {
                all.add(distances(id, records));
            }
        }
        // The last one is taken first.
        all.free = OTHERS.iter().rev().copied().collect();
        for (at, reg) in PARAMETERS.into_iter().enumerate() {
            match is_used.get(at) {
                Some(true) => all.ports[at] = Some(reg),
                _ => all.free.push(reg),
            }
        }
        let on_stack = is_used.into_iter().enumerate().skip(PARAMETERS.len());
        let on_stack: Vec<usize> = on_stack.filter(|(_, used)| *used).map(|(at, _)| at).collect();
        all.is_on_stack = !on_stack.is_empty();
        if on_stack.len() + LOOPS > all.free.len() {
            // The others are read from the stack where they are used, into a register of its own.
            all.free.retain(|reg| *reg != BASE);
        }
        for at in on_stack {
            if all.free.len() > LOOPS {
                all.ports[at] = Some(all.take()?);
            }
        }
        Ok(all)
    }

    fn add(&mut self, walk: Walk) {
        let (id, _) = walk.walks.last().expect("it walks with a loop");
        let of_loop = &mut self.loops[id.0 as usize];
        if !of_loop.contains(&walk) {
            of_loop.push(walk);
        }
    }

    fn take(&mut self) -> Result<&'static str, String> {
        let few =
            "loops need more addresses at a time than there are registers; leave out --emit asm";
        let reg = self.free.pop().ok_or_else(|| few.to_string())?;
        if !self.used.contains(&reg) {
            self.used.push(reg);
        }
        Ok(reg)
    }

    /// Whether a parameter that is used lies on the stack of the caller.
    pub fn is_on_stack(&self) -> bool {
        self.is_on_stack
    }

    /// The register of a parameter. Prints the load of one that has none of its own.
    fn port(&self, at: u8, text: &mut String) -> &'static str {
        self.ports[at as usize].unwrap_or_else(|| {
            let place = place_on_stack(at as usize - PARAMETERS.len());
            let _ = writeln!(text, "\tmovq\t{place}, %{BASE}");
            BASE
        })
    }

    /// Parameters that lie on the stack of the caller, with their addresses and registers.
    pub fn on_stack(&self) -> impl Iterator<Item = (String, &'static str)> {
        let ports = self.ports.iter().enumerate().skip(PARAMETERS.len());
        ports.filter_map(|(at, reg)| Some((place_on_stack(at - PARAMETERS.len()), (*reg)?)))
    }

    fn pointer(&self, walk: &Walk) -> &'static str {
        let all = self.open.iter().flat_map(|open| &open.pointers);
        let found = all.into_iter().find(|(known, _)| known == walk);
        found.expect("the loops around a cell are open").1
    }

    /// The address of a cell; `base` has the address of areas that are no parameters. Prints the
    /// load of a distance from a table.
    pub fn of(&self, cell: &Cell, base: &dyn Fn(Area, i32) -> String, text: &mut String) -> String {
        let address = match (&cell.walks[..], cell.area) {
            ([], Area::Port(at)) => displaced(cell.offset, self.port(at, text)),
            ([], area) => base(area, cell.offset),
            (walks, area) => {
                displaced(cell.offset, self.pointer(&Walk { area, walks: walks.to_vec() }))
            }
        };
        let Some((id, place)) = cell.jump else { return address };
        let table = self.pointer(&distances(id, &self.records));
        let _ = writeln!(text, "\tmovl\t{}, {}", displaced(place, table), half(DISTANCE));
        address.replace(')', &format!(",%{DISTANCE})"))
    }

    /// The register of the bank that a slot is in, and its place there.
    pub fn bank(&self, slot: u32) -> Option<(&'static str, u32)> {
        self.open.iter().filter_map(|open| open.banks).find_map(|(banks, regs)| {
            let of = |from: u32, reg| {
                let at = slot.checked_sub(from).filter(|&at| at < banks.size)?;
                Some((reg, at))
            };
            of(banks.first, regs[0]).or_else(|| of(banks.second, regs[1]))
        })
    }

    /// Prints the instructions before the head of a loop; `slot` has the addresses of slots.
    pub fn enter(
        &mut self,
        (id, count, banks): (LoopId, u32, Option<Banks>),
        slot: &dyn Fn(u32) -> String,
        base: &dyn Fn(Area, i32) -> String,
        text: &mut String,
    ) -> Result<(), String> {
        let counter = self.take()?;
        let mut pointers = Vec::new();
        for walk in self.loops[id.0 as usize].clone() {
            let reg = self.take()?;
            let (_, outer) = walk.walks.split_last().expect("it walks with the loop");
            match (outer, walk.area) {
                ([], Area::Port(at)) => {
                    let from = self.port(at, text);
                    let _ = writeln!(text, "\tmovq\t%{from}, %{reg}");
                }
                ([], area) => {
                    let _ = writeln!(text, "\tleaq\t{}, %{reg}", base(area, 0));
                }
                (outer, area) => {
                    let from = self.pointer(&Walk { area, walks: outer.to_vec() });
                    let _ = writeln!(text, "\tmovq\t%{from}, %{reg}");
                }
            }
            pointers.push((walk, reg));
        }
        let mut turning = None;
        if let Some(banks) = banks {
            let regs = [self.take()?, self.take()?];
            for (from, reg) in [banks.first, banks.second].into_iter().zip(regs) {
                let _ = writeln!(text, "\tleaq\t{}, %{reg}", slot(from));
            }
            turning = Some((banks, regs));
        }
        let _ = writeln!(text, "\tmovl\t${count}, {}", half(counter));
        self.open.push(Open { id, counter, pointers, banks: turning });
        Ok(())
    }

    /// Prints the instructions at the end of a loop before its branch, which is taken unless the
    /// last result is zero.
    pub fn again(&mut self, id: LoopId, text: &mut String) {
        let open = self.open.pop().expect("a loop ends after its head");
        assert_eq!(open.id, id, "loops end in the order of their nesting");
        for (walk, reg) in &open.pointers {
            let (_, step) = walk.walks.last().expect("it walks with the loop");
            if *step != 0 {
                let _ = writeln!(text, "\taddq\t${step}, %{reg}");
            }
            self.free.push(reg);
        }
        if let Some((_, [first, second])) = open.banks {
            let _ = writeln!(text, "\txchgq\t%{first}, %{second}");
            self.free.extend([first, second]);
        }
        let _ = writeln!(text, "\tsubl\t$1, {}", half(open.counter));
        self.free.push(open.counter);
    }
}

/// The walk over the table of a loop.
fn distances(id: LoopId, records: &[i32]) -> Walk {
    Walk { area: Area::Table(id), walks: vec![(id, records[id.0 as usize])] }
}

/// The address of a parameter on the stack of the caller, above the return address and `%rbp`.
fn place_on_stack(at: usize) -> String {
    displaced(16 + 8 * at as i32, "rbp")
}

/// An address at a distance from a register.
pub fn displaced(offset: i32, reg: &str) -> String {
    if offset == 0 { format!("(%{reg})") } else { format!("{offset}(%{reg})") }
}

/// The lower 32 bits of a register.
fn half(reg: &str) -> String {
    match reg.strip_prefix('r') {
        Some(name) if name.starts_with(|c: char| c.is_ascii_digit()) => format!("%{reg}d"),
        Some(name) => format!("%e{name}"),
        None => unreachable!("registers of 64 bits begin with r"),
    }
}
