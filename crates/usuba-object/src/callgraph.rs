//! The call graph: the functions that each function calls, and the functions whose address is taken.
//!
//! ```text
//! f:  call g            a call             f calls g
//!     jmp  h            a tail call        f calls h
//!     call 4030         4030: jmp [slot]   f calls the function of the slot
//!     lea  rax, [k]     its address        k may be called from anywhere
//! ```
//!
//! Each function is decoded from its first to its last byte. The part of a function that a compiler
//! puts elsewhere because it rarely runs, `f.cold`, belongs to `f`.
//!
//! *Soundness:* only calls in the graph, exported symbols and addresses reach a function. Code that
//! belongs to no function, or that cannot be decoded, is decoded from every byte on. Tables of
//! distances are searched from every address that code names.
//!
//! *Limits:* no function of an executable at a fixed address is known to have all its callers here,
//! since any number may be its address. An address in the middle of a function is no call of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::aarch64::Aarch64;
use super::control_flow::{ControlFlow, Names};
use super::elf::{Content, Object, Processor};
use super::riscv::Riscv;
use super::x86::X86;

/// Bytes of the longest table of distances.
const TABLE: u64 = 4096;

/// The calls of a function.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Calls {
    /// Functions that it calls or jumps to, by their places; undefined symbols among them.
    pub direct: BTreeSet<u64>,
    /// Whether it calls or jumps to an address in a register or in memory, or is not understood.
    pub is_indirect: bool,
}

/// The calls of all functions of an object.
pub struct CallGraph<'o> {
    object: &'o Object,
    machine: Machine,
    /// The ends of functions, by their places.
    ends: BTreeMap<u64, u64>,
    /// Functions of which others are parts, by the places of these.
    owners: BTreeMap<u64, u64>,
    calls: BTreeMap<u64, Calls>,
    /// Functions that may have other callers, and why.
    open: BTreeMap<u64, &'static str>,
    /// Addresses in the object that code names.
    named: BTreeSet<u64>,
}

impl<'o> CallGraph<'o> {
    /// The call graph of an object.
    pub fn new(object: &'o Object) -> CallGraph<'o> {
        let mut graph = CallGraph {
            object,
            machine: Machine(object.processor()),
            ends: BTreeMap::new(),
            owners: BTreeMap::new(),
            calls: BTreeMap::new(),
            open: BTreeMap::new(),
            named: BTreeSet::new(),
        };
        for function in object.functions() {
            let end = function.place.saturating_add(function.size);
            let last = graph.ends.entry(function.place).or_default();
            *last = end.max(*last);
            if function.is_exported {
                graph.open.insert(function.place, "it is exported");
            }
        }
        let places: Vec<(u64, u64)> = graph.ends.iter().map(|(&at, &end)| (at, end)).collect();
        graph.open_overlapping(&places);
        let mut known = Vec::new();
        for &(place, end) in &places {
            if graph.decode(place, end) {
                known.push((place, end));
            }
        }
        graph.join_parts();
        graph.search_other_code(&known);
        for target in object.pointers() {
            graph.take(target, "its address is taken");
        }
        graph.search_tables();
        graph
    }

    /// The calls of the function at a place.
    pub fn calls(&self, function: u64) -> Option<&Calls> {
        self.calls.get(&self.owner(function))
    }

    /// The functions that call the function at a place, or its parts. No other code does.
    ///
    /// # Errors
    /// The reason why there may be other calls.
    pub fn callers(&self, function: u64) -> Result<BTreeSet<u64>, &'static str> {
        let function = self.owner(function);
        if self.object.is_fixed() {
            return Err("the executable has a fixed address, so any number may be its address");
        }
        let own = self.owners.iter().filter(|(_, owner)| **owner == function);
        for part in own.map(|(part, _)| part).chain([&function]) {
            if let Some(reason) = self.open.get(part) {
                return Err(reason);
            }
        }
        let callers = self.calls.iter().filter(|(_, calls)| calls.direct.contains(&function));
        Ok(callers.map(|(&caller, _)| caller).collect())
    }

