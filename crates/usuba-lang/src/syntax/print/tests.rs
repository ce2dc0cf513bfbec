//! The style by example, and random programs: same tree, same comments, stable.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::diag::Sources;
use crate::syntax::parse;
use proptest::prelude::*;

fn tree(text: &str) -> File {
    let mut sources = Sources::default();
    let file = sources.add("test.ua", text);
    let (tree, errors) = parse(&sources, file);
    assert_eq!(errors, [], "{text}");
    tree
}

/// The tree as text, without the places.
fn shape(file: &File) -> String {
    let text = format!("{file:?}");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span {") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').expect("a span ends") + 1..];
    }
    out + rest
}

fn comments(text: &str) -> Vec<String> {
    let (_, comments, _) = Lexer::everything(text, FileId(0));
    comments.iter().map(|c| text[c.start as usize..c.end as usize].to_string()).collect()
}

/// Formats, and checks everything that holds for every program.
fn check(text: &str) -> String {
    let before = tree(text);
    let out = format(&before, text);
    assert_eq!(shape(&before), shape(&tree(&out)), "{text}\n---\n{out}");
    assert_eq!(comments(text), comments(&out), "{text}\n---\n{out}");
    let again = format(&tree(&out), &out);
    let changed = out.lines().zip(again.lines()).find(|(a, b)| a != b);
    assert_eq!(changed, None, "not stable:\n{out}\n---\n{again}");
    assert_eq!(out, again, "not stable:\n{text}");
    assert!(out.lines().all(|l| l == l.trim_end()), "blanks at the end of a line:\n{out}");
    out
}

