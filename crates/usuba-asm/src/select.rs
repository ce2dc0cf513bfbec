//! Instruction selection: Usuba0 as instructions of a target over virtual registers.
//!
//! ```text
//! t = x <<< 7; y[2] = t ^ k[3]       v5 = vpslld x, 7;  v6 = vpsrld x, 25;  v7 = vpor v5, v6
//!                                    v8 = vpxor v7, k[3];  y[2] = v8
//! ```
//!
//! The rows of the target decide about instructions, as they do for C. Constants, ports and indexed
//! reads become homes of values: memory that an instruction may read where it needs the value.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use usuba::ir::{Carried, Collect, Eqn, Loop, Node, Op, OpEqn, Program, Read, Val, halves};
use usuba::isa::select::{select, select_halves};
use usuba::isa::sequence::{Arg, Imm, Selected, Step};
use usuba::isa::{Inst as Instruction, Layout, Row, Target};
use usuba::{emit, ir};

use crate::code::{self, Access, Area, Args, Cell, Code, Inst, Item, Kind, LoopId, Value};
use crate::form::{Form, Given, Source};

/// Selects the instructions of the entry of a program without calls.
///
/// # Errors
/// The program has calls or ports of bytes, or uses an instruction without a text in assembly
/// language.
pub fn code(program: &Program, target: &'static Target) -> Result<Code, String> {
    let layout = emit::layout(program, target);
    let entry = program.entry();
    let products = halves::products(entry);
    let uncut;
    let node = match select_halves(target, layout) {
        Some(_) => {
            uncut = halves::uncut(entry, &products);
            &uncut
        }
        None => entry,
    };
    let values = node.bits.len();
    let mut selection = Selection {
        program,
        target,
        layout,
        node,
        products,
        code: Code::default(),
        known: vec![None; values],
        waiting: vec![Vec::new(); values],
        pointers: Vec::new(),
        segment: Vec::new(),
        items: Vec::new(),
        selected: FxHashMap::default(),
        forms: FxHashMap::default(),
        images: FxHashMap::default(),
    };
    selection.ports()?;
    selection.block(&node.body)?;
    selection.flush();
    let mut code = selection.code;
    code.items = selection.items;
    code.prune();
    Ok(code)
}

struct Selection<'p> {
    program: &'p Program,
    target: &'static Target,
    layout: Layout,
    node: &'p Node,
    /// For each value whether it is a product of words of 32 bits.
    products: Vec<bool>,
    code: Code,
    /// The virtual registers of values of the node.
    known: Vec<Option<Value>>,
    /// For each value the cells that it goes to once it is defined.
    waiting: Vec<Vec<Cell>>,
    /// Pointers of the open loops.
    pointers: Vec<(Area, Vec<(LoopId, i32)>)>,
    segment: Vec<Inst>,
    items: Vec<Item>,
    selected: FxHashMap<(Op, u8), Selected>,
    forms: FxHashMap<(&'static str, u8), u32>,
    images: FxHashMap<Vec<u8>, Value>,
}

impl<'p> Selection<'p> {
    /// Bytes of a register.
    fn register(&self) -> i32 {
        self.target.bits as i32 / 8
    }

    /// Gives parameters their homes, and results the cells that they go to.
    fn ports(&mut self) -> Result<(), String> {
        let program = self.program;
        let slicing = program.slicing;
        let mut next = 0;
        for (at, ports) in program.params().into_iter().enumerate() {
            let mask = emit::mask_bits(self.target, self.layout).filter(|_| ports[0].constant);
            let (size, access) = match mask {
                Some(bits) => (bits as i32 / 8, Access::Broadcast(bits / 8)),
                None => (self.register(), Access::Whole),
            };
            for i in 0..ports.iter().map(|port| port.values(slicing)).sum::<usize>() {
                let cell = Cell::new(port(at)?, i as i32 * size, access);
                self.known[next] = Some(self.code.fresh(Some(cell)));
                next += 1;
            }
        }
        let first = program.params().len();
        let mut outs = self.node.outs.iter();
        for (at, ports) in program.results().into_iter().enumerate() {
            let count = ports.iter().map(|port| port.values(slicing)).sum::<usize>();
            for (i, out) in outs.by_ref().take(count).enumerate() {
                let offset = i as i32 * self.register();
                let cell = Cell::new(port(first + at)?, offset, Access::Whole);
                self.waiting[out.0 as usize].push(cell);
            }
        }
        (0..next as u32).for_each(|v| self.store_waiting(Val(v)));
        Ok(())
    }

