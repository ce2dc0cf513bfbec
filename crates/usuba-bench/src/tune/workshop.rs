//! Build and timing of candidates: compiles them in parallel, verifies each before it is timed, and
//! times two in turns on one core.
//!
//! An object is compiled once, under unique names, and linked into each of its races. While a race
//! runs, nothing is compiled.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use usuba::ir::Slicing;
use usuba::isa::Target;

use super::search::{Bench, Id, Stop, Timed, Times};
use super::space::{Parse, Point, Space};
use super::subject::{Calls, SYMBOLS, Subject};
use usuba_run::fingerprint::hex;
use usuba_run::native::{self, Build, Kernel, Suite, Timing};

/// The time limit of a compile.
const COMPILE_LIMIT: Duration = Duration::from_secs(60);

/// Cycles of one sample: the default of the clock.
const CYCLES: u32 = 40_000;

/// The subject, place and parallelism of a search.
pub struct Job<'a> {
    pub subject: &'a Subject<'a>,
    pub target: &'static Target,
    pub space: &'a Space,
    pub parse: &'a Parse<'a>,
    /// The processor, which is part of the name of a candidate.
    pub cpu: &'a str,
    /// The number of concurrent compilers.
    pub jobs: usize,
}

/// C on disk, with its calls.
#[derive(Clone, Debug)]
pub struct Source {
    /// The first digits of the hash of its text.
    pub hash: String,
    shape: String,
}

impl Job<'_> {
    /// Generates C, in parallel; `keep` gets the hash and the text. Calls are stored once per
    /// shape.
    fn make(
        &self,
        wanted: &[(Slicing, String)],
        calls: &Mutex<HashMap<String, Calls>>,
        keep: &(dyn Fn(&str, &str) -> Result<(), String> + Sync),
    ) -> Vec<Result<Source, String>> {
        let one = |(slicing, flags): &(Slicing, String)| {
            let chosen = (self.parse)(flags)?;
            let made = self.subject.make(*slicing, self.target, &chosen)?;
            let hash = hex(&Sha256::digest(made.code.as_bytes()))[..24].to_string();
            keep(&hash, &made.code)?;
            let mut calls = calls.lock().expect("no thread panics");
            calls.entry(made.shape.clone()).or_insert(made.calls);
            Ok(Source { hash, shape: made.shape })
        };
        self.pool().install(|| wanted.par_iter().map(one).collect())
    }

    /// Generates the C of points to name it, and discards the text.
    pub fn sources(&self, slicing: Slicing, points: &[Point]) -> Vec<Result<Source, String>> {
        let flags: Vec<String> = points.iter().map(|point| self.space.flags(point)).collect();
        let wanted: BTreeSet<&String> = flags.iter().collect();
        let wanted: Vec<(Slicing, String)> =
            wanted.into_iter().map(|flags| (slicing, flags.clone())).collect();
        let made = self.make(&wanted, &Mutex::default(), &|_, _| Ok(()));
        let flags_of = wanted.iter().map(|(_, flags)| flags);
        let made: HashMap<&String, Result<Source, String>> = flags_of.zip(made).collect();
        flags.iter().map(|flags| made[flags].clone()).collect()
    }

    fn pool(&self) -> rayon::ThreadPool {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs.max(1)).build();
        pool.expect("the system has threads")
    }

    /// The name of a candidate: a hash of everything that affects its time.
    pub fn id(&self, source: &Source, point: &Point) -> Id {
        let compiler = self.space.compiler(point);
        let mut hash = Sha256::new();
        let goal = self.subject.goal().name();
        for part in [self.cpu, goal, &compiler.name, &source.hash] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        for flag in self.space.cflags(point) {
            hash.update(flag.as_bytes());
            hash.update([0]);
        }
        hex(&hash.finalize())[..24].to_string()
    }

    /// The display name of a point: all its flags.
    pub fn label(&self, slicing: Slicing, point: &Point) -> String {
        let flags = self.space.flags(point);
        let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
        let compiler = &self.space.compiler(point).name;
        format!("-{slicing:?}{flags}, {compiler} {}", self.space.levels(point).join(" "))
    }
}

