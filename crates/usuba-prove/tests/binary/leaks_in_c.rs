//! Leaks of every kind, injected into the C around kernels: each opens the column of its function.

use usuba_gen::asks;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::safety;
use usuba_object::x86::X86;
use usuba_prove::rows::{Answer, Claim, Found};
use usuba_prove::{Evidence, Outcome, exported, unit};
use usuba_run::cc::Family;

use super::file_mutants::{compiled, written};

/// A change of the C: the function whose row has another answer, the text and its replacement, the
/// claim, and words of the reason.
type Plant = (&'static str, &'static str, &'static str, Claim, &'static str);

use Claim::{Computes, ConstantTime, MemorySafe, NothingLeft, Terminates};

/// The end of `usuba_poly1305_begin`.
const END: &str =
    "    state->used = 0;\n    usuba_clear();\n    usuba_erase(&scratch, sizeof scratch);";

const BEGIN: &str = "usuba_poly1305_begin";
const POLY1305: [Plant; 9] = [
    (
        BEGIN,
        END,
        "if (key[5] & 1) usuba_erase(multiplier, sizeof multiplier);",
        ConstantTime,
        "depends on an input",
    ),
    (
        BEGIN,
        END,
        "static const uint8_t table[256] = {1, 2, 3}; state->used = table[key[7]];",
        ConstantTime,
        "depends on an input",
    ),
    (BEGIN, END, "state->used = 1000000u / (key[9] | 1u);", ConstantTime, "div"),
    (
        BEGIN,
        END,
        "for (size_t i = 0; i < key[3]; i++) __asm__ volatile (\"\");",
        ConstantTime,
        "branches are not known",
    ),
    (BEGIN, END, "memmove(state->bytes, key, key[0] & 15);", ConstantTime, "depends on an input"),
    (BEGIN, END, "*(volatile uint8_t *)(state + 1) = 0;", MemorySafe, "1 bytes at"),
    (BEGIN, END, "state->used = ((const volatile uint8_t *)key)[32];", MemorySafe, "1 bytes at 32"),
    (BEGIN, END, "((volatile uint8_t *)key)[31] = 0;", MemorySafe, "`key`"),
    (BEGIN, END, "for (;;) __asm__ volatile (\"\");", Terminates, "does not return"),
];

const BLOCKS: &str = "usuba_chacha8_block_V_gp64";
const BATCH: &str = "usuba_chacha8_block_V_gp64_batch(words, in, out);\n";
const CHACHA20: [Plant; 4] = [
    (
        BLOCKS,
        BATCH,
        "if (words[3] & 4) __asm__ volatile (\"\");",
        ConstantTime,
        "depends on an input",
    ),
    (BLOCKS, BATCH, "if (nblocks == 1) ((volatile uint8_t *)out)[64] = 0;", MemorySafe, "`out`"),
    (BLOCKS, BATCH, "if (nblocks == 7) out[5] ^= 1;", Computes, ""),
    (BLOCKS, BATCH, "out[63] ^= 128;", Computes, ""),
];

const X25519: &str = "usuba_x25519_base";
const WIPED: &str = "    usuba_x25519_comb(scalar, out);\n    usuba_wipe_stack();\n";
const CURVE25519: [Plant; 1] =
    [(X25519, WIPED, "usuba_x25519_comb(scalar, out);", NothingLeft, "secrets in")];

/// Zeroization that is missing behind kernels, and a copy of a secret by the C library, which may leave
/// it in registers that only some processors have.
const SHA2: [Plant; 2] = [
    (
        "usuba_sha256_hash",
        "    USUBA_OVERWRITE(160 * sizeof(size_t));\n",
        "USUBA_KEEP;",
        NothingLeft,
        "secrets in",
    ),
    (
        "usuba_sha256_hash",
        "usuba_copy(out, chain, output);",
        "memcpy(out, chain, output);",
        NothingLeft,
        "secrets in",
    ),
];

/// A keystream that stays in its buffer.
const STREAM: [Plant; 1] = [(
    "usuba_chacha20_keystream",
    "    usuba_wipe_calls();\n    usuba_erase(stream, sizeof stream);\n",
    "usuba_wipe_calls();",
    NothingLeft,
    "secrets in",
)];

/// The answers about a function of an object, as the row has them.
fn answers(written: &usuba_library::Written, file: &[u8], symbol: &str) -> [Answer; 5] {
    let object = Object::read(file, Extensions::ALL).expect("an object");
    let Some(unit) = written.units.iter().find(|unit| unit.symbol == symbol) else {
        let declared = written.manifest.functions.iter().find(|found| found.name == symbol);
        let contract =
            exported::contract(declared.expect("a function"), &written.manifest.structs, 8)
                .expect("fixed sizes");
        return Found::safe(safety::prove::<X86>(&object, &contract, 5_000_000)).answers;
    };
    let output = unit.compile().expect("it compiles");
    let proofs = unit::object(unit, &output, None, &object).expect("a contract");
    let outcomes: Vec<Outcome> = proofs.into_iter().map(|proof| proof.outcome).collect();
    let source = Outcome::Proved(Evidence::Engines(Default::default()));
    Found::specified(String::new(), &source, &outcomes).answers
}

#[test]
fn leaks_in_the_c_around_kernels_open_their_columns() {
    // Case distinctions of a proof are nested calls.
    let threads = rayon::ThreadPoolBuilder::new().stack_size(64 << 20).build().expect("threads");
    threads.install(check_leaks);
}

fn check_leaks() {
    for (folder, plants) in [
        ("poly1305", &POLY1305[..]),
        ("chacha20", &CHACHA20),
        ("chacha20", &STREAM),
        ("sha2", &SHA2),
        ("curve25519", &CURVE25519),
    ] {
        // Compilers take longer for this one than all proofs here.
        if folder == "curve25519" && !asks!() {
            continue;
        }
        let written = written(folder, &["gp64"]);
        let of = |edit: &dyn Fn(&str) -> String, symbol| {
            let file = compiled(&written, Family::Gcc, edit)?;
            Some(answers(&written, &file, symbol))
        };
        let Some(right) = of(&|text| text.to_string(), plants[0].0) else { return };
        for &(symbol, text, plant, claim, words) in plants {
            assert!(right[claim as usize].holds(), "{symbol}: {right:?}");
            let edit = |c: &str| {
                let (start, end) = c.split_once(text).expect("the place of the plant");
                let kept = if claim == NothingLeft { "" } else { text };
                format!("{start}{{ {kept}\n{plant} }}\n{end}")
            };
            let found = of(&edit, symbol).expect("a compiler");
            let Answer::Open(reason) = &found[claim as usize] else {
                panic!("{symbol} with {plant}: {found:?}");
            };
            assert!(reason.contains(words), "{symbol} with {plant}: {reason}");
            // A secret that is left is the only fault of a function without a wipe.
            let others = found.iter().zip(&right).enumerate();
            let mut others = others.filter(|(at, _)| *at != NothingLeft as usize);
            assert!(claim != NothingLeft || others.all(|(_, (new, old))| new == old), "{found:?}");
        }
    }
}
