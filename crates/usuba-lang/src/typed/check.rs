//! Type checker: every rule of the language, over every declaration.
//!
//! The checker interprets each node once with its own variables open, and once for every instance
//! that a call creates, so it finds an error whether or not the node is used.

use rustc_hash::FxHashMap;

use super::types::*;
use super::walk::{Domain, MAX_NESTING, Refusal, Stop, Typed, Walker, legacy_table, too_deep};
use crate::diag::{Code, Diagnostic, Span};
use crate::op::Op;
use crate::syntax::ast::DeclOpt;

/// All findings about a program, errors and warnings, in the order of the text.
pub fn check(program: &Program) -> Vec<Diagnostic> {
    let mut walker = Walker::new(program, Nothing::default());
    for (id, decl) in program.decls.iter().enumerate() {
        let nats = decl.params.iter().any(|p| p.ty == VarType::Nat);
        for alternative in 0..if nats { 0 } else { decl.alternatives() } {
            walker.domain.ask(&Instance::open(id, alternative));
        }
    }
    if !program.arguments.nats.is_empty() {
        walker.domain.ask(&program.entry_open());
    }
    let mut costs: FxHashMap<Instance, Cost> = FxHashMap::default();
    while let Some(instance) = walker.domain.queue.pop() {
        if walker.is_full() {
            break;
        }
        let decl = &program.decls[instance.decl];
        let inputs: usize =
            decl.params.iter().filter(|p| p.ty != VarType::Nat).map(|p| p.ty.atoms()).sum();
        let before = walker.steps();
        if !matches!(decl.kind, Kind::Perm(_)) {
            // The findings contain the error.
            let _ = walker.run(&instance, vec![(); inputs]);
        }
        let calls = std::mem::take(&mut walker.domain.calls);
        let depth = std::mem::take(&mut walker.deepest);
        costs.insert(instance, Cost { steps: walker.steps() - before, depth, calls });
    }
    let mut diags = walker.diags;
    for decl in &program.decls {
        diags.extend(legacy_warning(program, decl));
    }
    for id in 0..program.decls.len() {
        diags.extend(unused_links(program, id));
    }
    if diags.iter().all(|d| !d.is_error()) {
        diags.extend(beyond_limits(program, &costs));
    }
    diags.sort_by_key(|d| (d.span, d.code));
    diags
}

/// The links of a node to nodes that it does not reach.
fn unused_links(program: &Program, id: DeclId) -> Vec<Diagnostic> {
    let decl = &program.decls[id];
    if decl.links.is_empty() {
        return Vec::new();
    }
    let reached = program.reached(id);
    let unused = decl.links.iter().filter(|link| !reached.contains(link));
    let finding = |link: &DeclId| {
        let text = format!("`{}` does not call `{}`", decl.name, program.decls[*link].name);
        Diagnostic::error(Code::BadLink, decl.name_span, text).help("remove it from `link`")
    };
    unused.map(finding).collect()
}

