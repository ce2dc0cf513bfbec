//! Functions that return sizes, for callers from languages that do not read macros and structs.
//!
//! ```text
//! #define USUBA_AES128_KEY_BYTES 16      size_t usuba_aes128_key_size(void);
//! } usuba_aes128_key;                    size_t usuba_aes128_context_size(void);
//! } usuba_sha256_state;                  size_t usuba_sha256_state_size(void);
//! #define USUBA_SHA256_BYTES 32          size_t usuba_sha256_hash_size(void);
//! ```
//!
//! They follow from the declarations of a header, so every size that it names has one.

/// The subject of a size without a name of its own, by the function that makes it.
const MAKERS: [(&str, &str); 3] =
    [("_hash", "hash"), ("_permute", "state"), ("_sign", "signature")];

/// The structs that callers hold, by the end of their names.
const HELD: [(&str, &str); 3] = [("_key", "context"), ("_state", "state"), ("_tree", "tree")];

/// The declarations and the definitions of the functions for the sizes in `declarations`.
pub fn lengths(declarations: &str) -> (String, String) {
    let mut header = String::new();
    let mut code = String::new();
    for (name, value) in declarations.lines().filter_map(|line| size(line, declarations)) {
        header += &format!("USUBA_API size_t {name}(void);\n");
        code += &format!("\nsize_t {name}(void)\n{{\n    return {value};\n}}\n");
    }
    if header.is_empty() {
        return (header, code);
    }
    let about = "\n/* ---- Sizes ----\n   In bytes, for callers that do not read macros. A context is a \
                 key that is ready for use. */\n";
    (format!("{about}{header}"), code)
}

/// The name of the function for the size that a line of `declarations` has, and its value in C.
fn size(line: &str, declarations: &str) -> Option<(String, String)> {
    if let Some(held) = line.strip_prefix("} ").and_then(|rest| rest.strip_suffix(';')) {
        let end = |(end, subject): &(&str, &str)| {
            Some((format!("{}_{subject}_size", held.strip_suffix(end)?), format!("sizeof({held})")))
        };
        return HELD.iter().find_map(end);
    }
    let name = line.strip_prefix("#define ")?.split(' ').next()?;
    let lower = name.strip_suffix("_BYTES")?.to_lowercase();
    let makes = |(function, subject): &(&str, &'static str)| {
        declarations.contains(&format!(" {lower}{function}(")).then_some(*subject)
    };
    let subject = MAKERS.iter().find_map(makes);
    let own = subject.map_or(String::new(), |subject| format!("_{subject}"));
    Some((format!("{lower}{own}_size"), name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_from_macros_and_structs() {
        let (header, code) = lengths(
            "#define USUBA_H_BYTES 32\n#define USUBA_H_BLOCK_BYTES 64\n#define USUBA_LEVELS 60\n\
             typedef struct {\n    int a;\n} usuba_c_key;\ntypedef struct {\n    int a;\n} \
             usuba_parameters;\nUSUBA_API int usuba_h_hash(void);\n",
        );
        let names: Vec<&str> =
            header.lines().filter_map(|line| line.strip_prefix("USUBA_API size_t ")).collect();
        assert_eq!(
            names,
            [
                "usuba_h_hash_size(void);",
                "usuba_h_block_size(void);",
                "usuba_c_context_size(void);"
            ]
        );
        assert!(code.contains(
            "size_t usuba_c_context_size(void)\n{\n    return sizeof(usuba_c_key);\n}\n"
        ));
        assert!(code.contains("    return USUBA_H_BYTES;\n"));
        assert_eq!(lengths("int f(void);\n"), (String::new(), String::new()));
    }
}
