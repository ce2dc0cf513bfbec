//! Texts that no one would write: one clear answer, no panic, in seconds, in bounded memory.
//!
//! Each text is made here. Time is processor time where the system tells it, because test machines
//! are busy.

use std::path::Path;
use std::time::{Duration, Instant};

use filetests::descriptions::{any_description, mutated};
use filetests::{compile, engines, flags::Flags};
use usuba::diag::{Diagnostic, Sources};
use usuba::ir::Slicing;
use usuba::syntax::splice::NoIncludes;
use usuba_gen::Choices;
use usuba_library::Manifest;
use usuba_prove::{arithmetic_folder, cache, certificate};

const LIMIT: Duration = Duration::from_secs(20);

/// How long this thread has been computing; where that is unknown, how long it has existed.
fn busy(start: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|word| word.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Compiles through all stages, in V; the findings if it is refused.
fn compile(text: &str) -> Result<(), Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let root = sources.add("robust.ua", text);
    let mut options = Flags::default().options(Slicing::V);
    let mut ran = Ok(());
    for slicing in [Slicing::V, Slicing::B] {
        options.slicing = slicing;
        let output = usuba::compile(&mut sources, root, &mut NoIncludes, &options, &mut |_, _| ());
        ran = ran.and(output.map(|_| ()));
    }
    ran
}

/// Compiles on a thread with the stack that a main thread has on common systems, and measures.
fn timed(name: &str, text: String) -> Result<(), String> {
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let (answer, time) = thread
        .spawn(move || {
            let start = Instant::now();
            let answer = compile(&text).map_err(|found| {
                let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.is_error()).collect();
                assert!(!errors.is_empty(), "refused without an error");
                assert!(errors.len() <= 100, "{} errors", errors.len());
                for d in &errors {
                    assert!(d.message.len() < 400, "a message of {} bytes", d.message.len());
                }
                errors[0].code.as_str().to_string()
            });
            (answer, busy(start))
        })
        .expect("a thread")
        .join()
        .unwrap_or_else(|_| panic!("{name}: a panic"));
    assert!(time < LIMIT, "{name}: {time:?}");
    println!("{name}: {answer:?} in {time:.1?}");
    answer
}

/// The program must be refused by an error with this code.
#[track_caller]
fn refused(name: &str, code: &str, text: String) {
    assert_eq!(timed(name, text), Err(code.to_string()), "{name}");
}

fn node(body: &str) -> String {
    format!("node f (x:u8) returns (y:u8)\nlet\n  {body}\ntel\n")
}

#[test]
fn nesting() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        node(&format!("y = {}{inner}{}", open.repeat(depth), close.repeat(depth)))
    };
    refused("parentheses", "U0801", nested("(", "x", ")", 100_000));
    refused("unclosed parentheses", "U0801", nested("(", "x", "", 100_000));
    refused("negations", "U0801", nested("~", "x", "", 100_000));
    refused("calls of refresh", "U0801", nested("refresh(", "x", ")", 100_000));
    refused("tuples", "U0801", nested("(x, ", "x", ")", 100_000));
    refused(
        "an index",
        "U0801",
        node(&format!("y = x << {}1{}", "(".repeat(9999), ")".repeat(9999))),
    );
    refused("a long index", "U0801", node(&format!("y = x << 1{}", " + 1".repeat(100_000))));
    let loops = "forall i in [0,1] { ".repeat(10_000) + "y := x " + &"}".repeat(10_000);
    refused("loops", "U0801", node(&loops));
    let legal = |depth| node(&format!("y = {}x{}", "(".repeat(depth), ")".repeat(depth)));
    assert_eq!(timed("some parentheses", legal(150)), Ok(()));
}

#[test]
fn chains_of_calls() {
    let chain = |count: usize, body: &str| {
        let mut text = "node f0 (x:u8) returns (y:u8) let y = ~x tel\n".to_string();
        for i in 1..count {
            let body = body.replace("PREVIOUS", &format!("f{}", i - 1));
            text += &format!("node f{i} (x:u8) returns (y:u8) let y = {body} tel\n");
        }
        text
    };
    refused("twice the node before", "U0802", chain(60, "PREVIOUS(PREVIOUS(x))"));
    refused("twice side by side", "U0802", chain(60, "PREVIOUS(x) ^ PREVIOUS(~x)"));
    refused("twice in a loop of one node", "U0802", {
        let body =
            "x tel\nnode gI (x:u8) returns (y:u8) let forall i in [0,9] { x := PREVIOUS(x) } y = x";
        let mut text = chain(1, "");
        for i in 1..30 {
            let one = body.replace("PREVIOUS", &format!("f{}", i - 1));
            let one = one.replace("x tel\nnode gI", &format!("node f{i}"));
            text += &format!("{one} tel\n");
        }
        text
    });
    refused("a chain of calls", "U0801", chain(5000, "PREVIOUS(x)"));
    assert_eq!(timed("a short chain", chain(100, "PREVIOUS(x)")), Ok(()));
}

