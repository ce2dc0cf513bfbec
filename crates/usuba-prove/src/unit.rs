//! Proof of a unit of an output of `usubac dist`: from its source to the bytes at its symbol.
//!
//! ```text
//! source ─ lowering, passes, lanes ─→ final IR ─ symbolic execution ─→ function of the user's file
//! ```
//!
//! The C compiler and its flags are unknown, and nothing depends on them. The instructions of the
//! function must belong to the target of its section, because its callers ask the processor for
//! those only.

use usuba::Output;
use usuba::ir::{Port, Program};
use usuba_ciphers::Function;
use usuba_library::{Blocks, Unit, UnitKind};
use usuba_object::arithmetic;
use usuba_object::block_function::{Interface, KeyPointer, Xored};
use usuba_object::by_machine;
use usuba_object::compare::Demands;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::functions::BlockCounts;
use usuba_object::kernel_contract::Contract;

use crate::byte_interface::{Proof, order};
use crate::cell::{Cell, Extent, Known, Obstacle, fingerprint};
use crate::objects::Objects;
use crate::{Outcome, compiler, key_setup};

/// The numbers of blocks of each message and of messages for which functions over blocks of several
/// messages are proved.
pub const BLOCK_COUNTS: &[BlockCounts] =
    &[counts(0, 1), counts(1, 1), counts(2, 1), counts(MOST_BLOCKS, 1), counts(1, 2), counts(2, 2)];

/// The most blocks of one message among them.
pub const MOST_BLOCKS: usize = 3;

/// These numbers in a few words.
pub fn block_counts() -> String {
    let shown = |at: &BlockCounts| {
        let plural = |count| if count == 1 { "" } else { "s" };
        let BlockCounts { blocks, messages } = *at;
        format!("{blocks} block{} of {messages} message{}", plural(blocks), plural(messages))
    };
    BLOCK_COUNTS.iter().map(shown).collect::<Vec<_>>().join(", ")
}

const fn counts(blocks: usize, messages: usize) -> BlockCounts {
    BlockCounts { blocks, messages }
}

/// Proves that the final IR of a unit is its source, with its contract if it has one. The first
/// claim that is not proved is the outcome.
pub fn source(unit: &Unit, output: &Output, known: &Known) -> Outcome {
    let program = &output.checked.program;
    let entry = unit.task.options.entry.as_deref();
    let sha256 = fingerprint(&output.program);
    if let Some((claim, _)) = known.promise(&sha256, program, entry)
        && !claim.outcome.is_proved()
    {
        return claim.outcome;
    }
    let cell = Cell {
        program: unit.task.source.clone(),
        reading: String::new(),
        flags: String::new(),
        sha256: String::new(),
        options: unit.task.options.clone(),
    };
    let objects = &Objects::None;
    let extent = Extent { direct: false, objects, interfaces: None, plant: None, known };
    let proof = match cell.prove(program, extent) {
        Ok(proof) => proof,
        Err(Obstacle::Failure(why)) => return Outcome::Unknown(why),
        Err(Obstacle::Findings(_)) => return Outcome::Unknown("it does not compile alone".into()),
    };
    if let Some(fault) = proof.faults().next() {
        return fault.outcome.clone();
    }
    if proof.usuba0 != sha256 {
        return Outcome::Unknown("two compiles of it differ".into());
    }
    let kinds = proof.claims.iter().map(|(claim, _)| claim.kind).collect::<Vec<_>>();
    Outcome::Proved(crate::Evidence::Engines(proof.engines(&kinds)))
}

