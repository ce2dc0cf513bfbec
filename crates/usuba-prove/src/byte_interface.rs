//! Proofs of byte-interface objects: the C functions of a cipher folder against their programs.
//!
//! ```text
//! name_init(ctx, key)                 the words of the round keys, bit by bit
//! name_blocks(ctx, in, out, n)        for every n, apart and in place
//! ```
//!
//! Each function is compared with the final IR of the kernel or of the key schedule. The byte
//! orders come from `cipher.toml`; `usuba_equiv` defines them independently of the emitter.

use std::time::{Duration, Instant};

use usuba::Options;
use usuba::emit::bytes::ByteLayout;
use usuba::emit::c::COptions;
use usuba::ir::{Program, Slicing};
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;
use usuba_equiv::claims::{Difference, Kind};
use usuba_object::arithmetic;
use usuba_object::block_function::{Interface, KeyPointer, Xored};
use usuba_object::by_machine;
use usuba_object::byte_order::Order;
use usuba_object::chained_blocks;
use usuba_object::compare::{self, Demands};
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::functions::BlockCounts;
use usuba_object::kernel_contract::Contract;
use usuba_object::verdict::Verdict;

use crate::compiler::Compiler;
use crate::key_setup;
use crate::{Claim, Evidence, Outcome};
use usuba_ciphers::{Cipher, Function};
use usuba_run::cc::Family;
use usuba_run::functions::Built;

/// Additional flags of gcc: zeroing in a key schedule becomes a call. The inline code of gcc rounds
/// addresses down to multiples of eight, and the prover knows no such alignment.
pub const GCC: &[&str] = &["-mstringop-strategy=libcall", "-fno-builtin-memset"];

/// A function of the byte interface, and the verdict on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The C function and its calling mode.
    pub what: String,
    pub outcome: Outcome,
    /// The duration of the proof.
    pub spent: Duration,
}

impl Proof {
    pub fn is_proved(&self) -> bool {
        self.outcome.is_proved()
    }

    /// The claim about the object that the compiler `by` produced.
    pub fn claim(&self, by: &str) -> Claim {
        let subject = format!("{} by {by}", self.what);
        Claim { kind: Kind::Interface, subject, outcome: self.outcome.clone() }
    }

    /// Proves a function over blocks.
    pub fn of_blocks(object: &Object, interface: &Interface) -> Proof {
        let start = Instant::now();
        let verdict = by_machine::prove_blocks(object, interface);
        let way = match (interface.in_place, interface.xored) {
            (true, _) => "in place",
            (false, Some(Xored { in_place: true, .. })) => "in place of the text",
            (false, _) => "apart",
        };
        let what = format!("{}, {way}", interface.symbol);
        let outcome = verdict.map(Evidence::Machine, |found| {
            let bytes = found.input.iter().enumerate();
            Box::new(Difference {
                node: what.clone(),
                inputs: bytes.map(|(at, &byte)| (format!("in[{at}]"), byte as u64)).collect(),
                value: format!("bit {} of out[{}]", found.bit % 8, found.bit / 8),
                expected: found.expected as u64,
                found: found.found as u64,
                inner: None,
            })
        });
        Proof { what, outcome, spent: start.elapsed() }
    }

    /// Proves a function over blocks of several messages for these numbers of them.
    pub fn of_chained(object: &Object, interface: &Interface, counts: BlockCounts) -> Proof {
        let start = Instant::now();
        let verdict = chained_blocks::prove(object, interface, counts);
        let BlockCounts { blocks, messages } = counts;
        let what = format!("{}, {blocks} blocks of {messages} messages", interface.symbol);
        let outcome = match verdict {
            Verdict::Proved(evidence) => Outcome::Proved(Evidence::Machine(evidence)),
            Verdict::Refused(fault) => Outcome::Refused(fault),
            Verdict::Refuted(why) | Verdict::Unknown(why) => Outcome::Unknown(why),
        };
        Proof { what, outcome, spent: start.elapsed() }
    }

    /// The result of `prove` about a function of fixed size that computes `program`.
    pub fn of_kernel(
        symbol: &str,
        program: &Program,
        prove: impl FnOnce() -> compare::Verdict,
    ) -> Proof {
        let start = Instant::now();
        let verdict = prove();
        let outcome = verdict.map(Evidence::Machine, |found| Box::new(found.in_words(program)));
        Proof { what: symbol.to_string(), outcome, spent: start.elapsed() }
    }
}