/// The flags that rename the symbols of a candidate for the linker.
pub fn names(id: &Id) -> Vec<String> {
    SYMBOLS.iter().map(|symbol| format!("-D{symbol}={symbol}_{id}")).collect()
}

/// A candidate with its C.
struct Candidate {
    slicing: Slicing,
    point: Point,
    source: Source,
    /// The object, or the reason why there is none; absent before the first request.
    object: Option<Result<PathBuf, String>>,
    verified: bool,
}

/// A [`Bench`] with real compilers and a real clock.
pub struct Workshop<'a> {
    job: &'a Job<'a>,
    folder: TempDir,
    given: Option<Given>,
    interrupted: &'a AtomicBool,
    end: Instant,
    /// The generated C of flags, for each slicing.
    sources: HashMap<(Slicing, String), Result<Source, String>>,
    calls: HashMap<String, Calls>,
    candidates: BTreeMap<Id, Candidate>,
}

/// Objects from an external build.
pub struct Given {
    /// The folder of `o/ID.o`.
    pub folder: PathBuf,
    /// Candidates with earlier measurements: they stay candidates without an object.
    pub known: BTreeSet<Id>,
}

impl<'a> Workshop<'a> {
    /// A workshop whose `budget` starts now.
    ///
    /// # Errors
    /// The temporary folder cannot be created.
    pub fn new(
        job: &'a Job<'a>,
        budget: Duration,
        given: Option<Given>,
        interrupted: &'a AtomicBool,
    ) -> Result<Workshop<'a>, String> {
        let folder = tempfile::Builder::new().prefix("usubac-tune-").tempdir();
        let folder = folder.map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let now = Instant::now();
        // A budget beyond the range of the clock is a year.
        let end = now.checked_add(budget).unwrap_or(now + Duration::from_secs(365 * 86_400));
        Ok(Workshop {
            job,
            folder,
            given,
            interrupted,
            end,
            sources: HashMap::new(),
            calls: HashMap::new(),
            candidates: BTreeMap::new(),
        })
    }

    fn is_interrupted(&self) -> Result<(), Stop> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(Stop::Interrupted),
            false => Ok(()),
        }
    }

    fn code(&self, hash: &str) -> PathBuf {
        self.folder.path().join(format!("{hash}.c"))
    }

    /// Generates the missing C.
    fn make(&mut self, wanted: Vec<(Slicing, String)>) {
        let mut fresh = Vec::new();
        for key in wanted {
            if !self.sources.contains_key(&key) && !fresh.contains(&key) {
                fresh.push(key);
            }
        }
        let folder = self.folder.path();
        let keep = |hash: &str, code: &str| {
            let path = folder.join(format!("{hash}.c"));
            if path.exists() {
                return Ok(());
            }
            // Two threads may write the same text; the last one renames a complete file.
            let name = format!("{hash}.{:?}.tmp", std::thread::current().id());
            let name = folder.join(name.replace(['(', ')'], ""));
            fs::write(&name, code)
                .and_then(|()| fs::rename(&name, &path))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))
        };
        let calls = Mutex::new(std::mem::take(&mut self.calls));
        let made = self.job.make(&fresh, &calls, &keep);
        self.calls = calls.into_inner().expect("no thread panics");
        self.sources.extend(fresh.into_iter().zip(made));
    }

    /// Compiles one candidate.
    fn compile(&self, id: &Id) -> Result<PathBuf, String> {
        let candidate = &self.candidates[id];
        let object = self.folder.path().join(format!("{id}.o"));
        let log = self.folder.path().join(format!("{id}.log"));
        let system = |error: std::io::Error| format!("cannot run the C compiler: {error}");
        let mut command = Command::new(&self.job.space.compiler(&candidate.point).machine.compiler);
        command.args(self.job.space.cflags(&candidate.point)).args(names(id));
        command.arg("-c").arg(self.code(&candidate.source.hash)).arg("-o").arg(&object);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&log).map_err(system)?);
        let mut child = command.spawn().map_err(system)?;
        let label = self.job.label(candidate.slicing, &candidate.point);
        match native::wait(&mut child, COMPILE_LIMIT).map_err(system)? {
            Some(status) if status.success() => Ok(object),
            Some(_) => {
                let messages = fs::read(&log).unwrap_or_default();
                let messages = String::from_utf8_lossy(&messages).into_owned();
                let first = messages.lines().find(|line| line.contains("error"));
                let first = first.or(messages.lines().next()).unwrap_or("no message");
                Err(format!("{label}: does not compile: {first}"))
            }
            None => Err(format!("{label}: compiles for more than {COMPILE_LIMIT:?}")),
        }
    }

    /// Compares the results of candidates with the expected outputs.
    fn verify(&mut self, ids: &[Id]) -> Result<(), Stop> {
        let kernels: Vec<Kernel> = ids
            .iter()
            .map(|id| {
                let calls = &self.calls[&self.candidates[id].source.shape];
                let check = calls.check.as_ref().clone();
                kernel(id, check, calls.outputs.clone(), calls.align)
            })
            .collect();
        let suite = self.suite(ids, &kernels)?;
        for (id, answer) in ids.iter().zip(suite.run()) {
            let candidate = &self.candidates[id];
            let label = self.job.label(candidate.slicing, &candidate.point);
            let calls = &self.calls[&candidate.source.shape];
            match answer {
                Err(native::Failure::System(why)) => return Err(Stop::System(why)),
                Err(failure) => return Err(Stop::Wrong(format!("{label}: {failure}"))),
                Ok(outputs) => {
                    let same = |(got, want): (&Vec<Vec<u8>>, &Vec<Vec<u8>>)| {
                        let mut ports = got.iter().zip(want);
                        ports.all(|(got, want)| got.len() >= want.len() && got.starts_with(want))
                    };
                    let all = outputs.len() == calls.expected.len();
                    if !all || !outputs.iter().zip(calls.expected.iter()).all(same) {
                        return Err(Stop::Wrong(format!("{label}: another result")));
                    }
                }
            }
        }
        Ok(())
    }

    fn suite<'k>(&'k self, ids: &[Id], kernels: &'k [Kernel]) -> Result<Suite<'k>, Stop> {
        let machine = &self.job.space.compilers[0].machine;
        let flags: &[&str] = &["-O1"];
        let builds = kernels.iter().map(|kernel| Build { machine, flags, kernel }).collect();
        let object = |id: &Id| match &self.candidates[id].object {
            Some(Ok(path)) => Ok(path.clone()),
            _ => Err(Stop::System(format!("the object {id} is gone"))),
        };
        let objects = ids.iter().map(object).collect::<Result<_, _>>()?;
        Suite::with_objects(builds, objects).map_err(|failure| Stop::System(failure.to_string()))
    }
}

