//! `usubac dist` on the command line; `usuba-library` tests its output.

use std::path::Path;
use std::process::Command;

/// Status, standard output and standard error of `usubac dist` in `folder`.
fn dist(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ciphers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let ours = [Path::new("--ciphers"), &ciphers];
    let ours = if arguments.contains(&"--ciphers") { &[][..] } else { &ours };
    let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .arg("dist")
        .args(ours)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("usubac runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn files_are_where_they_were_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let targets = ["--target", "gp64"];
    let run = |arguments: &[&str]| dist(path, &[arguments, &targets].concat());
    assert_eq!(run(&["gimli"]).0, Some(0));
    assert_eq!(run(&["gimli", "--output", "sub/mine.c", "--prefix", "my_"]).0, Some(0));
    assert_eq!(run(&["gimli", "--kind=library", "--output", "lib"]).0, Some(0));
    for file in [
        "usuba_gimli.c",
        "usuba_gimli.h",
        "usuba_gimli.manifest.toml",
        "sub/mine.manifest.toml",
        "lib/CMakeLists.txt",
        "lib/include/usuba.h",
        "lib/usuba.manifest.toml",
    ] {
        assert!(path.join(file).is_file(), "{file}");
    }
    let text = std::fs::read_to_string(path.join("sub/mine.c")).expect("it is written");
    assert!(text.contains("#include \"mine.h\"") && text.contains("my_gimli_permute("));
    assert!(!text.contains("usuba_"), "another prefix");
    let again = path.join("again");
    assert_eq!(run(&["gimli", "--output", "again"]).0, Some(0));
    let read = |path: &Path| std::fs::read(path.join("usuba_gimli.c")).expect("it is written");
    assert_eq!(read(path), read(&again), "the same flags give the same bytes");
}

#[test]
fn a_crate_has_its_names_and_is_always_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let run = |to: &str, more: &[&str]| {
        let arguments =
            [&["gimli", "--target", "gp64", "--kind=rust", "--output", to], more].concat();
        assert_eq!(dist(path, &arguments).0, Some(0));
    };
    run("one", &[]);
    run("two", &[]);
    run("mine", &["--prefix", "my_"]);
    let read = |file: &str| std::fs::read_to_string(path.join(file)).expect("it is written");
    let files = ["Cargo.toml", "build.rs", "src/gimli.rs", "src/ffi/gimli.rs", "c/src/layout.c"];
    for file in files {
        assert_eq!(read(&format!("one/{file}")), read(&format!("two/{file}")), "{file}");
        assert!(!read(&format!("mine/{file}")).contains("usuba_"), "{file}: another prefix");
    }
    assert!(read("one/src/gimli.rs").contains("pub fn gimli(states: &mut"));
    assert!(read("mine/Cargo.toml").contains("name = \"my-ciphers\""));
    assert!(read("mine/src/ffi/gimli.rs").contains("fn my_gimli_permute("));
}

#[test]
fn some_functions_of_a_cipher_and_their_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |more: &[&str]| {
        let all = [&["chacha20", "--target", "gp64", "--function"], more].concat();
        dist(folder.path(), &all)
    };
    let (status, out, text) = run(&["chacha8", "--sizes", "-o", "it.c"]);
    assert_eq!((status, &*out), (Some(0), ""));
    let rows: Vec<&str> = text.lines().filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(rows, ["./it.c", "kB of C", "chacha8_block V", "shared", "keys", "modes", "total"]);
    let header = std::fs::read_to_string(folder.path().join("it.h")).expect("it is written");
    assert!(header.contains("usuba_chacha8_key_size(void)") && !header.contains("chacha20_key"));
    let (status, _, text) = run(&["chacha9"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("`chacha20` has no function \"chacha9\"; help: did you mean"), "{text}");
    let several = ["chacha20", "gimli", "--function", "chacha8"];
    let (status, _, text) = dist(folder.path(), &several);
    assert_eq!(status, Some(2));
    assert!(text.contains("--function takes functions of one cipher"), "{text}");
}

#[test]
fn ladders_are_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let (status, text, _) = dist(folder.path(), &["gimli", "--ladders", "--target", "gp64"]);
    assert_eq!(status, Some(0));
    assert!(text.starts_with("gimli on gp64\n  from    1  V gp64, 2 at once\n"), "{text}");
}

