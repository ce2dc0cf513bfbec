//! The main function of a fuzzer, whose parts are macros of `lib/c/test/fuzz.h`. It begins with the
//! test vectors on every backend.

use std::fmt::Write;

use usuba_ciphers::{Cipher, HashMode, HashVector, Scheme, SealMode, Vector};
use usuba_library::{Description, Kind, Written};

/// Longer messages of vectors are left to other tests.
const LONG: usize = 5000;

/// The program that fuzzes a folder.
pub fn fuzzer(folder: &str, cipher: &Cipher, single: &Written) -> String {
    let mut text = format!(
        "#include \"{}\"\n#define COMMON(name) usuba_{folder}_##name\n#include \"fuzz.h\"\n\n",
        single.files[0].path
    );
    let mut calls = String::new();
    let mut part = |line: String, call: String| {
        text += &line;
        text.push('\n');
        if !call.is_empty() {
            calls += &format!("        {call}();\n");
        }
    };
    for Description { name, kind, key, nonce, operations } in &single.primitives {
        let size = operations.first().map_or(0, |first| first.input);
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
            Kind::Hash(HashMode::Skein) => {
                let line = format!("SKEIN({name}, {})", size - operations[0].output);
                part(line, format!("{name}_fuzz_hash"));
            }
            Kind::Hash(mode @ (HashMode::MerkleDamgard | HashMode::Sponge)) => {
                let hash = cipher.hashes.iter().find(|hash| hash.name == *name);
                let hash = hash.expect("it is there");
                let (block, output) = (size - operations[0].output, hash.output);
                part(format!("HASH({name}, {output})"), format!("{name}_fuzz_hash"));
                if hash.has_hmac(block) {
                    part(format!("HMAC({name}, {block}, {output})"), format!("{name}_fuzz_macs"));
                }
                if *mode == HashMode::MerkleDamgard {
                    part(format!("HKDF({name}, {output})"), format!("{name}_fuzz_keys"));
                }
            }
            Kind::Hash(HashMode::Xof) => {
                part(format!("XOF({name}, FUZZ_PLAIN, FUZZ_PLAIN)"), format!("{name}_fuzz_hash"));
                let block = size - operations[0].output;
                part(format!("LANES({name}, {block})"), format!("{name}_fuzz_lanes"));
            }
            Kind::Hash(mode) => {
                let line = match mode {
                    HashMode::Cshake => format!("XOF({name}, FUZZ_NAMED, FUZZ_NAMED_BEHIND)"),
                    HashMode::Cxof => format!("XOF({name}, FUZZ_CUSTOM, FUZZ_CUSTOM_BEHIND)"),
                    HashMode::TurboShake => format!("XOF({name}, FUZZ_DOMAIN, FUZZ_DOMAIN_BEHIND)"),
                    HashMode::Kmac => format!("KMAC({name})"),
                    _ => format!("KANGAROO({name})"),
                };
                part(line, format!("{name}_fuzz_hash"));
            }
            Kind::Seal(mode) => {
                let data = if mode.has_data() { "FUZZ_DATA" } else { "FUZZ_NOTHING" };
                let before = mode.before();
                let own = cipher.seals.iter().find(|seal| seal.name == *name);
                let tag = own.expect("it is there").tag_bytes();
                let line = format!("{keyed}SEAL({name}, {nonce}, {tag}, {before}, {data})");
                part(line, format!("{name}_fuzz_seal"));
                if mode.has_data() && *nonce >= 12 {
                    let line = format!("SEGMENTS({name}, {nonce}, {tag})");
                    part(line, format!("{name}_fuzz_segments"));
                }
                if *mode == SealMode::Gcm {
                    let line = format!("PIECES({name}, {nonce}, {tag})");
                    part(line, format!("{name}_fuzz_pieces"));
                }
                if *mode == SealMode::Ascon {
                    part(format!("SEAL_MANY({name}, {nonce})"), format!("{name}_fuzz_seals"));
                }
            }
            Kind::Mac => part(format!("{keyed}CODE({name})"), format!("{name}_fuzz_code")),
            Kind::Sign(_) => {
                let sign = cipher.signs.iter().find(|sign| sign.name == *name);
                let sign = sign.expect("it is there");
                // Others take seconds under the sanitizers.
                if sign.layers << sign.height < 400 {
                    let line = format!("SIGN({name}, {}, {})", sign.n, sign.bytes());
                    part(line, format!("{name}_fuzz_sign"));
                }
            }
            Kind::Chained => {}
            Kind::Keyed | Kind::Unkeyed => {
                if *key > 0 {
                    part(keyed, String::new());
                }
                for operation in operations {
                    let sizes = format!("{}, {}", operation.input, operation.output);
                    let function = &operation.name;
                    let line = match key {
                        0 => format!("UNKEYED_BLOCKS({function}, {sizes})"),
                        _ => format!("KEYED_BLOCKS({name}, {function}, {sizes})"),
                    };
                    part(line, format!("{function}_fuzz_blocks"));
                }
            }
        }
    }
    match cipher.scheme {
        Some(Scheme::Curve25519) => part("CURVE25519".into(), "curve25519_fuzz".into()),
        Some(Scheme::Poly1305) => part("POLY1305".into(), "poly1305_fuzz".into()),
        None => {}
    }
    let answers = answers(cipher, single);
    format!(
        "{text}\nstatic void known_answers(void)\n{{\n{answers}}}\n\n\
         int main(int count, char **words)\n{{\n    \
         long rounds = count > 1 ? atol(words[1]) : 100;\n    size_t i;\n    \
         for (i = 0; COMMON(backends)(i); i++) {{\n        \
         expect(!COMMON(force_backend)(COMMON(backends)(i)), \"backend\", \"force\", 0);\n        \
         known_answers();\n        puts(COMMON(backend)());\n    }}\n    \
         state = count > 2 ? (uint64_t)atol(words[2]) : 1;\n    \
         while (rounds--) {{\n{calls}    }}\n    return 0;\n}}\n"
    )
}

