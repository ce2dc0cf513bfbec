//! Certificates: traces, the meaning of the bits in memory, and the steps that show them equal.
//!
//! ```text
//! entry    bit 7 of input 3 of the object = bit 7 of input 1 of the source, of instance 0
//! exit     bit 7 of output 0 of the object = bit 7 of output 0 of the source, of instance 0
//! steps    gate 1204 = literal 871, by a window over nodes 40, 52, 61
//! ```
//!
//! *Claim:* for all inputs of all instances, if the inputs of the function are as `entry` says, its
//! outputs are as `exit` says.
//!
//! *File:* the word `usuba-certificate-2` and a new line; the trace of the source, the number of
//! programs between and their traces, the trace of the function; the meanings at entry and at exit, then the steps. Meanings are runs (see [`Run`]), steps
//! are the number of new gates without a step before it, the literal, four times the number of leaves
//! plus 0 for a window, 1 for a parity, 2 for a window with earlier steps and 3 for a polynomial, the
//! leaves, and the number of those steps and the steps. The seal ends the file ([`seal`]).

use crate::bitblast::{Blaster, is_bitwise};
use crate::bytes::{Reader, put};
use crate::net::{Evidence, FALSE, Guide, Kind, Lit, Net, Step};
use crate::trace::{MOST, Trace};

/// The first bytes of a file.
const HEAD: &[u8] = b"usuba-certificate-2\n";

/// The number of bytes of the seal.
pub const SEAL: usize = 8;

/// The most words with meanings, at entry or at exit.
const WORDS: usize = 1 << 17;

/// The most earlier steps that one names.
const GATES: usize = 1000;

/// The most programs between source and function.
const BETWEEN: usize = 8;

/// The most instances of a source.
const INSTANCES: u32 = 1 << 16;

/// The meaning of a bit of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    Zero,
    /// A bit of an input or output of the source.
    Bit {
        word: u32,
        bit: u8,
        /// `None`: it is one bit for all instances.
        instance: Option<u32>,
        is_complement: bool,
    },
}

/// The meaning of each bit of each word, from the least significant one.
pub type Meanings = Vec<Vec<Meaning>>;

/// A certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    pub source: Trace,
    /// Programs on the inputs of the source. Nothing is claimed about them; their words are nodes that
    /// steps can name.
    pub between: Vec<Trace>,
    pub function: Trace,
    pub entry: Meanings,
    pub exit: Meanings,
    /// The number of gates before each step, and the step.
    pub steps: Vec<(u64, Step)>,
}

/// Reads steps where they stand.
struct Steps<'a> {
    steps: &'a [(u64, Step)],
    /// Gates since the last step.
    gates: u64,
}

impl Guide for Steps<'_> {
    fn step(&mut self, _: &Net, _: Kind, _: [Lit; 2]) -> Result<Option<Step>, String> {
        match self.steps.split_first() {
            Some(((gates, step), rest)) if *gates == self.gates => {
                (self.steps, self.gates) = (rest, 0);
                Ok(Some(step.clone()))
            }
            _ => {
                self.gates += 1;
                Ok(None)
            }
        }
    }

    fn made(&mut self, _: &Net) {}
}

impl Certificate {
    /// Replays the certificate; returns the number of nodes of its graph.
    ///
    /// # Errors
    /// It does not show its claim; the reason says where.
    pub fn replay(&self) -> Result<usize, String> {
        let mut steps = Steps { steps: &self.steps, gates: 0 };
        let nodes = self.guided(&mut steps)?;
        match steps.steps.len() {
            0 => Ok(nodes),
            left => Err(format!("{left} steps are left at the end")),
        }
    }