/// The instance of the entry under a slicing; `word` is the size `'m` if its arguments leave it
/// open.
pub fn entry_instance(
    program: &Program,
    slicing: Slicing,
    word: Option<u8>,
) -> Result<Instance, Diagnostic> {
    let decl = &program.decls[program.entry];
    let nat = decl.params.iter().find(|p| p.ty == VarType::Nat);
    if let Some(var) = nat.filter(|_| program.arguments.nats.is_empty()) {
        let text = format!("the entry `{}` leaves the nat `{}` open", decl.name, var.name);
        return Err(Diagnostic::error(Code::NatEntry, var.span, text)
            .help(format!("give a number for each nat, as in --entry '{}(8)'", decl.name)));
    }
    if decl.array && program.arguments.index.is_none() {
        let text = format!("the entry `{}` is an array of {}s", decl.name, decl.noun());
        return Err(Diagnostic::error(Code::MissingInstance, decl.name_span, text)
            .help(format!("choose one of them, as in --entry '{}<0>'", decl.name)));
    }
    let mut instance = program.entry_open();
    let given = |size: &str| program.arguments.sizes.iter().any(|(name, _)| **name == *size);
    for name in decl.size_vars().iter().filter(|name| !given(name)) {
        match word {
            Some(bits) if &**name == "m" => instance.bind_size(name, Size::Bits(bits)),
            _ => {
                let text = format!("the entry `{}` leaves the word size '{name} open", decl.name);
                let help =
                    format!("give the word size, as in --entry \"{}('{name}=16)\"", decl.name);
                let error = Diagnostic::error(Code::PolymorphicEntry, decl.name_span, text);
                return Err(error.help(help));
            }
        }
    }
    let dir = match slicing {
        Slicing::B => Dir::B,
        Slicing::V => Dir::V,
        Slicing::H => Dir::H,
        Slicing::W => Dir::W,
    };
    if decl.params.iter().chain(&decl.results).any(|var| is_wide(var, &instance)) {
        return Err(wide_port(decl, &instance));
    }
    for var in decl.all_vars() {
        if let VarType::Words { atom: Atom { dir: Dir::Var(name), .. }, .. } = &var.ty {
            instance.bind_dir(name, dir.clone());
        }
    }
    Ok(instance)
}

/// Whether a parameter or result has words of 128 bits.
fn is_wide(var: &Var, instance: &Instance) -> bool {
    matches!(&var.ty, VarType::Words { atom, .. } if instance.apply(atom).bits() > Some(64))
}

/// Words of 128 bits exist inside of a program only.
pub(super) fn wide_port(decl: &Decl, instance: &Instance) -> Diagnostic {
    let mut ports = decl.params.iter().chain(&decl.results);
    let (name, span) = match ports.find(|var| is_wide(var, instance)) {
        Some(var) => (&var.name, var.span),
        None => (&decl.name, decl.name_span),
    };
    let text = format!("`{name}` of the entry has words of 128 bits");
    Diagnostic::error(Code::UnsupportedType, span, text)
        .help("the entry takes and gives words of at most 64 bits: write two words")
}

/// The slicing of a program: the direction that it writes explicitly, or else `flag`.
pub fn slicing(program: &Program, flag: Slicing) -> Result<Slicing, Diagnostic> {
    let mut found: Option<(Dir, Span)> = None;
    for decl in &program.decls[..=program.entry] {
        for (dir, span) in decl.explicit_dirs() {
            match &found {
                Some((first, place)) if *first != dir => {
                    let text = format!("a program in both directions {first:?} and {dir:?}");
                    return Err(Diagnostic::error(Code::MixedDirections, span, text)
                        .related(*place, "the other direction")
                        .help("one compilation has one slicing; compile the parts by themselves"));
                }
                Some(_) => {}
                None => found = Some((dir, span)),
            }
        }
    }
    Ok(match found {
        Some((Dir::B, _)) => Slicing::B,
        Some((Dir::V, _)) => Slicing::V,
        Some((Dir::H, _)) => Slicing::H,
        Some((Dir::W, _)) => Slicing::W,
        Some((Dir::Var(_), _)) | None => flag,
    })
}

/// The widest word that the entry or anything declared before it names; open sizes are the widest
/// of the entry's arguments and `word`.
pub fn widest(program: &Program, word: Option<u8>) -> u8 {
    let open = program.arguments.sizes.iter().map(|(_, bits)| *bits).chain(word).max();
    let decls = program.decls[..=program.entry].iter();
    let bits = |var: &Var| match &var.ty {
        VarType::Words { atom, .. } => atom.bits().or(open).unwrap_or(1),
        VarType::Nat => 1,
    };
    decls.flat_map(Decl::all_vars).map(bits).max().unwrap_or(1)
}

fn legacy_warning(program: &Program, decl: &Decl) -> Option<Diagnostic> {
    let Kind::Table(lists) = &decl.kind else { return None };
    if program.flags.legacy_tables || decl.opts.contains(&DeclOpt::LsbFirst) {
        return None;
    }
    let (name, span) =
        lists.iter().find_map(|list| Some((legacy_table(&list.values)?, list.span)))?;
    let text = format!(
        "table `{}` is {name}, which the original compiler read least significant bit first; \
         here element 0 is the most significant bit",
        decl.name
    );
    Some(Diagnostic::warning(Code::LegacyTable, span, text).help(
        "write `_lsb_first` before `table`, or pass --legacy-tables to compile old programs unchanged",
    ))
}

