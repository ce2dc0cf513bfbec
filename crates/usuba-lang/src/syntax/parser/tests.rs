//! Trees of small programs, messages of broken ones, and limits that hold for all input.

mod grammar;

use super::*;
use crate::syntax::print;

fn parse_text(text: &str) -> (File, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let file = sources.add("test.ua", text);
    parse(&sources, file)
}

fn good(text: &str) -> File {
    let (file, errors) = parse_text(text);
    assert_eq!(errors, [], "{text}");
    file
}

/// Every error as `code start-end message`, columns counted from 1, end exclusive.
fn errors(text: &str) -> Vec<String> {
    let show = |e: Diagnostic| {
        let span = e.span.expect("parse errors have a place");
        format!("{} {}-{} {}", e.code, span.start + 1, span.end + 1, e.message)
    };
    parse_text(text).1.into_iter().map(show).collect()
}

fn node(body: &str) -> String {
    format!("node f (x:u32) returns (y:u32) {body}")
}

/// The value of `y = e` with every operation in brackets.
fn shape(e: &str) -> String {
    fn index(a: &AExpr) -> String {
        match a {
            AExpr::Int(v, _) => v.to_string(),
            AExpr::Name(n) => n.name.clone(),
            AExpr::Bin(op, l, r) => {
                format!("[{}{}{}]", index(l), "+-*/%".as_bytes()[*op as usize] as char, index(r))
            }
        }
    }
    fn show(e: &Expr) -> String {
        match &e.kind {
            ExprKind::Int { value, .. } => value.to_string(),
            ExprKind::Var(v) => v.name.name.clone(),
            ExprKind::Not(e) => format!("[~{}]", show(e)),
            ExprKind::Chain(first, links) => {
                links.iter().fold(show(first), |left, link| match &link.kind {
                    LinkKind::Bin(op, r) => format!("[{left}{}{}]", op.symbol(), show(r)),
                    LinkKind::Shift(op, a) => format!("[{left}{}{}]", op.symbol(), index(&a[0])),
                })
            }
            ExprKind::Tuple(all) => {
                format!("({})", all.iter().map(show).collect::<Vec<_>>().join(","))
            }
            ExprKind::Call { callee, args, .. } => {
                format!("{}({})", callee.name, args.iter().map(show).collect::<Vec<_>>().join(","))
            }
            other => format!("{other:?}"),
        }
    }
    let file = good(&node(&format!("let y = {e} tel")));
    let Item::Decl(Decl { kind: DeclKind::Node(body), .. }) = &file.items[0] else { panic!() };
    let Stmt::Equation(equation) = &body.stmts[0] else { panic!() };
    show(&equation.value)
}

#[test]
fn precedence_is_that_of_the_reference() {
    for (written, means) in [
        ("a ^ b <<< 5", "[[a^b]<<<5]"),
        ("a <<< 3 ^ b <<< 5", "[[[a<<<3]^b]<<<5]"),
        ("a + b ^ c", "[a+[b^c]]"),
        ("a | b & c", "[[a|b]&c]"),
        ("x << 1 + 2", "[x<<[1+2]]"),
        ("x << 1 << 2", "[[x<<1]<<2]"),
        ("~a <<< 3", "[[~a]<<<3]"),
        ("~~!a", "[~[~[~a]]]"),
        ("a - b - c", "[[a-b]-c]"),
        ("a * b + c % d ^ e", "[[a*b]+[c%[d^e]]]"),
        ("d + a >>! 3 ^ b + c", "[[[[d+a]>>!3]^b]+c]"),
        ("x >> 6/2/(1-i)", "[x>>[[6/2]/[1-i]]]"),
        ("((a)) ^ (b, (c))", "[a^(b,c)]"),
        ("f(a, g(b) ^ c)", "f(a,[g(b)^c])"),
    ] {
        assert_eq!(shape(written), means, "{written}");
    }
}

