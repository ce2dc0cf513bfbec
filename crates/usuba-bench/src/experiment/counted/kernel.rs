//! Kernels of a step: compiled and proved equivalent to their source.

use std::collections::HashMap;
use std::path::PathBuf;

use usuba::diag::{Diagnostic, Sources};
use usuba::emit::c::{COptions, kernel};
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Options, emit, front, optimise, typed};
use usuba_equiv::chain::Chain;

use usuba_equiv::claims::Claim;
use usuba_equiv::source::Source;

use usuba_ciphers::{Beside, files};

/// The compile request.
pub struct Wanted<'w> {
    pub source: PathBuf,
    pub node: &'w str,
    pub target: &'static Target,
    pub pipeline: PipelineOptions,
    pub prefix: &'w str,
    pub link: &'w [String],
}

/// A kernel as C.
pub struct Kernel {
    pub name: String,
    pub prototype: String,
    pub text: String,
}

/// Proofs of the contracts of programs, by their paths.
pub type Contracts = HashMap<PathBuf, Result<(), String>>;

impl Wanted<'_> {
    /// Everything that determines the kernel: its flags, and the text of its program with all
    /// included files.
    ///
    /// # Errors
    /// The program cannot be read or is malformed.
    pub fn text(&self) -> Result<String, String> {
        let Wanted { source, node, target, pipeline, prefix, link } = self;
        let path = source.display();
        let text = files::read_to_string(source).map_err(|error| format!("{path}: {error}"))?;
        let mut sources = Sources::default();
        let root = sources.add(path.to_string(), text);
        let found = front(&mut sources, root, &mut Beside, Some(node), typed::Flags::default());
        found.map_err(|_| format!("{path}, {node}: it is wrong"))?;
        let texts: Vec<&str> = sources.files.iter().map(|file| &*file.text).collect();
        Ok(format!("{node} {} {pipeline:?} {prefix} {link:?} {}", target.name, texts.concat()))
    }

    /// Compiles a kernel, and proves it equivalent to its source. A failed proof is not an error,
    /// because the report states it.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub fn proved(
        &self,
        contracts: &mut Contracts,
    ) -> Result<(Kernel, Result<(), String>), String> {
        let path = &*self.source;
        let said = |findings: &[Diagnostic]| {
            let first = findings.iter().find(|finding| finding.is_error());
            let first = first.map_or("it is wrong", |finding| &*finding.message);
            format!("{}, {}: {first}", path.display(), self.node)
        };
        let text = files::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut sources = Sources::default();
        let root = sources.add(path.display().to_string(), text);
        let flags = typed::Flags::default();
        let checked = front(&mut sources, root, &mut Beside, Some(self.node), flags);
        let program = checked.map_err(|findings| said(&findings))?.program;
        let options = Options {
            slicing: Slicing::V,
            target: self.target,
            cpu: isa::cpu::ALL[0],
            word: None,
            entry: Some(self.node.to_string()),
            flags,
            pipeline: self.pipeline.clone(),
            c: COptions {
                prefix: self.prefix.to_string(),
                linked: self.link.to_vec(),
                ..COptions::default()
            },
        };
        let instance = typed::check::entry_instance(&program, Slicing::V, None);
        let instance = instance.map_err(|finding| said(&[finding]))?;
        let mut chain = Source::new(&program, &instance, Slicing::V).map(Chain::new);
        let mut shown = Ok(());
        let last = optimise(&program, &options, &mut |pass, program| {
            if shown.is_err() {
                return;
            }
            shown = match &mut chain {
                Ok(chain) => good(&chain.see(pass, program)),
                Err(why) => Err(why.clone()),
            };
        });
        let last = last.map_err(|findings| said(&findings))?;
        if let (Ok(()), Ok(chain)) = (&shown, &chain) {
            let lanes = chain.lanes(self.target, emit::layout(&last, self.target));
            shown = lanes.map_or(Ok(()), |claim| good(&claim));
        }
        let promised = contracts.entry(path.to_path_buf()).or_insert_with(|| {
            let findings = usuba_contracts::findings(&program);
            if findings.is_empty() { Ok(()) } else { Err(said(&findings)) }
        });
        let shown = promised.clone().and(shown.map_err(|why| format!("{}: {why}", self.node)));
        let emitted = kernel(&last, self.target, &options.c);
        let kernel =
            Kernel { name: emitted.name, prototype: emitted.prototype, text: emitted.text };
        Ok((kernel, shown))
    }
}

/// Whether a claim is proved, or the reason why it is not.
fn good(claim: &Claim) -> Result<(), String> {
    match claim.outcome.is_proved() {
        true => Ok(()),
        false => Err(format!("{} {} is not proved", claim.kind.name(), claim.subject)),
    }
}