#[test]
fn loops() {
    let body = |head: &str| node(&format!("{head} {{ y := x }}"));
    refused("a long loop", "U0802", body("forall i in [0, 4000000000]"));
    refused("the longest loop", "U0802", body("forall i in [0, 9223372036854775807]"));
    refused("a long loop downwards", "U0802", body("forall i in [4000000000, 0]"));
    refused("bounds above 2^63", "U0802", body("forall i in [0, 18446744073709551615]"));
    refused("nested loops", "U0802", {
        let head = "forall a in [0,9999] { forall b in [0,9999] { forall c in [0,9999]";
        node(&format!("{head} {{ y := x }} }} }}"))
    });
    refused("a long loop around nothing", "U0802", {
        let inner = "forall j in [0,0] { y := x }";
        node(&format!("forall i in [0,4000000000] {{ {inner} }}"))
    });
    refused("arithmetic beyond 64 bits", "U0802", node("y = x << 9223372036854775807 + 1"));
    refused("the smallest number divided by -1", "U0802", {
        node("y = x << (0 - 9223372036854775807 - 1) / (0 - 1)")
    });
    assert_eq!(timed("a large amount", node("y = x << 9223372036854775807")), Ok(()));
    assert_eq!(timed("a large rotation", node("y = x <<< 9223372036854775807")), Ok(()));
}

#[test]
fn types() {
    let with = |ty: &str| format!("node f (x:{ty}) returns (y:{ty}) let y = x tel\n");
    refused("a huge array", "U0802", with("u8[4000000000]"));
    refused("a huge vector", "U0802", with("u8x4000000000"));
    refused("a huge product", "U0802", with("u8[65536][65536][65536][65536][65536]"));
    refused("an array beyond 2^64", "U0802", with("u8[18446744073709551615]"));
    refused("a huge word", "U0312", with("u4000000000"));
    refused("many large variables", "U0802", {
        let locals: Vec<String> = (0..400).map(|i| format!("t{i}:u8[1000000]")).collect();
        format!("node f (x:u8) returns (y:u8) vars {} let y = x tel\n", locals.join(", "))
    });
    refused("a huge table", "U0802", "table t (x:b40) returns (y:b1) { 0, 1 }\n".to_string());
    refused("a huge selection", "U0802", {
        let list = vec!["0"; 3000].join(",");
        let text = "node f (x:u8[2][2][2]) returns (y:u8) vars t:u8 let t = x[L][L][L]; y = t tel";
        text.replace('L', &list)
    });
}

#[test]
fn long_texts() {
    let many: String =
        (0..100_000).map(|i| format!("node f{i} (x:u8) returns (y:u8) let y = ~x tel\n")).collect();
    assert_eq!(timed("100000 nodes", many), Ok(()));
    let lines = "  x := x ^ 0x5a;\n".repeat(10_000_000 / 18);
    let text = format!("node f (x:u8) returns (y:u8)\nlet\n{lines}  y = x\ntel\n");
    let answer = timed("10 MB of equations", text);
    assert!(answer.is_ok() || answer == Err("U0802".into()), "{answer:?}");
    assert_eq!(
        timed("10 MB of comment", format!("#{}\n{}", "x".repeat(10_000_000), node("y = x"))),
        Ok(())
    );
    refused("10 MB of one name", "U0802", node(&format!("y = {}", "x".repeat(10_000_000))));
    refused("10 MB of digits", "U0102", node(&format!("y = {}", "1".repeat(10_000_000))));
    let many: String = (0..20_000).map(|i| format!("x{i}, ")).collect();
    refused("20000 names that are close to each other", "U0201", {
        format!("node f ({many} x:u8) returns (y:u8) let y = z1 ^ z2 ^ z3 tel\n")
    });
}

#[test]
fn texts_that_are_no_programs() {
    refused("an empty file", "U0207", String::new());
    refused("blanks", "U0207", " \t\r\n".repeat(1000));
    refused("an end marker", "U0207", "__END__ node".to_string());
    let bytes: String =
        (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 as char).collect();
    assert!(timed("binary bytes", bytes).is_err());
    assert!(timed("zeros", "\0".repeat(100_000)).is_err());
    assert!(timed("quotes", "\"".repeat(100_000)).is_err());
    assert!(timed("braces", "{[(<".repeat(100_000)).is_err());
    assert!(timed("keywords", "node table perm let tel vars forall in ".repeat(20_000)).is_err());
    assert!(timed("other scripts", "узел 節点 \u{1f600} ".repeat(10_000)).is_err());
    assert!(timed("an end in the middle", node("y = x")[..30].to_string()).is_err());
}

