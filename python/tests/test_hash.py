"""Hash functions and MACs: vectors of the cipher folders, `hashlib` and `hmac`, and wrong calls."""

from __future__ import annotations

import hashlib
import hmac
import threading

import numpy as np
import pytest
import usuba
from conftest import described, fields, pieces

# Names of `hashlib`.
FIXED = {
    "sha2": {"sha224": "sha224", "sha256": "sha256", "sha384": "sha384", "sha512": "sha512"},
    "keccak": {name: name for name in ("sha3_224", "sha3_256", "sha3_384", "sha3_512")},
}
LENGTHS = [0, 1, 55, 64, 111, 135, 136, 137, 300, 5000]


def data(length, seed=7):
    return np.random.default_rng(seed + length).bytes(length)


def options(one, primitive):
    """The fields of a vector as parameters of a function: absent strings are absent."""
    found = {name: one[name] for name in primitive.parameters if name in one}
    if "domain" in found:
        found["domain"] = found["domain"][0]
    if "tree" in one:
        found.update(zip(("leaf", "fan_out", "height"), one["tree"]))
    return found


def test_vectors_of_hashes(root, library):
    """Every hash function, whole and in pieces; vectors that end within a byte have no function."""
    random, names = np.random.default_rng(2), set()
    for folder, table in described(root, "hash"):
        if table["mode"] == "kmac":
            continue
        primitive = library(folder.name).hash(table["name"])
        for one in fields(folder / table["vectors"]):
            if "bits" in one:
                continue
            given, length = options(one, primitive), None
            if primitive.digest_size is None:
                length = len(one["out"])
            assert primitive(one["in"], length, **given) == one["out"], (table["name"], one)
            if "tree" in one:
                continue
            at_once = table["mode"] == "skein"
            state = primitive.new(b"", length if at_once else None, **given)
            for piece in pieces(random, one["in"]):
                state.update(piece)
            assert state.digest(*([] if at_once or length is None else [length])) == one["out"]
            names.add(table["name"])
    assert len(names) > 20


def test_vectors_of_macs(root, library):
    random, names = np.random.default_rng(2), set()
    tables = [one for one in described(root, "hash") if one[1]["mode"] in ("kmac", "skein")]
    for folder, table in [*tables, *described(root, "mac")]:
        primitive = library(folder.name).mac(table["name"])
        for one in fields(folder / table["vectors"]):
            if "bits" in one or "tree" in one or "key" not in one:
                continue
            given, tag = options(one, primitive), one["out"]
            length = None if primitive.tag_bytes else len(tag)
            if one.get("xof"):
                assert primitive.xof(one["key"], one["in"], len(tag), **given) == tag
                continue
            assert primitive(one["key"], one["in"], length, **given) == tag, (table["name"], one)
            assert primitive.verify(one["key"], one["in"], tag, length, **given)
            state = primitive.new(one["key"], b"", length, **given)
            for piece in pieces(random, one["in"]):
                state.update(piece)
            assert state.digest() == tag and state.verify(tag)
            names.add(table["name"])
    assert len(names) == 8


