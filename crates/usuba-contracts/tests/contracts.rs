//! Contracts of the programs in `arithmetic`: all are proved, and every injected fault is refuted.

#[path = "support/arithmetic.rs"]
mod arithmetic;

use std::time::Instant;
use usuba_gen::asks;

use usuba::diag::{Code, Diagnostic, Sources};
use usuba_contracts::Verdict;

/// The verdict on one node, and the line that its finding names.
fn outcome(name: &str, text: &str, node: &str) -> (Verdict, String) {
    let (program, sources) = arithmetic::front(name, text, None);
    let id = program.decls.iter().position(|decl| *decl.name == *node).expect("a node");
    let outcome = usuba_contracts::check_node(&program, id).verdict;
    let line = usuba_contracts::finding(outcome.clone()).map_or(String::new(), |finding| {
        let file = sources.file(finding.span.expect("a place").file);
        let line = file.text.lines().nth(line_of(&sources, &finding) - 1);
        line.expect("a line").trim().to_string()
    });
    (outcome, line)
}

fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(arithmetic::folder()).expect("the folder of arithmetic") {
        let inside = entry.expect("a folder").path();
        for file in std::fs::read_dir(&inside).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|e| e == "ua") {
                let name = path.strip_prefix(arithmetic::folder()).expect("below the folder");
                all.push(name.to_str().expect("a plain name").to_string());
            }
        }
    }
    all.sort();
    all
}

fn line_of(sources: &Sources, finding: &Diagnostic) -> usize {
    let span = finding.span.expect("a place");
    sources.line_col(span.file, span.start).0
}

/// Nodes whose proofs take seconds each, and that have fast proofs on other limbs. Doubling and
/// addition on ten limbs stay in the short run: their ranges are shorter, and a change that breaks
/// another form breaks these.
const LONG: [(&str, &str); 8] = {
    const FILE: &str = "curve25519/limbs25.ua";
    [
        (FILE, "ladder_step"),
        (FILE, "add_cached"),
        (FILE, "sub_cached"),
        (FILE, "sub_affine"),
        (FILE, "root"),
        (FILE, "decompress"),
        ("curve25519/limbs51.ua", "root"),
        ("curve25519/limbs51.ua", "decompress"),
    ]
};

/// Nodes that only programs for few registers or little memory have.
const SHORT_NODES: &[&str] = &[
    "mul",
    "square",
    "scale",
    "added",
    "sub_wide",
    "double_factors",
    "sum_factors",
    "complete",
    "turn",
    "swap_points",
];

#[test]
fn every_contract_is_proved() {
    let programs = programs();
    assert!(!programs.is_empty());
    for name in &programs {
        let (program, sources) = arithmetic::front(name, &arithmetic::text(name), None);
        let promising: Vec<_> = usuba_contracts::promising(&program).collect();
        assert!(!promising.is_empty(), "{name} promises nothing");
        for node in promising {
            let decl = &program.decls[node];
            let file = &sources.file(decl.name_span.file).name;
            // Nodes of an included program are proved there.
            let elsewhere = file != name && programs.contains(file);
            // Other programs have their own formulas, too.
            let short = name.ends_with("rolled25.ua") || name.ends_with("small25.ua");
            let long = name.starts_with("curve25519/lanes")
                || LONG.contains(&(name, &decl.name))
                || (short && !SHORT_NODES.contains(&&*decl.name));
            if elsewhere || (long && !asks!("{name}, {}", decl.name)) {
                continue;
            }
            let start = Instant::now();
            let report = usuba_contracts::check_node(&program, node);
            println!("{name}, {}: {:?} by {}", report.node, start.elapsed(), report.verdict.name());
            assert!(report.obligations > 0);
            if let Some(finding) = usuba_contracts::finding(report.verdict) {
                let line = line_of(&sources, &finding);
                panic!("{name}:{line}: {}: {}", report.node, finding.message)
            }
        }
    }
}

/// A fault to inject: its program, the node and line where it shows, and the changed text.
struct Planted {
    node: &'static str,
    from: &'static str,
    to: &'static str,
    line: &'static str,
    code: Code,
}

const fn planted(
    node: &'static str,
    from: &'static str,
    to: &'static str,
    line: &'static str,
    code: Code,
) -> Planted {
    Planted { node, from, to, line, code }
}

