//! Every instruction that the prover models, against the processor.
//!
//! ```text
//! case_17:  call load;  vprold zmm0, zmm1, 7;  jmp store      registers from [rdi], to [rsi]
//! ```
//!
//! Each form of each instruction runs on the processor and in the model, on random and on edge
//! operands. `forms` generates them from the table of the model; `sequences` has instructions whose
//! effect shows only in a sequence; `prefixes` puts prefixes before forms; `faults` has the accesses
//! to memory that are not allowed. The model executes each case symbolically and concretely, and at
//! least one of both must succeed. Flags that an instruction leaves undefined, by the table, are not
//! compared. On a processor without AVX-512 the cases have registers of 256 bits, and the forms that
//! it lacks are skipped by the name of the missing feature.

mod faults;
mod forms;
mod prefixes;
mod sequences;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::process::Command;

use iced_x86::{CpuidFeature, Decoder, DecoderOptions, Instruction, Mnemonic};
use usuba::ir::random::Random;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::simulate;
use usuba_object::x86::{X86, is_modelled};
use usuba_prove::compiler;
use usuba_run::cc::{self, Family};

/// Bytes of the input of a case: four vectors, 64 bytes of memory, six general-purpose registers.
const INPUT: usize = 4 * 64 + 64 + 6 * 8;

/// Bytes of its output: the same, and four flags.
const OUTPUT: usize = INPUT + 4;

/// The widest of these targets that runs here has the registers of the cases; the first has all
/// modelled instructions.
const MACHINES: [&str; 2] = ["avx512_ifma", "avx2_64"];

const GENERAL: [&str; 6] = ["rax", "rcx", "rdx", "r8", "r9", "r10"];

/// One form of an instruction.
pub struct Form {
    /// Intel syntax; `mem` stands for the memory of the case, `con` for constants of the object.
    text: String,
    /// The flags that are defined and compared: some of `c`, `z`, `s`, `o`.
    flags: String,
}

impl Form {
    /// A form whose flags are not compared.
    fn plain(text: impl Into<String>) -> Form {
        Form { text: text.into(), flags: String::new() }
    }
}

/// All forms: of each row, and in sequences.
fn all_forms() -> Vec<Form> {
    [forms::all(|_| true), sequences::all()].into_iter().flatten().collect()
}

/// The target of the cases, if one of them runs here.
fn machine() -> Option<&'static str> {
    let found = MACHINES.into_iter().find(|name| cc::find(name).is_ok());
    if found.is_none() {
        println!("skipped: no processor with AVX2 and BMI2");
    }
    found
}

/// The assembly of all cases, for a target.
fn assembly(forms: &[Form], machine: &str) -> String {
    let mut text = functions(machine);
    for (number, form) in forms.iter().enumerate() {
        text += &case(number, "call copy; call load", form);
        for (at, (flag, set)) in
            [('c', "setb"), ('z', "sete"), ('s', "sets"), ('o', "seto")].into_iter().enumerate()
        {
            if form.flags.contains(flag) {
                let _ = writeln!(text, "{set} byte ptr [rsi + {}]", INPUT + at);
            }
        }
        let _ = writeln!(text, "jmp store\n.size case_{number}, . - case_{number}");
    }
    text
}

/// The begin of the assembly: constants, and functions that copy the memory of a case, load its
/// registers and store them.
fn functions(machine: &str) -> String {
    // The instruction that moves a vector, and how many of 64 bytes.
    let (load, register, bytes) = match machine == MACHINES[0] {
        true => ("vmovdqu64", "zmm", 64),
        false => ("vmovdqu", "ymm", 32),
    };
    let [mut copy, mut fetch, mut store] = [const { String::new() }; 3];
    for at in (256..320).step_by(bytes) {
        copy += &format!("{load} {register}4, [rdi + {at}]\n{load} [rsi + {at}], {register}4\n");
    }
    for vector in 0..4 {
        fetch += &format!("{load} {register}{vector}, [rdi + {}]\n", 64 * vector);
        store += &format!("{load} [rsi + {}], {register}{vector}\n", 64 * vector);
    }
    // A prefix may name another register.
    for vector in 4..16 {
        fetch += &format!("vpxor xmm{vector}, xmm{vector}, xmm{vector}\n");
    }
    for (at, register) in GENERAL.iter().enumerate() {
        fetch += &format!("mov {register}, [rdi + {}]\n", 320 + 8 * at);
        store += &format!("mov [rsi + {}], {register}\n", 320 + 8 * at);
    }
    format!(
        ".intel_syntax noprefix\n.section .note.GNU-stack,\"\",@progbits\n\
         .section .rodata\n.balign 64\nconstants:\n\
         .byte 3,2,1,0,7,6,5,4,11,10,9,8,15,14,13,12,128,1,0,3,255,9,8,11,10,13,12,15,14,5,5,5\n\
         .byte 1,0,0,0,31,0,0,0,32,0,0,0,7,0,0,0,2,0,0,0,64,0,0,0,0,0,0,0,200,0,0,0\n.text\n\
         copy: {copy}ret\nload: {fetch}ret\nstore: {store}ret\n"
    )
}

