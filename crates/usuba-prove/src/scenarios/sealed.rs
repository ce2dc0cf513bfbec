//! Poly1305, and authenticated encryption of a keystream with it.

use usuba_bits::cell::Cell;
use usuba_ciphers::modes::Bytes;
use usuba_ciphers::sealed::{opened, poly1305, sealed};
use usuba_ciphers::{Function, Seal, SealMode};
use usuba_library::{Description, Kind};

use super::curve::shared_key;
use super::run::{Given, Room, Run, at, number};
use super::symbols::Byte;
use super::{FORGED, POINT, SIZES, Scenarios, in_place};

/// Bytes of a tag.
const TAG: usize = 16;

/// The parts of a message: its key and its nonce, associated data and the text.
#[derive(Clone, Copy)]
struct Message {
    key: Room,
    nonce: Room,
    data: Option<Room>,
    text: Room,
}

/// A mode with the function of its keystream.
type Mode<'a> = (&'a Seal, &'a Function);

impl Message {
    /// The other text and the tag, by the specification.
    fn made(
        self,
        run: &mut Run,
        mode: Mode,
        is_open: bool,
    ) -> Result<(Vec<Byte>, Vec<Byte>), String> {
        let [key, nonce, text] = [self.key, self.nonce, self.text].map(|room| run.bytes(room));
        let data = self.data.map_or(Vec::new(), |room| run.bytes(room));
        let parts = [&key[..], &nonce, &data, &text];
        match is_open {
            true => opened(&mut run.symbols(), mode, parts),
            false => sealed(&mut run.symbols(), mode, parts),
        }
    }

    /// The arguments before the result of a call with the words of the key.
    fn given(self, words: Room, sizes: &Sizes) -> Vec<Given> {
        let mut given = vec![at(words), at(self.nonce)];
        if let Some(data) = self.data {
            given.extend([at(data), number(sizes.data)]);
        }
        given
    }
}

/// The sizes of a case.
struct Sizes {
    data: usize,
    length: usize,
    in_place: bool,
}

impl<'a> Scenarios<'a> {
    /// Poly1305 for one message, and for one in pieces.
    pub(super) fn poly1305(&mut self) {
        let lengths = || ("length", vec![0, 1, 15, 16, 17, 32, 33, 48, 63, 64, 65, 80, 128, 145]);
        self.add(
            ["poly1305_tag"],
            "tag = poly1305(key, in)",
            vec![lengths()],
            |run, [function], sizes| {
                let (key, text, tag) =
                    (run.text("key", 32), run.text("in", sizes[0]), run.room("tag", TAG));
                run.call(function, &[at(key), at(text), number(sizes[0]), at(tag)])?;
                let expected = code(run, key, &[text])?;
                run.expect(tag, &expected)
            },
        );
        self.add(
            ["poly1305_check"],
            "refused where tag differs from poly1305(key, in)",
            vec![lengths()],
            |run, [function], sizes| {
                let (key, text, tag) =
                    (run.text("key", 32), run.text("in", sizes[0]), run.text("tag", TAG));
                let differs = other_code(run, key, &[text], tag)?;
                let given = [at(key), at(text), number(sizes[0]), at(tag)];
                run.call_refused(function, &given, (differs, FORGED))
            },
        );
        let pieces = || vec![0, 1, 15, 16, 17, 33, 64];
        self.add(
            ["poly1305_begin", "poly1305_update", "poly1305_final"],
            "begin, update a, update b, final: tag = poly1305(key, a ++ b)",
            vec![("a", pieces()), ("b", pieces())],
            |run, [begin, update, last], sizes| {
                let (key, parts) = begun(run, [begin, update], sizes)?;
                let tag = run.room("tag", TAG);
                run.call(last, &[at(key.0), at(tag)])?;
                let expected = code(run, key.1, &parts)?;
                run.expect(tag, &expected)
            },
        );
        self.add(
            ["poly1305_begin", "poly1305_update", "poly1305_verify"],
            "begin, update a, update b, verify: refused where tag differs from poly1305(key, a ++ b)",
            vec![("a", vec![0, 15, 17]), ("b", vec![0, 1, 16, 33])],
            |run, [begin, update, last], sizes| {
                let (key, parts) = begun(run, [begin, update], sizes)?;
                let tag = run.text("tag", TAG);
                let differs = other_code(run, key.1, &parts, tag)?;
                run.call_refused(last, &[at(key.0), at(tag)], (differs, FORGED))
            },
        );
        self.add(
            ["crypto_onetimeauth"],
            "tag = poly1305(key, m)",
            vec![lengths()],
            |run, [function], sizes| {
                let (tag, text, key) =
                    (run.room("tag", TAG), run.text("m", sizes[0]), run.text("key", 32));
                run.call(function, &[at(tag), at(text), number(sizes[0]), at(key)])?;
                let expected = code(run, key, &[text])?;
                run.expect(tag, &expected)
            },
        );
        self.add(
            ["crypto_onetimeauth_verify"],
            "refused where tag differs from poly1305(key, m)",
            vec![lengths()],
            |run, [function], sizes| {
                let (tag, text, key) =
                    (run.text("tag", TAG), run.text("m", sizes[0]), run.text("key", 32));
                let differs = other_code(run, key, &[text], tag)?;
                let given = [at(tag), at(text), number(sizes[0]), at(key)];
                run.call_refused(function, &given, (differs, -1))
            },
        );
    }

