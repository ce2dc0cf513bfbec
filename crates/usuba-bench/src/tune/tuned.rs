//! Result file of a search: `tuned/<target>-<cpu>.toml` beside the program, an input of later
//! compiles.
//!
//! ```text
//! cpu = "AMD EPYC 9B45"
//! target = "avx2"
//!
//! [[choice]]
//! program = "cipher.ua"         the subject: program,
//! sha256 = "5a1f…"              fingerprint of its text,
//! entry = "encrypt"             and entry
//! slicing = "V"
//! fastest = true                among the slicings of this entry
//! flags = "--interleave 2"    of usubac; empty if nothing beats the default
//! compiler = "gcc 12.2.0"
//! cflags = "-O2 -mavx2"
//! ratio = 0.713                 the time of this choice over the default's time
//! quartiles = [0.708, 0.721]
//! goal = "kernel"               the timed quantity
//! ```
//!
//! The text is a deterministic function of the results: no dates, a fixed order. A search replaces
//! the choices of its own program and entry and keeps the others.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use usuba::ir::Slicing;

use super::cpu;
use super::search::{Lane, Outcome, Race};
use super::space::Space;
use super::subject::function_fingerprint;
use usuba_ciphers::{Cipher, Function};

/// The name of the folder beside the program.
pub const FOLDER: &str = "tuned";

/// A whole file.
#[derive(Clone, PartialEq, Debug)]
pub struct Tuned {
    pub cpu: String,
    pub target: String,
    pub choices: Vec<Choice>,
}

/// The result for one slicing of one entry.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The file name of the program.
    pub program: String,
    /// The fingerprint of its text and of its included files.
    pub sha256: String,
    pub entry: String,
    /// Flags that change the semantics of the program, such as `-m 16`; mostly empty.
    pub reading: String,
    pub slicing: Slicing,
    /// Whether this is the fastest slicing of the entry.
    pub fastest: bool,
    /// Flags of `usubac`, for its command line.
    pub flags: String,
    pub compiler: String,
    pub cflags: String,
    /// The median time over the median time of the default, and its quartiles over the same.
    pub ratio: f64,
    pub quartiles: [f64; 2],
    pub goal: String,
}

/// The subject of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    pub program: String,
    pub sha256: String,
    pub entry: String,
    pub reading: String,
    pub goal: &'static str,
}

/// The results of a search, one choice per slicing. If nothing beats the default, the choice is the
/// default, with a ratio of 1.
pub fn choices(outcome: &Outcome, space: &Space, about: &About) -> Vec<Choice> {
    let choice = |(at, lane): (usize, &Lane)| {
        let share = |pick: fn(&Race) -> f64| lane.race.as_ref().map_or(1.0, pick);
        Choice {
            program: about.program.clone(),
            sha256: about.sha256.clone(),
            entry: about.entry.clone(),
            reading: about.reading.clone(),
            slicing: lane.slicing,
            fastest: at == outcome.fastest,
            flags: space.flags(&lane.best),
            compiler: space.compiler(&lane.best).name.clone(),
            cflags: space.cflags(&lane.best).join(" "),
            ratio: share(|race| race.ratio),
            quartiles: [share(|race| race.low), share(|race| race.high)],
            goal: about.goal.to_string(),
        }
    };
    outcome.lanes.iter().enumerate().map(choice).collect()
}

/// An error in a file, and its byte position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    pub at: usize,
    pub message: String,
}

