//! Provenance: every equation has a place in the source, from lowering to the final program, and
//! its lines of C.
//!
//! The programs are the text tests and the nodes of ciphers. After each pass every operator and call
//! has a place in a declaration: after lowering in the one of its own node, or of a table.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use filetests::case::Case;
use filetests::{compile, suite};
use usuba::diag::{FileId, Sources, Span};
use usuba::emit::c::{COptions, kernel};
use usuba::emit::places::Places;
use usuba::ir::{Node, Program, Slicing};
use usuba::isa::Target;
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::syntax::{ast, parse};
use usuba::{Options, front, isa, optimise, typed};
use usuba_ciphers::Beside;
use usuba_gen::{asks, level};

const SLICINGS: [Slicing; 4] = [Slicing::V, Slicing::H, Slicing::B, Slicing::W];

/// One target for each set of gates, the last one with products of long words.
const TARGETS: [&str; 4] = ["gp64", "avx2", "avx512", "avx512_ifma"];

/// A declaration in the source.
struct Declared {
    name: String,
    is_table: bool,
    span: Span,
}

/// A program with its declarations and lines.
struct Subject<'a> {
    name: &'a str,
    program: &'a typed::Program,
    word: Option<u8>,
    declared: Vec<Declared>,
    places: Arc<Places>,
}

/// The programs and equations that were checked, and the equations without a place.
#[derive(Default)]
struct Found {
    programs: usize,
    equations: usize,
    without: Vec<String>,
}

impl Found {
    /// Prints the share of equations without a place, which is 0.
    fn finish(self, least: usize) {
        let Found { programs, equations, without } = self;
        println!("{programs} programs, {equations} equations, {} without a place", without.len());
        assert!(without.is_empty(), "{}", without.join("\n"));
        assert!(programs >= least, "only {programs} programs were compiled");
    }
}

fn declared(sources: &Sources) -> Vec<Declared> {
    let mut found = Vec::new();
    for at in 0..sources.files.len() {
        let (tree, _) = parse(sources, FileId(at as u32));
        for item in tree.items {
            let ast::Item::Decl(decl) = item else { continue };
            let is_table = matches!(decl.kind, ast::DeclKind::Table(_));
            found.push(Declared { name: decl.name.name.to_string(), is_table, span: decl.span });
        }
    }
    found
}

