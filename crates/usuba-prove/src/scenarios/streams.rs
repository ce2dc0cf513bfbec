//! Keystreams.

use usuba_ciphers::modes::{Bytes, counted, keystream, sum};
use usuba_library::Description;

use super::run::{Room, Run, at, number};
use super::symbols::Byte;
use super::{SIZES, Scenarios, in_place};

impl<'a> Scenarios<'a> {
    /// `init`, `xor`, `keystream` and `blocks` of a keystream from numbered blocks.
    pub(super) fn stream(&mut self, primitive: &Description) {
        let (name, key, nonce) = (&primitive.name, primitive.key, primitive.nonce);
        let Some(function) = self.function(&primitive.operations[0].function) else { return };
        let place = function.name.clone();
        let bytes = move |run: &mut Run, key: Room, nonce: Room, position: usize, length: usize| {
            let [key, nonce] = [key, nonce].map(|room| run.bytes(room));
            let symbols = &mut run.symbols();
            let block = symbols.sizes(&function.name)?[2];
            let (first, skipped) = ((position / block) as u64, position % block);
            let all = counted(symbols, function, &key, &nonce, first, skipped + length)?;
            Ok::<_, String>(all[skipped..].to_vec())
        };
        self.streamed(name, &format!("{place}(key, nonce ++ number)"), (key, nonce), bytes);
        self.blocks(name, name, &place, key);
    }

    /// The same of a keystream with a long nonce.
    pub(super) fn extended(&mut self, primitive: &Description) {
        let (name, key, nonce) = (&primitive.name, primitive.key, primitive.nonce);
        let mut streams = self.ciphers.iter().flat_map(|cipher| &cipher.streams);
        let Some(stream) = streams.find(|stream| stream.name == *name) else { return };
        let Some(then) = self.function(&stream.then) else { return };
        let bytes = move |run: &mut Run, key: Room, nonce: Room, position: usize, length: usize| {
            let [key, nonce] = [key, nonce].map(|room| run.bytes(room));
            let symbols = &mut run.symbols();
            let block = symbols.sizes(&then.name)?[2];
            let (first, skipped) = ((position / block) as u64, position % block);
            let parts = (stream, then);
            let all = keystream(symbols, parts, &key, &nonce, first, skipped + length)?;
            Ok::<_, String>(all[skipped..].to_vec())
        };
        let formula = format!("{}({}(key, nonce), number)", stream.then, stream.first);
        self.streamed(name, &formula, (key, nonce), bytes);
    }

    fn streamed(
        &mut self,
        name: &str,
        formula: &str,
        (key, nonce): (usize, usize),
        bytes: impl Fn(&mut Run, Room, Room, usize, usize) -> Result<Vec<Byte>, String>
        + Sync
        + Clone
        + 'a,
    ) {
        let positions = || ("position", vec![0, 63, 64, 130]);
        let lengths = || ("length", vec![0, 1, 16, 63, 64, 65, 128, 200]);
        let (init, xor, stream) =
            (format!("{name}_init"), format!("{name}_xor"), format!("{name}_keystream"));
        // Long messages fill vector registers with blocks.
        let long = vec![("position", vec![0]), ("length", vec![1100]), in_place()];
        for sizes in [vec![positions(), lengths(), in_place()], long] {
            let own = bytes.clone();
            self.add(
                [&init, &xor],
                format!("out = in ^ {formula}"),
                sizes,
                move |run, [init, xor], sizes| {
                    let &[position, length, place] = sizes else { return Err(SIZES.into()) };
                    let (words, bytes) = run.keyed(init, key)?;
                    let (nonce, input) = (run.text("nonce", nonce), run.text("in", length));
                    let text = run.bytes(input);
                    let out = if place == 1 { input } else { run.room("out", length) };
                    let given = [
                        at(words),
                        at(nonce),
                        number(position),
                        at(input),
                        at(out),
                        number(length),
                    ];
                    run.call(xor, &given)?;
                    let stream = own(run, bytes, nonce, position, length)?;
                    let expected = sum(&mut run.symbols(), &text, &stream);
                    run.expect(out, &expected)
                },
            );
        }
        self.add(
            [&init, &stream],
            format!("out = {formula}"),
            vec![positions(), lengths()],
            move |run, [init, stream], sizes| {
                let &[position, length] = sizes else { return Err(SIZES.into()) };
                let (words, text) = run.keyed(init, key)?;
                let (nonce, out) = (run.text("nonce", nonce), run.room("out", length));
                let given = [at(words), at(nonce), number(position), at(out), number(length)];
                run.call(stream, &given)?;
                let expected = bytes(run, text, nonce, position, length)?;
                run.expect(out, &expected)
            },
        );
    }
}
