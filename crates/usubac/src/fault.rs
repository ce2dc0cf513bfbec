//! Faults of usubac: the message of a panic.

use std::sync::Mutex;

/// The current stage, for the message of a fault.
static STAGE: Mutex<&str> = Mutex::new("reading the command line");

/// Sets the current stage, such as "slicing the program".
pub fn stage(name: &'static str) {
    // A poisoned lock still holds a name; a second fault must not hide the first one.
    *STAGE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = name;
}

/// Makes a panic say that it is a bug. The process then ends with status 101.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let what = info.payload();
        let what = what
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| what.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
        let stage = *STAGE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let command: Vec<String> =
            std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
        crate::output::to_stderr(&message(what, place.as_deref(), stage, &command));
    }));
}

fn message(what: &str, place: Option<&str>, stage: &str, command: &[String]) -> String {
    format!(
        "usubac: internal fault while {stage}: {what} ({}, version {})\n\
         This is a bug in usubac, not in your program. No output was written.\n\
         To save the case, keep the .ua file, everything that it includes, and this command:\n  \
         {}\n",
        place.unwrap_or("unknown place"),
        env!("CARGO_PKG_VERSION"),
        command.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_that_it_is_a_bug_and_what_to_keep() {
        let command = ["usubac".to_string(), "a.ua".to_string()];
        let text = message("index out of bounds", Some("x.rs:3"), "slicing", &command);
        for part in ["while slicing", "x.rs:3", "bug in usubac", "usubac a.ua", "save the case"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