/// Steps and nesting of one instance without its callees.
struct Cost {
    steps: u64,
    /// How deep its calls and expressions nest.
    depth: usize,
    /// Each call with the depth that it stands at.
    calls: Vec<(Instance, usize)>,
}

/// Reports the first instance that is too large, or nests too deep, when all calls are expanded.
fn beyond_limits(program: &Program, costs: &FxHashMap<Instance, Cost>) -> Option<Diagnostic> {
    let mut order: Vec<&Instance> = costs.keys().collect();
    order.sort_by_key(|i| i.decl);
    let mut totals: FxHashMap<&Instance, (u64, usize)> = FxHashMap::default();
    for instance in order {
        let Cost { steps, depth, calls } = &costs[instance];
        let (mut steps, mut depth) = (*steps, *depth);
        for (callee, at) in calls {
            let (inner, height) = totals.get(callee).copied().unwrap_or_default();
            steps = steps.saturating_add(inner);
            depth = depth.max(at + height);
        }
        let decl = &program.decls[instance.decl];
        if depth > MAX_NESTING {
            return Some(too_deep(decl.name_span));
        }
        if steps > MAX_STEPS {
            let text = format!(
                "node `{}` unrolls to more than {MAX_STEPS} steps with its calls; this is the limit",
                decl.name
            );
            let error = Diagnostic::error(Code::TooLarge, decl.name_span, text);
            return Some(error.help("shorten the loops, or split the program"));
        }
        totals.insert(instance, (steps, depth));
    }
    None
}

/// The domain of a check: there is nothing to compute.
#[derive(Default)]
struct Nothing {
    queue: Vec<Instance>,
    asked: rustc_hash::FxHashSet<Instance>,
    /// Calls of the instance that is being walked, with the depth that they stand at.
    calls: Vec<(Instance, usize)>,
}

impl Nothing {
    fn ask(&mut self, instance: &Instance) {
        if self.asked.insert(instance.clone()) {
            self.queue.push(instance.clone());
        }
    }
}

impl Domain for Nothing {
    type V = ();

    fn op(&mut self, _: &Op, _: &Atom, _: &[&()]) -> Result<(), Refusal> {
        Ok(())
    }

    fn table(
        &mut self,
        _: Vec<u64>,
        outputs: usize,
        _: &Atom,
        _: &[()],
    ) -> Result<Vec<()>, Refusal> {
        Ok(vec![(); outputs])
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        _: Vec<Typed<()>>,
        results: &[Atom],
        _: Span,
    ) -> Result<Vec<()>, Stop> {
        walker.domain.ask(instance);
        let depth = walker.depth;
        walker.domain.calls.push((instance.clone(), depth));
        Ok(vec![(); results.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sources;
    use crate::syntax::splice::NoIncludes;
    use crate::typed::Flags;

    /// A check interprets each node once, and a compilation all calls: one limit serves both.
    #[test]
    fn chains_of_calls_are_as_long_as_a_compilation_allows() {
        let found = |calls: usize| -> Vec<Code> {
            let mut text = "node f0 (x:u8) returns (y:u8) let y = ~x tel\n".to_string();
            for i in 1..=calls {
                let callee = i - 1;
                text += &format!("node f{i} (x:u8) returns (y:u8) let y = f{callee}(x) tel\n");
            }
            let mut sources = Sources::default();
            let file = sources.add("f.ua", text);
            match crate::front(&mut sources, file, &mut NoIncludes, None, Flags::default()) {
                Ok(_) => Vec::new(),
                Err(findings) => findings.iter().map(|finding| finding.code).collect(),
            }
        };
        assert_eq!(found(100), []);
        assert_eq!(found(400), [Code::TooDeep]);
    }
}