#[test]
fn spans_cover_what_they_name() {
    let text = node("let y = (x ^ (x)) <<< 3 tel");
    let file = good(&text);
    let Item::Decl(decl) = &file.items[0] else { panic!() };
    let DeclKind::Node(body) = &decl.kind else { panic!() };
    let Stmt::Equation(eq) = &body.stmts[0] else { panic!() };
    let cut = |s: Span| &text[s.start as usize..s.end as usize];
    assert_eq!(cut(decl.span), text);
    assert_eq!(cut(body.span), "let y = (x ^ (x)) <<< 3 tel");
    assert_eq!(cut(eq.span), "y = (x ^ (x)) <<< 3");
    assert_eq!(cut(eq.value.span), "(x ^ (x)) <<< 3");
    let ExprKind::Chain(_, links) = &eq.value.kind else { panic!() };
    assert_eq!(cut(links[0].span), "x ^ (x)");
}

#[test]
fn type_words_are_read_greedily() {
    let ty = |text: &str| {
        let file = good(&format!("node f (x:{text}) returns () let y = x tel"));
        let Item::Decl(decl) = &file.items[0] else { panic!() };
        decl.params[0].ty.word.clone()
    };
    let u = |dir, width, len| TypeWord::U { dir, width, len };
    let var = |name: &str| Width::Var(name.to_string());
    assert_eq!(ty("u'nx4"), u(None, var("nx4"), None));
    assert_eq!(ty("u<'D>'m"), u(Some(DirWord::Var("D".into())), var("m"), None));
    assert_eq!(ty("u<H>16x8"), u(Some(DirWord::H), Width::Bits(16), Some(8)));
    assert_eq!(ty("u<4>16"), u(Some(DirWord::Number(4)), Width::Bits(16), None));
    assert_eq!(ty("u0x4"), u(None, Width::Bits(0), Some(4)));
    assert_eq!(ty("b8"), TypeWord::B { dir: None, len: 8 });
    assert_eq!(ty("v<B>4"), TypeWord::V { dir: Some(DirWord::B), len: 4 });
    assert_eq!(ty("nat"), TypeWord::Nat);
}

#[test]
fn the_whole_grammar_is_read() {
    let file = good(
        "include \"a/b.ua\"\n\
         _no_inline table[] sb (x:v4) returns (y:v4) [ {0,1} ; {0x1,0} ]\n\
         _lsb_first table t (x:v1) returns (y:v1) {1,0}\n\
         perm[] p (x:b2) returns (y:b2) [{1,2}]\n\
         _interleave(2) _inline _no_opt node[] step (x:u32, k,l:const lazyLift u32[2][3+1]) returns (y:u32)\n\
         [ let y = (x ^ k[0,1]) <<< 7 tel ; vars t:u32 let t = x + k; y = t <<< 9 tel ]\n\
         node main (s':u32x4) returns (y:u32x4) vars let\n\
           ;; (s', y[3..1]) ^:= step<r%2>(s'); y += 0xff:u32; (y) |= Bitmask(~y, 3);\n\
           _unroll forall r in [0,n-1] { y = Shuffle(x,[1,0]); _pipelined forall q in [3,0] { y[q][r] = x{1,0} } }\n\
           y = Pack(a,b):u16; y = Pack(a, b ^ c)\n\
         tel __END__ ((",
    );
    assert_eq!(file.items.len(), 6);
}

#[test]
fn numbers_reach_64_bits() {
    assert_eq!(shape("0xffffffffffffffff"), u64::MAX.to_string());
    assert_eq!(
        errors("perm p (x:b1) returns (y:b1) {18446744073709551616}"),
        ["U0102 31-51 this number is larger than 2^64-1"]
    );
    assert_eq!(
        errors("perm p () returns () {007}"),
        ["U0102 23-26 the number `007` starts with a zero"]
    );
    assert_eq!(
        errors("perm p () returns () {0X1, 1_0}"),
        ["U0102 23-26 `0X1` is not a number", "U0102 28-31 `1_0` is not a number"]
    );
    assert_eq!(
        errors("node f (x:u99999999999999999999) returns () let y = x tel"),
        ["U0102 11-32 a number in the type `u99999999999999999999` is larger than 2^64-1"]
    );
}