/// The begin of the function of a case, with instructions before its form.
fn case(number: usize, before: &str, form: &Form) -> String {
    let body = replaced(&form.text, "mem", "[rsi + 256]");
    let body = replaced(&body, "con", "[rip + constants]");
    let body = format!("{before}; {body}").replace(';', "\n");
    let name = format!("case_{number}");
    format!(".globl {name}\n.type {name}, @function\n{name}:\n{body}\n")
}

/// The text with something else in the place of a word.
fn replaced(text: &str, word: &str, by: &str) -> String {
    let mut parts = text.split(word);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        // Names may begin like this.
        let longer = part.starts_with(|c: char| c.is_ascii_alphanumeric());
        out.push_str(if longer { word } else { by });
        out.push_str(part);
    }
    out
}

/// All cases in C.
fn table(cases: usize) -> String {
    let names: Vec<String> = (0..cases).map(|number| format!("case_{number}")).collect();
    let functions = names.iter().map(|name| format!("void {name}(const void *, void *);\n"));
    let functions: String = functions.collect();
    format!(
        "{functions}static void (*const cases[])(const void *, void *) = {{ {} }};\n",
        names.join(", ")
    )
}

/// A program that runs all cases on the inputs that it reads.
fn driver(cases: usize, inputs: usize) -> String {
    format!(
        "#include <stdio.h>\n#include <string.h>\n{}\
         static _Alignas(64) unsigned char in[{inputs}][{INPUT}], out[{OUTPUT}];\n\
         int main(void)\n{{\n\
         if (fread(in, 1, sizeof in, stdin) != sizeof in) return 1;\n\
         for (int c = 0; c < {cases}; c++) for (int i = 0; i < {inputs}; i++) {{\n\
         memset(out, 0, sizeof out);\n\
         cases[c](in[i], out);\n\
         if (fwrite(out, 1, sizeof out, stdout) != sizeof out) return 1;\n\
         }}\nreturn 0;\n}}\n",
        table(cases)
    )
}

/// Random bytes, and bytes at the edges of lanes of all widths.
fn inputs(count: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(7);
    let edges: [u64; 8] = [
        0,
        u64::MAX,
        0x8000_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8080_8080_8080_8080,
        0x8000_8000_8000_8000,
        0x0000_0001_0000_0001,
        0x7f7f_0001_ffff_8000,
    ];
    let input = |run: usize, random: &mut Random| -> Vec<u8> {
        let mut bytes = Vec::with_capacity(INPUT);
        let same = edges[random.below(edges.len())];
        for _ in 0..INPUT / 8 {
            let word = match run % 4 {
                0 => random.word(),
                1 => edges[random.below(edges.len())],
                2 => same,
                _ => random.word() & random.word() & random.word(),
            };
            bytes.extend(word.to_le_bytes());
        }
        bytes
    };
    (0..count).map(|run| input(run, &mut random)).collect()
}

/// The output of a program, of this assembly and C, on an input.
fn native(machine: &str, assembly: &str, driver: &str, input: &[u8]) -> Vec<u8> {
    let machine = cc::find(machine).expect("it has been found before");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("cases.s"), assembly).expect("a file can be written");
    std::fs::write(path("driver.c"), driver).expect("a file can be written");
    let mut command = machine.compile();
    command.args([path("cases.s"), path("driver.c")]).arg("-o").arg(path("run"));
    let status = command.status().expect("the compiler runs");
    assert!(status.success(), "the cases do not assemble");
    std::fs::write(path("input"), input).expect("a file can be written");
    let input = File::open(path("input")).expect("it has been written");
    let output = Command::new(path("run")).stdin(input).output().expect("the cases run");
    assert!(output.status.success(), "the cases crash: {}", output.status);
    output.stdout
}

