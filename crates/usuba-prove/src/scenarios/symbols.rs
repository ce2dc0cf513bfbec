//! Functions over blocks that both sides apply, and specifications on symbols.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use usuba_bits::cell::{Bits, Cell};
use usuba_ciphers::curve::Group;
use usuba_ciphers::modes::Bytes;
use usuba_ciphers::sealed::Residues;
use usuba_contracts::edwards::Curve;
use usuba_contracts::monomial::Exponent;
use usuba_contracts::poly::Poly;
use usuba_library::declarations;
use usuba_library::{Blocks, Unit, UnitKind};
use usuba_object::functions::{Callee, Functions, KeyWords, OneOfSeveral, Shape};
use usuba_object::kernel_contract::Meaning;
use usuba_object::points::Points;

use super::promises::promise;
use crate::dist::Several;
use crate::sources::{self, Circuit};
use crate::unit::{self, BLOCK_COUNTS};

/// A function of a cipher folder, as both sides apply it.
pub(super) struct Applied {
    /// The source and its node. Two sources of one function are two unknown functions.
    program: (String, String),
    /// The vectors of a function with several sources, which are not proved to be equal.
    same: String,
    /// Bytes of the key, the input and the output.
    pub(super) sizes: [usize; 3],
    /// The place of each bit of the key in the bytes of the user's key, or of its schedule.
    key: Vec<usize>,
    /// The number of the function that makes the schedule of a key, and its bytes.
    schedule: Option<(usize, usize)>,
}

impl Applied {
    /// A function without a key.
    fn new(unit: &Unit, same: String, sizes: [usize; 3]) -> Applied {
        let entry = unit.task.options.entry.clone().unwrap_or_default();
        let program = (unit.task.source.clone(), entry);
        Applied { program, same, sizes, key: Vec::new(), schedule: None }
    }
}

/// The functions over blocks of an output, and its declarations.
pub struct Known<'a> {
    names: Vec<String>,
    applied: Vec<Applied>,
    pub(crate) callees: Vec<Callee>,
    /// Functions whose sources are proved to be equal, by the numbers of their sources.
    pub(crate) several: BTreeMap<usize, OneOfSeveral>,
    /// Points, if a kernel adds some.
    pub(super) points: Option<Points>,
    pub(super) declared: BTreeMap<&'a str, &'a declarations::Function>,
}

