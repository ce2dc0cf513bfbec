//! Traces of objects and of their sources: the same values on random inputs, and certificates that show
//! them equal. Two writers, which share no code, write the same bytes for the source, and two others for
//! the function.

use std::path::Path;

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::Slicing;
use usuba::ir::random::Random;
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Options, front, isa, typed};
use usuba_ciphers::Beside;
use usuba_gen::{asks, asks_rarely};
use usuba_prove::compiler::Compiler;
use usuba_prove::replayable::{
    self,
    kernel::{self, Certified, Subject},
};
use usuba_replay::certificate::{Certificate, Meaning, SEAL, seal};
use usuba_replay::trace::{Trace, mask};
use usuba_run::cc::{Family, Foreign};
use usuba_witness::Array;

/// Kernels of each run, in all slicings that they have; a share of the others is chosen.
const ALWAYS: [&str; 2] = ["rectangle", "chacha20"];

/// Changes of each certificate.
const CHANGES: usize = 4;

#[test]
fn certificates_of_kernels_are_replayed() {
    let target = isa::find("gp32").expect("a target");
    let compiler = match Compiler::find_foreign(target, Foreign::Riscv, Family::Gcc) {
        Ok(compiler) => compiler,
        Err(skip) => return println!("{skip}"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let mut count = 0;
    for cipher in usuba_ciphers::find(&root).expect("the cipher folders can be read") {
        let is_often = ALWAYS.iter().any(|name| cipher.folder.ends_with(name));
        for function in cipher.functions.iter().filter(|function| function.targets.is_empty()) {
            for &slicing in &function.slicings {
                let what = format!("{}, {} in {slicing:?}", function.source, function.node);
                // Of a bitsliced kernel each gate is compared.
                let is_long = matches!(slicing, Slicing::B | Slicing::H);
                let is_asked = || if is_long { asks_rarely!("{what}") } else { asks!("{what}") };
                if !is_often && !is_asked() {
                    continue;
                }
                let path = cipher.folder.join(&function.source);
                for factor in [None, Some(2)]
                    .into_iter()
                    .take(1 + (is_often && slicing == Slicing::V) as usize)
                {
                    let (node, by) = (&function.node, &compiler);
                    count += checked(&path, node, slicing, factor, by, &what) as usize;
                }
            }
        }
    }
    assert!(count > 3, "{count} kernels");
}

/// Functions that break a rule, with the reason; the first argument is an array of 8 bytes that is
/// read, the second one of 8 bytes that is written.
const BROKEN: [(&str, &str); 12] = [
    ("addi sp,sp,-16; sw zero,0(sp); addi sp,sp,16; addi sp,sp,-16; lw a2,0(sp)", "has written"),
    ("blt a0,a1,1f; 1: nop", "depends on an input"),
    ("lw a2,0(a0); beqz a2,1f; nop; 1: sw a2,0(a1)", "a branch depends on an input"),
    ("lw a2,0(a0); add a2,a2,a0; lw a2,0(a2)", "an address depends on an input"),
    ("lw a2,8(a0)", "outside of the arrays"),
    ("lw a2,-4(a0)", "outside of the arrays"),
    ("lw a2,2(a0)", "not aligned"),
    ("sw zero,0(a0)", "outside of the arrays"),
    ("lw a2,0(a1)", "nobody has written"),
    ("sw zero,-4(sp)", "outside of the arrays"),
    ("li s0,1", "belongs to the caller"),
    ("lw a2,0(a0); div a2,a2,a2", "depends on an input"),
];

/// The trace of `f` by both writers, if both have one; its arguments are arrays of some bytes, the first
/// one read, the second one written.
fn both(object: &[u8], bytes: usize) -> Result<Trace, String> {
    let arrays = [true, false].map(|is_read| Array { bytes, is_read, is_written: !is_read });
    let one = usuba_witness::riscv(object, "f", &arrays, &[0, 1]);
    let other = replayable::of_function(object, "f", &arrays, &[0, 1]);
    if let (Ok(one), Ok(other)) = (&one, &other) {
        assert_eq!(one, other);
    }
    one.and_then(|trace| other.map(|_| trace))
}

#[test]
fn functions_that_break_a_rule_have_no_trace() {
    let Some(machine) = super::machine() else { return };
    let run = |body: &str| {
        let body = body.replace("; ", "\n");
        let text = format!(".globl f\n.type f,@function\nf:\n{body}\nret\n.size f,.-f\n");
        let object = super::Assembly::new(&machine, &text).object();
        both(&object, 8)
    };
    let copy = "lw a2,0(a0); lw a3,4(a0); sw a3,0(a1); sw a2,4(a1)";
    assert_eq!(run(copy).expect("a trace").run(&[3, 5]), [5, 3]);
    // The entry of the function is above its frame.
    let order = "addi sp,sp,-16; mv a4,sp; addi a5,sp,16; li a2,1; bltu a4,a5,1f; li a2,2; 1: sw a2,0(a1); \
                 sw a2,4(a1); addi sp,sp,16";
    assert_eq!(run(order).expect("a trace").run(&[3, 5]), [1, 1]);
    // A call of the code behind it, without a relocation.
    let call = ".option norvc; mv a6,ra; auipc ra,0; jalr ra,16(ra); mv ra,a6; j 1f; lw a2,0(a0); \
                sw a2,4(a1); ret; 1: sw zero,0(a1)";
    assert_eq!(run(call).expect("a trace").run(&[3, 5]), [0, 3]);
    for (body, reason) in BROKEN {
        let why = run(&format!("{body}; {copy}")).expect_err(body);
        assert!(why.contains(reason), "{body}: {why}");
    }
}

/// Each loop ends at a limit: of values, of bytes, of instructions.
#[test]
fn functions_that_never_return_have_no_trace() {
    let Some(machine) = super::machine() else { return };
    let value = "lw a2,0(a0)\n1: add a2,a2,a2\nxori a2,a2,1\nj 1b";
    let bytes = "li a2,1\nslli a2,a2,22\n1: sub sp,sp,a2\nmv a0,sp\nli a1,0\ncall memset\n\
                 li a2,1\nslli a2,a2,22\nj 1b";
    for (body, reason) in [(value, "values"), (bytes, "values"), ("1: j 1b", "instructions")] {
        // A limit is reached after some seconds.
        if !asks!("{body}") {
            continue;
        }
        let text = format!(".globl f\n.type f,@function\nf:\n{body}\n.size f,.-f\n");
        let object = super::Assembly::new(&machine, &text).object();
        let arrays = [true, false].map(|is_read| Array { bytes: 8, is_read, is_written: !is_read });
        let one = usuba_witness::riscv(&object, "f", &arrays, &[0, 1]);
        let other = replayable::of_function(&object, "f", &arrays, &[0, 1]);
        for found in [one, other] {
            let why = found.expect_err(body);
            assert!(why.contains("more than") && why.contains(reason), "{body}: {why}");
        }
    }
}

#[test]
fn damaged_objects_have_no_trace_or_another() {
    let Some(machine) = super::machine() else { return };
    let text = ".globl f\n.type f,@function\nf:\nlui a5,%hi(t)\nlw a2,%lo(t)(a5)\nlw a3,0(a0)\n\
                xor a2,a2,a3\nsw a2,0(a1)\nret\n.size f,.-f\n.section .rodata\n.align 2\nt: .word 7\n";
    let object = super::Assembly::new(&machine, text).object();
    let run = |object: &[u8]| both(object, 4);
    assert_eq!(run(&object).expect("a trace").run(&[8]), [15]);
    // The last four bytes are a field that nobody reads.
    for end in 0..object.len() - 4 {
        assert!(run(&object[..end]).is_err(), "{end} bytes");
    }
    let mut refused = 0;
    for at in 0..object.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = object.clone();
            damaged[at] ^= change;
            refused += run(&damaged).is_err() as usize;
        }
    }
    assert!(refused > 100, "{refused} changes");
}