    /// The mode of a primitive, with the function of its keystream.
    pub(super) fn mode(&self, primitives: &[Description], name: &str) -> Option<Mode<'a>> {
        let seal =
            self.ciphers.iter().flat_map(|cipher| &cipher.seals).find(|s| s.name == *name)?;
        let stream = primitives.iter().find(|other| Some(&other.name) == seal.stream.as_ref())?;
        let then = self.function(&stream.operations.first()?.function)?;
        let is_known = matches!(seal.mode, SealMode::Rfc8439 | SealMode::Box);
        let is_stream = matches!(stream.kind, Kind::Stream(_));
        (is_known && is_stream).then_some((seal, then))
    }

    /// Authenticated encryption: detached, and with the tag beside the ciphertext.
    pub(super) fn sealed(&mut self, primitives: &[Description], primitive: &Description) {
        let name = &primitive.name;
        let Some(mode) = self.mode(primitives, name) else { return };
        let is_box = mode.0.mode == SealMode::Box;
        let (key, nonce) = (primitive.key, primitive.nonce);
        let names = ["init", "seal_detached", "open_detached", "seal", "open"];
        let [init, seal_detached, open_detached, seal, open] =
            names.map(|part| format!("{name}_{part}"));
        // Boxes have no data. Each order of the buffers in memory is a path of its own.
        let sizes = move |lengths: &[usize]| {
            let data = (!is_box).then(|| ("data_length", vec![0, 17]));
            data.into_iter().chain([("length", lengths.to_vec())]).collect::<Vec<_>>()
        };
        let detached = || [sizes(&[0, 1, 33, 64]), vec![in_place()]].concat();
        let whole = || sizes(&[0, 33, 64]);
        let message = move |run: &mut Run, init: &str, sizes: &[usize]| {
            let (data, rest) = match (is_box, sizes) {
                (true, rest) => (0, rest),
                (false, [data, rest @ ..]) => (*data, rest),
                _ => return Err(SIZES.to_string()),
            };
            let &[length, ref rest @ ..] = rest else { return Err(SIZES.to_string()) };
            let (words, key) = run.keyed(init, key)?;
            let nonce = run.text("nonce", nonce);
            let beside = (!is_box).then(|| run.text("data", data));
            let text = run.text("in", length);
            let sizes = Sizes { data, length, in_place: rest == [1] };
            Ok((words, Message { key, nonce, data: beside, text }, sizes))
        };
        let formula = match is_box {
            true => format!("{name}(key, nonce, in)"),
            false => format!("{name}(key, nonce, data, in)"),
        };
        self.add(
            [&init, &seal_detached],
            format!("(out, tag) = {formula}"),
            detached(),
            move |run, [init, function], sizes| {
                let (words, message, sizes) = message(run, init, sizes)?;
                let (cipher, wanted) = message.made(run, mode, false)?;
                let out = if sizes.in_place { message.text } else { run.room("out", sizes.length) };
                let tag = run.room("tag", TAG);
                let mut given = message.given(words, &sizes);
                given.extend([at(message.text), number(sizes.length), at(out), at(tag)]);
                run.call(function, &given)?;
                run.expect(out, &cipher)?;
                run.expect(tag, &wanted)
            },
        );
        self.add(
            [&init, &open_detached],
            format!("in = ciphertext of {formula} and tag, or refused and out unchanged"),
            detached(),
            move |run, [init, function], sizes| {
                let (words, message, sizes) = message(run, init, sizes)?;
                let (text, right) = message.made(run, mode, true)?;
                let tag = run.text("tag", TAG);
                let out = match sizes.in_place {
                    true => message.text,
                    false => run.text("out", sizes.length),
                };
                let (old, given_tag) = (run.bytes(out), run.bytes(tag));
                let symbols = &mut run.symbols();
                let refused = symbols.differ(&given_tag, &right);
                let expected = symbols.choose(refused, &old, &text);
                let mut given = message.given(words, &sizes);
                given.extend([at(message.text), number(sizes.length), at(tag), at(out)]);
                run.call_refused(function, &given, (refused, FORGED))?;
                run.expect(out, &expected)
            },
        );
        self.add(
            [&init, &seal],
            format!("out = {formula}"),
            whole(),
            move |run, [init, function], sizes| {
                let (words, message, sizes) = message(run, init, sizes)?;
                let (cipher, tag) = message.made(run, mode, false)?;
                let out = run.room("out", sizes.length + TAG);
                let mut given = message.given(words, &sizes);
                given.extend([at(message.text), number(sizes.length), at(out)]);
                run.call(function, &given)?;
                run.expect(out, &if is_box { [tag, cipher] } else { [cipher, tag] }.concat())
            },
        );
        self.add(
            [&init, &open],
            format!("in = {formula}, or refused and out unchanged"),
            whole(),
            move |run, [init, function], sizes| {
                let (words, message, sizes) = message(run, init, sizes)?;
                let tag = run.text("tag", TAG);
                let (text, right) = message.made(run, mode, true)?;
                let both = if is_box { [tag, message.text] } else { [message.text, tag] };
                let input = run.joined("in", &both);
                let out = run.text("out", sizes.length);
                let (old, given_tag) = (run.bytes(out), run.bytes(tag));
                let symbols = &mut run.symbols();
                let refused = symbols.differ(&given_tag, &right);
                let expected = symbols.choose(refused, &old, &text);
                let mut given = message.given(words, &sizes);
                given.extend([at(input), number(sizes.length + TAG), at(out)]);
                run.call_refused(function, &given, (refused, FORGED))?;
                run.expect(out, &expected)
            },
        );
    }
}

