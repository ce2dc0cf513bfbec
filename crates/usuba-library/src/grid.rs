//! A cipher folder for grids of threads: one file of CUDA C++ and its header.
//!
//! ```text
//! cipher.toml → kernels in V and B, key schedules → usuba_des.cu, usuba_des.cuh
//! ```
//!
//! A host compiler builds the same file, with threads that follow each other. The host sets up keys,
//! in C for 64-bit words.

use usuba::cost_model::instructions;
use usuba::emit::bytes::grid::{self, Grid, Search, Text};
use usuba::emit::bytes::{self, ByteLayout};
use usuba::emit::header;
use usuba::emit::keys::of_constants;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::PipelineOptions;
use usuba_ciphers::{Cipher, Direction, Function, Order};
use usuba_run::functions::{self as compile, Compiled, Way};

use super::cores::{explain, interface, letter, local, parameter};
use super::template::{self as t, context};
use super::write::{File, banner, renamed};
use super::{Request, usual};

/// Whether functions of a target run in threads of a device.
pub fn is_for_grids(target: &Target) -> bool {
    target.processor.device.is_some()
}

/// The files of a cipher folder for a target with a device: `stem.cu` and `stem.cuh`, or named after
/// prefix and cipher.
///
/// # Errors
/// The diagnostics of the compiler, one per line; or no function has words or bits in registers.
pub fn grids(
    request: &Request,
    target: &'static Target,
    cipher: &Cipher,
    stem: Option<&str>,
) -> Result<Vec<File>, String> {
    let part = match request.functions.is_empty() {
        true => None,
        false => Some(cipher.only(&request.functions)?),
    };
    let cipher = part.as_ref().unwrap_or(cipher);
    let name = usuba_ciphers::folder_name(&cipher.folder)?;
    let mut made: Vec<Made> = Vec::new();
    for function in cipher.functions.iter().filter(|function| function.is_for(target)) {
        for slicing in function.slicings_on(target).filter(|s| *s != Slicing::H) {
            let one = Made::new(cipher, function, slicing, target)?;
            if let Some(twice) = made.iter().find(|other| other.symbol == one.symbol) {
                return Err(format!(
                    "{}: two functions named `{}` have slicing {} on {}; help: rename one of them",
                    cipher.folder.display(),
                    twice.function,
                    letter(slicing),
                    target.name
                ));
            }
            made.push(one);
        }
    }
    if made.is_empty() {
        return Err(format!(
            "no function of `{name}` has slicing V or B on {}; help: other targets are {}",
            target.name,
            usual().iter().map(|target| target.name).collect::<Vec<_>>().join(", ")
        ));
    }
    let base = format!("usuba_{name}");
    let package = stem.map_or_else(|| renamed(&base, request), String::from);
    let about = format!("{} for CUDA, and for hosts as C++", cipher.title);
    let includes = header::includes(target);
    let headers: Vec<String> = made.iter().map(|one| one.text.header.clone()).collect();
    let codes: Vec<String> = made.iter().map(|one| one.code(&includes)).collect();
    let own = context! {
        banner => banner(&about, request), guard => format!("{}_CUH", base.to_uppercase()),
        package => &package,
        title => &cipher.title, spec => &cipher.spec, includes, support => grid::SUPPORT, headers,
        codes,
    };
    let file = |ending: &str, template: t::Template| File {
        path: format!("{package}.{ending}"),
        text: renamed(&template.render(own.clone()), request),
    };
    Ok(vec![file("cu", t::GRID), file("cuh", t::GRID_H)])
}

/// The functions of one function in one slicing.
struct Made {
    /// The beginning of their names: `usuba_des_encrypt_B`.
    symbol: String,
    function: String,
    kernels: Vec<Compiled>,
    text: Text,
}

