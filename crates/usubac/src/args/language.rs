//! The options about the semantics of a program, and about which part of it to take.

use clap::Args;
use usuba::ir::Slicing;
use usuba::typed::Flags;

use super::common::{Entry, INPUT, Includes, SlicingFlags};
use super::lints::Lints;
use crate::Failure;

/// The semantics of a program, and which part of it to take.
#[derive(Args, Clone, Default, Debug)]
pub struct Language {
    #[command(flatten)]
    slicing: SlicingFlags,
    /// The word size of an entry that leaves it open
    #[arg(short = 'm', long = "word-size", value_name = "BITS",
          value_parser = clap::value_parser!(u8).range(1..=64), help_heading = INPUT)]
    pub word: Option<u8>,
    #[command(flatten)]
    pub entry: Entry,
    #[command(flatten)]
    pub includes: Includes,
    /// Read tables from one word to one word as array look-ups (not constant-time)
    #[arg(hide_short_help = true, long, help_heading = INPUT)]
    pub keep_tables: bool,
    /// Read the ten tables that the OCaml compiler knew in its bit order
    #[arg(long, hide_short_help = true, help_heading = INPUT)]
    pub legacy_tables: bool,
    #[command(flatten)]
    pub lints: Lints,
}

impl Language {
    /// The options of a program that includes files from these folders.
    pub fn including(includes: Includes) -> Language {
        Language { includes, ..Language::default() }
    }

    /// The flags that change the semantics of a program or the set of accepted programs.
    pub fn flags(&self) -> Flags {
        Flags { keep_tables: self.keep_tables, legacy_tables: self.legacy_tables }
    }

    /// The node that was asked for.
    pub fn entry(&self) -> Option<&str> {
        self.entry.entry.as_deref()
    }

    /// The slicing that was asked for.
    pub fn slicing(&self) -> Result<Option<Slicing>, Failure> {
        self.slicing.one()
    }

    /// The slicings that were asked for.
    pub fn slicings(&self) -> Vec<Slicing> {
        self.slicing.all()
    }

    /// Asks for a slicing.
    pub fn set_slicing(&mut self, slicing: Slicing) {
        self.slicing = SlicingFlags::new(slicing);
    }

    /// The same in a slicing.
    pub fn in_slicing(&self, slicing: Slicing) -> Language {
        let mut language = self.clone();
        language.set_slicing(slicing);
        language
    }

    /// Asks for a node.
    pub fn set_entry(&mut self, entry: &str) {
        self.entry.entry = Some(entry.to_string());
    }

    /// The flags that change the semantics of the program, besides the entry.
    pub fn reading(&self) -> String {
        let word = self.word.map(|bits| format!("-m {bits}"));
        let keep = self.keep_tables.then(|| "--keep-tables".to_string());
        let legacy = self.legacy_tables.then(|| "--legacy-tables".to_string());
        [word, keep, legacy].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Reads the text of [`Language::reading`].
    pub fn read_as(&mut self, reading: &str) -> Result<(), String> {
        (self.word, self.keep_tables, self.legacy_tables) = (None, false, false);
        let mut words = reading.split_whitespace();
        while let Some(word) = words.next() {
            match (word, words.clone().next().map(str::parse)) {
                ("-m", Some(Ok(bits))) => {
                    self.word = Some(bits);
                    words.next();
                }
                ("--keep-tables", _) => self.keep_tables = true,
                ("--legacy-tables", _) => self.legacy_tables = true,
                _ => return Err(format!("`{word}` does not say how a program is read")),
            }
        }
        Ok(())
    }
}
