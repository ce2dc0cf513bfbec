//! A scripted editor: `usubac lsp` over pipes, in `tests/lsp/*.txt`. `BLESS=1` rewrites the answers.
//!
//! ```text
//! @ a.ua                        a file, with its lines behind bars
//! | node f ...
//! $ open a.ua                   a message, then the answer, and findings that came before it
//! $ edit a.ua "old" "new"
//! $ hover a.ua "y = ^x"         a request at the place of `^` in a part of the text
//! > ...
//! ```
//!
//! `tokens` is a request for semantic tokens; the answer has a line for each line of the text, and
//! each token with its kind and modifiers.
//!
//! Ranges read as `line:column-line:column`, from 0 as in the protocol.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The server, and the texts as the editor has them.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    folder: PathBuf,
    texts: BTreeMap<String, String>,
    messages: i32,
    /// The names of kinds and modifiers of tokens.
    legend: Value,
    /// Notifications that came before the last answer.
    notes: VecDeque<Value>,
}

impl Editor {
    fn start(folder: &Path, options: Value) -> Editor {
        let mut child = Command::new(env!("CARGO_BIN_EXE_usubac"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("usubac runs");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let folder = folder.canonicalize().expect("a folder");
        let (texts, notes) = (BTreeMap::new(), VecDeque::new());
        let legend = Value::Null;
        let mut editor = Editor { child, input, output, folder, texts, messages: 0, legend, notes };
        let root = format!("file://{}", editor.folder.display());
        let params = json!({ "processId": null, "rootUri": root, "capabilities": {},
                             "initializationOptions": options });
        let mut greeting = editor.ask("initialize", params).expect("an answer");
        editor.legend = greeting["capabilities"]["semanticTokensProvider"]["legend"].take();
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("written");
        self.input.flush().expect("written");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a line") > 0, "the server is gone");
            match line.trim().split_once(": ") {
                Some(("Content-Length", n)) => length = n.parse().expect("a length"),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.messages += 1;
        let id = self.messages;
        self.send(json!({ "id": id, "method": method, "params": params }));
        loop {
            let mut message = self.receive();
            if message["id"] != json!(id) {
                self.notes.push_back(message);
            } else if message.get("error").is_some() {
                return Err(message["error"].take());
            } else {
                return Ok(message["result"].take());
            }
        }
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder.display())
    }

    fn open(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_string(), text.to_string());
        let file = json!({ "uri": self.uri(name), "languageId": "usuba", "version": 1,
                           "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": file }));
    }

    /// Replaces bytes of a text.
    fn edit(&mut self, name: &str, from: usize, to: usize, new: &str) {
        let text = &self.texts[name];
        let range = json!({ "start": position(text, from), "end": position(text, to) });
        let text = format!("{}{new}{}", &text[..from], &text[to..]);
        self.texts.insert(name.to_string(), text);
        let file = json!({ "uri": self.uri(name), "version": 2 });
        let change = json!({ "range": range, "text": new });
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": file, "contentChanges": [change] }),
        );
    }

    /// The findings of a file, after all edits.
    fn findings(&mut self, name: &str) -> Value {
        let uri = self.uri(name);
        let file = json!({ "textDocument": { "uri": uri } });
        self.ask("textDocument/documentSymbol", file).expect("an answer");
        let own = |note: &&Value| note["params"]["uri"] == json!(uri);
        let found = self.notes.iter().rev().find(own).expect("findings are published");
        found["params"]["diagnostics"].clone()
    }

    fn stop(mut self) {
        self.ask("shutdown", Value::Null).expect("an answer");
        self.tell("exit", Value::Null);
        assert!(self.child.wait().expect("it ends").success());
    }
}

/// The place of a byte as the protocol has it.
fn position(text: &str, offset: usize) -> Value {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = text[..offset].matches('\n').count();
    json!({ "line": line, "character": text[start..offset].encode_utf16().count() })
}

/// A message with short ranges and names of files.
fn short(value: &Value, folder: &str) -> Value {
    let at = |p: &Value| format!("{}:{}", p["line"], p["character"]);
    match value {
        Value::Object(map) if map.len() == 2 && map.contains_key("start") => {
            json!(format!("{}-{}", at(&value["start"]), at(&value["end"])))
        }
        Value::Object(map) if map.len() == 2 && map.contains_key("character") => json!(at(value)),
        Value::Object(map) => {
            let short = |(key, v): (&String, &Value)| (key.replace(folder, ""), short(v, folder));
            Value::Object(map.iter().map(short).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(|v| short(v, folder)).collect()),
        Value::String(text) => {
            json!(text.replace(&format!("file://{folder}"), "").replace(folder, ""))
        }
        other => other.clone(),
    }
}

/// The lines of a message: one for each element of a list, and texts by their lines.
fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().map(Value::to_string).collect(),
        Value::Object(map) if map.contains_key("contents") => {
            let text = value["contents"]["value"].as_str().unwrap_or_default();
            let range = value["range"].as_str().unwrap_or_default().to_string();
            std::iter::once(range).chain(text.lines().map(String::from)).collect()
        }
        Value::Object(map) if map.contains_key("text") => {
            value["text"].as_str().unwrap_or_default().lines().take(3).map(String::from).collect()
        }
        other => vec![other.to_string()],
    }
}

