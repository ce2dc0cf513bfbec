//! The parts of a test file.
//!
//! `# file: lib/b.ua` starts another file of the same program; the text above the first such
//! line is the root, called `main.ua`. The compiler sees each part with all its comments, so lines
//! and columns are the ones of the file.

use crate::flags::Flags;
use crate::marks::Mark;

/// How far the program of a test goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    Syntax,
    Check,
    Lint,
    Prove,
    Lower,
    Run,
    Pass(String),
}

/// One source file of a program.
#[derive(Clone, Debug)]
pub struct Part {
    /// As `include` names it.
    pub name: String,
    pub text: String,
    /// Lines of the test file above this part.
    pub above: usize,
}

/// One test file.
#[derive(Clone, Debug)]
pub struct Case {
    pub mode: Mode,
    pub flags: Flags,
    pub parts: Vec<Part>,
    /// Expected diagnostics, by part.
    pub marks: Vec<Vec<Mark>>,
    pub runs: Vec<RunLine>,
    /// The words after `# count:`, with the line.
    pub counts: Vec<(usize, String)>,
    /// The text of the `# expect:` block, if there is one.
    pub expect: Option<String>,
}

/// One expected call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLine {
    pub line: usize,
    pub entry: String,
    pub inputs: Vec<u64>,
    pub outputs: Vec<u64>,
}

impl RunLine {
    /// Reads the text after `run:`.
    ///
    /// # Errors
    /// The malformed part.
    pub fn parse(text: &str, line: usize) -> Result<RunLine, String> {
        let form = || format!("`{text}` is not `node(atoms) == atoms`");
        let (call, result) = text.split_once("==").ok_or_else(form)?;
        let (entry, inputs) = call.trim().split_once('(').ok_or_else(form)?;
        let inputs = inputs.strip_suffix(')').ok_or_else(form)?;
        let result = result.trim();
        let bare = result.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(result);
        Ok(RunLine {
            line,
            entry: entry.trim().to_string(),
            inputs: atoms(inputs)?,
            outputs: atoms(bare)?,
        })
    }
}

fn atoms(text: &str) -> Result<Vec<u64>, String> {
    let mut out = Vec::new();
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let wrong = || format!("`{word}` is not a number");
        if let Some(bits) = word.strip_prefix("0b") {
            for bit in bits.chars() {
                out.push(bit.to_digit(2).ok_or_else(wrong)?.into());
            }
            continue;
        }
        let number = match word.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => word.parse(),
        };
        out.push(number.map_err(|_| wrong())?);
    }
    Ok(out)
}

const ROOT: &str = "main.ua";

impl Case {
    /// Takes `text` apart.
    ///
    /// # Errors
    /// A directive that is unknown or malformed, with its line.
    pub fn parse(text: &str) -> Result<Case, String> {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let words: Vec<&str> = head.split_whitespace().collect();
        let mode = match words.as_slice() {
            ["#", "test", "syntax"] => Mode::Syntax,
            ["#", "test", "check"] => Mode::Check,
            ["#", "test", "lint"] => Mode::Lint,
            ["#", "test", "prove"] => Mode::Prove,
            ["#", "test", "lower"] => Mode::Lower,
            ["#", "test", "run"] => Mode::Run,
            ["#", "test", "pass", name] => Mode::Pass(name.to_string()),
            _ => return Err(format!("line 1: `{head}` does not say what to test")),
        };
        let (body, expect) = crate::expect::split(text);
        let mut case = Case {
            mode,
            flags: Flags::default(),
            parts: vec![Part { name: ROOT.into(), text: String::new(), above: 0 }],
            marks: Vec::new(),
            runs: Vec::new(),
            counts: Vec::new(),
            expect,
        };
        for (at, line) in body.lines().enumerate() {
            if let Some(name) = line.strip_prefix("# file:") {
                let part = Part { name: name.trim().into(), text: String::new(), above: at + 1 };
                case.parts.push(part);
                continue;
            }
            let part = case.parts.last_mut().expect("there is a root");
            part.text.push_str(line);
            part.text.push('\n');
            let number = at + 1;
            case.directive(line, number).map_err(|why| format!("line {number}: {why}"))?;
        }
        for part in &case.parts {
            let marks = crate::marks::parse(&part.text);
            case.marks
                .push(marks.map_err(|(line, why)| format!("line {}: {why}", part.above + line))?);
        }
        Ok(case)
    }

    fn directive(&mut self, line: &str, number: usize) -> Result<(), String> {
        let Some((word, rest)) = line.strip_prefix("# ").and_then(|l| l.split_once(':')) else {
            return Ok(());
        };
        let rest = rest.trim();
        match word {
            "flags" => self.flags.read(rest)?,
            "run" => self.runs.push(RunLine::parse(rest, number)?),
            "count" => self.counts.push((number, rest.to_string())),
            _ => {}
        }
        Ok(())
    }

    /// A test that expects nothing tests nothing.
    ///
    /// # Errors
    /// The parts that the mode of the test lacks, or has no use for.
    pub fn complete(&self) -> Result<(), String> {
        let marked = self.marks.iter().any(|marks| !marks.is_empty());
        let bare = self.runs.is_empty() && self.counts.is_empty() && self.expect.is_none();
        match self.mode {
            Mode::Run if self.runs.is_empty() => Err("a run test without a `run:` line".into()),
            Mode::Pass(_) if bare => Err("a pass test that expects nothing".into()),
            Mode::Syntax | Mode::Check | Mode::Lint | Mode::Prove | Mode::Lower
                if !self.runs.is_empty() =>
            {
                Err("`run:` lines belong to `# test run` and `# test pass`".into())
            }
            Mode::Lower if bare && !marked => Err("a lower test that expects nothing".into()),
            Mode::Syntax | Mode::Check | Mode::Lint | Mode::Prove
                if !self.counts.is_empty() || self.expect.is_some() =>
            {
                Err("there is nothing to count or print before the program is sliced".into())
            }
            _ => Ok(()),
        }
    }
}
