//! `# error U0201: 11-12 message`, `# warning U0406: 3-9 message`, `# help: text`
//!
//! A mark belongs to the code before it on its line; without code there, to the nearest line
//! above that is not a mark itself. Columns count from 1 and the second one is the first column
//! behind; `7-+2:4` ends two lines further down. A finding without a place has no columns. The
//! text is the beginning of the message (or help), and may be empty. Every finding must be
//! marked, and every mark found.

use usuba::diag::{Diagnostic, FileId, Severity, Sources};

/// One expected finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    pub severity: Severity,
    pub code: String,
    /// Line in its part, counted from 1; `None` without a place.
    pub line: Option<usize>,
    /// Columns as they are written; empty without a place.
    pub columns: String,
    pub message: String,
    pub help: Option<String>,
}

/// The marks of one part.
///
/// # Errors
/// A line with a malformed mark, and the reason.
pub fn parse(text: &str) -> Result<Vec<Mark>, (usize, String)> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut code_line = 0;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        if let Some(help) = line.trim_start().strip_prefix("# help:") {
            let Some(mark) = marks.last_mut() else {
                return Err((number, "a `help:` without a finding above it".into()));
            };
            mark.help = Some(help.trim().to_string());
            continue;
        }
        let Some((before, severity, rest)) = find(line) else {
            code_line = number;
            continue;
        };
        if !before.trim().is_empty() {
            code_line = number;
        }
        let Some((code, rest)) = rest.split_once(':') else {
            return Err((number, "a mark is `# error CODE: columns message`".into()));
        };
        let rest = rest.trim();
        let first = rest.split_whitespace().next().unwrap_or_default();
        let placed = first.starts_with(|c: char| c.is_ascii_digit()) && first.contains('-');
        let columns = if placed { first } else { "" };
        marks.push(Mark {
            severity,
            code: code.trim().to_string(),
            line: placed.then_some(code_line),
            columns: columns.to_string(),
            message: rest[columns.len()..].trim().to_string(),
            help: None,
        });
    }
    Ok(marks)
}

/// Splits a line at its mark: the text before it, the severity, and the code with the rest.
fn find(line: &str) -> Option<(&str, Severity, &str)> {
    for (word, severity) in [("# error U", Severity::Error), ("# warning U", Severity::Warning)] {
        if let Some((before, _)) = line.split_once(word) {
            return Some((before, severity, &line[before.len() + word.len() - 1..]));
        }
    }
    None
}

/// Compares the findings of a program with the marks of its parts; part k is file k of
/// `sources` after [`crate::compile`] has put them in that order.
///
/// # Errors
/// All differences, one a line.
pub fn compare(
    part_of: &dyn Fn(FileId) -> usize,
    above: &[usize],
    marks: &[Vec<Mark>],
    sources: &Sources,
    found: &[Diagnostic],
) -> Result<(), String> {
    let mut left: Vec<(usize, &Mark)> = Vec::new();
    for (part, marks) in marks.iter().enumerate() {
        left.extend(marks.iter().map(|mark| (part, mark)));
    }
    let mut wrong = Vec::new();
    for diag in found {
        let (part, have) = mark_of(part_of, sources, diag);
        let at = left
            .iter()
            .position(|(p, want)| (want.line.is_none() || *p == part) && fits(want, &have));
        match at {
            Some(at) => {
                left.remove(at);
            }
            None => wrong.push(format!("found:   {}", show(above[part], &have))),
        }
    }
    wrong.extend(left.iter().map(|(part, mark)| format!("missing: {}", show(above[*part], mark))));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn fits(want: &Mark, have: &Mark) -> bool {
    let help = match (&want.help, &have.help) {
        (None, _) => true,
        (Some(want), have) => have.as_ref().is_some_and(|have| have.starts_with(want)),
    };
    (want.severity, &want.code, want.line, &want.columns)
        == (have.severity, &have.code, have.line, &have.columns)
        && have.message.starts_with(&want.message)
        && help
}

/// A finding as the mark that would expect it, and its part.
fn mark_of(
    part_of: &dyn Fn(FileId) -> usize,
    sources: &Sources,
    diag: &Diagnostic,
) -> (usize, Mark) {
    let mut mark = Mark {
        severity: diag.severity,
        code: diag.code.as_str().to_string(),
        line: None,
        columns: String::new(),
        message: diag.message.clone(),
        help: diag.help.clone(),
    };
    let Some(span) = diag.span else { return (0, mark) };
    let (line, column) = sources.line_col(span.file, span.start);
    let (last, end) = sources.line_col(span.file, span.end);
    mark.line = Some(line);
    mark.columns = match last - line {
        0 => format!("{column}-{end}"),
        down => format!("{column}-+{down}:{end}"),
    };
    (part_of(span.file), mark)
}

fn show(above: usize, mark: &Mark) -> String {
    let place = mark.line.map_or(String::new(), |line| format!("line {}: ", above + line));
    let help = mark.help.as_ref().map_or(String::new(), |help| format!(" (help: {help})"));
    format!("{place}{}{help}", text(mark))
}

fn text(mark: &Mark) -> String {
    let word = if mark.severity == Severity::Error { "error" } else { "warning" };
    let columns =
        if mark.columns.is_empty() { String::new() } else { format!(" {}", mark.columns) };
    format!("# {word} {}:{columns} {}", mark.code, mark.message).trim_end().to_string()
}

/// The text of one part with the marks of its diagnostics, in place of its old ones. A help
/// line is kept where a mark of that code on that line had one.
pub fn bless(
    text_of_part: &str,
    part: usize,
    part_of: &dyn Fn(FileId) -> usize,
    sources: &Sources,
    found: &[Diagnostic],
    old: &[Mark],
) -> String {
    let new: Vec<Mark> = found
        .iter()
        .map(|diag| mark_of(part_of, sources, diag))
        .filter(|(p, _)| *p == part)
        .map(|(_, mark)| mark)
        .collect();
    let mut out = String::new();
    for (at, line) in text_of_part.lines().enumerate() {
        if line.trim_start().starts_with("# help:") {
            continue;
        }
        let code = find(line).map_or(line, |(before, ..)| before).trim_end();
        if find(line).is_some() && code.is_empty() {
            continue;
        }
        out.push_str(code);
        let mut column = code.chars().count();
        let here = |mark: &&Mark| mark.line == Some(at + 1) || (at == 0 && mark.line.is_none());
        for (nth, mark) in new.iter().filter(here).enumerate() {
            if nth > 0 || mark.line.is_none() {
                out.push('\n');
                column = 0;
            }
            out.push_str(if column > 0 { "  " } else { "" });
            out.push_str(&text(mark));
            let same = |o: &&Mark| o.code == mark.code && o.line == mark.line && o.help.is_some();
            if let (Some(help), true) = (&mark.help, old.iter().any(|o| same(&o))) {
                out.push_str("\n# help: ");
                out.push_str(help);
            }
        }
        out.push('\n');
    }
    out
}
