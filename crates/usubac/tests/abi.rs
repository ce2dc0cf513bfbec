//! `--abi usubac`: the prototypes, headers and flags of the OCaml compiler.

use std::fs;
use std::path::Path;
use std::process::Command;

const KEYED: &str = "node f (a:u16x4, k:const u16) returns (b:u16x4) let b = a ^ (k,k,k,k) tel";

/// Status, standard output and standard error of `usubac ARGS` in `dir`.
fn usubac(dir: &Path, args: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(args.split_whitespace())
        .current_dir(dir)
        .output()
        .expect("usubac runs");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The C text of a program behind the interface of the OCaml compiler.
fn compiled(program: &str, flags: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("f.ua"), program).expect("written");
    let (status, text, messages) = usubac(dir.path(), &format!("f.ua --abi usubac -o - {flags}"));
    assert_eq!(status, Some(0), "{flags}: {messages}");
    text
}

/// The prototype of the entry, and the width of `DATATYPE`.
fn prototype(text: &str) -> (&str, &str) {
    let line = text.lines().rev().find(|line| line.starts_with("void ")).expect("a function");
    let width = text.lines().find_map(|line| line.strip_prefix("#define BITS_PER_REG "));
    (line.trim_end_matches(';'), width.expect("a width"))
}

#[test]
fn prototypes_keep_shapes_and_names() {
    for (program, flags, wanted, width) in [
        (KEYED, "-V", "void f__ (DATATYPE a__[4], DATATYPE k__, DATATYPE b__[4])", "16"),
        (
            KEYED,
            "-B",
            "void f__ (DATATYPE a__[4][16], DATATYPE k__[16], DATATYPE b__[4][16])",
            "64",
        ),
        (
            KEYED,
            "-B --bits-per-reg 32",
            "void f__ (DATATYPE a__[4][16], DATATYPE k__[16], DATATYPE b__[4][16])",
            "32",
        ),
        (
            KEYED,
            "-B --target std -bits-per-reg 8",
            "void f__ (DATATYPE a__[4][16], DATATYPE k__[16], DATATYPE b__[4][16])",
            "8",
        ),
        (
            KEYED,
            "-V --interleave-grain 1 --interleave 2",
            "void f__ (DATATYPE a__[4], DATATYPE a____2[4], DATATYPE k__, DATATYPE b__[4], \
             DATATYPE b____2[4])",
            "16",
        ),
        (
            KEYED,
            "-V --interleave 2",
            "void f__ (DATATYPE a__[4], DATATYPE k__, DATATYPE b__[4])",
            "16",
        ),
        (
            "node f (a:b4[2][3]) returns (b:b4) let b = a[1][2] tel",
            "-B --target sse",
            "void f__ (DATATYPE a__[2][3][4], DATATYPE b__[4])",
            "128",
        ),
        (
            "node f' (a:u32) returns (b:u32) let b = ~a tel",
            "-V --target avx512 --prefix my_",
            "void my_f____ (DATATYPE a__, DATATYPE *b__)",
            "512",
        ),
        (
            "perm p (x:b4) returns (y:b4) {4,3,2,1}",
            "-B",
            "void p__ (DATATYPE x__[4], DATATYPE y__[4])",
            "64",
        ),
    ] {
        let text = compiled(program, flags);
        assert_eq!(prototype(&text), (wanted, width), "{flags}");
        let header = compiled(program, &format!("{flags} --emit h"));
        assert_eq!(prototype(&header), (wanted, width), "header, {flags}");
    }
}

#[test]
fn nodes_that_are_not_inlined_stay_functions_before_their_caller() {
    let text = compiled(
        "node g (x:u8) returns (y:u8) let y = x tel node f (a:u8) returns (b:u8) let b = ~g(a) tel",
        "-V --inline none -O 0",
    );
    // The entry is the only name that the linker sees; the OCaml compiler said `g__V8`.
    let callee = text.find("_n_g_qV8(").expect("the node is a function");
    let call = text.rfind("_n_g_qV8(").expect("it is called");
    let entry = text.find("\nvoid f__ (DATATYPE a__, DATATYPE *b__)\n").expect("the entry");
    assert!(callee < call && call < entry, "{text}");
}

/// The sixteen bytes of each byte shuffle of a text, element 0 first.
fn shuffles(text: &str) -> Vec<Vec<u8>> {
    let number = |text: &str| {
        let digits = text.trim().trim_start_matches("(long long)").trim_start_matches("0x");
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text} is a number"))
    };
    let calls = text.match_indices("_mm_shuffle_epi8(").map(|(at, _)| &text[at..]);
    calls
        .map(|call| {
            let (_, list) = call.split_once("_mm_set_epi64x(").expect("a literal pattern");
            let (high, rest) = list.split_once(", ").expect("two halves");
            let low = rest.split("))").next().expect("the end of the list");
            [number(low), number(high)].iter().flat_map(|half| half.to_le_bytes()).collect()
        })
        .collect()
}

