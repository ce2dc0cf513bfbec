//! Linked files and archives: functions are proved wherever the linker puts them.

use std::collections::BTreeSet;
use std::fmt::Write;

use usuba::ir::random::Random;
use usuba_object::Rule;
use usuba_object::callgraph::CallGraph;
use usuba_object::compare::{Demands, Verdict};
use usuba_object::elf::{self, Object};
use usuba_object::extensions::Extensions;
use usuba_run::cc::{self, Family};

use super::faults::{Functions, RIGHT, refused};

/// Constants, variables and other functions.
const AROUND: &str = ".intel_syntax noprefix\n.section .note.GNU-stack,\"\",@progbits\n\
     .section .rodata\n.balign 32\ntable: .fill 64, 1, 7\noffsets: .long helper - offsets\n\
     .section .data.rel.ro, \"aw\"\npointers: .quad table + 4, helper\n\
     .data\n.type variable, @object\n.size variable, 8\nvariable: .quad 6\n.text\n.weak weak\n.type weak, @function\nweak: ret\n\
     .type helper, @function\nhelper: ret\n.size helper, . - helper\n\
     .globl hidden\n.hidden hidden\n.type hidden, @function\nhidden: xor eax, eax; ret\n\
     .globl main\n.type main, @function\nmain: xor eax, eax; ret\n";

/// A property of a linked file without which a function is not proved.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Needs {
    Nothing,
    /// Pointers that the loader writes once.
    Pointers,
    /// Calls that no other file can change.
    OwnCalls,
    /// Sections at fixed distances.
    Distances,
}

use Needs::{Distances, Nothing, OwnCalls, Pointers};

/// Code that is proved before the right function.
const PROVED: [(&str, Needs); 10] = [
    ("", Nothing),
    ("pxor xmm0, [rip + table + 32]; cmp byte ptr [rip + table], 7; je 1f; ud2; 1:", Nothing),
    ("mov rax, [rip + pointers]; cmp byte ptr [rax + 59], 7; je 1f; ud2; 1:", Pointers),
    ("sub rsp, 8; call [rip + pointers + 8]; add rsp, 8", Pointers),
    ("lea rax, [rip + table]; lea rcx, [rip + pointers]; sub rcx, rax; jne 1f; ud2; 1:", Distances),
    (
        "lea rax, [rip + offsets]; movsxd rcx, [rax]; add rax, rcx; push rdi; call rax; pop rdi",
        Nothing,
    ),
    (
        "push rbx; push r12; push r13; mov rbx, rdi; mov r12, rsi; mov r13, rdx; mov rdi, rdx; \
         mov esi, 7; mov edx, 8; call memset@PLT; mov rdi, rbx; mov rsi, r12; mov rdx, r13; \
         pop r13; pop r12; pop rbx",
        Nothing,
    ),
    ("sub rsp, 8; call hidden; mov rax, [rip + memset@GOTPCREL]; add rsp, 8", Nothing),
    ("push rdi; push rsi; push rdx; call f_0@PLT; pop rdx; pop rsi; pop rdi", Nothing),
    ("push rdi; call weak@PLT; pop rdi", OwnCalls),
];

/// Code that is refused.
const REFUSED: [(&str, Rule, &str); 6] = [
    ("cmp dword ptr [rip + variable], 7; je 1f; ud2; 1:", Rule::OutOfBounds, "no constants"),
    ("mov byte ptr [rip + table], 1", Rule::OutOfBounds, "writes to the object"),
    ("lea rax, [rip + table]; test al, 64; je 1f; 1:", Rule::Unsupported, "undefined"),
    ("lea rax, [rip + table]; mov ecx, [rax + 0x1000000]", Rule::OutOfBounds, "no constants"),
    ("lea rax, [rip + pointers]; jmp rax", Rule::Unsupported, "no code"),
    ("mov rax, [rdi]; jmp rax", Rule::SecretBranch, "depends on an input"),
];

