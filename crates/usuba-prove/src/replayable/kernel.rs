//! Certificates of kernels: made of a program and a C compiler, and replayed against the program and the
//! object.
//!
//! ```text
//! program ── both writers of sources ── the trace of the certificate?
//! object ─── both writers of functions ── the trace of the certificate?
//! ports, slicing, target ── kernel_contract ── the meanings of the certificate?
//! steps ── usuba-replay ── replayed
//! ```
//!
//! A replay needs no pass, no emitter, no compiler and no engine.

use usuba::emit::c::kernel;
use usuba::ir::{Inline, Node, NodeId, Port, Program, Slicing};
use usuba::isa::Target;
use usuba::typed::{self, Instance, Var, VarType};
use usuba::{Options, optimise};
use usuba_object::kernel_contract::Contract;
use usuba_replay::certificate::Certificate;
use usuba_replay::trace::Trace;
use usuba_witness::Array;

use super::{certified, claim, of_function, of_source};
use crate::compiler::{Compiler, contract_of, layout};

/// The most interleaved copies.
const COPIES: u32 = 16;

/// The object of a kernel, and its certificate.
#[derive(Clone, Debug)]
pub struct Certified {
    pub symbol: String,
    pub object: Vec<u8>,
    pub certificate: Certificate,
    /// [`Program::copies`].
    pub copies: u32,
    /// Whether words share a register ([`Program::packed`]).
    pub is_packed: bool,
}

/// The subject of a certificate.
pub struct Subject<'a> {
    pub program: &'a typed::Program,
    pub slicing: Slicing,
    /// The size of words, if the command line fixes it.
    pub word: Option<u8>,
    pub target: &'static Target,
    pub symbol: &'a str,
    pub object: &'a [u8],
    pub copies: u32,
    pub is_packed: bool,
}

/// Compiles the entry of a program and finds the steps of its certificate; `None` if the program cannot
/// be sliced this way for the target.
///
/// # Errors
/// The program, or the object, has no trace, the compiler refuses the C, or a step is not found.
pub fn made(
    program: &typed::Program,
    options: &Options,
    compiler: &Compiler,
) -> Result<Option<Certified>, String> {
    let mut lowered = None;
    let mut observer = |_: &str, program: &Program| {
        lowered.get_or_insert_with(|| program.clone());
    };
    let Ok(last) = optimise(program, options, &mut observer) else { return Ok(None) };
    let emitted = kernel(&last, options.target, &options.c);
    let contract = contract_of(&last, &emitted, options.target)?;
    let object = compiler.object(&emitted.text, "c", &[])?;
    let instance = instance(program, options.slicing, options.word)?;
    let source = of_source(program, &instance, last.copies)?;
    let arrays = arrays(&contract);
    let function = of_function(&object, &contract.symbol, &arrays, &contract.pointers)?;
    let claim = claim(source, function, &contract)?;
    let lowered = lowered.unwrap_or_else(|| last.clone());
    let certificate = certified(claim, &[&lowered, &last])?;
    let (symbol, copies, is_packed) = (contract.symbol, last.copies, last.packed);
    Ok(Some(Certified { symbol, object, certificate, copies, is_packed }))
}

/// Replays a certificate, and compares its claim with its subject; returns the number of nodes of
/// its graph.
///
/// # Errors
/// The certificate is about something else, or it does not show its claim.
pub fn replayed(certificate: &[u8], subject: &Subject) -> Result<usize, String> {
    let certificate = Certificate::read(certificate)?;
    let instance = instance(subject.program, subject.slicing, subject.word)?;
    if !(1..=COPIES).contains(&subject.copies) {
        return Err(format!("{} copies are no number from 1 to {COPIES}", subject.copies));
    }
    let source = of_source(subject.program, &instance, subject.copies)?;
    let other = usuba_witness::source(subject.program, &instance, subject.copies as usize)?;
    same(&other, &source, "the other writer of sources")?;
    same(&certificate.source, &source, "the certificate")?;
    let contract = contract(subject, &instance)?;
    let (object, arrays) = (subject.object, arrays(&contract));
    let function = of_function(object, subject.symbol, &arrays, &contract.pointers)?;
    let other = usuba_witness::riscv(object, subject.symbol, &arrays, &contract.pointers)?;
    same(&other, &function, "the other writer of functions")?;
    same(&certificate.function, &function, "the certificate")?;
    let claim = claim(source, function, &contract)?;
    if (&claim.entry, &claim.exit) != (&certificate.entry, &certificate.exit) {
        return Err("the certificate has the bits of words in other places of memory".into());
    }
    certificate.replay()
}

fn instance(
    program: &typed::Program,
    slicing: Slicing,
    word: Option<u8>,
) -> Result<Instance, String> {
    let instance = typed::check::entry_instance(program, slicing, word);
    instance.map_err(|finding| finding.message)
}

/// The arrays of a contract.
fn arrays(contract: &Contract) -> Vec<Array> {
    let array = |array: &usuba_object::kernel_contract::Array| Array {
        bytes: array.size / 8,
        is_read: array.entry.is_some(),
        is_written: array.exit.is_some(),
    };
    contract.arrays.iter().map(array).collect()
}

fn same(found: &Trace, wanted: &Trace, of: &str) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("the trace of {of} is another one")),
    }
}

/// The contract of the ports of an instance, without the compiler.
fn contract(subject: &Subject, instance: &Instance) -> Result<Contract, String> {
    let decl = &subject.program.decls[instance.decl];
    // Vectors need registers of lanes.
    let slicing = match subject.slicing {
        Slicing::W if !subject.target.simd => Slicing::V,
        other => other,
    };
    let ports = |vars| ports(vars, instance, subject.copies);
    let (params, results) = (ports(&decl.params)?, ports(&decl.results)?);
    let values = |ports: &[Port]| -> Vec<u8> {
        let each = |port: &Port| vec![port.value_bits(slicing); port.values(slicing)];
        ports.iter().flat_map(each).collect()
    };
    let bits = [values(&params), values(&results)].concat();
    let node = Node {
        name: decl.name.to_string(),
        params,
        results,
        bits,
        origins: Default::default(),
        body: Vec::new(),
        outs: Vec::new(),
        inline: Inline::Auto,
    };
    let program = Program::new(vec![node], NodeId(0), slicing);
    let (copies, packed) = (subject.copies, subject.is_packed);
    let program = Program { copies, packed, ..program };
    let layout = layout(&program, subject.target, true);
    Contract::kernel(&program, subject.symbol, &layout, &[])
}

/// The ports of variables, one for each copy unless the variable is constant; a `nat` has none.
fn ports(vars: &[Var], instance: &Instance, copies: u32) -> Result<Vec<Port>, String> {
    let mut ports = Vec::new();
    for var in vars {
        let VarType::Words { atom, dims } = &var.ty else { continue };
        let bits = instance.apply(atom).bits().filter(|&bits| bits <= 64);
        let word = bits.ok_or_else(|| format!("`{}` has words above 64 bits", var.name))?;
        let (name, dims) = (var.name.to_string(), dims.clone());
        let port = Port { name, word, dims, constant: var.constant, bytes: var.bytes };
        let count = if var.constant { 1 } else { copies as usize };
        ports.extend(std::iter::repeat_n(port, count));
    }
    Ok(ports)
}