/// Splits at blanks outside of quotes.
fn words(line: &str) -> Vec<String> {
    let quoted = |(at, part): (usize, &str)| match at % 2 {
        1 => vec![part.replace("\\n", "\n")],
        _ => part.split_whitespace().map(String::from).collect(),
    };
    line.split('"').enumerate().flat_map(quoted).collect()
}

fn answer(editor: &mut Editor, command: &str) -> Vec<String> {
    let words = words(command);
    let text = |editor: &Editor| editor.texts.get(&words[1]).cloned().unwrap_or_default();
    let uri = editor.uri(words.get(1).map_or("", |name| name));
    let file = json!({ "uri": uri });
    let at = |text: &str| {
        let part = words.get(2).map_or("^", |part| part);
        let (before, after) = part.split_once('^').expect("a place");
        let start = text.find(&format!("{before}{after}")).expect("a part of the text");
        position(text, start + before.len())
    };
    let method = match words[0].as_str() {
        "open" => {
            let read = fs::read_to_string(editor.folder.join(&words[1])).expect("a file");
            editor.open(&words[1], &read);
            editor.notes.clear();
            let found = editor.findings(&words[1]);
            return lines(&short(&found, &format!("{}/", editor.folder.display())));
        }
        "edit" => {
            let from = text(editor).find(&words[2]).expect("a part of the text");
            let new = words.get(3).cloned().unwrap_or_default();
            editor.edit(&words[1], from, from + words[2].len(), &new);
            editor.notes.clear();
            let found = editor.findings(&words[1]);
            return lines(&short(&found, &format!("{}/", editor.folder.display())));
        }
        "settings" => {
            let settings: Value = serde_json::from_str(&command[9..]).expect("JSON");
            let params = json!({ "settings": { "usuba": settings } });
            editor.tell("workspace/didChangeConfiguration", params);
            return Vec::new();
        }
        "explain" => "workspace/textDocumentContent",
        "tokens" => "textDocument/semanticTokens/full",
        "hints" => "textDocument/inlayHint",
        "hover" => "textDocument/hover",
        "definition" => "textDocument/definition",
        "references" => "textDocument/references",
        "rename" => "textDocument/rename",
        "complete" => "textDocument/completion",
        "symbols" => "textDocument/documentSymbol",
        "format" => "textDocument/formatting",
        "fixes" => "textDocument/codeAction",
        other => other,
    };
    let text = text(editor);
    let position = at(&text);
    let everything = json!({ "start": { "line": 0, "character": 0 },
                             "end": { "line": 9999, "character": 0 } });
    let params = match words[0].as_str() {
        "explain" => json!({ "uri": format!("usubac-explain:/{}.md", words[1]) }),
        _ => json!({ "textDocument": file, "position": position, "range": everything,
                     "context": { "includeDeclaration": true, "diagnostics": [], "triggerKind": 1 },
                     "options": { "tabSize": 2, "insertSpaces": true },
                     "newName": words.get(3) }),
    };
    let result = editor.ask(method, params);
    let folder = format!("{}/", editor.folder.display());
    match result {
        Ok(value) if words[0] == "tokens" => coloured(editor, &text, &value),
        Ok(value) => lines(&short(&value, &folder)),
        Err(error) => vec![format!("error: {}", error["message"].as_str().unwrap_or_default())],
    }
}

/// The tokens of a text, line by line: `text:kind+modifier`.
fn coloured(editor: &Editor, text: &str, answer: &Value) -> Vec<String> {
    let name = |list: &str, at: usize| {
        editor.legend[list][at].as_str().expect("a name of the legend").to_string()
    };
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let data: Vec<usize> = answer["data"].as_array().expect("tokens").iter().map(number).collect();
    let (mut line, mut column) = (0, 0);
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for token in data.chunks(5) {
        let [down, right, length, kind, bits] = token else { panic!("five numbers") };
        (line, column) = (line + down, if *down > 0 { *right } else { column + right });
        let units: Vec<u16> = text.split('\n').nth(line).expect("a line").encode_utf16().collect();
        let part = String::from_utf16(&units[column..column + length]).expect("whole characters");
        let mut token = format!("{part}:{}", name("tokenTypes", *kind));
        for bit in (0..8).filter(|bit| bits >> bit & 1 == 1) {
            token += &format!("+{}", name("tokenModifiers", bit));
        }
        found.entry(line).or_default().push(token);
    }
    found.values().map(|tokens| tokens.join("  ")).collect()
}

