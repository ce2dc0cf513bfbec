//! Other readings of a test vector: the byte and bit orders that would make a wrong answer right.
//!
//! ```text
//!   the answer is right if the bytes of each word of `plain` and `cipher` are in the other order
//!   help: write `bytes = "le"` for `plain` and `cipher` in cipher.toml
//! ```
//!
//! A reading says for each bit of the bytes to which bit of which word it belongs. Each input, the
//! key and the output have a few; readings that are equal for a shape are tried once. All
//! combinations are evaluated, and the simplest one that makes the vector right wins, before all one
//! that makes all vectors of the file right.

use usuba::emit::bytes::{ByteLayout, Shape};

use crate::known::{Known, Words};
use crate::{Cipher, Direction, Vector};

/// A reading of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Reading {
    /// The one that `cipher.toml` gives.
    Given,
    /// Another byte layout, by its name; whether it only turns the bytes of each word around.
    Layout(&'static str, bool),
    /// The last word first.
    Words,
    /// The last byte first.
    Bytes,
    /// The last bit of each byte first.
    Bits,
    /// The last bit first.
    All,
}

/// A reading with the words that it makes of bytes.
#[derive(Clone, Debug)]
struct Way {
    reading: Reading,
    words: Words,
}

/// Vectors that are evaluated for one reading.
const MOST: usize = 16;

/// Bits of output below which an equal answer is chance.
const ENOUGH: usize = 24;

/// The readings of a parameter without repetitions, the given one first.
fn ways(shape: Shape, given: ByteLayout) -> Vec<Way> {
    let (bytes, bits) = (shape.bytes(), shape.bits as usize);
    let mut ways = vec![Way { reading: Reading::Given, words: Words::new(shape, given) }];
    let mut add = |reading: Reading, words: Words| {
        if !ways.iter().any(|way| way.words == words) {
            ways.push(Way { reading, words });
        }
    };
    let ends = [ByteLayout::Be, ByteLayout::Le];
    for &(name, layout) in ByteLayout::ALL {
        let turned = ends.contains(&layout) && ends.contains(&given) && bits % 8 == 0;
        add(Reading::Layout(name, turned), Words::new(shape, layout));
    }
    let turned = |at: usize, unit: usize| (bytes / unit - 1 - at / 8 / unit) * unit * 8;
    if bits % 8 == 0 {
        let unit = bits / 8;
        let from = |at: usize| turned(at, unit) + at % (unit * 8);
        add(Reading::Words, Words::moved(shape, given, from));
    }
    add(Reading::Bytes, Words::moved(shape, given, |at| turned(at, 1) + at % 8));
    add(Reading::Bits, Words::moved(shape, given, |at| at ^ 7));
    add(Reading::All, Words::moved(shape, given, |at| bytes * 8 - 1 - at));
    ways
}

/// A reading of everything: one way for each input, for the key and for the output.
#[derive(Clone, Debug)]
struct Candidate<'w> {
    inputs: Vec<&'w Way>,
    key: Option<&'w Way>,
    output: &'w Way,
}

impl Candidate<'_> {
    fn all(&self) -> impl Iterator<Item = &Way> {
        self.inputs.iter().copied().chain(self.key).chain([self.output])
    }

    /// Its distance from the given reading: equal changes everywhere count as one.
    fn weight(&self) -> usize {
        let changes = self.all().filter(|way| way.reading != Reading::Given);
        let mut readings: Vec<Reading> = changes.map(|way| way.reading).collect();
        let places = readings.len();
        readings.sort();
        readings.dedup();
        let far = readings.iter().filter(|r| !matches!(r, Reading::Layout(..))).count();
        100 * readings.len() + 10 * places + far
    }

    /// Whether a vector is right under this reading.
    fn fits(&self, known: &Known, vector: &Vector) -> bool {
        let key = match (&known.function.key, self.key) {
            (Some(given), Some(way)) => {
                known.expanded(given, &way.words.read(&vector.key)).map(Some)
            }
            _ => Ok(None),
        };
        let inputs: Vec<&Words> = self.inputs.iter().map(|way| &way.words).collect();
        let words = key.and_then(|key| known.run(&inputs, &vector.input, key.as_ref()));
        words.is_ok_and(|words| self.output.words.write(&words) == vector.output)
    }
}

