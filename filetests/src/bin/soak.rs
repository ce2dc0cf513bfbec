//! The fuzz targets without a fuzzer: `soak SECONDS [FIRST_SEED]`.
//!
//! Takes one seed after the other; runs its program in every way that this process has, then
//! damages the text in a few places and asks for an answer without a panic.

use std::time::{Duration, Instant};

use filetests::random::{self, Subject};
use usuba_gen::Choices;

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>().expect("a number"));
    let (seconds, first) = (args.next().unwrap_or(60), args.next().unwrap_or(1_000_000));
    let start = Instant::now();
    let mut seed = first;
    while start.elapsed() < Duration::from_secs(seconds) {
        let text = random::text(seed);
        if let Err(failure) = Subject::new(&text, seed) {
            eprintln!("seed {seed}: {failure}\n{text}");
            std::process::exit(1);
        }
        let mut choices = Choices::from_seed(seed);
        for _ in 0..20 {
            let damaged = damage(&text, &mut choices);
            if std::panic::catch_unwind(|| random::any_text(&damaged)).is_err() {
                eprintln!("seed {seed}, damaged:\n{damaged}");
                std::process::exit(1);
            }
        }
        seed += 1;
    }
    println!("{} programs and 20 damaged texts of each in {seconds} s", seed - first);
}

/// Words exchanged, doubled, left out, or replaced by others of the same text.
fn damage(text: &str, choices: &mut Choices<'_>) -> String {
    let mut words: Vec<&str> = text
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\'')
        .collect();
    for _ in 0..choices.between(1, 3) {
        let (at, from) = (choices.below(words.len()), choices.below(words.len()));
        match choices.below(4) {
            0 => words[at] = words[from],
            1 => words.swap(at, from),
            2 => words.insert(at, words[from]),
            _ => {
                words.remove(at);
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}
