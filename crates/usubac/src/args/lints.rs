//! The flags that give levels to warnings.

use clap::Args;
use usuba::lint::{Group, Level, Levels};

/// Levels of lints and of other warnings.
#[derive(Args, Clone, Default, Debug)]
pub struct Lints {
    /// Do not show a warning, such as U1103
    #[arg(short = 'A', long, value_name = "CODE")]
    allow: Vec<Group>,
    /// Show a warning that is not shown otherwise, such as U1105 (also -W CODE)
    #[arg(long, value_name = "CODE")]
    warn: Vec<Group>,
    /// Make a warning an error; `warnings` are all that are shown
    #[arg(short = 'D', long, value_name = "CODE")]
    deny: Vec<Group>,
}

impl Lints {
    /// The levels that the flags give; `strict` is `-D warnings`.
    pub fn levels(&self, strict: bool) -> Levels {
        let mut levels = Levels::default();
        if strict {
            levels.set(Group::Warnings, Level::Deny);
        }
        let lists = [&self.allow, &self.warn, &self.deny];
        for (list, level) in lists.into_iter().zip([Level::Allow, Level::Warn, Level::Deny]) {
            list.iter().for_each(|group| levels.set(*group, level));
        }
        levels
    }
}