/// The combinations of ways of several inputs: one is changed, or all are in the same way.
fn combinations(inputs: &[Vec<Way>]) -> Vec<Vec<&Way>> {
    let given: Vec<&Way> = inputs.iter().map(|ways| &ways[0]).collect();
    let mut all = vec![given.clone()];
    for (at, ways) in inputs.iter().enumerate() {
        for way in &ways[1..] {
            let mut one = given.clone();
            one[at] = way;
            all.push(one);
        }
    }
    if inputs.len() > 1 {
        for way in &inputs[0][1..] {
            let same = |ways: &'_ Vec<Way>| ways.iter().position(|w| w.reading == way.reading);
            let places: Option<Vec<usize>> = inputs.iter().map(same).collect();
            all.extend(places.map(|places| {
                inputs.iter().zip(places).map(|(ways, at)| &ways[at]).collect::<Vec<_>>()
            }));
        }
    }
    all
}

/// All readings under which `vector` is right, the simplest one first.
fn hits<'w>(
    known: &Known,
    vector: &Vector,
    (inputs, key, output): (&'w [Vec<Way>], &'w [Way], &'w [Way]),
) -> Vec<Candidate<'w>> {
    let keys: Vec<Option<&Way>> = match key.is_empty() {
        true => vec![None],
        false => key.iter().map(Some).collect(),
    };
    let one = |&key: &Option<&'w Way>| {
        let expanded = match (&known.function.key, key) {
            (Some(given), Some(way)) => {
                known.expanded(given, &way.words.read(&vector.key)).map(Some)
            }
            _ => Ok(None),
        };
        let Ok(expanded) = expanded else { return Vec::new() };
        let mut found = Vec::new();
        for inputs in combinations(inputs) {
            let ways: Vec<&Words> = inputs.iter().map(|way| &way.words).collect();
            let Ok(words) = known.run(&ways, &vector.input, expanded.as_ref()) else { continue };
            let right = |way: &&Way| way.words.write(&words) == vector.output;
            let outputs = output.iter().filter(right);
            found.extend(outputs.map(|output| Candidate { inputs: inputs.clone(), key, output }));
        }
        found
    };
    let mut found: Vec<Candidate> = keys.iter().flat_map(one).collect();
    found.sort_by_key(Candidate::weight);
    found
}

/// Names in a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        names => names.concat(),
    }
}

/// The condition under which the answer is right, and the repair.
fn worded(known: &Known, cipher: &Cipher, candidate: &Candidate) -> (String, String) {
    let function = known.function;
    let names = function.inputs.iter().map(|p| format!("`{}`", p.param));
    let names = names
        .chain(candidate.key.map(|_| "the key".to_string()))
        .chain([format!("`{}`", function.output.param)]);
    let mut groups: Vec<(Reading, Vec<String>)> = Vec::new();
    for (way, name) in candidate.all().zip(names) {
        match groups.iter_mut().find(|(reading, _)| *reading == way.reading) {
            Some((_, names)) => names.push(name),
            None => groups.push((way.reading, vec![name])),
        }
    }
    groups.retain(|(reading, _)| *reading != Reading::Given);
    let (mut causes, mut repairs) = (Vec::new(), Vec::new());
    for (reading, names) in groups {
        let names = listed(&names);
        let turn =
            format!("turn them around in {}", cipher.folder.join(&function.vectors).display());
        causes.push(match reading {
            Reading::Layout(_, true) => {
                format!("the bytes of each word of {names} are in the other order")
            }
            Reading::Layout(layout, false) => {
                format!("the layout of {names} in bytes is `{layout}`")
            }
            Reading::Words => format!("the words of {names} are in the other order"),
            Reading::Bytes => format!("the bytes of {names} are in the other order"),
            Reading::Bits => format!("the bits of each byte of {names} are in the other order"),
            Reading::All | Reading::Given => format!("all bits of {names} are in the other order"),
        });
        repairs.push(match reading {
            Reading::Layout(layout, _) => {
                format!("write `bytes = \"{layout}\"` for {names} in cipher.toml")
            }
            Reading::Words => {
                format!("{turn}, or count the words from the other end in {}", function.source)
            }
            _ => turn,
        });
    }
    (causes.join(", and "), repairs.join(", and "))
}

