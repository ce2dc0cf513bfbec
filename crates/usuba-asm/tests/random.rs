//! Random programs give the same answers in the interpreter, as code over virtual registers and as
//! allocated steps; the checker accepts these steps, and refuses them once they compute something
//! else.

use std::collections::HashMap;

use usuba::emit;
use usuba::ir::random::{self, Random, Shape};
use usuba::ir::{Program, interp};
use usuba::isa::cpu::GENERIC;
use usuba::isa::{self, Inst as Instruction, Target};
use usuba_asm::allocate::allocate;
use usuba_asm::check::check;
use usuba_asm::code::{Access, Area, Cell, Code, Item, Kind, LoopId, Value};
use usuba_asm::form::Form;
use usuba_asm::schedule::{Rule, schedule};
use usuba_asm::select;
use usuba_asm::steps::{Allocated, Banks, Memory, Place, Step};

/// Memory and the turns of the open loops, of code whose registers hold one bit each.
struct Machine<'a> {
    code: &'a Code,
    records: Vec<i32>,
    turns: HashMap<LoopId, u32>,
    bytes: HashMap<(Area, i32), u64>,
}

impl<'a> Machine<'a> {
    /// A machine whose parameters have these bits in memory.
    fn new(code: &'a Code, program: &Program, target: &Target, inputs: &[u64]) -> Machine<'a> {
        let mut bytes = HashMap::new();
        let mut inputs = inputs.iter();
        let layout = emit::layout(program, target);
        for (at, ports) in program.params().into_iter().enumerate() {
            let mask = emit::mask_bits(target, layout).filter(|_| ports[0].constant);
            let size = mask.map_or(target.bits as i32, i32::from) / 8;
            let count: usize = ports.iter().map(|port| port.values(program.slicing)).sum();
            for (i, &bit) in inputs.by_ref().take(count).enumerate() {
                bytes.insert((Area::Port(at as u8), i as i32 * size), bit.wrapping_neg());
            }
        }
        Machine { code, records: code.records(), turns: HashMap::new(), bytes }
    }

    /// The bytes of the table of a loop at a place in its record.
    fn column(&self, id: LoopId, place: i32) -> &[u8] {
        let mut from = 0;
        for column in &self.code.tables[id.0 as usize] {
            if from == place {
                return &column[self.turns[&id] as usize];
            }
            from += column[0].len() as i32;
        }
        panic!("there is no column at {place}");
    }

    fn address(&self, cell: &Cell) -> i32 {
        let walked: i32 = cell.walks.iter().map(|(id, step)| self.turns[id] as i32 * step).sum();
        let jump = cell.jump.map_or(0, |(id, place)| {
            let bytes: [u8; 4] = self.column(id, place).try_into().expect("four bytes");
            i32::from_le_bytes(bytes)
        });
        cell.offset + walked + jump
    }

    fn read(&self, cell: &Cell) -> u64 {
        let of = |bytes: &[u8]| if bytes[0] == 0 { 0 } else { u64::MAX };
        match cell.area {
            Area::Image(at) => of(&self.code.images[at as usize]),
            Area::Table(id) => {
                assert_eq!(cell.walks[..], [(id, self.records[id.0 as usize])]);
                of(self.column(id, cell.offset))
            }
            area => *self.bytes.get(&(area, self.address(cell))).expect("it was written"),
        }
    }

    fn write(&mut self, cell: &Cell, value: u64) {
        assert_eq!(cell.access, Access::Whole);
        self.bytes.insert((cell.area, self.address(cell)), value);
    }

    /// The bits of all results.
    fn results(&self, program: &Program, target: &Target) -> Vec<u64> {
        let first = program.params().len();
        let mut all = Vec::new();
        for (at, ports) in program.results().into_iter().enumerate() {
            let count: usize = ports.iter().map(|port| port.values(program.slicing)).sum();
            for i in 0..count as i32 {
                let place = (Area::Port((first + at) as u8), i * target.bits as i32 / 8);
                all.push(self.bytes[&place] & 1);
            }
        }
        all
    }
}

fn computed(form: &Form, imm: Option<u64>, args: &[u64]) -> u64 {
    match form.inst {
        Instruction::And => args[0] & args[1],
        Instruction::Or => args[0] | args[1],
        Instruction::Xor => args[0] ^ args[1],
        Instruction::Andn => !args[0] & args[1],
        Instruction::Not => !args[0],
        Instruction::Lut3 => {
            let row = (args[0] & 1) << 2 | (args[1] & 1) << 1 | args[2] & 1;
            (imm.expect("a table") >> row & 1).wrapping_neg()
        }
        other => panic!("{other:?} in bitslicing"),
    }
}

/// Runs code over virtual registers.
fn run_code(machine: &mut Machine, items: &[Item], values: &mut HashMap<Value, u64>) {
    let read = |machine: &Machine, values: &HashMap<Value, u64>, value: Value| {
        machine.code.home(value).map_or_else(|| values[&value], |cell| machine.read(cell))
    };
    for item in items {
        match item {
            Item::Straight(insts) => {
                for inst in insts {
                    let args: Vec<u64> =
                        inst.args.iter().map(|&v| read(machine, values, v)).collect();
                    match &inst.kind {
                        Kind::Store(cell) => machine.write(cell, args[0]),
                        Kind::Op { form, imm } => {
                            let form = &machine.code.forms[*form as usize];
                            values.insert(inst.dst.expect("it"), computed(form, *imm, &args));
                        }
                    }
                }
            }
            Item::Loop(l) => {
                let mut now: Vec<u64> =
                    l.carried.iter().map(|c| read(machine, values, c.init)).collect();
                for turn in 0..l.count {
                    machine.turns.insert(l.id, turn);
                    values.extend(l.carried.iter().map(|c| c.param).zip(now));
                    run_code(machine, &l.body, values);
                    now = l.carried.iter().map(|c| read(machine, values, c.next)).collect();
                }
                machine.turns.remove(&l.id);
                values.extend(l.carried.iter().map(|c| c.result).zip(now));
            }
        }
    }
}

/// Registers and slots of allocated steps.
struct Places {
    regs: Vec<u64>,
    slots: Vec<u64>,
    /// The banks of open loops, and whether they have changed places.
    banks: Vec<(Banks, bool)>,
}

impl Places {
    fn slot(&mut self, slot: u32) -> &mut u64 {
        let mut at = slot;
        for (banks, turned) in &self.banks {
            let place = |from: u32| slot.checked_sub(from).filter(|i| *i < banks.size);
            match (place(banks.first), place(banks.second)) {
                (Some(i), _) if *turned => at = banks.second + i,
                (_, Some(i)) if *turned => at = banks.first + i,
                _ => {}
            }
        }
        &mut self.slots[at as usize]
    }

