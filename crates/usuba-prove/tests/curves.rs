//! The programs in `arithmetic/curve25519`, against points and numbers of any length.
//!
//! ```text
//! add_affine of limbs25.ua      the sum of two points, by the law of the curve
//! double on gp32, linked        the words that the source gives, through calls of other kernels
//! ```
//!
//! The functions of the nodes are tested on words that are numbers. Kernels that compute the same,
//! with everything inlined, in lanes, and with calls of kernels in other files, are tested where
//! they run.

#[path = "../../usuba-contracts/tests/support/arithmetic.rs"]
mod arithmetic;

use std::collections::BTreeSet;

use num_bigint::BigInt;
use usuba::emit::c::{COptions, kernel};
use usuba::ir::Slicing;
use usuba::ir::random::Random;
use usuba::isa::{self, Layout, cpu};
use usuba::passes::pipeline::PipelineOptions;
use usuba::typed::{Instance, Program, Var, VarType, eval};
use usuba::{Options, emit, optimise};
use usuba_run::cc;
use usuba_run::native::{self, Kernel};

/// A representation of numbers, and the curve on it.
struct Width {
    file: &'static str,
    places: &'static [u32],
    program: Program,
}

const TEN: &[u32] = &[0, 26, 51, 77, 102, 128, 153, 179, 204, 230, 255];

impl Width {
    fn new(file: &'static str, places: &'static [u32]) -> Width {
        Width { file, places, program: program(file, None) }
    }
}

fn widths() -> [Width; 2] {
    [Width::new("limbs51.ua", &[0, 51, 102, 153, 204, 255]), Width::new("limbs25.ua", TEN)]
}

fn program(file: &str, entry: Option<&str>) -> Program {
    let name = format!("curve25519/{file}");
    arithmetic::front(&name, &arithmetic::text(&name), entry).0
}

fn p() -> BigInt {
    (BigInt::from(1) << 255) - 19
}

fn modulo(x: BigInt) -> BigInt {
    ((x % p()) + p()) % p()
}

fn inverse(x: &BigInt) -> BigInt {
    x.modpow(&(p() - 2), &p())
}

/// RFC 8032, section 5.1.
fn d() -> BigInt {
    modulo(BigInt::from(-121665) * inverse(&BigInt::from(121666)))
}

#[derive(Clone, PartialEq, Debug)]
struct Point {
    x: BigInt,
    y: BigInt,
}

impl Point {
    /// The law of the curve.
    fn add(&self, other: &Point) -> Point {
        let product = d() * &self.x * &other.x * &self.y * &other.y;
        let x = (&self.x * &other.y + &other.x * &self.y) * inverse(&modulo(1 + &product));
        let y = (&self.y * &other.y + &self.x * &other.x) * inverse(&modulo(1 - product));
        Point { x: modulo(x), y: modulo(y) }
    }

    fn negative(&self) -> Point {
        Point { x: modulo(-&self.x), y: self.y.clone() }
    }
}

impl Width {
    fn number(&self, words: &[u64]) -> BigInt {
        words.iter().zip(self.places).map(|(&word, &place)| BigInt::from(word) << place).sum()
    }

    fn limbs(&self, x: &BigInt) -> Vec<u64> {
        let limb = |ends: &[u32]| {
            let limb = (x >> ends[0]) % (BigInt::from(1) << (ends[1] - ends[0]));
            u64::try_from(limb).expect("a limb")
        };
        self.places.windows(2).map(limb).collect()
    }

    /// The results of a node, in numbers of `words` words each.
    fn run(&self, node: &str, inputs: &[Vec<u64>]) -> Vec<u64> {
        let decl = self.program.decls.iter().position(|decl| *decl.name == *node);
        let instance = Instance::open(decl.expect("a node"), 0);
        eval(&self.program, &instance, &inputs.concat()).expect("words in their ranges")
    }

    /// A point with any Z.
    fn extended(&self, point: &Point, z: &BigInt) -> Vec<u64> {
        let numbers = [&point.x * z, &point.y * z, z.clone(), &point.x * &point.y * z];
        numbers.into_iter().flat_map(|x| self.limbs(&modulo(x))).collect()
    }