/// Two lines: a reading under which `vector`, whose answer is wrong, is right, and the repair; else
/// nothing. `vectors` are all of the file.
pub(crate) fn advice(
    known: &Known,
    cipher: &Cipher,
    vector: &Vector,
    vectors: &[Vector],
) -> String {
    let function = known.function;
    let (Ok(inputs), Ok(output)) = (
        function.inputs.iter().map(|p| known.words(p).map(|w| ways(w.shape, p.bytes))).collect(),
        known.words(&function.output).map(|w| ways(w.shape, function.output.bytes)),
    ) else {
        return String::new();
    };
    let inputs: Vec<Vec<Way>> = inputs;
    let key =
        function.key.as_ref().map(|key| Ok::<_, String>(ways(known.key_shape(key)?, key.bytes)));
    let Ok(key) = key.unwrap_or(Ok(Vec::new())) else { return String::new() };
    let few: Vec<&Vector> = vectors.iter().take(MOST).collect();
    if vector.output.len() * 8 * few.len() < ENOUGH {
        return String::new();
    }
    let swapped =
        |v: &Vector| Vector { input: v.output.clone(), output: v.input.clone(), ..v.clone() };
    let backwards = |v: &Vector| {
        v.input.len() == v.output.len()
            && known.answer(&v.key, &v.output).is_ok_and(|answer| answer == swapped(v).output)
    };
    if function.direction != Direction::Permute && few.iter().all(|v| backwards(v)) {
        let other = if function.direction == Direction::Encrypt { "decrypt" } else { "encrypt" };
        return format!(
            "\n  the answer is right if `in` and `out` change places\n  help: write \
             `direction = \"{other}\"` in cipher.toml"
        );
    }
    let found = hits(known, vector, (&inputs, &key, &output));
    let count = |candidate: &Candidate| few.iter().filter(|v| candidate.fits(known, v)).count();
    let best = found.iter().take(MOST).find(|candidate| count(candidate) == few.len());
    let Some(best) = best.or(found.first()) else { return turned_tables(known, &few) };
    let (cause, repair) = worded(known, cipher, best);
    let right = match (count(best), few.len()) {
        (_, 1) => "the answer is right".to_string(),
        (2, 2) => "both answers are right".to_string(),
        (all, of) if all == of => format!("all {of} answers are right"),
        (some, of) => format!("{some} of {of} answers are right"),
    };
    format!("\n  {right} if {cause}\n  help: {repair}")
}