/// Flags of the linker, and the properties of the files.
const LINKED: [(&[&str], &[Needs]); 9] = [
    (&["-c"], &[Pointers]),
    (&["-shared"], &[Pointers, Distances]),
    (&["-shared", "-Wl,-z,now", "-Wl,-s"], &[Pointers, Distances]),
    (&["-shared", "-Wl,-z,lazy"], &[Pointers, Distances]),
    (&["-shared", "-Wl,-z,noseparate-code"], &[Pointers, Distances]),
    (&["-shared", "-Wl,-z,pack-relative-relocs"], &[Pointers, Distances]),
    (&["-shared", "-Wl,-z,norelro"], &[Distances]),
    (&["-pie"], &[Pointers, OwnCalls, Distances]),
    (&["-no-pie"], &[OwnCalls, Distances]),
];

/// All functions as one text.
fn text() -> String {
    let mut text = AROUND.to_string();
    let proved = PROVED.iter().map(|(body, _)| body);
    for (at, body) in proved.chain(REFUSED.iter().map(|(body, ..)| body)).enumerate() {
        let body = format!("{body}; {RIGHT}").replace(';', "\n");
        let _ = writeln!(text, ".globl f_{at}\n.type f_{at}, @function\nf_{at}:\n{body}");
        let _ = writeln!(text, ".size f_{at}, . - f_{at}");
    }
    text
}

/// The file that a compiler makes of an assembly text with these flags; `None` where there is no
/// compiler, or where its linker lacks a flag.
fn made(text: &str, flags: &[&str]) -> Option<Vec<u8>> {
    compiled(text, "text.s", Family::Gcc, flags)
}

/// The same for a file of this name, by a compiler.
fn compiled(text: &str, name: &str, family: Family, flags: &[&str]) -> Option<Vec<u8>> {
    let machine = cc::find_native("gp64", family).map_err(|skip| println!("{skip}")).ok()?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file can be written");
    let made = folder.path().join("made");
    let output = machine.compile().args(flags).arg(&path).arg("-o").arg(&made).output();
    let output = output.expect("the compiler runs");
    let error = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        assert!(error.contains("nrecognized") || error.contains("unknown"), "{flags:?}: {error}");
        println!("skipped: the linker lacks {flags:?}");
        return None;
    }
    Some(std::fs::read(made).expect("it has been made"))
}

#[test]
fn functions_of_linked_files_are_proved() {
    for (flags, has) in LINKED {
        let Some(file) = made(&text(), flags) else { continue };
        let object = Object::read(&file, Extensions::ALL).expect("a linked file");
        let functions = Functions::of_object(object);
        let mut hints = 0;
        for (at, (body, needs)) in PROVED.iter().enumerate() {
            let answer = functions.ask(at, Demands::default(), false);
            let is_proved = matches!(answer, Verdict::Proved(_));
            let expected = *needs == Nothing || has.contains(needs);
            assert_eq!(is_proved, expected, "{flags:?} {body}: {answer:?}");
            hints += usize::from(matches!(answer, Verdict::Refused(f) if f.what.contains("-pie")));
        }
        assert_eq!(hints > 0, flags.contains(&"-no-pie"), "{flags:?}");
        for (at, (body, rule, words)) in REFUSED.iter().enumerate() {
            let answer = functions.ask(PROVED.len() + at, Demands::default(), false);
            assert!(refused(&answer, *rule, words), "{flags:?} {body}: {answer:?}");
        }
        let variable = functions.object.variable("variable");
        assert_eq!(variable.is_some(), !flags.contains(&"-Wl,-s"));
    }
}

