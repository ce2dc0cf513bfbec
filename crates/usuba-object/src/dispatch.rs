//! Run-time dispatch: the choice of a backend by the features of the processor.
//!
//! ```text
//! mov eax, [usuba_choice]           a path for each value: 0 (none yet), 1, 4, 5
//! test byte [__cpu_model + 13], 4   a path for processors with AVX2, and one for the others
//! mov [usuba_choice], 4             only on the path with AVX2
//! ```
//!
//! The choice and the features are public, and a path decides them when it reads them. Before it
//! has read a choice, its instructions must be there on every processor; afterwards they may need
//! the features of the choice.
//!
//! *Soundness:* a path may assume that the processor has the features of a choice that it reads,
//! because each path that writes a choice has tested them. Libgcc's words are assumed to be true,
//! and no other thread to write another choice meanwhile.
//!
//! *Reference:* gcc's `__builtin_cpu_supports`, whose words `i386-cpuinfo.h` of libgcc numbers.

use super::extensions::{self, Extensions};

/// The variable with the choice, in an object.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The place of its four bytes.
    variable: u64,
    choices: Vec<Choice>,
    /// The words of libgcc in use: place, bytes, and the number of the feature at the first bit.
    words: Vec<(u64, u64, i64)>,
}

/// A value of the variable.
#[derive(Clone, Debug)]
struct Choice {
    value: u32,
    /// The features of the processor that it needs, as a set of their numbers.
    needs: u128,
    /// The instructions of such processors.
    extensions: Extensions,
}

/// The knowledge of a path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Known {
    /// Choices that the variable does not have, from the first one on.
    refused: usize,
    /// Whether the variable has the next choice.
    is_chosen: bool,
    /// The features that were tested, and those that are there.
    tested: u128,
    there: u128,
}

/// A fact that a path decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Whether the variable has the first choice that is possible.
    Choice,
    /// Whether the processor has a feature.
    Feature(u32),
}

/// A public bit: `None` if it is not known.
type Bit = Option<bool>;

/// The words of libgcc: names, bytes before the first feature, bytes of features, and its number.
const WORDS: [(&str, u64, u64, i64); 2] =
    [("__cpu_model", 12, 4, 0), ("__cpu_features2", 0, 12, 32)];

/// Bytes of the variable.
const BYTES: usize = 4;

impl Dispatch {
    /// The dispatch by a variable: its values, each with the features that it needs, as C compilers
    /// spell them. `place` finds variables of the object by name; `None` if there is none.
    pub fn new<'a>(
        place: impl Fn(&str) -> Option<u64>,
        variable: &str,
        values: impl Iterator<Item = (u32, &'a [String])>,
    ) -> Option<Dispatch> {
        let variable = place(variable)?;
        let choice = |(value, features): (u32, &[String])| {
            let flags: Vec<String> = features.iter().map(|name| format!("-m{name}")).collect();
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let mut needs = flags.iter().map(|flag| extensions::feature(flag));
            let needs = needs.try_fold(0, |all, number| Some(all | 1u128 << number?))?;
            Some(Choice { value, needs, extensions: Extensions::of(&flags) })
        };
        let choices = values.map(choice).collect::<Option<Vec<Choice>>>()?;
        let word = |(name, before, bytes, number): (&str, u64, u64, i64)| {
            Some((place(name)?, before + bytes, number - 8 * before as i64))
        };
        let words = WORDS.into_iter().filter_map(word).collect();
        Some(Dispatch { variable, choices, words })
    }

    /// The bits of `bytes` bytes at a place, the lowest first; `None` if the place is no part of the
    /// choice or of the features.
    ///
    /// # Errors
    /// The path must decide the question first.
    pub fn read(
        &self,
        place: u64,
        bytes: usize,
        known: &Known,
    ) -> Option<Result<Vec<Bit>, Question>> {
        if place == self.variable && bytes == BYTES {
            let value = self.chosen(known).map(|choice| choice.value);
            let bits = |value: u32| (0..8 * BYTES).map(|bit| Some(value >> bit & 1 == 1)).collect();
            return Some(value.map(bits).ok_or(Question::Choice));
        }
        let is_in = |(start, size, _): &&(u64, u64, i64)| {
            place.checked_sub(*start).is_some_and(|at| at + bytes as u64 <= *size)
        };
        let (start, _, first) = self.words.iter().find(is_in)?;
        let first = first + 8 * (place - start) as i64;
        let asked = self.choices.iter().fold(0, |all, choice| all | choice.needs);
        let bit = |at: i64| {
            let set = u32::try_from(first + at).ok().and_then(|number| 1u128.checked_shl(number));
            match set.filter(|set| asked & set != 0) {
                None => Ok(None),
                Some(set) if known.tested & set != 0 => Ok(Some(known.there & set != 0)),
                Some(set) => Err(Question::Feature(set.trailing_zeros())),
            }
        };
        Some((0..8 * bytes as i64).map(bit).collect())
    }

