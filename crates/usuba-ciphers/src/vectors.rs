//! Files of test vectors.
//!
//! ```text
//! # source: the standard
//! key = 00ff
//! in = 01
//! out = 02
//! ```

use usuba::names::closest;

use super::values::hex;
use super::{Cipher, Direction, Function, Hash, Seal, SealMode, Sign, files};

/// One test vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector {
    /// The line of the file where it begins.
    pub line: usize,
    /// Empty for permutations.
    pub key: Vec<u8>,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

impl Vector {
    /// Checks the bytes of key, input and output.
    ///
    /// # Errors
    /// One has another length; the message names it.
    pub fn check_sizes(&self, expected: [usize; 3]) -> Result<(), String> {
        let found = [("key", &self.key), ("in", &self.input), ("out", &self.output)];
        match found.into_iter().zip(expected).find(|((_, bytes), size)| bytes.len() != *size) {
            Some((("key", bytes), size)) if bytes.is_empty() => {
                Err(format!("the vector has no `key`, expected `key = ` and {size} bytes"))
            }
            Some((("key", _), 0)) => {
                Err("the vector has a `key`, and the function has none; help: remove the line, or \
                     write `key = { param = …, bytes = … }` in cipher.toml"
                    .to_string())
            }
            Some(((name, bytes), size)) => {
                Err(format!("`{name}` has {} bytes, expected {size}", bytes.len()))
            }
            None => Ok(()),
        }
    }
}

/// One test vector of a hash function. Absent fields are empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct HashVector {
    /// The line of the file where it begins.
    pub line: usize,
    pub key: Vec<u8>,
    /// The bytes that are hashed between key and message: personalisation, public key, identifier
    /// of a derived key, nonce.
    pub arguments: [Vec<u8>; 4],
    /// Leaf size, fan-out and height of a hash tree; zeros without one.
    pub tree: [u8; 3],
    pub input: Vec<u8>,
    /// Bits of the last byte of `input` that belong to the message, the most significant first; 0
    /// for all of them.
    pub bits: u8,
    /// The function name and the customization string of NIST SP 800-185 and RFC 9861.
    pub name: Vec<u8>,
    pub custom: Vec<u8>,
    /// The domain separation byte of TurboSHAKE; 0 if there is none.
    pub domain: u8,
    /// Whether the length of the output is no part of the input of KMAC.
    pub xof: bool,
    pub output: Vec<u8>,
}

impl HashVector {
    /// The parameters as `reference.rs` takes them in the place of a key: bytes of the output in
    /// 32 bits, little-endian; `bits`; `tree`; key, arguments, name and
    /// customization string, each behind its length in 32 bits; `domain` and `xof`.
    pub fn parameters(&self) -> Vec<u8> {
        let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
        let mut all = length(&self.output).to_vec();
        all.push(self.bits);
        all.extend(self.tree);
        let fields = [&self.key].into_iter().chain(&self.arguments);
        for field in fields.chain([&self.name, &self.custom]) {
            all.extend(length(field));
            all.extend(field);
        }
        all.extend([self.domain, u8::from(self.xof)]);
        all
    }
}

/// One test vector of authenticated encryption. Absent fields are empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SealVector {
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    /// The associated data, authenticated and not encrypted.
    pub data: Vec<u8>,
    pub input: Vec<u8>,
    /// Ciphertext and tag.
    pub output: Vec<u8>,
}

impl SealVector {
    /// The ciphertext, and the tag of `tag` bytes.
    pub fn apart(&self, mode: SealMode, tag: usize) -> (&[u8], &[u8]) {
        match mode.before() {
            0 => self.output.split_at(self.output.len() - tag),
            before => (&self.output[before..], &self.output[..before]),
        }
    }
}

/// One test vector of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignVector {
    /// The random bytes of the keys: SK.seed, SK.prf and PK.seed.
    pub seed: Vec<u8>,
    /// PK.seed and PK.root.
    pub public_key: Vec<u8>,
    /// Nothing in vectors of keys alone.
    pub signed: Option<Signed>,
}

/// A message with the SHA-256 of its signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed {
    /// `None` for the internal function.
    pub context: Option<Vec<u8>>,
    /// The number of the hash function whose hash the message is.
    pub prehash: Option<u8>,
    pub message: Vec<u8>,
    /// Empty for the deterministic variant.
    pub random: Vec<u8>,
    pub digest: Vec<u8>,
}

/// The fields of a block of lines, in the order of their names.
type Block = Vec<Option<Vec<u8>>>;

