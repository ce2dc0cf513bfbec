//! Fixes of lints: each of them removes its finding and keeps the function of the program.
//!
//! The programs are the text tests of one part, and random ones. Each fix is applied alone, then
//! all automatic fixes again and again, until there are none.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use filetests::case::Case;
use filetests::compile::{self, Linted, linted};
use filetests::data::Random;
use filetests::engines::eval;
use filetests::flags::Flags;
use filetests::random;
use usuba::diag::{Code, Diagnostic, Sources};
use usuba::lint::{Levels, apply, lint};
use usuba::typed::{self, Slicing, VarType};
use usuba_ciphers::Beside;
use usuba_gen::level;

/// Random programs in the quick run, and in the whole one.
const PROGRAMS: [u64; 2] = [100, 5000];

/// Inputs of each program.
const INPUTS: usize = 3;

/// Rounds of automatic fixes: more than any program here needs.
const ROUNDS: usize = 60;

/// A program that is checked, and its answers.
struct Subject {
    text: String,
    entry: Option<String>,
    flags: Flags,
    /// Empty if the entry cannot be evaluated by itself.
    calls: Vec<(Vec<u64>, Vec<u64>)>,
}

impl Subject {
    /// `None` if the text is no valid program.
    fn new(text: &str, entry: Option<&str>, flags: &Flags, seed: u64) -> Option<Subject> {
        let checked = compile::text(text, entry, flags).ok()?;
        let flag = flags.slicing.unwrap_or(Slicing::V);
        let slicing = typed::check::slicing(&checked.program, flag).ok()?;
        let instance = typed::check::entry_instance(&checked.program, slicing, flags.word).ok();
        let mut bits = Vec::new();
        for var in &checked.program.decls[checked.program.entry].params {
            if let (VarType::Words { atom, .. }, Some(instance)) = (&var.ty, &instance) {
                bits.extend(vec![instance.apply(atom).bits()?; var.ty.atoms()]);
            }
        }
        let mut random = Random::new(seed);
        let mut row = || bits.iter().map(|&bits| random.word(bits)).collect::<Vec<u64>>();
        let call = |row: Vec<u64>| eval(&checked, flags, &row).ok().map(|answer| (row, answer));
        let calls = (0..INPUTS).filter_map(|_| call(row())).collect();
        let entry = entry.map(str::to_string);
        Some(Subject { text: text.to_string(), entry, flags: flags.clone(), calls })
    }

    fn linted(&self, text: &str) -> Result<Linted, String> {
        linted(text, self.entry.as_deref(), &self.flags)
    }

    /// Compares the answers of a new text with the answers of the program.
    fn compare(&self, text: &str) -> Result<Linted, String> {
        let new = self.linted(text)?;
        for (row, answer) in &self.calls {
            let found = eval(&new.checked, &self.flags, row)?;
            if found != *answer {
                return Err(format!("{row:?} gives {found:?} and not {answer:?}"));
            }
        }
        Ok(new)
    }

    /// Applies each fix alone, then the automatic ones until there are none; counts fixes by code.
    fn test(&self, fixes: &mut BTreeMap<Code, usize>) -> Result<(), String> {
        let first = self.linted(&self.text)?;
        for finding in first.lints.iter().filter(|finding| finding.fix.is_some()) {
            let text = fixed(&first, &[finding]);
            let wrong = |why: String| {
                format!(
                    "{}: {}: {why}\n{}\nbecomes\n{text}",
                    finding.code, finding.message, self.text
                )
            };
            let after = self.compare(&text).map_err(wrong)?;
            // Other findings of the code may appear: `x ^ x ^ x ^ x` has several.
            if count(&after, finding) >= count(&first, finding) {
                return Err(wrong("the finding stays".to_string()));
            }
            *fixes.entry(finding.code).or_default() += 1;
        }
        let mut now = first;
        for _ in 0..ROUNDS {
            let automatic =
                |finding: &&Diagnostic| finding.fix.as_ref().is_some_and(|f| f.automatic);
            let some: Vec<&Diagnostic> = now.lints.iter().filter(automatic).collect();
            if some.is_empty() {
                return Ok(());
            }
            let text = fixed(&now, &some);
            now = self
                .compare(&text)
                .map_err(|why| format!("{why}\n{}\nbecomes\n{text}", self.text))?;
        }
        Err(format!("fixes do not end: {}", compile::list(&now.lints)))
    }
}

