//! Arithmetic of numbers and addresses that depend on the number of blocks.
//!
//! ```text
//! add rsi, 1024      in + 1024 t becomes in + 1024 t + 1024
//! and ecx, 127       128 q + r becomes r
//! not eax            -1 - 128 q
//! ```

use super::address::Address;
use super::flags::{Flag, Flags};
use super::memory::Moving;
use super::word::{Binary, Word, form, lowest, numbers};
use super::{Fault, Rule, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic::Shift;
use usuba_ranges::{Asked, Form, Range, Ranges, VARIABLES, Verdict};

/// A number with at most this many values is told apart where the model has no form.
const FEW: i128 = 64;

/// The largest divisor of a public word of which nothing is known, so that the remainder is a
/// number.
const RESTS: u64 = 1 << 16;

/// A quotient with at most this many values is told apart.
const MANY: i128 = 4;

/// The result of an operation on a count, and its flags.
type Made = Result<(Word, Flags), Fault>;

pub fn too_large() -> Fault {
    unsupported("a number of blocks becomes too large")
}

impl World<'_> {
    pub(crate) fn ranges(&self) -> Ranges {
        self.memory.unknowns.ranges.clone()
    }

    /// Whether a form always fits into `bits` bits.
    pub(crate) fn is_within(&self, form: Form, bits: u32) -> bool {
        let (low, high) = self.ranges().bounds(form);
        low >= 0 && high < 1 << bits
    }

    /// Whether a form is its own value as a number of `bytes` bytes with a sign.
    fn is_signed(&self, form: Form, bytes: usize) -> bool {
        let most = 1i128 << (8 * bytes - 1);
        let (low, high) = self.ranges().bounds(form);
        bytes == 8 || low >= -most && high < most
    }

    /// Bytes of a word that is a count: all of a register.
    fn count_bytes(&self) -> usize {
        self.memory.convention.address
    }

    /// The lowest bytes of a count.
    pub(crate) fn low(&self, form: Form, bytes: usize) -> Word {
        if bytes >= self.count_bytes() || self.is_within(form, 8 * bytes as u32) {
            return Word::Count(form);
        }
        match self.ranges().divided(form, 1 << (8 * bytes)) {
            Some((_, rest)) => match rest.value() {
                Some(value) => Word::Number(value as u64),
                None => Word::Count(rest),
            },
            None => Word::Low(form, bytes as u8),
        }
    }

    pub(crate) fn reduced(&self, form: Option<Form>) -> Result<Form, Fault> {
        form.and_then(|form| self.ranges().reduced(form)).ok_or_else(too_large)
    }

    /// A word that holds a form in its lowest bytes.
    pub(crate) fn count_word(&self, form: Option<Form>, bytes: usize) -> Result<Word, Fault> {
        let form = self.reduced(form)?;
        let ones = u64::MAX >> (64 - 8 * bytes);
        Ok(match form.value() {
            Some(value) => Word::Number(value as u64 & ones),
            None => self.low(form, bytes),
        })
    }

    /// -x - 1
    pub(crate) fn turned(&self, form: Form, bytes: usize) -> Result<Word, Fault> {
        self.count_word(Form::number(-1).minus(form), bytes)
    }

    pub(crate) fn multiplied(&self, form: Form, factor: u64, bytes: usize) -> Result<Word, Fault> {
        self.count_word(form.times(factor as i64), bytes)
    }

    /// Arithmetic of two operands that are numbers, or of which one is an address, a count or moves;
    /// `None` of bits.
    pub(crate) fn public(
        &mut self,
        operation: Binary,
        operands: [&Word; 2],
        bytes: usize,
    ) -> Option<Made> {
        // Bits of a public word are public, and not known.
        let unset = Word::unset();
        let operands = match operation {
            Binary::And | Binary::Or | Binary::Xor => {
                operands.map(|word| if word.is_public() { &unset } else { word })
            }
            _ => operands,
        };
        if let Some(made) = self.counted(operation, operands, bytes) {
            return Some(made);
        }
        match operands {
            [&Word::Number(a), &Word::Number(b)] => Some(Ok(numbers(operation, a, b, bytes))),
            [a, b] if [a, b].iter().any(|word| matches!(word, Word::Pointer(_))) => {
                Some(self.pointers(operation, a, b))
            }
            [a, b] if operation == Binary::And => {
                let [a, b] = [a, b].map(|word| word.cells(&self.bits));
                let rest = self.public_rest([&a?[..8 * bytes], &b?[..8 * bytes]])?;
                let rest = Word::Count(rest);
                let flags = self.flags_of_count(&rest, bytes);
                Some(Ok((rest, flags)))
            }
            _ => None,
        }
    }

    /// Arithmetic of two operands of which one is a count or moves; `None` of others.
    fn counted(&mut self, operation: Binary, operands: [&Word; 2], bytes: usize) -> Option<Made> {
        // The difference of two addresses in one stream may be known.
        let is_counted = operands.iter().any(|word| word.is_counted());
        is_counted.then(|| match operands.map(Word::place) {
            // No value of a count makes the sum with unknown bits known.
            [None, None]
                if self.forks.follows
                    && operation != Binary::And
                    && operands.iter().any(|word| matches!(word, Word::Bits(_))) =>
            {
                Ok(self.unknown_result(operands))
            }
            [None, None] => {
                let made = self.combined_counts(operation, operands, bytes);
                let forms = operands.map(|word| form(word, bytes));
                self.or_unknown(made, forms, self.unknown_result(operands))
            }
            places => self.moved_by(operation, operands, places),
        })
    }

    /// A result that is outside of the model, unless one of its operands has few values.
    pub(crate) fn or_unknown<T>(
        &mut self,
        made: Result<T, Fault>,
        forms: [Option<Form>; 2],
        unknown: T,
    ) -> Result<T, Fault> {
        let forks = &self.forks;
        let is_asked = self.memory.unknowns.asked.is_some() || forks.asked.is_some();
        match made {
            Err(fault) if fault.rule == Rule::Unsupported && forks.follows && !is_asked => {
                let ranges = self.ranges();
                let is_small = |form: &Form| {
                    let (low, high) = ranges.bounds(*form);
                    low < high && high - low <= FEW
                };
                match forms.into_iter().flatten().find(is_small) {
                    None => Ok(unknown),
                    Some(form) => {
                        self.memory.unknowns.ask(form);
                        Err(fault)
                    }
                }
            }
            made => made,
        }
    }

    fn combined_counts(&mut self, operation: Binary, [a, b]: [&Word; 2], bytes: usize) -> Made {
        if operation == Binary::And {
            let result = self.parted([a, b], bytes)?;
            let flags = self.flags_of_count(&result, bytes);
            return Ok((result, flags));
        }
        match (operation, lowest(a, bytes), lowest(b, bytes)) {
            (Binary::Add, Some(x), Some(y)) => {
                let result = self.count_word(x.plus(y), bytes)?;
                let flags = self.flags_of_count(&result, bytes);
                // The model leaves the carry undefined.
                Ok((result, Flags { carry: Flag::Undefined, ..flags }))
            }
            (Binary::Subtract, Some(x), Some(y)) => {
                let result = self.count_word(x.minus(y), bytes)?;
                let bits = 8 * bytes as u32;
                let is_signed = [x, y].iter().all(|&of| self.is_signed(of, bytes));
                let is_within = is_signed || [x, y].iter().all(|&of| self.is_within(of, bits));
                // Numbers that only fit without a sign have other signed comparisons.
                let signed = if is_signed { Flag::Public } else { Flag::Undefined };
                let both = if is_within { Flag::Public } else { Flag::Undefined };
                let compared = Some((x, y));
                let flags =
                    Flags { carry: both, zero: both, sign: signed, overflow: signed, compared };
                Ok((result, flags))
            }
            (Binary::Xor, Some(x), Some(y)) if self.forks.follows => {
                let result =
                    if self.are_equal(x, y)? { Form::default() } else { self.unequal(x, y)? };
                let result = self.count_word(Some(result), bytes)?;
                let flags = self.flags_of_count(&result, bytes);
                Ok((result, flags))
            }
            (Binary::Or, Some(x), Some(y)) if self.forks.follows => {
                self.joined_bits([a, b], [x, y], bytes)
            }
            _ => Err(unsupported("this arithmetic of a number of blocks is not modelled")),
        }
    }

    /// The sum modulo two of the bits of numbers that are not equal: not zero, and without other bits.
    fn unequal(&mut self, x: Form, y: Form) -> Result<Form, Fault> {
        let other = || unsupported("two numbers are joined bit by bit");
        let high = self.ones(x, y).ok_or_else(other)?;
        self.memory.unknowns.unknown(Range { low: 1, high }).ok_or_else(other)
    }

    /// The disjunction of the bits of two numbers.
    fn joined_bits(&mut self, words: [&Word; 2], [x, y]: [Form; 2], bytes: usize) -> Made {
        for (zero, word) in [(x, words[1]), (y, words[0])] {
            if zero == Form::default() {
                return Ok((word.clone(), self.flags_of_count(word, bytes)));
            }
        }
        let other = || unsupported("two numbers are joined bit by bit");
        let high = self.ones(x, y).ok_or_else(other)?;
        let half = Form::number(1 << 32);
        for form in [x, y] {
            // Compilers ask so whether both operands of a division are short.
            let long = form.minus(half).ok_or_else(too_large)?;
            if let Verdict::Depends(_) = self.ranges().at_least_zero(long) {
                self.memory.unknowns.asked = Some(Asked::Sign(long));
                return Err(other());
            }
        }
        let low = [x, y].map(|form| self.ranges().bounds(form).0 as i64);
        let low = low[0].max(low[1]);
        let used = high.count_ones() as usize;
        if low < 1 << 32 {
            let zero = if low > 0 { Flag::Is(false) } else { Flag::Undefined };
            let word = Word::from_cells(&self.bits, &[Cell::UNSET; 64][..used]);
            return Ok((word, Flags { zero, ..Flags::UNDEFINED }));
        }
        let unknowns = &mut self.memory.unknowns;
        let form = unknowns.unknown(Range { low, high }).ok_or_else(other)?;
        unknowns.lower(x);
        unknowns.lower(y);
        Ok((Word::Count(form), self.flags_of_count(&Word::Count(form), bytes)))
    }

    /// The least number 2^n - 1 that neither of two numbers exceeds; `None` if one may be negative.
    fn ones(&self, x: Form, y: Form) -> Option<i64> {
        let [x, y] = [x, y].map(|form| self.ranges().bounds(form));
        let most = x.1.max(y.1).max(1);
        (x.0.min(y.0) >= 0 && most >> 62 == 0).then(|| (2 << most.ilog2()) - 1)
    }

    /// The lowest or the highest bits of a count.
    fn parted(&mut self, [a, b]: [&Word; 2], bytes: usize) -> Result<Word, Fault> {
        let ones = u64::MAX >> (64 - 8 * bytes);
        let (count, mask) = match (a, b) {
            (Word::Number(mask), count) | (count, Word::Number(mask)) => (count, mask & ones),
            (Word::Count(x), Word::Count(y)) if x == y => return Ok(a.clone()),
            _ => return Err(unsupported("two numbers of blocks are joined bit by bit")),
        };
        let (form, known) = match *count {
            Word::Count(form) => (form, 8 * self.count_bytes() as u32),
            Word::Low(form, bytes) => (form, 8 * bytes as u32),
            _ => return Err(unsupported("this arithmetic of an address is not modelled")),
        };
        let (size, low) = match mask {
            _ if mask == ones => return Ok(count.clone()),
            _ if (mask + 1).is_power_of_two() => (mask + 1, true),
            _ if ((mask ^ ones) + 1).is_power_of_two() => ((mask ^ ones) + 1, false),
            _ => return self.middle(form, (mask, known), bytes),
        };
        let whole = low && size.trailing_zeros() <= known;
        let is_known = known == 8 * self.count_bytes() as u32;
        if !whole && !(is_known && (bytes == 8 || self.is_within(form, 8 * bytes as u32))) {
            return Err(unsupported("bits of a number of blocks are not known"));
        }
        let (quotient, rest) = self.divided(form, size as i64)?;
        self.count_word(if low { Some(rest) } else { quotient.times(size as i64) }, bytes)
    }

    /// Bits of a count between two places.
    fn middle(
        &mut self,
        form: Form,
        (mask, known): (u64, u32),
        bytes: usize,
    ) -> Result<Word, Fault> {
        let low = 1 << mask.trailing_zeros();
        let end = mask.checked_add(low).filter(|end| end.is_power_of_two());
        let end = end.filter(|end| end.ilog2() <= known.min(62) && self.forks.follows);
        let other = || unsupported("bits in the middle of a number of blocks are taken");
        let end = end.ok_or_else(other)?;
        let (_, upper) = self.divided(form, end as i64)?;
        let (_, lower) = self.divided(form, low as i64)?;
        self.count_word(upper.minus(lower), bytes)
    }

    /// Quotient and remainder, or a fault that requests a split into cases in which they are forms.
    pub(crate) fn divided(&mut self, form: Form, divisor: i64) -> Result<(Form, Form), Fault> {
        if let Some(divided) = self.ranges().divided(form, divisor) {
            return Ok(divided);
        }
        // A form that is equal may have a quotient.
        let ranges = self.ranges();
        let both = |form: Form, by: Form| [form.plus(by), form.minus(by)];
        let mut equal = ranges.equations().flat_map(|zero| both(form, zero)).flatten();
        if let Some(divided) = equal.find_map(|form| ranges.divided(form, divisor)) {
            return Ok(divided);
        }
        if self.forks.follows && ranges.is_entangled(form, divisor) {
            let name = self.memory.unknowns.name(form);
            if let Some(variable) = (0..VARIABLES).find(|&at| name == Form::variable(at)) {
                self.memory.unknowns.asked = Some(Asked::Divided { variable, divisor });
                return Err(unsupported("a quotient of a number that is not known"));
            }
        }
        if self.forks.follows
            && let Some((variable, divisor)) = self.ranges().dividend(form, divisor)
        {
            self.memory.unknowns.asked = Some(Asked::Divided { variable, divisor });
            return Err(unsupported("a quotient of a number that is not known"));
        }
        if let Some(over) = self.ranges().over(form, divisor) {
            self.answer(self.ranges().at_least_zero(over), over)?;
        }
        Err(unsupported("a part of a number of blocks is not known"))
    }

    /// A number for a public word of which nothing is known, which is compared with another word.
    /// `None` if it is no such word, or is compared with something else than a number.
    pub(crate) fn numbered(&mut self, word: &Word, other: &Word, bytes: usize) -> Option<Form> {
        let Word::Bits(cells) = word else { return None };
        let zero = self.bits.constant(false);
        let used = cells.iter().rposition(|&cell| cell != zero).map_or(0, |at| at + 1);
        let is_unknown = cells[..used].iter().all(|&cell| cell == Cell::UNSET);
        let is_number = match other {
            Word::Number(number) => *number <= RESTS,
            other => matches!(other, Word::Count(_)),
        };
        if !is_unknown || !(9..=62.min(8 * bytes)).contains(&used) || !is_number {
            return None;
        }
        self.memory.unknowns.unknown(Range { low: 0, high: (1 << used) - 1 })
    }

    /// A public word that is not known, modulo a power of two: a number below it. `None` for other
    /// conjunctions.
    fn public_rest(&mut self, operands: [&[Cell]; 2]) -> Option<Form> {
        let mask = operands.into_iter().find_map(|cells| self.bits.word(cells))?;
        let size = mask.checked_add(1).filter(|size| size.is_power_of_two() && *size <= RESTS)?;
        let low = size.ilog2() as usize;
        let is_unknown = |cells: &[Cell]| cells[..low].iter().all(|&cell| cell == Cell::UNSET);
        let is_rest = low > 2 && self.forks.follows && operands.into_iter().any(is_unknown);
        let range = Range { low: 0, high: mask as i64 };
        is_rest.then(|| self.memory.unknowns.unknown(range)).flatten()
    }

    /// A number for a public word of which only some bits are not known, as the index of a table:
    /// a multiple of the lowest of these bits.
    pub(crate) fn public_offset(&mut self, word: &Word) -> Option<Form> {
        let Word::Bits(cells) = word else { return None };
        let is_open = |cell: &Cell| *cell == Cell::UNSET;
        let low = cells.iter().position(is_open)?;
        let known = cells
            .iter()
            .map(|cell| if is_open(cell) { Some(true) } else { self.bits.value(*cell) });
        let most = known.rev().try_fold(0, |sum: u64, bit| Some(sum << 1 | u64::from(bit?)))?;
        let below = most & ((1 << low) - 1);
        let is_offset = self.forks.follows && below == 0 && most <= RESTS;
        let range = Range { low: 0, high: (most >> low) as i64 };
        let number = is_offset.then(|| self.memory.unknowns.unknown(range)).flatten()?;
        number.times(1 << low)
    }

    /// Quotient and remainder of a public word that is not known by a positive number. The remainder
    /// is a number of its own.
    pub(crate) fn divided_public(&mut self, word: &[Cell], by: u64) -> Option<(Word, Word)> {
        let bits = &self.bits;
        let most = word
            .iter()
            .rev()
            .fold(0, |sum, &cell| sum << 1 | u64::from(bits.value(cell).unwrap_or(true)));
        let is_rest = (2..=RESTS).contains(&by) && self.forks.follows && !self.is_secret(word);
        let range = Range { low: 0, high: by as i64 - 1 };
        let rest = is_rest.then(|| self.memory.unknowns.unknown(range)).flatten()?;
        let used = (most / by).checked_ilog2().map_or(0, |top| top as usize + 1);
        let quotient = Word::from_cells(&self.bits, &[Cell::UNSET; 64][..used]);
        Some((quotient, Word::Count(rest)))
    }

    /// Quotient and remainder of a count by a positive number, as words.
    pub(crate) fn divided_count(
        &mut self,
        form: Form,
        divisor: i64,
        bytes: usize,
    ) -> Result<(Word, Word), Fault> {
        let (quotient, rest) = self.divided(form, divisor)?;
        Ok((self.count_word(Some(quotient), bytes)?, self.count_word(Some(rest), bytes)?))
    }

    pub(crate) fn shifted_count(
        &mut self,
        form: Form,
        (shift, count): (Shift, usize),
        bytes: usize,
    ) -> Result<Word, Fault> {
        let made = self.shifted_form(form, (shift, count), bytes);
        self.or_unknown(made, [Some(form), None], Word::Bits(Box::new([Cell::UNSET; 64])))
    }

    fn shifted_form(
        &mut self,
        form: Form,
        (shift, count): (Shift, usize),
        bytes: usize,
    ) -> Result<Word, Fault> {
        let divisor = 1i64.checked_shl(count as u32).filter(|divisor| *divisor > 0);
        let divisor = divisor.ok_or_else(too_large)?;
        // A short number from 2^(n - 1) on has a sign.
        let is_quotient = || match shift {
            Shift::Arithmetic => bytes == 8 || self.is_within(form, 8 * bytes as u32 - 1),
            _ if bytes == 8 => self.ranges().never_negative(form),
            _ => self.is_within(form, 8 * bytes as u32),
        };
        match shift {
            Shift::Left => self.count_word(form.times(divisor), bytes),
            Shift::Right | Shift::Arithmetic if is_quotient() => {
                // Many cases are one, which is not known, and so are the bytes of a number.
                let ranges = self.ranges();
                if self.forks.follows
                    && ranges.divided(form, divisor).is_none()
                    && (divisor >= 256 || ranges.dividend(form, divisor).is_none())
                    && ranges.quotients(form, divisor) > MANY
                {
                    let many = || unsupported("a quotient with many values");
                    let (low, high) = ranges.bounds(form);
                    let [low, high] = [low, high].map(|end| end as i64 / divisor);
                    let range = Some(Range { low, high }).filter(|_| low > 0);
                    let quotient = range.and_then(|r| self.memory.unknowns.unknown(r));
                    return self.count_word(Some(quotient.ok_or_else(many)?), bytes);
                }
                let (quotient, _) = self.divided(form, divisor)?;
                self.count_word(Some(quotient), bytes)
            }
            _ => Err(unsupported("this shift of a number of blocks is not modelled")),
        }
    }

    /// Flags of a result, as its comparison with zero has them.
    pub(crate) fn flags_of_count(&self, result: &Word, bytes: usize) -> Flags {
        match *result {
            Word::Count(form) => {
                let compared = Some((form, Form::default()));
                let flags =
                    Flags { overflow: Flag::Undefined, compared, ..Flags::all(Flag::Public) };
                match () {
                    () if self.is_signed(form, bytes) => flags,
                    () if self.is_within(form, 8 * bytes as u32) => {
                        Flags { sign: Flag::Undefined, ..flags }
                    }
                    () => Flags::UNDEFINED,
                }
            }
            // The sign is undefined, because the length of the word is unknown.
            Word::Number(value) => Flags { zero: Flag::Is(value == 0), ..Flags::UNDEFINED },
            _ => Flags::UNDEFINED,
        }
    }

    /// Addresses that move, and differences of such addresses in one region.
    fn moved_by(
        &mut self,
        operation: Binary,
        [a, b]: [&Word; 2],
        places: [Option<Moving>; 2],
    ) -> Made {
        let plain = |moving: Moving, offset: Option<Form>| {
            let offset = self.reduced(offset)?;
            Ok((Word::from(Address::from(Moving { offset, ..moving })), Flags::UNDEFINED))
        };
        let data = || unsupported("the sum of data and an address");
        let address = self.memory.convention.address;
        match (operation, places) {
            (Binary::Add, [Some(at), None]) => {
                plain(at, at.offset.plus(lowest(b, address).ok_or_else(data)?))
            }
            (Binary::Add, [None, Some(at)]) => {
                plain(at, at.offset.plus(lowest(a, address).ok_or_else(data)?))
            }
            (Binary::Subtract, [Some(at), None]) => {
                let data = || unsupported("the difference of data and an address");
                let by = lowest(b, address).ok_or_else(data)?;
                let (word, flags) = plain(at, at.offset.minus(by))?;
                let flags = if by == Form::default() { self.flags_of_address(at) } else { flags };
                Ok((word, flags))
            }
            (Binary::And | Binary::Or, [Some(x), Some(y)]) if x == y => {
                Ok((a.clone(), self.flags_of_address(x)))
            }
            (Binary::Subtract, [Some(x), Some(y)]) if x.region == y.region => {
                if !self.memory.is_passed(x.region) {
                    self.memory.note_open();
                }
                let result = self.count_word(x.offset.minus(y.offset), address)?;
                let compared = Some((x.offset, y.offset));
                // Before its region an address may point to the end of memory.
                let ordered = [x, y].iter().all(|&at| self.is_ordered(at));
                let carry = if ordered { Flag::Public } else { Flag::Undefined };
                // Short addresses are equal modulo the size of memory.
                let (low, high) = x
                    .offset
                    .minus(y.offset)
                    .map_or((i128::MIN, i128::MAX), |form| self.ranges().bounds(form));
                let is_near = address == 8 || low > -(1 << 32) && high < 1 << 32;
                let zero = if is_near { Flag::Public } else { Flag::Undefined };
                Ok((result, Flags { zero, carry, compared, ..Flags::UNDEFINED }))
            }
            // The order and the distance of two buffers are unknown: the execution distinguishes
            // the cases where something depends on them.
            (Binary::Subtract, [Some(x), Some(y)]) if self.forks.follows => {
                let flags = self.compared_regions(x, y)?;
                Ok((Word::Bits(Box::new([Cell::UNSET; 64])), flags))
            }
            (Binary::Subtract, [Some(_), Some(_)]) => {
                let order = self.memory.unknowns.unknown(Range { low: 0, high: 2 });
                let order =
                    order.ok_or_else(|| unsupported("too many comparisons of addresses"))?;
                let compared = Some((order, Form::number(1)));
                let both = Flag::Public;
                let flags = Flags { zero: both, carry: both, compared, ..Flags::UNDEFINED };
                // The difference itself is unset.
                Ok((Word::Bits(Box::new([Cell::UNSET; 64])), flags))
            }
            (Binary::And, [Some(at), None])
                if let (Word::Number(mask), true) = (b, self.forks.follows) =>
            {
                Ok((self.rounded(at, *mask)?, Flags::UNDEFINED))
            }
            (Binary::Or, _) if self.forks.follows => Ok(self.address_or([a, b])),
            (Binary::And | Binary::Or | Binary::Xor, _) if self.forks.follows => {
                Ok(self.unknown_result([a, b]))
            }
            _ => Err(unsupported("this arithmetic of an address is not modelled")),
        }
    }
}