    fn point(&self, words: &[u64]) -> Point {
        let numbers: Vec<BigInt> =
            words.chunks(self.places.len() - 1).map(|limbs| modulo(self.number(limbs))).collect();
        if let [x, y, z, t] = &numbers[..] {
            assert_eq!(modulo(t * z), modulo(x * y));
        }
        let z = inverse(&numbers[2]);
        Point { x: modulo(&numbers[0] * &z), y: modulo(&numbers[1] * z) }
    }

    /// The point with this y and an odd or even x, if it is one.
    fn decompressed(&self, y: &BigInt, odd: u64) -> Option<Point> {
        let bits = 256 / if self.places.len() == 6 { 4 } else { 8 };
        let word = |i: u32| u64::try_from((y >> (bits * i)) % (BigInt::from(1) << bits));
        let words = (0..256 / bits).map(|i| word(i).expect("a word")).collect();
        let mut out = self.run("decompress", &[words, vec![odd]]);
        let good = out.pop().expect("a bit");
        assert!(good < 2);
        (good == 1).then(|| self.point(&out))
    }
}

fn base() -> Point {
    let y = modulo(BigInt::from(4) * inverse(&BigInt::from(5)));
    let x = "15112221349535400772501151409588531511454012693041857206046113283949847762202";
    Point { x: x.parse().expect("a number"), y }
}

#[test]
fn nodes_are_the_law_of_the_curve() {
    for width in widths() {
        let limbs = width.places.len() - 1;
        let zero = Point { x: BigInt::from(0), y: BigInt::from(1) };
        let two = base().add(&base());
        let z = BigInt::from(0x1234_5678_9abc_def1u64).pow(3);
        for (a, b) in [(two.add(&base()), two.negative()), (base(), base()), (base(), zero)] {
            let (first, second) = (width.extended(&a, &z), width.extended(&b, &(&z + 1)));
            let plane = first[..3 * limbs].to_vec();
            let both = a.add(&a);
            assert_eq!(
                width.point(&width.run("double", std::slice::from_ref(&plane))),
                both,
                "{}",
                width.file
            );
            assert_eq!(width.point(&width.run("double_xyz", &[plane])), both, "{}", width.file);

            let cached = width.run("cache", &[second]);
            let inputs = [first.clone(), cached];
            assert_eq!(width.point(&width.run("add_cached", &inputs)), a.add(&b));
            assert_eq!(width.point(&width.run("sub_cached", &inputs)), a.add(&b.negative()));

            let entry = width.run("entry", &[width.limbs(&b.x), width.limbs(&b.y)]);
            let inputs = [first.clone(), entry.clone()];
            assert_eq!(width.point(&width.run("add_affine", &inputs)), a.add(&b));
            assert_eq!(width.point(&width.run("sub_affine", &inputs)), a.add(&b.negative()));
            for (bit, other) in [(0, b.clone()), (1, b.negative())] {
                let signed = width.run("negate_affine", &[vec![bit], entry.clone()]);
                let sum = width.run("add_affine", &[first.clone(), signed]);
                assert_eq!(width.point(&sum), a.add(&other), "{}", width.file);
            }
        }
    }
}

#[test]
fn only_points_are_decompressed() {
    let point = base();
    for width in widths() {
        assert_eq!(width.decompressed(&point.y, 0), Some(point.clone()), "{}", width.file);
        assert_eq!(width.decompressed(&point.y, 1), Some(point.negative()), "{}", width.file);
        // Zero has no odd x, and 1 is also p + 1.
        let one = BigInt::from(1);
        let zero = Point { x: BigInt::from(0), y: one.clone() };
        assert_eq!(width.decompressed(&one, 0), Some(zero.clone()));
        assert_eq!(width.decompressed(&one, 1), None);
        assert_eq!(width.decompressed(&(p() + 1), 0), Some(zero));
        let mut found = [0, 0];
        for y in 2..6u32 {
            let y = BigInt::from(y);
            let fraction = (&y * &y - 1) * inverse(&modulo(d() * &y * &y + 1));
            let square = modulo(fraction).modpow(&((p() - 1) / 2), &p()) == one;
            let got = width.decompressed(&y, 1);
            assert_eq!(got.is_some(), square, "{y} in {}", width.file);
            if let Some(point) = &got {
                assert!(point.x.bit(0) && point.y == y);
                assert_eq!(point.add(&point.negative()).x, BigInt::from(0));
            }
            found[usize::from(square)] += 1;
        }
        assert!(found.iter().all(|&count| count > 0), "{found:?}");
    }
}