/// A call for every vector of a folder.
fn answers(cipher: &Cipher, single: &Written) -> String {
    let mut text = String::new();
    for primitive in &single.primitives {
        let name = &primitive.name;
        if let Some(hash) = cipher.hashes.iter().find(|hash| hash.name == *name) {
            let vectors = cipher.hashes_of(hash).expect("they can be read").into_iter();
            for vector in vectors.filter(|vector| vector.input.len() < LONG) {
                match hash.mode {
                    HashMode::Skein => skein_answer(&mut text, name, &vector),
                    HashMode::MerkleDamgard | HashMode::Sponge => {
                        merkle_answer(&mut text, name, &vector);
                    }
                    mode => sponge_answer(&mut text, mode, name, &vector),
                }
            }
            continue;
        }
        if let Some(stream) = cipher.streams.iter().find(|stream| stream.name == *name) {
            let begin = match primitive.kind {
                Kind::Running { .. } => Some(format!("usuba_{name}_begin(&state, &context, in)")),
                _ => None,
            };
            let run = match begin {
                Some(_) => format!("usuba_{name}_keystream(&state, out, sizeof out)"),
                None => format!("usuba_{name}_keystream(&context, in, 0, out, sizeof out)"),
            };
            for vector in cipher.answers(&stream.vectors).expect("they can be read") {
                answer(&mut text, primitive, &vector, begin.iter().chain([&run]));
            }
            continue;
        }
        for operation in &primitive.operations {
            let same = |f: &&usuba_ciphers::Function| f.name == operation.function;
            let function = cipher.functions.iter().find(same).expect("it is there");
            let first = if primitive.key > 0 { "&context, in" } else { "in" };
            let run = format!("usuba_{}_blocks({first}, out, 1)", operation.name);
            for vector in cipher.vectors(function).expect("they can be read") {
                answer(&mut text, primitive, &vector, [&run].into_iter());
            }
        }
    }
    text
}

/// One test vector of Skein.
fn skein_answer(text: &mut String, name: &str, vector: &HashVector) {
    let list = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte}, ")).collect::<String>();
    // An empty array is absent; a place without bytes is none in C.
    let mut arrays =
        format!("        static const uint8_t wanted[] = {{{}}};\n", list(&vector.output));
    let mut place = |label: &str, bytes: &[u8]| match bytes {
        [] => "NULL, 0".to_string(),
        _ => {
            arrays += &format!("        static const uint8_t {label}[] = {{{}}};\n", list(bytes));
            format!("{label}, sizeof {label}")
        }
    };
    let labels = ["key", "personalization", "public_key", "identifier", "nonce"];
    let fields = [&vector.key].into_iter().chain(&vector.arguments);
    let fields: Vec<String> =
        labels.iter().zip(fields).map(|(label, bytes)| place(label, bytes)).collect();
    let input = place("in", &vector.input);
    let (input, _) = input.split_once(',').expect("place and length");
    let short = if vector.bits == 0 { 0 } else { 8 - u64::from(vector.bits) };
    let bits = 8 * vector.input.len() as u64 - short;
    let [leaf, fan_out, height] = vector.tree;
    let _ = writeln!(
        text,
        "    {{\n{arrays}        static uint8_t out[sizeof wanted];\n        \
         const usuba_skein_parameters p = {{{}, {leaf}, {fan_out}, {height}}};\n        \
         expect(!usuba_{name}_hash_bits(&p, {input}, {bits}, out, sizeof out), \"status\", \
         \"{name}\", {bits});\n        \
         expect(!memcmp(out, wanted, sizeof wanted), \"known answer\", \"{name}\", {bits});\n    }}",
        fields.join(", ")
    );
}