@pytest.mark.parametrize("folder", FIXED)
def test_hashes_agree_with_hashlib(library, folder):
    random = np.random.default_rng(1)
    for name, other in FIXED[folder].items():
        ours, macs = library(folder).hash(name), library(folder).mac(f"hmac_{name}")
        assert ours.digest_size == hashlib.new(other).digest_size
        for length in LENGTHS:
            message, key = data(length), data(length // 2)
            expected = hashlib.new(other, message)
            assert ours(message) == expected.digest()
            state = ours.new()
            for piece in pieces(random, message):
                state.update(piece)
            assert state.hexdigest() == expected.hexdigest()
            assert (state.digest_size, state.block_size) == (expected.digest_size, expected.block_size)
            tag = hmac.digest(key, message, other)
            assert macs(key, message) == tag and macs.verify(key, message, tag)
            assert macs.new(key, message).hexdigest() == tag.hex()
        # The interface of PEP 452, as `hmac` uses it.
        assert hmac.new(b"key", b"message", ours.new).digest() == macs(b"key", b"message")


@pytest.mark.parametrize("name", ["shake128", "shake256"])
def test_shake_agrees_with_hashlib(library, name):
    ours = library("keccak").hash(name)
    for length in LENGTHS:
        expected = hashlib.new(name, data(length)).digest(500)
        assert ours(data(length), 500) == expected and ours(data(length), 1) == expected[:1]
        state = ours.new(data(length))
        assert state.digest(500) == expected and state.hexdigest(9) == expected[:9].hex()
        assert state.read(7) + state.read(493) == expected


def test_many_messages(library):
    messages = [data(length) for length in LENGTHS]
    found = library("sha2").sha256.many(messages)
    assert [row.tobytes() for row in found] == [hashlib.sha256(one).digest() for one in messages]
    found = library("keccak").shake128.many(messages, 40)
    assert [row.tobytes() for row in found] == [hashlib.shake_128(one).digest(40) for one in messages]
    custom = library("keccak").cshake128
    rows = custom.many(messages, 16, custom=b"use")
    assert rows[3].tobytes() == custom(messages[3], 16, custom=b"use")
    skein = library("skein").skein512
    assert skein.many(messages, 16, key=b"k")[2].tobytes() == skein(messages[2], 16, key=b"k")
    assert library("sha2").sha256.many([]).shape == (0, 32)


def test_messages_are_copied_and_end(library):
    keccak = library("keccak")
    state = keccak.kt128.new(b"one", custom=b"use")
    other = state.copy().update(b" two")
    assert state.digest(32) == keccak.kt128(b"one", 32, custom=b"use")
    assert other.digest(32) == keccak.kt128(b"one two", 32, custom=b"use") == other.read(32)
    for call in (lambda: other.update(b""), lambda: other.digest(32)):
        with pytest.raises(usuba.Error, match="has ended"):
            call()
    mac = library("sha2").hmac_sha256.new(b"key", b"one")
    assert mac.copy().update(b" two").digest() != mac.digest() == library("sha2").hmac_sha256(b"key", b"one")
    endless = library("skein").skein256.new(b"", 2**64 - 1, key=b"key")
    assert len({endless.read(64) for _ in range(4)}) == 4
    assert library("skein").skein256.new(b"", 99).digest_size == 99


def test_inputs_are_not_copied(library):
    sha256 = library("sha2").sha256
    expected = hashlib.sha256(b"sliced").digest()
    array = np.frombuffer(b"sliced", np.uint8)
    for given in (b"sliced", bytearray(b"sliced"), memoryview(b"sliced"), array, array.reshape(2, 3)):
        assert sha256(given) == expected
    held = bytearray(1 << 20)
    state = sha256.new(held)
    held.append(1)  # The call has let go of it.
    assert state.digest() == hashlib.sha256(bytes(1 << 20)).digest()


def test_forged_tags(library):
    cmac, poly1305 = library("aes_cmac").aes128_cmac, usuba.load("poly1305", targets=["gp64"]).poly1305
    cases = [
        (library("sha2").hmac_sha384, b"key", None, {}),
        (library("keccak").kmac256, b"key", 20, {"custom": b"use"}),
        (library("skein").mac("skein512"), b"key", 20, {"personalization": b"us"}),
        (cmac, bytes(16), None, {}),
        (poly1305, bytes(range(32)), None, {}),
    ]
    for mac, key, length, given in cases:
        tag = mac(key, b"message", length, **given)
        assert mac.verify(key, b"message", tag, length, **given)
        assert mac.new(key, b"message", length, **given).verify(tag)
        for at in range(len(tag)):
            wrong = bytearray(tag)
            wrong[at] ^= 1 << at % 8
            assert not mac.verify(key, b"message", wrong, length, **given)
            assert not mac.new(key, b"message", length, **given).verify(wrong)
        assert not mac.verify(key, b"massage", tag, length, **given)
        assert not mac.verify(key[:-1] + b"!", b"message", tag, length, **given)
        # A sender must not choose the length.
        for wrong in (b"", tag[:-1], tag + b"\0"):
            assert not mac.verify(key, b"message", wrong, length, **given)
            assert not mac.new(key, b"message", length, **given).verify(wrong)
    key = cmac.key(bytes(16))
    assert cmac(key, b"message") == cmac(bytes(16), b"message")
    assert cmac.new(key).update(b"mess").update(b"age").verify(cmac(key, b"message"))
    tag = library("sha2").hmac_sha256(b"k", b"m")
    assert library("sha2").hmac_sha256.verify(b"k", b"m", tag[:16], 16)
    assert not library("sha2").hmac_sha256.verify(b"k", b"m", tag, 16)


@pytest.mark.parametrize(
    "folder,call,part",
    [
        ("sha2", lambda it: it.sha256("text"), "found str as the data, expected bytes"),
        ("sha2", lambda it: it.sha256(np.zeros(4, np.uint16)), "found uint16[4] as the data"),
        ("sha2", lambda it: it.sha256(np.zeros(8, np.uint8)[::2]), "found data with strides"),
        ("sha2", lambda it: it.sha256(memoryview(b"abcd")[::2]), "expected contiguous bytes"),
        ("sha2", lambda it: it.sha256(memoryview(np.zeros(4, np.uint32))), "items of 4 bytes"),
        ("sha2", lambda it: it.sha256(b"", 20), "found the length 20, expected 32"),
        ("sha2", lambda it: it.sha256(b"", custom=b"x"), "has no parameter `custom`"),
        ("sha2", lambda it: it.sha256.new(b"", 32), "takes no length here"),
        ("sha2", lambda it: it.sha256.new().read(3), "has no `squeeze`"),
        ("sha2", lambda it: it.sha256.new().update(None), "found NoneType as the data"),
        ("sha2", lambda it: it.hash("hmac_sha256"), "another kind, mac"),
        ("sha2", lambda it: it.hash("sha257"), "has no primitive `sha257`"),
        ("sha2", lambda it: it.mac("sha256"), "another kind, hash"),
        ("sha2", lambda it: it.hmac_sha256(7, b""), "found int as the key"),
        ("sha2", lambda it: it.hmac_sha256(b"", b"", 16), "found the length 16, expected 32"),
        ("sha2", lambda it: it.hmac_sha256.verify(b"", b"", bytes(8), 8), "does not take this length"),
        ("sha2", lambda it: it.hmac_sha256.key(b""), "no key that is set up by itself"),
        ("sha2", lambda it: it.hmac_sha256.xof(b"", b"", 9), "has no `xof_begin`"),
        ("keccak", lambda it: it.shake128(b""), "found no length"),
        ("keccak", lambda it: it.shake128(b"", -1), "found the length -1"),
        ("keccak", lambda it: it.shake128(b"", 0), "expected at least 1 byte"),
        ("keccak", lambda it: it.shake128(b"", 2**60), "found the length"),
        ("keccak", lambda it: it.shake128(b"", "9"), "found the length '9'"),
        ("keccak", lambda it: it.shake128.new().digest(), "found no length"),
        ("keccak", lambda it: it.cshake128(b"", 9, custom="use"), "found str as the custom"),
        ("keccak", lambda it: it.turboshake128(b"", 9), "lacks its parameter `domain`"),
        ("keccak", lambda it: it.turboshake128(b"", 9, domain=256), "expected a number from 0 to 255"),
        ("keccak", lambda it: it.turboshake128(b"", 9, domain=0), "parameters do not go together"),
        ("keccak", lambda it: it.kmac128(b"", b""), "found no length"),
        ("keccak", lambda it: it.kmac128(b"", b"", 3), "does not take this length"),
        ("skein", lambda it: it.skein512.new(b""), "found no length"),
        ("skein", lambda it: it.skein512.new(b"", 9).digest(10), "found the length 10, expected 9"),
        ("skein", lambda it: it.skein512(b"", 9, leaf=300), "found 300 as `leaf`"),
        ("skein", lambda it: it.skein512(b"", 9, leaf=1), "parameters do not go together"),
        ("skein", lambda it: it.mac("skein512")(b"", b"", 9, custom=b""), "has no parameter `custom`"),
        ("ascon", lambda it: it.ascon_cxof128(b"", 9, custom=bytes(257)), "does not take this length"),
        ("aes_cmac", lambda it: it.aes128_cmac(bytes(15), b""), "found 15 bytes as the key, expected 16"),
        ("aes_cmac", lambda it: it.aes128_cmac(it.aes256_cmac.key(bytes(32)), b""), "a key of `aes256_cmac`"),
        ("poly1305", lambda it: it.poly1305(bytes(31), b""), "found 31 bytes as the key, expected 32"),
    ],
)
def test_wrong_calls(library, folder, call, part):
    with pytest.raises(usuba.Error) as caught:
        call(library(folder))
    assert part in str(caught.value) and caught.value.help


def test_threads(library):
    """One object for all threads: calls take turns, and none is lost."""
    state, piece = library("sha2").sha256.new(), bytes(1000)
    tags = []

    def work():
        for _ in range(200):
            state.update(piece)
        tags.append(library("sha2").hmac_sha512(b"key", piece * 100))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state.digest() == hashlib.sha256(piece * 800).digest()
    assert tags == [hmac.digest(b"key", piece * 100, "sha512")] * 4