fn fixed(program: &Linted, findings: &[&Diagnostic]) -> String {
    let (_, text) = apply(&program.sources, findings).pop().expect("a fix edits the text");
    text
}

/// The findings that say the same.
fn count(program: &Linted, finding: &Diagnostic) -> usize {
    let same =
        |other: &&Diagnostic| (other.code, &other.message) == (finding.code, &finding.message);
    program.lints.iter().filter(same).count()
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "ua") {
            found.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn fixes_keep_the_function_and_remove_the_finding() {
    let mut paths = Vec::new();
    programs(&root().join("tests"), &mut paths);
    let mut subjects = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a test");
        let case = Case::parse(&text).expect("a test");
        let mut entries: Vec<Option<&str>> =
            case.runs.iter().map(|run| Some(run.entry.as_str())).collect();
        entries.dedup();
        entries.push(case.flags.entry.as_deref());
        if case.parts.len() == 1 {
            let name = path.display().to_string();
            subjects.extend(entries.into_iter().filter_map(|entry| {
                Some((name.clone(), Subject::new(&text, entry, &case.flags, 1)?))
            }));
        }
    }
    let [quick, whole] = PROGRAMS;
    let seeds = if level::is_whole() { whole } else { quick };
    subjects.extend((0..seeds).filter_map(|seed| {
        let subject = Subject::new(&random::text(seed), Some("entry"), &Flags::default(), seed);
        Some((format!("seed {seed}"), subject?))
    }));
    let mut fixes = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, subject) in &subjects {
        if let Err(why) = subject.test(&mut fixes) {
            wrong.push(format!("{name}: {why}"));
        }
    }
    println!("{} programs, fixes: {fixes:?}", subjects.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(3)].join("\n\n"));
    assert!(fixes.len() >= 8, "only {fixes:?}");
}

/// The programs of the library have no warning. Pieces that other programs include are looked at
/// there.
#[test]
fn the_library_has_no_lints() {
    let mut paths = Vec::new();
    programs(&root().join("ciphers"), &mut paths);
    programs(&root().join("arithmetic"), &mut paths);
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in paths {
        let mut sources = Sources::default();
        let text = fs::read_to_string(&path).expect("a program");
        let file = sources.add(path.display().to_string(), text);
        let flags = typed::Flags::default();
        let Ok(program) = usuba::front(&mut sources, file, &mut Beside, None, flags) else {
            continue;
        };
        checked += 1;
        let lints = lint(&sources, &program.program);
        let found = Levels::default().apply([program.warnings, lints].concat());
        wrong.extend(
            found
                .iter()
                .map(|finding| format!("{}: {} {}", path.display(), finding.code, finding.message)),
        );
    }
    assert_eq!(wrong, [] as [String; 0]);
    assert!(checked > 40, "{checked} programs");
}

/// Lints of large programs take time in proportion to them: a quadratic one would not end here.
#[test]
fn large_programs_are_linted() {
    let chain = "a ^ b + ".repeat(20_000);
    let names: Vec<String> = (0..20_000).map(|i| format!("v{i}")).collect();
    let dead: String = names.iter().map(|name| format!("  {name} = a;\n")).collect();
    let vars = names.join(", ");
    for (vars, equations) in [
        (String::new(), format!("y = {chain}a")),
        (format!("vars {vars}: u8"), format!("{dead}  y = a ^ b")),
        (format!("vars {vars}: u8"), "y = a ^ b".to_string()),
        (format!("vars {}: u8", names.join(": u8, ")), "y = a ^ b".to_string()),
    ] {
        let text = format!("node f (a, b:u8) returns (y:u8) {vars}\nlet\n{equations}\ntel");
        let program = linted(&text, None, &Flags::default()).expect("a valid program");
        assert!(program.lints.len() >= 20_000, "{}", program.lints.len());
    }
}