/// RFC 7748, section 5: one step, as its text has it.
#[test]
fn a_step_is_one_of_the_ladder() {
    let mut random = Random::new(5);
    for width in widths() {
        let mut any = || (0..4).fold(BigInt::from(0), |x, _| (x << 64) + random.word()) % p();
        let x: [BigInt; 5] = std::array::from_fn(|_| any());
        let limbs: Vec<Vec<u64>> = x.iter().map(|x| width.limbs(x)).collect();
        let out = width.run("ladder_step", &limbs);
        let out: Vec<BigInt> =
            out.chunks(limbs[0].len()).map(|limbs| modulo(width.number(limbs))).collect();
        let [x1, x2, z2, x3, z3] = &x;
        let square = |x: BigInt| &x * &x;
        let (aa, bb) = (square(x2 + z2), square(x2 - z2));
        let (da, cb) = ((x3 - z3) * (x2 + z2), (x3 + z3) * (x2 - z2));
        let e = &aa - &bb;
        let wanted = [&aa * &bb, &e * (&aa + 121665 * &e), square(&da + &cb), x1 * square(da - cb)];
        assert_eq!(out, wanted.map(modulo), "{}", width.file);
        for bit in [0, 1] {
            let inputs: Vec<Vec<u64>> =
                std::iter::once(vec![bit]).chain(limbs[1..].iter().cloned()).collect();
            let order: [usize; 4] = [[1, 2, 3, 4], [3, 4, 1, 2]][bit as usize];
            let wanted = order.map(|i| limbs[i].clone()).concat();
            assert_eq!(width.run("cswap", &inputs), wanted, "{}", width.file);
        }
    }
}

/// The nodes that are called as kernels of their own, each before its first caller.
const LINKED: &[&str] = &[
    "mul", "square", "scale", "carry", "add", "sub", "negate", "add_more", "sub_more", "freeze",
    "is_zero", "unpack", "powers", "power58", "equal", "fraction", "root",
];

/// The text of a kernel; with calls of others, theirs too.
fn text(width: &Width, node: &str, target: &'static isa::Target, link: bool) -> (String, u32) {
    let one = |node: &str, linked: Vec<String>| {
        let program = program(width.file, Some(node));
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.interleave.factor = Some(1);
        let hidden = link;
        let c = COptions { prefix: "t_".into(), hidden, linked, ..COptions::default() };
        let cpu = cpu::find("generic").expect("a CPU");
        let (slicing, flags) = (Slicing::V, Default::default());
        let options = Options { slicing, target, cpu, word: None, entry: None, flags, pipeline, c };
        let lowered = optimise(&program, &options, &mut |_, _| {}).expect("a program");
        let lane = match emit::layout(&lowered, target) {
            Layout::Lanes(lane) => lane as u32,
            _ => 0,
        };
        (kernel(&lowered, target, &options.c).text, lane)
    };
    if !link {
        return one(node, Vec::new());
    }
    let linked: Vec<String> = LINKED.iter().map(|name| name.to_string()).collect();
    let others = LINKED.iter().filter(|&&name| name != node);
    let mut all: String = others.map(|name| one(name, linked.clone()).0).collect();
    all.push_str(&one(node, linked).0);
    (all, 0)
}

fn bytes_of(var: &Var) -> usize {
    match &var.ty {
        VarType::Words { atom, .. } => atom.bits().expect("a size") as usize / 8,
        VarType::Nat => unreachable!("no port is a nat"),
    }
}

/// Words anywhere in their ranges.
fn words(var: &Var, random: &mut Random) -> Vec<u64> {
    let word = |at| match var.range(at) {
        Some(range) => range.low as u64 + random.word() % (range.high - range.low + 1) as u64,
        None => random.word() >> (64 - 8 * bytes_of(var)),
    };
    (0..var.ty.atoms()).map(word).collect()
}