#[test]
fn costs_are_measured_on_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let own = path.join("gimli");
    std::fs::create_dir(&own).expect("a folder");
    let cipher = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/gimli");
    for file in ["gimli.ua", "cipher.toml"] {
        std::fs::copy(cipher.join(file), own.join(file)).expect("it is there");
    }
    let targets = ["--target", "gp64"];
    let run = |what: &str| dist(path, &[&["--ciphers", ".", what, "gimli"][..], &targets].concat());
    assert!(run("--ladders").1.contains("not measured"));
    let (status, _, errors) = run("--measure");
    assert_eq!(status, Some(0), "{errors}");
    let costs = std::fs::read_to_string(own.join("costs.toml")).expect("it is written");
    assert!(costs.contains("target   = \"gp64\"\n"), "{costs}");
    let (_, text, _) = run("--ladders");
    assert!(!text.contains("not measured"), "{text}");
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, status, message) in [
        (&["gimli", "--target", "mmx"][..], 2, "the targets are gp64"),
        (&["gimli", "xoodoo", "--output", "a.c"], 2, "there are several ciphers"),
        (&["gimli", "--prefix", ""], 2, "at least one letter"),
        (&["gimli", "--prefix", "1"], 2, "a prefix"),
        (&["enigma"], 1, "usubac has a cipher \"enigma\"; help: there are ace, aes, "),
        (&["aes129"], 1, "did you mean `aes128`?"),
        (&["gimli", "--output", "a\"b.c"], 2, "found the file name"),
        (&["gimli", "--ciphers", "nowhere"], 1, "nowhere"),
        (&[], 2, "no cipher to write"),
    ] {
        let (code, _, errors) = dist(folder.path(), arguments);
        assert_eq!(code, Some(status), "{arguments:?}: {errors}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "something was written");
}

/// A function with special instructions alone has no code elsewhere; the wide form of a hash function
/// is left out there.
#[test]
fn targets_without_a_function_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    std::fs::create_dir(&own).expect("the folder is ours");
    let files = [
        ("own.ua", "node own (x:u8x16) returns (y:u8x16) let y = ~x tel\n"),
        (
            "own.txt",
            "# source: the program\nin = 00112233445566778899aabbccddeeff\nout = ffeeddccbbaa99887766554433221100\n",
        ),
        (
            "cipher.toml",
            "title = \"Own\"\nspec = \"none\"\nsource = \"own.ua\"\n[[function]]\nname = \"own\"\n\
             node = \"own\"\nslicings = [\"V\"]\ntargets = [\"avx2_gfni\"]\n\
             input = { param = \"x\", bytes = \"be\" }\noutput = { param = \"y\", bytes = \"be\" }\n\
             vectors = \"own.txt\"\ndirection = \"permute\"\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(own.join(name), text).expect("the folder is ours");
    }
    let (code, _, errors) = dist(folder.path(), &["./own", "--target", "gp64", "-o", "out"]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("no function that computes `own` for gp64"), "{errors}");
    assert!(!folder.path().join("out").exists(), "something was written");
    let gcm = ["aes_gcm", "--function", "aes128_gcm", "--target"];
    for (target, is_wide) in [("gp64", false), ("avx2", true)] {
        let arguments = [&gcm[..], &[target, "-o", "gcm.c"]].concat();
        let (code, _, errors) = dist(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{errors}");
        let text = std::fs::read_to_string(folder.path().join("gcm.c")).expect("it is written");
        assert_eq!(text.contains("usuba_ghash_absorb8_chaining"), is_wide, "{target}");
    }
}

#[test]
fn a_function_names_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = dist(folder.path(), &["rectangle80", "rectangle", "--target", "gp64"]);
    assert_eq!(run.0, Some(0), "{}", run.2);
    assert!(folder.path().join("usuba_rectangle.c").is_file());
}

#[test]
fn wrong_vectors_stop_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("rectangle");
    std::fs::create_dir_all(own.join("vectors")).expect("a folder");
    let cipher = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
    let files =
        ["cipher.toml", "rectangle.ua", "vectors/rectangle80.txt", "vectors/rectangle128.txt"];
    for file in files {
        let text = std::fs::read_to_string(cipher.join(file)).expect("it is there");
        std::fs::write(own.join(file), text.replace("out = 2d", "out = 2e")).expect("written");
    }
    for form in [
        &["--output", "out"][..],
        &["--kind=library", "--output", "out"],
        &["--kind=rust", "--output", "out"],
    ] {
        let arguments = [&["rectangle", "--ciphers", ".", "--target", "gp64"], form].concat();
        let (code, _, errors) = dist(folder.path(), &arguments);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("rectangle80.txt:2: block 0 of `rectangle80_encrypt`"), "{errors}");
        assert!(!folder.path().join("out").exists(), "something was written");
    }
}