#[test]
fn word_rotations_and_shifts_in_h_are_one_shuffle() {
    let rotated =
        compiled("node f (a:u<H>16) returns (b:u<H>16) let b = a <<< 1 tel", "-V --target sse");
    let mut wanted: Vec<u8> = (1..16).collect();
    wanted.push(0);
    assert_eq!(shuffles(&rotated), [wanted.clone()], "{rotated}");
    let shifted = compiled("node f (a:u16) returns (b:u16) let b = a << 1 tel", "-H --target sse");
    let found = shuffles(&shifted);
    // An index with its top bit set gives zero.
    assert_eq!((found.len(), &found[0][..15]), (1, &wanted[..15]), "{shifted}");
    assert!(found[0][15] >= 0x80, "{shifted}");
}

#[test]
fn headers_are_written_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    assert_eq!(usubac(dir.path(), "generate headers -o made/here").0, Some(0));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/usubac");
    let mut names = Vec::new();
    for entry in fs::read_dir(&source).expect("the headers") {
        let name = entry.expect("an entry").file_name();
        let read = |folder: &Path| fs::read_to_string(folder.join(&name)).expect("a header");
        assert_eq!(read(&dir.path().join("made/here")), read(&source), "{name:?}");
        names.push(name);
    }
    assert!(names.len() >= 5, "{names:?}");
    fs::write(dir.path().join("file"), "").expect("written");
    let (status, _, message) = usubac(dir.path(), "generate headers -o file");
    assert_eq!(status, Some(1));
    assert!(message.contains("cannot make file"), "{message}");
}

#[test]
fn includes_resolve_from_any_directory() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("inside of the folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let node = |name: &str| format!("node {name} (x:u8) returns (y:u8) let y = ~x tel");
    write("p/nested.ua", &format!("include \"lib/b.ua\" {}", node("f")));
    write("p/lib/b.ua", "include \"c.ua\"");
    write("p/lib/c.ua", &node("c"));
    write("p/twice.ua", &format!("include \"one.ua\" include \"two.ua\" {}", node("f")));
    write("p/one.ua", "include \"both.ua\"");
    write("p/two.ua", "include \"both.ua\"");
    write("p/both.ua", &node("d"));
    write("p/itself.ua", &format!("include \"itself.ua\" {}", node("f")));
    for (file, wanted) in [("p/nested.ua", 0), ("p/twice.ua", 0), ("p/itself.ua", 1)] {
        let (status, text, messages) = usubac(dir.path(), &format!("{file} --abi usubac -V -o -"));
        assert_eq!(status, Some(wanted), "{file}: {messages}");
        assert_eq!(text.contains("void f__ (DATATYPE x__"), wanted == 0, "{file}");
        assert_eq!(messages.contains("includes itself"), wanted == 1, "{file}: {messages}");
    }
}

/// Drivers of the OCaml compiler cut their input by this number, which is no register width.
#[test]
fn chunks_are_as_long_as_in_the_original() {
    let dir = tempfile::tempdir().expect("a folder");
    assert_eq!(usubac(dir.path(), "generate headers -o .").0, Some(0));
    for (file, chunk) in [("STD.h", 64), ("SSE.h", 256), ("AVX.h", 1024), ("AVX512.h", 4096)] {
        let text = fs::read_to_string(dir.path().join(file)).expect("a header");
        assert!(text.contains(&format!("#define CHUNK_SIZE {chunk}\n")), "{file}");
    }
}

#[test]
fn flags_of_no_use_are_warnings_and_masks_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("f.ua"), KEYED).expect("written");
    for (flags, wanted, said) in [
        ("-B --target std -no-arr -no-share", 0, "`-no-arr` is ignored"),
        ("-V -bits-per-reg 8", 0, "`-bits-per-reg` below 32 is ignored"),
        ("-V -ua-masked", 2, "help: remove `-ua-masked` for code without masks"),
        ("-B -shares 4", 2, "`-shares` asks for masked code"),
        ("-V --data-bits 8", 2, "--data-bits 8 is for bitsliced code"),
        ("-B --target sse --data-bits 8", 2, "--data-bits 8 is for bitsliced code"),
        ("-B --data-bits 9", 2, "8 or 16"),
    ] {
        let (status, _, messages) = usubac(dir.path(), &format!("f.ua --abi usubac -o - {flags}"));
        assert_eq!(status, Some(wanted), "{flags}: {messages}");
        assert!(messages.contains(said), "{flags}: {messages}");
        assert_eq!(messages.matches("error").count(), usize::from(wanted > 0), "{messages}");
    }
    let (status, _, messages) = usubac(dir.path(), "f.ua -B -o - --data-bits 8");
    assert!(status == Some(2) && messages.contains("without --abi usubac"), "{messages}");
}