    /// Compares both traces, with the steps of a guide.
    ///
    /// # Errors
    /// They are not shown equal.
    pub fn guided(&self, guide: &mut dyn Guide) -> Result<usize, String> {
        self.fits()?;
        let is_bitwise = is_bitwise(&self.function)
            && self.entry.iter().chain(&self.exit).all(|word| is_one_bit(word));
        let first = |words: &Meanings| words.iter().map(|word| word[..1].to_vec()).collect();
        let narrow;
        let (entry, exit) = match is_bitwise {
            true => {
                narrow = (first(&self.entry), first(&self.exit));
                (&narrow.0, &narrow.1)
            }
            false => (&self.entry, &self.exit),
        };
        let instances = self.instances(entry, exit);
        let shared = self.shared(entry);
        let mut blaster = Blaster::new(guide);
        let mut sources: Vec<Vec<Vec<Lit>>> = Vec::new();
        let mut outputs = Vec::new();
        for _ in 0..instances {
            let mut inputs = Vec::new();
            for (word, &bits) in self.source.inputs.iter().enumerate() {
                let mut own = blaster.inputs(usize::from(bits))?;
                if let Some(first) = sources.first() {
                    let shared = own.iter_mut().zip(&first[word]).zip(&shared[word]);
                    shared.for_each(|((own, &first), &is_shared)| {
                        if is_shared {
                            *own = first
                        }
                    });
                }
                inputs.push(own);
            }
            for between in &self.between {
                blaster.run(between, &inputs)?;
            }
            outputs.push(blaster.run(&self.source, &inputs)?);
            sources.push(inputs);
        }
        let literal = |of: &[Vec<Vec<Lit>>], meaning: &Meaning| match *meaning {
            Meaning::Zero => FALSE,
            Meaning::Bit { word, bit, instance, is_complement } => {
                let words = &of[instance.unwrap_or(0) as usize];
                words[word as usize][usize::from(bit)] ^ is_complement as Lit
            }
        };
        let bits = |word: &Vec<Meaning>| word.iter().map(|bit| literal(&sources, bit)).collect();
        let inputs: Vec<Vec<Lit>> = entry.iter().map(bits).collect();
        let found = match is_bitwise {
            true => blaster.run_on_one_bit(&self.function, &inputs)?,
            false => blaster.run(&self.function, &inputs)?,
        };
        for (at, (word, meanings)) in found.iter().zip(exit).enumerate() {
            for (bit, (&found, meaning)) in word.iter().zip(meanings).enumerate() {
                if found != literal(&outputs, meaning) {
                    return Err(format!("bit {bit} of output {at} is not shown equal"));
                }
            }
        }
        Ok(blaster.net.nodes().len())
    }

    /// Checks the meanings against the traces.
    fn fits(&self) -> Result<(), String> {
        let of_source = |trace: &Trace| -> Vec<u8> {
            trace.outputs.iter().map(|&id| trace.words[id as usize].bits).collect()
        };
        let sides = [
            (&self.entry, self.function.inputs.clone(), self.source.inputs.clone()),
            (&self.exit, of_source(&self.function), of_source(&self.source)),
        ];
        for (meanings, widths, source) in sides {
            let lengths = meanings.iter().map(Vec::len);
            if !lengths.eq(widths.iter().map(|&bits| usize::from(bits))) {
                return Err("the meanings do not fit the words of the function".into());
            }
            let fits = |meaning: &Meaning| match *meaning {
                Meaning::Zero => true,
                Meaning::Bit { word, bit, instance, .. } => {
                    source.get(word as usize).is_some_and(|&bits| bit < bits)
                        && instance.is_none_or(|instance| instance < INSTANCES)
                }
            };
            if !meanings.iter().flatten().all(fits) {
                return Err("a meaning does not fit the words of the source".into());
            }
        }
        if self.between.iter().any(|between| between.inputs != self.source.inputs) {
            return Err("a program between has other inputs than the source".into());
        }
        // One value of an output that all instances share would be a claim about the first one.
        let is_of_one = |meaning: &Meaning| !matches!(meaning, Meaning::Bit { instance: None, .. });
        match self.exit.iter().flatten().all(is_of_one) {
            true => Ok(()),
            false => Err("an output belongs to no instance".into()),
        }
    }

    fn instances(&self, entry: &Meanings, exit: &Meanings) -> u32 {
        let of = |meaning: &Meaning| match meaning {
            Meaning::Bit { instance: Some(instance), .. } => instance + 1,
            _ => 1,
        };
        entry.iter().chain(exit).flatten().map(of).max().unwrap_or(1)
    }

