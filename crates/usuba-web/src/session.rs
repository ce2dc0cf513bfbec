//! The state between questions, and the dispatch of a question.

use serde::Serialize;

use crate::compilation::Compilation;
use crate::question::{Ask, Question};
use crate::{circuits, findings, output, settings};

/// The number of compilations that are kept.
const SLOTS: usize = 2;

/// The compilations of a page.
#[derive(Default)]
pub struct Session {
    slots: [Option<Compilation>; SLOTS],
}

/// The reason why a question has no answer, for people.
pub type Refusal = String;

impl Session {
    /// Answers a question: `{"answer":…}` or `{"refusal":"…"}`.
    pub fn answer(&mut self, question: &[u8]) -> String {
        let answer = serde_json::from_slice(question)
            .map_err(|why| format!("the question is not understood: {why}"))
            .and_then(|question| self.about(question));
        match answer {
            Ok(answer) => format!("{{\"answer\":{answer}}}"),
            Err(refusal) => format!("{{\"refusal\":{}}}", shown(refusal).unwrap_or_default()),
        }
    }

    /// The answer in JSON.
    fn about(&mut self, question: Question) -> Result<String, Refusal> {
        let Question { ask, line, column, .. } = question;
        match ask {
            Ask::Catalogue => shown(settings::catalogue()),
            Ask::Check => shown(findings::check(question.text()?)?),
            Ask::Hover => shown(findings::hover(question.text()?, line, column)?),
            Ask::Complete => shown(findings::complete(question.text()?, line, column)?),
            Ask::Compile => {
                let slot = self.slots.get_mut(question.slot).ok_or("there is no such slot")?;
                *slot = None;
                match Compilation::new(question.text()?, question.settings()?)? {
                    Ok(made) => shown(slot.insert(made).summary()),
                    Err(findings) => shown(findings::Refused { findings }),
                }
            }
            Ask::Stage => shown(self.slot(question.slot)?.stage(question.stage)?),
            Ask::Output => {
                let form = question.form.ok_or("the question has no form of the output")?;
                shown(output::output(self.slot(question.slot)?, form)?)
            }
            Ask::Pressure => shown(self.slot(question.slot)?.pressure()),
            Ask::Ports => shown(self.slot(question.slot)?.ports()),
            Ask::Circuits => shown(circuits::circuits(self.slot(question.slot)?)),
            Ask::Prove => shown(self.slot(question.slot)?.prove()),
        }
    }

    fn slot(&mut self, slot: usize) -> Result<&mut Compilation, Refusal> {
        let compilation = self.slots.get_mut(slot).and_then(Option::as_mut);
        compilation.ok_or("nothing is compiled there".to_string())
    }
}

fn shown(answer: impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(&answer).map_err(|why| why.to_string())
}