impl<'a> Known<'a> {
    /// # Errors
    /// A unit does not compile, or the words of a key have no layout.
    pub fn new(
        units: &[Unit],
        declared: &'a [declarations::Function],
    ) -> Result<Known<'a>, String> {
        let declared = declared.iter().map(|function| (&*function.name, function)).collect();
        let (names, applied, callees) = (Vec::new(), Vec::new(), Vec::new());
        let several = BTreeMap::new();
        let mut known = Known { names, applied, callees, several, points: None, declared };
        let curve = Curve::edwards25519();
        for unit in units {
            if let Some((name, shape, sizes)) = of_bytes(unit)? {
                let applied = Applied::new(unit, name.clone(), sizes);
                known.add(name, applied, unit, shape);
            }
        }
        for unit in units {
            let is_apart = matches!(unit.kind, UnitKind::Kernel { is_apart: true, .. });
            if let Some(promise) = is_apart.then(|| promise(unit, &curve)).transpose()?.flatten() {
                if promise.sum.is_some() && known.points.is_none() {
                    known.points = Some(Points::new(curve.clone())?);
                }
                let applied = Applied::new(unit, unit.symbol.clone(), [0; 3]);
                known.add(unit.symbol.clone(), applied, unit, Shape::Promise(Box::new(promise)));
            }
        }
        let mut sources: Vec<(usize, Circuit)> = Vec::new();
        for unit in units {
            let Some(blocks) = blocks_of(unit) else { continue };
            let (input, output) = (blocks.input, blocks.output);
            let xored = matches!(unit.kind, UnitKind::Xored(_)).then_some(blocks.unit);
            let function = &blocks.function;
            let same =
                format!("{} {} {:?}", unit.folder.display(), function.vectors, function.direction);
            let mut applied = Applied::new(unit, same, [0, input, output]);
            let mut circuit = Circuit { unit, function, schedule: None };
            let shape = match (&unit.kind, &blocks.function.key) {
                (UnitKind::Chained(_), _) => Shape::Chained {
                    chain: output,
                    block: input - output,
                    counts: BLOCK_COUNTS.to_vec(),
                },
                (_, None) => Shape::Blocks { key: KeyWords::default(), input, output, xored },
                (_, Some(_)) => {
                    let Some(form) = form_of(unit, units)? else { continue };
                    let Some((key, places, bytes)) = key_words(form, units)? else { continue };
                    applied.key = places;
                    applied.sizes[0] = bytes;
                    if let UnitKind::Key { schedule: Some(schedule), .. } = &form.kind {
                        let number = known.names.iter().position(|name| name == schedule);
                        let Some(number) = number else { continue };
                        let [_, key, made] = known.applied[number].sizes;
                        applied.sizes[0] = key;
                        applied.schedule = Some((number, made));
                        circuit.schedule = units.iter().find(|unit| unit.symbol == *schedule);
                    }
                    Shape::Blocks { key, input, output, xored }
                }
            };
            let number = known.add(blocks.function.name.clone(), applied, unit, shape);
            if sources.iter().all(|(other, _)| *other != number) {
                sources.push((number, circuit));
            }
        }
        known.unite(&sources);
        Ok(known)
    }

    /// Makes functions whose sources are equal one function.
    fn unite(&mut self, sources: &[(usize, Circuit)]) {
        for (at, (first, circuit)) in sources.iter().enumerate() {
            let same = self.applied[*first].same.clone();
            let others: Vec<&(usize, Circuit)> = sources[at + 1..]
                .iter()
                .filter(|(other, _)| self.applied[*other].same == same)
                .collect();
            // Behind the numbers of all sources.
            let function = self.applied.len() + first;
            for &(other, source) in others {
                if !sources::are_equal(circuit, &source) {
                    continue;
                }
                for number in [*first, other] {
                    let Applied { key, schedule, sizes, .. } = &self.applied[number];
                    let (key, schedule) = (key.clone(), schedule.map(|(schedule, _)| schedule));
                    let one = OneOfSeveral { function, key, schedule, key_bytes: sizes[0] };
                    self.several.insert(number, one);
                }
                let applied = &mut self.applied[other];
                applied.same = format!("{same} {:?}", applied.program);
            }
        }
    }

    /// The functions whose sources are equal.
    pub fn united(&self) -> Vec<Several> {
        let mut all: BTreeMap<usize, Several> = BTreeMap::new();
        for (number, one) in &self.several {
            let (source, _) = &self.applied[*number].program;
            let function = self.names[*number].clone();
            let new = || Several { function, sources: Vec::new() };
            all.entry(one.function).or_insert_with(new).sources.push(source.clone());
        }
        all.into_values().collect()
    }

    /// Adds a unit that computes a function; returns the number of the function.
    fn add(&mut self, name: String, applied: Applied, unit: &Unit, shape: Shape) -> usize {
        let mut all = self.names.iter().zip(&self.applied);
        let known = all.position(|(n, a)| (n, &a.program) == (&name, &applied.program));
        let function = match known {
            Some(number) => number,
            None => {
                self.names.push(name);
                self.applied.push(applied);
                self.names.len() - 1
            }
        };
        self.callees.push(Callee { symbol: unit.symbol.clone(), function, shape });
        function
    }

    /// Bytes of the key, the input and the output of a function.
    pub(super) fn sizes(&self, function: &str) -> Option<[usize; 3]> {
        Some(self.applied(function, 0).ok()?.1.sizes)
    }

    /// The most sources of a function.
    pub(super) fn sources(&self) -> usize {
        let count =
            |one: &Applied| self.applied.iter().filter(|other| other.same == one.same).count();
        self.applied.iter().map(count).max().unwrap_or(1)
    }

    /// A function by its source of this number, or its last one.
    pub(super) fn applied(
        &self,
        function: &str,
        source: usize,
    ) -> Result<(usize, &Applied), String> {
        let first = self.names.iter().position(|name| name == function);
        let first = first.ok_or_else(|| format!("`{function}` is no function over blocks"))?;
        let same = |(_, other): &(usize, &Applied)| other.same == self.applied[first].same;
        let all = self.applied.iter().enumerate().filter(same);
        Ok(all.take(source + 1).last().unwrap_or((first, &self.applied[first])))
    }
}

/// The kernels on buffers of bytes that specifications apply.
const OF_BYTES: &[&str] = &["x25519"];