    /// The function to which a function belongs as a part.
    pub fn owner(&self, function: u64) -> u64 {
        self.owners.get(&function).copied().unwrap_or(function)
    }

    /// The function that has an address in its code.
    fn function(&self, place: u64) -> Option<u64> {
        let (&start, &end) = self.ends.range(..=place).next_back()?;
        (place < end || place == start).then_some(start)
    }

    /// Notes that other code may reach the function at an address, or at the address in a slot.
    fn take(&mut self, target: u64, reason: &'static str) {
        let target = self.object.slot(target).unwrap_or(target);
        if self.ends.contains_key(&target) {
            self.open.entry(target).or_insert(reason);
        }
    }

    /// Notes this of all functions whose addresses may be among some.
    fn take_all(&mut self, range: Range<u64>, reason: &'static str) {
        let functions = self.ends.range(range.clone()).map(|(&at, _)| at);
        let targets: Vec<u64> = functions.chain([range.start]).collect();
        targets.into_iter().for_each(|target| self.take(target, reason));
    }

    /// Code may run from one function into another that overlaps it.
    fn open_overlapping(&mut self, functions: &[(u64, u64)]) {
        // The function before that ends last.
        let mut outer = (0, 0);
        for &(place, end) in functions {
            if place < outer.1 {
                for at in [outer.0, place] {
                    self.open.entry(at).or_insert("it overlaps another function");
                }
            }
            if end > outer.1 {
                outer = (place, end);
            }
        }
    }

    /// Decodes a function. Whether all of it is known.
    fn decode(&mut self, place: u64, end: u64) -> bool {
        let code = self.object.code(place, (end - place) as usize);
        let (mut starts, mut inner) = (BTreeSet::new(), Vec::new());
        let (mut calls, mut is_known) = (Calls::default(), code.len() as u64 == end - place);
        let last = place + code.len() as u64;
        let mut at = place;
        while at < last {
            let names = self.machine.names(self.object, at);
            starts.insert(at);
            is_known &= names.is_known && at + names.length <= last;
            let is_call = names.is_call;
            at += names.length;
            match self.branch(names) {
                Branch::None => {}
                Branch::Indirect => calls.is_indirect = true,
                Branch::To(target) if (place..end).contains(&target) => {
                    // A recursive call is one, too.
                    calls.direct.extend(is_call.then_some(place));
                    inner.push(target);
                }
                Branch::To(target) => {
                    calls.direct.insert(self.function(target).unwrap_or(target));
                }
            }
        }
        is_known &= inner.iter().all(|target| starts.contains(target));
        calls.is_indirect |= !is_known;
        self.calls.insert(place, calls);
        is_known
    }

    /// The target of an instruction. Notes the addresses that it takes.
    fn branch(&mut self, names: Names) -> Branch {
        if let Some(target) = names.target {
            return Branch::To(self.behind_stub(target));
        }
        let address = self.object.processor().address();
        if let Some(slot) = names.slot.filter(|_| names.is_indirect)
            && let Ok(Content::Address(target)) = self.object.constant(slot, address)
        {
            return Branch::To(target);
        }
        for range in names.addresses {
            // A table may be anywhere in a page.
            self.named.extend(range.clone().step_by(4));
            self.take_all(range, "its address is taken");
        }
        if names.is_indirect { Branch::Indirect } else { Branch::None }
    }

    /// The function behind a stub that jumps through a slot.
    fn behind_stub(&self, target: u64) -> u64 {
        if self.function(target).is_some() {
            return target;
        }
        let slot = self.machine.stub(self.object, target);
        slot.and_then(|slot| self.object.slot(slot)).unwrap_or(target)
    }

