//! `# flags: -V -m 16 --target avx2 --keep-tables --legacy-tables -I lib --entry f`

use std::str::FromStr;

use usuba::emit::c::COptions;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::lint::{Level, Levels};
use usuba::passes::pipeline::PipelineOptions;
use usuba::passes::{PassOptions, inline, unroll};
use usuba::{Options, typed};

/// The flags of a test; their spellings are as on the command line.
#[derive(Clone, Debug)]
pub struct Flags {
    /// `-V`, `-H`, `-B` or `-W`: only this slicing, and it must exist.
    pub slicing: Option<Slicing>,
    /// `-m`: the word size of a polymorphic entry.
    pub word: Option<u8>,
    /// `--target`: whose operators there are; gp64 if absent.
    pub target: &'static Target,
    /// `--keep-tables`, `--legacy-tables`.
    pub language: typed::Flags,
    /// `-I`: folders of the test file, in order.
    pub include_dirs: Vec<String>,
    /// `--warn CODE`: a lint that is silent otherwise.
    pub levels: Levels,
    /// `--entry`
    pub entry: Option<String>,
    /// `--inline`, `--unroll all`, `--interleave`, `--interleave-grain`, `--schedule-window`, and
    /// `-regs`, the registers of the machine: for a single pass.
    pub pass: PassOptions,
}

impl Default for Flags {
    fn default() -> Flags {
        Flags {
            slicing: None,
            word: None,
            target: isa::ALL[0],
            language: typed::Flags::default(),
            include_dirs: Vec::new(),
            levels: Levels::default(),
            entry: None,
            pass: PassOptions::default(),
        }
    }
}

fn number<T: FromStr>(flag: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{flag} {text}`"))
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
                "-W" => self.slicing = Some(Slicing::W),
                "-m" => {
                    self.word = Some(number(word, value()?)?);
                }
                "--target" => {
                    let name = value()?;
                    self.target = isa::find(name)
                        .ok_or_else(|| format!("`--target {name}`: no such target"))?;
                }
                "--keep-tables" => self.language.keep_tables = true,
                "--legacy-tables" => self.language.legacy_tables = true,
                "-I" => self.include_dirs.push(value()?.to_string()),
                "--warn" => self.levels.set(value()?.parse()?, Level::Warn),
                "--entry" => self.entry = Some(value()?.to_string()),
                "--interleave-grain" => self.pass.interleave.grain = number(word, value()?)?,
                "--interleave" => self.pass.interleave.factor = Some(number(word, value()?)?),
                "-regs" => self.pass.machine.regs = number(word, value()?)?,
                "--schedule-window" => self.pass.schedule.window = number(word, value()?)?,
                "--unroll" => {
                    self.pass.unroll = match value()? {
                        "all" => unroll::Mode::All,
                        "none" => unroll::Mode::None,
                        rounds => unroll::Mode::Rounds(number(word, rounds)?),
                    }
                }
                "--inline" => {
                    self.pass.inline = match value()? {
                        "all" => inline::Mode::All,
                        "none" => inline::Mode::None,
                        other => return Err(format!("`{word} {other}`")),
                    }
                }
                "-andn" => self.pass.logic.andn = true,
                "-ternary" => self.pass.logic.ternary = true,
                "-affine" => self.pass.logic.affine = true,
                "-muladd" => self.pass.logic.muladd = 52,
                _ => return Err(format!("the flag `{word}` is unknown to tests")),
            }
        }
        Ok(())
    }

    /// The options of a compilation with these flags.
    pub fn options(&self, slicing: Slicing) -> Options {
        // Where registers have no lanes W is V, which is looked at by itself.
        let target = match slicing {
            Slicing::W if !self.target.simd => isa::find("avx512").expect("a target"),
            _ => self.target,
        };
        Options {
            slicing,
            target,
            cpu: isa::cpu::ALL[0],
            word: self.word,
            entry: self.entry.clone(),
            flags: self.language,
            pipeline: PipelineOptions { pass: self.pass, ..PipelineOptions::default() },
            c: COptions::default(),
        }
    }
}
