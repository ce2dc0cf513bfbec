//! `usubac prove --dist`: a row for every function of a user's file.
//!
//! ```text
//! usuba_rectangle.o of usuba_rectangle: 97 functions, 15 of them exported
//! safe ends time left computes
//!  yes  yes  yes    -      yes  usuba_rectangle80_encrypt_V_avx2    each block by encrypt of ...
//!   in   in   in   in       in  usuba_rectangle80_encrypt_V_avx2_batch
//!    -    -    -    -        -  usuba_rectangle80_ctr               the reason
//!  yes  yes  yes    -       at  usuba_sha256_hash                   out = sha256(in), length 0 to 224
//! ```

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use usuba_prove::cache;
use usuba_prove::dist::{self, Member, Report, Request, Several};
use usuba_prove::rows::{Answer, Claim, Row};

use crate::args::Prove;
use crate::output::to_stdout;
use crate::{Failure, fault};

pub fn run(args: &Prove, file: &Path) -> Result<(), Failure> {
    fault::stage("proving the functions of a file");
    let folder = args.folder.library().root();
    let request = Request {
        file,
        manifest: args.manifest.as_deref(),
        folder: &folder,
        functions: &args.functions.functions,
        jobs: args.jobs.jobs,
        cache: cache::store(args.cache.cache.clone(), args.cache.no_cache),
    };
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
    bar.set_style(style.expect("the template is well-formed"));
    let done = AtomicUsize::new(0);
    let report = dist::prove(&request, &|all, symbol| {
        bar.set_length(all as u64);
        bar.set_position(done.fetch_add(1, Ordering::Relaxed) as u64 + 1);
        bar.set_message(symbol.to_string());
    });
    bar.finish_and_clear();
    let report = report.map_err(Failure::Program)?;
    to_stdout(&match args.form.is_json() {
        true => serde_json::to_string_pretty(&report).expect("strings and numbers") + "\n",
        false => text(&report),
    })?;
    let mut rows = report.members.iter().flat_map(|member| &member.rows);
    if rows.all(Row::is_proved) { Ok(()) } else { Err(Failure::Reported) }
}

/// The heads of the columns, in the order of the claims.
const HEADS: [&str; 5] = ["safe", "ends", "time", "left", "computes"];

fn text(report: &Report) -> String {
    let Report { package, declared, there, members, several } = report;
    let mut text: String = members.iter().map(|member| of_member(package, member)).collect();
    for Several { function, sources } in several {
        text += &format!("proved to be one function, {function}: {}\n", sources.join(", "));
    }
    text + &format!("{there} of {declared} functions that {package} exports are in the file\n")
}

fn of_member(package: &str, member: &Member) -> String {
    let Member { name, rows, externals, .. } = member;
    let exported = rows.iter().filter(|row| row.exported).count();
    let mut text = format!(
        "{name} of {package}: {} functions, {exported} of them exported\n{}\n",
        rows.len(),
        HEADS.join(" ")
    );
    let width = rows.iter().map(|row| row.function.len()).max().unwrap_or(0);
    for row in rows {
        for (answer, head) in row.answers.iter().zip(HEADS) {
            let word = match answer {
                Answer::Proved => "yes",
                Answer::Callers => "in",
                Answer::Sizes(_) => "at",
                Answer::Open(_) => "-",
            };
            text += &format!("{word:>width$} ", width = head.len());
        }
        text += format!(" {:<width$}  {}", row.function, about(row)).trim_end();
        text += "\n";
    }
    text += "yes: proved; in: proved in every use, because all callers are; at: proved at these sizes; \
             -: not proved\n";
    for claim in Claim::ALL {
        let holds = |row: &&Row| row.holds(claim);
        let of_exported = rows.iter().filter(|row| row.exported).filter(holds).count();
        let all = rows.iter().filter(holds).count();
        text += &format!(
            "{}: {of_exported} of {exported} exported functions, {all} of all {}\n",
            claim.name(),
            rows.len()
        );
    }
    let at_sizes = |row: &&Row| matches!(row.answers[Claim::Computes as usize], Answer::Sizes(_));
    text += &format!(
        "{} at some sizes: {} of {exported} exported functions\n",
        Claim::Computes.name(),
        rows.iter().filter(|row| row.exported).filter(at_sizes).count()
    );
    let size = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|row| row.size).sum::<u64>();
    let proved = size(&mut rows.iter().filter(|row| row.holds(Claim::Computes)));
    let all = size(&mut rows.iter());
    text += &format!("{proved} of {all} bytes of code compute their specification\n");
    if !externals.is_empty() {
        text += &format!("from other files: {}\n", externals.join(", "));
    }
    text
}

/// The specification of a function, and the reasons why claims about it are open.
fn about(row: &Row) -> String {
    let specification = match &row.answers[Claim::Computes as usize] {
        // It names the specification, too.
        Answer::Sizes(sizes) if row.exported => sizes.clone(),
        _ if row.calls.is_empty() => row.specification.clone(),
        _ => format!("{} with {}", row.specification, row.calls.join(", ")),
    };
    let mut reasons: Vec<(&str, &str)> = Vec::new();
    for (answer, head) in row.answers.iter().zip(HEADS) {
        if let Answer::Open(why) = answer
            && reasons.iter().all(|(_, known)| known != why)
        {
            reasons.push((head, why));
        }
    }
    let reasons = reasons.iter().map(|(head, why)| format!("{head}: {why}"));
    let specification = (!specification.is_empty()).then_some(specification);
    specification.into_iter().chain(reasons).collect::<Vec<_>>().join("; ")
}
