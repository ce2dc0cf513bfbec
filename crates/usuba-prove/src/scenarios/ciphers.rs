//! Blocks under a key, and modes of block ciphers.

use usuba_ciphers::modes::{Bytes, sum};
use usuba_ciphers::xts::Xts;
use usuba_library::Description;

use super::run::{Run, at, number};
use super::symbols::Byte;
use super::{SIZES, Scenarios, in_place};

impl Scenarios<'_> {
    /// `init` and the blocks of each operation of a primitive with a key.
    pub(super) fn keyed(&mut self, primitive: &Description) {
        for operation in &primitive.operations {
            self.blocks(&primitive.name, &operation.name, &operation.function, primitive.key);
        }
    }

    pub(super) fn blocks(&mut self, name: &str, operation: &str, function: &str, key: usize) {
        let (init, blocks) = (format!("{name}_init"), format!("{operation}_blocks"));
        let function = function.to_string();
        let mut sizes = vec![("nblocks", vec![0, 1, 2, 3, 5])];
        let is_square = |[_, input, output]: [usize; 3]| input == output;
        if self.known.sizes(&function).is_some_and(is_square) {
            sizes.push(in_place());
        }
        self.add(
            [&init, &blocks],
            format!("each block of out = {function}(key, block of in)"),
            sizes,
            move |run, [init, blocks], sizes| {
                let [_, input, output] = run.symbols().sizes(&function)?;
                let (words, bytes) = run.keyed(init, key)?;
                let bytes = run.bytes(bytes);
                let text = run.text("in", sizes[0] * input);
                let data = run.bytes(text);
                let out = match sizes.get(1) {
                    Some(1) => text,
                    _ => run.room("out", sizes[0] * output),
                };
                run.call(blocks, &[at(words), at(text), at(out), number(sizes[0])])?;
                let mut expected = Vec::new();
                for block in data.chunks_exact(input) {
                    expected.extend(run.symbols().apply(&function, &bytes, block)?);
                }
                run.expect(out, &expected)
            },
        );
    }

    /// The blocks of a block cipher in both directions, CTR, and CBC and XTS for blocks of 16 bytes.
    pub(super) fn block(&mut self, primitive: &Description, inverse: Option<usize>, wide: bool) {
        self.keyed(primitive);
        let (name, key) = (&primitive.name, primitive.key);
        let forward = primitive.operations[0].function.clone();
        let block = primitive.operations[0].input;
        let init = format!("{name}_init");
        // NIST SP 800-38A, section 6.5; the number is big-endian.
        let counted = move |run: &mut Run, key: &[Byte], first: u64, (position, length)| {
            let mut stream = Vec::new();
            let first = u128::from(first) + (position / block) as u128;
            let skipped = position % block;
            for number in first.. {
                if stream.len() >= skipped + length {
                    break;
                }
                let input = run.symbols().numbers(&number.to_be_bytes()[16 - block..]);
                stream.extend(run.symbols().apply(&forward, key, &input)?);
            }
            Ok::<_, String>(stream[skipped..skipped + length].to_vec())
        };
        let sizes = || {
            let last = if block == 16 { usize::MAX - 1 } else { 1 << 40 };
            vec![
                ("counter", vec![0, last]),
                ("position", vec![0, block + 1]),
                ("length", vec![0, 1, block, block + 1, 3 * block]),
            ]
        };
        let stream = counted.clone();
        if block <= 16 {
            self.add(
                [&init, &format!("{name}_ctr_keystream")],
                format!("out = {name}-ctr(key, counter)"),
                sizes(),
                move |run, [init, function], sizes| {
                    let &[first, position, length] = sizes else { return Err(SIZES.into()) };
                    let (words, bytes) = run.keyed(init, key)?;
                    let bytes = run.bytes(bytes);
                    let counter = run.constant("counter", &counter_block(first, block));
                    let out = run.room("out", length);
                    let given = [at(words), at(counter), number(position), at(out), number(length)];
                    run.call(function, &given)?;
                    let expected = stream(run, &bytes, first as u64, (position, length))?;
                    run.expect(out, &expected)
                },
            );
            // Long messages fill vector registers with blocks.
            let long = vec![
                ("counter", vec![0]),
                ("position", vec![0]),
                ("length", vec![24 * block + 1]),
                in_place(),
            ];
            for sizes in [[sizes(), vec![in_place()]].concat(), long] {
                let counted = counted.clone();
                self.add(
                    [&init, &format!("{name}_ctr")],
                    format!("out = in ^ {name}-ctr(key, counter)"),
                    sizes,
                    move |run, [init, function], sizes| {
                        let &[first, position, length, place] = sizes else {
                            return Err(SIZES.into());
                        };
                        let (words, bytes) = run.keyed(init, key)?;
                        let bytes = run.bytes(bytes);
                        let counter = run.constant("counter", &counter_block(first, block));
                        let text = run.text("in", length);
                        let data = run.bytes(text);
                        let out = if place == 1 { text } else { run.room("out", length) };
                        let given = [
                            at(words),
                            at(counter),
                            number(position),
                            at(text),
                            at(out),
                            number(length),
                        ];
                        run.call(function, &given)?;
                        let stream = counted(run, &bytes, first as u64, (position, length))?;
                        let expected = sum(&mut run.symbols(), &data, &stream);
                        run.expect(out, &expected)
                    },
                );
            }
        }
        if let Some(inverse) = inverse.filter(|_| wide) {
            let inverse = &primitive.operations[inverse].function;
            self.chaining(primitive, &init, inverse);
            self.data_units(primitive, &init, ("encrypt", &primitive.operations[0].function));
            self.data_units(primitive, &init, ("decrypt", inverse));
        }
    }

    /// A direction of XTS.
    fn data_units(&mut self, primitive: &Description, init: &str, direction: (&str, &str)) {
        let (name, key, block) = (&primitive.name, primitive.key, primitive.operations[0].input);
        let encrypt = primitive.operations[0].function.clone();
        let (direction, operation) = (direction.0, direction.1.to_string());
        let is_decryption = direction == "decrypt";
        self.add(
            [init, &format!("{name}_xts_{direction}")],
            format!("out = xts-{direction}({name}, key, tweak key, tweak, in)"),
            vec![
                ("length", vec![block, block + 1, 3 * block - 1, 5 * block, 24 * block + 5]),
                in_place(),
            ],
            move |run, [init, function], sizes| {
                let &[length, place] = sizes else { return Err(SIZES.into()) };
                let (words, bytes) = run.keyed(init, key)?;
                let (tweak_words, tweak_bytes) = run.keyed(init, key)?;
                let (tweak, text) = (run.text("tweak", block), run.text("in", length));
                let [key, tweak_key, unit, data] =
                    [bytes, tweak_bytes, tweak, text].map(|room| run.bytes(room));
                let out = if place == 1 { text } else { run.room("out", length) };
                let [tweak, text, out_at] = [tweak, text, out].map(at);
                let given = [at(words), at(tweak_words), tweak, text, out_at, number(length)];
                run.call(function, &given)?;
                let mode = Xts { encrypt: &encrypt, operation: &operation, is_decryption };
                let keys = [&key[..], &tweak_key];
                let expected = mode.unit(&mut run.symbols(), keys, &unit, &data)?;
                run.expect(out, &expected)
            },
        );
    }

    /// CBC decryption: NIST SP 800-38A, section 6.2.
    fn chaining(&mut self, primitive: &Description, init: &str, inverse: &str) {
        let (key, block, inverse) =
            (primitive.key, primitive.operations[0].input, inverse.to_string());
        self.add(
            [init, &format!("{}_cbc_decrypt", primitive.name)],
            format!("block i of out = {inverse}(key, block i of in) ^ block i - 1 of iv ++ in"),
            vec![("length", vec![0, block, 2 * block, 5 * block, 24 * block]), in_place()],
            move |run, [init, function], sizes| {
                let &[length, place] = sizes else { return Err(SIZES.into()) };
                let (words, bytes) = run.keyed(init, key)?;
                let bytes = run.bytes(bytes);
                let (iv, text) = (run.text("iv", block), run.text("in", length));
                let (mut before, data) = (run.bytes(iv), run.bytes(text));
                let out = if place == 1 { text } else { run.room("out", length) };
                run.call(function, &[at(words), at(iv), at(text), at(out), number(length)])?;
                let mut expected = Vec::new();
                for block in data.chunks_exact(block) {
                    let symbols = &mut run.symbols();
                    let decrypted = symbols.apply(&inverse, &bytes, block)?;
                    expected.extend(sum(symbols, &decrypted, &before));
                    before = block.to_vec();
                }
                run.expect(out, &expected)
            },
        );
    }
}

/// A counter of a block with this value.
fn counter_block(first: usize, block: usize) -> Vec<u8> {
    (first as u128).to_be_bytes()[16 - block..].to_vec()
}