impl Made {
    fn new(
        cipher: &Cipher,
        function: &Function,
        slicing: Slicing,
        target: &'static Target,
    ) -> Result<Made, String> {
        let symbol = format!("usuba_{}_{}", function.name, letter(slicing));
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.interleave = Choice::SINGLE;
        let way = local(target, &pipeline);
        let (main, _) = compile::kernels(cipher, function, &symbol, slicing, way)?;
        let schedule = compile::schedule(cipher, function, &symbol, way)?;
        let inputs: Vec<bytes::Parameter> = function.inputs.iter().map(parameter).collect();
        let whole = interface(function, &inputs, &symbol, &main, None, schedule.as_ref(), false);
        let lanes = Lanes::new(cipher, function, &symbol, slicing, way, &main)?;
        let own = Grid {
            function: &whole,
            target,
            instructions: instructions(&main.program, target, way.cpu),
            counter: counter(function, whole.blocks().map_err(explain(&symbol))?),
            search: lanes.as_ref().map(|lanes| lanes.search(function, &main)),
        };
        let text = grid::text(own).map_err(explain(&symbol))?;
        let more = lanes.into_iter().flat_map(|lanes| [lanes.kernel, lanes.schedule]).flatten();
        let kernels = [main].into_iter().chain(schedule).chain(more).collect();
        Ok(Made { symbol, function: function.name.clone(), kernels, text })
    }

    /// The kernels and the functions around them, without the headers of the file.
    fn code(&self, includes: &str) -> String {
        let kernels = self.kernels.iter().map(|compiled| {
            let text = compiled.kernel.text.replacen(includes, "", 1);
            text.replacen(&header::includes(isa::ALL[0]), "", 1)
        });
        kernels.chain([self.text.code.clone()]).collect()
    }
}

/// The other programs of a search of keys.
struct Lanes {
    /// The kernel without complements of keys, where the other one takes some.
    kernel: Option<Compiled>,
    schedule: Option<Compiled>,
}

impl Lanes {
    /// `None` where the key cannot differ from lane to lane.
    fn new(
        cipher: &Cipher,
        function: &Function,
        symbol: &str,
        slicing: Slicing,
        way: Way,
        main: &Compiled,
    ) -> Result<Option<Lanes>, String> {
        let of_block = function.direction == Direction::Encrypt && function.inputs.len() == 1;
        let Some(key) = function.key.as_ref().filter(|_| of_block && slicing == Slicing::B) else {
            return Ok(None);
        };
        let schedule = compile::schedule_in_bits(cipher, function, &format!("{symbol}_lanes"), way);
        if key.schedule.is_some() && schedule.is_none() {
            return Ok(None);
        }
        let kernel = match of_constants(&main.program).contains(&true) {
            true => {
                let way = Way { complemented_keys: false, ..way };
                let name = format!("{symbol}_lanes");
                Some(compile::kernels(cipher, function, &name, slicing, way)?.0)
            }
            false => None,
        };
        Ok(Some(Lanes { kernel, schedule }))
    }

    fn search<'a>(&'a self, function: &Function, main: &'a Compiled) -> Search<'a> {
        let through = function.key.as_ref().and_then(|key| key.through);
        let through = through.unwrap_or(ByteLayout::Be);
        let schedule = self.schedule.as_ref();
        Search {
            kernel: compile::as_kernel(self.kernel.as_ref().unwrap_or(main)),
            schedule: schedule.map(|schedule| (compile::as_kernel(schedule), through)),
        }
    }
}

/// The most bytes of a block that count.
const COUNTED: usize = 16;

/// The counter of a keystream: the one of the function, or a whole block as in CTR mode.
fn counter(function: &Function, (from, to): (usize, usize)) -> Option<grid::Counter> {
    function.key.as_ref()?;
    if let Some(own) = function.counter {
        return Some(grid::Counter {
            at: own.at,
            bytes: own.bytes,
            little: own.order == Order::Little,
        });
    }
    let is_block = function.direction == Direction::Encrypt
        && function.inputs.len() == 1
        && from == to
        && function.tweak.is_none();
    let bytes = from.min(COUNTED);
    is_block.then_some(grid::Counter { at: from - bytes, bytes, little: false })
}
