//! The main function of a fuzzer, whose parts are macros of `lib/c/test/fuzz.h`.

use usuba_lab::dist::{Description, Kind, Single};

/// The program that fuzzes a folder.
pub fn fuzzer(folder: &str, single: &Single) -> String {
    let mut text = format!(
        "#include \"{}\"\n#define COMMON(name) usuba_{folder}_##name\n#include \"fuzz.h\"\n\n",
        single.files[0].path
    );
    let mut calls = String::new();
    let mut part = |line: String, call: String| {
        text += &line;
        text.push('\n');
        calls += &format!("        {call}();\n");
    };
    for Description { name, kind, key, nonce, operations } in &single.primitives {
        let size = operations[0].input;
        let keyed = format!("KEYED({name}, {key})\n");
        match kind {
            Kind::Stream(_) | Kind::Extended { .. } => {
                let line = format!("{keyed}STREAM({name}, xor, keystream, {nonce})");
                part(line, format!("{name}_fuzz_stream"));
            }
            Kind::Block { inverse, wide } => {
                let line = format!("{keyed}STREAM({name}, ctr, ctr_keystream, {size})");
                part(line, format!("{name}_fuzz_stream"));
                if inverse.is_some() {
                    part(format!("INVERSE({name}, {size})"), format!("{name}_fuzz_inverse"));
                }
                if inverse.is_some() && *wide {
                    part(format!("WIDE({name})"), format!("{name}_fuzz_wide"));
                }
            }
            Kind::Permutation => {
                let line = format!("PERMUTATION({name}, {size})");
                part(line, format!("{name}_fuzz_permutation"));
            }
            Kind::Tweakable { tweak, inverse } => {
                let line = format!("{keyed}TWEAKABLE({name}, {nonce}, {})", tweak.bytes);
                part(line, format!("{name}_fuzz_tweakable"));
                if inverse.is_some() {
                    let line = format!("INVERSE_TWEAKED({name}, {}, {nonce})", tweak.bytes);
                    part(line, format!("{name}_fuzz_inverse"));
                }
            }
            Kind::Running { .. } => {
                let line = format!("{keyed}RUNNING({name}, {nonce})");
                part(line, format!("{name}_fuzz_running"));
            }
            // Their calls are those that everything else is made of.
            Kind::Keyed | Kind::Unkeyed => {}
        }
    }
    format!(
        "{text}\nint main(int count, char **words)\n{{\n    \
         long rounds = count > 1 ? atol(words[1]) : 100;\n    \
         state = count > 2 ? (uint64_t)atol(words[2]) : 1;\n    \
         while (rounds--) {{\n{calls}    }}\n    return 0;\n}}\n"
    )
}
