//! `# flags: -V -m 16 -keep-tables -legacy-tables -I lib -entry f`

use usuba::ir::Slicing;
use usuba::typed;

/// The flags of a test; the spellings are those of the command line.
#[derive(Clone, Default, Debug)]
pub struct Flags {
    /// `-V`, `-H` or `-B`: only this slicing, and it must exist.
    pub slicing: Option<Slicing>,
    /// `-m`: the word size of a polymorphic entry.
    pub word: Option<u8>,
    /// `-keep-tables`, `-legacy-tables`.
    pub language: typed::Flags,
    /// `-I`: folders of the test file, in order.
    pub include_dirs: Vec<String>,
    /// `-entry`
    pub entry: Option<String>,
}

impl Flags {
    /// Adds the flags of one line.
    ///
    /// # Errors
    /// A flag that tests do not know.
    pub fn read(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
            match word {
                "-V" => self.slicing = Some(Slicing::V),
                "-H" => self.slicing = Some(Slicing::H),
                "-B" => self.slicing = Some(Slicing::B),
                "-m" => {
                    let bits = value()?;
                    self.word = Some(bits.parse().map_err(|_| format!("`-m {bits}`"))?);
                }
                "-keep-tables" => self.language.keep_tables = true,
                "-legacy-tables" => self.language.legacy_tables = true,
                "-I" => self.include_dirs.push(value()?.to_string()),
                "-entry" => self.entry = Some(value()?.to_string()),
                _ => return Err(format!("the flag `{word}` is unknown to tests")),
            }
        }
        Ok(())
    }
}