    /// Joins the parts of functions with these: `f.cold` is a part of the only `f` that jumps there.
    fn join_parts(&mut self) {
        let object = self.object;
        for part in object.functions() {
            let Some((name, _)) = part.name.rsplit_once(".cold") else { continue };
            let jumps =
                |at: u64| self.calls.get(&at).is_some_and(|c| c.direct.contains(&part.place));
            let all = object.functions().iter();
            let mut owners = all.filter(|function| function.name == name && jumps(function.place));
            if let (Some(owner), None) = (owners.next(), owners.next()) {
                self.owners.insert(part.place, owner.place);
            }
        }
        let mut joined: BTreeMap<u64, Calls> = BTreeMap::new();
        for (function, calls) in std::mem::take(&mut self.calls) {
            let all = joined.entry(self.owner(function)).or_default();
            all.is_indirect |= calls.is_indirect;
            // A jump between the parts of one function is no call.
            let own = |at: &u64| *at != function && self.owner(*at) == self.owner(function);
            let others = calls.direct.into_iter().filter(|at| !own(at));
            all.direct.extend(others.map(|at| self.owner(at)));
        }
        self.calls = joined;
    }

    /// Searches all other code, from every byte on, for instructions that name a function.
    fn search_other_code(&mut self, known: &[(u64, u64)]) {
        let mut found = Vec::new();
        for (start, bytes) in self.object.all_code() {
            let mut at = start;
            while at < start + bytes.len() as u64 {
                let function = known.partition_point(|(place, _)| *place <= at).checked_sub(1);
                match function.map(|function| known[function]) {
                    Some((_, end)) if at < end => at = end,
                    _ => {
                        let names = self.machine.names(self.object, at);
                        found.extend(names.target.map(|target| target..target + 1));
                        found.extend(names.addresses);
                        at += self.machine.step();
                    }
                }
            }
        }
        for range in found {
            self.take_all(range, "code that belongs to no function may call it");
        }
    }

    /// Searches constants behind each address that code names for distances to functions.
    fn search_tables(&mut self) {
        let mut found = Vec::new();
        // Where the linker has placed sections, it has written distances between them as numbers.
        let region = |place: u64| Object::pointer(place).region;
        let linked: BTreeSet<_> = self.ends.keys().map(|&place| region(place)).collect();
        for &base in self.named.iter().filter(|&&base| linked.contains(&region(base))) {
            for at in (base..base.saturating_add(TABLE)).step_by(4) {
                let distance = match self.object.constant(at, 4) {
                    Ok(Content::Bytes(field)) => field.try_into().map(i32::from_le_bytes),
                    _ => break,
                };
                found.extend(distance.map(|distance| base.wrapping_add_signed(distance.into())));
            }
        }
        for (at, distance) in self.object.distances() {
            let bases = self.named.range(at.saturating_sub(TABLE)..=at).chain([&at]);
            found.extend(bases.map(|base| distance.wrapping_sub(at - base)));
        }
        for target in found {
            self.take(target, "a table may have its address");
        }
    }
}

/// The target of an instruction.
enum Branch {
    None,
    To(u64),
    Indirect,
}

/// The machine of an object.
#[derive(Clone, Copy)]
struct Machine(Processor);

impl Machine {
    /// The addresses that the instruction at a place names.
    fn names(self, object: &Object, place: u64) -> Names {
        match self.0 {
            Processor::X86 => X86::names(object, place),
            Processor::Riscv32 => Riscv::names(object, place),
            Processor::Aarch64 => Aarch64::names(object, place),
        }
    }

    /// The slot through which the stub at a place jumps.
    fn stub(self, object: &Object, place: u64) -> Option<u64> {
        match self.0 {
            Processor::X86 => X86::stub(object, place),
            Processor::Riscv32 => Riscv::stub(object, place),
            Processor::Aarch64 => Aarch64::stub(object, place),
        }
    }

    /// Bytes between the places of instructions, at least.
    fn step(self) -> u64 {
        match self.0 {
            Processor::X86 => X86::STEP,
            Processor::Riscv32 => Riscv::STEP,
            Processor::Aarch64 => Aarch64::STEP,
        }
    }
}