    fn value(&self, v: Val) -> Value {
        self.known[v.0 as usize].expect("the verifier has seen that it is defined")
    }

    fn define(&mut self, v: Val, value: Value) {
        self.known[v.0 as usize] = Some(value);
        self.store_waiting(v);
    }

    fn store_waiting(&mut self, v: Val) {
        for cell in std::mem::take(&mut self.waiting[v.0 as usize]) {
            self.store(self.value(v), cell);
        }
    }

    fn store(&mut self, value: Value, cell: Cell) {
        let args = Args::from_slice(&[value]);
        self.segment.push(Inst { kind: Kind::Store(cell), dst: None, args });
    }

    /// Ends the straight code.
    fn flush(&mut self) {
        if !self.segment.is_empty() {
            self.items.push(Item::Straight(std::mem::take(&mut self.segment)));
        }
    }

    fn block(&mut self, eqns: &'p [Eqn]) -> Result<(), String> {
        for eqn in eqns {
            match eqn {
                Eqn::Op(op) => self.operation(op)?,
                Eqn::Loop(l) => self.run_loop(l)?,
                Eqn::Call(call) => {
                    let name = self.program.node(call.node).source_name();
                    return Err(format!("calls, here of `{name}`, exist in C only"));
                }
            }
        }
        Ok(())
    }

    fn operation(&mut self, eqn: &OpEqn) -> Result<(), String> {
        let args: Args = eqn.args.iter().map(|&v| self.value(v)).collect();
        let bits = self.node.bits_of(eqn.dst);
        if eqn.op == Op::Copy {
            self.define(eqn.dst, args[0]);
            return Ok(());
        }
        let halves = self.products[eqn.dst.0 as usize];
        let selected = match halves.then(|| select_halves(self.target, self.layout)).flatten() {
            Some(selected) => selected,
            None => self.of(&eqn.op, bits)?,
        };
        let mut results: SmallVec<[Value; 4]> = SmallVec::new();
        for step in &selected.steps {
            let sources = step.args.iter().map(|arg| match arg {
                Arg::Operand(at) => args[*at as usize],
                Arg::Step(at) => results[*at as usize],
            });
            let sources: Args = sources.collect();
            let value = self.step(step, sources)?;
            self.code.origins.set(Val(value.0), self.node.origins.of(eqn.dst));
            results.push(value);
        }
        let result = match selected.result {
            Arg::Operand(at) => args[at as usize],
            Arg::Step(at) => results[at as usize],
        };
        self.define(eqn.dst, result);
        Ok(())
    }

    /// The instructions of an operator.
    fn of(&mut self, op: &Op, bits: u8) -> Result<Selected, String> {
        let key = (op.clone(), bits);
        if let Some(selected) = self.selected.get(&key) {
            return Ok(selected.clone());
        }
        if matches!(op, Op::Lookup(_)) {
            return Err("tables that are read from memory exist in C only".into());
        }
        let selected = select(self.target, self.layout, op, bits, false)?.fused(self.target);
        self.selected.insert(key, selected.clone());
        Ok(selected)
    }

    /// The result of one instruction.
    fn step(&mut self, step: &Step, mut args: Args) -> Result<Value, String> {
        match step.row.inst {
            Instruction::Splat | Instruction::Splat128 | Instruction::Literal => {
                let bytes = bytes_of(&step.imm, step.lane);
                return Ok(self.constant(bytes));
            }
            _ => {}
        }
        let form = self.form(step.row, step.lane)?;
        for source in self.code.forms[form as usize].sources.clone() {
            let image = match source {
                Source::Operand(_) => continue,
                Source::Given(Given::Image) => bytes_of(&step.imm, step.lane),
                Source::Given(Given::Zeros) => vec![0],
                Source::Given(Given::Ones) => vec![0xff],
            };
            args.push(self.constant(image));
        }
        let dst = self.code.fresh(None);
        let kind = Kind::Op { form, imm: step.imm.int() };
        self.segment.push(Inst { kind, dst: Some(dst), args });
        Ok(dst)
    }