#[test]
fn every_prefix_of_a_program_has_an_answer() {
    let text = "table[] t (x:v2) returns (y:v2) [ { 0,1,2,3 } ; { 3,2,1,0 } ]\n\
                node g (x:u<'D>'m, n:nat) returns (y:u<'D>'m) let y = x <<< n tel\n\
                node f (x:u16x2[3], k:const b8) returns (y:u16x2, z:b8)\nvars s:u16x2[2]\nlet\n\
                  s[0] = x[0..1,][1]; forall i in [0,1] { s[i % 2] := t<i>(x[2]) ^ (5, 0x1F) }\n\
                  (y[0], y[1]) = (g(Shuffle(s[0][0], [1,0]), 3), Pack(1:u8, 2):u16); z = k{0} | ~3\ntel\n";
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        // Any answer must come without a panic.
        let _ = compile(&text[..end]);
        let _ = compile(&format!("{}{}", &text[..end], &text[(end + 1).min(text.len())..]));
    }
}

#[test]
fn large_legal_programs_run() {
    let text = "node f (x:u32[4]) returns (y:u32[4])\nvars s:u32[4][1001]\nlet\n\
                forall j in [0,3] { s[j][0] = x[j] }\n\
                forall i in [0,999] { forall j in [0,3] { s[j][i+1] = s[j][i] + s[(j+1) % 4][i] } }\n\
                forall j in [0,3] { y[j] = s[j][1000] }\ntel\n";
    let flags = Flags::default();
    let checked = compile::text(text, None, &flags).expect("a legal program");
    let want = engines::eval(&checked, &flags, &[1, 2, 3, 4]).expect("it runs");
    for engine in
        engines::engines(&checked, &flags, &engines::pipelines()[..1], true).expect("legal")
    {
        assert_eq!(engine.run(&[1, 2, 3, 4]), Ok(want.clone()), "{}", engine.name);
    }
}

/// A record; in `[[proof]]` it is a certificate.
const RECORD: &str = r#"program = "f.ua"
entry = "f"
slicing = "V"
reading = ""
flags = "--interleave 2"
source = "5a1f"
usuba0 = "09c3"
passes = 19
lanes = "9 operators"
engines = "tables"
contract = [{ node = "freeze", by = "intervals, cases" }]
object = [{ by = "gcc 14.2.0", flags = "-O3", symbol = "f", sha256 = "1b7e" }]
description = "00"
beside = [{ what = "g V avx2", usuba0 = "09c4" }]
"#;

/// The statement of a cache entry.
const STATEMENT: &str = r#"[statement]
build = "7f1d"
source = "5a1f"
program = "f.ua"
entry = "f"
reading = ""
flags = "--interleave 2"
slicing = "V"
target = "avx2"
direct = false
objects = ""
"#;

const MANIFEST: &str = r#"format = 1
version = "0.1.0"
form = "single"
package = "f"
prefix = "f_"
targets = ["gp64", "avx2"]
folders = ["f"]
[[file]]
path = "f.c"
sha256 = "00"
[dispatch]
cell = "f_choice"
[[dispatch.value]]
value = 1
target = "gp64"
features = []
[[unit]]
symbol = "f_V_gp64"
kind = "blocks"
folder = "f"
source = "f.ua"
node = "f"
slicing = "V"
target = "gp64"
[[struct]]
name = "f_key"
size = 4
align = 4
[[struct.field]]
name = "words0"
type = "uint32_t"
offset = 0
bytes = 4
secret = true
[[function]]
name = "f_hash"
returns = "int"
[[function.parameter]]
name = "in"
type = "const uint8_t **"
[function.parameter.memory]
bytes = "8 * count"
align = 8
each = "(lengths[i] + 3 * bits + 7) / 8"
access = "read"
secret = true
"#;

/// The corpus of the fuzz target `descriptions`, mutated by a fixed seed.
#[test]
fn mutated_descriptions_have_an_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = |name: &str| {
        let found = std::fs::read_dir(root.join(name)).expect("the folders").flatten();
        let mut paths: Vec<_> = found.map(|folder| folder.path()).collect();
        paths.sort();
        paths
    };
    let read = |path: &Path| std::fs::read_to_string(path).expect("it is there");
    let path = Path::new("some.toml");
    let certificate = format!("[[proof]]\n{RECORD}");
    let entry = format!("{STATEMENT}[record]\n{RECORD}");
    assert!(cache::parse(path, &entry).is_ok() && certificate::parse(path, &certificate).is_ok());
    assert!(Manifest::parse(path, MANIFEST).is_ok());
    let mut texts = vec![entry, certificate, MANIFEST.to_string()];
    for folder in folders("arithmetic").iter().filter(|folder| folder.is_dir()) {
        let text = read(&folder.join("targets.toml"));
        assert!(arithmetic_folder::parse(path, &text).is_ok(), "{}", folder.display());
        texts.push(text);
    }
    for folder in folders("ciphers") {
        let vectors = std::fs::read_dir(folder.join("vectors")).into_iter().flatten().flatten();
        let paths = vectors.map(|file| file.path()).take(2).chain([folder.join("cipher.toml")]);
        texts.extend(paths.map(|path| read(&path)));
    }
    for (seed, text) in texts.iter().enumerate() {
        let text: String = text.chars().take(3000).collect();
        let mut choices = Choices::from_seed(seed as u64);
        any_description(&text);
        (0..60).for_each(|_| any_description(&mutated(&text, &mut choices)));
    }
}
