//! Diagnostic output: as text for people, as one line each, or as one JSON object each.
//!
//! This is the only module that knows the layout of diagnostics and the use of colours.

use std::io::IsTerminal;

use clap::ValueEnum;
use codespan_reporting::diagnostic::{Diagnostic as Shown, Label, LabelStyle, Severity as Level};
use codespan_reporting::files::{Files, SimpleFiles};
use codespan_reporting::term::termcolor::Buffer;
use codespan_reporting::term::{self, Config, DisplayStyle, Styles, StylesWriter};
use serde::Serialize;
use usuba::diag::{Diagnostic, FileId, Severity, Sources, Span};

/// The format of diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Format {
    /// With the lines of the program and a hint.
    #[default]
    Human,
    /// `file:line:column: error[CODE]: message`
    Short,
    /// One object per line.
    Json,
}

/// The use of colours.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// Longer source lines are omitted: they would flood the terminal.
const LONGEST_LINE: usize = 400;

#[derive(Clone, Copy, Default, Debug)]
pub struct Reporter {
    pub format: Format,
    pub color: Color,
}

impl Reporter {
    /// Writes all diagnostics to standard error, and in the text format the number of errors.
    pub fn show(&self, sources: &Sources, findings: &[Diagnostic]) {
        if findings.is_empty() {
            return;
        }
        let mut text = self.render(sources, findings, self.colored());
        let errors = findings.iter().filter(|d| d.is_error()).count();
        if self.format == Format::Human && errors > 0 {
            let plural = if errors == 1 { "" } else { "s" };
            text.push_str(&format!("{errors} error{plural}\n"));
        }
        crate::output::to_stderr(&text);
    }

    fn colored(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                    && std::io::stderr().is_terminal()
            }
        }
    }

    fn render(&self, sources: &Sources, findings: &[Diagnostic], colored: bool) -> String {
        match self.format {
            Format::Json => findings.iter().map(|d| json(sources, d) + "\n").collect(),
            Format::Human | Format::Short => {
                let mut files = SimpleFiles::new();
                for file in &sources.files {
                    files.add(visible(&file.name), visible(&file.text));
                }
                findings.iter().map(|d| self.text(&files, d, colored)).collect()
            }
        }
    }

    fn text(&self, files: &SimpleFiles<String, String>, d: &Diagnostic, colored: bool) -> String {
        let short = self.format == Format::Short;
        let display_style = match d.span {
            _ if short => DisplayStyle::Short,
            Some(span) if long_line(files, span) => DisplayStyle::Medium,
            _ => DisplayStyle::Rich,
        };
        let config = Config { display_style, ..Config::default() };
        let shown = shown(d);
        let rendered = if colored {
            let styles = Styles::default();
            let mut buffer = Buffer::ansi();
            let mut writer = StylesWriter::new(&mut buffer, &styles);
            let written = term::emit_to_write_style(&mut writer, &config, files, &shown);
            written.map(|()| String::from_utf8_lossy(buffer.as_slice()).into_owned())
        } else {
            term::emit_into_string(&config, files, &shown)
        };
        // A span outside of its file would be a fault of the compiler; the message is still
        // printed.
        rendered.unwrap_or_else(|_| format!("error[{}]: {}\n", d.code, d.message))
    }
}

/// Formats a failure without a program, such as an unreadable file.
pub fn failure(format: Format, text: &str) -> String {
    message(format, "error", text)
}

/// Formats a warning without a program.
pub fn warning(format: Format, text: &str) -> String {
    message(format, "warning", text)
}

fn message(format: Format, severity: &'static str, text: &str) -> String {
    #[derive(Serialize)]
    struct JsonMessage<'a> {
        severity: &'static str,
        code: Option<&'static str>,
        message: &'a str,
    }
    match format {
        Format::Human | Format::Short => format!("{severity}: {text}\n"),
        Format::Json => {
            let message = JsonMessage { severity, code: None, message: text };
            serde_json::to_string(&message).expect("strings have a JSON form") + "\n"
        }
    }
}

fn long_line(files: &SimpleFiles<String, String>, span: Span) -> bool {
    let file = span.file.0 as usize;
    let range = files.line_index(file, span.start as usize).and_then(|i| files.line_range(file, i));
    range.is_ok_and(|range| range.len() > LONGEST_LINE)
}