/// Proves the function of an object that a unit names, in each of its calling modes, with the
/// instructions of its section. `output` is the compile of the unit, and `schedule` of the key
/// schedule whose result it reads.
///
/// # Errors
/// The unit has no contract; the message says why.
pub fn object(
    unit: &Unit,
    output: &Output,
    schedule: Option<&Output>,
    object: &Object,
) -> Result<Vec<Proof>, String> {
    let mut object = object.clone();
    object.extensions = Extensions::of(unit.section.cflags);
    // The callers have made the choice.
    object.dispatch = None;
    let object = &object;
    let (program, demands) = (&output.program, Demands::default());
    if let UnitKind::Blocks(of) = &unit.kind {
        let batch = usuba::emit::instances(program, unit.task.options.target);
        let proof = |in_place: bool| {
            let interface = Interface { in_place, demands, ..blocks_of(unit, of, program, batch) };
            Proof::of_blocks(object, &interface)
        };
        return Ok(modes(of).map(proof).collect());
    }
    if let UnitKind::Xored(of) = &unit.kind {
        let batch = usuba::emit::instances(program, unit.task.options.target);
        let proof = |(in_place, over_text): (bool, bool)| {
            let xored = Some(Xored { unit: of.unit as u32, in_place: over_text });
            let interface = blocks_of(unit, of, program, batch);
            Proof::of_blocks(object, &Interface { in_place, xored, demands, ..interface })
        };
        let ways = modes(of).map(|in_place| (in_place, false)).chain([(false, true)]);
        return Ok(ways.map(proof).collect());
    }
    if let UnitKind::Chained(of) = &unit.kind {
        let interface = blocks_of(unit, of, program, 1);
        return Ok(BLOCK_COUNTS
            .iter()
            .map(|&at| Proof::of_chained(object, &interface, at))
            .collect());
    }
    let (contract, program) = contract(unit, output, schedule)?;
    let options = &unit.task.options;
    let linked = compiler::kernels(&program, &output.checked.program, options.target, &options.c)?;
    let prove = || match &unit.kind {
        UnitKind::Kernel { .. } => {
            let typed = &output.checked.program;
            let most = arithmetic::most(&program, &typed.decls[typed.entry]);
            by_machine::prove_either(object, &contract, &program, &most, &linked, demands)
        }
        _ => by_machine::prove(object, &contract, &program, demands),
    };
    Ok(vec![Proof::of_kernel(&contract.symbol, &program, prove)])
}

/// Whether the results of a function over blocks replace its input, for each way to call it.
fn modes(of: &Blocks) -> impl Iterator<Item = bool> + use<> {
    let same = of.input == of.output;
    [false, true].into_iter().filter(move |in_place| same || !in_place)
}

/// The contract of a unit on buffers of fixed size, and its reference program.
///
/// # Errors
/// There is none; the message says why.
pub fn contract(
    unit: &Unit,
    output: &Output,
    schedule: Option<&Output>,
) -> Result<(Contract, Program), String> {
    let (symbol, program) = (unit.symbol.clone(), &output.program);
    match &unit.kind {
        UnitKind::Blocks(_) | UnitKind::Xored(_) => {
            Err("the number of blocks is any number".into())
        }
        UnitKind::Chained(_) => Err("it is over blocks of several messages".into()),
        UnitKind::Schedule { bytes, .. } => {
            Ok((key_setup::schedule(symbol, program, *bytes)?, program.clone()))
        }
        UnitKind::Key { function, .. } => words_of(symbol, function, program, schedule),
        UnitKind::Kernel { .. } => {
            let target = unit.task.options.target;
            let contract = compiler::contract_of(program, &output.kernel, target)?;
            Ok((Contract { symbol, ..contract }, program.clone()))
        }
    }
}

/// The contract of a function over blocks in a library: its key pointer is always there.
fn blocks_of<'a>(unit: &Unit, of: &Blocks, program: &'a Program, batch: u32) -> Interface<'a> {
    let function = &of.function;
    let inputs = function.inputs.iter();
    Interface {
        symbol: unit.symbol.clone(),
        program,
        inputs: inputs.map(|input| (input.param.clone(), order(input.bytes))).collect(),
        output: order(function.output.bytes),
        key: match &function.key {
            Some(key) => KeyPointer::Words(key.param.clone()),
            None => KeyPointer::Unused,
        },
        batch,
        in_place: false,
        xored: None,
        demands: Demands::default(),
    }
}

/// The contract of a function that fills the words of the key of `function`, whose kernel is
/// `program`, and its reference program.
fn words_of(
    symbol: String,
    function: &Function,
    program: &Program,
    schedule: Option<&Output>,
) -> Result<(Contract, Program), String> {
    let key = function.key.as_ref().ok_or("there is no key")?;
    let groups = program.params();
    let port = groups.iter().find(|group| group[0].name == key.param);
    let port: &Port = &port.ok_or("the key is no parameter")?[0];
    match schedule {
        Some(schedule) => key_setup::fill(symbol, port, &schedule.program, key.through),
        None => key_setup::whole(symbol, port, key, None),
    }
}