impl Mistake {
    /// Line and column, both from 1; columns count bytes.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = &text.as_bytes()[..self.at.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        (line, column)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cpu: String,
    target: Spanned<String>,
    #[serde(default)]
    choice: Vec<FileChoice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileChoice {
    program: String,
    sha256: String,
    entry: String,
    #[serde(default)]
    reading: String,
    slicing: Spanned<String>,
    fastest: bool,
    flags: Spanned<String>,
    compiler: String,
    cflags: String,
    ratio: f64,
    quartiles: [f64; 2],
    goal: String,
}

/// Parses a file. `check` validates flags of `usubac`.
///
/// # Errors
/// The first error.
pub fn parse(text: &str, check: &dyn Fn(&str) -> Result<(), String>) -> Result<Tuned, Mistake> {
    let file: File = toml::from_str(text).map_err(|error| Mistake {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().lines().collect::<Vec<_>>().join("; "),
    })?;
    let known = usuba::isa::find(file.target.get_ref());
    if known.is_none_or(|known| known.name != file.target.get_ref()) {
        let message = usuba::isa::unknown(file.target.get_ref());
        return Err(Mistake { at: file.target.span().start, message });
    }
    let choice = |choice: FileChoice| {
        let slicing = slicing(choice.slicing.get_ref()).ok_or_else(|| Mistake {
            at: choice.slicing.span().start,
            message: format!("there is no slicing `{}`", choice.slicing.get_ref()),
        })?;
        check(choice.flags.get_ref())
            .map_err(|message| Mistake { at: choice.flags.span().start, message })?;
        Ok(Choice {
            program: choice.program,
            sha256: choice.sha256,
            entry: choice.entry,
            reading: choice.reading,
            slicing,
            fastest: choice.fastest,
            flags: choice.flags.into_inner(),
            compiler: choice.compiler,
            cflags: choice.cflags,
            ratio: choice.ratio,
            quartiles: choice.quartiles,
            goal: choice.goal,
        })
    };
    let choices = file.choice.into_iter().map(choice).collect::<Result<_, _>>()?;
    Ok(Tuned { cpu: file.cpu, target: file.target.into_inner(), choices })
}

fn slicing(name: &str) -> Option<Slicing> {
    [Slicing::V, Slicing::H, Slicing::B].into_iter().find(|s| format!("{s:?}") == name)
}

/// The text of a file; [`parse`] reads it back.
pub fn print(tuned: &Tuned) -> String {
    let text = |value: &str| toml::Value::String(value.to_string()).to_string();
    let mut lines = vec![
        "# Made by `usubac tune`. Compiles for this target read it; --no-tuned ignores it.".into(),
        String::new(),
        format!("cpu = {}", text(&tuned.cpu)),
        format!("target = {}", text(&tuned.target)),
    ];
    for choice in &tuned.choices {
        lines.push("\n[[choice]]".into());
        lines.push(format!("program = {}", text(&choice.program)));
        lines.push(format!("sha256 = {}", text(&choice.sha256)));
        lines.push(format!("entry = {}", text(&choice.entry)));
        if !choice.reading.is_empty() {
            lines.push(format!("reading = {}", text(&choice.reading)));
        }
        lines.push(format!("slicing = \"{:?}\"", choice.slicing));
        lines.push(format!("fastest = {}", choice.fastest));
        lines.push(format!("flags = {}", text(&choice.flags)));
        lines.push(format!("compiler = {}", text(&choice.compiler)));
        lines.push(format!("cflags = {}", text(&choice.cflags)));
        lines.push(format!("ratio = {:.3}", choice.ratio));
        lines.push(format!("quartiles = [{:.3}, {:.3}]", choice.quartiles[0], choice.quartiles[1]));
        lines.push(format!("goal = {}", text(&choice.goal)));
    }
    lines.join("\n") + "\n"
}

impl Tuned {
    /// Replaces the choices of the same entry of the same program by `found`, one choice per
    /// slicing. A slicing outside the search stays if its text is unchanged, and stays the fastest
    /// if it was.
    pub fn replace(&mut self, mut found: Vec<Choice>) {
        let of = |choice: &Choice| {
            (choice.program.clone(), choice.entry.clone(), choice.reading.clone())
        };
        self.choices.retain(|old| {
            let mut same = found.iter().filter(|new| of(new) == of(old)).peekable();
            same.peek().is_none()
                || same.all(|new| new.sha256 == old.sha256 && new.slicing != old.slicing)
        });
        let kept = &self.choices;
        for new in &mut found {
            new.fastest &= !kept.iter().any(|old| of(old) == of(new) && old.fastest);
        }
        self.choices.extend(found);
        let order = |choice: &Choice| (of(choice), format!("{:?}", choice.slicing));
        self.choices.sort_by_key(order);
    }