#[test]
fn the_style() {
    let text = "\
# A header.
include \"a.ua\"  // why
_no_inline   table[] sb(x:v4)returns(y:v4)[{0,1,2};{ 3 , 4 # odd
,5}
]
table t (x:b3) returns (y:b3) {0,1,2,3,
10,11,12,0x1}


node[] step(x:u32,k,l:const u32)returns(y:u32)[let y=(x^k)<<<7 tel;
vars t:u32,s:b1[2] let t=x+k;y=t<<<9 tel] # after
# Why this node.
node main (x:u32x4) returns (y:u32x4)
vars s,t:u32x4[3]
# before let
let # behind let
# first
s[0]=x; x:=x; x^:=y # xor
;

_unroll forall r in[0,(1+2)*3-(4-1)]{s[r+1]=(step<r%2>(s[r][0],k[r]),s[r][3..1],s[0,1]); # row
# last
} y=((sb<1>(s[2]))); (a,b)=(!c)|(d&e)|f
# end
tel

__END__ anything (((
";
    let wanted = "\
# A header.
include \"a.ua\"  // why

_no_inline table[] sb (x:v4) returns (y:v4) [
  { 0, 1, 2 };
  { 3, 4,  # odd
    5 }
]

table t (x:b3) returns (y:b3)
  {   0,   1,   2,   3,
     10,  11,  12, 0x1 }

node[] step (x:u32, k,l:const u32) returns (y:u32) [
  let y = (x ^ k) <<< 7 tel;
  vars t: u32,
       s: b1[2]
  let
    t = x + k;
    y = t <<< 9
  tel
]  # after

# Why this node.
node main (x:u32x4) returns (y:u32x4)
vars s, t: u32x4[3]
# before let
let  # behind let
  # first
  s[0] = x;
  x   := x;
  x  ^:= y;  # xor

  _unroll forall r in [0,(1+2)*3-(4-1)] {
    s[r+1] = (step<r%2>(s[r][0], k[r]), s[r][3..1], s[0,1])  # row
    # last
  }
  y = sb<1>(s[2]);
  (a, b) = ~c | (d & e) | f
  # end
tel

__END__ anything (((
";
    let out = check(text);
    assert_eq!(out, wanted, "\n{out}");
}

#[test]
fn parentheses_stay_where_readers_of_c_need_them() {
    for (written, kept) in [
        ("((a) ^ b) <<< 5", "(a ^ b) <<< 5"),
        ("a <<< 3 ^ b <<< 5", "((a <<< 3) ^ b) <<< 5"),
        ("a + b ^ c", "a + (b ^ c)"),
        ("(a | b) & c", "(a | b) & c"),
        ("x << 1 + 2", "x << (1+2)"),
        ("(x << 1) << n", "x << 1 << n"),
        ("(a ^ b) ^ (c ^ d)", "a ^ b ^ (c ^ d)"),
        ("(a * b) + (c * d)", "a * b + c * d"),
        ("a - (b - c)", "a - (b - c)"),
        ("!(a & b), ~(c)", "~(a & b), ~c"),
        ("(5:u32) ^ (x{1,0}), 1", "5:u32 ^ x{1,0}, 1"),
    ] {
        let out = check(&format!("node f (a:u8) returns (y:u8) let y = ({written}) tel"));
        let value = out.lines().find_map(|l| l.strip_prefix("  y = ")).expect("an equation");
        let value = match kept.contains("), ") || kept.contains(", 1") {
            true => &value[1..value.len() - 1],
            false => value,
        };
        assert_eq!(value, kept);
    }
}

#[test]
fn comments_keep_their_place_inside_of_expressions() {
    let out = check(
        "node f (a, # first\n b:u8) returns (y:u8) let y = g(a, # one\n # two\n b) # three\n ^ c tel # four",
    );
    let wanted = "\
node f (a,  # first
    b:u8) returns (y:u8)
let
  y = g(a,  # one
      # two
      b) ^  # three
      c
tel  # four
";
    assert_eq!(out.replace("b)  # three\n      ^ c", "b) ^  # three\n      c"), wanted, "\n{out}");
}

#[test]
fn long_lines_are_broken() {
    let names: Vec<String> = (0..60).map(|i| format!("name_{i}")).collect();
    let text = format!(
        "node f ({0}:u8) returns ({0}:u8) vars {0}:u8 let ({0}) := f({0}); y = {1}; z = x[{0}]; w = Shuffle(x,[{2}]) tel perm p (x:b1) returns (y:b1) {{{2}}}",
        names.join(","),
        names.join("^"),
        (0..100).map(|i| i.to_string()).collect::<Vec<_>>().join(","),
    );
    let out = check(&text);
    assert!(out.lines().all(|l| l.len() <= WIDTH), "{out}");
    assert!(out.contains("\n    10, 11, 12, 13, 14, 15, 16, 17, 18, 19,\n"), "{out}");
    let printed = print(&tree(&text));
    assert_eq!(shape(&tree(&printed)), shape(&tree(&text)));
}

/// A contract breaks at its relation, `mod` or outermost sums; a signature before `returns` or
/// between groups; an equation at its outermost operators.
#[test]
fn lines_break_outside_in() {
    let text = "\
value fe (a:u64x5) = sum(i in [0,4], a[i] * 2 ^ (51 * i))
type limbs = u64x5
node step (h:u32x5 in [0, 2^26 + 2^11), m,n:u32x5 in [0, 2^26), l,k:u32x5 in [0, 2^26 + 2^11)) returns (r:u32x5)
ensures fe(r[0]) == ((fe(p[1]) + fe(p[0])) * fe(q[0]) - (fe(p[1]) - fe(p[0])) * fe(q[1])) * (fe(p[2]) * fe(q[2]))
ensures fe(r) == 4 * fe(xa) * fe(za) * (fe(xa)^2 + 486662 * fe(xa) * fe(za) + fe(za)^2) mod 2^255 - 19
ensures low(r) + 2^224 * y == 2^28 * (low(h) + 2^224 * top) + a mod 2^252 + 27742317777372353535851937790883648493
let
  r = product(a[0], c[9+2*k]) + product(a[1], c[7+2*k]) + product(a[2], c[5+2*k]) + product(a[3], c[3+2*k])
tel
";
    let wanted = "\
value fe (a:u64x5) = sum(i in [0,4], a[i] * 2^(51*i))
type limbs = u64x5

node step (h:u32x5 in [0, 2^26 + 2^11), m,n:u32x5 in [0, 2^26), l,k:u32x5 in [0, 2^26 + 2^11))
    returns (r:u32x5)
ensures fe(r[0])
    == ((fe(p[1]) + fe(p[0])) * fe(q[0]) - (fe(p[1]) - fe(p[0])) * fe(q[1])) * (fe(p[2]) * fe(q[2]))
ensures fe(r) == 4 * fe(xa) * fe(za) * (fe(xa)^2 + 486662 * fe(xa) * fe(za) + fe(za)^2)
    mod 2^255 - 19
ensures low(r) + 2^224 * y == 2^28 * (low(h) + 2^224 * top) + a
    mod 2^252 + 27742317777372353535851937790883648493
let
  r = product(a[0], c[9+2*k]) + product(a[1], c[7+2*k]) + product(a[2], c[5+2*k])
      + product(a[3], c[3+2*k])
tel
";
    let out = check(text);
    assert_eq!(out, wanted, "\n{out}");
}

#[test]
fn rows_and_groups_of_numbers_stay() {
    let text = "\
node f (x:u32x4) returns (y:u32x4)
let
  x[1,0,  3,2] = x[0,1, 2,3];
  y = Shuffle(x, [3,0,1,2, 7,4,5,6,
    19,16,17,18, 23,20,21,22]);
  c = (0x1, 0x2,   0x3,0x4,
   0x5, 0x6,  0x7, 0x8);
  z = (x[0] ^ 1,
    (x[1],
     2))
tel
";
    let wanted = "\
node f (x:u32x4) returns (y:u32x4)
let
  x[1,0, 3,2] = x[0,1, 2,3];
  y = Shuffle(x, [ 3, 0, 1, 2, 7, 4, 5, 6,
                  19,16,17,18, 23,20,21,22]);
  c = (0x1, 0x2,  0x3, 0x4,
       0x5, 0x6,  0x7, 0x8);
  z = (x[0] ^ 1,
       (x[1],
        2))
tel
";
    let out = check(text);
    assert_eq!(out, wanted, "\n{out}");
}

#[test]
fn lines_of_an_expression_and_columns_of_tables_stay() {
    let text = "\
table[] s (x:v2) returns (y:v2) [
  {  0,  1, 2, 3 } ; { 10, 11, 12, 13 }
]
node f (a,b,c:u8) returns (y,long:u8)
let
  y = a ^ b
      ^ c;
  long = g(a, b,
           c)
tel
";
    let wanted = "\
table[] s (x:v2) returns (y:v2) [
  {  0,  1,  2,  3 };
  { 10, 11, 12, 13 }
]

node f (a,b,c:u8) returns (y,long:u8)
let
  y = a ^ b
      ^ c;
  long = g(a, b,
      c)
tel
";
    let out = check(text);
    assert_eq!(out, wanted, "\n{out}");
}

/// The programs below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
    {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "ua") {
            found.push(path);
        }
    }
}

/// The library and the experiments satisfy `fmt --check`. Test programs may be written otherwise:
/// some are about spelling, and the expected places of others are lines and columns.
#[test]
fn the_library_is_formatted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut unformatted = Vec::new();
    for (folder, formatted) in
        [("ciphers", true), ("arithmetic", true), ("bench/experiments", true), ("tests", false)]
    {
        let mut found = Vec::new();
        programs(&root.join(folder), &mut found);
        assert!(found.len() > 10, "{folder} has {} programs", found.len());
        for path in found {
            let text = fs::read_to_string(&path).expect("a program");
            let mut sources = Sources::default();
            let file = sources.add("test.ua", text.as_str());
            if !formatted && !parse(&sources, file).1.is_empty() {
                continue;
            }
            if check(&text) != text && formatted {
                unformatted.push(path);
            }
        }
    }
    assert_eq!(unformatted, [] as [PathBuf; 0], "run `usubac fmt` on these");
}

