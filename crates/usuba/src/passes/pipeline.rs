//! Optimisation levels: lists of passes, composed from named groups.
//!
//! A pass is one file in this folder and one line in a group here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::*;
use crate::ir::verify;

/// The optimisation level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Level {
    /// As written: only uncalled nodes disappear.
    O0,
    /// Nodes and loops stay, each body is simplified.
    O1,
    /// The default: calls and short loops disappear too.
    #[default]
    O2,
}

/// A level: groups of passes, in order.
type Groups = &'static [&'static [&'static Pass]];

/// `canon` makes equal right-hand sides look equal, `cse` merges them, and then `const-fold` sees
/// that both sides of an `^` are one value. So it runs before and after.
const SIMPLIFY: &[&Pass] = &[
    &const_fold::PASS,
    &copy_prop::PASS,
    &canon::PASS,
    &cse::PASS,
    &const_fold::PASS,
    &copy_prop::PASS,
    &dce::PASS,
];

/// Removes calls and loops, whose sizes are meaningful only after [`SIMPLIFY`].
const FLATTEN: &[&Pass] = &[&inline::PASS, &unroll::PASS];

/// Schedules calls of S-boxes as units, so it runs while there are any. Later passes merge, remove
/// and replace equations, but move none: this schedule stays.
const SCHEDULE_CALLS: &[&Pass] = &[&bitslice_sched::PASS, &inline_rest::PASS];

/// Chooses instructions of the target, then schedules them. The schedulers count instructions, so
/// no pass may move equations after them.
const FUSE_AND_SCHEDULE: &[&Pass] = &[
    &affine::PASS,
    &muladd::PASS,
    &dce::PASS,
    &complement::PASS,
    &copy_prop::PASS,
    &dce::PASS,
    &fuse::PASS,
    &interleave::PASS,
    &mslice_sched::PASS,
    &pressure::PASS,
];

static O0: Groups = &[&[&dce::PASS, &interleave::PASS]];

static O1: Groups = &[SIMPLIFY, &[&interleave::PASS, &mslice_sched::PASS, &pressure::PASS]];

static O2: Groups = &[SIMPLIFY, FLATTEN, SIMPLIFY, SCHEDULE_CALLS, SIMPLIFY, FUSE_AND_SCHEDULE];

/// All passes, by name.
pub static ALL: LazyLock<Vec<&'static Pass>> = LazyLock::new(|| {
    let levels = [Level::O0, Level::O1, Level::O2].into_iter().flat_map(passes);
    let named: BTreeMap<&str, &Pass> = levels.map(|pass| (pass.name, pass)).collect();
    named.into_values().collect()
});

/// The passes of a level, in order.
pub fn passes(level: Level) -> impl Iterator<Item = &'static Pass> {
    let groups = match level {
        Level::O0 => O0,
        Level::O1 => O1,
        Level::O2 => O2,
    };
    groups.iter().copied().flatten().copied()
}

/// The level and the options of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PipelineOptions {
    pub level: Level,
    /// Names of passes that do not run, wherever they are in the list.
    pub skip: Vec<String>,
    /// The pipeline ends after the first run of this pass, or runs to its end if it is not there.
    pub stop_after: Option<String>,
    /// Whether narrow words share a general-purpose register; the facade decides it before the
    /// first pass.
    pub packing: When,
    pub pass: PassOptions,
}

impl PipelineOptions {
    /// Whether narrow words share a general-purpose register; below the default level there are no
    /// automatic choices.
    pub fn packing(&self) -> When {
        match self.packing {
            When::Auto if self.level < Level::O2 => When::Never,
            choice => choice,
        }
    }
}

/// Runs the passes of a level. `observer` is called with the name of each pass that ran and the
/// program as the pass left it; a pass that is in the list twice is seen twice.
///
/// `program` must be sound (`ir::verify`); debug builds check it after every pass.
pub fn run_pipeline(
    program: &mut Program,
    options: &PipelineOptions,
    observer: &mut dyn FnMut(&str, &Program),
) {
    let mut choices = options.pass;
    // Below the default level there are no automatic choices.
    if options.level < Level::O2 && choices.interleave.factor.is_none() {
        choices.interleave.factor = Some(1);
    }
    for pass in passes(options.level) {
        if options.skip.iter().any(|name| name == pass.name) {
            continue;
        }
        run_pass(pass, program, &choices);
        observer(pass.name, program);
        if options.stop_after.as_deref() == Some(pass.name) {
            return;
        }
    }
}

/// Runs one pass; debug builds verify the program afterwards.
pub fn run_pass(pass: &Pass, program: &mut Program, options: &PassOptions) {
    (pass.run)(program, options);
    if cfg!(debug_assertions)
        && let Err(rule) = verify::verify(program)
    {
        panic!("the pass {} broke the program: {rule}", pass.name);
    }
}
