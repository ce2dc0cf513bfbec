//! Programs as C on every target that this machine can build and run.
//!
//! Starting a C compiler and reading its headers takes longer than compiling a small kernel.
//! Each file therefore has many kernels, and all files of a target share one process. When a file
//! does not compile or its process fails, its kernels are tried one by one.

use std::fmt::Write;

use usuba::emit::c::{COptions, Emitted, kernel};
use usuba::ir::Program;
use usuba::isa::{self, Target};
use usuba_run::cc::Machine;
use usuba_run::layout::Layout;
use usuba_run::native::{self, Kernel};

/// Kernels in one C file.
const TOGETHER: usize = 24;

/// Alignment of every array: the width of the largest register, in bytes.
const ALIGN: usize = 64;

/// A program with data for it.
pub struct Job {
    /// For messages.
    pub name: String,
    /// After all passes, for the target that it is run on.
    pub program: Program,
    /// The data of each call.
    pub calls: Vec<Call>,
}

/// The instances of one call: as many as the target has lanes for the program, times the copies
/// of the program. Words of `const` ports are the same in all rows.
#[derive(Clone)]
pub struct Call {
    /// The source words of all parameters, by instance.
    pub inputs: Vec<Vec<u64>>,
    /// The source words of all results, by instance.
    pub outputs: Vec<Vec<u64>>,
}

/// Instances of one call of `program` on `target`.
///
/// # Errors
/// In words: there is no layout.
pub fn instances(program: &Program, target: &Target) -> Result<usize, String> {
    Ok(Layout::new(program, target.bits, target.simd, target.masks)?.instances())
}

/// Runs all jobs, compiled at an optimisation level such as `-O1`. Returns one text per failed
/// job.
pub fn run(machine: &Machine, level: &str, jobs: &[Job]) -> Vec<String> {
    let target = isa::find(machine.target).expect("machines are of known targets");
    let mut failures = Vec::new();
    let mut ready = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match Ready::new(index, job, target) {
            Ok(one) => ready.push(one),
            Err(why) => failures.push(format!("{}: {why}", job.name)),
        }
    }
    let flags = [level, "-w"];
    let groups: Vec<&[Ready<'_>]> = ready.chunks(TOGETHER).collect();
    let kernels: Vec<Kernel> = groups.iter().map(|group| together(group)).collect();
    let answers = native::run(machine, &flags, &kernels);
    for (group, answer) in groups.iter().zip(answers) {
        match answer {
            Ok(outputs) => {
                for (ready, place) in group.iter().zip(places(group)) {
                    let own = outputs.iter().map(|call| place.results(ready, &call[0])).collect();
                    failures.extend(ready.check(own));
                }
            }
            Err(_) => {
                for ready in *group {
                    let alone = [together(std::slice::from_ref(ready))];
                    let answer = native::run(machine, &flags, &alone).remove(0);
                    failures.extend(match answer {
                        Ok(outputs) => {
                            let place = places(std::slice::from_ref(ready)).remove(0);
                            let own =
                                outputs.iter().map(|call| place.results(ready, &call[0])).collect();
                            ready.check(own)
                        }
                        Err(why) => Some(format!("{}: {why}", ready.job.name)),
                    });
                }
            }
        }
    }
    failures
}

/// A job with its C text.
struct Ready<'a> {
    job: &'a Job,
    layout: Layout,
    emitted: Emitted,
}

