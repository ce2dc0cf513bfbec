//! Circuits are right for any table, small for known ones, and the same every time.

use crate::linear::Random;
use crate::*;

fn random_table(inputs: u8, outputs: u8, seed: u64) -> Table {
    let mut random = Random::new(seed);
    let mut entry = || (0..outputs).fold(0, |sum, _| sum << 1 | random.below(2) as u64);
    let entries = (0..1 << inputs).map(|_| entry()).collect();
    Table { inputs, outputs, entries }
}

fn cost(table: &Table, profile: Profile) -> usize {
    for_table(table, profile, Goal::Size).cost(profile).expect("gates of the profile")
}

/// The outputs `o'_k` of the result are outputs `outputs[k].0` of the table, complemented if
/// `outputs[k].1`; its inputs likewise are inputs of the table.
fn moved(table: &Table, inputs: &[(u8, bool)], outputs: &[(u8, bool)]) -> Table {
    let pick = |value: u64, bits: u8, places: &[(u8, bool)]| {
        let bit = |&(place, sign): &(u8, bool)| value >> (bits - 1 - place) & 1 ^ sign as u64;
        places.iter().fold(0, |sum, place| sum << 1 | bit(place))
    };
    let entries = (0..table.entries.len() as u64)
        .map(|x| {
            let old = table.entries[pick(x, table.inputs, inputs) as usize];
            pick(old, table.outputs, outputs)
        })
        .collect();
    Table { entries, ..*table }
}

/// A random order of `bits` bits with random signs.
fn places(bits: u8, signs: bool, random: &mut Random) -> Vec<(u8, bool)> {
    let mut order: Vec<u8> = (0..bits).collect();
    random.shuffle(&mut order);
    order.into_iter().map(|bit| (bit, signs && random.below(2) == 1)).collect()
}