/// Blocks of lines `name = hex`, separated by empty lines, each with the number of its first field's line;
/// `#` begins a comment line. `ptn(n)` is n bytes of the pattern of RFC 9861, section 5.
fn blocks(text: &str, names: &[&str]) -> Result<Vec<(usize, Block)>, String> {
    let mut blocks = Vec::new();
    let expected = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().map(|(number, line)| (number + 1, line.trim())).collect();
    for block in lines.split(|(_, line)| line.is_empty()) {
        let mut fields: Block = vec![None; names.len()];
        for &(number, line) in block.iter().filter(|(_, line)| !line.starts_with('#')) {
            let (name, value) = line.split_once('=').ok_or_else(|| {
                let found = shown(line);
                format!("{number}: found {found}, expected a field such as `{} = 00ff`", names[0])
            })?;
            let name = name.trim();
            let field = names.iter().position(|field| *field == name).ok_or_else(|| {
                let near = closest(name, names.iter().copied());
                let help = near.map(|near| format!("; help: did you mean `{near}`?"));
                let expected = expected();
                let found = shown(name);
                format!("{number}: found the field {found}, expected one of {expected}")
                    + &help.unwrap_or_default()
            })?;
            let value = value.trim();
            let bytes = pattern(value).or_else(|| hex(value)).ok_or_else(|| {
                match value.find(|c: char| !c.is_ascii_hexdigit()) {
                    Some(at) => {
                        let odd = shown(&value[at..].chars().take(1).collect::<String>());
                        format!(
                            "{number}: found {odd} in `{name}`, expected hexadecimal digits alone"
                        )
                    }
                    None => format!(
                        "{number}: `{name}` has {} digits, expected two for each byte",
                        value.len()
                    ),
                }
            })?;
            if fields[field].replace(bytes).is_some() {
                return Err(format!(
                    "{number}: `{name}` twice in one vector; help: an empty line separates vectors"
                ));
            }
        }
        let first = block.iter().find(|(_, line)| !line.starts_with('#'));
        if let Some((number, _)) = first {
            blocks.push((*number, fields));
        }
    }
    Ok(blocks)
}

/// The beginning of a text in quotes, without control characters.
fn shown(text: &str) -> String {
    let begin: String = text.chars().take(40).collect();
    let more = if begin.len() < text.len() { "…" } else { "" };
    format!("`{}{more}`", begin.escape_debug())
}

/// The error for a block without one of the fields that all vectors have.
fn missing(line: usize, fields: &[(&str, bool)]) -> String {
    let lost = fields.iter().find(|(_, there)| !there).map_or("out", |(name, _)| name);
    format!("{line}: the vector has no `{lost}`")
}

/// Blocks of `key = hex`, `in = hex`, `out = hex`, separated by empty lines; `#` begins a comment
/// line.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn parse(text: &str) -> Result<Vec<Vector>, String> {
    let vector = |(line, mut fields): (usize, Block)| match &mut fields[..] {
        [key, Some(input), Some(output)] => Ok(Vector {
            line,
            key: key.take().unwrap_or_default(),
            input: std::mem::take(input),
            output: std::mem::take(output),
        }),
        all => Err(missing(line, &[("in", all[1].is_some()), ("out", all[2].is_some())])),
    };
    blocks(text, &["key", "in", "out"])?.into_iter().map(vector).collect()
}

/// The fields of [`HashVector`]; `tree` has three bytes, `bits`, `domain` and `xof` have one.
const HASH: [&str; 13] = [
    "key",
    "personalization",
    "public_key",
    "identifier",
    "nonce",
    "tree",
    "name",
    "custom",
    "domain",
    "xof",
    "in",
    "bits",
    "out",
];

/// As [`parse`], of a hash function.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn hashes(text: &str) -> Result<Vec<HashVector>, String> {
    let vector = |(line, fields): (usize, Block)| {
        let there = [("in", fields[10].is_some()), ("out", fields[12].is_some())];
        let Ok([key, a, b, c, d, tree, name, custom, domain, xof, Some(input), bits, Some(output)]) =
            <[_; 13]>::try_from(fields)
        else {
            return Err(missing(line, &there));
        };
        let wrong = |what: &str| {
            let bytes = if what == "tree" { "3 bytes" } else { "1 byte" };
            format!("{line}: `{what}` has another length, expected {bytes}")
        };
        let byte = |what: &str, field: Option<Vec<u8>>| {
            let [byte] = <[u8; 1]>::try_from(field.unwrap_or(vec![0])).map_err(|_| wrong(what))?;
            Ok::<u8, String>(byte)
        };
        let arguments = [a, b, c, d].map(Option::unwrap_or_default);
        let tree = <[u8; 3]>::try_from(tree.unwrap_or(vec![0; 3])).map_err(|_| wrong("tree"))?;
        Ok(HashVector {
            line,
            key: key.unwrap_or_default(),
            arguments,
            tree,
            input,
            bits: byte("bits", bits)?,
            name: name.unwrap_or_default(),
            custom: custom.unwrap_or_default(),
            domain: byte("domain", domain)?,
            xof: byte("xof", xof)? != 0,
            output,
        })
    };
    blocks(text, &HASH)?.into_iter().map(vector).collect()
}