fn replay(transcript: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let mut editor = Editor::start(dir.path(), Value::Null);
    let mut out: Vec<String> = Vec::new();
    let mut file = None;
    for line in transcript.lines().filter(|line| !line.starts_with('>')) {
        out.push(line.to_string());
        if let Some(name) = line.strip_prefix("@ ") {
            let path = dir.path().join(name);
            fs::write(&path, "").expect("written");
            file = Some(path);
        } else if let (Some(path), Some(text)) = (&file, line.strip_prefix('|')) {
            let old = fs::read_to_string(path).expect("just written");
            let text = text.strip_prefix(' ').unwrap_or(text);
            fs::write(path, format!("{old}{text}\n")).expect("written");
        } else if let Some(command) = line.strip_prefix("$ ") {
            let lines = answer(&mut editor, command);
            out.extend(lines.iter().map(|line| format!("> {line}").trim_end().to_string()));
        }
    }
    editor.stop();
    out.join("\n") + "\n"
}

#[test]
fn conversations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lsp");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("transcripts").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let written = fs::read_to_string(&path).expect("a transcript");
        let now = replay(&written);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, now).expect("blessed");
            continue;
        }
        let differ = written.lines().zip(now.lines()).find(|(a, b)| a != b);
        assert_eq!(now, written, "{}: {differ:?}; run with BLESS=1", path.display());
    }
}

/// Pseudo-random numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// After a thousand random edits the server lives and has the text of the editor: a fresh copy of
/// the text has the same findings and the same format.
#[test]
fn random_edits_keep_the_text() {
    const PIECES: [&str; 16] = [
        "",
        "",
        " ",
        "\n",
        ";",
        "(",
        ")",
        "tel",
        "let",
        "node f",
        "x",
        "[0]",
        "{",
        "<<< 3",
        "é𝄞",
        "include \"a.ua\"",
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let mut editor = Editor::start(dir.path(), Value::Null);
    let mut random = Random(29);
    for (at, cipher) in ["rectangle", "ascon", "chacha20", "present"].iter().enumerate() {
        let path = format!("ciphers/{cipher}/{cipher}.ua");
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path));
        let original = text.expect("a cipher");
        let name = format!("{cipher}.ua");
        editor.open(&name, &original);
        for edit in 0..250 {
            // Every tenth edit begins with the cipher again, so that the text stays a program.
            if edit % 10 == 0 {
                let end = editor.texts[&name].len();
                editor.edit(&name, 0, end, &original);
            }
            let text = editor.texts[&name].clone();
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let from = random.below(ends.len());
            let to = (from + random.below(6)).min(ends.len() - 1);
            let (from, to) = (ends[from], ends[to]);
            let piece = PIECES[random.below(PIECES.len())];
            editor.edit(&name, from, to, piece);
            let end = editor.texts[&name].len().min(from + 1);
            let end = (end..).find(|end| editor.texts[&name].is_char_boundary(*end));
            let position = position(&editor.texts[&name], end.expect("a boundary"));
            let params = json!({ "textDocument": { "uri": editor.uri(&name) },
                                 "position": position });
            let method = ["hover", "completion", "definition", "semanticTokens/full"][edit % 4];
            editor.ask(&format!("textDocument/{method}"), params).expect("an answer");
            if edit % 25 == 24 {
                let text = editor.texts[&name].clone();
                let copy = format!("copy{at}.ua");
                editor.open(&copy, &text);
                let found = editor.findings(&name).to_string().replace(&name, &copy);
                assert_eq!(found, editor.findings(&copy).to_string(), "{cipher}, edit {edit}");
                let mut tokens = |name: &str| {
                    let params = json!({ "textDocument": { "uri": editor.uri(name) } });
                    editor.ask("textDocument/semanticTokens/full", params).expect("an answer")
                };
                let found = tokens(&name);
                assert_eq!(found, tokens(&copy));
                coloured(&editor, &text, &found);
                let mut format = |name: &str| {
                    let params = json!({ "textDocument": { "uri": editor.uri(name) },
                                         "options": { "tabSize": 2, "insertSpaces": true } });
                    editor.ask("textDocument/formatting", params).expect("an answer")
                };
                assert_eq!(format(&name), format(&copy));
                editor.notes.clear();
            }
        }
    }
    editor.stop();
}

/// A header that claims more bytes than a message can have is an error, and no allocation.
#[test]
fn a_header_with_a_huge_length_is_refused() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("usubac runs");
    let mut input = server.stdin.take().expect("a pipe");
    input.write_all(b"Content-Length: 99999999999\r\n\r\n").expect("written");
    // The pipe stays open: the server ends by itself.
    let output = server.wait_with_output().expect("it ends");
    drop(input);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("claims 99999999999 bytes"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