    /// The knowledge of a path after it has answered a question.
    pub fn decided(&self, known: &Known, question: Question, answer: bool) -> Known {
        let mut known = *known;
        match question {
            Question::Choice if answer => known.is_chosen = true,
            // The last choice is left when all others are refused.
            Question::Choice => {
                known.refused += 1;
                known.is_chosen = known.refused + 1 == self.choices.len();
            }
            Question::Feature(number) => {
                known.tested |= 1 << number;
                known.there |= u128::from(answer) << number;
            }
        }
        known
    }

    /// Whether the variable is at a place.
    pub fn is_variable(&self, place: u64) -> bool {
        place == self.variable
    }

    /// The knowledge of a path after it has written a value; `None` if the value is no choice, or
    /// needs a feature that the path has not found.
    pub fn written(&self, known: &Known, value: u32) -> Option<Known> {
        let at = self.choices.iter().position(|choice| choice.value == value)?;
        let has_all = self.choices[at].needs & !known.there == 0;
        has_all.then_some(Known { refused: at, is_chosen: true, tested: 0, there: 0 })
    }

    /// The instructions that a path may execute.
    pub fn extensions(&self, known: &Known) -> &Extensions {
        self.chosen(known).map_or(&Extensions::BASELINE, |choice| &choice.extensions)
    }

    fn chosen(&self, known: &Known) -> Option<&Choice> {
        self.choices.get(known.refused).filter(|_| known.is_chosen || self.choices.len() == 1)
    }
}

impl Known {
    /// Whether a path knows its backend.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// The knowledge of two paths; `None` if their choices differ.
    pub fn joined(&self, other: &Known) -> Option<Known> {
        let tested = self.tested & other.tested & !(self.there ^ other.there);
        let is_alike = (self.refused, self.is_chosen) == (other.refused, other.is_chosen);
        is_alike.then_some(Known { tested, there: self.there & tested, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use usuba::isa;

    use super::*;

    #[test]
    fn features_of_all_targets_have_numbers() {
        let all = isa::all().chain(isa::NARROW.iter().copied());
        for target in all.filter(|target| *target.processor == isa::X86_64) {
            for flag in target.cflags {
                assert!(extensions::feature(flag).is_some(), "{flag} of {}", target.name);
            }
        }
    }

    #[test]
    fn a_choice_needs_the_features_that_were_found() {
        let choice = |value, needs| Choice { value, needs, extensions: Extensions::ALL };
        let choices = vec![choice(0, 0), choice(1, 0), choice(4, 1 << 10)];
        let dispatch = Dispatch { variable: 64, choices, words: vec![(512, 16, -96)] };
        let start = Known::default();
        assert_eq!(dispatch.read(64, 4, &start), Some(Err(Question::Choice)));
        assert_eq!(dispatch.read(64, 8, &start), None);
        assert_eq!(dispatch.read(512 + 13, 4, &start), None);
        let asked = Question::Feature(10);
        assert_eq!(dispatch.read(512 + 13, 1, &start), Some(Err(asked)));
        let [without, with] = [false, true].map(|answer| dispatch.decided(&start, asked, answer));
        let mut bits = vec![None; 8];
        bits[2] = Some(true);
        assert_eq!(dispatch.read(512 + 13, 1, &with), Some(Ok(bits)));
        assert_eq!([start, without].map(|known| dispatch.written(&known, 4)), [None; 2]);
        assert_eq!(dispatch.written(&with, 3), None);
        let chosen = dispatch.written(&with, 4).expect("AVX2 was found");
        let value = dispatch.read(64, 4, &chosen).expect("the variable").expect("a choice");
        assert_eq!(value[2], Some(true));
        let refused = [false; 2]
            .into_iter()
            .fold(start, |known, answer| dispatch.decided(&known, Question::Choice, answer));
        assert_eq!(refused, chosen, "the last one is left");
        assert_eq!(with.joined(&without), Some(start));
        assert_eq!(with.joined(&chosen), None);
    }
}
