//! Rows of the report on a user's file: one for each function, with an answer to each claim.
//!
//! ```text
//! usuba_rectangle_encrypt_V_avx2         proved, proved, proved, proved, proved
//! usuba_rectangle_encrypt_V_avx2_batch   in its callers
//! usuba_rectangle_ctr                    the reason why not
//! ```
//!
//! Calls are executed in line. So a claim holds for a local function, in every use of it, if it is
//! proved for all of its callers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use usuba_object::verdict::Evidence as Machine;
use usuba_object::{Fault, Residue, safety};

use crate::Outcome;

/// The claims about a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Every access is inside of a buffer of the contract, aligned where it must be, and registers
    /// that belong to the caller are restored.
    MemorySafe,
    Terminates,
    /// No branch, address or operand of variable time depends on a secret.
    ConstantTime,
    /// No secret remains in the frame or in registers.
    NothingLeft,
    /// The function computes its program.
    Computes,
}

impl Claim {
    /// In the order of the columns.
    pub const ALL: [Claim; 5] = [
        Claim::MemorySafe,
        Claim::Terminates,
        Claim::ConstantTime,
        Claim::NothingLeft,
        Claim::Computes,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Claim::MemorySafe => "memory safe",
            Claim::Terminates => "terminates",
            Claim::ConstantTime => "constant time",
            Claim::NothingLeft => "nothing secret left",
            Claim::Computes => "computes its specification",
        }
    }
}

/// The answer to a claim.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Proved,
    /// It is proved in every use of the function, because all callers are proved.
    Callers,
    /// It is proved for these sizes, and for no others.
    Sizes(String),
    /// It is not proved, for this reason.
    Open(String),
}

impl Answer {
    /// Whether it is proved for all sizes.
    pub fn holds(&self) -> bool {
        matches!(self, Answer::Proved | Answer::Callers)
    }
}

/// The answers to the claims about one function.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub function: String,
    /// Whether other files can call it.
    pub exported: bool,
    /// Bytes of code.
    pub size: u64,
    /// The specification, in a few words; empty if there is none.
    pub specification: String,
    /// The functions whose proofs its proof uses.
    pub calls: Vec<String>,
    /// The functions that it applies, and whose proofs the proof of its specification uses.
    pub applies: Vec<String>,
    /// Bytes of the stack that it takes with all callees, if it is memory-safe by itself.
    pub stack: Option<u64>,
    /// Branches on secrets whose outcomes the status tells.
    pub told: Vec<String>,
    /// In the order of [`Claim::ALL`].
    pub answers: [Answer; 5],
    pub seconds: f64,
}

impl Row {
    pub fn new(function: String, exported: bool, size: u64, found: Found) -> Row {
        let Found { specification, answers, calls, applies, stack, told, seconds } = found;
        Row {
            function,
            exported,
            size,
            specification,
            calls,
            applies,
            stack,
            told,
            answers,
            seconds,
        }
    }

    pub fn holds(&self, claim: Claim) -> bool {
        self.answers[claim as usize].holds()
    }

    pub fn is_proved(&self) -> bool {
        self.answers.iter().all(Answer::holds)
    }
}

/// The same open answer to every claim.
pub fn open(reason: &str) -> [Answer; 5] {
    Claim::ALL.map(|_| Answer::Open(reason.to_string()))
}

/// The answers about a function by itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    pub specification: String,
    pub answers: [Answer; 5],
    pub calls: Vec<String>,
    pub applies: Vec<String>,
    pub stack: Option<u64>,
    pub told: Vec<String>,
    pub seconds: f64,
}

impl Found {
    /// Nothing, for this reason.
    pub fn nothing(reason: &str) -> Found {
        let (specification, calls, told) = (String::new(), Vec::new(), Vec::new());
        let (answers, applies) = (open(reason), Vec::new());
        Found { specification, answers, calls, applies, stack: None, told, seconds: 0.0 }
    }

    /// The same answers, where each proof is for these sizes only.
    pub fn at_sizes(mut self, sizes: &str) -> Found {
        for answer in &mut self.answers {
            if answer.holds() {
                *answer = Answer::Sizes(sizes.to_string());
            }
        }
        self
    }

