//! The options that give levels to warnings.

use clap::Args;
use usuba::lint::{Group, Level, Levels};

use super::common::DIAGNOSTICS;

/// Levels of lints and of other warnings.
#[derive(Args, Clone, Default, Debug)]
pub struct Lints {
    /// Do not show a warning, such as U1103
    #[arg(short = 'A', long, value_name = "CODE", help_heading = DIAGNOSTICS)]
    allow: Vec<Group>,
    /// Show a warning that is not shown otherwise, such as U1105 (also -W CODE)
    #[arg(long, value_name = "CODE", help_heading = DIAGNOSTICS)]
    warn: Vec<Group>,
    /// Make a warning an error; `warnings` are all that are shown
    #[arg(short = 'D', long, value_name = "CODE", help_heading = DIAGNOSTICS)]
    deny: Vec<Group>,
}

impl Lints {
    /// The levels that the options give.
    pub fn levels(&self) -> Levels {
        let mut levels = Levels::default();
        let lists = [&self.allow, &self.warn, &self.deny];
        for (list, level) in lists.into_iter().zip([Level::Allow, Level::Warn, Level::Deny]) {
            list.iter().for_each(|group| levels.set(*group, level));
        }
        levels
    }

    /// Whether all warnings are errors.
    pub fn denies_all(&self) -> bool {
        self.deny.contains(&Group::Warnings)
    }
}