/// The instructions of a case, with those that load registers and store them.
fn instructions(object: &Object, case: usize) -> Vec<Instruction> {
    let address = object.function(&format!("case_{case}")).expect("the case");
    let code = object.code(address, 1 << 12);
    let mut found = Vec::new();
    for instruction in Decoder::with_ip(64, code, address, DecoderOptions::NONE).iter() {
        found.push(instruction);
        if object.name(instruction.next_ip()) == format!("case_{}", case + 1) {
            break;
        }
    }
    found
}

/// The first feature of these instructions that this processor lacks, although a target runs.
fn missing(instructions: &[Instruction], machine: &str) -> Option<CpuidFeature> {
    let has = |feature: &CpuidFeature| match feature {
        CpuidFeature::ADX => cc::has_feature("adx"),
        CpuidFeature::GFNI => cc::has_feature("gfni"),
        other => machine == MACHINES[0] || !format!("{other:?}").starts_with("AVX512"),
    };
    instructions.iter().flat_map(Instruction::cpuid_features).copied().find(|f| !has(f))
}

/// The cases as an object. The assembler knows all instructions, for every target.
fn object(text: &str, machine: &str) -> Object {
    let file = compiler::object(text, "assembler", machine, Family::Gcc, &[]);
    Object::read(&file.expect("an object"), Extensions::ALL).expect("an object")
}

/// The forms that this processor has, and whether these are all; says which are not.
fn supported(machine: &str, forms: Vec<Form>) -> (Vec<Form>, bool) {
    let object = object(&assembly(&forms, machine), machine);
    let mut kept = Vec::new();
    let mut skipped = BTreeMap::<String, usize>::new();
    for (number, form) in forms.into_iter().enumerate() {
        match missing(&instructions(&object, number), machine) {
            Some(feature) => *skipped.entry(format!("{feature:?}")).or_default() += 1,
            None => kept.push(form),
        }
    }
    for (feature, count) in &skipped {
        println!("skipped: {count} forms of {feature}, which this processor does not have");
    }
    (kept, skipped.is_empty())
}