/// Replaces every control character by a visible one of the same length, so that a program cannot
/// send commands to the terminal.
fn visible(text: &str) -> String {
    let keep = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if text.chars().all(keep) {
        return text.to_string();
    }
    let sign = |c: char| match (c, c.len_utf8()) {
        ('\r', _) => ' ',
        (_, 1) => '?',
        _ => '\u{a6}',
    };
    text.chars().map(|c| if keep(c) { c } else { sign(c) }).collect()
}

fn shown(d: &Diagnostic) -> Shown<usize> {
    let label = |style, span: Span| {
        Label::new(style, span.file.0 as usize, span.start as usize..span.end as usize)
    };
    let level = match d.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
    };
    let first = d.span.map(|span| label(LabelStyle::Primary, span));
    let related = d.related.iter();
    let related = related.map(|(span, why)| label(LabelStyle::Secondary, *span).with_message(why));
    Shown::new(level)
        .with_code(d.code)
        .with_message(&d.message)
        .with_labels_iter(first.into_iter().chain(related))
        .with_notes_iter(d.help.iter().map(|help| format!("help: {help}")))
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    severity: &'static str,
    code: &'static str,
    title: &'static str,
    message: &'a str,
    /// `null` for diagnostics about the whole compilation.
    place: Option<JsonPlace<'a>>,
    related: Vec<JsonRelated<'a>>,
    help: Option<&'a str>,
    /// `null` if the help is no edit of the text.
    fix: Option<JsonFix<'a>>,
}

/// Edits that belong together.
#[derive(Serialize)]
struct JsonFix<'a> {
    /// Whether `usubac check --fix` applies it.
    automatic: bool,
    edits: Vec<JsonEdit<'a>>,
}

#[derive(Serialize)]
struct JsonEdit<'a> {
    place: JsonPlace<'a>,
    text: &'a str,
}

#[derive(Serialize)]
struct JsonRelated<'a> {
    place: JsonPlace<'a>,
    message: &'a str,
}

/// Offsets and columns count bytes; lines and columns start at 1; the end is exclusive.
#[derive(Serialize)]
struct JsonPlace<'a> {
    file: &'a str,
    start: JsonPoint,
    end: JsonPoint,
}

#[derive(Serialize)]
struct JsonPoint {
    offset: u32,
    line: usize,
    column: usize,
}

fn json(sources: &Sources, d: &Diagnostic) -> String {
    let point = |file: FileId, offset| {
        let (line, column) = sources.line_col(file, offset);
        JsonPoint { offset, line, column }
    };
    let place = |span: Span| JsonPlace {
        file: &sources.file(span.file).name,
        start: point(span.file, span.start),
        end: point(span.file, span.end),
    };
    let finding = JsonFinding {
        severity: match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: d.code.as_str(),
        title: d.code.title(),
        message: &d.message,
        place: d.span.map(place),
        related: d
            .related
            .iter()
            .map(|(span, message)| JsonRelated { place: place(*span), message })
            .collect(),
        help: d.help.as_deref(),
        fix: d.fix.as_ref().map(|fix| JsonFix {
            automatic: fix.automatic,
            edits: fix
                .edits
                .iter()
                .map(|edit| JsonEdit { place: place(edit.span), text: &edit.text })
                .collect(),
        }),
    };
    serde_json::to_string(&finding).expect("strings and numbers have a JSON form")
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::diag::Code;

    fn finding(sources: &mut Sources, text: &str) -> Diagnostic {
        let file = sources.add("a.ua", text);
        Diagnostic::error(Code::UnexpectedChar, Span::new(file, 2, 3), "message").help("do this")
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut sources = Sources::default();
        let d = finding(&mut sources, "ab\u{1b}[31m\u{9b}\r\n");
        let text = Reporter::default().render(&sources, &[d], false);
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
        assert!(text.contains("a.ua:1:3"), "{text}");
    }

    #[test]
    fn long_lines_are_left_out() {
        let mut sources = Sources::default();
        let d = finding(&mut sources, &"x".repeat(1 << 20));
        let text = Reporter::default().render(&sources, &[d], false);
        assert!(text.len() < 200 && text.contains("do this"), "{text}");
    }

    #[test]
    fn json_is_one_line_with_places() {
        let mut sources = Sources::default();
        let d = finding(&mut sources, "ab\nc");
        let reporter = Reporter { format: Format::Json, color: Color::Always };
        let text = reporter.render(&sources, &[d], true);
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["code"], "U0101");
        assert_eq!(value["place"]["end"]["line"], 2);
        assert_eq!(value["help"], "do this");
    }
}
