//! Distances to the next use of values: inside of straight code exactly, beyond it by estimates.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Inst, Item, Loop, Value, size};

/// The distance of a value that is not used again.
pub const NEVER: u32 = u32::MAX;

/// The distance of a value that a loop carries and does not use.
pub const CARRIED: u32 = 5_000;

/// The distance of a value that is used after a loop, from inside of it.
pub const BEYOND: u32 = 9_000;

/// The values that are used after an item, with the distance from its end.
pub type After = FxHashMap<Value, u32>;

/// For each item the values that are used after it; `outer` has these for the last one.
pub fn afters(items: &[Item], outer: &After) -> Vec<After> {
    let mut afters = Vec::with_capacity(items.len());
    let mut after = outer.clone();
    for item in items.iter().rev() {
        afters.push(after.clone());
        let length = length(item);
        for distance in after.values_mut() {
            *distance = distance.saturating_add(length).min(NEVER - 1);
        }
        for (value, at) in firsts(item) {
            after.insert(value, at);
        }
        match item {
            Item::Straight(insts) => {
                insts.iter().filter_map(|inst| inst.dst).for_each(|dst| {
                    after.remove(&dst);
                });
            }
            Item::Loop(l) => l.carried.iter().map(|c| &c.result).chain(&l.filled).for_each(|v| {
                after.remove(v);
            }),
        }
    }
    afters.reverse();
    afters
}

fn length(item: &Item) -> u32 {
    match item {
        Item::Straight(insts) => insts.len() as u32,
        Item::Loop(l) => (size(&l.body) as u32).saturating_mul(l.count.min(4)),
    }
}

/// The values that an item reads and does not define, with the place of the first use.
fn firsts(item: &Item) -> FxHashMap<Value, u32> {
    match item {
        Item::Straight(insts) => {
            let mut firsts = FxHashMap::default();
            for (at, inst) in insts.iter().enumerate() {
                for &arg in &inst.args {
                    firsts.entry(arg).or_insert(at as u32);
                }
            }
            firsts
        }
        Item::Loop(l) => {
            let inside = inside(&l.body);
            let mut firsts = inside.clone();
            for c in &l.carried {
                let at = inside.get(&c.param).copied().unwrap_or(CARRIED);
                let known = firsts.entry(c.init).or_insert(at);
                *known = at.min(*known);
                firsts.entry(c.next).or_insert(CARRIED);
            }
            defined(l, &mut |value| {
                firsts.remove(&value);
            });
            firsts
        }
    }
}

/// The values from before that items read, with the place of the first use.
pub fn inside(items: &[Item]) -> FxHashMap<Value, u32> {
    let mut all: FxHashMap<Value, u32> = FxHashMap::default();
    let mut own: FxHashSet<Value> = FxHashSet::default();
    let mut start = 0;
    for item in items {
        for (value, at) in firsts(item).into_iter().filter(|(value, _)| !own.contains(value)) {
            all.entry(value).or_insert(start + at);
        }
        match item {
            Item::Straight(insts) => own.extend(insts.iter().filter_map(|inst| inst.dst)),
            Item::Loop(l) => {
                own.extend(l.carried.iter().map(|c| c.result));
                own.extend(&l.filled);
            }
        }
        start += length(item);
    }
    all
}

/// Calls `with` with every value that a loop defines inside.
fn defined(l: &Loop, with: &mut impl FnMut(Value)) {
    l.carried.iter().for_each(|c| with(c.param));
    for item in &l.body {
        match item {
            Item::Straight(insts) => insts.iter().filter_map(|i| i.dst).for_each(&mut *with),
            Item::Loop(inner) => {
                inner.carried.iter().for_each(|c| with(c.result));
                inner.filled.iter().for_each(|&v| with(v));
                defined(inner, with);
            }
        }
    }
}

/// The uses of values in one straight item.
pub struct Uses {
    /// For each value its places, and how many of them are behind.
    places: Vec<(Vec<u32>, usize)>,
    after: After,
    length: u32,
}

impl Uses {
    pub fn new(values: usize) -> Uses {
        Uses { places: vec![(Vec::new(), 0); values], after: After::default(), length: 0 }
    }

    pub fn begin(&mut self, insts: &[Inst], after: &After) {
        for (at, inst) in insts.iter().enumerate() {
            for arg in &inst.args {
                let places = &mut self.places[arg.at()].0;
                if places.last() != Some(&(at as u32)) {
                    places.push(at as u32);
                }
            }
        }
        self.after = after.clone();
        self.length = insts.len() as u32;
    }

    pub fn end(&mut self, insts: &[Inst]) {
        for arg in insts.iter().flat_map(|inst| &inst.args) {
            self.places[arg.at()] = (Vec::new(), 0);
        }
    }

    fn later(&self, value: Value) -> u32 {
        self.after.get(&value).map_or(NEVER, |d| d.saturating_add(self.length).min(NEVER - 1))
    }

    /// The place of the first use.
    pub fn first(&self, value: Value) -> u32 {
        self.places[value.at()].0.first().copied().unwrap_or_else(|| self.later(value))
    }

    /// The place of the next use after `now`, which does not go back between calls.
    pub fn after(&mut self, value: Value, now: u32) -> u32 {
        let (places, behind) = &mut self.places[value.at()];
        while places.get(*behind).is_some_and(|&at| at <= now) {
            *behind += 1;
        }
        match places.get(*behind) {
            Some(&at) => at,
            None => self.later(value),
        }
    }

    /// The place of the last use.
    pub fn last(&self, value: Value) -> u32 {
        if self.after.contains_key(&value) {
            return NEVER;
        }
        self.places[value.at()].0.last().copied().unwrap_or(0)
    }
}