    /// The proof of a specification at some sizes, which applies other functions.
    pub fn of_scenario(
        formula: &str,
        sizes: &str,
        proof: Result<BTreeSet<String>, String>,
    ) -> Found {
        let mut found = Found::nothing("a scenario proves no safety");
        found.specification = formula.to_string();
        found.answers[Claim::Computes as usize] = match proof {
            Err(why) => Answer::Open(format!("{formula}: {why}")),
            Ok(applied) => {
                found.applies = applied.into_iter().collect();
                match sizes {
                    "" => Answer::Proved,
                    sizes => Answer::Sizes(format!("{formula}, {sizes}")),
                }
            }
        };
        found
    }

    /// Adds the proof of a scenario. A function of several scenarios has all their specifications.
    pub fn add_scenario(&mut self, proof: &Found) {
        let at = Claim::Computes as usize;
        let is_first = self.specification.is_empty();
        let answer = match (&self.answers[at], &proof.answers[at]) {
            (Answer::Open(why), _) if !is_first => Answer::Open(why.clone()),
            (Answer::Sizes(known), Answer::Sizes(more)) => {
                Answer::Sizes(format!("{known}; {more}"))
            }
            (Answer::Sizes(known), Answer::Proved) => Answer::Sizes(known.clone()),
            (_, answer) => answer.clone(),
        };
        self.answers[at] = answer;
        self.applies.extend(proof.applies.iter().cloned());
        let behind = if is_first { "" } else { "; " };
        self.specification.push_str(&format!("{behind}{}", proof.specification));
        self.seconds += proof.seconds;
    }

    /// The proofs of a function in its calling modes, where `source` is the proof of its program.
    pub fn specified(specification: String, source: &Outcome, proofs: &[Outcome]) -> Found {
        let mut found = Found { specification, ..Found::nothing("") };
        let mut answers = Claim::ALL.map(|_| Answer::Proved);
        for outcome in proofs {
            let Outcome::Proved(evidence) = outcome else {
                let answers = open(&reason(outcome));
                return Found { answers, stack: None, ..found };
            };
            let crate::Evidence::Machine(Machine { residue, frame, .. }) = evidence else {
                continue;
            };
            found.stack = found.stack.max(Some(*frame));
            if !residue.is_empty() {
                answers[Claim::NothingLeft as usize] = Answer::Open(left(residue));
            }
        }
        if !source.is_proved() {
            let reason = format!("of its source: {}", reason(source));
            answers[Claim::Computes as usize] = Answer::Open(reason);
        }
        Found { answers, ..found }
    }

    /// The proof of safety of a function without a specification.
    pub fn safe(proof: Result<safety::Evidence, Fault>) -> Found {
        const NONE: &str = "it has no specification yet";
        let found = match proof {
            Err(fault) => Found::nothing(&fault.to_string()),
            Ok(safety::Evidence { frame, told, residue, .. }) => {
                let mut answers = Claim::ALL.map(|_| Answer::Proved);
                if !residue.is_empty() {
                    answers[Claim::NothingLeft as usize] = Answer::Open(left(&residue));
                }
                let told = told.into_iter().collect();
                Found { answers, stack: Some(frame), told, ..Found::nothing("") }
            }
        };
        let mut answers = found.answers;
        answers[Claim::Computes as usize] = Answer::Open(NONE.into());
        Found { answers, ..found }
    }
}

/// The reason why there is no proof.
fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Proved(_) => String::new(),
        Outcome::Refused(fault) => fault.to_string(),
        Outcome::Refuted(difference) => format!("REFUTED: {difference}"),
        Outcome::Unknown(why) => why.clone(),
    }
}

/// Registers with names in a reason.
const NAMED: usize = 6;

/// A residue in words.
fn left(Residue { frame, registers }: &Residue) -> String {
    let registers = match registers.len() {
        0 => "no register".to_string(),
        1..=NAMED => registers.join(", "),
        many => format!("{many} registers"),
    };
    format!("secrets in {frame} bytes of the frame and in {registers}")
}