/// The name, the interface and the sizes of such a kernel, or of a key schedule, whose name is its
/// symbol.
fn of_bytes(unit: &Unit) -> Result<Option<(String, Shape, [usize; 3])>, String> {
    let entry = unit.task.options.entry.clone().unwrap_or_default();
    let name = match &unit.kind {
        UnitKind::Kernel { .. } if OF_BYTES.contains(&&*entry) => entry,
        UnitKind::Schedule { .. } => unit.symbol.clone(),
        _ => return Ok(None),
    };
    let (contract, _) = unit::contract(unit, &unit.compile()?, None)?;
    let arrays = &contract.arrays;
    let mut results = arrays.iter().enumerate().filter(|(_, array)| array.exit.is_some());
    let (Some((result, to)), None) = (results.next(), results.next()) else { return Ok(None) };
    let is_all = |meanings: &Option<Vec<Meaning>>| {
        meanings.as_ref().is_some_and(|all| all.iter().all(|bit| *bit != Meaning::Zero))
    };
    let others = arrays.iter().enumerate().filter(|(at, _)| *at != result);
    let fits = to.entry.is_none()
        && others.clone().all(|(_, array)| is_all(&array.entry))
        && contract.pointers.iter().copied().eq(0..arrays.len());
    let sizes: Vec<(usize, u64)> =
        arrays.iter().map(|array| (array.size / 8, array.align)).collect();
    let input = others.map(|(_, array)| array.size / 8).sum();
    let all = [0, input, to.size / 8];
    Ok(fits.then_some((name, Shape::Fixed { sizes, result }, all)))
}

/// The function over blocks that a unit is.
fn blocks_of(unit: &Unit) -> Option<&Blocks> {
    match &unit.kind {
        UnitKind::Blocks(blocks) | UnitKind::Xored(blocks) | UnitKind::Chained(blocks) => {
            Some(blocks)
        }
        _ => None,
    }
}

/// The unit that fills the words of the key that a function over blocks reads.
fn form_of<'u>(unit: &Unit, units: &'u [Unit]) -> Result<Option<&'u Unit>, String> {
    let Some(blocks) = blocks_of(unit) else { return Ok(None) };
    let shape = |unit: &Unit| -> Result<Option<(u8, usize)>, String> {
        let output = unit.compile()?;
        let Some(key) = &blocks.function.key else { return Ok(None) };
        let groups = output.program.params();
        let port = groups.iter().find(|group| group[0].name == key.param);
        Ok(port.map(|group| (group[0].word, group[0].words())))
    };
    let is_form = |other: &&Unit| match &other.kind {
        UnitKind::Key { function, .. } => {
            other.folder == unit.folder && function.key == blocks.function.key
        }
        _ => false,
    };
    let forms: Vec<&Unit> = units.iter().filter(is_form).collect();
    if let [form] = forms[..] {
        return Ok(Some(form));
    }
    let own = shape(unit)?;
    for form in forms {
        if shape(form)? == own {
            return Ok(Some(form));
        }
    }
    Ok(None)
}

/// The words of a key, the place of each of its bits in the bytes from which a unit fills them, and
/// the number of these bytes; `None` if there are none.
type Filled = (KeyWords, Vec<usize>, usize);

fn key_words(form: &Unit, units: &[Unit]) -> Result<Option<Filled>, String> {
    let UnitKind::Key { schedule, .. } = &form.kind else { return Ok(None) };
    let schedule = match schedule {
        Some(name) => match units.iter().find(|unit| unit.symbol == *name) {
            Some(unit) => Some(unit.compile()?),
            None => return Ok(None),
        },
        None => None,
    };
    let (contract, _) = unit::contract(form, &form.compile()?, schedule.as_ref())?;
    let [words, from] = &contract.arrays[..] else { return Ok(None) };
    let (Some(exit), Some(entry)) = (&words.exit, &from.entry) else { return Ok(None) };
    let is_turned = |meaning: &Meaning| matches!(meaning, Meaning::Bit { complement: true, .. });
    if exit.iter().chain(entry).any(is_turned) {
        return Ok(None);
    }
    let number = |meaning: &Meaning| match meaning {
        Meaning::Zero => None,
        Meaning::Bit { bit, .. } => Some(*bit as usize),
    };
    let bits: Vec<Option<usize>> = exit.iter().map(number).collect();
    let count = bits.iter().flatten().max().map_or(0, |most| most + 1);
    let places: Option<Vec<usize>> =
        (0..count).map(|bit| entry.iter().position(|other| number(other) == Some(bit))).collect();
    let words = KeyWords { bits, count, align: words.align };
    Ok(places.map(|places| (words, places, from.size / 8)))
}