    /// The bits of the inputs of the source that are one bit for all instances.
    fn shared(&self, entry: &Meanings) -> Vec<Vec<bool>> {
        let widths = self.source.inputs.iter();
        let mut shared: Vec<Vec<bool>> =
            widths.map(|&bits| vec![false; usize::from(bits)]).collect();
        for meaning in entry.iter().flatten() {
            if let Meaning::Bit { word, bit, instance: None, .. } = *meaning {
                shared[word as usize][usize::from(bit)] = true;
            }
        }
        shared
    }

    /// The bytes of the certificate in a file, with its seal.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        out.extend(self.source.bytes());
        put(&mut out, self.between.len() as u64);
        self.between.iter().for_each(|between| out.extend(between.bytes()));
        out.extend(self.function.bytes());
        for meanings in [&self.entry, &self.exit] {
            put(&mut out, meanings.len() as u64);
            for word in meanings {
                let runs = Run::all(word);
                put(&mut out, runs.len() as u64);
                runs.iter().for_each(|run| run.write(&mut out));
            }
        }
        put(&mut out, self.steps.len() as u64);
        for (gates, step) in &self.steps {
            put(&mut out, *gates);
            put(&mut out, u64::from(step.equals));
            let (kind, leaves, gates): (u64, &[u32], &[u32]) = match &step.evidence {
                Evidence::Window(leaves, gates) if gates.is_empty() => (0, leaves, gates),
                Evidence::Parity(leaves) => (1, leaves, &[]),
                Evidence::Window(leaves, gates) => (2, leaves, gates),
                Evidence::Polynomial => (3, &[], &[]),
            };
            put(&mut out, 4 * leaves.len() as u64 + kind);
            leaves.iter().for_each(|&leaf| put(&mut out, u64::from(leaf)));
            if kind == 2 {
                put(&mut out, gates.len() as u64);
            }
            gates.iter().for_each(|&gate| put(&mut out, u64::from(gate)));
        }
        seal(&mut out);
        out
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// The bytes are no certificate; the reason has the place.
    pub fn read(bytes: &[u8]) -> Result<Certificate, String> {
        let (content, end) = bytes.split_at(bytes.len().saturating_sub(SEAL));
        let mut sealed = content.to_vec();
        seal(&mut sealed);
        let from = &mut Reader::new(content);
        if !bytes.starts_with(HEAD) {
            return Err("the file is no certificate of usubac".into());
        }
        if !sealed.ends_with(end) {
            return Err("the file was changed: its last eight bytes do not fit the others".into());
        }
        from.take(HEAD.len())?;
        let source = Trace::read(from)?;
        let between =
            (0..from.count(BETWEEN)?).map(|_| Trace::read(from)).collect::<Result<_, _>>()?;
        let function = Trace::read(from)?;
        let mut sides = Vec::new();
        for _ in 0..2 {
            let mut meanings = Meanings::new();
            for _ in 0..from.count(WORDS)? {
                let mut word = Vec::new();
                for _ in 0..from.count(64)? {
                    Run::read(from, &mut word)?;
                }
                if word.len() > 64 {
                    return Err(from.wrong("a word has more than 64 bits"));
                }
                meanings.push(word);
            }
            sides.push(meanings);
        }
        let small = |from: &mut Reader| {
            let number = from.number()?;
            u32::try_from(number).map_err(|_| from.wrong("a number is too large"))
        };
        let numbers = |from: &mut Reader, count: usize| -> Result<Vec<u32>, String> {
            (0..count).map(|_| small(from)).collect()
        };
        let mut steps = Vec::new();
        for _ in 0..from.count(MOST)? {
            let (before, equals, kind) = (from.number()?, small(from)?, from.count(100)?);
            let leaves = numbers(from, kind / 4)?;
            let evidence = match kind % 4 {
                0 => Evidence::Window(leaves, Vec::new()),
                1 => Evidence::Parity(leaves),
                3 if leaves.is_empty() => Evidence::Polynomial,
                3 => return Err(from.wrong("a polynomial has no leaves")),
                _ => {
                    let count = from.count(GATES)?;
                    Evidence::Window(leaves, numbers(from, count)?)
                }
            };
            steps.push((before, Step { equals, evidence }));
        }
        from.end()?;
        let exit = sides.pop().expect("two were read");
        let entry = sides.pop().expect("two were read");
        Ok(Certificate { source, between, function, entry, exit, steps })
    }
}

