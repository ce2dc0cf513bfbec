//! The files that the program contains, so that it runs without a checkout.
//!
//! ```text
//! data/ciphers            → ciphers/            programs, descriptions, vectors, measured costs
//! data/arithmetic         → arithmetic/         programs with contracts
//! data/bench/experiments  → bench/experiments/
//! data/bench/published    → bench/published/     numbers of other publications
//! data/include            → include/            headers of `--abi usubac`
//! data/docs/errors        → docs/errors/        the error index
//! ```
//!
//! The folders are symbolic links, which `cargo package` follows. `build.rs` makes the list.

/// Path below `data` and text of each file, sorted by path.
pub static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The text of the file at `path`.
pub fn find(path: &str) -> Option<&'static str> {
    let at = FILES.binary_search_by_key(&path, |(name, _)| name).ok()?;
    Some(FILES[at].1)
}

/// The files below `folder`, sorted; their paths begin with the name of the folder.
pub fn below(folder: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let start = format!("{folder}/");
    let first = FILES.partition_point(|(name, _)| *name < &*start);
    FILES[first..].iter().copied().take_while(move |(name, _)| name.starts_with(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_alone_and_by_their_folder() {
        assert!(FILES.is_sorted_by(|a, b| a.0 < b.0));
        let file = "ciphers/chacha20/cipher.toml";
        let text = find(file).expect("it is built in");
        assert!(below("ciphers/chacha20").any(|found| found == (file, text)));
        assert_eq!(find("ciphers/chacha20"), None);
        assert_eq!(below("ciphers/chacha2").count(), 0);
        assert!(FILES.iter().all(|(name, _)| !name.ends_with(".rs")));
    }
}
