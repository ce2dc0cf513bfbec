//! Places in the source for the printed text: file, line and column of the equations of a program.
//!
//! ```text
//! /* rectangle.ua:14 */
//! const __m256i v9 = _mm256_xor_si256(v5, v7);
//! ```
//!
//! The table has the names of the files and the starts of their lines, and no text. The back ends
//! take it as an option and print without places if it is absent.

use crate::diag::{Sources, Span};
use crate::ir::{NodeId, Val};

/// The files of a compilation, by the starts of their lines.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Places {
    files: Vec<File>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct File {
    name: String,
    /// The offset of the first byte of each line.
    lines: Vec<u32>,
}

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place<'a> {
    /// The index of the file, in the order in which files were read.
    pub file: usize,
    /// The path of the file as the user wrote it.
    pub name: &'a str,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1.
    pub column: usize,
}

/// Lines of the printed text that compute an equation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Printed {
    pub node: NodeId,
    /// The first value that the equation defines.
    pub value: Val,
    /// The first and the last line, counted from 1.
    pub lines: (u32, u32),
}

impl Places {
    pub fn new(sources: &Sources) -> Places {
        let file = |source: &crate::diag::SourceFile| {
            let ends = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            let lines = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
            File { name: source.name.clone(), lines }
        };
        Places { files: sources.files.iter().map(file).collect() }
    }

    /// Where a span begins; `None` if its file is unknown.
    pub fn of(&self, span: Span) -> Option<Place<'_>> {
        let at = span.file.0 as usize;
        let file = self.files.get(at)?;
        let line = file.lines.partition_point(|start| *start <= span.start);
        let column = (span.start - file.lines[line - 1]) as usize + 1;
        Some(Place { file: at, name: &file.name, line, column })
    }

    /// The names of the files, in the order in which they were read.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_the_lines_and_columns_of_the_sources() {
        let mut sources = Sources::default();
        sources.add("a.ua", "");
        let text = "node f\n\n  let\r\ntel";
        let file = sources.add("b.ua", text);
        let places = Places::new(&sources);
        for at in 0..=text.len() {
            let place = places.of(Span::new(file, at, at)).expect("the file is known");
            assert_eq!((place.line, place.column), sources.line_col(file, at as u32));
            assert_eq!((place.name, place.file), ("b.ua", 1));
        }
        assert_eq!(places.of(Span::new(crate::diag::FileId(2), 0, 0)), None);
        assert_eq!(places.names().collect::<Vec<_>>(), ["a.ua", "b.ua"]);
    }
}
