//! Findings as comments: `z = x + w  # error U0201: 11-12 what is wrong`.
//!
//! A finding stands on the line where it starts, with the columns of its span: the first one,
//! and the one behind the last. What belongs to it (its help, other places, more findings of the
//! same line) follows on lines of comments. Findings without a place stand below the first line.

use std::collections::BTreeMap;

use usuba::diag::{Diagnostic, FileId, Severity, Sources, Span};

const HEADS: [&str; 2] = ["error", "warning"];

/// The text without findings.
pub fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut after_finding = false;
    for line in text.lines() {
        let comment = line.trim_start();
        let more = ["# help: ", "# see: "].iter().any(|head| comment.starts_with(head));
        if after_finding && more {
            continue;
        }
        match finding_at(line) {
            Some(at) => {
                after_finding = true;
                let code = line[..at].trim_end();
                if !code.is_empty() {
                    out.push_str(code);
                    out.push('\n');
                }
            }
            None => {
                after_finding = false;
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// Where `# error U0123:` or `# warning U0123:` begins in a line.
fn finding_at(line: &str) -> Option<usize> {
    let is_finding = |(at, _): &(usize, &str)| {
        let rest = &line[at + 2..];
        HEADS.iter().any(|head| {
            let code = rest.strip_prefix(head).and_then(|r| r.strip_prefix(" U"));
            code.is_some_and(|c| c.len() > 4 && c.as_bytes()[4] == b':')
        })
    };
    line.match_indices("# ").find(is_finding).map(|(at, _)| at)
}

/// The stripped text of `file` with its findings written into it. `diags` may speak of other
/// files too; those findings are written like ones without a place.
pub fn attach(sources: &Sources, file: FileId, diags: &[Diagnostic]) -> String {
    let mut by_line: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
    for diag in diags {
        let (line, columns) = match diag.span {
            Some(span) if span.file == file => columns(sources, span),
            Some(span) => (1, format!("{} ", sources.file(span.file).name)),
            None => (1, String::new()),
        };
        let severity = match diag.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut comments = vec![format!("# {severity} {}: {columns}{}", diag.code, diag.message)];
        for (span, why) in &diag.related {
            let (line, columns) = columns_of(sources, *span);
            comments.push(format!("# see: {line}:{columns} {why}"));
        }
        comments.extend(diag.help.iter().map(|help| format!("# help: {help}")));
        by_line.entry(line).or_default().push(comments);
    }
    let text = &sources.file(file).text;
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let findings = by_line.remove(&(number + 1)).unwrap_or_default();
        out.push_str(line);
        let comments = findings.into_iter().flatten();
        // Below the first line, which is the directive, behind any other.
        let mut behind = number > 0;
        let indent = if behind { line.chars().count() + 2 } else { 0 };
        for comment in comments {
            if behind {
                out.push_str(&format!("  {comment}"));
                behind = false;
            } else {
                out.push_str(&format!("\n{:indent$}{comment}", ""));
            }
        }
        out.push('\n');
    }
    // A span may lie behind the last line end.
    for comment in by_line.into_values().flatten().flatten() {
        out.push_str(&format!("{comment}\n"));
    }
    out
}

/// Line, and `start-end `.
fn columns(sources: &Sources, span: Span) -> (usize, String) {
    let (line, columns) = columns_of(sources, span);
    (line, format!("{columns} "))
}

fn columns_of(sources: &Sources, span: Span) -> (usize, String) {
    let (line, start) = sources.line_col(span.file, span.start);
    let (last, end) = sources.line_col(span.file, span.end);
    let end = if last == line { end.to_string() } else { String::new() };
    (line, format!("{start}-{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strip_leaves_other_comments_alone() {
        let text = "\
# test check
# error U0207: nothing is here
# help: write something
# a help: about this
z = x + w;  # error U0201: 11-12 no w
            # help: say x
            # warning U0406: 3-4 again
y = 1; # see: an error, U0201
";
        let stripped =
            "# test check\n# a help: about this\nz = x + w;\ny = 1; # see: an error, U0201\n";
        assert_eq!(strip(text), stripped);
    }
}
