//! Files of known answers.
//!
//! ```text
//! # source: the standard
//! key = 00ff
//! in = 01
//! out = 02
//! ```

/// One known answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector {
    /// Empty for permutations.
    pub key: Vec<u8>,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

/// Blocks of `key = hex`, `in = hex`, `out = hex`, separated by empty lines; `#` begins a comment
/// line.
pub(super) fn parse(text: &str) -> Result<Vec<Vector>, String> {
    let mut vectors = Vec::new();
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().map(|(number, line)| (number + 1, line.trim())).collect();
    for block in lines.split(|(_, line)| line.is_empty()) {
        let mut fields: [Option<Vec<u8>>; 3] = [None, None, None];
        for &(number, line) in block.iter().filter(|(_, line)| !line.starts_with('#')) {
            let (name, value) = line.split_once('=').ok_or(format!("line {number}: no `=`"))?;
            let field = ["key", "in", "out"].iter().position(|field| *field == name.trim());
            let field = field.ok_or(format!("line {number}: no field `{}`", name.trim()))?;
            let bytes = hex(value.trim()).ok_or(format!("line {number}: not hexadecimal"))?;
            if fields[field].replace(bytes).is_some() {
                return Err(format!("line {number}: `{}` twice", name.trim()));
            }
        }
        match fields {
            [None, None, None] => {}
            [key, Some(input), Some(output)] => {
                vectors.push(Vector { key: key.unwrap_or_default(), input, output });
            }
            _ => return Err(format!("line {}: `in` and `out` belong together", block[0].0)),
        }
    }
    Ok(vectors)
}

fn hex(text: &str) -> Option<Vec<u8>> {
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
        let vector = |key: &[u8], input, output| Vector {
            key: key.to_vec(),
            input: vec![input],
            output: vec![output],
        };
        assert_eq!(parse(text), Ok(vec![vector(&[0, 255], 1, 2), vector(&[], 3, 4)]));
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
