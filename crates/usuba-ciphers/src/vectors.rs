//! Files of test vectors.
//!
//! ```text
//! # source: the standard
//! key = 00ff
//! in = 01
//! out = 02
//! ```

use super::SealMode;

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
    pub output: Vec<u8>,
}

impl HashVector {
    /// The parameters as `reference.rs` takes them in the place of a key: bytes of the output in
    /// 32 bits, little-endian; `bits`; `tree`; key and arguments, each behind its length in 32 bits.
    pub fn parameters(&self) -> Vec<u8> {
        let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
        let mut all = length(&self.output).to_vec();
        all.push(self.bits);
        all.extend(self.tree);
        for field in [&self.key].into_iter().chain(&self.arguments) {
            all.extend(length(field));
            all.extend(field);
        }
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
    /// The ciphertext, and the tag.
    pub fn apart(&self, mode: SealMode) -> (&[u8], &[u8]) {
        match mode {
            SealMode::Rfc8439 => self.output.split_at(self.output.len() - TAG),
            SealMode::Box => (&self.output[TAG..], &self.output[..TAG]),
        }
    }
}

/// Bytes of a tag.
const TAG: usize = 16;

/// The fields of a block of lines, in the order of their names.
type Block = Vec<Option<Vec<u8>>>;

/// Blocks of lines `name = hex`, separated by empty lines, each with the number of its first field's line;
/// `#` begins a comment line.
fn blocks(text: &str, names: &[&str]) -> Result<Vec<(usize, Block)>, String> {
    let mut blocks = Vec::new();
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().map(|(number, line)| (number + 1, line.trim())).collect();
    for block in lines.split(|(_, line)| line.is_empty()) {
        let mut fields: Block = vec![None; names.len()];
        for &(number, line) in block.iter().filter(|(_, line)| !line.starts_with('#')) {
            let (name, value) = line.split_once('=').ok_or(format!("line {number}: no `=`"))?;
            let field = names.iter().position(|field| *field == name.trim());
            let field = field.ok_or(format!("line {number}: no field `{}`", name.trim()))?;
            let bytes = hex(value.trim()).ok_or(format!("line {number}: not hexadecimal"))?;
            if fields[field].replace(bytes).is_some() {
                return Err(format!("line {number}: `{}` twice", name.trim()));
            }
        }
        let first = block.iter().find(|(_, line)| !line.starts_with('#'));
        if let Some((number, _)) = first {
            blocks.push((*number, fields));
        }
    }
    Ok(blocks)
}

/// The error for a block without `in` or without `out`.
fn apart(line: usize) -> String {
    format!("line {line}: `in` and `out` belong together")
}

/// Blocks of `key = hex`, `in = hex`, `out = hex`, separated by empty lines; `#` begins a comment
/// line.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn parse(text: &str) -> Result<Vec<Vector>, String> {
    let vector = |(line, fields): (usize, Block)| match <[_; 3]>::try_from(fields) {
        Ok([key, Some(input), Some(output)]) => {
            Ok(Vector { line, key: key.unwrap_or_default(), input, output })
        }
        _ => Err(apart(line)),
    };
    blocks(text, &["key", "in", "out"])?.into_iter().map(vector).collect()
}

/// The fields of [`HashVector`] in their order; `tree` has three bytes and `bits` one.
const HASH: [&str; 9] =
    ["key", "personalization", "public_key", "identifier", "nonce", "tree", "in", "bits", "out"];

/// As [`parse`], of a hash function.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn hashes(text: &str) -> Result<Vec<HashVector>, String> {
    let vector = |(line, fields): (usize, Block)| {
        let Ok([key, a, b, c, d, tree, Some(input), bits, Some(output)]) =
            <[_; 9]>::try_from(fields)
        else {
            return Err(apart(line));
        };
        let wrong = |what: &str| format!("line {line}: `{what}` has another length");
        let arguments = [a, b, c, d].map(Option::unwrap_or_default);
        let tree = <[u8; 3]>::try_from(tree.unwrap_or(vec![0; 3])).map_err(|_| wrong("tree"))?;
        let [bits] = <[u8; 1]>::try_from(bits.unwrap_or(vec![0])).map_err(|_| wrong("bits"))?;
        let key = key.unwrap_or_default();
        Ok(HashVector { key, arguments, tree, input, bits, output })
    };
    blocks(text, &HASH)?.into_iter().map(vector).collect()
}

/// As [`parse`], of authenticated encryption.
///
/// # Errors
/// A line is malformed; the message begins with its number.
pub fn seals(text: &str) -> Result<Vec<SealVector>, String> {
    let vector = |(line, fields): (usize, Block)| match <[_; 5]>::try_from(fields) {
        Ok([Some(key), Some(nonce), data, Some(input), Some(output)]) => {
            if output.len() != input.len() + TAG {
                return Err(format!("line {line}: `out` has another length"));
            }
            Ok(SealVector { key, nonce, data: data.unwrap_or_default(), input, output })
        }
        _ => Err(format!("line {line}: `key`, `nonce`, `in` and `out` belong together")),
    };
    blocks(text, &["key", "nonce", "data", "in", "out"])?.into_iter().map(vector).collect()
}

/// Bytes as pairs of digits.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of pairs of digits.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
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
            key: vec![7],
            arguments: [none(), none(), none(), vec![9, 8]],
            tree: [1, 2, 3],
            input: vec![0x80],
            bits: 1,
            output: vec![0xff],
        };
        assert_eq!(hashes(text), Ok(vec![vector]));
        let message = |text: &str| hashes(text).expect_err("it is malformed");
        assert_eq!(message("tree = 01\nin =\nout = 00"), "line 1: `tree` has another length");
        assert_eq!(message("nonce = 01"), "line 1: `in` and `out` belong together");
    }

    #[test]
    fn vectors_of_seals_have_their_tag_on_either_side() {
        let text = |out: &str| format!("key = 00\nnonce = 01\nin = 02\nout = {out}\n");
        let out = "ff".repeat(16);
        let [vector] = &seals(&text(&format!("03{out}"))).expect("it is one")[..] else {
            panic!("it is one");
        };
        assert_eq!(vector.apart(SealMode::Rfc8439), (&[3][..], &[255; 16][..]));
        let tag = [&[3][..], &[255; 15]].concat();
        assert_eq!(vector.apart(SealMode::Box), (&[255][..], &tag[..]));
        let short = seals(&text(&out)).expect_err("a byte is missing");
        assert_eq!(short, "line 1: `out` has another length");
        let lost = seals("nonce = 01").expect_err("fields are missing");
        assert_eq!(lost, "line 1: `key`, `nonce`, `in` and `out` belong together");
    }

    #[test]
    fn malformed_vectors_are_refused_with_their_line() {
        let message = |text: &str| parse(text).expect_err("it is malformed");
        assert_eq!(message("in = 0\nout = 00"), "line 1: not hexadecimal");
        assert_eq!(message("\nin = 00"), "line 2: `in` and `out` belong together");
        assert_eq!(message("in = 00\nin = 00\nout = 00"), "line 2: `in` twice");
        assert_eq!(message("tweak = 00"), "line 1: no field `tweak`");
        assert_eq!(message("nonsense"), "line 1: no `=`");
    }
}