/// As [`parse`], of authenticated encryption.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn seals(text: &str, tag: usize) -> Result<Vec<SealVector>, String> {
    let names = ["key", "nonce", "data", "in", "out"];
    let vector = |(line, fields): (usize, Block)| {
        let there = [0, 1, 3, 4].map(|at: usize| (names[at], fields[at].is_some()));
        match <[_; 5]>::try_from(fields) {
            Ok([Some(key), Some(nonce), data, Some(input), Some(output)]) => {
                let (found, expected) = (output.len(), input.len() + tag);
                if found != expected {
                    return Err(format!("{line}: `out` has {found} bytes, expected {expected}"));
                }
                Ok(SealVector { key, nonce, data: data.unwrap_or_default(), input, output })
            }
            _ => Err(missing(line, &there)),
        }
    };
    blocks(text, &names)?.into_iter().map(vector).collect()
}

/// As [`parse`], of signatures: `out` is the SHA-256 of a signature, and vectors of keys alone have no
/// `in`.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn signs(text: &str) -> Result<Vec<SignVector>, String> {
    let names = ["seed", "public_key", "context", "prehash", "random", "in", "out"];
    let vector = |(line, fields): (usize, Block)| {
        let there = [0, 1].map(|at: usize| (names[at], fields[at].is_some()));
        let Ok([Some(seed), Some(public_key), context, prehash, random, input, output]) =
            <[_; 7]>::try_from(fields)
        else {
            return Err(missing(line, &there));
        };
        let prehash = match prehash.as_deref() {
            None => None,
            Some([number]) => Some(*number),
            Some(_) => {
                return Err(format!("{line}: `prehash` has another length, expected 1 byte"));
            }
        };
        let signed = match (input, output) {
            (Some(message), Some(digest)) => {
                let random = random.unwrap_or_default();
                Some(Signed { context, prehash, message, random, digest })
            }
            (None, None) => None,
            (input, _) => {
                return Err(missing(line, &[("in", input.is_some()), ("out", false)]));
            }
        };
        Ok(SignVector { seed, public_key, signed })
    };
    blocks(text, &names)?.into_iter().map(vector).collect()
}

/// Bytes as pairs of digits.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The most bytes of a pattern.
const PATTERN: usize = 1 << 20;

/// The bytes of `ptn(n)`: byte i is i mod 251.
fn pattern(text: &str) -> Option<Vec<u8>> {
    let length = text.strip_prefix("ptn(")?.strip_suffix(')')?.parse().ok()?;
    (length <= PATTERN).then(|| (0..length).map(|i| (i % 251) as u8).collect())
}

impl Cipher {
    /// The test vectors of `function`, in its own direction.
    ///
    /// # Errors
    /// The file cannot be read, a line is malformed, or there are no vectors in it.
    pub fn vectors(&self, function: &Function) -> Result<Vec<Vector>, String> {
        let mut vectors = self.answers(&function.vectors)?;
        let path = self.folder.join(&function.vectors);
        if function.direction == Direction::Decrypt {
            for Vector { line, input, output, .. } in &mut vectors {
                let before = input.len().checked_sub(output.len());
                let before = before.ok_or_else(|| {
                    format!("{}:{line}: `out` is longer than `in`", path.display())
                })?;
                input[before..].swap_with_slice(output);
            }
        }
        Ok(vectors)
    }

    /// The test vectors of a file of the folder, unchanged.
    ///
    /// # Errors
    /// The file cannot be read, a line is malformed, or there are no vectors in it.
    pub fn answers(&self, file: &str) -> Result<Vec<Vector>, String> {
        self.read_vectors(file, parse)
    }

    /// The test vectors of a file of the folder, as `parse` reads them.
    fn read_vectors<T>(
        &self,
        file: &str,
        parse: impl Fn(&str) -> Result<Vec<T>, String>,
    ) -> Result<Vec<T>, String> {
        let path = self.folder.join(file);
        let text = files::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        match parse(&text).map_err(|place| format!("{}:{place}", path.display()))? {
            vectors if vectors.is_empty() => {
                Err(format!("{}: there are no vectors in it", path.display()))
            }
            vectors => Ok(vectors),
        }
    }