/// Certifies a kernel, with a number of interleaved instances if one is given, runs its object on
/// random inputs of all instances, and replays the certificate; whether the kernel exists.
fn checked(
    path: &Path,
    node: &str,
    slicing: Slicing,
    factor: Option<u32>,
    compiler: &Compiler,
    what: &str,
) -> bool {
    let target = isa::find("gp32").expect("a target");
    let text = std::fs::read_to_string(path).expect("the program can be read");
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let flags = typed::Flags::default();
    let read = front(&mut sources, root, &mut Beside, Some(node), flags);
    let program = read.expect("the program is right").program;
    let mut pipeline = PipelineOptions::default();
    pipeline.pass.interleave.factor = factor;
    let options = Options {
        slicing,
        target,
        cpu: isa::cpu::ALL[0],
        word: None,
        entry: Some(node.to_string()),
        flags,
        pipeline,
        c: COptions::default(),
    };
    let made = kernel::made(&program, &options, compiler);
    let made = made.unwrap_or_else(|why| panic!("{what}: {why}"));
    let Some(Certified { symbol, object, certificate, copies, is_packed }) = made else {
        return false;
    };
    assert!(holds(&certificate), "{what}");
    let bytes = certificate.bytes();
    assert_eq!(Certificate::read(&bytes).as_ref(), Ok(&certificate), "{what}");
    let subject = Subject {
        program: &program,
        slicing,
        word: None,
        target,
        symbol: &symbol,
        object: &object,
        copies,
        is_packed,
    };
    let replayed = kernel::replayed(&bytes, &subject);
    assert!(replayed.is_ok(), "{what}: {replayed:?}");
    damaged_certificates_are_refused_or_true(&bytes, what);
    true
}

