//! The program of a question, and places in its files as editors count.

use serde::Serialize;
use usuba::diag::{Sources, Span};
use usuba_ide::lines::Lines;

use crate::question::Text;

/// The text of the program to compile.
///
/// # Errors
/// It is not among the files.
pub fn root(text: &Text) -> Result<&str, String> {
    let found = text.files.get(&text.root);
    found.map(String::as_str).ok_or_else(|| format!("there is no file {}", text.root))
}

/// A part of a file. Lines and columns begin at 0, and columns count units of UTF-16.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub file: u32,
    pub from: (u32, u32),
    pub to: (u32, u32),
}

/// The files of a compilation with the starts of their lines.
pub struct Places {
    files: Vec<(String, Lines)>,
}

impl Places {
    pub fn new(sources: &Sources) -> Places {
        let file = |file: &usuba::diag::SourceFile| (file.text.clone(), Lines::new(&file.text));
        Places { files: sources.files.iter().map(file).collect() }
    }

    pub fn range(&self, span: Span) -> Option<Range> {
        let (text, lines) = self.files.get(span.file.0 as usize)?;
        let place = |offset: u32| {
            let place = lines.place(text, offset as usize);
            (place.line, place.column)
        };
        Some(Range { file: span.file.0, from: place(span.start), to: place(span.end) })
    }
}