/// The functions with their sizes and whether other files can call them, and the undefined names.
#[test]
fn functions_are_listed() {
    let text = ".globl a, b, c\n.hidden c\n.type a, @function\n.type b, @function\n\
                .type c, @function\n.type c.cold, @function\na: b: ret\nc: call d@PLT\n\
                c.cold: ret\n.size a, 1\n.size b, 1\n.size c, 5\n.size c.cold, 1\n\
                .section .note.GNU-stack,\"\",@progbits\n";
    for flags in [["-c"], ["-shared"]] {
        let Some(file) = made(text, &flags) else { return };
        let object = Object::read(&file, Extensions::ALL).expect("an object");
        let own = object.functions().iter().filter(|function| !function.name.starts_with('_'));
        let own: Vec<_> = own.filter(|function| function.name.len() < 7).collect();
        let found = own.iter().map(|f| (&*f.name, f.size, f.is_exported));
        let expected = [("a", 1, true), ("b", 1, true), ("c", 5, false), ("c.cold", 1, false)];
        assert_eq!(found.collect::<Vec<_>>(), expected, "{flags:?}");
        assert_eq!([own[0].place, own[0].place + 6], [own[1].place, own[3].place]);
        assert!(object.undefined().contains(&"d"), "{:?}", object.undefined());
    }
}

/// An archive of these members, as `ar` writes it.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let (name, size) = (format!("{name}/"), bytes.len());
        let header = format!("{name:16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
        archive.extend([header.as_bytes(), bytes].concat());
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
}

#[test]
fn archives_have_members() {
    let Some(file) = made(&text(), &["-c"]) else { return };
    let two = archive(&[("a.o", &file), ("b.o", &file)]);
    let members = elf::members(&two).expect("an archive");
    assert_eq!(members, [("a.o".to_string(), file.clone()), ("b.o".to_string(), file.clone())]);
    assert_eq!(elf::members(&file), Ok(vec![(String::new(), file.clone())]));
    for (wrong, words) in [
        (archive(&[]), "has no objects"),
        (archive(&[("a.o", b"BC\xc0\xde")]), "`a.o` of the archive is bitcode"),
        (b"!<thin>\n".to_vec(), "is thin"),
        (two[..100].to_vec(), "cannot be read"),
    ] {
        assert!(elf::members(&wrong).is_err_and(|error| error.contains(words)), "{words}");
    }
}