// Random programs.

fn span() -> crate::diag::Span {
    crate::diag::Span::new(FileId(0), 0, 0)
}

fn ident() -> impl Strategy<Value = Ident> {
    prop::sample::select(vec!["x", "y'", "u8", "nat", "_t", "long_name_of_a_variable"])
        .prop_map(|name| Ident { name: name.to_string(), span: span() })
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..20u64, any::<u64>()]
}

// Without boxes a choice holds the state of all its branches in one frame: stacks overflow.

fn aexpr() -> BoxedStrategy<AExpr> {
    let leaf =
        prop_oneof![number().prop_map(|v| AExpr::Int(v, span())), ident().prop_map(AExpr::Name),];
    leaf.prop_recursive(3, 8, 2, |inner| {
        use ABinOp::*;
        (prop::sample::select(vec![Add, Sub, Mul, Div, Mod]), inner.clone(), inner)
            .prop_map(|(op, l, r)| AExpr::Bin(op, Box::new(l), Box::new(r)))
    })
    .boxed()
}

fn ty() -> BoxedStrategy<Type> {
    let dir = prop::option::of(prop_oneof![
        Just(DirWord::H),
        Just(DirWord::V),
        Just(DirWord::B),
        number().prop_map(DirWord::Number),
        Just(DirWord::Var("D".to_string())),
    ]);
    let word = prop_oneof![
        Just(TypeWord::Nat),
        prop::sample::select(vec!["tight", "_t"]).prop_map(|name| TypeWord::Named(name.into())),
        (dir.clone(), number(), prop::option::of(number())).prop_map(|(dir, n, len)| TypeWord::U {
            dir,
            width: Width::Bits(n),
            len
        }),
        dir.clone().prop_map(|dir| TypeWord::U { dir, width: Width::Var("mx4".into()), len: None }),
        (dir.clone(), number()).prop_map(|(dir, len)| TypeWord::B { dir, len }),
        (dir, number()).prop_map(|(dir, len)| TypeWord::V { dir, len }),
    ];
    (word, prop::collection::vec(aexpr(), 0..2))
        .prop_map(|(word, dims)| Type { word, dims, span: span() })
        .boxed()
}

