//! `# test pass NAME`: what one pass makes of a program that was lowered and nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use usuba::ir::{Eqn, Program, live, print, verify};
use usuba::passes;
use usuba::passes::pipeline::Level;

use crate::compile::{self, Source};
use crate::file::TestFile;
use crate::run;

pub fn wanted(test: &TestFile, path: &Path, name: &str) -> Result<String, String> {
    let pass = passes::find(name).ok_or(format!("there is no pass `{name}`"))?;
    if test.counts.is_none() && !test.expects {
        return Err("there is neither `# count:` nor `# expect:`".into());
    }
    let mut source = Source::new(path, &test.head);
    let checked = source.front(&test.settings, None).map_err(|diags| source.explain(&diags))?;
    let mut lowered = None;
    let mut keep = |stage: &str, program: &Program| {
        if stage == "lower" {
            lowered = Some(program.clone());
        }
    };
    compile::optimise(&checked, &test.settings, test.settings.slicing(), Level::O0, &mut keep)
        .map_err(|diags| source.explain(&diags))?;
    let before = lowered.expect("lowering is seen");
    let mut after = before.clone();
    passes::pipeline::run_pass(pass, &mut after, &test.settings.pass);
    verify::verify(&after)?;
    for line in &test.runs {
        run::interpret(&before, line).map_err(|why| format!("before: {why}"))?;
        run::interpret(&after, line).map_err(|why| format!("after: {why}"))?;
    }
    if let Some(counts) = &test.counts {
        let found = count(&after);
        if *counts != found {
            return Err(format!("the pass leaves {found:?}:\n{}", print::program(&after)));
        }
    }
    Ok(test.with_expect(&test.head, &print::program(&after)))
}

/// Everything that is written in all nodes, and the number of loops.
fn count(program: &Program) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for node in &program.nodes {
        for (name, n) in live::written(&node.body).by_name {
            *counts.entry(name.to_string()).or_insert(0) += n;
        }
        let loops = loops(&node.body);
        if loops > 0 {
            *counts.entry("loop".to_string()).or_insert(0) += loops;
        }
    }
    counts
}

fn loops(eqns: &[Eqn]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Loop(lp) => 1 + loops(&lp.body),
        _ => 0,
    };
    eqns.iter().map(one).sum()
}