const PLANTED: &[(&str, &[Planted])] = &[
    ("field25519/limbs51.ua", LIMBS51),
    ("field25519/formulas/ten.ua", TEN),
    ("field25519/formulas/short.ua", SHORT),
    ("field25519/formulas/crossed.ua", CROSSED),
    ("field25519/formulas/square.ua", SQUARE),
    ("field25519/formulas/columns.ua", COLUMNS),
    ("field25519/formulas/rolled.ua", ROLLED),
    ("field25519/lanes25.ua", LANES25),
    ("field25519/lanes52.ua", LANES52),
    ("field25519/across25.ua", ACROSS),
    ("curve25519/across25.ua", ACROSS_LADDER),
    ("field25519/limbs16.ua", LIMBS16),
    ("curve25519/limbs51.ua", CURVE),
    ("curve25519/formulas/montgomery.ua", MONTGOMERY),
    ("curve25519/formulas/edwards.ua", EDWARDS),
    ("poly1305/limbs44.ua", LIMBS44),
    ("poly1305/limbs26.ua", LIMBS26),
    ("order25519/limbs63.ua", LIMBS63),
    ("order25519/limbs28.ua", LIMBS28),
    ("order25519/words32.ua", WORDS32),
    ("curve25519/formulas/factors.ua", FACTORS),
];

const MUL: &str = "ensures fe(r) == fe(a) * fe(b) mod 2^255 - 19";
const STEP: &str = "ensures fe(r) == (fe(h) + fe(m)) * fe(k) mod 2^130 - 5";

