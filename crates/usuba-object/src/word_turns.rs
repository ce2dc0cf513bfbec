//! Words and lanes of vectors at the turns of a loop over blocks, for induction, and in states whose
//! numbers and addresses are replaced.

use super::block_step::{Cover, Joining, parts};
use super::memory::{Moving, Pointer, Region, Whole};
use super::summarized::IsCase;
use super::word::Word;
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

/// A word of two states.
pub fn joined_word(one: &Word, next: &Word, bits: &Bits, join: &impl Joining) -> Word {
    let both = one.whole().zip(next.whole());
    if let Some(joined) = both.and_then(|(one, next)| join.whole(one, next)) {
        return Word::from(joined);
    }
    let cells = match (one.cells(bits), next.cells(bits)) {
        (Some(one), Some(next)) => std::array::from_fn(|at| join.cell(one[at], next[at])),
        _ => lost_word(one, next, bits, join),
    };
    Word::Bits(Box::new(cells))
}

/// The bits of a word that is whole in one of two states.
pub fn lost_word(one: &Word, next: &Word, bits: &Bits, join: &impl Joining) -> [Cell; 64] {
    let [one, next] = [one, next].map(|word| word.cells(bits).unwrap_or([join.lost(); 64]));
    std::array::from_fn(|at| join.cell(one[at], next[at]))
}

/// Whether a claim holds for a word that was found.
pub fn covers_word(claimed: &Word, found: &Word, bits: &Bits, cover: &Cover) -> bool {
    if let Some(claimed) = claimed.whole() {
        return found.whole().is_some_and(|found| cover.whole(claimed, found));
    }
    let Word::Bits(claimed) = claimed else { return false };
    match found.cells(bits) {
        Some(found) => {
            claimed.iter().zip(&found).all(|(&claimed, &found)| cover.cell(claimed, found))
        }
        None => claimed.iter().all(|&cell| cell == Cell::OPAQUE || cell == cover.join.lost()),
    }
}

/// With another form in the place of each.
pub fn with_forms(word: &Word, of: &dyn Fn(Form) -> Form) -> Word {
    match *word {
        Word::Count(form) => Word::from(Whole::Count(of(form))),
        Word::Moving(Moving { region, offset }) => {
            Word::from(Whole::Moving(Moving { region, offset: of(offset) }))
        }
        Word::Low(form, bytes) => Word::Low(of(form), bytes),
        ref other => other.clone(),
    }
}

/// The same in a lane of a vector.
pub fn lane_with_forms(whole: Whole, of: &dyn Fn(Form) -> Form) -> Whole {
    match whole {
        Whole::Count(form) => Whole::Count(of(form)),
        Whole::Moving(Moving { region, offset }) => {
            Whole::Moving(Moving { region, offset: of(offset) })
        }
        pointer => pointer,
    }
}

/// Whether a word is an address in a region, or a distance from one.
pub fn is_in(word: &Word, is_region: &dyn Fn(Region) -> bool) -> bool {
    match word {
        Word::Distance(to, from) => is_region(to.region) || is_region(from.region),
        word => word.moved().and_then(|whole| parts(whole).0).is_some_and(is_region),
    }
}

/// Whether the claims about addresses and counts in a lane hold.
pub fn covers_lane(claimed: Option<Whole>, found: Option<Whole>, cover: &Cover) -> bool {
    match (claimed, found) {
        (Some(claimed), Some(found)) => cover.whole(claimed, found),
        (claimed, _) => claimed.is_none(),
    }
}

/// Whether a word depends on a secret.
pub fn is_secret(bits: &Bits, word: &Word) -> bool {
    matches!(word, Word::Bits(cells) if cells.iter().any(|&cell| bits.is_secret(cell)))
}

/// The word of a caller or of a callee in the state after a call that is summarized.
pub fn returned(word: &Word, caller: &[Word], of: &mut dyn FnMut(Cell) -> Cell) -> Word {
    match word {
        Word::Bits(cells) => Word::Bits(Box::new(cells.map(of))),
        Word::Pointer(Pointer { region: Region::Held(0, register), offset }) => {
            match caller.get(*register as usize) {
                Some(word) if *offset == 0 => word.clone(),
                _ => Word::unset(),
            }
        }
        Word::Pointer(Pointer { region: Region::Return, .. }) => Word::unset(),
        word => word.clone(),
    }
}

/// Whether a word of a generalised state is a case of a claim. An address in a register that the
/// caller does not use any more, which is volatile, is unknown bits.
pub fn is_case_of(
    found: &Word,
    claimed: &Word,
    bits: &Bits,
    is_volatile: bool,
    is_case: IsCase,
) -> bool {
    let lost = is_volatile.then_some([Cell::UNSET; 64]);
    match (claimed, found.cells(bits).or(lost)) {
        (Word::Bits(claimed), Some(found)) => {
            claimed.iter().zip(&found).all(|(&claimed, &found)| is_case(claimed, found))
        }
        _ => claimed == found,
    }
}

/// The word of a parameter in a generalised state. Another register of the caller is known to hold
/// a symbol of the call for a public value, or secret bits. `None` if a parameter is no
/// number, bits or address.
pub fn generalised(bits: &Bits, word: &Word, is_live: bool, held: Pointer) -> Option<Word> {
    match word {
        word if is_live && word.is_public() => Some(Word::unset()),
        Word::Number(_) | Word::Pointer(_) | Word::Moving(_) | Word::Bits(_) if is_live => {
            Some(word.clone())
        }
        _ if is_live => None,
        word if is_secret(bits, word) => Some(word.clone()),
        _ => Some(Word::Pointer(held)),
    }
}