/// Appends the seal: the 64-bit hash FNV-1a of the bytes, least significant byte first. Any change of one
/// byte changes it, as each of its steps is a permutation. It says nothing about who wrote the file.
///
/// Source: Fowler, Noll, Vo, Eastlake 2019 (draft-eastlake-fnv).
pub fn seal(bytes: &mut Vec<u8>) {
    let start = 0xcbf2_9ce4_8422_2325u64;
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(start, step);
    bytes.extend(hash.to_le_bytes());
}

/// Whether the bits of a word are one bit of the source, of instance 0, 1, 2 and so on, or of all.
fn is_one_bit(word: &[Meaning]) -> bool {
    let wanted = |at: usize| match word[0] {
        Meaning::Bit { instance: Some(0), word, bit, is_complement } => {
            Meaning::Bit { instance: Some(at as u32), word, bit, is_complement }
        }
        other => other,
    };
    let is_first = !matches!(word[0], Meaning::Bit { instance: Some(1..), .. });
    is_first && word.iter().enumerate().all(|(at, &meaning)| meaning == wanted(at))
}

/// Meanings of consecutive bits: of consecutive bits of one word, or of one bit of consecutive
/// instances.
///
/// *File:* the kind, the number of bits; then, unless the kind is 0 for zeros, the word, the bit and,
/// if the kind has the 1, the instance. The kind is 8 plus 1 if there is an instance, 2 if the bits are
/// complemented, 4 if the instances go up and not the bits.
struct Run {
    first: Meaning,
    count: usize,
    are_instances: bool,
}

impl Run {
    /// The meaning that follows in a run.
    fn next(meaning: Meaning, are_instances: bool) -> Option<Meaning> {
        match meaning {
            Meaning::Zero => Some(Meaning::Zero),
            Meaning::Bit { word, bit, instance, is_complement } => {
                let (bit, instance) = match (are_instances, instance) {
                    (true, Some(instance)) => (bit, Some(instance.checked_add(1)?)),
                    (true, None) => (bit, None),
                    (false, _) => (bit.checked_add(1)?, instance),
                };
                Some(Meaning::Bit { word, bit, instance, is_complement })
            }
        }
    }

    fn all(word: &[Meaning]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut at = 0;
        while at < word.len() {
            let length = |are_instances: bool| {
                let follows = |pair: &[Meaning]| Run::next(pair[0], are_instances) == Some(pair[1]);
                1 + word[at..].windows(2).take_while(|pair| follows(pair)).count()
            };
            let (bits, instances) = (length(false), length(true));
            let are_instances = instances > bits;
            let count = bits.max(instances);
            runs.push(Run { first: word[at], count, are_instances });
            at += count;
        }
        runs
    }

    fn write(&self, out: &mut Vec<u8>) {
        let Meaning::Bit { word, bit, instance, is_complement } = self.first else {
            out.push(0);
            return put(out, self.count as u64);
        };
        let instances = (self.are_instances as u8) << 2;
        out.push(8 | instance.is_some() as u8 | (is_complement as u8) << 1 | instances);
        put(out, self.count as u64);
        put(out, u64::from(word));
        out.push(bit);
        instance.into_iter().for_each(|instance| put(out, u64::from(instance)));
    }

    /// Reads a run and appends its meanings.
    fn read(from: &mut Reader, word: &mut Vec<Meaning>) -> Result<(), String> {
        let kind = from.byte()?;
        let count = from.count(64)?;
        let mut meaning = match kind {
            0 => Meaning::Zero,
            8..=15 => {
                let number = from.count(MOST)? as u32;
                let bit = from.byte()?;
                let instance = match kind & 1 {
                    1 => Some(from.count(INSTANCES as usize)? as u32),
                    _ => None,
                };
                Meaning::Bit { word: number, bit, instance, is_complement: kind & 2 != 0 }
            }
            _ => return Err(from.wrong("there is no such meaning")),
        };
        for at in 0..count {
            if at > 0 {
                let next = Run::next(meaning, kind & 4 != 0);
                meaning = next.ok_or_else(|| from.wrong("a run is too long"))?;
            }
            word.push(meaning);
        }
        Ok(())
    }
}