#[rustfmt::skip] // One fault, one line.
const LIMBS51: &[Planted] = &[
    planted("mul", "r[0] + 19 * u64(q)", "r[0] + 18 * u64(q)", MUL, Code::ContractFails),
    planted("mul", "u[i+1] := u[i+1] + u128(u64(q))", "u[i+1] := u[i+1]", MUL, Code::ContractFails),
    planted("mul", "type wide = u64x5 in [0, 2^54)", "type wide = u64x5 in [0, 2^60)", "c[0..4] =", Code::ArithmeticWraps),
    planted("mul", "u128(c[5+i-j])", "u128(c[4+i-j])", MUL, Code::ContractFails),
    planted("mul", "(g, f) = split(r[0] + 19 * u64(q), 51)", "(g, f) = split(r[0] + 19 * u64(q), 50)", MUL, Code::ContractFails),
    planted("mul", "2^(51*i)", "2^(52*i)", MUL, Code::ContractFails),
    planted("square", "w[1] * w[1] + d[3] * e[4]", "w[1] * w[1] + d[2] * e[4]", "ensures fe(r) == fe(a)^2", Code::ContractFails),
    planted("sub_more", "0x1fffffffffffb4", "0x1fffffffffffb5", "ensures fe(r) == fe(a) - fe(b)", Code::ContractFails),
    planted("sub", "node sub (a,b:tight)", "node sub (a,b:wide)", "r = a + p - b", Code::ArithmeticWraps),
    planted("add", "type twice = u64x5 in [0, 2^52 + 2^16)", "type twice = u64x5 in [0, 2^52 + 2^16 - 2)", "node add", Code::ContractFails),
    planted("select", "r = choose(b, x, y)", "r = choose(1 - b, x, y)", "ensures fe(r) == fe(x) + b", Code::ContractFails),
    planted("select", "choose (b:word, x,y:limbs) returns (r:limbs)\nvars m: word\nlet\n  m = wrap(0 - b)", "choose (b:word, x,y:limbs) returns (r:limbs)\nvars m: word\nlet\n  m = 0 - b", "m = 0 - b", Code::ArithmeticWraps),
    planted("is_zero", "a[3] + a[4], 1)", "a[3], 1)", "ensures y * fe(a) == 0", Code::ContractFails),
    planted("carry", "19 * q[4]", "q[4]", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "split(h[0] + 19 * c, 51)", "split(h[0], 51)", "ensures fe(r) < ", Code::ContractFails),
    planted("freeze", "split(h[0] + 19, 51)", "split(h[0] + 18, 51)", "ensures fe(r) < ", Code::ContractFails),
    planted("freeze", "split(h[0] + 19, 51)", "split(h[0] + 20, 51)", "ensures fe(r) == ", Code::ContractFails),
    planted("freeze", "h[0] := h[0] + 19 * q", "h[0] := h[0] + 18 * q", "ensures fe(r) == ", Code::ContractFails),
    planted("inverse", "forall i in [1,100]", "forall i in [1,99]", "ensures fe(r) == fe(a)^", Code::ContractFails),
    planted("power58", "mul(square(square(n250)), a)", "mul(square(square(n250)), n250)", "ensures fe(r) == fe(a)^(2^252 - 3)", Code::ContractFails),
    planted("unpack", "(y << 26) | x[1]", "(y << 25) | x[1]", "ensures fe(r) == num(w)", Code::ContractFails),
    planted("unpack", "split(x[3], 51)", "split(x[3], 50)", "ensures fe(r) == num(w)", Code::ContractFails),
    planted("pack", "(y << 25) | w[2]", "(y << 24) | w[2]", "ensures num(w) == fe(a)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const SQUARE: &[Planted] = &[
    planted("mul", "s[0] + times19(q)", "s[0] + q", MUL, Code::ContractFails),
    planted("mul", "s[1] := s[1] + q;\n  r = limb(s)", "r = limb(s)", MUL, Code::ContractFails),
    planted("square", "t := t + t;", "", "ensures fe(r) == fe(a)^2 ", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const COLUMNS: &[Planted] = &[
    planted("mul", "d = a + a;\n  t = columns", "d = a;\n  t = columns", MUL, Code::ContractFails),
    planted("mul", "node mul (a:wide, b:loose)", "node mul (a:wide, b:wide)", "c[i] = limb(product(19, b[i]))", Code::ArithmeticWraps),
];

#[rustfmt::skip] // One fault, one line.
const ROLLED: &[Planted] = &[
    planted("mul", "split(u + q, 25)", "split(u, 25)", MUL, Code::ContractFails),
    planted("mul", "t := q + t + t + product", "t := q + t + product", MUL, Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const TEN: &[Planted] = &[
    planted("sub_more", "0xfffffb4", "0xffffffc", "ensures fe(r) == fe(a) - fe(b)", Code::ContractFails),
    planted("sub", "node sub (a,b:tight)", "node sub (a,b:loose)", "0x7fffffe - b[2*i]", Code::ArithmeticWraps),
    planted("carry", "q := 19 * q;", "q := 18 * q;", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "h[0] := h[0] + 19 * q", "h[0] := h[0] + 18 * q", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "chain(h, 19 * c)", "chain(h, 0)", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "chain(h, 19);", "chain(h, 18);", "ensures fe(r) < ", Code::ContractFails),
    planted("unpack", "(y[3] << 19) | x[2]", "(y[3] << 18) | x[2]", "ensures fe(r) == num(w)", Code::ContractFails),
    planted("pack", "(y[3] << 13) | x[2]", "(y[3] << 13) | x[1]", "ensures num(w) == fe(a)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const SHORT: &[Planted] = &[
    planted("mul", "type wide = limbs in [0, 2^29)", "type wide = limbs in [0, 2^30)", "t[2*k] := t[2*k] + product", Code::ArithmeticWraps),
];

#[rustfmt::skip] // One fault, one line.
const CROSSED: &[Planted] = &[
    planted("square", "product(a[7], e[7]);", "product(a[7], e[6]);", "ensures fe(r) == fe(a)^2 ", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LANES25: &[Planted] = &[
    planted("mul", "(q << 4) + (q << 1) + q", "(q << 4) + (q << 2) + q", MUL, Code::ContractFails),
    planted("mul", "product(a[2*i], c[10+k-2*i])", "product(a[2*i], c[9+k-2*i])", MUL, Code::ContractFails),
    planted("square", "t[4] := t[4] + product(a[7], e[7])", "t[4] := t[4] + product(d[7], e[7])", "ensures fe(r) == fe(a)^2 ", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LANES52: &[Planted] = &[
    planted("mul", "low(factor(q), 19), a[1..3], s)", "low(factor(q), 18), a[1..3], s)", MUL, Code::ContractFails),
    planted("mul", "low(c[i], 608) + high(c[i-1], 608)", "low(c[i], 608) + high(c[i-1], 304)", MUL, Code::ContractFails),
    planted("mul", "(q, s[i]) := split(t[5+i] + q, 52)", "(q, s[i]) := split(t[5+i], 52)", MUL, Code::ContractFails),
    planted("mul", "t[i+5] = high(x[i], y[4])", "t[i+5] = low(x[i], y[4])", MUL, Code::ContractFails),
    planted("mul", "2^52), [0, 2^50)", "2^52), [0, 2^53)", "y = factor(b)", Code::ArithmeticWraps),
    planted("square", "t[7] = low(x[3], x[4])", "t[7] = low(x[3], x[3])", "ensures fe(r) == fe(a)^2", Code::ContractFails),
    planted("square", "forall k in [1,8] { t[k] := t[k] + t[k] }", "forall k in [2,8] { t[k] := t[k] + t[k] }", "ensures fe(r) == fe(a)^2", Code::ContractFails),
    planted("scale", "low(factor(high(x[4], 121665)), 608)", "low(factor(high(x[4], 121665)), 19)", "ensures fe(r) == 121665", Code::ContractFails),
    planted("add", "  r[4] = a[4] + q\n", "  r[4] = a[4]\n", "ensures fe(r) == fe(a) + fe(b)", Code::ContractFails),
    planted("sub_more", "0x1fffffffffffb4", "0x1fffffffffffb5", "ensures fe(r) == fe(a) - fe(b)", Code::ContractFails),
    planted("sub", "node sub (a,b:tight)", "node sub (a:tight, b:loose)", "r = chain(a + p - b)", Code::ArithmeticWraps),
    planted("select", "r[i] = (x[i] & ~m) | (y[i] & m)", "r[i] = (x[i] & m) | (y[i] & m)", "ensures fe(r) == fe(x) + b", Code::ContractFails),
    planted("freeze", "low(factor(c), 19)", "low(factor(c), 18)", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "chain(h[0] + 19, h[1..4])", "chain(h[0] + 18, h[1..4])", "ensures fe(r) < ", Code::ContractFails),
    planted("unpack", "(y << 24) | x[1]", "(y << 23) | x[1]", "ensures fe(r) == num(w)", Code::ContractFails),
    planted("pack", "(y << 28) | w[2]", "(y << 27) | w[2]", "ensures num(w) == fe(a)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const ACROSS: &[Planted] = &[
    planted("mul", "(q << (4, 4, 4, 4)) + (q << (1, 1, 1, 1)) + q", "(q << (4, 4, 4, 4)) + q + q", "ensures fourth(r)", Code::ContractFails),
    planted("mul", "  u[6] := u[6] + q;\n", "", "ensures fourth(r)", Code::ContractFails),
    planted("mul", "product(four(19), b[i])", "product((19, 19, 18, 19), b[i])", "ensures third(r)", Code::ContractFails),
    planted("mul", "d = a + a;", "d = a;", "ensures fourth(r)", Code::ContractFails),
    planted("mul_sum", "t[i][0,0,2,2]", "t[i][0,1,2,2]", "ensures second(r)", Code::ContractFails),
    planted("whole", "(a[2*i+1] << 26)", "(a[2*i+1] << 25)", "ensures five_limbs(r)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const ACROSS_LADDER: &[Planted] = &[
    planted("swap", "p[i][2,3,0,1]", "p[i][2,3,1,0]", "ensures third(r)", Code::ContractFails),
    planted("ladder_step", "h[i][0,1,3,2]", "h[i][0,1,2,3]", "ensures third(r)", Code::ContractFails),
    planted("ladder_step", "p[0] = four(0x7ffffda)", "p[0] = four(0x7ffffdb)", "ensures third(r)", Code::ContractFails),
    planted("ladder_step", "t[i][1], n[i][2], t[i][3]", "t[i][1], n[i][2], t[i][2]", "ensures fourth(r)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LIMBS16: &[Planted] = &[
    planted("carry", "r[0] + 38 * q", "r[0] + 37 * q", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("carry", "carry_once(carry_once(a))", "carry_once(a)", "node carry", Code::ContractFails),
    planted("freeze", "split(a[15] + q, 15)", "split(a[15] + q, 16)", "ensures fe(r) < ", Code::ContractFails),
    planted("freeze", "chain(h, 19 * c)", "chain(h, 0)", "ensures fe(r) < ", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const CURVE: &[Planted] = &[
    planted("fraction", "0x34dca135978a3", "0x34dca135978a4", "ensures 121666 * fe(v)", Code::ContractFails),
    planted("cache", "0x69b9426b2f159", "0x69b9426b2f158", "ensures 121666 * fe(q[3])", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const MONTGOMERY: &[Planted] = &[
    planted("cswap", "swap(b, za, zb)", "(za, zb)", "ensures fe(zc) == fe(za) + b", Code::ContractFails),
    planted("ladder_step", "node ladder_step (x,xa,za,xb,zb:tight)", "node ladder_step (x,xa,za,xb,zb:wide)", "crossed = mul(sub(xb, zb), s)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const EDWARDS: &[Planted] = &[
    planted("double_xyz", "f = sub_more(add(zz, zz), g)", "f = sub_more(add(zz, zz), h)", "ensures fe(r[2]) ==", Code::ContractFails),
    planted("negate_affine", "choose(b, q[2], negate(q[2]))", "choose(b, q[2], q[2])", "ensures fe(r[2]) ==", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LIMBS44: &[Planted] = &[
    planted("step", "w[1] * f[2] + w[2] * f[1];", "w[1] * f[2] + w[2] * f[2];", STEP, Code::ContractFails),
    planted("step", "in [0, 2^44), k:", "in [0, 2^60), k:", "e = u64(s) + (5 * u64(q[2]), u64(q[0..1]))", Code::ArithmeticWraps),
    planted("freeze", "split(h[0] + 5 * c, 44)", "split(h[0], 44)", "ensures fe(r) < ", Code::ContractFails),
    planted("tag", "u128(s[1]) + q", "u128(s[1])", "ensures num(w) == fe(a) + num(s)", Code::ContractFails),
    planted("unpack", "(above << 40)", "(above << 39)", "ensures fe(r) == num(w)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LIMBS26: &[Planted] = &[
    planted("step", "c[i] = 5 * k[i]", "c[i] = 4 * k[i]", STEP, Code::ContractFails),
    planted("step", "t[i] := t[i] + product(a[j], c[5+i-j]) }", "t[i] := t[i] + product(a[j], c[5+i]) }", STEP, Code::ContractFails),
    planted("step", "m:u32x5 in [0, 2^26), k:u32x5 in [0, 2^26 + 2^11)", "m:u32x5 in [0, 2^26), k:u32x5 in [0, 2^31)", "c[i] = 5 * k[i]", Code::ArithmeticWraps),
    planted("twice", "product(n[0], d[5+i])", "product(n[0], c[5+i])", "ensures fe(r) == (fe(h) + fe(m)) * fe(l)", Code::ContractFails),
    planted("freeze", "h[0] := h[0] + 5 * q", "h[0] := h[0] + 4 * q", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "chain(h, 5 * c)", "chain(h, 0)", "ensures fe(r) < ", Code::ContractFails),
    planted("tag", "+ u64(s[i-1]) + q", "+ u64(s[i-1])", "ensures num(w) == fe(a) + num(s)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LIMBS63: &[Planted] = &[
    planted("reduce", "0x29bdf3bd45ef39ac)", "0x29bdf3bd45ef39ad)", "ensures num(r) == long(w)", Code::ContractFails),
    planted("reduce", "h[4] = 0xff - a[8]", "h[4] = 0xfe - a[8]", "ensures num(r) == long(w)", Code::ContractFails),
    planted("reduce", "h[2] := 0x7f - s[6]", "h[2] := 0xff - s[6]", "ensures num(r) == long(w)", Code::ContractFails),
    planted("freeze", "m = wrap(0 - c)", "m = 0", "ensures num(w) < ", Code::ContractFails),
    planted("freeze", "(c, s) := split(a[4] + c, 1)", "(c, s) := split(a[4], 1)", "ensures num(w) < ", Code::ContractFails),
    planted("product", "t := u128(a[i]) * u128(b[j]) + u128(r[i+j]) + q", "t := u128(a[i]) * u128(b[j]) + u128(r[i+j])", "ensures long(r) ==", Code::ContractFails),
    planted("muladd", "reduce(product(a, b, c))", "reduce(product(a, c, b))", "ensures num(r) == num(a) * num(b)", Code::ContractFails),
    planted("below", "q := 0;\n  forall i in [0,3] {\n    (q, s)", "q := 1;\n  forall i in [0,3] {\n    (q, s)", "ensures (1 - y)", Code::ContractFails),
    planted("below", "split(r[4] + k[4] + q, 4)", "split(r[4] + k[4], 4)", "ensures num(a) <", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const LIMBS28: &[Planted] = &[
    planted("shifted", "0xf9dea2f,0x14de,", "0xf9dea2f,0x14df,", "ensures low(r) + 2^224 * y ==", Code::ContractFails),
    planted("shifted", "n = 0x3fffffff - top", "n = 0x3ffffffe - top", "ensures low(r) + 2^224 * y ==", Code::ContractFails),
    planted("shifted", "0xfffffff + u32(q)", "0xfffffff", "ensures low(r) + 2^224 * y ==", Code::ContractFails),
    planted("freeze", "m = wrap(0 - c)", "m = 0", "ensures num(w) < ", Code::ContractFails),
    planted("freeze", "in [0, 2^29]) returns", "in [0, 2^32)) returns", "(c, s) := split(a[i] + k[i]", Code::ArithmeticWraps),
];

#[rustfmt::skip] // One fault, one line.
const WORDS32: &[Planted] = &[
    planted("shifted", "n = 0x3ffff - v", "n = 0x3fffe - v", "ensures num(r) == 2^16 * num(h)", Code::ContractFails),
    planted("shifted", "+ k[7] + u32(q)", "+ k[7]", "ensures num(r) == 2^16 * num(h)", Code::ContractFails),
    planted("shifted", "c = (0x5cf5d3ed,", "c = (0x5cf5d3ee,", "ensures num(r) == 2^16 * num(h)", Code::ContractFails),
    planted("below", "y = 1 - carry_of(a)", "y = carry_of(a)", "ensures (1 - y) * ", Code::ContractFails),
    planted("freeze", "m = wrap(0 - carry_of(a))", "m = 0", "ensures num(w) < ", Code::ContractFails),
    planted("reduce", "shifted(shifted(h, y), x)", "shifted(shifted(h, x), y)", "ensures num(r) == long(w)", Code::ContractFails),
    planted("row", "u64(a) * u64(b[i]) + u64(s[i]) + q", "u64(a) * u64(b[i]) + u64(s[i])", "ensures low + 2^32 * num(r)", Code::ContractFails),
];

#[rustfmt::skip] // One fault, one line.
const FACTORS: &[Planted] = &[
    planted("sub_wide", "0x7ffffda - b[0]", "0x7ffffdb - b[0]", "ensures fe(r) == fe(a) - fe(b)", Code::ContractFails),
    planted("double_factors", "add(zz, zz), xx), yy)", "add(zz, zz), yy), xx)", "ensures fe(f) == 2 * fe(p[2])^2", Code::ContractFails),
    planted("sum_factors", "c = mul(p[3], q[2])", "c = mul(p[2], q[2])", "ensures fe(f) == 2 * fe(p[2]) -", Code::ContractFails),
    planted("turn", "root_of_minus_one()", "small_d()", "ensures fe(r)^2 == 0 - fe(x)^2", Code::ContractFails),
    planted("swap_points", "swap(b, p[i], q[i])", "swap(b, q[i], p[i])", "ensures fe(r[", Code::ContractFails),
];

#[test]
fn planted_faults_are_refuted_at_their_line() {
    let faults = PLANTED.iter().flat_map(|(name, faults)| faults.iter().map(move |f| (name, f)));
    let mut failed = Vec::new();
    for (name, fault) in faults {
        let text = arithmetic::text(name);
        assert_eq!(text.matches(fault.from).count(), 1, "`{}` occurs once in {name}", fault.from);
        let wrong = text.replace(fault.from, fault.to);
        let subject = format!("{} of {name} with `{}`", fault.node, fault.to);
        let (outcome, line) = outcome(name, &wrong, fault.node);
        let Verdict::Refuted(found) = outcome else {
            failed.push(format!("{subject}: {outcome:?}"));
            continue;
        };
        let finding = found.finding;
        if finding.code != fault.code || !line.contains(fault.line) {
            failed.push(format!("{subject} is shown at `{line}`: {}", finding.message));
        }
        assert!(finding.message.contains("for "), "{subject}: {}", finding.message);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
