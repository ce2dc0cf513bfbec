//! Buffers of any number of blocks: a moving window over the blocks in progress.
//!
//! ```text
//! in    | done           | at done: block 0, 1, 2, ... as instances        | n
//! text  | done           | at done: block 0, 1, 2, ... as instances        | n
//! out   | proved         | window: written since then, by bytes             | n
//! ```
//!
//! There is a `text` if the results are XORed to one.
//!
//! All blocks before `done` have been read, and their results are written and proved. Accesses are
//! at a known distance from there: the address and `done` may depend on the number of blocks, and
//! their difference may not. So a loop over blocks always looks the same, in every turn.
//!
//! The block at distance j is instance j. In place of the input or of the text, a block holds its
//! result once that is written,
//! and reading it before `done` is an error.
//!
//! **Tails.** The last blocks, an unknown number, are copied to the frame and padded with zeros
//! there. The frame then holds a whole number of blocks; instance j is defined as block j if it
//! exists, and zeros if not. A result that is copied back for the same number of blocks is the
//! result of the existing blocks.

use std::rc::Rc;

use super::block_step::{Cover, Joining};
use super::{Fault, Rule};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_equiv::dag::Edge;
use usuba_ranges::{Form, Ranges};

/// Which of the buffers; in place there is no output of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    Input,
    Text,
    Output,
}

/// The constant part of all states of a proof.
#[derive(Debug)]
pub struct Blocks {
    /// Bytes of a block before and after.
    pub input: usize,
    pub output: usize,
    /// The buffer of the results.
    pub results: Side,
    /// The most blocks that a path may process before a branch depends on their number.
    pub most: i64,
    /// The bits of a block, the least significant of the first byte first: parameters of the graph.
    pub params: Vec<Edge>,
    /// The bits of the text; none without one.
    pub text: Vec<Edge>,
    /// The bits of its result, XORed to the text.
    pub wanted: Vec<Edge>,
    /// The constant bits.
    pub constants: [Cell; 2],
}

/// Blocks that are copied to the frame, and not yet padded.
#[derive(Clone, Copy, Debug)]
struct Copied {
    /// Where in the frame.
    start: i64,
    /// The number of blocks; they lie at `done`.
    count: Form,
}

/// A bit of a result that differs from the expected node.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// The bit of the block, from the least significant one of its first byte.
    pub bit: usize,
    pub expected: Cell,
    pub found: Cell,
}

/// The state of the buffers.
#[derive(Clone, Debug)]
pub struct Stream {
    pub blocks: Rc<Blocks>,
    /// The number of blocks that the caller has.
    count: Form,
    /// Blocks that are read, written and proved.
    done: Form,
    /// The number of the instance of the block at `done`.
    first: i64,
    /// The bits that are written after that.
    window: Vec<Option<Cell>>,
    copied: Option<Copied>,
    /// The last blocks: this number, from `done` on, and everything after them is padding.
    last: Option<Form>,
    /// Bits that are not proved.
    pub open: Vec<Open>,
}

impl Stream {
    pub fn new(blocks: Rc<Blocks>, count: Form) -> Stream {
        Stream {
            blocks,
            count,
            done: Form::default(),
            first: 0,
            window: Vec::new(),
            copied: None,
            last: None,
            open: Vec::new(),
        }
    }

    fn size(&self, side: Side) -> usize {
        match side {
            Side::Input => self.blocks.input,
            Side::Text | Side::Output => self.blocks.output,
        }
    }

