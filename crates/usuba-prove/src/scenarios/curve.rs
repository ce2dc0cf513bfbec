//! X25519 around its kernel: refused points, and results; products with the base point.

use usuba_bits::cell::Cell;
use usuba_ciphers::curve::x25519_base;
use usuba_ciphers::modes::Bytes;

use super::run::{Room, Run, at, number};
use super::symbols::{Byte, Symbols};
use super::{POINT, Scenarios};

/// The coordinates below 2^255 of points whose order divides 8, least significant byte first:
/// 0, 1, two others, and p - 1, p, p + 1 (<https://cr.yp.to/ecdh.html>).
fn small() -> [[u8; 32]; 7] {
    let number = |first: u8, middle: u8, last: u8| {
        let mut bytes = [middle; 32];
        (bytes[0], bytes[31]) = (first, last);
        bytes
    };
    let hex = |text: &str| {
        let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16);
        std::array::from_fn(|at| byte(at).expect("two digits"))
    };
    [
        number(0, 0, 0),
        number(1, 0, 0),
        hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        number(0xec, 0xff, 0x7f),
        number(0xed, 0xff, 0x7f),
        number(0xee, 0xff, 0x7f),
    ]
}

/// Whether a point is refused; its highest bit does not count.
fn is_small(symbols: &mut Symbols, point: &[Byte]) -> Cell {
    let mut point = point.to_vec();
    point[31][7] = symbols.bits.constant(false);
    let mut any = symbols.bits.constant(false);
    for other in small() {
        let other = symbols.numbers(&other);
        let differ = symbols.differ(&point, &other);
        let equal = symbols.bits.not(differ);
        any = symbols.bits.or(any, equal);
    }
    any
}

/// Whether a public key is refused, and the key that it shares with a secret key: HSalsa20 of their
/// product.
pub(super) fn shared_key(
    symbols: &mut Symbols,
    secret: &[Byte],
    public: &[Byte],
) -> Result<(Cell, Vec<Byte>), String> {
    let shared = symbols.apply("x25519", &[], &[secret, public].concat())?;
    let zeros = symbols.numbers(&[0; 16]);
    let key = symbols.apply("hsalsa20", &shared, &zeros)?;
    Ok((is_small(symbols, public), key))
}

/// The result of X25519 if the point is not refused; else the bytes are the old ones.
fn product(run: &mut Run, [scalar, point, out]: [Room; 3]) -> Result<(Cell, Vec<Byte>), String> {
    let [scalar, point, old] = [scalar, point, out].map(|room| run.bytes(room));
    let symbols = &mut run.symbols();
    let refused = is_small(symbols, &point);
    let new = symbols.apply("x25519", &[], &[scalar, point].concat())?;
    Ok((refused, symbols.choose(refused, &old, &new)))
}

/// A scalar, a point, and where the result goes: apart, or in place of one of them.
fn buffers(run: &mut Run) -> [[Room; 3]; 3] {
    let [a, b, c, d] = [["scalar", "point"]; 4].map(|names| names.map(|name| run.text(name, 32)));
    [[a[0], a[1], d[0]], [b[0], b[1], b[0]], [c[0], c[1], c[1]]]
}