/// One test vector of a hash function without parameters.
fn merkle_answer(text: &mut String, name: &str, vector: &HashVector) {
    let list = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte}, ")).collect::<String>();
    let length = vector.input.len();
    // C has no empty arrays.
    let _ = writeln!(
        text,
        "    {{\n        static const uint8_t wanted[] = {{{}}}, in[] = {{{}0}};\n        \
         static uint8_t out[sizeof wanted];\n        \
         expect(!usuba_{name}_hash(in, {length}, out), \"status\", \"{name}\", {length});\n        \
         expect(!memcmp(out, wanted, sizeof wanted), \"known answer\", \"{name}\", {length});\n    }}",
        list(&vector.output),
        list(&vector.input)
    );
}

/// One test vector of an output of any length.
fn sponge_answer(text: &mut String, mode: HashMode, name: &str, vector: &HashVector) {
    let list = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte}, ")).collect::<String>();
    let HashVector { key, name: label, custom, domain, xof, input, output, .. } = vector;
    let (length, size, count) = (input.len(), custom.len(), label.len() + key.len());
    let call = match mode {
        HashMode::Kmac if *xof => format!(
            "usuba_{name}_xof_begin(&state, key, {count}, custom, {size}) \
             || usuba_{name}_update(&state, in, {length}) \
             || usuba_{name}_squeeze(&state, out, sizeof out)"
        ),
        HashMode::Kmac => {
            format!("usuba_{name}_tag(key, {count}, custom, {size}, in, {length}, out, sizeof out)")
        }
        HashMode::Cshake => {
            format!("usuba_{name}_xof(key, {count}, custom, {size}, in, {length}, out, sizeof out)")
        }
        HashMode::Cxof => {
            format!("usuba_{name}_xof(custom, {size}, in, {length}, out, sizeof out)")
        }
        HashMode::TurboShake => {
            format!("usuba_{name}_xof({domain}, in, {length}, out, sizeof out)")
        }
        HashMode::KangarooTwelve => {
            format!("usuba_{name}_hash(in, {length}, custom, {size}, out, sizeof out)")
        }
        _ => format!("usuba_{name}_xof(in, {length}, out, sizeof out)"),
    };
    let mut arrays = format!("wanted[] = {{{}}}, in[] = {{{}0}}", list(output), list(input));
    if call.contains("custom") {
        arrays += &format!(", custom[] = {{{}0}}", list(custom));
    }
    if call.contains("key") {
        arrays += &format!(", key[] = {{{}0}}", list(&[&label[..], key].concat()));
    }
    let state = match call.contains("&state") {
        true => format!("        static usuba_{name}_state state;\n"),
        false => String::new(),
    };
    let _ = writeln!(
        text,
        "    {{\n        static const uint8_t {arrays};\n        \
         static uint8_t out[sizeof wanted];\n{state}        \
         expect(!({call}), \"status\", \"{name}\", {length});\n        \
         expect(!memcmp(out, wanted, sizeof wanted), \"known answer\", \"{name}\", {length});\n    }}"
    );
}

/// One test vector: calls that must succeed, and the bytes that they leave in `out`.
fn answer<'a>(
    text: &mut String,
    primitive: &Description,
    vector: &Vector,
    calls: impl Iterator<Item = &'a String>,
) {
    let name = &primitive.name;
    let list = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte}, ")).collect::<String>();
    let _ = writeln!(
        text,
        "    {{\n        static const uint8_t in[] = {{{}}}, wanted[] = {{{}}};\n        \
         static uint8_t out[sizeof wanted];",
        list(&vector.input),
        list(&vector.output)
    );
    if primitive.key > 0 {
        let _ = writeln!(
            text,
            "        static const uint8_t key[] = {{{}}};\n        \
             static usuba_{name}_key context;",
            list(&vector.key)
        );
    }
    if matches!(primitive.kind, Kind::Running { .. }) {
        let _ = writeln!(text, "        static usuba_{name}_state state;");
    }
    if primitive.key > 0 {
        let init = format!("usuba_{name}_init(&context, key, sizeof key)");
        let _ = writeln!(text, "        expect(!{init}, \"init\", \"{name}\", 0);");
    }
    for call in calls {
        let _ = writeln!(text, "        expect(!{call}, \"status\", \"{name}\", sizeof in);");
    }
    let _ = writeln!(
        text,
        "        expect(!memcmp(out, wanted, sizeof wanted), \"known answer\", \"{name}\", \
         sizeof in);\n    }}"
    );
}
