//! The thread that compiles nodes for inlay hints.
//!
//! A job has a number, and every edit makes all earlier numbers stale: the thread then answers that
//! the content has changed, before the next node. While a program has errors the hints are the
//! costs of its last text without errors, where its nodes are now.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use lsp_server::{ErrorCode, Message, RequestId, Response};
use usuba_ide::costs::{Costs, Machine, costs};
use usuba_ide::hints::{Hint, hints};
use usuba_ide::{Analysis, ROOT, Settings};

use super::buffers::Buffers;
use super::protocol::{InlayHint, Places, Range};
use crate::Failure;

/// Stack of the thread: as much as the main thread has on common systems.
const STACK: usize = 8 << 20;

/// A request for the hints of a file.
pub struct Job {
    pub id: RequestId,
    pub name: String,
    pub range: Range,
    pub buffers: Buffers,
    pub settings: Settings,
    pub machine: Machine,
}

/// The thread, as the server sees it.
pub struct Worker {
    jobs: Sender<(u64, Job)>,
    /// The number of the last edit.
    edits: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts the thread, which sends its answers to `answers`.
    pub fn new(answers: impl Fn(Message) + Send + 'static) -> Result<Worker, Failure> {
        let (jobs, todo) = channel();
        let edits = Arc::new(AtomicU64::new(0));
        let latest = edits.clone();
        let thread = Builder::new()
            .name("costs".to_string())
            .stack_size(STACK)
            .spawn(move || work(&todo, &latest, &answers))
            .map_err(|error| Failure::program(format!("cannot start a thread: {error}")))?;
        Ok(Worker { jobs, edits, thread })
    }

    /// Drops the work on all earlier jobs.
    pub fn edited(&self) {
        self.edits.fetch_add(1, Ordering::Relaxed);
    }

    pub fn ask(&self, job: Job) {
        // The thread ends with the server only.
        let _ = self.jobs.send((self.edits.load(Ordering::Relaxed), job));
    }

    /// Answers the jobs that are left, and ends the thread.
    pub fn finish(self) {
        self.edited();
        drop(self.jobs);
        let _ = self.thread.join(); // it catches its panics
    }
}

/// The costs of a text under some options.
struct Known {
    key: String,
    costs: Costs,
}

fn work(todo: &Receiver<(u64, Job)>, latest: &AtomicU64, answer: &dyn Fn(Message)) {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    while let Ok((number, job)) = todo.recv() {
        let mut stale = || latest.load(Ordering::Relaxed) != number;
        let found = catch_unwind(AssertUnwindSafe(|| answered(&job, &mut known, &mut stale)));
        let failed = |code: ErrorCode, text: &str| {
            Response::new_err(job.id.clone(), code as i32, text.to_string())
        };
        let response = match found {
            Ok(Some(hints)) => Response::new_ok(job.id.clone(), hints),
            Ok(None) => failed(ErrorCode::ContentModified, "the text has changed"),
            Err(_) => failed(ErrorCode::InternalError, "the compiler has a fault"),
        };
        answer(response.into());
    }
}

/// The hints of a job, unless it is stale.
fn answered(
    job: &Job,
    known: &mut BTreeMap<String, Known>,
    stale: &mut dyn FnMut() -> bool,
) -> Option<Vec<InlayHint>> {
    let Some(buffer) = job.buffers.get(&job.name) else { return Some(Vec::new()) };
    let mut loader = &job.buffers;
    let analysis = Analysis::new(&job.name, &buffer.text, &mut loader, &job.settings);
    let texts = analysis.sources.files.iter().map(|file| file.text.as_str());
    let options = format!("{:?} {:?}", job.machine, job.settings.flags);
    let key = texts.chain([options.as_str()]).collect::<Vec<_>>().join("\0");
    let is_new = known.get(&job.name).is_none_or(|known| known.key != key);
    if let Some(program) = analysis.program.as_ref().filter(|_| is_new && analysis.is_sound) {
        let costs = costs(program, job.machine, stale)?;
        known.insert(job.name.clone(), Known { key, costs });
    }
    let Some(Known { costs, .. }) = known.get(&job.name) else { return Some(Vec::new()) };
    let places = Places::new(&analysis.sources, &job.buffers);
    let inside = |hint: &Hint| {
        let at = places.position(hint.at.file, hint.at.start);
        job.range.start <= at && at <= job.range.end
    };
    let all = hints(&analysis, ROOT, costs, job.machine);
    let shown = all.iter().filter(|hint| inside(hint)).map(|hint| InlayHint {
        position: places.position(hint.at.file, hint.at.start),
        label: hint.text.clone().into(),
        kind: None,
        text_edits: None,
        tooltip: Some(hint.about.clone().into()),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Some(shown.collect())
}