impl Scenarios<'_> {
    pub(super) fn curve(&mut self) {
        let all = [("x25519", POINT), ("crypto_scalarmult", -1)];
        for (name, status) in all {
            self.add(
                [name],
                "out = x25519(scalar, point); refused where the order of the point divides 8",
                vec![],
                move |run, [function], _| {
                    for rooms in buffers(run) {
                        let (refused, expected) = product(run, rooms)?;
                        let [scalar, point, out] = rooms.map(at);
                        let given = match status {
                            POINT => [scalar, point, out],
                            _ => [out, scalar, point],
                        };
                        run.call_refused(function, &given, (refused, status))?;
                        run.expect(rooms[2], &expected)?;
                    }
                    Ok(())
                },
            );
        }
        for (name, is_result_first) in [("x25519_base", false), ("crypto_scalarmult_base", true)] {
            self.add(
                [name],
                "out = (1 + y) / (1 - y) mod p for (x, y) = [clamped scalar] B on edwards25519",
                vec![],
                move |run, [function], _| {
                    for in_place in [false, true] {
                        let scalar = run.text("scalar", 32);
                        let out = if in_place { scalar } else { run.room("out", 32) };
                        let text = run.bytes(scalar);
                        let given = match is_result_first {
                            true => [at(out), at(scalar)],
                            false => [at(scalar), at(out)],
                        };
                        run.call(function, &given)?;
                        let expected = x25519_base(&mut run.symbols(), &text)?;
                        run.expect(out, &expected)?;
                    }
                    Ok(())
                },
            );
        }
        self.add(
            ["crypto_box_keypair"],
            "sk = random bytes, pk = (1 + y) / (1 - y) mod p for (x, y) = [clamped sk] B",
            vec![],
            |run, [function], _| {
                let (public, secret) = (run.room("pk", 32), run.room("sk", 32));
                run.call(function, &[at(public), at(secret)])?;
                let drawn = run.symbols().random(32)?;
                run.expect(secret, &drawn)?;
                let expected = x25519_base(&mut run.symbols(), &drawn)?;
                run.expect(public, &expected)
            },
        );
        self.products();
        self.add(
            ["crypto_box_beforenm"],
            "key = hsalsa20(x25519(secret key, public key), 0); refused where the order of the \
             public key divides 8",
            vec![],
            |run, [function], _| {
                for rooms in buffers(run) {
                    let [secret, public, old] = rooms.map(|room| run.bytes(room));
                    let symbols = &mut run.symbols();
                    let (refused, new) = shared_key(symbols, &secret, &public)?;
                    let expected = symbols.choose(refused, &old, &new);
                    let [secret, public, key] = rooms.map(at);
                    run.call_refused(function, &[key, public, secret], (refused, -1))?;
                    run.expect(rooms[2], &expected)?;
                }
                Ok(())
            },
        );
    }
    /// Several products.
    fn products(&mut self) {
        let counts = || vec![("count", vec![0, 1, 2, 3])];
        self.add(
            ["x25519_many"],
            "out[i] = x25519(scalars[i], points[i]); refused where one is zero",
            counts(),
            |run, [function], sizes| {
                let bytes = 32 * sizes[0];
                let (scalars, points) = (run.text("scalars", bytes), run.text("points", bytes));
                let out = run.room("out", bytes);
                let given = [scalars, points].map(|room| run.bytes(room));
                let symbols = &mut run.symbols();
                let (mut all, mut refused) = (Vec::new(), symbols.bits.constant(false));
                let zeros = symbols.numbers(&[0; 32]);
                for (scalar, point) in given[0].chunks(32).zip(given[1].chunks(32)) {
                    let product = symbols.apply("x25519", &[], &[scalar, point].concat())?;
                    let differs = symbols.differ(&product, &zeros);
                    let is_zero = symbols.bits.not(differs);
                    refused = symbols.bits.or(refused, is_zero);
                    all.extend(product);
                }
                let given = [at(scalars), at(points), at(out), number(sizes[0])];
                run.call_refused(function, &given, (refused, POINT))?;
                run.expect(out, &all)
            },
        );
        self.add(
            ["x25519_base_many"],
            "out[i] = (1 + y) / (1 - y) mod p for (x, y) = [clamped scalars[i]] B",
            counts(),
            |run, [function], sizes| {
                let scalars = run.text("scalars", 32 * sizes[0]);
                let out = run.room("out", 32 * sizes[0]);
                let text = run.bytes(scalars);
                run.call(function, &[at(scalars), at(out), number(sizes[0])])?;
                let mut expected = Vec::new();
                for scalar in text.chunks(32) {
                    expected.extend(x25519_base(&mut run.symbols(), scalar)?);
                }
                run.expect(out, &expected)
            },
        );
    }
}