/// A byte of symbols, the lowest bit first.
pub(super) type Byte = [Cell; 8];

/// Specifications run on symbols.
pub(super) struct Symbols<'a> {
    pub known: &'a Known<'a>,
    /// The sources of functions that have several.
    pub source: usize,
    pub bits: &'a mut Bits,
    pub functions: &'a mut Functions,
}

impl Symbols<'_> {
    /// Whether two strings of one length differ.
    pub fn differ(&mut self, a: &[Byte], b: &[Byte]) -> Cell {
        let mut any = self.bits.constant(false);
        for (&a, &b) in a.iter().flatten().zip(b.iter().flatten()) {
            let differ = self.bits.xor(a, b);
            any = self.bits.or(any, differ);
        }
        any
    }

    /// The first random bytes of a call.
    pub fn random(&mut self, bytes: usize) -> Result<Vec<Byte>, String> {
        let drawn = self.functions.random(self.bits, 0, bytes);
        Ok(self::bytes(&drawn.ok_or("random bytes have no names")?))
    }

    /// The curve of points.
    fn curve(&self) -> Result<&Curve, String> {
        let points = self.functions.points.as_ref();
        points.map(|points| &points.curve).ok_or_else(|| "there are no points".to_string())
    }

    /// A number as 32 bytes.
    fn padded(&self, mut number: Vec<Cell>) -> Vec<Byte> {
        number.resize(256, self.bits.constant(false));
        bytes(&number)
    }

    /// One string if a condition holds, and else the other one.
    pub fn choose(&mut self, condition: Cell, one: &[Byte], other: &[Byte]) -> Vec<Byte> {
        let mut bit = |a: Cell, b: Cell| {
            let differ = self.bits.xor(a, b);
            let change = self.bits.and(condition, differ);
            self.bits.xor(b, change)
        };
        let mut byte = |(one, other): (&Byte, &Byte)| -> Byte {
            std::array::from_fn(|at| bit(one[at], other[at]))
        };
        one.iter().zip(other).map(&mut byte).collect()
    }
}

impl Bytes for Symbols<'_> {
    type Byte = Byte;

    fn number(&self, value: u8) -> Byte {
        std::array::from_fn(|at| self.bits.constant(value >> at & 1 == 1))
    }

    fn sum(&mut self, a: &Byte, b: &Byte) -> Byte {
        std::array::from_fn(|at| self.bits.xor(a[at], b[at]))
    }

    fn common(&mut self, byte: &Byte, mask: u8) -> Byte {
        let zero = self.bits.constant(false);
        std::array::from_fn(|at| if mask >> at & 1 == 1 { byte[at] } else { zero })
    }

    fn rotated(&self, byte: &Byte, bits: u32) -> Byte {
        let mut rotated = *byte;
        rotated.rotate_right(bits as usize % 8);
        rotated
    }

    fn sizes(&self, function: &str) -> Result<[usize; 3], String> {
        Ok(self.known.applied(function, self.source)?.1.sizes)
    }

    fn apply(&mut self, function: &str, key: &[Byte], input: &[Byte]) -> Result<Vec<Byte>, String> {
        let (number, applied) = self.known.applied(function, self.source)?;
        let [keys, inputs, output] = applied.sizes;
        if (key.len(), input.len()) != (keys, inputs) {
            return Err(format!("`{function}` is applied to other sizes"));
        }
        let mut held: Vec<Cell> = key.iter().flatten().copied().collect();
        if let Some((schedule, made)) = applied.schedule {
            held = self.functions.apply(self.bits, schedule, held, made);
        }
        let key = applied.key.iter().map(|&at| held[at]);
        let arguments = key.chain(input.iter().flatten().copied()).collect();
        let result = self.functions.apply(self.bits, number, arguments, output);
        Ok(bytes(&result))
    }
}

/// The modulus of Poly1305.
fn prime() -> BigInt {
    (BigInt::from(1) << 130) - 5
}