#[test]
fn the_model_is_the_processor() {
    let Some(machine) = machine() else { return };
    let (forms, all) = supported(machine, all_forms());
    let text = assembly(&forms, machine);
    let object = object(&text, machine);
    let inputs = inputs(32);
    let native = native(machine, &text, &driver(forms.len(), inputs.len()), &inputs.concat());
    let native: Vec<&[u8]> = native.chunks(OUTPUT).collect();
    let mut wrong = Vec::new();
    let mut covered = BTreeSet::new();
    for (number, form) in forms.iter().enumerate() {
        let symbol = format!("case_{number}");
        let expected = &native[number * inputs.len()..(number + 1) * inputs.len()];
        let symbolic = simulate::symbolic::<X86>(&object, &symbol, &inputs, OUTPUT);
        if let Ok(found) = &symbolic {
            let bad = (0..inputs.len()).find(|&run| found[run] != expected[run]);
            if let Some(run) = bad {
                wrong.push(show(form, "symbols", &inputs[run], expected[run], &found[run]));
            }
        }
        // If symbolic execution was right, fewer concrete runs suffice.
        let runs = if symbolic.is_ok() { 2 } else { 24 };
        for run in 0..runs {
            match simulate::numeric::<X86>(&object, &symbol, &inputs[run], OUTPUT) {
                Ok(found) if found == expected[run] => {}
                Ok(found) => {
                    wrong.push(show(form, "numbers", &inputs[run], expected[run], &found));
                    break;
                }
                // An instruction that is never executed proves nothing.
                Err(fault) if symbolic.is_err() => {
                    wrong.push(format!("{}: {fault}", form.text));
                    break;
                }
                Err(_) => break,
            }
        }
        covered.extend(instructions(&object, number).iter().map(Instruction::mnemonic));
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
    let missing: Vec<Mnemonic> = Mnemonic::values()
        .filter(|&mnemonic| is_modelled(mnemonic) && !covered.contains(&mnemonic))
        .collect();
    assert!(missing.is_empty() || !all, "modelled, but compared with nothing: {missing:?}");
}

fn show(form: &Form, how: &str, input: &[u8], expected: &[u8], found: &[u8]) -> String {
    let at = (0..OUTPUT).find(|&at| expected[at] != found[at]).expect("they differ");
    let from = at / 64 * 64;
    let to = (from + 64).min(OUTPUT);
    format!(
        "{} on {how}: byte {at} is {:#04x} and not {:#04x}\n  in   {:02x?}\n  want {:02x?}\n  have {:02x?}",
        form.text,
        found[at],
        expected[at],
        &input[from.min(INPUT)..to.min(INPUT)],
        &expected[from..to],
        &found[from..to]
    )
}

/// The model executes forms that this processor lacks, and symbolic and concrete execution agree.
#[test]
fn every_form_is_modelled() {
    let forms = all_forms();
    let object = object(&assembly(&forms, MACHINES[0]), MACHINES[0]);
    let inputs = inputs(2);
    let mut wrong = Vec::new();
    for (number, form) in forms.iter().enumerate() {
        let symbol = format!("case_{number}");
        let symbolic = simulate::symbolic::<X86>(&object, &symbol, &inputs, OUTPUT);
        for (run, input) in inputs.iter().enumerate() {
            match (&symbolic, simulate::numeric::<X86>(&object, &symbol, input, OUTPUT)) {
                (Ok(found), Ok(number)) if found[run] != number => {
                    wrong.push(show(form, "symbols", input, &number, &found[run]));
                }
                (Err(fault), Err(_)) => wrong.push(format!("{}: {fault}", form.text)),
                _ => {}
            }
        }
    }
    println!("{} forms", forms.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The comparison fails if the model is wrong.
#[test]
fn another_instruction_is_told_apart() {
    // The model needs no processor.
    let forms = vec![
        Form::plain("vpaddd xmm0, xmm1, xmm2"),
        Form::plain("vpaddw xmm0, xmm1, xmm2"),
        Form::plain("vpmadd52luq xmm0, xmm1, xmm2"),
        Form::plain("vpmadd52huq xmm0, xmm1, xmm2"),
        Form::plain("vpmadd52huq xmm0, xmm0, xmm2"),
    ];
    let object = object(&assembly(&forms, MACHINES[0]), MACHINES[0]);
    let inputs = inputs(8);
    let run = |case| {
        let symbol = format!("case_{case}");
        simulate::symbolic::<X86>(&object, &symbol, &inputs, OUTPUT).expect("modelled")
    };
    for (one, other) in [(0, 1), (2, 3), (3, 4)] {
        assert_ne!(run(one), run(other));
    }
}

/// Few processors have these instructions; the test models their results once more, lane by lane.
#[test]
fn lanes_that_a_mask_chooses_go_where_the_manual_says() {
    const MASK: u32 = 0x9a65;
    let forms: Vec<Form> = [
        "vpexpandd zmm0{k1}, zmm1",
        "vpexpandd zmm0{k1}{z}, zmm1",
        "vpcompressd zmm0{k1}, zmm1",
        "vpcompressd zmm0{k1}{z}, zmm1",
    ]
    .into_iter()
    .map(|body| Form::plain(format!("mov r10d, {MASK}; kmovw k1, r10d; {body}")))
    .collect();
    let object = object(&assembly(&forms, MACHINES[0]), MACHINES[0]);
    let input = inputs(1).remove(0);
    let words = |bytes: &[u8]| -> Vec<u32> {
        let word = |four: &[u8]| u32::from_le_bytes(four.try_into().expect("four bytes"));
        bytes.chunks(4).map(word).collect()
    };
    let (old, source) = (words(&input[..64]), words(&input[64..128]));
    let is_chosen = |lane: &usize| MASK >> lane & 1 == 1;
    for (case, (expands, zeroes)) in
        [(true, false), (true, true), (false, false), (false, true)].into_iter().enumerate()
    {
        let mut expected = if zeroes { vec![0; 16] } else { old.clone() };
        for (next, lane) in (0..16).filter(is_chosen).enumerate() {
            let (to, from) = if expands { (lane, next) } else { (next, lane) };
            expected[to] = source[from];
        }
        let symbol = format!("case_{case}");
        let found = simulate::numeric::<X86>(&object, &symbol, &input, OUTPUT).expect("modelled");
        assert_eq!(words(&found[..64]), expected, "{}", forms[case].text);
    }
}