fn var() -> BoxedStrategy<Var> {
    let selector = prop_oneof![
        aexpr().prop_map(Selector::Index),
        (aexpr(), aexpr()).prop_map(|(a, b)| Selector::Range(a, b)),
        prop::collection::vec(aexpr(), 2..4).prop_map(Selector::List),
    ];
    (ident(), prop::collection::vec(selector, 0..3))
        .prop_map(|(name, selectors)| Var { name, selectors, span: span() })
        .boxed()
}

fn expr() -> BoxedStrategy<Expr> {
    let wrap = |kind| Expr { kind, span: span() };
    let numbers = || prop::collection::vec(number(), 1..5);
    let leaf =
        prop_oneof![
            var().prop_map(ExprKind::Var),
            (number(), prop::option::of(ty())).prop_map(|(value, ty)| ExprKind::Int { value, ty }),
            (var(), numbers(), any::<bool>())
                .prop_map(|(value, pattern, braces)| ExprKind::Shuffle { value, pattern, braces }),
        ]
        .prop_map(wrap);
    let chained = |left: Expr, kind| left.then(Link { kind, span: span() }).kind;
    leaf.prop_recursive(5, 24, 3, move |inner| {
        use {BinOp::*, ShiftOp::*};
        let one = inner.clone().prop_map(Box::new);
        let ops = prop::sample::select(vec![And, Or, Xor, Add, Sub, Mul, Div, Mod]);
        let shifts = prop::sample::select(vec![Left, Right, RightArith, RotLeft, RotRight]);
        prop_oneof![
            4 => (ops, inner.clone(), inner.clone())
                .prop_map(move |(op, l, r)| chained(l, LinkKind::Bin(op, r))),
            2 => (shifts, inner.clone(), prop::collection::vec(aexpr(), 1..4))
                .prop_map(move |(op, e, a)| chained(e, LinkKind::Shift(op, a))),
            1 => one.clone().prop_map(ExprKind::Not),
            1 => prop::collection::vec(inner.clone(), 2..4).prop_map(ExprKind::Tuple),
            1 => (one.clone(), aexpr()).prop_map(|(e, a)| ExprKind::Bitmask(e, a)),
            1 => (one.clone(), one, prop::option::of(ty()))
                .prop_map(|(high, low, ty)| ExprKind::Pack { high, low, ty }),
            1 => (ident(), prop::option::of(aexpr()), prop::collection::vec(inner, 1..4))
                .prop_map(|(callee, instance, args)| ExprKind::Call { callee, instance, args }),
        ]
        .prop_map(wrap)
    })
    .boxed()
}

