//! Known-answer tests of cipher folders, by the reference semantics and then by compiled C.
//!
//! ```text
//! rectangle80_encrypt  reference           2 vectors
//! rectangle80_encrypt  V         gp64      2 vectors, 16 random blocks
//! ```
//!
//! A function whose vectors the reference semantics refutes is not compiled. Random blocks, whose
//! outputs come from the reference semantics, give each lane another input, even with one vector.

use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba_ciphers::{Cipher, Tested, Vector};
use usuba_prove::threads;

use crate::bench::{Batch, Choice, Problem, Scope, Side, Subject, subjects};
use crate::session::folder;

/// Random keys, and random blocks of each of them.
const RANDOM: [usize; 2] = [2, 8];

/// The parameters of a test.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub ciphers: &'a [Cipher],
    /// Its slicings and `all` choose kernels.
    pub choice: &'a Choice,
    /// Only the functions, hash functions and streams of these names, if any.
    pub functions: &'a [String],
    pub side: &'a Side,
    pub targets: &'a [&'static Target],
    /// The seed of random blocks.
    pub seed: u64,
    /// Tests at the same time; the default is one for each core.
    pub jobs: Option<u16>,
    /// Called after each part, with its name.
    pub done: &'a (dyn Fn(&str) + Sync),
}

/// The result of a test.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The name of the folder.
    pub cipher: String,
    pub function: String,
    /// The kernel; none is the reference semantics.
    pub kernel: Option<(Slicing, &'static Target)>,
    pub outcome: Outcome,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The number of vectors, or of blocks in lanes.
    Right(usize),
    /// The reason why it was not tested.
    Skipped(String),
    /// The program or its vectors have an error, or the compiler makes no kernel of the slicing for
    /// the target: the message.
    Refused(String),
    /// The message.
    Wrong(String),
}

impl Answer {
    pub fn is_wrong(&self) -> bool {
        matches!(self.outcome, Outcome::Wrong(_))
    }

    pub fn is_refused(&self) -> bool {
        matches!(self.outcome, Outcome::Refused(_))
    }
}

/// A subject with its random blocks.
type More<'a> = (Subject<'a>, &'a [Vector]);

/// A part of a cipher folder with vectors.
#[derive(Clone, Copy)]
enum Part {
    Function(usize),
    Stream(usize),
    Hash(usize),
    Seal(usize),
    /// Hand-written C around functions of this and other folders.
    HandWritten,
}

impl<'a> Request<'a> {
    /// Whether a name is selected.
    fn wants(&self, name: &str) -> bool {
        self.functions.is_empty() || self.functions.iter().any(|wanted| wanted == name)
    }

