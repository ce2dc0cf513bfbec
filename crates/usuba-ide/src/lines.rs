//! Places as editors count them: lines from 0, and columns in units of UTF-16.
//!
//! ```text
//! "# é 𝄞\nnode"      byte 9 (the line end)   →   line 0, column 6: `𝄞` has two units
//! ```
//!
//! A line ends with `\n`, `\r\n` or a single `\r`, as the language server protocol has it. A column
//! behind the end of its line is the end of the line, and one between the two units of a character
//! is the start of the character.

/// Starts of the lines of a text.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

/// A place: a line and a column in units of UTF-16, both from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Lines {
    pub fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = |&at: &usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = (0..bytes.len()).filter(ends).map(|at| at + 1);
        Lines { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// The first byte of a line.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.starts.get(line).copied()
    }

    /// The place of a byte of the text.
    pub fn place(&self, text: &str, offset: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        Place { line: line as u32, column: before.encode_utf16().count() as u32 }
    }

    /// The byte at a place; the end of the text if it has fewer lines.
    pub fn offset(&self, text: &str, place: Place) -> usize {
        let Some(&start) = self.starts.get(place.line as usize) else { return text.len() };
        let end = self.starts.get(place.line as usize + 1).copied().unwrap_or(text.len());
        let line = text[start..end].trim_end_matches(['\r', '\n']);
        let mut units = place.column as usize;
        for (at, c) in line.char_indices() {
            if units < c.len_utf16() {
                return start + at;
            }
            units -= c.len_utf16();
        }
        start + line.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_units_of_utf16() {
        let text = "# é 𝄞\r\nnode\rf";
        let lines = Lines::new(text);
        let place = |line, column| Place { line, column };
        let end = text.find('\r').expect("a line end");
        assert_eq!(lines.place(text, end), place(0, 6));
        assert_eq!(lines.offset(text, place(0, 6)), end);
        assert_eq!(lines.offset(text, place(0, 5)), end - 4);
        assert_eq!(lines.offset(text, place(0, 99)), end);
        assert_eq!(lines.offset(text, place(9, 0)), text.len());
        assert_eq!(lines.place(text, text.len()), place(2, 1));
    }

    #[test]
    fn every_character_is_found_again() {
        let text = "a\n\nπ = 𝄞;\r\n";
        let lines = Lines::new(text);
        for (at, c) in text.char_indices().filter(|(_, c)| !"\r\n".contains(*c)) {
            assert_eq!(lines.offset(text, lines.place(text, at)), at, "{c:?}");
        }
    }
}