#[test]
fn errors_name_what_was_expected() {
    for (text, wanted) in [
        (
            "node f (x:bool) returns (y:u1) let y = x tel",
            "U0104 11-15 the type `bool` was removed from the language",
        ),
        (
            "node f (x:3) returns (y:u1) let y = x tel",
            "U0104 11-12 expected a type, found the number `3`",
        ),
        (
            "node f (x:u128<4>x1) returns (y:u1) let y = x tel",
            "U0104 15-16 the direction of a type stands before its size, without blanks",
        ),
        ("node f (x:u8) returns (y:u8) let tel", "U0105 30-37 this body has no equation"),
        (
            "node f (x:u8) returns (y:u8) let forall i in [0,1] { } tel",
            "U0105 52-55 this loop has no equation",
        ),
        (
            "node f (x:u8) /* note */ returns (y:u8) let y = x tel",
            "U0101 15-17 there are no `/* */` comments",
        ),
        (
            "node f (x:u8) returns (y:u8) let y = x",
            "U0103 39-39 expected `tel`, found the end of the file",
        ),
        (
            "node f (x:u8) returns (y:u8) let y = f(,) tel",
            "U0103 40-41 expected an expression, found `,`",
        ),
        (
            "node f (x:u8) returns (y:u8) let y <<<= 3 tel",
            "U0103 36-39 expected `=` or `:=`, found `<<<`",
        ),
        (
            "node f (x:u8) returns (y:u8) let y = x.3 tel",
            "U0101 39-40 a single `.` means nothing here",
        ),
        (
            "node in (x:u8) returns (y:u8) let y = x tel",
            "U0103 6-8 expected the name of the node, found the keyword `in`",
        ),
        (
            "node f (x:u8) returns (y:u8) let y = \u{e9}\0\u{20ac} ^ x tel",
            "U0101 38-44 the character \\u{e9} cannot appear here",
        ),
        ("include \"a", "U0106 9-11 this string has no closing quote on its line"),
        ("perm p (x:b1) returns (y:b1) {1,}", "U0103 33-34 expected a number, found `}`"),
        ("y = x", "U0103 1-2 expected a declaration, found `y`"),
        (
            "_inline include \"a\"",
            "U0103 9-16 expected `node`, `table` or `perm`, found the keyword `include`",
        ),
    ] {
        assert_eq!(errors(text), [wanted], "{text}");
    }
}

#[test]
fn one_run_reports_several_errors() {
    let text = "node f (x:u8) returns (y:u8) let a = ; b = x c = x; forall i in [0,1] { d = ) } e = ] tel\n\
                node g x\n\
                node h (x:u8) returns (y:u8) let y = x tel";
    let (file, found) = parse_text(text);
    assert_eq!(file.items.len(), 2);
    let lines: Vec<usize> = found.iter().map(|e| e.span.unwrap().start as usize).collect();
    assert_eq!(lines, ["; b", "c =", ") }", "] tel", "x\nnode h"].map(|at| text.find(at).unwrap()));
}

#[test]
fn errors_end_at_a_limit() {
    let text = node(&format!("let {} y = x tel", "y = ; ".repeat(1000)));
    assert_eq!(errors(&text).len(), MAX_ERRORS);
    assert_eq!(errors(&"@ node ".repeat(1000)).len(), MAX_ERRORS);
}

/// Runs on a stack of 2 MiB.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.expect("threads start").join().expect("no panic");
}

#[test]
fn deep_nesting_is_one_error() {
    on_small_stack(|| {
        let n = 100_000;
        for body in [
            format!("let y = {}x{} tel", "(".repeat(n), ")".repeat(n)),
            format!("let y = {}x tel", "(".repeat(n)),
            format!("let y = {}x tel", "~".repeat(n)),
            format!("let y = {}x tel", "f(".repeat(n)),
            format!("let y = {}x tel", "(x, ".repeat(n)),
            format!("let y = {}x tel", "a + b * c ^ (".repeat(n)),
            format!("let y = x[{}0] tel", "(".repeat(n)),
            format!("let y = x[{}0] tel", "1-(2*(".repeat(n)),
            format!("let y = x[0{}] tel", "+1".repeat(n)),
            format!("vars t:u32[{}1] let y = x tel", "(".repeat(n)),
            format!("let {} y = x {} tel", "forall i in [0,1] {".repeat(n), "}".repeat(n)),
            format!("let y = {}x,1) tel", "Bitmask(~".repeat(n)),
        ] {
            let found = parse_text(&node(&body)).1;
            assert_eq!(found.len(), 1, "{}: {found:?}", &body[..30]);
            assert_eq!(found[0].code, Code::TooDeep);
            assert!(found[0].message.contains(&MAX_DEPTH.to_string()));
        }
    });
}