    /// The choice for an entry: of a slicing, or of the fastest one. The caller compares the
    /// fingerprints.
    pub fn find(
        &self,
        program: &str,
        entry: &str,
        reading: &str,
        slicing: Option<Slicing>,
    ) -> Option<&Choice> {
        self.choices.iter().find(|choice| {
            let this = choice.program == program && choice.entry == entry;
            let wanted = slicing.map_or(choice.fastest, |slicing| slicing == choice.slicing);
            this && choice.reading == reading && wanted
        })
    }
}

/// Reads the file at `path`; see [`parse`].
///
/// # Errors
/// It cannot be read, or it is malformed; the message begins with the position.
pub fn read(path: &Path, check: &dyn Fn(&str) -> Result<(), String>) -> Result<Tuned, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text, check).map_err(|mistake| {
        let (line, column) = mistake.place(&text);
        format!("{}:{line}:{column}: {}", path.display(), mistake.message)
    })
}

/// The tuned choice for a function of a cipher folder on the processor `cpu`, if its text is
/// unchanged.
///
/// # Errors
/// The file exists, and it cannot be read or is malformed.
pub fn of_function(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    target: &str,
    cpu: &str,
    check: &dyn Fn(&str) -> Result<(), String>,
) -> Result<Option<Choice>, String> {
    let program = cipher.folder.join(&function.source);
    let path = path(program.parent().unwrap_or(Path::new("")), target, cpu);
    if !path.is_file() {
        return Ok(None);
    }
    let tuned = read(&path, check)?;
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let found = tuned.find(&name, &function.node, "", Some(slicing)).cloned();
    Ok(found
        .filter(|choice| function_fingerprint(cipher, function).as_ref() == Some(&choice.sha256)))
}

/// The candidate files for a compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// There is none.
    None,
    One(PathBuf),
    /// Several processors, sorted by name, and none selected.
    Several(Vec<String>),
}

/// The file of a processor.
pub fn path(folder: &Path, target: &str, cpu: &str) -> PathBuf {
    folder.join(FOLDER).join(format!("{target}-{cpu}.toml"))
}

