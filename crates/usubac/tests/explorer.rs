//! `usubac explore`, and the module of its page: its answers are the outputs of the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use usuba_gen::asks;
use usuba_web::Session;

/// The parts of a page that `usubac explore` needs.
const PAGE: &str = concat!(
    "<!doctype html><meta name=\"usuba-version\" content=\"",
    env!("CARGO_PKG_VERSION"),
    "\"><script type=\"application/json\" id=\"program\">null</script>\n"
);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn usubac(folder: &Path, line: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_usubac");
    Command::new(program).args(line).current_dir(folder).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    place
}

/// The state in a page.
fn state(page: &str) -> Value {
    let state =
        page.split("id=\"program\">").nth(1).and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(state.expect("a place")).expect("JSON")
}

#[test]
fn a_page_has_the_program_with_its_includes_and_settings() {
    let main = "include \"parts/a.ua\"\nnode f (x:u8) returns (y:u8)\nlet y = g(x) tel\n";
    let part = "include \"../parts/b.ua\"\n# </script><script>alert(1)</script>\n";
    let place = folder(&[
        ("page.html", PAGE),
        ("f.ua", main),
        ("parts/a.ua", part),
        ("parts/b.ua", "node g (x:u8) returns (y:u8)\nlet y = ~x tel\n"),
    ]);
    let line = ["explore", "f.ua", "--page", "page.html", "-B", "--target", "avx512"];
    let output = usubac(place.path(), &line);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(place.path().join("f.html")).expect("a page");
    assert_eq!(page.matches("</script>").count(), 1, "{page}");
    let state = state(&page);
    assert_eq!(state["root"], "f.ua");
    assert_eq!(state["files"]["f.ua"], main);
    assert_eq!(state["files"]["parts/a.ua"], part);
    let names: Vec<&String> = state["files"].as_object().expect("files").keys().collect();
    assert_eq!(names, ["f.ua", "parts/a.ua", "parts/b.ua"]);
    let expected = json!({ "slicing": "B", "target": "avx512", "cpu": "generic" });
    assert_eq!(state["settings"], json!([expected]));
    // The page finds them by these names.
    let question = json!({ "ask": "compile", "settings": expected,
        "text": { "root": state["root"], "files": state["files"] } });
    let answer = ask(&mut Session::default(), &question);
    assert_eq!(answer["entry"], "f", "{answer}");
}

#[test]
fn a_function_of_a_cipher_is_a_program_too() {
    let place = folder(&[("page.html", PAGE)]);
    let line = ["explore", "rectangle80_encrypt", "--page", "page.html", "-o", "out.html"];
    let output = usubac(place.path(), &line);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let state = state(&fs::read_to_string(place.path().join("out.html")).expect("a page"));
    assert_eq!(
        (&state["root"], &state["settings"][0]["entry"]),
        (&json!("rectangle.ua"), &json!("encrypt"))
    );
}