    /// The distance of an access of this number of bytes from `done`. All of it must be in the
    /// buffer.
    fn distance(
        &self,
        ranges: &Ranges,
        (side, offset): (Side, Form),
        bytes: Form,
    ) -> Result<usize, Fault> {
        let size = self.size(side) as i64;
        let far = || Fault::new(Rule::OutOfBounds, "an address that is far outside of all buffers");
        let at = |blocks: Form| blocks.times(size).ok_or_else(far);
        let minus = |a: Form, b: Form| {
            let form = a.minus(b).ok_or_else(far)?;
            ranges.reduced(form).ok_or_else(far)
        };
        let name = name(side);
        let rest = minus(minus(at(self.count)?, offset)?, bytes)?;
        if !ranges.never_negative(rest) {
            let over = -ranges.bounds(rest).0;
            let what = format!("it may access {over} bytes behind the last block of `{name}`");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        let distance = minus(offset, at(self.done)?)?;
        if !ranges.never_negative(offset) {
            let what = format!("it may access bytes before `{name}`");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        let known = distance.value().and_then(|at| usize::try_from(at).ok());
        if known.is_some_and(|at| at as i64 >= self.blocks.most * size) {
            return Err(self.too_many());
        }
        known.ok_or_else(|| {
            let what = "it accesses blocks that are done already, or that it has not come to";
            Fault::new(Rule::Unsupported, what)
        })
    }

    fn too_many(&self) -> Fault {
        let most = self.blocks.most;
        let what = format!("it processes more than {most} blocks one by one");
        Fault::new(Rule::TooLong, what)
    }

    /// A bit at a distance from `done` of the input.
    fn input(&self, bit: usize) -> Cell {
        self.of_caller(&self.blocks.params, bit)
    }

    /// A bit of blocks whose bits are `params`.
    fn of_caller(&self, params: &[Edge], bit: usize) -> Cell {
        let size = params.len();
        let instance = Instance::Number((self.first as usize + bit / size) as u16);
        Cell::new(params[bit % size], instance)
    }

    pub fn load(
        &mut self,
        ranges: &Ranges,
        (side, offset): (Side, Form),
        bytes: usize,
    ) -> Result<Vec<Cell>, Fault> {
        let at = self.distance(ranges, (side, offset), Form::number(bytes as i64))?;
        let written = |bit: usize| self.window.get(bit).copied().flatten();
        let before = |bit: usize| match side {
            Side::Input => self.input(bit),
            Side::Text => self.of_caller(&self.blocks.text, bit),
            // The content of the output before it is written is no secret.
            Side::Output => Cell::UNSET,
        };
        let cell = |bit: usize| {
            let result = (side == self.blocks.results).then(|| written(bit)).flatten();
            result.unwrap_or_else(|| before(bit))
        };
        Ok((8 * at..8 * (at + bytes)).map(cell).collect())
    }

    pub fn store(
        &mut self,
        ranges: &Ranges,
        (side, offset): (Side, Form),
        cells: &[Cell],
    ) -> Result<(), Fault> {
        self.check_written(side)?;
        let bytes = Form::number(cells.len() as i64 / 8);
        let at = 8 * self.distance(ranges, (side, offset), bytes)?;
        if self.last.is_some() {
            let what = "it writes blocks one by one of which it does not know whether they exist";
            return Err(Fault::new(Rule::Unsupported, what));
        }
        if self.window.len() < at + cells.len() {
            self.window.resize(at + cells.len(), None);
        }
        for (place, &cell) in self.window[at..].iter_mut().zip(cells) {
            *place = Some(cell);
        }
        Ok(())
    }

    fn check_written(&self, side: Side) -> Result<(), Fault> {
        if side != self.blocks.results {
            let what = format!("it writes to `{}`, which is only read", name(side));
            return Err(Fault::new(Rule::ReadOnly, what));
        }
        Ok(())
    }

    /// Ends a turn: everything that was written is whole blocks, right, and done.
    ///
    /// # Errors
    /// Something is missing.
    pub fn commit(&mut self, bits: &Bits) -> Result<(), Fault> {
        let size = 8 * self.blocks.output;
        let blocks = self.window.len().div_ceil(size);
        let window = std::mem::take(&mut self.window);
        for at in 0..blocks * size {
            let Some(found) = window.get(at).copied().flatten() else {
                let what = format!(
                    "byte {} of block {} of `out` is not written, and the next are",
                    at % size / 8,
                    at / size
                );
                return Err(Fault::new(Rule::OutOfBounds, what));
            };
            self.compare(bits, at, found)?;
        }
        let done = self.done.plus(Form::number(blocks as i64));
        self.done = done.ok_or_else(|| Fault::new(Rule::TooLong, "too many blocks"))?;
        self.first += blocks as i64;
        if self.first > self.blocks.most {
            return Err(self.too_many());
        }
        Ok(())
    }

    /// Compares a bit of the result, counted from `done`, with the expected bit.
    fn compare(&mut self, bits: &Bits, at: usize, found: Cell) -> Result<(), Fault> {
        let (block, bit) = (at / (8 * self.blocks.output), at % (8 * self.blocks.output));
        let instance = Instance::Number((self.first as usize + block) as u16);
        let wanted = self.blocks.wanted[bit];
        let expected = Cell::new(wanted, instance);
        let constant = Cell::new(wanted, Instance::Every);
        let expected = if bits.value(constant).is_some() { constant } else { expected };
        if found.edge().is_none() {
            let state = match found {
                Cell::UNSET => "what nobody has written",
                _ => "not a function of that block",
            };
            let what = format!("bit {bit} of a block of `out` is {state}");
            return Err(Fault::new(Rule::Unsupported, what));
        }
        let same = [expected.instance(), Instance::Every].contains(&found.instance());
        if found.edge() != expected.edge() || !same {
            self.open.push(Open { bit, expected, found });
        }
        Ok(())
    }

    /// Ends the function.
    ///
    /// # Errors
    /// There are blocks that are not done.
    pub fn finish(&mut self, ranges: &Ranges, bits: &Bits) -> Result<(), Fault> {
        self.commit(bits)?;
        let far = || Fault::new(Rule::TooLong, "too many blocks");
        let left = self.count.minus(self.done).ok_or_else(far)?;
        let (low, high) = ranges.bounds(left);
        if (low, high) != (0, 0) {
            let what = format!("it returns when at least {low} and at most {high} blocks are left");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        Ok(())
    }

    /// `memcpy` from `in` to the frame at `start`, of a number of bytes that is not known.
    ///
    /// # Errors
    /// The bytes are not whole blocks, or are not those at `done`.
    pub fn copy_in(
        &mut self,
        (ranges, bits): (&Ranges, &Bits),
        (side, offset): (Side, Form),
        start: i64,
        bytes: Form,
    ) -> Result<(), Fault> {
        self.commit(bits)?;
        let unsupported = |what: &str| Fault::new(Rule::Unsupported, what);
        if side != Side::Input || self.last.is_some() || self.copied.is_some() {
            return Err(unsupported("a second copy of a number of bytes that is not known"));
        }
        if self.distance(ranges, (side, offset), bytes)? != 0 {
            return Err(unsupported("it copies blocks that are not the next ones"));
        }
        let count = self.counted(ranges, bytes, self.blocks.input)?;
        self.copied = Some(Copied { start, count });
        Ok(())
    }

    /// `memset` to zero of `bytes` bytes of the frame from `offset` on, after the copied blocks.
    /// Returns where the blocks are that are complete now, and their bits.
    ///
    /// # Errors
    /// It fills up something else.
    pub fn fill(
        &mut self,
        ranges: &Ranges,
        offset: Form,
        bytes: Form,
    ) -> Result<(i64, Vec<Cell>), Fault> {
        let unsupported = |what: &str| Fault::new(Rule::Unsupported, what);
        let copied = self.copied.take();
        let Copied { start, count } =
            copied.ok_or_else(|| unsupported("a number of bytes that is not known is cleared"))?;
        let size = self.blocks.input as i64;
        let begin = count.times(size).and_then(|bytes| bytes.plus(Form::number(start)));
        let reduce = |form: Option<Form>| form.and_then(|form| ranges.reduced(form));
        let end = reduce(offset.plus(bytes)).and_then(Form::value);
        let blocks = end.map(|end| end - start).filter(|_| reduce(begin) == reduce(Some(offset)));
        let blocks = blocks.filter(|bytes| bytes % size == 0 && *bytes >= 0).map(|b| b / size);
        // There must be room for the blocks that were copied, or something else was cleared.
        let fits = |blocks: &i64| {
            let room = Form::number(*blocks).minus(count);
            *blocks + self.first < self.blocks.most
                && room.is_some_and(|room| ranges.never_negative(room))
        };
        let blocks = blocks.filter(fits);
        let blocks = blocks.ok_or_else(|| {
            unsupported("what is cleared is not what a copy of the last blocks has left")
        })?;
        self.last = Some(count);
        Ok((start, (0..8 * (blocks * size) as usize).map(|bit| self.input(bit)).collect()))
    }

    /// The number of blocks in a number of bytes.
    fn counted(&self, ranges: &Ranges, bytes: Form, size: usize) -> Result<Form, Fault> {
        let parts = ranges.divided(bytes, size as i64);
        let count = parts.filter(|(_, rest)| *rest == Form::default()).map(|(count, _)| count);
        count.ok_or_else(|| Fault::new(Rule::Unsupported, "it copies a part of a block"))
    }

    /// `memcpy` to `out` of a number of bytes that is not known; `cells` are as many as there may
    /// be. They are the results of the last blocks, and proved here.
    ///
    /// # Errors
    /// They are others, or not as many as there are blocks.
    pub fn copy_out(
        &mut self,
        (ranges, bits): (&Ranges, &Bits),
        (side, offset): (Side, Form),
        bytes: Form,
        cells: &[Cell],
    ) -> Result<(), Fault> {
        self.check_written(side)?;
        let count = self.counted(ranges, bytes, self.blocks.output)?;
        if !self.window.is_empty() || self.distance(ranges, (side, offset), bytes)? != 0 {
            let what = "results are copied to other blocks than they are of";
            return Err(Fault::new(Rule::Unsupported, what));
        }
        if self.last.take() != Some(count) {
            let what = "it copies the results of another number of blocks than it has read";
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        for (at, &found) in cells.iter().enumerate() {
            self.compare(bits, at, found)?;
        }
        let far = || Fault::new(Rule::TooLong, "too many blocks");
        self.done = self.done.plus(count).ok_or_else(far)?;
        self.first += ranges.bounds(count).1 as i64;
        Ok(())
    }

    /// Whether bits of the frame between two offsets belong to an unpadded copy, which must not be
    /// read.
    pub fn is_unfinished(&self, ranges: &Ranges, start: i64, end: i64) -> bool {
        self.copied.is_some_and(|copied| {
            let size = self.blocks.input as i64;
            let most = ranges.bounds(copied.count).1 as i64;
            start < copied.start + size * most && copied.start < end
        })
    }

    /// Replaces values with one possibility by numbers.
    pub fn refine(&mut self, ranges: &Ranges) {
        let reduce = |form: &mut Form| {
            if let Some(reduced) = ranges.reduced(*form) {
                *form = reduced;
            }
        };
        reduce(&mut self.done);
        reduce(&mut self.count);
        if let Some(copied) = &mut self.copied {
            reduce(&mut copied.count);
        }
        if let Some(last) = &mut self.last {
            reduce(last);
        }
    }

    /// Whether no copy and no open bit remains: the state between two turns.
    pub fn is_clean(&self) -> bool {
        self.window.is_empty() && self.copied.is_none() && self.last.is_none()
    }

    /// See [`super::memory::Memory::joined`].
    pub fn joined(&self, other: &Stream, join: &impl Joining) -> Option<Stream> {
        if !self.is_clean() || !other.is_clean() {
            return None;
        }
        let mut joined = self.clone();
        joined.done = join.form(self.done, other.done)?;
        joined.count = join.form(self.count, other.count)?;
        joined.first = 0;
        Some(joined)
    }

    /// See [`super::memory::Memory::covers`].
    pub fn covers(&self, other: &Stream, cover: &Cover) -> bool {
        self.is_clean()
            && other.is_clean()
            && cover.form(self.done, other.done)
            && cover.form(self.count, other.count)
    }
}

/// The name of a parameter.
fn name(side: Side) -> &'static str {
    match side {
        Side::Input => "in",
        Side::Text => "text",
        Side::Output => "out",
    }
}
