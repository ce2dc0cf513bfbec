//! The directives of one file.

use std::collections::BTreeMap;

use usuba::ir::Slicing;
use usuba::passes::pipeline::Level;
use usuba::passes::{PassOptions, inline, unroll};
use usuba::target::{self, Target};
use usuba::typed::Flags;

/// A parsed test.
pub struct TestFile {
    pub kind: Kind,
    /// The text before `# expect:`.
    pub head: String,
    /// Whether the file has an `# expect:`.
    pub expects: bool,
    pub settings: Settings,
    pub runs: Vec<RunLine>,
    /// From `# count:`.
    pub counts: Option<BTreeMap<String, u64>>,
}

/// The word after `# test`.
pub enum Kind {
    /// Findings, as messages in the file.
    Check,
    /// The formatter leaves the text as it is, or makes what `expect:` shows.
    Syntax,
    /// `run:` lines hold everywhere.
    Run,
    /// One pass does what `count:`, `run:` and `expect:` say.
    Pass(String),
}

/// `# with: slicing=V,B target=gp64 word=32 entry=f inline=auto unroll=all level=2 keep-tables
/// legacy-tables`, in any order.
pub struct Settings {
    /// All of them for `run` (default V,B), the first for other tests (default V).
    pub slicings: Vec<Slicing>,
    pub target: &'static Target,
    pub word: Option<u8>,
    pub entry: Option<String>,
    pub flags: Flags,
    pub level: Level,
    pub pass: PassOptions,
}

/// `# run: f(1, 0x2) == 3, 4`
pub struct RunLine {
    pub text: String,
    pub entry: String,
    pub inputs: Vec<u64>,
    pub outputs: Vec<u64>,
}

impl TestFile {
    /// Reads the directives of `text`.
    pub fn parse(text: &str) -> Result<TestFile, String> {
        let first = text.lines().next().unwrap_or("");
        let words: Vec<&str> = first.split_whitespace().collect();
        let kind = match words[..] {
            ["#", "test", "check"] => Kind::Check,
            ["#", "test", "syntax"] => Kind::Syntax,
            ["#", "test", "run"] => Kind::Run,
            ["#", "test", "pass", name] => Kind::Pass(name.to_string()),
            _ => return Err("the first line must be `# test check|syntax|run|pass NAME`".into()),
        };
        let (head, expect) = split_expect(text);
        if expect.is_some_and(|lines| lines.lines().any(|line| !line.starts_with('#'))) {
            return Err("`# expect:` must be the last thing in the file".into());
        }
        let mut test = TestFile {
            settings: Settings::new(),
            kind,
            head: head.to_string(),
            expects: expect.is_some(),
            runs: Vec::new(),
            counts: None,
        };
        for line in head.lines() {
            let Some((word, rest)) = line.strip_prefix("# ").and_then(|l| l.split_once(':')) else {
                continue;
            };
            let rest = rest.split(" -- ").next().unwrap_or("").trim();
            match word {
                "with" => test.settings.read(rest)?,
                "run" => test.runs.push(RunLine::parse(rest)?),
                "count" => test.counts = Some(counts(rest)?),
                _ => {}
            }
        }
        Ok(test)
    }

    /// The whole file with `expect` in its place, if it has one.
    pub fn with_expect(&self, head: &str, expect: &str) -> String {
        if !self.expects {
            return head.to_string();
        }
        let line =
            |line: &str| if line.is_empty() { "#\n".into() } else { format!("#   {line}\n") };
        format!("{head}# expect:\n{}", expect.lines().map(line).collect::<String>())
    }
}

fn split_expect(text: &str) -> (&str, Option<&str>) {
    let at = match text.find("\n# expect:") {
        Some(at) => at + 1,
        None => return (text, None),
    };
    (&text[..at], Some(&text[at..]))
}

fn counts(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let one = |word: &str| {
        let (name, number) = word.split_once('=')?;
        Some((name.to_string(), number.parse().ok()?))
    };
    text.split_whitespace()
        .map(|word| one(word).ok_or(format!("`{word}` is not NAME=NUMBER")))
        .collect()
}

impl Settings {
    fn new() -> Settings {
        Settings {
            slicings: Vec::new(),
            target: target::find("gp64").expect("the plain target"),
            word: None,
            entry: None,
            flags: Flags::default(),
            level: Level::O2,
            pass: PassOptions::default(),
        }
    }

    /// The slicing of tests that have one.
    pub fn slicing(&self) -> Slicing {
        self.slicings.first().copied().unwrap_or(Slicing::V)
    }

    fn read(&mut self, text: &str) -> Result<(), String> {
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            self.set(key, value).ok_or(format!("`# with:` has no `{word}`"))?;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "slicing" => self.slicings = value.split(',').map(slicing).collect::<Option<_>>()?,
            "target" => self.target = target::find(value)?,
            "word" => self.word = Some(value.parse().ok()?),
            "entry" => self.entry = Some(value.to_string()),
            "keep-tables" => self.flags.keep_tables = true,
            "legacy-tables" => self.flags.legacy_tables = true,
            "level" => {
                self.level =
                    *[Level::O0, Level::O1, Level::O2].get(value.parse::<usize>().ok()?)?;
            }
            "inline" => {
                self.pass.inline = match value {
                    "auto" => inline::Mode::Auto,
                    "all" => inline::Mode::All,
                    "none" => inline::Mode::None,
                    "light" => inline::Mode::Light,
                    "heavy" => inline::Mode::Heavy,
                    _ => return None,
                }
            }
            "unroll" => {
                self.pass.unroll = match value {
                    "auto" => unroll::Mode::Auto,
                    "all" => unroll::Mode::All,
                    "none" => unroll::Mode::None,
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }
}

fn slicing(letter: &str) -> Option<Slicing> {
    match letter {
        "B" => Some(Slicing::B),
        "V" => Some(Slicing::V),
        "H" => Some(Slicing::H),
        _ => None,
    }
}

impl RunLine {
    fn parse(text: &str) -> Result<RunLine, String> {
        let parts = || {
            let (call, outputs) = text.split_once("==")?;
            let (entry, inputs) = call.trim().strip_suffix(')')?.split_once('(')?;
            Some(RunLine {
                text: text.to_string(),
                entry: entry.trim().to_string(),
                inputs: numbers(inputs)?,
                outputs: numbers(outputs)?,
            })
        };
        parts().ok_or(format!("`{text}` is not `f(NUMBERS) == NUMBERS`"))
    }
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    let number = |word: &str| {
        let word = word.trim();
        match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    };
    text.split(',').map(number).collect()
}