/// Two lines: the tables, one or all, whose other bit order makes all vectors right, and the
/// repair; else nothing.
fn turned_tables(known: &Known, vectors: &[&Vector]) -> String {
    let tables = known.tables();
    let all: Vec<&str> = tables.keys().copied().collect();
    let choices = all.iter().map(std::slice::from_ref).chain([&all[..]]);
    let is_right = |names: &&[&str]| {
        let turned = known.turned(names);
        let right = |v: &&Vector| turned.answer(&v.key, &v.input).is_ok_and(|o| o == v.output);
        vectors.iter().all(right)
    };
    let Some(names) = choices.take(MOST).find(is_right) else { return String::new() };
    let listed = |lsb_first: bool| {
        let of = names.iter().filter(|name| tables[**name] == lsb_first);
        let of: Vec<String> = of.map(|name| format!("`table {name}`")).collect();
        (!of.is_empty()).then(|| listed(&of))
    };
    let repairs = [
        listed(false).map(|of| format!("write `_lsb_first` before {of}")),
        listed(true).map(|of| format!("remove `_lsb_first` before {of}")),
    ];
    let repairs: Vec<String> = repairs.into_iter().flatten().collect();
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "\n  the answer is right if the bits of {} are in the other order\n  help: {}",
        self::listed(&names),
        repairs.join(", and ")
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The advice on the vectors of RECTANGLE-128 after `change`.
    fn after(change: impl Fn(&mut Vector)) -> String {
        with_program(|_, vector| change(vector))
    }

    /// As `after`, where `change` has the program.
    fn with_program(change: impl Fn(&Known, &mut Vector)) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
        let cipher = crate::read(&folder).expect("cipher.toml");
        let function = cipher.functions.iter().find(|f| f.name == "rectangle128_encrypt");
        let function = function.expect("there is one");
        let known = Known::new(&cipher, function).expect("a program");
        let mut vectors = cipher.vectors(function).expect("vectors");
        // Neither zeros nor ones.
        vectors.retain(|vector| vector.key.iter().any(|byte| *byte != vector.key[0]));
        vectors.iter_mut().for_each(|vector| change(&known, vector));
        let text = advice(&known, &cipher, &vectors[0], &vectors);
        text.replace(&folder.display().to_string(), "FOLDER")
    }

    fn each_word(bytes: &mut [u8]) {
        bytes.chunks_mut(2).for_each(|word| word.reverse());
    }

    fn words(bytes: &mut [u8]) {
        bytes.reverse();
        each_word(bytes);
    }

    fn bits(bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
    }

    #[test]
    fn each_other_reading_is_found() {
        let order = |names: &str| {
            format!(
                " answers are right if the bytes of each word of {names} are in the other order\n  \
                 help: write `bytes = \"le\"` for {names} in cipher.toml"
            )
        };
        let all = after(|v| {
            [&mut v.key, &mut v.input, &mut v.output].into_iter().for_each(|b| each_word(b))
        });
        assert!(all.ends_with(&order("`plain`, the key and `cipher`")), "{all}");
        let key = after(|v| each_word(&mut v.key));
        assert!(key.ends_with(&order("the key")), "{key}");
        let input = after(|v| v.input.reverse());
        assert!(input.contains("if the bytes of `plain` are in the other order"), "{input}");
        assert!(input.ends_with("turn them around in FOLDER/vectors/rectangle128.txt"), "{input}");
        let output = after(|v| words(&mut v.output));
        assert!(output.contains("if the words of `cipher` are in the other order"), "{output}");
        let mixed = after(|v| {
            bits(&mut v.key);
            each_word(&mut v.input);
        });
        assert!(mixed.contains("the bytes of each word of `plain` are in the other"), "{mixed}");
        assert!(mixed.contains("the layout of the key in bytes is `le-bits`"), "{mixed}");
        let swapped = after(|v| std::mem::swap(&mut v.input, &mut v.output));
        assert!(swapped.ends_with("help: write `direction = \"decrypt\"` in cipher.toml"));
        assert_eq!(after(|v| v.output[0] ^= 1), "");
    }

    #[test]
    fn the_other_bit_order_of_tables_is_found() {
        let advice = with_program(|known, v| {
            v.output = known.turned(&["sbox"]).answer(&v.key, &v.input).expect("an answer");
        });
        assert_eq!(
            advice,
            "\n  the answer is right if the bits of `sbox` are in the other order\n  help: remove \
             `_lsb_first` before `table sbox`"
        );
    }
}