/// Joins proofs that use the proofs of callees: a claim holds if it is proved for all of them.
pub fn by_callees(rows: &mut [Row]) {
    let mut left: Vec<usize> = (0..rows.len()).filter(|&at| !rows[at].calls.is_empty()).collect();
    // Callees come before their callers.
    let next = |rows: &[Row], left: &[usize]| {
        let waits = |at: usize| left.iter().any(|&of| rows[at].calls.contains(&rows[of].function));
        left.iter().position(|&at| !waits(at))
    };
    while let Some(first) = next(rows, &left) {
        let at = left.swap_remove(first);
        let mut row = rows[at].clone();
        let mut deepest = 0;
        for name in &row.calls {
            let found: Vec<&Row> = rows.iter().filter(|row| row.function == *name).collect();
            for claim in Claim::ALL {
                let is_proved = |row: &&Row| row.answers[claim as usize] == Answer::Proved;
                let holds = !found.is_empty() && found.iter().all(is_proved);
                let answer = &mut row.answers[claim as usize];
                if answer.holds() && !holds {
                    *answer = Answer::Open(format!("it calls {name}, which is not proved"));
                }
            }
            deepest = found.iter().filter_map(|row| row.stack).fold(deepest, u64::max);
        }
        row.stack = row.stack.filter(|_| row.holds(Claim::MemorySafe)).map(|own| own + deepest);
        rows[at] = row;
    }
    for at in left {
        rows[at].answers = open("its proof uses itself");
    }
}

/// Opens the specification of functions that apply others which are not proved. A proof that is for
/// some sizes is enough: applications of other sizes are refused.
pub fn by_applied(rows: &mut [Row]) {
    let holds = |answer: &Answer| matches!(answer, Answer::Proved | Answer::Sizes(_));
    let claims = [Claim::MemorySafe, Claim::Terminates, Claim::Computes];
    let is_known = |row: &&Row| claims.iter().all(|&claim| holds(&row.answers[claim as usize]));
    let known: BTreeSet<String> =
        rows.iter().filter(is_known).map(|row| row.function.clone()).collect();
    for row in rows {
        if let Some(name) = row.applies.iter().find(|name| !known.contains(*name)) {
            let answer = &mut row.answers[Claim::Computes as usize];
            *answer = Answer::Open(format!("it applies {name}, which is not proved"));
        }
    }
}

/// The callers of local functions, by the index of their rows: only of functions that nothing else
/// can reach.
pub type Callers = BTreeMap<usize, Vec<usize>>;

