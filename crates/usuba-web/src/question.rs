//! The questions that the page asks.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A question: its kind, and the facts that the kind needs.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub ask: Ask,
    /// The compilation that it is about.
    #[serde(default)]
    pub slot: usize,
    pub text: Option<Text>,
    pub settings: Option<Settings>,
    /// A place in the text.
    #[serde(default)]
    pub line: u32,
    #[serde(default)]
    pub column: u32,
    #[serde(default)]
    pub stage: usize,
    pub form: Option<Form>,
}

/// The kind of a question.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// Targets, processors, slicings, passes, words of the language.
    Catalogue,
    /// Findings, nodes, and the text in the house style.
    Check,
    /// Facts about the name at a place.
    Hover,
    /// Names that can stand at a place.
    Complete,
    /// Compiles a text by settings into a slot.
    Compile,
    /// The equations of a stage, compared with the stage before it.
    Stage,
    /// The C of a slot, its header, or its assembly language.
    Output,
    /// Live values along the schedule.
    Pressure,
    /// Instructions and ports.
    Ports,
    /// The tables of the program as circuits.
    Circuits,
    /// The next claim of the proof.
    Prove,
}

impl Question {
    pub fn text(&self) -> Result<&Text, String> {
        self.text.as_ref().ok_or("the question has no text".to_string())
    }

    pub fn settings(&self) -> Result<&Settings, String> {
        self.settings.as_ref().ok_or("the question has no settings".to_string())
    }
}

/// A program: texts of files by their names, and the name of the one to compile.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Text {
    pub root: String,
    pub files: BTreeMap<String, String>,
}

/// The options of a compilation, by the names that the command line has for them.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub slicing: String,
    pub target: String,
    #[serde(default = "generic")]
    pub cpu: String,
    /// The word size of an entry that leaves it open.
    pub word: Option<u8>,
    pub entry: Option<String>,
    /// The optimisation level; 2 if absent.
    pub level: Option<u8>,
    /// Instances of one call; the model decides if absent.
    pub interleave: Option<u32>,
    /// Passes that do not run.
    #[serde(default)]
    pub skip: Vec<String>,
}

fn generic() -> String {
    "generic".to_string()
}

/// A form of the output.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    C,
    Header,
    Assembly,
}