/// Searches beside a program: for the file of `cpu`, or for the only one of the target.
///
/// # Errors
/// The folder exists and cannot be read.
pub fn look(folder: &Path, target: &str, cpu: Option<&str>) -> Result<Found, String> {
    if let Some(cpu) = cpu {
        let path = path(folder, target, cpu);
        return Ok(if path.is_file() { Found::One(path) } else { Found::None });
    }
    let home = folder.join(FOLDER);
    let fail = |error: std::io::Error| format!("cannot read {}: {error}", home.display());
    let entries = match fs::read_dir(&home) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Found::None);
        }
        Err(error) => return Err(fail(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(fail)?.file_name().to_string_lossy().into_owned();
        let cpu = name.strip_prefix(&format!("{target}-")).and_then(|n| n.strip_suffix(".toml"));
        names.extend(cpu.filter(|cpu| cpu::is_slug(cpu)).map(str::to_string));
    }
    names.sort();
    Ok(match &names[..] {
        [] => Found::None,
        [cpu] => Found::One(path(folder, target, cpu)),
        _ => Found::Several(names),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(program: &str, slicing: Slicing, flags: &str) -> Choice {
        Choice {
            program: program.into(),
            sha256: "00ff".into(),
            entry: "f".into(),
            reading: String::new(),
            slicing,
            fastest: slicing == Slicing::B,
            flags: flags.into(),
            compiler: "gcc 12.2.0".into(),
            cflags: "-O3 -DX=\"y\"".into(),
            ratio: 0.5,
            quartiles: [0.25, 0.75],
            goal: "kernel".into(),
        }
    }

    fn sample() -> Tuned {
        let mut tuned =
            Tuned { cpu: "Some \"CPU\"".into(), target: "avx2".into(), choices: Vec::new() };
        tuned.replace(vec![choice("b.ua", Slicing::V, "--unroll none")]);
        tuned.replace(vec![choice("a.ua", Slicing::V, ""), choice("a.ua", Slicing::B, "")]);
        tuned
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let tuned = sample();
        let text = print(&tuned);
        assert_eq!(parse(&text, &|_| Ok(())), Ok(tuned.clone()));
        assert_eq!(print(&parse(&text, &|_| Ok(())).expect("good")), text);
        let order: Vec<_> = tuned.choices.iter().map(|c| (&c.program[..], c.slicing)).collect();
        assert_eq!(order, [("a.ua", Slicing::B), ("a.ua", Slicing::V), ("b.ua", Slicing::V)]);
    }

    #[test]
    fn a_search_replaces_its_own_entry_alone() {
        let mut tuned = sample();
        tuned.replace(vec![choice("a.ua", Slicing::V, "--unroll all")]);
        assert_eq!(tuned.choices.len(), 3);
        let flags =
            |tuned: &Tuned, slicing| tuned.find("a.ua", "f", "", slicing).map(|c| c.flags.clone());
        assert_eq!(flags(&tuned, Some(Slicing::V)).as_deref(), Some("--unroll all"));
        assert_eq!(flags(&tuned, Some(Slicing::B)).as_deref(), Some(""), "it was not searched");
        assert_eq!(flags(&tuned, None).as_deref(), Some(""), "it stays the fastest");
        assert_eq!(tuned.find("b.ua", "f", "-m 8", Some(Slicing::V)), None);
        // A new text invalidates all old choices, and the new choice is the fastest.
        let new =
            Choice { sha256: "11".into(), fastest: true, ..choice("a.ua", Slicing::V, "-O1") };
        tuned.replace(vec![new]);
        assert_eq!(tuned.choices.len(), 2);
        assert_eq!(flags(&tuned, Some(Slicing::B)), None);
        assert_eq!(flags(&tuned, None).as_deref(), Some("-O1"));
    }

    #[test]
    fn mistakes_have_a_place() {
        let good = print(&sample());
        let check = |flags: &str| match flags {
            "--unroll none" | "" => Ok(()),
            _ => Err(format!("what is {flags}?")),
        };
        let place = |text: &str| {
            let mistake = parse(text, &check).expect_err("a mistake");
            (mistake.place(text), mistake.message)
        };
        assert!(parse(&good, &check).is_ok());
        let (at, message) = place(&good.replace("--unroll none", "--nonsense"));
        let line = good.lines().position(|line| line.contains("--unroll none")).expect("there") + 1;
        assert_eq!((at, &message[..]), ((line, 9), "what is --nonsense?"));
        assert_eq!(place(&good.replace("\"avx2\"", "\"mmx\"")).0, (4, 10));
        let (at, message) = place(&good.replacen("\"V\"", "\"X\"", 1));
        assert!(at.1 == 11 && message.contains("slicing `X`"), "{at:?} {message}");
        assert_eq!(place(&good.replacen("cpu", "gpu", 1)).0, (3, 1));
        assert_eq!(place("cpu = ").0.0, 1);
        for cut in 0..good.len() {
            // Fails if parsing a truncated file panics; a shorter file may be valid.
            let _ = parse(&good[..cut], &check).map_err(|mistake| mistake.place(&good));
        }
    }

    #[test]
    fn the_only_file_of_a_target_is_meant() {
        let folder = tempfile::tempdir().expect("a folder");
        let look = |target: &str, cpu: Option<&str>| look(folder.path(), target, cpu);
        assert_eq!(look("avx2", None), Ok(Found::None));
        fs::create_dir(folder.path().join(FOLDER)).expect("made");
        let make = |cpu: &str| {
            let path = path(folder.path(), "avx2", cpu);
            fs::write(&path, "").expect("written");
            path
        };
        let first = make("some-cpu");
        assert_eq!(look("avx2", None), Ok(Found::One(first.clone())));
        assert_eq!(look("avx", None), Ok(Found::None));
        make("other-cpu");
        let both = vec!["other-cpu".to_string(), "some-cpu".to_string()];
        assert_eq!(look("avx2", None), Ok(Found::Several(both)));
        assert_eq!(look("avx2", Some("some-cpu")), Ok(Found::One(first)));
        assert_eq!(look("avx2", Some("third-cpu")), Ok(Found::None));
    }
}