/// The keys of a box of NaCl.
enum Keys {
    Shared(Room),
    Pair { public: Room, secret: Room },
}

impl Keys {
    /// The arguments, whether the keys are refused, and the key of the message.
    fn made(&self, run: &mut Run) -> Result<(Vec<Given>, Cell, Vec<Byte>), String> {
        match *self {
            Keys::Shared(key) => {
                let bytes = run.bytes(key);
                Ok((vec![at(key)], run.symbols().bits.constant(false), bytes))
            }
            Keys::Pair { public, secret } => {
                let given = vec![at(public), at(secret)];
                let [public, secret] = [public, secret].map(|room| run.bytes(room));
                let (refused, key) = shared_key(&mut run.symbols(), &secret, &public)?;
                Ok((given, refused, key))
            }
        }
    }
}

impl Scenarios<'_> {
    /// Boxes and secret boxes with the names of NaCl, whose messages come after zeros.
    pub(super) fn boxes(&mut self, primitives: &[Description]) {
        let is_box = |primitive: &&Description| primitive.kind == Kind::Seal(SealMode::Box);
        let Some(name) = primitives.iter().find(is_box).map(|primitive| &primitive.name) else {
            return;
        };
        let Some(mode) = self.mode(primitives, name) else { return };
        let init = self.name(&format!("{name}_init"));
        self.add(
            ["box_init"],
            format!(
                "key = {name}_init(hsalsa20(x25519(sk, pk), 0)); refused where the order of pk \
                     divides 8"
            ),
            vec![],
            move |run, [function], _| {
                let keys = Keys::Pair { public: run.text("pk", 32), secret: run.text("sk", 32) };
                let (more, refused, key) = keys.made(run)?;
                let words = run.state(&init)?;
                let bytes = run.bytes(words).len();
                let out = run.text("key", bytes);
                let old = run.bytes(out);
                let key = run.holding("shared", &key);
                run.call(&init, &[at(words), at(key), number(32)])?;
                let new = run.bytes(words);
                let expected = run.symbols().choose(refused, &old, &new);
                let given: Vec<Given> = std::iter::once(at(out)).chain(more).collect();
                run.call_refused(function, &given, (refused, POINT))?;
                run.expect(out, &expected)
            },
        );
        let all = [
            ("crypto_secretbox", "crypto_secretbox_open", false),
            ("crypto_box_afternm", "crypto_box_open_afternm", false),
            ("crypto_box", "crypto_box_open", true),
        ];
        for (seal, open, is_pair) in all {
            let keys = move |run: &mut Run| match is_pair {
                true => Keys::Pair { public: run.text("pk", 32), secret: run.text("sk", 32) },
                false => Keys::Shared(run.text("k", 32)),
            };
            let key = match is_pair {
                true => "hsalsa20(x25519(sk, pk), 0)",
                false => "k",
            };
            let formula = format!("{name}({key}, n, m)");
            let refused = match is_pair {
                true => "; refused where the order of pk divides 8",
                false => "",
            };
            let lengths = || ("length", [0, 1, 33].map(|text| ZEROS + text).to_vec());
            self.add(
                [seal],
                format!("c = zeros ++ {formula}{refused}"),
                vec![lengths()],
                move |run, [function], sizes| {
                    let (c, m, n) =
                        (run.text("c", sizes[0]), run.text("m", sizes[0]), run.text("n", 24));
                    let keys = keys(run);
                    let (more, refused, key) = keys.made(run)?;
                    let [old, text, nonce] = [c, m, n].map(|room| run.bytes(room));
                    let symbols = &mut run.symbols();
                    let parts = [&key[..], &nonce, &[], &text[ZEROS..]];
                    let (cipher, tag) = sealed(symbols, mode, parts)?;
                    let zeros = symbols.numbers(&[0; BOX_ZEROS]);
                    let expected = symbols.choose(refused, &old, &[zeros, tag, cipher].concat());
                    let mut given = vec![at(c), at(m), number(sizes[0]), at(n)];
                    given.extend(more);
                    run.call_refused(function, &given, (refused, -1))?;
                    run.expect(c, &expected)
                },
            );
            self.add(
                [open],
                format!("c = zeros ++ {formula}, or refused and m unchanged{refused}"),
                vec![lengths()],
                move |run, [function], sizes| {
                    let (m, c, n) =
                        (run.text("m", sizes[0]), run.text("c", sizes[0]), run.text("n", 24));
                    let keys = keys(run);
                    let (more, refused, key) = keys.made(run)?;
                    let [old, cipher, nonce] = [m, c, n].map(|room| run.bytes(room));
                    let symbols = &mut run.symbols();
                    let parts = [&key[..], &nonce, &[], &cipher[ZEROS..]];
                    let (text, right) = opened(symbols, mode, parts)?;
                    let is_forged = symbols.differ(&cipher[BOX_ZEROS..ZEROS], &right);
                    let refused = symbols.bits.or(refused, is_forged);
                    let zeros = symbols.numbers(&[0; ZEROS]);
                    let expected = symbols.choose(refused, &old, &[zeros, text].concat());
                    let mut given = vec![at(m), at(c), number(sizes[0]), at(n)];
                    given.extend(more);
                    run.call_refused(function, &given, (refused, -1))?;
                    run.expect(m, &expected)
                },
            );
        }
    }
}