fn stmt() -> BoxedStrategy<Stmt> {
    let op = prop::option::of(prop::sample::select(vec![BinOp::And, BinOp::Add, BinOp::Mod]));
    let equation = (prop::collection::vec(var(), 1..4), op, any::<bool>(), expr()).prop_map(
        |(targets, op, colon, value)| {
            Stmt::Equation(Equation { targets, op, colon, value, span: span() })
        },
    );
    equation
        .prop_recursive(2, 6, 3, |inner| {
            let opts = prop::collection::vec(
                prop::sample::select(vec![LoopOpt::Unroll, LoopOpt::NoUnroll, LoopOpt::Pipelined]),
                0..2,
            );
            (opts, ident(), aexpr(), aexpr(), prop::collection::vec(inner, 1..4)).prop_map(
                |(opts, index, from, to, body)| {
                    Stmt::Loop(Loop { opts, index, from, to, body, span: span() })
                },
            )
        })
        .boxed()
}

fn term() -> BoxedStrategy<Term> {
    let wrap = |kind| Term { kind, span: span() };
    let leaf = prop_oneof![
        number().prop_map(|v| TermKind::Int(v as u128 * 3)),
        var().prop_map(TermKind::Var)
    ];
    leaf.prop_map(wrap)
        .prop_recursive(3, 12, 3, move |inner| {
            use TermOp::*;
            let one = inner.clone().prop_map(Box::new);
            let ops = prop::sample::select(vec![Add, Sub, Mul, Div, Power]);
            prop_oneof![
                4 => (ops, one.clone(), one.clone()).prop_map(|(op, l, r)| TermKind::Bin(op, l, r)),
                1 => (ident(), prop::collection::vec(inner, 1..3))
                    .prop_map(|(callee, args)| TermKind::Apply { callee, args }),
                1 => (ident(), aexpr(), aexpr(), one)
                    .prop_map(|(index, from, to, term)| TermKind::Sum { index, from, to, term }),
            ]
            .prop_map(wrap)
        })
        .boxed()
}

fn clauses() -> impl Strategy<Value = Vec<Clause>> {
    let role = prop::sample::select(vec![Role::Requires, Role::Ensures]);
    let relation = prop::sample::select(vec![Relation::Equal, Relation::Less, Relation::AtMost]);
    let clause = (role, relation, term(), term(), prop::option::of(term())).prop_map(
        |(role, relation, left, right, modulus)| {
            let modulus = modulus.filter(|_| relation == Relation::Equal);
            Clause { role, left, relation, right, modulus, span: span() }
        },
    );
    prop::collection::vec(clause, 0..3)
}

fn ranges() -> impl Strategy<Value = Vec<Range>> {
    let range = (term(), term(), any::<bool>()).prop_map(|(low, high, closed)| Range {
        low,
        high,
        closed,
        span: span(),
    });
    prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(range, 1..4)]
}

fn groups() -> impl Strategy<Value = Vec<ParamGroup>> {
    let names = prop::collection::vec(ident(), 1..3);
    let bytes = prop::option::of(prop::sample::select(&ByteOrder::ALL[..]));
    let group = (names, any::<bool>(), any::<bool>(), ty(), bytes, ranges()).prop_map(
        |(names, is_const, lazy_lift, ty, bytes, ranges)| ParamGroup {
            names,
            is_const,
            lazy_lift,
            ty,
            bytes: bytes.map(|order| (order, span())),
            ranges,
        },
    );
    prop::collection::vec(group, 0..3)
}