/// Answers claims about local functions by their callers. If some of them are not proved, a
/// function without a specification says which.
pub fn by_callers(rows: &mut [Row], callers: &Callers) {
    loop {
        let mut changed = false;
        for (&at, callers) in callers {
            for claim in Claim::ALL {
                let holds = |&caller: &usize| rows[caller].holds(claim);
                if !rows[at].holds(claim) && callers.iter().all(holds) {
                    rows[at].answers[claim as usize] = Answer::Callers;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (&at, callers) in callers {
        if !rows[at].specification.is_empty() {
            continue;
        }
        for claim in Claim::ALL {
            let is_open = |&&caller: &&usize| caller != at && !rows[caller].holds(claim);
            let open = callers.iter().find(is_open).map(|&caller| rows[caller].function.clone());
            if let (Answer::Open(_), Some(caller)) = (&rows[at].answers[claim as usize], open) {
                let reason = format!("it is not proved for its caller {caller}");
                rows[at].answers[claim as usize] = Answer::Open(reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(function: &str, proved: bool) -> Row {
        let found = Found::nothing("no");
        let answers =
            if proved { Claim::ALL.map(|_| Answer::Proved) } else { found.answers.clone() };
        Row::new(function.into(), false, 1, Found { answers, ..found })
    }

    /// f uses g, which uses h; i uses j, which is not proved; k uses none; l and m use each other.
    #[test]
    fn proofs_use_proofs_of_callees() {
        let rows = [("f", true), ("g", true), ("h", true), ("i", true), ("j", false), ("k", true)];
        let mut rows = rows.into_iter().chain([("l", true), ("m", true)]);
        let calls = ["g", "h", "", "j", "", "none", "m", "l"];
        let mut rows: Vec<Row> = calls
            .map(|callee| {
                let (function, proved) = rows.next().expect("a row for each");
                let calls = [callee.to_string()].into_iter().filter(|name| !name.is_empty());
                Row { calls: calls.collect(), stack: Some(8), ..row(function, proved) }
            })
            .to_vec();
        by_callees(&mut rows);
        let holds: Vec<bool> = rows.iter().map(Row::is_proved).collect();
        assert_eq!(holds, [true, true, true, false, false, false, false, false]);
        assert_eq!(rows[0].stack, Some(24));
        assert_eq!(rows[3].answers, open("it calls j, which is not proved"));
    }

    /// f and g apply h, which is proved for all sizes, and k, which is proved at some; i applies l,
    /// which is not proved.
    #[test]
    fn specifications_use_proofs_of_applied_functions() {
        let sizes = || Answer::Sizes("length 0 to 7".into());
        let computes =
            [("f", Answer::Proved), ("g", sizes()), ("h", Answer::Proved), ("i", sizes())];
        let applies = [&["h"][..], &["h", "k"], &[], &["l"], &[], &[]];
        let others = [("k", sizes()), ("l", Answer::Open("no".into()))];
        let mut rows: Vec<Row> = Vec::new();
        for ((name, answer), applies) in computes.into_iter().chain(others).zip(applies) {
            let mut row = row(name, true);
            row.answers[Claim::Computes as usize] = answer;
            row.applies = applies.iter().map(ToString::to_string).collect();
            rows.push(row);
        }
        let answers = |rows: &[Row]| -> Vec<Answer> {
            rows.iter().map(|row| row.answers[Claim::Computes as usize].clone()).collect()
        };
        let before = answers(&rows);
        by_applied(&mut rows);
        let after = answers(&rows);
        assert_eq!(after[..3], before[..3]);
        assert_eq!(after[3], Answer::Open("it applies l, which is not proved".into()));
        // Only sizes of which there is a proof are applied.
        rows[0].applies.push("k".into());
        by_applied(&mut rows);
        assert!(rows[0].holds(Claim::Computes));
    }

    /// The answers of several scenarios of one function.
    #[test]
    fn a_function_has_the_specifications_of_all_scenarios() {
        let mut found = row("f", true);
        let scenario = |sizes, proof| Found::of_scenario("f = g", sizes, proof);
        let mut both = Found { answers: found.answers.clone(), ..Found::nothing("") };
        both.answers[Claim::Computes as usize] = Answer::Open("none".into());
        both.add_scenario(&scenario("length 1", Ok(["g".to_string()].into())));
        both.add_scenario(&scenario("", Ok(BTreeSet::new())));
        assert_eq!(both.answers[4], Answer::Sizes("f = g, length 1".into()));
        assert_eq!(both.applies, ["g"]);
        both.add_scenario(&scenario("length 2", Err("byte 0".into())));
        assert_eq!(both.answers[4], Answer::Open("f = g: byte 0".into()));
        both.add_scenario(&scenario("length 3", Ok(BTreeSet::new())));
        found.answers = both.answers;
        assert!(!found.holds(Claim::Computes) && found.holds(Claim::MemorySafe));
    }

    /// f is proved, and calls g, which calls h; i calls h2 and is not proved; recursion is no proof.
    #[test]
    fn a_function_holds_if_all_callers_do() {
        let proved = [("f", true), ("g", false), ("h", false), ("i", false), ("h2", false)];
        let mut rows = proved.map(|(name, proved)| row(name, proved)).to_vec();
        rows.extend([row("r", false), row("s", false)]);
        let callers: Callers =
            [(1, vec![0]), (2, vec![1]), (4, vec![0, 3]), (5, vec![6]), (6, vec![5])].into();
        by_callers(&mut rows, &callers);
        let holds: Vec<bool> = rows.iter().map(Row::is_proved).collect();
        assert_eq!(holds, [true, true, true, false, false, false, false]);
        assert_eq!(rows[2].answers, Claim::ALL.map(|_| Answer::Callers));
        assert_eq!(rows[4].answers, open("it is not proved for its caller i"));
    }
}