/// Changes bits of a certificate, which the seal shows. With a new seal it may have another proof, or
/// another claim that holds: a rotation by another amount of a word whose bits are equal.
fn damaged_certificates_are_refused_or_true(bytes: &[u8], what: &str) {
    let mut random = Random::new(7);
    for _ in 0..CHANGES {
        let mut changed = bytes.to_vec();
        let at = random.below(bytes.len());
        changed[at] ^= 1 << random.below(8);
        assert!(Certificate::read(&changed).is_err(), "{what}: byte {at}");
        changed.truncate(bytes.len() - SEAL);
        seal(&mut changed);
        let read = Certificate::read(&changed);
        if let Ok(other) = read.and_then(|read| read.replay().map(|_| read)) {
            assert!(holds(&other), "{what}: byte {at}");
        }
    }
}

/// Whether a claim holds for random inputs of all instances.
fn holds(claim: &Certificate) -> bool {
    let all = || claim.entry.iter().chain(&claim.exit).flatten();
    let instance_of = |meaning: &Meaning| match meaning {
        Meaning::Bit { instance: Some(instance), .. } => *instance,
        _ => 0,
    };
    let last = all().map(instance_of).max().unwrap_or(0);
    let mut random = Random::new(5);
    let mut any = || -> Vec<u64> {
        claim.source.inputs.iter().map(|&bits| random.word() & mask(bits)).collect()
    };
    let mut values: Vec<Vec<u64>> = (0..=last).map(|_| any()).collect();
    // A bit that all instances share.
    for meaning in claim.entry.iter().flatten() {
        if let Meaning::Bit { word, bit, instance: None, .. } = *meaning {
            let shared = values[0][word as usize] & 1 << bit;
            for own in &mut values {
                own[word as usize] = own[word as usize] & !(1 << bit) | shared;
            }
        }
    }
    let word = |of: &[Vec<u64>], meanings: &Vec<Meaning>| {
        meanings.iter().rev().fold(0, |sum, meaning| {
            let bit = match *meaning {
                Meaning::Zero => 0,
                Meaning::Bit { word, bit, instance, is_complement } => {
                    let value = of[instance.unwrap_or(0) as usize][word as usize];
                    value >> bit & 1 ^ is_complement as u64
                }
            };
            sum << 1 | bit
        })
    };
    let inputs: Vec<u64> = claim.entry.iter().map(|meanings| word(&values, meanings)).collect();
    let results: Vec<Vec<u64>> = values.iter().map(|values| claim.source.run(values)).collect();
    let wanted: Vec<u64> = claim.exit.iter().map(|meanings| word(&results, meanings)).collect();
    claim.function.run(&inputs) == wanted
}