impl<'a> Ready<'a> {
    fn new(index: usize, job: &'a Job, target: &Target) -> Result<Ready<'a>, String> {
        let layout = Layout::new(&job.program, target.bits, target.simd, target.masks)?;
        let options = COptions { prefix: format!("k{index}_"), ..COptions::default() };
        let emitted = kernel(&job.program, target, &options);
        let (found, wanted) = (emitted.instances() as usize, layout.instances());
        if found != wanted {
            return Err(format!("{found} instances, laid out for {wanted}"));
        }
        Ok(Ready { job, layout, emitted })
    }

    /// The bytes of the array of each parameter, and of each result.
    fn sizes(&self) -> [Vec<usize>; 2] {
        self.layout.array_bytes(&self.job.program)
    }

    /// The name of the first result of a call with a bit outside of every instance.
    fn dirty(&self, arrays: &[Vec<u8>]) -> Option<&str> {
        for (sets, mut array) in
            self.job.program.results().into_iter().zip(arrays.iter().map(|array| &array[..]))
        {
            for port in sets {
                let (bytes, rest) = array.split_at(self.layout.port_bytes(port));
                array = rest;
                if !self.layout.is_zero_extended(port, bytes) {
                    return Some(&port.name);
                }
            }
        }
        None
    }

    /// The bytes of each parameter in one call.
    fn pack(&self, call: &Call) -> Vec<Vec<u8>> {
        self.layout.pack_params(&self.job.program, &call.inputs)
    }

    /// Compares the bytes of all results in all calls with the expected ones.
    fn check(&self, calls: Vec<Vec<Vec<u8>>>) -> Option<String> {
        for (at, (call, arrays)) in self.job.calls.iter().zip(calls).enumerate() {
            if let Some(name) = self.dirty(&arrays) {
                return Some(format!("{}: dirty bits in `{name}`, call {at}", self.job.name));
            }
            let rows = self.layout.unpack_results(&self.job.program, &arrays);
            for (instance, (want, found)) in call.outputs.iter().zip(&rows).enumerate() {
                let place = format!("{}: call {at}, instance {instance}", self.job.name);
                if let Err(why) = crate::engines::equal(&place, want, found) {
                    return Some(format!("{why}; inputs {:x?}", call.inputs[instance]));
                }
            }
        }
        None
    }
}

/// Where the arrays of a job lie in the buffers of its group.
struct Place {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Where the next job begins.
    ends: (usize, usize),
}

impl Place {
    fn results(&self, ready: &Ready<'_>, bytes: &[u8]) -> Vec<Vec<u8>> {
        let [_, sizes] = ready.sizes();
        let arrays = sizes.into_iter().zip(&self.outputs);
        arrays.map(|(size, &from)| bytes[from..from + size].to_vec()).collect()
    }
}

fn places(group: &[Ready<'_>]) -> Vec<Place> {
    let (mut input, mut output) = (0, 0);
    let mut out = Vec::new();
    for ready in group {
        let lay = |sizes: Vec<usize>, at: &mut usize| -> Vec<usize> {
            let mut starts = Vec::new();
            for size in sizes {
                starts.push(*at);
                *at += size.next_multiple_of(ALIGN);
            }
            starts
        };
        let [params, results] = ready.sizes();
        let inputs = lay(params, &mut input);
        let outputs = lay(results, &mut output);
        out.push(Place { inputs, outputs, ends: (input, output) });
    }
    out
}

/// One function that calls all kernels of a group, each on its part of two buffers. Jobs with
/// fewer calls than others repeat their last one.
fn together(group: &[Ready<'_>]) -> Kernel {
    let places = places(group);
    let (input, output) = places.last().map_or((0, 0), |place| place.ends);
    let mut text = String::new();
    let mut calls = String::new();
    for (ready, place) in group.iter().zip(&places) {
        text.push_str(&ready.emitted.text);
        let inputs = place.inputs.iter().map(|at| format!("(const void *)(in + {at})"));
        let outputs = place.outputs.iter().map(|at| format!("(void *)(out + {at})"));
        let args: Vec<String> = inputs.chain(outputs).collect();
        let _ = writeln!(calls, "    {}({});", ready.emitted.name, args.join(", "));
    }
    let signature = "void together(const unsigned char *in, unsigned char *out)";
    let _ = write!(text, "\n{signature};\n{signature}\n{{\n{calls}}}\n");
    let count = group.iter().map(|ready| ready.job.calls.len()).max().unwrap_or(0);
    let mut data = Vec::new();
    for at in 0..count {
        let mut bytes = vec![0; input];
        for (ready, place) in group.iter().zip(&places) {
            let call = &ready.job.calls[at.min(ready.job.calls.len() - 1)];
            for (&from, port) in place.inputs.iter().zip(ready.pack(call)) {
                bytes[from..from + port.len()].copy_from_slice(&port);
            }
        }
        data.push(vec![bytes]);
    }
    Kernel { text, symbol: "together".into(), align: ALIGN, calls: data, outputs: vec![output] }
}