impl Residues for Symbols<'_> {
    type Residue = Poly;

    fn residue(&mut self, text: &[Byte]) -> Result<Poly, String> {
        let residues = &mut self.functions.residues;
        let integer = residues.integer(self.bits, text.as_flattened(), &prime());
        integer.ok_or_else(|| "a byte of a message is not known".to_string())
    }

    fn step(&mut self, a: &Poly, b: &Poly, c: &Poly) -> Result<Poly, String> {
        let product = a.add(b).mul(c).ok_or("a polynomial with too many terms")?;
        Ok(product.modulo(&prime()))
    }

    fn lowest(&mut self, residue: &Poly) -> Vec<Byte> {
        bytes(&self.functions.number(self.bits, residue, &prime())[..128])
    }

    fn added(&mut self, a: &[Byte], b: &[Byte]) -> Vec<Byte> {
        bytes(&self.bits.sum(a.as_flattened(), b.as_flattened(), false).0)
    }
}

impl Group for Symbols<'_> {
    type Scalar = Poly;

    fn scalar(&mut self, text: &[Byte]) -> Result<Poly, String> {
        let order = self.curve()?.order.clone();
        let integer = self.functions.residues.integer(self.bits, text.as_flattened(), &order);
        integer.ok_or_else(|| "a byte of a number is not known".to_string())
    }

    fn multiply_add(&mut self, a: &Poly, b: &Poly, c: &Poly) -> Result<Poly, String> {
        let product = a.mul(b).ok_or("a polynomial with too many terms")?;
        Ok(product.add(c).modulo(&self.curve()?.order))
    }

    fn bytes(&mut self, scalar: &Poly) -> Result<Vec<Byte>, String> {
        let order = self.curve()?.order.clone();
        let number = self.functions.number(self.bits, scalar, &order);
        Ok(self.padded(number))
    }

    fn encoded(&mut self, scalar: &Poly) -> Result<Vec<Byte>, String> {
        let coordinates = self.functions.multiple(scalar)?;
        let prime = self.curve()?.prime.clone();
        let [x, mut y] = coordinates.map(|poly| self.functions.number(self.bits, &poly, &prime));
        y.push(x[0]);
        Ok(bytes(&y))
    }

    fn montgomery(&mut self, scalar: &Poly) -> Result<Vec<Byte>, String> {
        let [_, y] = self.functions.multiple(scalar)?;
        let prime = self.curve()?.prime.clone();
        let one = Poly::constant(1);
        let exponent = Exponent::from(prime.magnitude() - 2u8);
        let below = one.sub(&y).modulo(&prime);
        let inverse = self.functions.residues.power(&below, &exponent, &prime);
        let quotient = inverse.and_then(|inverse| inverse.mul(&one.add(&y)));
        let quotient = quotient.ok_or("a polynomial with too many terms")?;
        let number = self.functions.number(self.bits, &quotient, &prime);
        Ok(self.padded(number))
    }
}

pub(super) fn bytes(cells: &[Cell]) -> Vec<Byte> {
    cells.chunks_exact(8).map(|byte| byte.try_into().expect("eight bits")).collect()
}

#[cfg(test)]
mod tests {
    use usuba_ciphers::curve::x25519_base;
    use usuba_equiv::value_numbering::Graph;

    use super::*;

    /// Numbers as symbols agree with test vectors: RFC 7748, section 6.1, and RFC 8032, section
    /// 7.1.
    #[test]
    fn multiples_of_numbers_agree_with_test_vectors() {
        let known = Known::new(&[], &[]).expect("no units");
        let points = Points::new(Curve::edwards25519()).expect("a group");
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        functions.points = Some(points);
        let mut symbols =
            Symbols { known: &known, source: 0, bits: &mut bits, functions: &mut functions };
        let bytes = |hex: &str| -> Vec<u8> {
            let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16);
            (0..hex.len() / 2).map(|at| byte(at).expect("digits")).collect()
        };
        let secret = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
        let secret = symbols.numbers(&bytes(secret));
        let found = x25519_base(&mut symbols, &secret).expect("a multiple");
        let value = |byte: &Byte| symbols.bits.word(byte).expect("a number") as u8;
        let expected = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
        assert_eq!(found.iter().map(value).collect::<Vec<_>>(), bytes(expected));
        // The lower half of SHA-512 of the seed 9d61b1…, with five bits fixed.
        let secret = "307c83864f2833cb427a2ef1c00a013cfdff2768d980c0a3a520f006904de94f";
        let secret = symbols.numbers(&bytes(secret));
        let scalar = symbols.scalar(&secret).expect("a number");
        let found = symbols.encoded(&scalar).expect("a multiple");
        let value = |byte: &Byte| symbols.bits.word(byte).expect("a number") as u8;
        let expected = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(found.iter().map(value).collect::<Vec<_>>(), bytes(expected));
    }
}
