//! Machine code over virtual registers: the output of selection, ordered by scheduling, and
//! the input of allocation.
//!
//! ```text
//! straight:  v7 = xor v3, v5           a value is defined once
//!            out[2] = v7
//! loop k, 25 times, carried (param v9, first v7, next v30, result v31):
//!            v12 = add v9, key[k]      key[k] is the home of a value: memory that holds it
//! ```

use smallvec::SmallVec;
use usuba::ir::origins::Origins;

use crate::form::Form;

/// A virtual register, defined once: an index of [`Code::homes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value(pub u32);

impl Value {
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// A loop: an index of [`Code::loops`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LoopId(pub u32);

/// A part of memory with an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Area {
    /// The array of a parameter or result of the function, by its position.
    Port(u8),
    /// An image of [`Code::images`].
    Image(u32),
    /// The table of a loop: a record of images for each turn.
    Table(LoopId),
    /// An array in the frame.
    Local(u32),
}

/// How memory becomes a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Access {
    Whole,
    /// This many bytes in every lane.
    Broadcast(u8),
}

/// Memory beside the slots of the frame.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Cell {
    pub area: Area,
    /// Bytes from the start of the area.
    pub offset: i32,
    /// Bytes for each turn of the loops around it, the outermost first.
    pub walks: Vec<(LoopId, i32)>,
    /// The loop and the place in the records of its table of bytes that are added too.
    pub jump: Option<(LoopId, i32)>,
    pub access: Access,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// An instruction: an index of [`Code::forms`].
    Op { form: u32, imm: Option<u64> },
    /// The only source goes to memory.
    Store(Cell),
}

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    pub kind: Kind,
    pub dst: Option<Value>,
    /// In the order of [`Form::sources`].
    pub args: Args,
}

pub type Args = SmallVec<[Value; 3]>;

#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// Instructions that run one after the other.
    Straight(Vec<Inst>),
    Loop(Loop),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    pub id: LoopId,
    /// Turns, at least one.
    pub count: u32,
    pub carried: Vec<Carried>,
    pub body: Vec<Item>,
    /// Values whose homes its turns fill.
    pub filled: Vec<Value>,
}

/// A value that a loop hands from one turn to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Carried {
    pub param: Value,
    pub init: Value,
    pub next: Value,
    pub result: Value,
}

/// A function.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Code {
    pub items: Vec<Item>,
    pub forms: Vec<Form>,
    /// For each value the memory that holds it from the start, if there is any.
    pub homes: Vec<Option<Cell>>,
    /// The places in the source of the instructions of operators, by the number of a value.
    pub origins: Origins,
    /// Constants, each as the bytes that repeat.
    pub images: Vec<Vec<u8>>,
    /// For each loop the images of its table: the columns, each with one image for each turn.
    pub tables: Vec<Vec<Vec<Vec<u8>>>>,
    /// Bytes of the arrays in the frame.
    pub locals: Vec<u32>,
}

impl Code {
    pub fn fresh(&mut self, home: Option<Cell>) -> Value {
        self.homes.push(home);
        Value(self.homes.len() as u32 - 1)
    }

    pub fn home(&self, value: Value) -> Option<&Cell> {
        self.homes[value.at()].as_ref()
    }

    /// For each loop the bytes of a record of its table.
    pub fn records(&self) -> Vec<i32> {
        let size = |table: &Vec<Vec<Vec<u8>>>| table.iter().map(|c| c[0].len()).sum::<usize>();
        self.tables.iter().map(|table| size(table) as i32).collect()
    }

    /// Removes instructions and carried values that nothing needs.
    pub fn prune(&mut self) {
        let mut origins = vec![Origin::Memory; self.homes.len()];
        let mut open = Vec::new();
        origins_of(&self.items, &mut origins, &mut open);
        let mut live = vec![false; self.homes.len()];
        while let Some(value) = open.pop() {
            if std::mem::replace(&mut live[value.at()], true) {
                continue;
            }
            match &origins[value.at()] {
                Origin::Memory => {}
                Origin::Inst(args) => open.extend(args.iter().copied()),
                Origin::Carried(c) => open.extend([c.param, c.init, c.next]),
            }
        }
        keep(&mut self.items, &live);
    }
}

/// Where a value comes from.
#[derive(Clone)]
enum Origin {
    Memory,
    Inst(Args),
    Carried(Carried),
}

fn origins_of(items: &[Item], origins: &mut [Origin], stored: &mut Vec<Value>) {
    for item in items {
        match item {
            Item::Straight(insts) => {
                for inst in insts {
                    match inst.dst {
                        Some(dst) => origins[dst.at()] = Origin::Inst(inst.args.clone()),
                        None => stored.extend(&inst.args),
                    }
                }
            }
            Item::Loop(l) => {
                for c in &l.carried {
                    origins[c.param.at()] = Origin::Carried(*c);
                    origins[c.result.at()] = Origin::Carried(*c);
                }
                origins_of(&l.body, origins, stored);
            }
        }
    }
}

fn keep(items: &mut Vec<Item>, live: &[bool]) {
    for item in items.iter_mut() {
        match item {
            Item::Straight(insts) => insts.retain(|i| i.dst.is_none_or(|dst| live[dst.at()])),
            Item::Loop(l) => {
                l.carried.retain(|c| live[c.param.at()]);
                keep(&mut l.body, live);
            }
        }
    }
    items.retain(|item| match item {
        Item::Straight(insts) => !insts.is_empty(),
        Item::Loop(l) => !l.body.is_empty() || !l.carried.is_empty(),
    });
}

/// Calls `read` with each value that items read, as often as they read it.
pub fn reads(items: &[Item], read: &mut impl FnMut(Value)) {
    for item in items {
        match item {
            Item::Straight(insts) => insts.iter().flat_map(|i| &i.args).for_each(|&v| read(v)),
            Item::Loop(l) => {
                l.carried.iter().for_each(|c| read(c.init));
                reads(&l.body, read);
                l.carried.iter().for_each(|c| read(c.next));
            }
        }
    }
}

/// Instructions of items, instructions of loops once.
pub fn size(items: &[Item]) -> usize {
    let of = |item: &Item| match item {
        Item::Straight(insts) => insts.len(),
        Item::Loop(l) => size(&l.body),
    };
    items.iter().map(of).sum()
}
