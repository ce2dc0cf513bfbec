//! Rust spelling of names, bytes and comments.

use usuba::emit::bytes::ByteLayout;

use usuba_ciphers::Function;

/// Bytes as an array in a Rust comment.
pub fn literal(bytes: &[u8]) -> String {
    match bytes {
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => {
            format!("[0x{first:02x}; {}]", bytes.len())
        }
        _ => {
            let row = |row: &[u8]| -> String {
                row.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(", ")
            };
            match bytes.len() {
                0..=8 => format!("[{}]", row(bytes)),
                _ => {
                    let lines = bytes.chunks(12).map(|line| format!("///     {},\n", row(line)));
                    format!("[\n{}/// ]", lines.collect::<String>())
                }
            }
        }
    }
}

/// Words that titles write in capitals.
const WORDS: [&str; 1] = ["TurboShake"];

/// Converts a C name to a type name; words of the title keep their spelling.
pub fn type_name(name: &str, title: &str) -> String {
    let letters = title.split(|c: char| !c.is_ascii_alphabetic());
    let own: Vec<&str> = letters
        .filter(|word| word.chars().skip(1).any(char::is_lowercase) && word.len() > 2)
        .chain(WORDS)
        .collect();
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    let mut text = String::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let digits = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if digits(text.chars().last()) && digits(part.chars().next()) {
            text.push('_');
        }
        let spelled = own.iter().find_map(|word| Some((part.find(&word.to_lowercase())?, *word)));
        text += &match spelled {
            Some((at, word)) => {
                // The rest may contain another word of the title.
                let rest = own.iter().fold(part[at + word.len()..].to_string(), |rest, word| {
                    rest.replace(&word.to_lowercase(), word)
                });
                format!("{}{word}{rest}", capital(&part[..at]))
            }
            None => capital(part),
        };
    }
    text
}

/// A title in documentation, where brackets are links.
pub fn prose(title: &str) -> String {
    title.replace('[', "\\[").replace(']', "\\]")
}

/// A comment on the byte order.
pub fn order(function: &Function) -> String {
    let phrase = |bytes: ByteLayout| match bytes {
        ByteLayout::Be => "most significant bit first",
        ByteLayout::Le => "little-endian words",
        ByteLayout::Planes => "as the specification writes it, most significant bit first",
        ByteLayout::LeBits => "least significant bit of each byte first",
    };
    let mut parts: Vec<(String, &str)> = Vec::new();
    let mut add = |name: &str, bytes: ByteLayout| {
        let name = name.replace('_', " ");
        match parts.last_mut() {
            Some((names, last)) if *last == phrase(bytes) => *names += &format!(", {name}"),
            _ => parts.push((name, phrase(bytes))),
        }
    };
    if let Some(key) = &function.key {
        add("key", key.bytes);
    }
    function.inputs.iter().for_each(|input| add(&input.param, input.bytes));
    add(&function.output.param, function.output.bytes);
    let text = match &parts[..] {
        [(_, phrase)] => format!("Bytes: {phrase}."),
        _ => {
            let each = parts.iter().map(|(names, phrase)| format!("{names}: {phrase}"));
            format!("Bytes of {}.", each.collect::<Vec<_>>().join("; "))
        }
    };
    comment("///", &text)
}

/// `text` as comment lines, without a final newline.
pub fn comment(mark: &str, text: &str) -> String {
    let mut lines = vec![String::from(mark)];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if line.len() + 1 + word.len() > 100 && line.len() > mark.len() {
            lines.push(format!("{mark} {word}"));
        } else {
            *line += &format!(" {word}");
        }
    }
    lines.join("\n")
}

/// The components of an input.
pub fn parts(function: &Function) -> String {
    let names: Vec<String> = function.inputs.iter().map(|p| p.param.replace('_', " ")).collect();
    names.join(", then ")
}