/// Functions with all kinds of calls. Each has another size, so that none is folded.
const CALLS: &str = "
#define KEPT __attribute__((noinline, noclone, noipa))
typedef int function(int);
KEPT static int leaf(int x) { __asm__(\"nop\"); return x + 1; }
KEPT static int tail(int x) { __asm__(\"nop; nop\"); return leaf(x * 3); }
KEPT static int in_table(int x) { __asm__(\"nop; nop; nop\"); return x ^ 5; }
KEPT static int in_data(int x) { __asm__(\"nop; nop; nop; nop\"); return x ^ 6; }
KEPT static int in_code(int x) { __asm__(\"nop; nop; nop; nop; nop\"); return x ^ 7; }
KEPT static int again(int x) { return x > 9 ? again(x - 1) + again(x - 2) : x; }
KEPT int exported(int x) { return leaf(x) + 2; }
static function *const table[] = { in_table, in_data };
function *data = in_data;
function *volatile cell;
KEPT int entry(int x, int y)
{
    cell = in_code;
    switch (x) {
    case 0: return again(y);
    case 1: return tail(y) + 1;
    case 2: return exported(y);
    case 3: return cell(y);
    case 4: return table[y & 1](y) + 3;
    case 5: return 77;
    default: return 2;
    }
}
int main(void) { return entry(1, 2) + data(2); }
";

/// The callers of functions, in the files that compilers and linkers make of a text.
#[test]
fn callers_are_known() {
    let open = ["in_table", "in_data", "in_code", "exported", "entry"];
    let closed: [(&str, &[&str]); 3] =
        [("leaf", &["exported", "tail"]), ("tail", &["entry"]), ("again", &["again", "entry"])];
    for family in [Family::Gcc, Family::Clang] {
        for flags in [
            &["-O2", "-c"][..],
            &["-O2", "-c", "-fPIC", "-ffunction-sections"],
            &["-Os", "-c", "-fno-pie"],
            &["-O2", "-shared", "-fPIC"],
            &["-O2", "-pie", "-fPIE"],
            &["-O2", "-no-pie", "-fno-pie"],
        ] {
            let Some(file) = compiled(CALLS, "text.c", family, flags) else { continue };
            let object = Object::read(&file, Extensions::ALL).expect("an object");
            let graph = CallGraph::new(&object);
            let names = |places: &BTreeSet<u64>| -> Vec<String> {
                let mut names: Vec<_> = places.iter().map(|&place| object.name(place)).collect();
                names.sort();
                names
            };
            let callers = |name: &str| graph.callers(object.function(name).expect(name));
            for name in open {
                assert!(callers(name).is_err(), "{name} {family:?} {flags:?}");
            }
            for (name, expected) in closed {
                match callers(name) {
                    Ok(found) => assert_eq!(names(&found), expected, "{name} {family:?} {flags:?}"),
                    Err(reason) => {
                        let is_fixed = reason.contains("fixed") && flags.contains(&"-no-pie");
                        assert!(is_fixed, "{name} {family:?} {flags:?}: {reason}");
                    }
                }
            }
            let calls = |name: &str| graph.calls(object.function(name).expect(name)).expect(name);
            assert!(calls("entry").is_indirect && !calls("tail").is_indirect);
            assert_eq!(names(&calls("tail").direct), ["leaf"], "{family:?} {flags:?}");
        }
    }
}

/// Code runs from one function into another that overlaps it: neither has all its callers here.
#[test]
fn overlapping_functions_have_other_callers() {
    let functions = [("outer", 4), ("inner", 1), ("apart", 1), ("f", 11)];
    let kinds =
        functions.map(|(name, size)| format!(".type {name}, @function\n.size {name}, {size}\n"));
    let text = "outer: nop\ninner: nop\nnop\nret\napart: ret\n.globl f\nf: call outer\ncall apart\nret\n\
                .section .note.GNU-stack,\"\",@progbits\n";
    let Some(file) = made(&(kinds.concat() + text), &["-c"]) else { return };
    let object = Object::read(&file, Extensions::ALL).expect("an object");
    let graph = CallGraph::new(&object);
    let callers = |name: &str| graph.callers(object.function(name).expect(name));
    for name in ["outer", "inner"] {
        assert_eq!(callers(name), Err("it overlaps another function"));
    }
    assert_eq!(callers("apart").map(|callers| callers.len()), Ok(1));
}

/// Damaged files are errors, or other files: nothing panics.
#[test]
fn damaged_files_are_read_without_panics() {
    let [Some(object), Some(shared)] = [&["-c"], &["-shared"]].map(|flags| made(&text(), flags))
    else {
        return;
    };
    let mut random = Random::new(11);
    let (mut errors, mut verdicts) = (0, 0);
    for file in [&archive(&[("a.o", &object)]), &shared] {
        for round in 0..400 {
            let mut damaged = file.clone();
            for _ in 0..1 + random.below(4) {
                // Half of the damage is in headers and the first tables.
                let end = if round % 2 == 0 { 1024 } else { file.len() };
                damaged[random.below(end)] = random.word() as u8;
            }
            if round % 8 == 7 {
                damaged.truncate(random.below(file.len()));
            }
            let read = elf::members(&damaged)
                .and_then(|members| Object::read(&members[0].1, Extensions::ALL));
            let Ok(object) = read else {
                errors += 1;
                continue;
            };
            let _ = CallGraph::new(&object);
            let functions = Functions::of_object(object);
            for at in 0..PROVED.len() {
                functions.ask(at, Demands::default(), false);
                verdicts += 1;
            }
        }
    }
    assert!(errors > 100 && verdicts > 1000, "{errors} errors, {verdicts} verdicts");
}