    fn form(&mut self, row: &'static Row, lane: u8) -> Result<u32, String> {
        if let Some(&at) = self.forms.get(&(row.c, lane)) {
            return Ok(at);
        }
        let form = Form::of(row, lane);
        let form = form.ok_or_else(|| format!("`{:?}` exists in C only", row.inst))?;
        self.code.forms.push(form);
        let at = self.code.forms.len() as u32 - 1;
        self.forms.insert((row.c, lane), at);
        Ok(at)
    }

    /// A register in which these bytes repeat.
    fn constant(&mut self, bytes: Vec<u8>) -> Value {
        let (image, access) = self.image(bytes);
        if let Some(&value) = self.images.get(&image) {
            return value;
        }
        self.code.images.push(image.clone());
        let area = Area::Image(self.code.images.len() as u32 - 1);
        let value = self.code.fresh(Some(Cell::new(area, 0, access)));
        self.images.insert(image, value);
        value
    }

    /// The bytes in memory of a constant, and how they become a register: where lanes allow it they
    /// are one element.
    fn image(&self, bytes: Vec<u8>) -> (Vec<u8>, Access) {
        let unit = smallest(&bytes);
        let element = match self.layout {
            Layout::Bits | Layout::Lanes(32) | Layout::Vectors { lane: 32, .. } => 4,
            Layout::Lanes(64) | Layout::Vectors { lane: 64, .. } => 8,
            _ => 0,
        };
        let broadcasts = self.target.bits == 512 && element > 0 && element % unit.len() == 0;
        let (size, access) = match broadcasts {
            true => (element, Access::Broadcast(element as u8)),
            false => (self.register() as usize, Access::Whole),
        };
        (unit.iter().copied().cycle().take(size).collect(), access)
    }

    fn run_loop(&mut self, l: &'p Loop) -> Result<(), String> {
        if l.count == 0 {
            for c in &l.carried {
                self.define(c.result, self.value(c.init));
            }
            return Ok(());
        }
        let id = LoopId(self.code.tables.len() as u32);
        self.code.tables.push(Vec::new());
        let open = self.pointers.len();
        let mut lists = Vec::new();
        let reads: Vec<(Val, Value)> =
            l.reads.iter().map(|read| (read.dst, self.list(read, id, &mut lists))).collect();
        let cells: Vec<Option<Cell>> = l.collects.iter().map(|c| self.collected(c, id)).collect();
        let cells = self.lay_out(id, l.count, &reads, lists, cells);
        self.flush();
        let inits: Vec<Value> = l.carried.iter().map(|c| self.value(c.init)).collect();
        let around = std::mem::take(&mut self.items);
        for (collect, cell) in l.collects.iter().zip(&cells) {
            match self.known[collect.value.0 as usize] {
                Some(value) => self.store(value, cell.clone()),
                None => self.waiting[collect.value.0 as usize].push(cell.clone()),
            }
        }
        for c in &l.carried {
            let param = self.code.fresh(None);
            self.define(c.param, param);
        }
        for (dst, value) in reads {
            self.define(dst, value);
        }
        self.block(&l.body)?;
        self.flush();
        let body = std::mem::replace(&mut self.items, around);
        self.pointers.truncate(open);
        let mut carried = Vec::new();
        let of = |this: &mut Self, (c, init): (&Carried, Value)| {
            let (param, next) = (this.value(c.param), this.value(c.next));
            code::Carried { param, init, next, result: this.code.fresh(None) }
        };
        for pair in l.carried.iter().zip(inits) {
            carried.push(of(self, pair));
        }
        let results: Vec<Value> = carried.iter().map(|c| c.result).collect();
        let mut filled = Vec::new();
        let mut collected = Vec::new();
        for (collect, cell) in l.collects.iter().zip(cells) {
            for (turn, &result) in collect.results.iter().enumerate() {
                let cell = self.at_turn(&cell, id, turn);
                let value = self.code.fresh(Some(cell));
                filled.push(value);
                collected.push((result, value));
            }
        }
        self.items.push(Item::Loop(code::Loop { id, count: l.count, carried, body, filled }));
        for (c, result) in l.carried.iter().zip(results) {
            self.define(c.result, result);
        }
        for (result, value) in collected {
            self.define(result, value);
        }
        Ok(())
    }

