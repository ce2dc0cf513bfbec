//! Test-case reduction: smaller texts that fail alike.

/// Shrinks `text` as long as `fails` says that the smaller text still fails in the same way; at
/// most `tries` candidates are tried. Candidates need not be programs: `fails` must refuse those
/// that the compiler refuses.
///
/// Tried are: leaving out a declaration, a loop with its body, the braces of a loop, a line, and
/// putting a part of a right side in place of the whole.
pub fn shrink(text: &str, tries: usize, fails: &dyn Fn(&str) -> bool) -> String {
    let mut best = text.to_string();
    let mut left = tries;
    loop {
        let mut better = None;
        for candidate in candidates(&best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                better = Some(candidate);
                break;
            }
        }
        match better {
            Some(candidate) => best = candidate,
            None => return best,
        }
    }
}

fn candidates(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let without = |from: usize, to: usize| {
        let kept = lines[..from].iter().chain(&lines[to..]).copied().collect::<Vec<_>>();
        kept.join("\n") + "\n"
    };
    let mut out = Vec::new();
    let mut start = 0;
    for (at, line) in lines.iter().enumerate() {
        if line.is_empty() {
            out.push(without(start, at + 1));
            start = at + 1;
        }
    }
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if line.contains("forall") {
            let close = |l: &&str| {
                l.len() - l.trim_start().len() == indent && l.trim_start().starts_with('}')
            };
            if let Some(length) = lines[at + 1..].iter().position(close) {
                out.push(without(at, at + length + 2));
                let mut kept = lines.clone();
                kept.remove(at + length + 1);
                kept.remove(at);
                out.push(kept.join("\n") + "\n");
            }
        } else if indent > 0 && !line.trim_start().starts_with('}') {
            out.push(without(at, at + 1));
        }
    }
    for (at, line) in lines.iter().enumerate() {
        let Some((left, right)) = line.split_once("= ") else { continue };
        for part in parts(right.trim_end_matches(';')) {
            let mut kept: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
            kept[at] = format!("{left}= {part};");
            out.push(kept.join("\n") + "\n");
        }
    }
    out
}

/// Texts between matching parentheses, and between operators.
fn parts(text: &str) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    let mut open = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                if let Some(from) = open.pop() {
                    out.push(&text[from + 1..at]);
                }
            }
            _ => {}
        }
    }
    let operators: &[char] = &['^', '&', '|', '~', '!', ','];
    out.extend(
        text.split(operators).map(str::trim).filter(|part| !part.is_empty() && *part != text),
    );
    out.sort_by_key(|part| part.len());
    out.dedup();
    out
}
