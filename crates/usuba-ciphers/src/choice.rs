//! Parts of a cipher folder: some of its functions, with everything that belongs to them.
//!
//! ```text
//! needs = ["sha2:sha512"]              sha512, its compression function, and no other hash function
//! usubac dist aes --function aes128    both directions of AES-128 in every slicing
//! ```

use serde::Deserialize;
use usuba::names::closest;

use super::{Cipher, Function};

/// A neighbouring folder whose functions C calls: all of it, or one function as `folder:function`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Need {
    pub folder: String,
    pub function: Option<String>,
}

impl Need {
    /// Whether it is a function of this name, or a whole folder, which may have it.
    pub fn has(&self, function: &str) -> bool {
        self.function.as_ref().is_none_or(|own| own == function)
    }
}

impl From<String> for Need {
    fn from(text: String) -> Need {
        match text.split_once(':') {
            Some((folder, function)) => {
                Need { folder: folder.to_string(), function: Some(function.to_string()) }
            }
            None => Need { folder: text, function: None },
        }
    }
}

impl Cipher {
    /// The folder with the functions of these names: functions with or without their direction,
    /// keystreams, hash functions, authenticated encryption, and signatures. The inverse, all slicings, and the
    /// functions that a chosen one is made of stay with it.
    ///
    /// # Errors
    /// There is no function of a name; the message lists similar or all names.
    pub fn only(&self, names: &[String]) -> Result<Cipher, String> {
        let is_named = |name: &str| names.iter().any(|wanted| wanted == name);
        for name in names {
            if !self.names().any(|known| known == name) {
                return Err(self.unknown(name));
            }
        }
        let parts = |hash: &super::Hash| is_named(&hash.name).then(|| hash.chain.clone());
        let hashed = self.hashes.iter().filter_map(parts);
        let streams = self.streams.iter().filter(|stream| is_named(&stream.name));
        let streamed = streams.flat_map(|stream| [stream.first.clone(), stream.then.clone()]);
        let signs = self.signs.iter().filter(|sign| is_named(&sign.name));
        let signed = signs.clone().map(|sign| sign.chain.clone());
        let inner: Vec<&String> = (self.seals.iter())
            .filter(|seal| is_named(&seal.name))
            .filter_map(|seal| seal.inner.as_ref())
            .collect();
        let is_chosen_seal = |name: &String| is_named(name) || inner.contains(&name);
        let seals = self.seals.iter().filter(|seal| is_chosen_seal(&seal.name));
        let sealed = seals.flat_map(|seal| seal.functions());
        let made: Vec<String> =
            hashed.chain(streamed).chain(signed).chain(sealed.cloned()).collect();
        let is_chosen = |function: &Function| {
            is_named(&function.name) || is_named(function.stem()) || made.contains(&function.name)
        };
        let chosen: Vec<&Function> = self.functions.iter().filter(|f| is_chosen(f)).collect();
        let belongs = |function: &Function| {
            let is_same =
                |one: &&Function| one.vectors == function.vectors || one.stem() == function.stem();
            chosen.iter().any(is_same)
        };
        let mut cipher = self.clone();
        cipher.functions.retain(belongs);
        let is_there = |name: &String| cipher.functions.iter().any(|own| own.name == *name);
        cipher.streams.retain(|stream| is_there(&stream.first) && is_there(&stream.then));
        cipher.hashes.retain(|hash| is_named(&hash.name) || is_named(&hash.chain));
        cipher.seals.retain(|seal| is_chosen_seal(&seal.name));
        cipher.signs.retain(|sign| is_named(&sign.name));
        cipher.macs.retain(|mac| is_named(&mac.name));
        // A parameter set has hash functions of its own, and a mode a cipher.
        let called = |name: &str| {
            let ciphers = cipher.seals.iter().flat_map(|seal| [&seal.first, &seal.stream]);
            cipher.signs.iter().any(|sign| sign.functions().contains(&name))
                || ciphers.flatten().any(|stream| stream == name)
                || cipher.macs.iter().any(|mac| mac.cipher == name)
        };
        let is_used = |need: &Need| need.function.as_deref().is_none_or(called);
        if !(self.signs.is_empty() && self.seals.is_empty() && self.macs.is_empty()) {
            cipher.needs.retain(is_used);
        }
        Ok(cipher)
    }

    fn unknown(&self, name: &str) -> String {
        let folder = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let mut known: Vec<&str> = self.names().collect();
        known.dedup();
        let help = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "its functions come together".to_string(),
            None => format!("there are {}", known.join(", ")),
        };
        format!("`{folder}` has no function {name:?}; help: {help}")
    }
}

impl Function {
    /// Its name without a direction.
    pub fn stem(&self) -> &str {
        let ends = ["_encrypt", "_decrypt", "_block"];
        ends.iter().find_map(|end| self.name.strip_suffix(end)).unwrap_or(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn cipher(name: &str) -> Cipher {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        crate::read(&root.join(name)).expect("a cipher of the library")
    }

    fn names(cipher: &Cipher) -> Vec<&str> {
        cipher.names().collect()
    }

    #[test]
    fn every_name_chooses_its_parts_and_no_other_vectors() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        for cipher in crate::find(&root).expect("the library") {
            for name in cipher.names() {
                let part = cipher.only(&[name.to_string()]).expect("a name of the folder");
                assert!(names(&part).contains(&name), "{name}");
                let all: Vec<&Function> = cipher.functions.iter().collect();
                for function in all {
                    let belongs = part.functions.iter().any(|f| f.vectors == function.vectors);
                    assert_eq!(belongs, part.functions.contains(function), "{name}");
                }
                assert_eq!(part.only(&[name.to_string()]).as_ref(), Ok(&part), "{name}");
            }
        }
    }

    #[test]
    fn hash_functions_come_alone_and_keystreams_with_both_functions() {
        let part = cipher("sha2").only(&["sha512".into()]).expect("it is there");
        assert_eq!(names(&part), ["sha512_compress", "sha512_compress", "sha512"]);
        let all = cipher("chacha20");
        let [stream] = &all.streams[..] else { panic!("it has one keystream of two functions") };
        let part = all.only(std::slice::from_ref(&stream.name)).expect("it is there");
        assert_eq!(part.streams, all.streams);
        for function in &all.functions {
            let uses = [&stream.first, &stream.then].contains(&&function.name);
            assert_eq!(part.functions.contains(function), uses, "{}", function.name);
        }
    }

    #[test]
    fn wrong_names_have_a_hint() {
        let error =
            |name: &str, part: &str| cipher(name).only(&[part.into()]).expect_err("no name");
        assert_eq!(
            error("aes", "aes129"),
            "`aes` has no function \"aes129\"; help: did you mean `aes128`?"
        );
        assert!(error("gimli", "zz").ends_with("; help: there are gimli"));
        assert!(error("curve25519", "x25519").ends_with("; help: its functions come together"));
    }
}