/// A small kernel that passes its ports on to a candidate.
fn kernel(id: &Id, calls: Vec<Vec<Vec<u8>>>, outputs: Vec<usize>, align: usize) -> Kernel {
    let count = calls.first().map_or(0, Vec::len) + outputs.len();
    let params: Vec<String> = (0..count).map(|port| format!("void *p{port}")).collect();
    let ports: Vec<String> = (0..count).map(|port| format!("p{port}")).collect();
    let (params, ports) = (params.join(", "), ports.join(", "));
    let text = format!(
        "void candidate_drive_{id}(void **ports);\nvoid pass({params});\n\
         void pass({params}) {{ void *ports[] = {{{ports}}}; candidate_drive_{id}(ports); }}\n"
    );
    Kernel { text, symbol: "pass".into(), align, calls, outputs }
}

impl Bench for Workshop<'_> {
    fn identify(&mut self, slicing: Slicing, points: &[Point]) -> Vec<Result<Id, String>> {
        let flags: Vec<_> =
            points.iter().map(|point| (slicing, self.job.space.flags(point))).collect();
        self.make(flags.clone());
        let mut answers = Vec::new();
        for (point, key) in points.iter().zip(flags) {
            let source = match &self.sources[&key] {
                Ok(source) => source.clone(),
                Err(why) => {
                    answers.push(Err(why.clone()));
                    continue;
                }
            };
            let id = self.job.id(&source, point);
            // The default is compiled here if the external build lacks it.
            let default = point.iter().all(|&choice| choice == 0);
            let lost =
                |given: &Given| !object(&given.folder, &id).is_file() && !given.known.contains(&id);
            if !default && self.given.as_ref().is_some_and(lost) {
                answers.push(Err("its object is not there".into()));
                continue;
            }
            let candidate = || Candidate {
                slicing,
                point: point.clone(),
                source,
                object: None,
                verified: false,
            };
            self.candidates.entry(id.clone()).or_insert_with(candidate);
            answers.push(Ok(id));
        }
        answers
    }

    fn build(&mut self, ids: &[Id]) -> Result<Vec<Result<(), String>>, Stop> {
        self.is_interrupted()?;
        let mut todo: Vec<&Id> = Vec::new();
        for id in ids {
            if self.candidates[id].object.is_none() && !todo.contains(&id) {
                todo.push(id);
            }
        }
        let given = |id: &&Id| {
            let path = object(&self.given.as_ref()?.folder, id);
            path.is_file().then_some(path)
        };
        let shared = &*self;
        let compile = |id: &&Id| given(id).map_or_else(|| shared.compile(id), Ok);
        let objects: Vec<Result<PathBuf, String>> =
            self.job.pool().install(|| todo.par_iter().map(compile).collect());
        // A compiler that the same interrupt has stopped did not fail.
        self.is_interrupted()?;
        let todo: Vec<Id> = todo.into_iter().cloned().collect();
        for (id, object) in todo.iter().zip(objects) {
            self.candidates.get_mut(id).expect("it was identified").object = Some(object);
        }
        let mut unverified: Vec<Id> = ids.to_vec();
        unverified.sort();
        unverified.dedup();
        unverified.retain(|id| {
            let candidate = &self.candidates[id];
            matches!(candidate.object, Some(Ok(_))) && !candidate.verified
        });
        if !unverified.is_empty() {
            self.verify(&unverified)?;
        }
        for id in &unverified {
            self.candidates.get_mut(id).expect("it was identified").verified = true;
        }
        let answer = |id: &Id| match &self.candidates[id].object {
            Some(Err(why)) => Err(why.clone()),
            _ => Ok(()),
        };
        Ok(ids.iter().map(answer).collect())
    }

    fn time(&mut self, incumbent: &Id, challenger: &Id, rounds: u32) -> Result<Times, Stop> {
        self.is_interrupted()?;
        let pair = [incumbent.clone(), challenger.clone()];
        let calls = pair.each_ref().map(|id| &self.calls[&self.candidates[id].source.shape]);
        let kernels: Vec<Kernel> = pair
            .iter()
            .zip(calls)
            .map(|(id, calls)| {
                let timed = vec![calls.timed.as_ref().clone()];
                kernel(id, timed, calls.timed_outputs.clone(), 64)
            })
            .collect();
        let suite = self.suite(&pair, &kernels)?;
        let samples = suite.time(&[0, 1], Timing { rounds, cycles: CYCLES });
        self.is_interrupted()?;
        let samples = samples.map_err(|failure| Stop::System(failure.to_string()))?;
        let timed = |at: usize| {
            let per_unit = |cycles: &[f64]| cycles.iter().map(|c| c / calls[at].units).collect();
            Timed {
                samples: per_unit(samples[at].all()),
                processes: per_unit(samples[at].processes()),
            }
        };
        Ok(Times { incumbent: timed(0), challenger: timed(1) })
    }

    fn may_go_on(&self) -> Result<(), Stop> {
        self.is_interrupted()?;
        match Instant::now() < self.end {
            true => Ok(()),
            false => Err(Stop::Budget),
        }
    }

    /// One for each compiler: more would exceed the budget further.
    fn width(&self) -> usize {
        self.job.jobs
    }
}

/// The path of a candidate's object in an external build.
pub fn object(folder: &Path, id: &Id) -> PathBuf {
    folder.join("o").join(format!("{id}.o"))
}
