//! Identifiers of the program as identifiers of C.
//!
//!     f'       →   f_q
//!     double   →   double_
//!
//! Usuba identifiers are C identifiers but for the quote. A name that C or its library reserves
//! gets one underscore more; the text is also C++, so its keywords count.

/// The C spelling of an Usuba identifier, free of keywords.
pub fn identifier(name: &str) -> String {
    let spelled = name.replace('\'', "_q");
    if RESERVED.contains(&spelled.as_str()) { spelled + "_" } else { spelled }
}

/// The C spelling of a parameter: also apart from the names that generated bodies use.
pub fn parameter(name: &str, taken: &[String]) -> String {
    let mut spelled = identifier(name);
    while is_local(&spelled) || taken.contains(&spelled) {
        spelled.push('_');
    }
    spelled
}

/// Whether a name has the form of a local of generated code: one letter and a number.
fn is_local(name: &str) -> bool {
    let mut chars = name.chars();
    let letter = chars.next().is_some_and(|c| "abcklnprstvx".contains(c));
    let rest = chars.as_str();
    letter && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
}

/// Keywords of C and C++, and functions that compilers know without a header.
#[rustfmt::skip] // One group, one paragraph.
const RESERVED: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "linux", "unix", "i386",

    "abort", "abs", "acos", "alloca", "asin", "atan", "atan2", "bcmp", "bcopy", "bzero", "calloc",
    "ceil", "cos", "cosh", "erf", "exit", "exp", "exp2", "fabs", "ffs", "floor", "fmax", "fmin",
    "fmod", "fprintf", "fputs", "free", "frexp", "gamma", "hypot", "index", "isalpha", "isdigit",
    "j0", "j1", "jn", "labs", "ldexp", "log", "log10", "log2", "logb", "main", "malloc", "memchr",
    "memcmp", "memcpy", "memmove", "memset", "modf", "pow", "printf", "putchar", "puts",
    "realloc", "remainder", "rindex", "rint", "round", "scanf", "signbit", "sin", "sinh",
    "snprintf", "sprintf", "sqrt", "sscanf", "strcat", "strchr", "strcmp", "strcpy", "strdup",
    "strlen", "strncat", "strncmp", "strncpy", "strstr", "tan", "tanh", "tgamma", "tolower",
    "toupper", "trunc", "vprintf", "y0", "y1", "yn",

    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_keywords_become_identifiers() {
        assert_eq!(identifier("f'"), "f_q");
        assert_eq!(identifier("double"), "double_");
        assert_eq!(identifier("round"), "round_");
        assert_eq!(parameter("v12", &[]), "v12_");
        assert_eq!(parameter("x", &["x".to_string()]), "x_");
        assert_eq!(parameter("key", &[]), "key");
    }
}