    /// Tests all functions, streams and hash functions by the reference semantics.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn reference(&self) -> Result<Vec<Answer>, String> {
        let mut tasks: Vec<(&Cipher, &str, Part)> = Vec::new();
        for cipher in self.ciphers {
            let mut add = |name: &'a str, part| tasks.push((cipher, name, part));
            cipher.functions.iter().enumerate().for_each(|(n, f)| add(&f.name, Part::Function(n)));
            cipher.streams.iter().enumerate().for_each(|(n, s)| add(&s.name, Part::Stream(n)));
            cipher.hashes.iter().enumerate().for_each(|(n, h)| add(&h.name, Part::Hash(n)));
            cipher.macs.iter().for_each(|mac| add(&mac.name, Part::HandWritten));
            cipher.seals.iter().enumerate().for_each(|(n, s)| add(&s.name, Part::Seal(n)));
            cipher.arithmetic.iter().for_each(|scheme| add(&scheme.name, Part::HandWritten));
        }
        tasks.retain(|(_, name, _)| self.wants(name));
        threads::each(&tasks, self.jobs, |&(cipher, name, part)| {
            let elsewhere =
                || Ok(Tested::Skipped("the tests of its hand-written C have its vectors".into()));
            let tested = match part {
                Part::Function(n) => {
                    cipher.verify_function(&cipher.functions[n], None).map(Tested::Right)
                }
                Part::Stream(n) => cipher.verify_stream(&cipher.streams[n], None),
                Part::Hash(n) => cipher.verify_hash(&cipher.hashes[n], None),
                Part::Seal(n) => cipher.verify_seal(&cipher.seals[n], None),
                Part::HandWritten => elsewhere(),
            };
            let outcome = match tested {
                Ok(Tested::Right(vectors)) => Outcome::Right(vectors),
                Ok(Tested::Skipped(why)) => Outcome::Skipped(why),
                Err(wrong) => match part {
                    Part::Function(n) if cipher.check_function(&cipher.functions[n]).is_err() => {
                        Outcome::Refused(wrong)
                    }
                    _ => Outcome::Wrong(wrong),
                },
            };
            (self.done)(name);
            Answer { cipher: folder(cipher), function: name.into(), kernel: None, outcome }
        })
    }

    /// Tests the kernels of the functions that `reference` does not refute.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn compiled(&self, reference: &[Answer]) -> Result<Vec<Answer>, String> {
        let mut chosen = subjects(self.ciphers, self.choice, self.side);
        chosen.retain(|subject| {
            let refuted = |answer: &&Answer| {
                (answer.is_wrong() || answer.is_refused())
                    && answer.function == subject.function.name
                    && answer.cipher == folder(subject.cipher)
            };
            self.wants(&subject.function.name) && !reference.iter().any(|a| refuted(&a))
        });
        let vectors = self.random_vectors(&chosen)?;
        let mut tasks: Vec<(&'static Target, Vec<More>)> = Vec::new();
        for cipher in self.ciphers {
            for &target in self.targets {
                let made = |subject: &Subject| {
                    let mut slicings = subject.function.slicings_on(target);
                    subject.cipher.folder == cipher.folder
                        && subject.function.is_for(target)
                        && slicings.any(|slicing| slicing == subject.slicing)
                };
                let of = chosen.iter().zip(&vectors).filter(|(subject, _)| made(subject));
                let of: Vec<More> = of.map(|(subject, more)| (*subject, &more[..])).collect();
                if !of.is_empty() {
                    tasks.push((target, of));
                }
            }
        }
        let all = threads::each(&tasks, self.jobs, |(target, of)| {
            let results = Batch::with_more(target, of).measure(None, Scope::Kernel);
            (self.done)(target.name);
            let answers = of.iter().zip(results).map(|((subject, _), result)| Answer {
                cipher: folder(subject.cipher),
                function: subject.function.name.clone(),
                kernel: Some((subject.slicing, *target)),
                outcome: match result {
                    Ok(measured) => Outcome::Right(measured.blocks),
                    Err(Problem::Skipped(why)) => Outcome::Skipped(why),
                    Err(Problem::Refused(why)) => Outcome::Refused(why),
                    Err(Problem::Failed(why)) => Outcome::Wrong(why),
                },
            });
            answers.collect::<Vec<Answer>>()
        })?;
        let mut answers = all.concat();
        // In the order of the description; targets keep their order.
        answers.sort_by_key(|answer| {
            chosen.iter().position(|s| {
                folder(s.cipher) == answer.cipher
                    && s.function.name == answer.function
                    && answer.kernel.is_some_and(|(slicing, _)| slicing == s.slicing)
            })
        });
        Ok(answers)
    }

    /// Random blocks for each subject; all slicings of a function share them.
    fn random_vectors(&self, chosen: &[Subject]) -> Result<Vec<Vec<Vector>>, String> {
        let same = |a: &Subject, b: &Subject| {
            a.cipher.folder == b.cipher.folder && a.function.name == b.function.name
        };
        let mut functions: Vec<Subject> = Vec::new();
        for subject in chosen {
            if !functions.iter().any(|known| same(known, subject)) {
                functions.push(*subject);
            }
        }
        let random =
            |subject: &Subject| subject.cipher.random_vectors(subject.function, self.seed, RANDOM);
        let made: Vec<Vec<Vector>> =
            threads::each(&functions, self.jobs, random)?.into_iter().collect::<Result<_, _>>()?;
        let of = |subject: &Subject| functions.iter().position(|known| same(known, subject));
        Ok(chosen
            .iter()
            .map(|subject| of(subject).map_or(Vec::new(), |at| made[at].clone()))
            .collect())
    }
}