/// Name; gates for and, or, xor, not; with `~a & b` too; with all functions of three bits.
type Row = (&'static str, usize, usize, usize);

/// The gate counts that the database reaches.
#[rustfmt::skip] // One box, one line.
const REACHED: &[Row] = &[
    ("PRESENT",             14,  14,  7),
    ("PRESENT inverse",     14,  14,  7),
    ("RECTANGLE",           12,  12,  6),
    ("RECTANGLE inverse",   12,  12,  6),
    ("GIFT",                11,  11,  6),
    ("GIFT inverse",        11,  11,  6),
    ("SKINNY-64",           11,  10,  4),
    ("SKINNY-64 inverse",   11,  10,  4),
    ("Spongent",            14,  14,  7),
    ("Spongent inverse",    14,  14,  7),
    ("Noekeon",             12,  12,  6),
    ("Noekeon inverse",     12,  12,  6),
    ("Pyjamask",            12,  12,  6),
    ("Pyjamask inverse",    12,  12,  6),
    ("Clyde",                8,   8,  4),
    ("Clyde inverse",        8,   8,  4),
    ("Serpent S0",          14,  14,  7),
    ("Serpent S0 inverse",  14,  14,  7),
    ("Serpent S1",          14,  14,  7),
    ("Serpent S1 inverse",  14,  14,  7),
    ("Serpent S2",          13,  13,  7),
    ("Serpent S2 inverse",  13,  13,  7),
    ("Serpent S3",          15,  15,  8),
    ("Serpent S3 inverse",  15,  15,  8),
    ("Serpent S4",          16,  15,  7),
    ("Serpent S4 inverse",  15,  15,  7),
    ("Serpent S5",          16,  15,  7),
    ("Serpent S5 inverse",  16,  15,  7),
    ("Serpent S6",          14,  14,  7),
    ("Serpent S6 inverse",  14,  14,  7),
    ("Serpent S7",          16,  16,  8),
    ("Serpent S7 inverse",  17,  16,  8),
    ("Pyjamask-96",          7,   7,  3),
    ("Pyjamask-96 inverse",  7,   7,  3),
    ("chi-3",                8,   6,  3),
    ("chi-5",               13,  10,  5),
    ("chi-5 inverse",       15,  12,  6),
    ("Ascon",               16,  16,  9),
    ("Ascon inverse",       22,  22, 13),
    ("DES S1",              55,  49, 25),
    ("DES S2",              49,  44, 24),
    ("DES S3",              51,  46, 25),
    ("DES S4",              35,  33, 17),
    ("DES S5",              53,  48, 25),
    ("DES S6",              50,  46, 24),
    ("DES S7",              50,  46, 24),
    ("DES S8",              44,  41, 23),
    ("AES",                111, 109, 67),
    ("AES inverse",        112, 107, 67),
    ("SKINNY-128",          22,  20,  8),
    ("SKINNY-128 inverse",  22,  20,  8),
    ("SM4",                112, 108, 66),
    ("SM4 inverse",        111, 106, 66),
    ("Camellia s1",        109, 107, 66),
    ("Camellia s2",        109, 107, 66),
    ("Camellia s3",        109, 107, 66),
    ("Camellia s4",        109, 107, 66),
    ("Camellia s2 inverse", 110, 106, 66),
];

#[test]
fn known_boxes_cost_what_the_database_promises() {
    let mut wrong = Vec::new();
    for &(name, basic, andn, lut3) in REACHED {
        let table = boxes::named(name);
        let counts = Profile::ALL.map(|profile| {
            let known = known::find(&table, profile, Goal::Size).map(|circuit| {
                assert_eq!(circuit.check(profile), Ok(()), "{name}");
                assert_eq!(simulate(&circuit), table.entries, "{name}");
                circuit.cost(profile).expect("gates of the profile")
            });
            known.unwrap_or(usize::MAX)
        });
        if counts != [basic, andn, lut3] {
            wrong.push((name, counts));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_other_reading_of_the_bits_costs_the_same() {
    for &(name, basic, andn, lut3) in REACHED {
        let table = boxes::named(name).reversed();
        for (profile, count) in Profile::ALL.into_iter().zip([basic, andn, lut3]) {
            assert_eq!(cost(&table, profile), count, "{name} {profile:?}");
        }
    }
}

#[test]
fn reversing_reads_the_least_significant_bit_first() {
    let table = Table { inputs: 2, outputs: 3, entries: vec![0b001, 0b010, 0b011, 0b100] };
    let reversed = table.reversed();
    assert_eq!(reversed.entries, [0b100, 0b110, 0b010, 0b001]);
    assert_eq!(reversed.reversed(), table);
}

#[test]
fn every_random_table_has_a_circuit() {
    for inputs in 1..=8 {
        for outputs in [1, 3, inputs] {
            let table = random_table(inputs, outputs, inputs as u64 * 100 + outputs as u64);
            // `for_table` fails if the circuit is not the table.
            for_table(&table, Profile::ALL[(inputs + outputs) as usize % 3], Goal::Size);
        }
    }
    for profile in Profile::ALL {
        for_table(&random_table(4, 64, 9), profile, Goal::Size);
    }
}

#[test]
fn tables_that_nobody_designed_stay_within_their_bounds() {
    assert!(cost(&random_table(8, 8, 1), Profile::Basic) <= 550);
    assert!(cost(&random_table(6, 4, 2), Profile::Basic) <= 90);
    assert!(cost(&random_table(4, 4, 3), Profile::Basic) <= 30);
}

/// A random invertible affine map of bytes.
fn affine(random: &mut Random) -> Vec<u64> {
    let mut rows: Vec<u64> = (0..8).map(|i| 1 << i).collect();
    for _ in 0..64 {
        let (a, b) = (random.below(8), random.below(8));
        rows[a] ^= if a == b { 0 } else { rows[b] };
    }
    let constant = random.below(256) as u64;
    let bit = |x: u64, i: usize| (rows[i] & x).count_ones() as u64 & 1;
    (0..256).map(|x| (0..8).fold(constant, |sum, i| sum ^ bit(x, i) << i)).collect()
}

#[test]
fn inversion_is_found_between_any_two_affine_maps() {
    let inversion = boxes::named("AES");
    let mut random = Random::new(21);
    for profile in Profile::ALL {
        let (before, after) = (affine(&mut random), affine(&mut random));
        let entries = before.iter().map(|&x| after[inversion.entries[x as usize] as usize]);
        let table = Table { entries: entries.collect(), ..inversion };
        let circuit = inversion::synthesise(&table, profile, EFFORT).expect("it is inversion");
        assert_eq!(simulate(&circuit), table.entries);
        assert!(circuit.cost(profile).is_some_and(|count| count <= 130), "{profile:?}");
    }
}

#[test]
fn boxes_that_only_look_like_inversion_are_not_taken_for_it() {
    let power = |e: usize| boxes::power(e, 0x11b);
    // 127 = 254 / 2 modulo 255, and squaring is linear; 7 is neither.
    assert!(inversion::maps(&power(127)).is_some());
    assert!(inversion::maps(&power(7)).is_none());
    let mut swapped = power(254);
    swapped.entries.swap(3, 4);
    assert!(inversion::maps(&swapped).is_none());
    assert!(inversion::maps(&random_table(8, 8, 3)).is_none());
    assert!(inversion::maps(&boxes::named("PRESENT")).is_none());
}

#[test]
fn designed_tables_without_their_entry_are_not_much_worse_than_random_ones() {
    let aes = horner::synthesise(&boxes::named("AES"), Profile::Andn);
    assert!(aes.cost(Profile::Andn).is_some_and(|count| count <= 550));
    let des = horner::synthesise(&boxes::named("DES S1"), Profile::Basic);
    assert!(des.cost(Profile::Basic).is_some_and(|count| count <= 90));
}

#[test]
fn simple_outputs_cost_next_to_nothing() {
    // Zero, one, an input, its complement, twice the same sum, the complement of that.
    let output = |x: u64| {
        let (a, b, c) = (x >> 2 & 1, x >> 1 & 1, x & 1);
        let bits = [0, 1, b, 1 ^ b, a ^ b ^ c, a ^ b ^ c, 1 ^ a ^ b ^ c];
        bits.iter().fold(0, |sum, bit| sum << 1 | bit)
    };
    let table = Table { inputs: 3, outputs: 7, entries: (0..8).map(output).collect() };
    assert_eq!(Profile::ALL.map(|profile| cost(&table, profile)), [4, 4, 3]);
}

#[test]
fn equal_arguments_give_equal_circuits() {
    for (inputs, outputs) in [(4, 4), (5, 2), (6, 4)] {
        let table = random_table(inputs, outputs, 77);
        for profile in Profile::ALL {
            assert_eq!(
                for_table(&table, profile, Goal::Size),
                for_table(&table, profile, Goal::Size)
            );
        }
    }
}

#[test]
fn reordered_wires_hit_the_database_at_the_same_cost() {
    let mut random = Random::new(5);
    for name in ["PRESENT", "Serpent S4", "Ascon", "chi-3", "SKINNY-64 inverse"] {
        let table = boxes::named(name);
        for profile in Profile::ALL {
            let count = cost(&table, profile);
            for _ in 0..8 {
                let inputs = places(table.inputs, false, &mut random);
                let outputs = places(table.outputs, false, &mut random);
                let other = moved(&table, &inputs, &outputs);
                assert_eq!(cost(&other, profile), count, "{name} {profile:?}");
            }
        }
    }
}

#[test]
fn complemented_wires_hit_the_database_and_cost_a_not_each_at_most() {
    let mut random = Random::new(6);
    for name in ["PRESENT", "Serpent S7", "Ascon", "AES", "DES S3"] {
        let table = boxes::named(name);
        for profile in Profile::ALL {
            let count = cost(&table, profile);
            for _ in 0..8 {
                let free = table.inputs <= npn::MOST_FREE_INPUTS;
                let inputs = match free {
                    true => places(table.inputs, true, &mut random),
                    false => (0..table.inputs).map(|i| (i, false)).collect(),
                };
                let outputs = places(table.outputs, true, &mut random);
                let other = moved(&table, &inputs, &outputs);
                let circuit = known::find(&other, profile, Goal::Size).expect("the class is known");
                assert_eq!(simulate(&circuit), other.entries, "{name} {profile:?}");
                let signs = inputs.iter().chain(&outputs).filter(|(_, sign)| *sign).count();
                let most = if profile == Profile::Lut3 { count } else { count + signs };
                assert!(circuit.cost(profile).is_some_and(|c| c <= most), "{name} {profile:?}");
            }
        }
    }
}

#[test]
fn all_tables_of_a_class_have_its_key() {
    let mut random = Random::new(8);
    let class = |table: &Table| {
        npn::class(table.inputs, &simulate::table_truths(table)).expect("few outputs")
    };
    for inputs in 1..=5 {
        for outputs in 1..=4 {
            let table = random_table(inputs, outputs, 1000 + inputs as u64 * 10 + outputs as u64);
            let ins = places(inputs, true, &mut random);
            let other = moved(&table, &ins, &places(outputs, true, &mut random));
            assert_eq!(class(&table).representative, class(&other).representative);
            assert_eq!(class(&table).key, class(&other).key);
        }
    }
    assert_ne!(class(&boxes::named("PRESENT")).key, class(&boxes::named("GIFT")).key);
}

/// `BLESS=1` writes the keys anew, for entries whose key was left zero.
#[test]
fn keys_are_those_of_the_circuits() {
    for (file, content) in known::FILES {
        let mut fixed = content.to_string();
        let mut at = 0;
        for (key, entry) in known::entries(content).expect("every entry parses") {
            let circuit = &entry.circuit;
            assert_eq!(circuit.check(entry.profile), Ok(()), "{file}: {circuit}");
            let truths = circuit.truths();
            let outputs: Vec<_> = circuit.outputs.iter().map(|&w| truths[w as usize]).collect();
            let class = npn::class(circuit.inputs, &outputs).expect("few outputs");
            let head = format!("\n{key:016x} ");
            at += 1 + fixed[at..].find(&head).expect("keys are written with sixteen digits");
            fixed.replace_range(at..at + 16, &format!("{:016x}", class.key));
        }
        if fixed != *content && std::env::var_os("BLESS").is_some() {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/known");
            std::fs::write(folder.join(file), &fixed).expect("the file can be written");
        } else {
            assert_eq!(fixed, *content, "{file}");
        }
    }
}

/// MixColumns of FIPS 197 with this first row: bytes one after the other, most significant bit
/// first.
fn mix_columns(first: [u64; 4]) -> Vec<u128> {
    let image = |byte: usize, bit: usize| -> u128 {
        (0..4).fold(0, |column, row| {
            let factor = first[(4 + byte - row) % 4];
            column << 8 | boxes::times(factor, 0x80 >> bit, 0x11b) as u128
        })
    };
    let images: Vec<u128> = (0..32).map(|j| image(j / 8, j % 8)).collect();
    let row = |k: usize| (0..32).fold(0, |row, j| row | (images[j] >> (31 - k) & 1) << j);
    (0..32).map(row).collect()
}

#[test]
fn known_matrices_cost_what_the_database_promises() {
    for (first, counts) in [([2, 3, 1, 1], [91, 91, 62]), ([14, 11, 13, 9], [93, 93, 76])] {
        let rows = mix_columns(first);
        let turned: Vec<u128> =
            rows.iter().rev().map(|row| (*row as u32).reverse_bits() as u128).collect();
        for rows in [rows, turned] {
            let found = Profile::ALL.map(|profile| {
                let circuit = for_matrix(32, &rows, profile).expect("the matrix is known");
                assert_eq!(circuit.check(profile), Ok(()));
                circuit.cost(profile)
            });
            assert_eq!(found, counts.map(Some));
        }
    }
    assert_eq!(for_matrix(2, &[0b11, 0b10], Profile::Basic), None);
}

/// `BLESS=1` writes the keys anew, as for tables.
#[test]
fn keys_of_matrices_are_those_of_the_circuits() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/known/linear.txt");
    let content = std::fs::read_to_string(&path).expect("the file can be read");
    let mut fixed = content.clone();
    let mut at = 0;
    for (key, entry) in known::entries(&content).expect("every entry parses") {
        assert_eq!(entry.circuit.check(entry.profile), Ok(()), "{}", entry.circuit);
        let rows = matrices::matrix(&entry.circuit).expect("sums");
        at += 1 + fixed[at..].find(&format!("\n{key:016x} ")).expect("sixteen digits");
        let own = matrices::key(entry.circuit.inputs as usize, &rows);
        fixed.replace_range(at..at + 16, &format!("{own:016x}"));
    }
    if fixed != content && std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &fixed).expect("the file can be written");
    } else {
        assert_eq!(fixed, content);
    }
}

#[test]
fn circuits_survive_being_written() {
    for (_, content) in known::FILES {
        for (_, entry) in known::entries(content).expect("every entry parses") {
            assert_eq!(parse(&entry.circuit.to_string()), Some(entry.circuit));
        }
    }
    let gates = vec![Gate::Zero, Gate::One, Gate::Not(0), Gate::Andn(1, 0)];
    let circuit = Circuit { inputs: 2, gates, outputs: vec![2, 3, 4, 5] };
    assert_eq!(circuit.to_string(), "2 bits: zero one ~0 ~1&0 -> 2 3 4 5");
    assert_eq!(parse(&circuit.to_string()), Some(circuit));
    for text in ["", "2 bits: 0&1", "2 bits: 0+1 -> 2", "x bits: -> 0", "2 bits: 4(0,1,0) ->  y"] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn faults_of_circuits_are_found() {
    let circuit = |gates: &[Gate], outputs: &[Wire]| Circuit {
        inputs: 2,
        gates: gates.to_vec(),
        outputs: outputs.to_vec(),
    };
    let check = |gates: &[Gate], outputs: &[Wire], profile| circuit(gates, outputs).check(profile);
    assert_eq!(check(&[Gate::And(0, 2)], &[2], Profile::Basic), Err(Fault::Order(0)));
    assert_eq!(check(&[Gate::Andn(0, 1)], &[2], Profile::Basic), Err(Fault::Foreign(0)));
    assert_eq!(check(&[Gate::Andn(0, 1)], &[2], Profile::Andn), Ok(()));
    assert_eq!(check(&[Gate::Not(0), Gate::Not(1)], &[3], Profile::Lut3), Err(Fault::Dead(0)));
    assert_eq!(check(&[Gate::Not(0)], &[2, 3], Profile::Basic), Err(Fault::Output(1)));
    assert_eq!(circuit(&[Gate::Lut3(1, 0, 1, 0)], &[2]).cost(Profile::Andn), None);
    let tidy = circuit(&[Gate::Not(0), Gate::Xor(0, 1)], &[3]).without_dead_gates();
    assert_eq!(tidy, circuit(&[Gate::Xor(0, 1)], &[2]));
}

#[test]
fn all_gates_mean_what_they_say() {
    let gates = vec![
        Gate::Zero,
        Gate::One,
        Gate::Not(0),
        Gate::And(0, 1),
        Gate::Or(0, 1),
        Gate::Xor(0, 1),
        Gate::Andn(0, 1),
        Gate::Lut3(0b1010_0010, 0, 1, 2),
    ];
    let circuit = Circuit { inputs: 3, gates, outputs: (3..11).collect() };
    let expected = (0..8u64).map(|x| {
        let (a, b) = (x >> 2 & 1, x >> 1 & 1);
        let bits = [0, 1, 1 ^ a, a & b, a | b, a ^ b, (1 ^ a) & b, 0b1010_0010 >> x & 1];
        bits.iter().fold(0, |sum, bit| sum << 1 | bit)
    });
    assert_eq!(simulate(&circuit), expected.collect::<Vec<u64>>());
}