#[test]
fn kernels_give_the_words_of_the_source() {
    let cases = [
        ("gp64", 0, false, ["ladder_step", "double", "add_affine", "cswap"]),
        ("gp64", 0, true, ["decompress", "add_cached", "inverse", "entry"]),
        ("gp32", 1, true, ["ladder_step", "decompress", "double", "sub_affine"]),
        ("avx2", 2, false, ["ladder_step", "cswap", "sub_cached", "negate_affine"]),
        ("avx512_ifma", 3, false, ["ladder_step", "double", "add_affine", "lift"]),
    ];
    let [long, short] = widths();
    let lanes = Width::new("lanes52.ua", &[0, 52, 104, 156, 208, 255]);
    let widths = [long, short, Width::new("lanes25.ua", TEN), lanes];
    for (name, width, link, nodes) in cases {
        let machine = match cc::find(name) {
            Ok(machine) => machine,
            Err(skip) => {
                eprintln!("{skip}");
                continue;
            }
        };
        let (target, width) = (isa::find(name).expect("a target"), &widths[width]);
        let mut random = Random::new(9);
        let (mut kernels, mut wanted) = (Vec::new(), Vec::new());
        for node in nodes {
            let (text, lane) = text(width, node, target, link);
            let decl = width.program.decls.iter().find(|decl| *decl.name == *node);
            let decl = decl.expect("a node");
            // In lanes all instances are the same: lanes are tested with the field.
            let copies = target.bits.checked_div(lane).unwrap_or(1) as usize;
            let size = |var: &Var| if lane > 0 { lane as usize / 8 } else { bytes_of(var) };
            let packed = |var: &Var, words: &[u64]| -> Vec<u8> {
                let word = |word: &u64| word.to_le_bytes()[..size(var)].repeat(copies);
                words.iter().flat_map(word).collect()
            };
            let inputs: Vec<Vec<u64>> =
                decl.params.iter().map(|var| words(var, &mut random)).collect();
            let mut results = &width.run(node, &inputs)[..];
            let mut outputs = Vec::new();
            for var in &decl.results {
                let (these, rest) = results.split_at(var.ty.atoms());
                results = rest;
                outputs.push(packed(var, these));
            }
            let call = decl.params.iter().zip(&inputs).map(|(var, words)| packed(var, words));
            kernels.push(Kernel {
                text,
                symbol: format!("t_{node}"),
                align: (target.bits as usize / 8).max(8),
                calls: vec![call.collect()],
                outputs: outputs.iter().map(Vec::len).collect(),
            });
            wanted.push((node, outputs));
        }
        for (answer, (node, outputs)) in
            native::run(&machine, &["-O1"], &kernels).into_iter().zip(wanted)
        {
            let answer = answer.unwrap_or_else(|why| panic!("{node} on {name}: {why}"));
            assert_eq!(answer[0], outputs, "{node} of {} on {name}", width.file);
        }
    }
}

/// RFC 7748, section 5.2: a scalar, an x-coordinate, and the x-coordinate of their product.
const PRODUCTS: [[&str; 3]; 2] = [
    [
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ],
    [
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ],
];

/// The programs of whole functions, each with the kernels that it links in one file.
#[test]
fn ladders_multiply_points_by_scalars() {
    let bytes = |hex: &str| -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("a byte");
        (0..hex.len() / 2).map(byte).collect()
    };
    for (file, target) in [("ladder51.ua", "gp64"), ("ladder25.ua", "gp32")] {
        let machine = match cc::find(target) {
            Ok(machine) => machine,
            Err(skip) => {
                eprintln!("{skip}");
                continue;
            }
        };
        let target = isa::find(target).expect("a target");
        let width = Width::new(file, &[]);
        let decls = &width.program.decls;
        let ladder = decls.iter().position(|decl| *decl.name == *"x25519").expect("a node");
        let mut nodes = BTreeSet::from([ladder]);
        // Callees come first.
        for caller in (0..=ladder).rev() {
            if nodes.contains(&caller) {
                nodes.extend(&decls[caller].links);
            }
        }
        let nodes = nodes.into_iter().map(|at| &*decls[at].name);
        let kernel = Kernel {
            text: nodes.map(|node| text(&width, node, target, false).0).collect(),
            symbol: "t_x25519".into(),
            align: 1,
            calls: PRODUCTS.iter().map(|[k, u, _]| vec![bytes(k), bytes(u)]).collect(),
            outputs: vec![32],
        };
        let answer = native::run(&machine, &["-O1"], &[kernel]).remove(0).expect("it runs");
        let wanted = PRODUCTS.map(|[.., product]| vec![bytes(product)]);
        assert_eq!(answer, wanted, "{file}");
    }
}
