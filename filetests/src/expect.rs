//! `# expect:`: the printed program, as comments to the end of the file.
//!
//! Every line of the block starts with `#`; after it and one blank comes the text. In `lower`
//! tests it is the sliced program, in `pass` tests the program after the pass.

const HEAD: &str = "# expect:";

/// The text above the block, and the block without its marks.
pub fn split(text: &str) -> (&str, Option<String>) {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == HEAD {
            let block = text[offset + line.len()..].lines();
            let plain = block.map(|l| l.strip_prefix("# ").or(l.strip_prefix('#')).unwrap_or(l));
            return (&text[..offset], Some(plain.collect::<Vec<_>>().join("\n")));
        }
        offset += line.len();
    }
    (text, None)
}

/// The block for a printed program.
pub fn block(printed: &str) -> String {
    let mut out = format!("{HEAD}\n");
    for line in printed.trim_end().lines() {
        let line = format!("# {line}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Compares a printed program with the block, ignoring blanks at the ends of lines.
///
/// # Errors
/// The first line that differs, and the whole text.
pub fn compare(want: &str, printed: &str) -> Result<(), String> {
    let lines = |text: &str| -> Vec<String> {
        text.trim_end().lines().map(|l| l.trim_end().to_string()).collect()
    };
    let (want, have) = (lines(want), lines(printed));
    if want == have {
        return Ok(());
    }
    let same = want.iter().zip(&have).take_while(|(a, b)| a == b).count();
    let line = |lines: &[String]| lines.get(same).cloned().unwrap_or("(nothing)".into());
    Err(format!(
        "line {} of the block differs:\n  expected {}\n  found    {}\nthe program is\n{}",
        same + 1,
        line(&want),
        line(&have),
        have.join("\n")
    ))
}