#[test]
fn flat_chains_have_no_limit() {
    on_small_stack(|| {
        for link in [" ^ x", " <<< 1", " ^ x & x", " <<< 1 ^ x", " + x * x"] {
            let text = node(&format!("let y = x{} tel", link.repeat(100_000)));
            let tree = good(&text);
            let (copy, again) = (tree.clone(), good(&print::format(&tree, &text)));
            assert!(copy == tree && again.items.len() == 1);
        }
    });
}

#[test]
fn the_depth_limit_is_where_it_is_said() {
    on_small_stack(|| {
        let parens = |n: usize| {
            let body = format!("let y = {}x{} tel", "a + b * c ^ (".repeat(n), ")".repeat(n));
            parse_text(&node(&body)).1.len()
        };
        assert_eq!((parens(60), parens(70)), (0, 1));
        let plain = |n: usize| {
            let body = format!("let y = {}x{} tel", "(".repeat(n), ")".repeat(n));
            parse_text(&node(&body)).1.len()
        };
        assert_eq!((plain(MAX_DEPTH), plain(MAX_DEPTH + 1)), (0, 1));
    });
}

#[test]
fn large_inputs_end_soon() {
    let pieces =
        ["a", "(", "\"a\"", "u<'", "0", ";", "node ", "# c\n", "forall ", "{", "@ ", "u<1>"];
    for piece in pieces {
        let soup = piece.repeat((1 << 20) / piece.len());
        parse_text(&soup);
        parse_text(&node(&format!("let y = x; {soup}")));
    }
    let equations = "y = x ^ x[1]; ".repeat((10 << 20) / 14);
    assert_eq!(parse_text(&node(&format!("let {equations} tel"))).1, []);
}

mod soup {
    use super::parse_text;
    use proptest::prelude::*;

    /// Words of the language, some of them whole constructs, so that the parser gets far.
    fn words() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "node",
            "returns",
            "vars",
            "let",
            "tel",
            "perm",
            "table",
            "forall",
            "in",
            "include",
            "const",
            "lazyLift",
            "Shuffle",
            "Bitmask",
            "Pack",
            "_inline",
            "_interleave",
            "_unroll",
            "x",
            "f",
            "u8",
            "b4",
            "v4",
            "u<H>16x8",
            "nat",
            "u'm",
            "0",
            "1",
            "0x10",
            "\"a.ua\"",
            "=",
            ":",
            ";",
            ",",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "<",
            ">",
            "..",
            "&",
            "^",
            "~",
            "+",
            "/",
            "<<",
            ">>>",
            ">>!",
            "[]",
            "#",
            "\n",
            "\u{e9}",
            "\0",
            "\"",
            "node f (x:u8) returns (y:u8) let",
            "y = x;",
            "forall i in [0,1] {",
            "tel",
            "x[0..1]",
            "(x, y) :=",
        ]);
        prop::collection::vec(word, 0..200).prop_map(|words| words.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn token_soup_never_panics(text in words()) {
            check(&text);
        }

        #[test]
        fn random_text_never_panics(text in "\\PC*|[\\x00-\\x7f]*|[a-z0-9 ()\\[\\]{};:=,<>^'\"#/\n]*") {
            check(&text);
        }
    }

    /// Spans lie inside of the text on character boundaries, and in its order.
    fn check(text: &str) {
        let (_, errors) = parse_text(text);
        let mut last = 0;
        for error in errors {
            let span = error.span.expect("parse errors have a place");
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{error:?}");
            assert!(span.start >= last);
            last = span.start;
        }
    }
}
