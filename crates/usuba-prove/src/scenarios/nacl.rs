//! Functions with the names of NaCl.

use usuba_ciphers::modes::{Bytes, HashFunction, counted, keystream, sum};

use super::run::{Room, Run, at, number};
use super::symbols::Byte;
use super::{FORGED, Scenarios, in_place};

/// The constant that `crypto_core` functions take.
const SIGMA: &[u8; 16] = b"expand 32-byte k";

impl<'a> Scenarios<'a> {
    /// The names of NaCl for hashes, keystreams and their blocks.
    pub(super) fn nacl(&mut self) {
        self.nacl_hash();
        for (function, input, output) in [("salsa20_block", 16, 64), ("hsalsa20", 16, 32)] {
            let core = format!("crypto_core_{}", function.trim_end_matches("_block"));
            self.add(
                [&core],
                format!("out = {function}(k, in); refused where c is not the constant"),
                vec![],
                move |run, [core], _| {
                    // The result may replace a key of its size.
                    for in_place in [false, true].into_iter().filter(|p| !p || output == 32) {
                        let (key, text) = (run.text("k", 32), run.text("in", input));
                        let out = if in_place { key } else { run.text("out", output) };
                        let c = run.text("c", 16);
                        let [old, k, block, c_bytes] =
                            [out, key, text, c].map(|room| run.bytes(room));
                        let symbols = &mut run.symbols();
                        let sigma = symbols.numbers(SIGMA);
                        let refused = symbols.differ(&c_bytes, &sigma);
                        let new = symbols.apply(function, &k, &block)?;
                        let expected = symbols.choose(refused, &old, &new);
                        let given = [at(out), at(text), at(key), at(c)];
                        run.call_refused(core, &given, (refused, -1))?;
                        run.expect(out, &expected)?;
                    }
                    Ok(())
                },
            );
        }
        if let Some(function) = self.function("salsa20_block") {
            let bytes = move |run: &mut Run, key: Room, nonce: Room, length: usize| {
                let [key, nonce] = [key, nonce].map(|room| run.bytes(room));
                counted(&mut run.symbols(), function, &key, &nonce, 0, length)
            };
            self.nacl_stream("crypto_stream_salsa20", "salsa20", 8, bytes);
        }
        let mut streams = self.ciphers.iter().flat_map(|cipher| &cipher.streams);
        let stream = streams.find(|stream| stream.name == "xsalsa20");
        if let Some((stream, then)) = stream.and_then(|s| Some((s, self.function(&s.then)?))) {
            let bytes = move |run: &mut Run, key: Room, nonce: Room, length: usize| {
                let [key, nonce] = [key, nonce].map(|room| run.bytes(room));
                keystream(&mut run.symbols(), (stream, then), &key, &nonce, 0, length)
            };
            self.nacl_stream("crypto_stream", "xsalsa20", stream.nonce, bytes);
        }
    }

    /// Comparisons of bytes.
    pub(super) fn compare(&mut self) {
        let all = [("compare", None, FORGED), ("nacl_compare", None, FORGED)];
        let nacl = [16, 32].map(|bytes| (bytes, format!("crypto_verify_{bytes}")));
        let nacl = nacl.iter().map(|(bytes, name)| (&**name, Some(*bytes), -1));
        for (name, fixed, status) in all.into_iter().chain(nacl) {
            let sizes = match fixed {
                Some(_) => vec![],
                None => vec![("length", vec![0, 1, 2, 16, 32, 33])],
            };
            self.add(
                [name],
                "refused where one and other differ",
                sizes,
                move |run, [function], sizes| {
                    let length = fixed.unwrap_or_else(|| sizes[0]);
                    let (one, other) = (run.text("one", length), run.text("other", length));
                    let (a, b) = (run.bytes(one), run.bytes(other));
                    let differ = run.symbols().differ(&a, &b);
                    let mut given = vec![at(one), at(other)];
                    if fixed.is_none() {
                        given.push(number(length));
                    }
                    run.call_refused(function, &given, (differ, status))
                },
            );
        }
    }

    /// Zeroization.
    pub(super) fn wipe(&mut self) {
        for name in ["wipe", "nacl_wipe"] {
            self.add(
                [name],
                "memory = zeros",
                vec![("length", (0..=70).collect())],
                |run, [function], sizes| {
                    let memory = run.text("memory", sizes[0]);
                    run.call(function, &[at(memory), number(sizes[0])])?;
                    let zeros = run.symbols().numbers(&vec![0; sizes[0]]);
                    run.expect(memory, &zeros)
                },
            );
        }
    }

    fn nacl_hash(&mut self) {
        let mut hashes = self.ciphers.iter().flat_map(|cipher| &cipher.hashes);
        let Some(hash) = hashes.find(|hash| hash.name == "sha512") else { return };
        self.add(
            ["crypto_hash"],
            "out = sha512(m)",
            vec![("length", (0..=300).collect())],
            move |run, [function], sizes| {
                let (out, text) = (run.room("out", 64), run.text("m", sizes[0]));
                run.call(function, &[at(out), at(text), number(sizes[0])])?;
                let text = run.bytes(text);
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let expected = mode.hash(&mut run.symbols(), &text)?;
                run.expect(out, &expected)
            },
        );
        self.add(
            ["crypto_hashblocks"],
            "state = state after the blocks of m",
            vec![("length", vec![0, 128, 256, 384])],
            move |run, [function], sizes| {
                let (state, text) = (run.text("state", 64), run.text("m", sizes[0]));
                let (before, blocks) = (run.bytes(state), run.bytes(text));
                run.call(function, &[at(state), at(text), number(sizes[0])])?;
                let mode = HashFunction::new(&run.symbols(), hash)?;
                let expected = mode.chained(&mut run.symbols(), before, &blocks)?;
                run.expect(state, &expected)
            },
        );
    }

    fn nacl_stream(
        &mut self,
        name: &str,
        cipher: &str,
        nonce: usize,
        bytes: impl Fn(&mut Run, Room, Room, usize) -> Result<Vec<Byte>, String> + Sync + Clone + 'a,
    ) {
        let lengths = || ("length", vec![0, 1, 63, 64, 65, 128, 200]);
        let own = bytes.clone();
        self.add(
            [name],
            format!("out = {cipher}(key, nonce)"),
            vec![lengths()],
            move |run, [function], sizes| {
                let (key, nonce) = (run.text("key", 32), run.text("nonce", nonce));
                let out = run.room("out", sizes[0]);
                run.call(function, &[at(out), number(sizes[0]), at(nonce), at(key)])?;
                let expected = own(run, key, nonce, sizes[0])?;
                run.expect(out, &expected)
            },
        );
        self.add(
            [&format!("{name}_xor")],
            format!("out = in ^ {cipher}(key, nonce)"),
            vec![lengths(), in_place()],
            move |run, [function], sizes| {
                let (key, nonce) = (run.text("key", 32), run.text("nonce", nonce));
                let input = run.text("in", sizes[0]);
                let text = run.bytes(input);
                let out = if sizes[1] == 1 { input } else { run.room("out", sizes[0]) };
                let given = [at(out), at(input), number(sizes[0]), at(nonce), at(key)];
                run.call(function, &given)?;
                let stream = bytes(run, key, nonce, sizes[0])?;
                let expected = sum(&mut run.symbols(), &text, &stream);
                run.expect(out, &expected)
            },
        );
    }
}