/// The zeros before a message and before a box.
const ZEROS: usize = 32;
const BOX_ZEROS: usize = 16;

/// A state and the bytes of its key, and the pieces that it has taken.
type Begun = ((Room, Room), [Room; 2]);

fn begun(run: &mut Run, [begin, update]: [&String; 2], sizes: &[usize]) -> Result<Begun, String> {
    let (state, key) = (run.state(begin)?, run.text("key", 32));
    let parts = [0, 1].map(|part| run.text("in", sizes[part]));
    run.call(begin, &[at(state), at(key)])?;
    for (part, &size) in parts.iter().zip(sizes) {
        run.call(update, &[at(state), at(*part), number(size)])?;
    }
    Ok(((state, key), parts))
}

/// Poly1305 of texts, one behind the other.
fn code(run: &mut Run, key: Room, texts: &[Room]) -> Result<Vec<Byte>, String> {
    let text = texts.iter().flat_map(|&text| run.bytes(text)).collect::<Vec<_>>();
    let key = run.bytes(key);
    poly1305(&mut run.symbols(), &key, &text)
}

/// Whether a tag differs from Poly1305 of texts.
fn other_code(run: &mut Run, key: Room, texts: &[Room], tag: Room) -> Result<Cell, String> {
    let (tag, right) = (run.bytes(tag), code(run, key, texts)?);
    Ok(run.symbols().differ(&tag, &right))
}