    /// The test vectors of a hash function.
    ///
    /// # Errors
    /// As [`Cipher::answers`].
    pub fn hashes_of(&self, hash: &Hash) -> Result<Vec<HashVector>, String> {
        self.read_vectors(&hash.vectors, hashes)
    }

    /// The test vectors of authenticated encryption.
    ///
    /// # Errors
    /// As [`Cipher::answers`].
    pub fn seals_of(&self, seal: &Seal) -> Result<Vec<SealVector>, String> {
        self.read_vectors(&seal.vectors, |text| seals(text, seal.tag_bytes()))
    }

    /// The test vectors of a signature.
    ///
    /// # Errors
    /// As [`Cipher::answers`].
    pub fn signs_of(&self, sign: &Sign) -> Result<Vec<SignVector>, String> {
        self.read_vectors(&sign.vectors, signs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_blocks_of_fields() {
        let text = "# source: nobody\nkey = 00ff\nin = 01\nout = 02\n\n\nin = 03\nout = 04\n";
        let vector = |line, key: &[u8], input, output| Vector {
            line,
            key: key.to_vec(),
            input: vec![input],
            output: vec![output],
        };
        assert_eq!(parse(text), Ok(vec![vector(2, &[0, 255], 1, 2), vector(7, &[], 3, 4)]));
    }

    #[test]
    fn vectors_of_hashes_have_more_fields() {
        let text = "key = 07\ntree = 010203\nnonce = 0908\nin = 80\nbits = 01\nout = ff\n";
        let none = Vec::new;
        let vector = HashVector {
            line: 1,
            key: vec![7],
            arguments: [none(), none(), none(), vec![9, 8]],
            tree: [1, 2, 3],
            input: vec![0x80],
            bits: 1,
            output: vec![0xff],
            ..HashVector::default()
        };
        assert_eq!(hashes(text), Ok(vec![vector]));
        let text = "key = 07\nname = 41\ncustom = ptn(3)\ndomain = 0b\nxof = 01\nin = ptn(252)\n\
                    out = ff\n";
        let vector = HashVector {
            line: 1,
            key: vec![7],
            name: b"A".to_vec(),
            custom: vec![0, 1, 2],
            domain: 0x0b,
            xof: true,
            input: (0..=250).chain([0]).collect(),
            output: vec![0xff],
            ..HashVector::default()
        };
        assert_eq!(hashes(text), Ok(vec![vector]));
        let message = |text: &str| hashes(text).expect_err("it is malformed");
        let length = "1: `tree` has another length, expected 3 bytes";
        assert_eq!(message("tree = 01\nin =\nout = 00"), length);
        assert_eq!(message("nonce = 01"), "1: the vector has no `in`");
    }

    #[test]
    fn vectors_of_seals_have_their_tag_on_either_side() {
        let text = |out: &str| format!("key = 00\nnonce = 01\nin = 02\nout = {out}\n");
        let out = "ff".repeat(16);
        let [vector] = &seals(&text(&format!("03{out}")), 16).expect("it is one")[..] else {
            panic!("it is one");
        };
        assert_eq!(vector.apart(SealMode::Rfc8439, 16), (&[3][..], &[255; 16][..]));
        let tag = [&[3][..], &[255; 15]].concat();
        assert_eq!(vector.apart(SealMode::Box, 16), (&[255][..], &tag[..]));
        let short = seals(&text(&out), 16).expect_err("a byte is missing");
        assert_eq!(short, "1: `out` has 16 bytes, expected 17");
        let lost = seals("nonce = 01", 16).expect_err("fields are missing");
        assert_eq!(lost, "1: the vector has no `key`");
    }

    #[test]
    fn malformed_vectors_are_refused_with_their_line() {
        let message = |text: &str| parse(text).expect_err("it is malformed");
        assert_eq!(message("in = 0\nout = 00"), "1: `in` has 1 digits, expected two for each byte");
        let digit = "1: found `é` in `in`, expected hexadecimal digits alone";
        assert_eq!(message("in = 0é\nout = 00"), digit);
        assert_eq!(message("\nin = 00"), "2: the vector has no `out`");
        assert_eq!(message("\n# no\nkey = 00\nout = 01"), "3: the vector has no `in`");
        let twice = "2: `in` twice in one vector; help: an empty line separates vectors";
        assert_eq!(message("in = 00\nin = 00\nout = 00"), twice);
        let field = "1: found the field `kez`, expected one of `key`, `in`, `out`; help: did you \
                     mean `key`?";
        assert_eq!(message("kez = 00"), field);
        let line = "1: found `nonsense`, expected a field such as `key = 00ff`";
        assert_eq!(message("nonsense"), line);
    }
}