    /// A value that is a member of a list, by the turn of the loop.
    fn list(&mut self, read: &Read, id: LoopId, lists: &mut Vec<(Value, Vec<Value>)>) -> Value {
        let list: Vec<Value> = read.list.iter().map(|&v| self.value(v)).collect();
        if list.iter().all(|&v| v == list[0]) {
            return list[0];
        }
        let homes = list.iter().map(|&v| self.code.home(v).cloned());
        let homes: Option<Vec<Cell>> = homes.collect();
        if let Some(cell) = homes.as_deref().and_then(|cells| self.reached(cells, id)) {
            return self.code.fresh(Some(cell));
        }
        let images = homes.as_deref().and_then(|cells| self.images_of(cells));
        if let Some((images, access)) = images {
            let offset = self.column(id, images);
            // The record has its size once all columns are known: `lay_out`.
            let cell = Cell::new(Area::Table(id), offset, access);
            return self.code.fresh(Some(Cell { walks: vec![(id, 0)], ..cell }));
        }
        let value = self.code.fresh(None);
        lists.push((value, list));
        value
    }

    /// Adds a column to the table of a loop, and returns its place in a record.
    fn column(&mut self, id: LoopId, images: Vec<Vec<u8>>) -> i32 {
        let table = &mut self.code.tables[id.0 as usize];
        let offset: usize = table.iter().map(|column| column[0].len()).sum();
        table.push(images);
        offset as i32
    }

    /// The cell that goes over these, one in each turn: by a pointer, or by a table of distances.
    fn reached(&mut self, cells: &[Cell], id: LoopId) -> Option<Cell> {
        let first = &cells[0];
        let is_like = |cell: &Cell| {
            (cell.area, cell.access, &cell.walks) == (first.area, first.access, &first.walks)
                && cell.jump.is_none()
        };
        if !cells.iter().all(is_like) || matches!(first.area, Area::Image(_)) {
            return None;
        }
        let step = cells.get(1).map_or(0, |second| second.offset - first.offset);
        let mut pairs = cells.windows(2);
        if pairs.all(|pair| pair[1].offset - pair[0].offset == step) {
            let mut walks = first.walks.clone();
            walks.push((id, step));
            let pointer = (first.area, walks.clone());
            if self.pointers.contains(&pointer) || self.pointers.len() < POINTERS {
                if !self.pointers.contains(&pointer) {
                    self.pointers.push(pointer);
                }
                return Some(Cell { walks, ..first.clone() });
            }
        }
        let distances = cells.iter().map(|cell| cell.offset.to_le_bytes().to_vec()).collect();
        let place = self.column(id, distances);
        Some(Cell { offset: 0, jump: Some((id, place)), ..first.clone() })
    }

    /// The cell that a cell is in a turn of its innermost loop.
    fn at_turn(&self, cell: &Cell, id: LoopId, turn: usize) -> Cell {
        let mut cell = cell.clone();
        match cell.jump.take() {
            Some((_, place)) => {
                let table = &self.code.tables[id.0 as usize];
                let mut at = 0;
                let column = table.iter().find(|column| {
                    at += column[0].len() as i32;
                    at > place
                });
                let distance = &column.expect("it is in the table")[turn];
                let distance: [u8; 4] = distance[..].try_into().expect("a distance has four bytes");
                cell.offset += i32::from_le_bytes(distance);
            }
            None => {
                let (_, step) = cell.walks.pop().expect("it walks with the loop");
                cell.offset += turn as i32 * step;
            }
        }
        cell
    }