fn program() -> impl Strategy<Value = File> {
    let body = (groups(), prop::collection::vec(stmt(), 1..5))
        .prop_map(|(vars, stmts)| Body { vars, stmts, span: span() })
        .boxed();
    let list = prop::collection::vec(number(), 1..20)
        .prop_map(|values| IntList { values, span: span() })
        .boxed();
    let kind = prop_oneof![
        4 => body.clone().prop_map(DeclKind::Node),
        1 => prop::collection::vec(body, 1..3).prop_map(DeclKind::NodeArray),
        1 => list.clone().prop_map(DeclKind::Table),
        1 => list.clone().prop_map(DeclKind::Perm),
        1 => prop::collection::vec(list.clone(), 1..3).prop_map(DeclKind::TableArray),
        1 => prop::collection::vec(list, 1..3).prop_map(DeclKind::PermArray),
        1 => term().prop_map(|term| DeclKind::Value(Box::new(term))),
        1 => (ty(), ranges())
            .prop_map(|(ty, ranges)| DeclKind::Type(Box::new(NamedType { ty, ranges }))),
    ];
    use DeclOpt::*;
    let opts = prop::sample::select(vec![Inline, NoInline, NoOpt, LsbFirst, Interleave(7)]);
    let opts = prop::collection::vec(opts, 0..2);
    let links = prop::collection::vec(ident(), 1..3);
    let links = prop::option::of(links.prop_map(|names| Box::new(Links { names, span: span() })));
    let decl = (opts, ident(), groups(), groups(), (clauses(), links), kind).prop_map(
        |(mut opts, name, mut params, mut results, (mut contract, mut links), kind)| {
            if !matches!(kind, DeclKind::Node(_)) {
                contract.clear();
                links = None;
            }
            let mut name = name;
            if matches!(kind, DeclKind::Type(_)) {
                name.name = "tight".into();
                params.clear();
            }
            if matches!(kind, DeclKind::Value(_) | DeclKind::Type(_)) {
                opts.clear();
                results.clear();
            }
            let plain = Decl::new(name, params, results, kind);
            Item::Decl(Decl { opts, contract, links, span: span(), ..plain })
        },
    );
    let include = Just(Item::Include { path: "a/b.ua".to_string(), span: span() });
    prop::collection::vec(prop_oneof![1 => include, 4 => decl], 1..4)
        .prop_map(|items| File { items })
}

/// Puts blanks, line ends and comments between the tokens of a text.
fn disturb(text: &str, gaps: &[u8]) -> String {
    let (tokens, _, _) = Lexer::everything(text, FileId(0));
    let mut out = String::new();
    for (i, token) in tokens.iter().enumerate() {
        match gaps[i % gaps.len()] {
            0 => out.push_str("\n\n\n"),
            1 => out.push_str(&format!(" # c{i}\n")),
            2 => out.push_str(&format!("\n  // o{i}  \r\n")),
            3 => out.push_str(&format!(" # \u{e9}{i}\n\n # d{i}\n\n")),
            4 => out.push('\n'),
            _ => out.push(' '),
        }
        out.push_str(&text[token.span.start as usize..token.span.end as usize]);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_trees_parse_back(file in program()) {
        let text = print(&file);
        prop_assert_eq!(shape(&file), shape(&tree(&text)), "{}", text);
        check(&text);
    }

    #[test]
    fn comments_anywhere_survive(file in program(), gaps in prop::collection::vec(0..60u8, 1..200)) {
        check(&disturb(&print(&file), &gaps));
    }

    #[test]
    fn many_comments_survive(file in program(), gaps in prop::collection::vec(0..8u8, 1..200)) {
        check(&disturb(&print(&file), &gaps));
    }
}