    fn read(&mut self, machine: &Machine, memory: &Memory) -> u64 {
        match memory {
            Memory::Slot(slot) => *self.slot(*slot),
            Memory::Cell(cell) => machine.read(cell),
        }
    }
}

/// Runs allocated steps.
fn run_steps(machine: &mut Machine, steps: &[Step], places: &mut Places) {
    let mut at = 0;
    while at < steps.len() {
        match &steps[at] {
            Step::Op { form, imm, to, from, .. } => {
                let form = &machine.code.forms[*form as usize];
                let args: Vec<u64> = from
                    .iter()
                    .map(|place| match place {
                        Place::Reg(reg) => places.regs[*reg as usize],
                        Place::Memory(memory) => places.read(machine, memory),
                    })
                    .collect();
                places.regs[*to as usize] = computed(form, *imm, &args);
            }
            Step::Copy { to, from } => places.regs[*to as usize] = places.regs[*from as usize],
            Step::Load { to, from } => places.regs[*to as usize] = places.read(machine, from),
            Step::Spill { slot, from } => {
                let value = places.regs[*from as usize];
                *places.slot(*slot) = value;
            }
            Step::Store { cell, from } => machine.write(cell, places.regs[*from as usize]),
            &Step::Enter { id, count, banks } => {
                let end = Step::Again { id, banks };
                let length = steps[at..].iter().position(|step| *step == end).expect("an end");
                let body = &steps[at + 1..at + length];
                for turn in 0..count {
                    machine.turns.insert(id, turn);
                    places.banks.extend(banks.map(|banks| (banks, turn % 2 == 1)));
                    run_steps(machine, body, places);
                    places.banks.truncate(places.banks.len() - usize::from(banks.is_some()));
                }
                machine.turns.remove(&id);
                at += length;
            }
            Step::Again { .. } => panic!("an end without its head"),
        }
        at += 1;
    }
}

/// A program with its code, flat.
fn made(seed: u64, target: &'static Target) -> (Program, Code) {
    let lut3 = target.bits == 512;
    let program = random::program(seed, Shape { lut3, nodes: 2, ..Shape::BITS });
    let flat = usuba_asm::without_calls(&program);
    let code = select::code(&flat, target).expect("bitslicing has assembly language");
    (program, code)
}

fn steps_answer(
    code: &Code,
    allocated: &Allocated,
    program: &Program,
    target: &Target,
    inputs: &[u64],
) -> Vec<u64> {
    let mut machine = Machine::new(code, program, target, inputs);
    let slots = vec![0; allocated.slots as usize];
    let mut places = Places { regs: vec![0; 32], slots, banks: Vec::new() };
    run_steps(&mut machine, &allocated.steps, &mut places);
    machine.results(program, target)
}

const RULES: [Rule; 3] = [Rule::Source, Rule::Paths(20), Rule::Pressure(20)];

#[test]
fn random_programs_compute_the_same_after_each_step() {
    let mut loops = 0;
    for seed in 0..600 {
        let target = isa::find(["avx2", "avx512"][seed as usize % 2]).expect("a target");
        let (program, mut code) = made(seed, target);
        // Calls of calls grow quickly.
        if usuba_asm::code::size(&code.items) > 1_500 {
            continue;
        }
        loops += usize::from(!code.tables.is_empty());
        let unit = GENERIC.unit(target).expect("a unit");
        let regs = [4, 6, 16][seed as usize % 3];
        schedule(&mut code, unit, regs, RULES[seed as usize / 2 % 3]);
        let allocated = allocate(&code, regs, target.bits / 8);
        let checked = check(&code, &allocated, regs);
        assert!(checked.is_ok(), "seed {seed}: {checked:?}");
        let mut random = Random::new(seed);
        for _ in 0..4 {
            let inputs = random::inputs(&mut random, &program);
            let expected = interp::run(&program, &inputs).expect("it runs");
            let mut machine = Machine::new(&code, &program, target, &inputs);
            run_code(&mut machine, &code.items, &mut HashMap::new());
            assert_eq!(machine.results(&program, target), expected, "seed {seed}: the code");
            let found = steps_answer(&code, &allocated, &program, target, &inputs);
            assert_eq!(found, expected, "seed {seed}: the steps");
        }
    }
    assert!(loops > 200, "{loops} programs have loops");
}

/// A step with one change: another register, slot or table, or no step at all.
fn changed(step: &Step, random: &mut Random, regs: usize) -> Option<Step> {
    let mut step = step.clone();
    let other =
        |random: &mut Random, reg: u8| ((reg as usize + 1 + random.below(regs - 1)) % regs) as u8;
    match &mut step {
        Step::Op { to, from, imm, .. } => match (random.below(3), imm) {
            (0, _) => *to = other(random, *to),
            (1, Some(table)) => *table ^= 1 << random.below(8),
            _ => match &mut from[0] {
                Place::Reg(reg) => *reg = other(random, *reg),
                Place::Memory(_) => return None,
            },
        },
        Step::Copy { from, .. } => *from = other(random, *from),
        Step::Load { to, .. } => *to = other(random, *to),
        Step::Spill { from, .. } | Step::Store { from, .. } => *from = other(random, *from),
        Step::Enter { .. } | Step::Again { .. } => return None,
    }
    Some(step)
}

/// A change that the checker accepts must change no answer: it is of a value that nothing reads.
#[test]
fn the_checker_refuses_wrong_steps() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..300 {
        let target = isa::find(["avx2", "avx512"][seed as usize % 2]).expect("a target");
        let (program, code) = made(seed, target);
        if usuba_asm::code::size(&code.items) > 500 {
            continue;
        }
        let regs = 5;
        let allocated = allocate(&code, regs, target.bits / 8);
        let mut random = Random::new(seed);
        for _ in 0..20 {
            if allocated.steps.is_empty() {
                break;
            }
            let at = random.below(allocated.steps.len());
            let Some(step) = changed(&allocated.steps[at], &mut random, regs) else { continue };
            let mut wrong = allocated.clone();
            wrong.steps[at] = step;
            if check(&code, &wrong, regs).is_err() {
                refused += 1;
                continue;
            }
            accepted += 1;
            for _ in 0..4 {
                let inputs = random::inputs(&mut random, &program);
                let expected = interp::run(&program, &inputs).expect("it runs");
                let found = steps_answer(&code, &wrong, &program, target, &inputs);
                assert_eq!(found, expected, "seed {seed}, step {at}: {:?}", wrong.steps[at]);
            }
        }
    }
    assert!(refused > 2_000 && accepted < refused / 10, "{refused} refused, {accepted} accepted");
}
