//! Simulated annealing of known circuits: the origin of some of `known/*.txt`.
//!
//! ```text
//! circuit_polish two|lut3 STEPS SEED FILE [WORD]     entries whose comment has WORD
//! ```
//!
//! Takes every entry that has no three-input gates through `usuba_circuit::polished`. Prints an
//! entry for each profile (`two` means both that have two inputs), with the key left zero.

use usuba_circuit::{Profile, parse, polished, simulate};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, metric, steps, seed, file, words @ ..] = &args[..] else {
        panic!("usage: circuit_polish two|lut3 STEPS SEED FILE [WORD]");
    };
    let profiles: &[Profile] = match metric.as_str() {
        "lut3" => &[Profile::Lut3],
        _ => &[Profile::Basic, Profile::Andn],
    };
    let steps = steps.parse().expect("STEPS is a number");
    let seed = seed.parse().expect("SEED is a number");
    let text = std::fs::read_to_string(file).expect("FILE can be read");
    for block in text.split("\n\n") {
        let comment: String = block.lines().filter(|line| line.starts_with('#')).collect();
        let body: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
        let Some(circuit) = body.get(1..).and_then(|lines| parse(&lines.join("\n"))) else {
            continue;
        };
        if !words.iter().all(|word| comment.contains(word)) {
            continue;
        }
        for (profile, found) in profiles.iter().zip(polished(&circuit, profiles, steps, seed)) {
            assert_eq!(simulate(&found), simulate(&circuit), "a step changed the function");
            let label = format!("{profile:?}").to_lowercase();
            let gates = found.cost(*profile).expect("gates of the profile");
            eprintln!("{comment} -> {label} {gates} gates, {} live", found.live());
            println!("{comment}; polished, {gates} gates\n{:016x} {label}\n{found}\n", 0);
        }
    }
}