impl Subject<'_> {
    /// Compiles the program and checks it after each pass; then compares the C with and without
    /// places. A target or slicing that cannot have the program refuses it.
    fn check(&self, slicing: Slicing, target: &'static Target, level: Level, found: &mut Found) {
        let mut pipeline = PipelineOptions { level, ..PipelineOptions::default() };
        // Below the default level there is no automatic interleaving.
        let factor = (level < Level::O2).then_some(2);
        pipeline.pass.interleave = Choice { factor, ..Choice::AUTO };
        let options = Options {
            slicing,
            target,
            cpu: isa::cpu::ALL[0],
            word: self.word,
            entry: None,
            flags: self.program.flags,
            pipeline,
            c: COptions::default(),
        };
        let mut see = |pass: &str, program: &Program| {
            for node in &program.nodes {
                self.node(pass, program.slicing, node, found);
            }
        };
        let Ok(last) = optimise(self.program, &options, &mut see) else { return };
        found.programs += 1;
        self.lines(&last, target);
    }

    fn node(&self, pass: &str, slicing: Slicing, node: &Node, found: &mut Found) {
        node.equations(&mut |eqn, v| {
            found.equations += 1;
            let Some(span) = node.origins.of(v) else {
                found.without.push(format!("{}, {pass}: {eqn:?}", self.name));
                return;
            };
            let inside = |d: &&Declared| {
                d.span.file == span.file && d.span.start <= span.start && span.end <= d.span.end
            };
            let home = self.declared.iter().find(inside);
            let home = home.unwrap_or_else(|| panic!("{}, {pass}: {span:?}", self.name));
            // In W nodes that take no whole vectors have no equations of their own.
            if pass == "lower" && slicing != Slicing::W && !home.is_table {
                let name = node.name.split('\'').next().unwrap_or_default();
                assert_eq!(name, home.name, "{}: {} has {span:?}", self.name, node.name);
            }
        });
    }

    /// Comments on places are the only difference, and the lines of equations end statements.
    fn lines(&self, program: &Program, target: &'static Target) {
        let plain = kernel(program, target, &COptions::default());
        let c = COptions { origins: Some(self.places.clone()), ..COptions::default() };
        let traced = kernel(program, target, &c);
        let lines: Vec<&str> = traced.text.lines().collect();
        let is_place = |line: &&&str| {
            let comment = line.trim_start().strip_prefix("/* ").and_then(|l| l.strip_suffix(" */"));
            comment.is_some_and(|text| self.places.names().any(|name| text.starts_with(name)))
        };
        let code: Vec<&str> = lines.iter().filter(|line| !is_place(line)).copied().collect();
        let plain_lines: Vec<&str> = plain.text.lines().collect();
        assert_eq!(code, plain_lines, "{}", self.name);
        assert_eq!(traced.lines.len(), plain.lines.len(), "{}", self.name);
        for (here, there) in traced.lines.iter().zip(&plain.lines) {
            let text = |of: (u32, u32)| of.0 as usize - 1..of.1 as usize;
            assert_eq!(lines[text(here.lines)], plain_lines[text(there.lines)], "{}", self.name);
            assert!(lines[here.lines.1 as usize - 1].ends_with(';'), "{}", self.name);
        }
    }
}

#[test]
fn every_equation_of_a_text_test_has_a_place() {
    let mut found = Found::default();
    for (number, (name, path)) in suite::files().iter().enumerate() {
        let text = fs::read_to_string(path).expect("the test can be read");
        let Ok(case) = Case::parse(&text) else { continue };
        let compile::Front { sources, checked: Some(checked), .. } = compile::front(&case, None)
        else {
            continue;
        };
        let subject = Subject {
            name,
            program: &checked.program,
            word: case.flags.word,
            declared: declared(&sources),
            places: Arc::new(Places::new(&sources)),
        };
        for (at, target) in TARGETS.into_iter().enumerate() {
            let turn = (number + level::turn() as usize) % TARGETS.len() == at;
            if !turn && !asks!("{name} on {target}") {
                continue;
            }
            let target = isa::find(target).expect("a target");
            for slicing in SLICINGS {
                subject.check(slicing, target, Level::O1, &mut found);
                subject.check(slicing, target, Level::O2, &mut found);
            }
        }
    }
    found.finish(500);
}

#[test]
fn every_equation_of_a_cipher_has_a_place() {
    let mut found = Found::default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ciphers");
    let mut number = level::turn() as usize;
    for cipher in usuba_ciphers::find(&root).expect("the cipher folders can be read") {
        for function in &cipher.functions {
            let path = cipher.folder.join(&function.source);
            let text = fs::read_to_string(&path).expect("the program can be read");
            let mut sources = Sources::default();
            let root = sources.add(path.display().to_string(), text);
            let flags = typed::Flags::default();
            let checked = front(&mut sources, root, &mut Beside, Some(&function.node), flags);
            let program = checked.expect("the program is right").program;
            let name = format!("{} of {}", function.node, function.source);
            let subject = Subject {
                name: &name,
                program: &program,
                word: None,
                declared: declared(&sources),
                places: Arc::new(Places::new(&sources)),
            };
            for &slicing in &function.slicings {
                number += 1;
                if !number.is_multiple_of(9) && !asks!("{name} in {slicing:?}") {
                    continue;
                }
                let target = isa::find(TARGETS[number / 9 % 3]).expect("a target");
                subject.check(slicing, target, Level::O2, &mut found);
            }
        }
    }
    found.finish(5);
}