/// Compiles the byte interface of a function of a cipher folder, and proves each of its C functions
/// equivalent to the final IR. A separate proof covers the steps from source to final IR.
///
/// # Errors
/// A compiler rejects its input, or the object cannot be read.
pub fn prove(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    target: &'static Target,
    family: Family,
) -> Result<Vec<Proof>, String> {
    let built =
        usuba_run::functions::build_as(cipher, function, slicing, &options(slicing, target))?;
    let file = object(&built.text, target, family)?;
    prove_object(&file, &built, function, target, Demands::default())
}

/// The default compile options of a slicing and a target.
pub fn options(slicing: Slicing, target: &'static Target) -> Options {
    Options {
        slicing,
        target,
        cpu: isa::cpu::ALL[0],
        word: None,
        entry: None,
        flags: Default::default(),
        pipeline: PipelineOptions::default(),
        c: COptions::default(),
    }
}

/// Additional flags for the byte interface, beyond the flags of kernels.
pub fn flags(compiler: &Compiler) -> &'static [&'static str] {
    match (compiler.is_clang, compiler.foreign) {
        (true, _) => &[],
        (false, None) => GCC,
        // The other flag is for x86-64.
        (false, Some(_)) => &GCC[1..],
    }
}

/// Compiles the C text of a byte interface to an object file.
///
/// # Errors
/// The compiler rejects the text.
pub fn object(text: &str, target: &'static Target, family: Family) -> Result<Vec<u8>, String> {
    let compiler = Compiler::find(target, family).map_err(|skip| skip.to_string())?;
    compiler.object(text, "c", flags(&compiler))
}

/// Proves the functions of an existing object.
///
/// # Errors
/// The object cannot be read, or the program has products, which no engine on bits proves equal.
pub fn prove_object(
    file: &[u8],
    built: &Built,
    function: &Function,
    target: &Target,
    demands: Demands,
) -> Result<Vec<Proof>, String> {
    if arithmetic::multiplies(&built.program) {
        return Err(format!(
            "{}: functions over blocks of a program with products are not proved yet; help: `--binary` \
             proves its kernel",
            function.name
        ));
    }
    let object = Object::read_any(file, Extensions::of(target.cflags))?;
    let mut proofs = Vec::new();
    for in_place in [false, true] {
        if in_place && built.input != built.output {
            continue;
        }
        let interface = Interface { demands, ..interface(built, function, target, in_place) };
        proofs.push(Proof::of_blocks(&object, &interface));
    }
    if function.key.is_some() {
        let (contract, program) = setup(built, function)?;
        let prove = || by_machine::prove(&object, &contract, &program, demands);
        proofs.push(Proof::of_kernel(&contract.symbol, &program, prove));
    }
    Ok(proofs)
}

/// The contract of a function over blocks.
pub fn interface<'a>(
    built: &'a Built,
    function: &Function,
    target: &Target,
    in_place: bool,
) -> Interface<'a> {
    let inputs = function.inputs.iter();
    Interface {
        symbol: format!("{}_blocks", built.name),
        program: &built.program,
        inputs: inputs.map(|input| (input.param.clone(), order(input.bytes))).collect(),
        output: order(function.output.bytes),
        key: match &function.key {
            Some(key) => KeyPointer::Words(key.param.clone()),
            None => KeyPointer::Absent,
        },
        batch: usuba::emit::instances(&built.program, target),
        in_place,
        xored: None,
        demands: Demands::default(),
    }
}

/// The order of the bytes of a layout.
pub fn order(bytes: ByteLayout) -> Order {
    match bytes {
        ByteLayout::Be => Order::Be,
        ByteLayout::Le => Order::Le,
        ByteLayout::Planes => Order::Planes,
        ByteLayout::LeBits => Order::LeBits,
    }
}

/// The contract of the key setup, and its reference program.
fn setup(built: &Built, function: &Function) -> Result<(Contract, Program), String> {
    let key = function.key.as_ref().ok_or("there is no key")?;
    let groups = built.program.params();
    let port = groups.iter().find(|group| group[0].name == key.param);
    let port = &port.ok_or("the key is no parameter")?[0];
    let symbol = format!("{}_init", built.name);
    key_setup::whole(symbol, port, key, built.schedule.as_ref())
}