    /// Lets the members of the table of a loop walk by its records, and lays out its arrays in the
    /// frame. Returns the cells of collected values.
    fn lay_out(
        &mut self,
        id: LoopId,
        count: u32,
        reads: &[(Val, Value)],
        lists: Vec<(Value, Vec<Value>)>,
        cells: Vec<Option<Cell>>,
    ) -> Vec<Cell> {
        let size: usize =
            self.code.tables[id.0 as usize].iter().map(|column| column[0].len()).sum();
        for (_, value) in reads {
            if let Some(cell) = &mut self.code.homes[value.at()]
                && cell.area == Area::Table(id)
            {
                cell.walks = vec![(id, size as i32)];
            }
        }
        let columns = (lists.len() + cells.iter().filter(|c| c.is_none()).count()) as i32;
        let (register, record) = (self.register(), columns * self.register());
        self.code.locals.push(count * record as u32);
        let area = Area::Local(self.code.locals.len() as u32 - 1);
        let mut next = 0;
        let mut column = || {
            next += register;
            let cell = Cell::new(area, next - register, Access::Whole);
            Cell { walks: vec![(id, record)], ..cell }
        };
        for (value, list) in lists {
            let cell = column();
            for (turn, member) in list.into_iter().enumerate() {
                let cell = self.at_turn(&cell, id, turn);
                self.store(member, cell);
            }
            self.code.homes[value.at()] = Some(cell);
        }
        cells.into_iter().map(|cell| cell.unwrap_or_else(&mut column)).collect()
    }

    /// The images of constants with one access.
    fn images_of(&self, cells: &[Cell]) -> Option<(Vec<Vec<u8>>, Access)> {
        let access = cells[0].access;
        let image = |cell: &Cell| match cell.area {
            Area::Image(at) if cell.access == access => Some(self.code.images[at as usize].clone()),
            _ => None,
        };
        Some((cells.iter().map(image).collect::<Option<_>>()?, access))
    }

    /// Where the value of each turn goes, if results wait for it.
    fn collected(&mut self, collect: &Collect, id: LoopId) -> Option<Cell> {
        let waiting = collect.results.iter().map(|r| self.waiting[r.0 as usize].first().cloned());
        let cells: Vec<Cell> = waiting.collect::<Option<_>>()?;
        let cell = self.reached(&cells, id)?;
        for result in &collect.results {
            self.waiting[result.0 as usize].remove(0);
        }
        Some(cell)
    }
}

/// Pointers of all open loops; more cells are reached by tables of distances.
const POINTERS: usize = 3;

impl Cell {
    pub fn new(area: Area, offset: i32, access: Access) -> Cell {
        Cell { area, offset, walks: Vec::new(), jump: None, access }
    }
}

fn port(at: usize) -> Result<Area, String> {
    let at = u8::try_from(at);
    Ok(Area::Port(at.map_err(|_| "the function has more than 256 parameters".to_string())?))
}

/// The bytes of an immediate that repeat in a register.
fn bytes_of(imm: &Imm, lane: u8) -> Vec<u8> {
    match imm {
        Imm::None => vec![0],
        Imm::Int(value) => {
            let lane = if lane == usuba::isa::ANY { 64 } else { lane };
            let masked = value & ir::op::mask(lane);
            masked.to_le_bytes()[..lane as usize / 8].to_vec()
        }
        Imm::Bytes(bytes) => bytes.to_vec(),
        Imm::Register(words, count) => {
            words[..*count as usize].iter().flat_map(|word| word.to_le_bytes()).collect()
        }
    }
}

/// The shortest bytes of which these are repetitions.
fn smallest(bytes: &[u8]) -> &[u8] {
    let mut unit = bytes;
    while unit.len().is_multiple_of(2) && unit[..unit.len() / 2] == unit[unit.len() / 2..] {
        unit = &unit[..unit.len() / 2];
    }
    unit
}