#[test]
fn wrong_pages_and_programs_are_named() {
    let sound = "node f (x:u8) returns (y:u8)\nlet y = ~x tel\n";
    let old = PAGE.replace(env!("CARGO_PKG_VERSION"), "0.0.9");
    let place = folder(&[
        ("page.html", PAGE),
        ("old.html", &old),
        ("none.html", "<p>null</p>"),
        ("f.ua", sound),
        ("wrong.ua", "node f (x:u8) returns (y:u8)\nlet y = z tel\n"),
    ]);
    for (line, status, message) in [
        ("explore f.ua --page none.html", 1, "none.html is no page of the explorer"),
        ("explore f.ua --page old.html", 1, "is the explorer of usubac 0.0.9"),
        ("explore f.ua --page absent.html", 1, "absent.html"),
        ("explore wrong.ua --page page.html", 1, "U0201"),
        ("explore f.ua --page page.html --cpu hopper", 2, "does not fit"),
        ("explore f.ua --page page.html --keep-tables", 2, "--keep-tables"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = usubac(place.path(), &words);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{line}: {errors}");
        assert!(errors.contains(message), "{line}: {errors}");
    }
    let written = fs::read_dir(place.path()).expect("a folder").count();
    assert_eq!(written, 5, "no page is written");
}

fn ask(session: &mut Session, question: &Value) -> Value {
    let answer = session.answer(question.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert!(answer.get("refusal").is_none(), "{question}: {answer}");
    answer["answer"].clone()
}

/// A compilation of the page: a program of a cipher folder, and settings.
struct Compiled {
    folder: PathBuf,
    text: Value,
    settings: Value,
}

/// All functions of all cipher folders in each of their slicings, on a target by turns.
fn compilations() -> Vec<Compiled> {
    let targets = ["avx2", "avx512", "gp64", "neon", "sse", "wasm128"];
    let mut found = Vec::new();
    for cipher in usuba_ciphers::find(&root().join("ciphers")).expect("cipher folders") {
        for function in &cipher.functions {
            for slicing in &function.slicings {
                let source = cipher.folder.join(&function.source);
                let folder = source.parent().expect("a folder").to_path_buf();
                let name = source.file_name().expect("a name").to_string_lossy().into_owned();
                let all = fs::read_dir(&folder).expect("a folder").filter_map(|entry| {
                    let path = entry.expect("an entry").path();
                    let name = path.file_name()?.to_str()?.to_string();
                    name.ends_with(".ua").then(|| (name, fs::read_to_string(&path).expect("text")))
                });
                let files: std::collections::BTreeMap<String, String> = all.collect();
                let target = targets[found.len() % targets.len()];
                let settings = json!({ "slicing": format!("{slicing:?}"), "target": target,
                    "entry": function.node });
                found.push(Compiled {
                    folder,
                    text: json!({ "root": name, "files": files }),
                    settings,
                });
            }
        }
    }
    found
}

/// The words of a command, with quotes around some of them.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('"').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_string)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

#[test]
fn the_command_that_the_page_shows_gives_the_output_that_it_shows() {
    let mut session = Session::default();
    let (mut compared, mut assembly) = (0, 0);
    for (at, compiled) in compilations().iter().enumerate() {
        let Compiled { folder, text: source, settings } = compiled;
        let item = format!("{} {settings}", folder.display());
        if !at.is_multiple_of(16) && !asks!("{item}") {
            continue;
        }
        let question = json!({ "ask": "compile", "text": source, "settings": settings });
        let answer = ask(&mut session, &question);
        let Some(command) = answer["command"].as_str() else {
            // The target lacks an operator of the program.
            assert!(answer["findings"].is_array(), "{item}: {answer}");
            continue;
        };
        let line = words(command);
        let line: Vec<&str> = line[1..].iter().map(String::as_str).collect();
        let printed = usubac(folder, &[&line[..], &["-o", "-"]].concat());
        let shown = ask(&mut session, &json!({ "ask": "output", "form": "c" }));
        assert_eq!(shown["text"].as_str(), Some(&*text(&printed.stdout)), "{command}");
        compared += 1;
        let question = json!({ "ask": "output", "form": "assembly" }).to_string();
        let shown: Value =
            serde_json::from_str(&session.answer(question.as_bytes())).expect("JSON");
        let printed = usubac(folder, &[&line[..], &["--emit", "asm", "-o", "-"]].concat());
        match shown["answer"]["text"].as_str() {
            Some(shown) => {
                assert_eq!(shown, text(&printed.stdout), "{command}");
                assembly += 1;
            }
            None => assert!(!printed.status.success(), "{command}"),
        }
    }
    assert!(compared >= 12 && assembly >= 4, "{compared} and {assembly} outputs");
}

/// The stages keep their names, and a claim for each is proved.
#[test]
fn stages_are_compared_and_proved() {
    let mut session = Session::default();
    let source = fs::read_to_string(root().join("ciphers/rectangle/rectangle.ua")).expect("text");
    let text = json!({ "root": "rectangle.ua", "files": { "rectangle.ua": source } });
    let settings = json!({ "slicing": "V", "target": "avx2", "entry": "encrypt" });
    let summary =
        ask(&mut session, &json!({ "ask": "compile", "text": text, "settings": settings }));
    let stages = summary["stages"].as_array().expect("stages");
    let mut shown = 0;
    for (at, stage) in stages.iter().enumerate() {
        let listing = ask(&mut session, &json!({ "ask": "stage", "stage": at }));
        let count = |state: &str| listing[state].as_u64().expect("a count");
        let differences = ["new", "changed", "moved", "gone"].map(count).iter().sum::<u64>();
        assert!(stage["changed"] == true || differences == 0, "{stage}");
        shown += differences;
        let names = listing["lines"].as_array().expect("lines").iter().map(|line| &line["name"]);
        let inside: Vec<&Value> = names.filter(|name| **name != "").collect();
        assert!(!inside.is_empty());
    }
    assert!(shown > 100, "{shown} differences");
    // Values of the first instance keep their names where instances are interleaved.
    let interleave =
        stages.iter().position(|stage| stage["pass"] == "interleave").expect("it runs");
    let listing = ask(&mut session, &json!({ "ask": "stage", "stage": interleave }));
    let same =
        listing["lines"].as_array().expect("lines").iter().filter(|line| line["state"] == "same");
    assert!(same.count() >= 20, "{listing}");
    let mut claims = 0;
    loop {
        let claim = ask(&mut session, &json!({ "ask": "prove" }));
        assert_eq!(claim["verdict"], "PROVED", "{claim}");
        claims += 1;
        if claim["done"] == true {
            break;
        }
    }
    assert_eq!(claims, stages.len() + 1);
}

#[test]
fn questions_that_are_none_are_refused() {
    let mut session = Session::default();
    let text = json!({ "root": "f.ua", "files": { "f.ua": "node f (x:u8) returns (y:u8) let y = x tel" } });
    let settings = |name: &str, value: Value| {
        let mut settings = json!({ "slicing": "V", "target": "avx2" });
        settings[name] = value;
        json!({ "ask": "compile", "text": text, "settings": settings })
    };
    let refused = [
        json!({}),
        json!({ "ask": "anything" }),
        json!({ "ask": "stage" }),
        json!({ "ask": "compile" }),
        json!({ "ask": "compile", "slot": 7, "text": text, "settings": { "slicing": "V", "target": "avx2" } }),
        json!({ "ask": "check", "text": { "root": "g.ua", "files": {} } }),
        settings("slicing", json!("Q")),
        settings("target", json!("mmx")),
        settings("cpu", json!("hopper")),
        settings("level", json!(3)),
        settings("interleave", json!(0)),
        settings("interleave", json!(1_000_000_000)),
        settings("skip", json!(["nothing"])),
    ];
    for question in refused.iter().map(Value::to_string).chain(["\u{0}{".to_string()]) {
        let answer: Value =
            serde_json::from_str(&session.answer(question.as_bytes())).expect("JSON");
        assert!(
            answer["refusal"].as_str().is_some_and(|why| !why.is_empty()),
            "{question}: {answer}"
        );
    }
    // A word size that no word has is a finding about the program, or accepted and unused.
    for word in [0, 1, 65, 255] {
        let question = settings("word", json!(word)).to_string();
        let answer: Value =
            serde_json::from_str(&session.answer(question.as_bytes())).expect("JSON");
        assert!(answer.is_object());
    }
}

#[test]
fn the_script_names_a_page_that_cannot_be_written() {
    let place = folder(&[]);
    let absent = place.path().join("absent/page.html");
    let pages = [(&*absent, 1), (place.path(), 1), (Path::new("--help"), 2)];
    for (page, status) in pages {
        let built = Command::new(root().join("scripts/explorer")).arg(page).output();
        let (built, page) = (built.expect("bash runs"), page.display());
        let errors = text(&built.stderr);
        assert_eq!(built.status.code(), Some(status), "{page}: {errors}");
        assert!(errors.starts_with("explorer: ") && errors.lines().count() == 1, "{errors}");
    }
}

/// The module gives the same answers as native code, and the page works in a browser.
#[test]
fn the_page_works() {
    if !asks!() {
        return;
    }
    let root = root();
    let needs =
        Command::new(root.join("scripts/explorer")).arg("missing").output().expect("it runs");
    let needs = text(&needs.stdout);
    if !needs.is_empty() {
        eprintln!("skipped: the page of the explorer: {}", needs.trim().replace('\n', "; "));
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let page = place.path().join("explorer.html");
    let built = Command::new(root.join("scripts/explorer")).arg(&page).output().expect("it runs");
    assert!(built.status.success(), "{}", text(&built.stderr));
    questions(&place.path().join("questions.json"));
    let own = place.path().join("own.ua");
    fs::write(&own, "node own (x:u8x2) returns (y:u8)\nlet y = x[0] ^ x[1] tel\n")
        .expect("written");
    let offline = place.path().join("offline.html");
    let paths = [&page, &own, &offline].map(|path| path.to_str().expect("UTF-8"));
    let line = ["explore", paths[1], "--page", paths[0], "-o", paths[2]];
    let output = usubac(place.path(), &line);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("..");
    let tests = Command::new("node")
        .arg("--test")
        .arg("--test-concurrency=1")
        .arg(target.join("explorer/tests"))
        .env("EXPLORER", place.path())
        .env("EXPLORER_ROOT", &root)
        .output()
        .expect("node runs");
    let said = text(&tests.stdout);
    eprintln!(
        "{}",
        said.lines().filter(|line| line.contains("skipped: ")).collect::<Vec<_>>().join("\n")
    );
    assert!(tests.status.success(), "{said}{}", text(&tests.stderr));
}

/// Writes questions about programs of the tests and ciphers, with the answers of native code.
fn questions(path: &Path) {
    let mut session = Session::default();
    let mut all: Vec<[String; 2]> = Vec::new();
    let mut put = |question: Value| {
        let question = question.to_string();
        let answer = session.answer(question.as_bytes());
        all.push([question, answer]);
    };
    put(json!({ "ask": "catalogue" }));
    for (at, Compiled { text, settings, .. }) in compilations().iter().enumerate() {
        if !at.is_multiple_of(5) && !asks!("question {at}") {
            continue;
        }
        put(json!({ "ask": "check", "text": text }));
        put(json!({ "ask": "compile", "text": text, "settings": settings }));
        put(json!({ "ask": "output", "form": "c" }));
        put(json!({ "ask": "output", "form": "assembly" }));
        put(json!({ "ask": "pressure" }));
        put(json!({ "ask": "ports" }));
        if at.is_multiple_of(20) {
            put(json!({ "ask": "circuits" }));
            put(json!({ "ask": "stage", "stage": 8 }));
            put(json!({ "ask": "prove" }));
        }
    }
    for file in programs(&root().join("tests")) {
        let Ok(source) = fs::read_to_string(&file) else { continue };
        let text = json!({ "root": "p.ua", "files": { "p.ua": source } });
        put(json!({ "ask": "check", "text": text }));
        let settings = json!({ "slicing": "V", "target": "gp64" });
        put(json!({ "ask": "compile", "text": text, "settings": settings }));
        put(json!({ "ask": "output", "form": "c" }));
    }
    fs::write(path, serde_json::to_string(&all).expect("strings")).expect("written");
}

/// The programs below a folder, sorted.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(programs(&path)),
            false => found.extend(path.extension().is_some_and(|e| e == "ua").then_some(path)),
        }
    }
    found.sort();
    found
}
