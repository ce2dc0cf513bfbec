"""Authenticated encryption: vectors of the cipher folders, forgeries, segments, wrong calls."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import usuba
from conftest import described, fields

# AES costs more time to compile: `--whole` has all modes.
FOLDERS = ["aes_gcm", "ascon", "chacha20poly1305", "xsalsa20poly1305"]


def seals(request, root, library):
    """Every AEAD with the file of its vectors."""
    whole = request.config.getoption("--whole")
    for folder, table in described(root, "seal"):
        if whole or folder.name in FOLDERS:
            yield library(folder.name).seal(table["name"]), folder / table["vectors"]


def test_vectors(request, root, library):
    names = set()
    for primitive, path in seals(request, root, library):
        for one in fields(path):
            key, nonce, aad = one["key"], one["nonce"], one.get("data", b"")
            assert primitive.seal(key, nonce, one["in"], aad) == one["out"], primitive
            assert primitive.open(key, nonce, one["out"], aad) == one["in"], primitive
            assert len(one["out"]) == len(one["in"]) + primitive.tag_bytes
        names.add(primitive.name)
    assert len(names) > 9


def test_forgeries_give_no_plaintext(request, root, library):
    for primitive, _ in seals(request, root, library):
        random = np.random.default_rng(3)
        key = primitive.key(random.bytes(primitive.key_bytes))
        nonce, aad = random.bytes(primitive.nonce_bytes), b"data" if primitive.has_data else b""
        plaintext = random.bytes(50)
        sealed = key.seal(nonce, plaintext, aad)
        assert key.open(nonce, sealed, aad) == plaintext
        for at in range(len(sealed)):
            wrong = bytearray(sealed)
            wrong[at] ^= 1 << at % 8
            with pytest.raises(usuba.Forged):
                key.open(nonce, wrong, aad)
        other = bytes([nonce[0] ^ 1]) + nonce[1:]
        for arguments in [
            (nonce, sealed[:-1], aad),
            (nonce, sealed + b"\0", aad),
            (nonce, sealed[: primitive.tag_bytes - 1], aad),
            (nonce, b"", aad),
            (other, sealed, aad),
        ]:
            with pytest.raises(usuba.Forged):
                key.open(*arguments)
        with pytest.raises(usuba.Forged):
            primitive.open(bytes(primitive.key_bytes), nonce, sealed, aad)
        if primitive.has_data:
            with pytest.raises(usuba.Forged):
                key.open(nonce, sealed, b"date")


def test_segments(library):
    for primitive in (library("ascon").ascon_aead128, library("chacha20poly1305").chacha20poly1305):
        key, nonce = primitive.key(bytes(primitive.key_bytes)), bytes(primitive.nonce_bytes - 5)
        sealer, parts = key.sealer(nonce), [b"one", b"", b"three" * 1000]
        sealed = [
            sealer.seal(part, b"data", last=at == 2) for at, part in enumerate(parts)
        ]
        sealer.finish()
        opener = key.opener(nonce)
        assert opener.open(sealed[0], b"data") == parts[0]
        for wrong in (sealed[0], sealed[2], sealed[1][:-1] + b"!", b""):
            with pytest.raises(usuba.Forged):
                opener.open(wrong, b"data")
        # The message goes on with the right segment.
        assert opener.open(sealed[1], b"data") == parts[1]
        with pytest.raises(usuba.Forged):
            opener.open(sealed[2], b"data")
        assert opener.open(sealed[2], b"data", last=True) == parts[2]
        opener.finish()
        opener = key.opener(nonce)
        opener.open(sealed[0], b"data")
        with pytest.raises(usuba.Forged):
            opener.finish()
        with pytest.raises(usuba.Error, match="state"):
            sealer.seal(b"more")


def test_types_of_inputs(library):
    seal = library("chacha20poly1305").seal("chacha20poly1305")
    key, nonce, text = bytearray(32), memoryview(bytes(12)), np.arange(60, dtype=np.uint8)
    sealed = seal.seal(key, nonce, text.reshape(6, 10), np.zeros(3, np.uint8))
    assert seal.open(bytes(32), np.zeros(12, np.uint8), memoryview(sealed), bytes(3)) == text.tobytes()


def test_outputs_of_the_caller(library):
    for primitive in (library("ascon").ascon_aead128, library("chacha20poly1305").chacha20poly1305):
        key, nonce = primitive.key(bytes(primitive.key_bytes)), bytes(primitive.nonce_bytes)
        room = np.zeros(116, np.uint8)
        room[:100] = 7
        key.seal_into(nonce, room[:100], room, b"data")
        assert room.tobytes() == key.seal(nonce, bytes([7]) * 100, b"data")
        out = bytearray(100)
        with pytest.raises(usuba.Forged):
            key.open_into(nonce, room, out, b"date")
        assert out == bytes(100)
        key.open_into(nonce, room, out, b"data")
        assert out == bytes([7]) * 100
        for wrong, part in [
            (bytearray(99), "found 99 bytes as the output, expected 100 bytes"),
            (bytes(100), "cannot be written"),
            (room[8:108], "overlap"),
            (7, "found int as the output"),
        ]:
            with pytest.raises(usuba.Error, match=part):
                key.open_into(nonce, room, wrong, b"data")


@pytest.mark.parametrize(
    "folder,call,part",
    [
        ("chacha20poly1305", lambda it: it.chacha20poly1305.key(bytes(31)), "found 31 bytes as the key, expected 32 bytes"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.seal(bytes(32), bytes(24), b""), "found 24 bytes as the nonce, expected 12 bytes"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.open(bytes(32), bytes(11), bytes(16)), "found 11 bytes as the nonce"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.seal(bytes(32), bytes(12), "text"), "found str as the plaintext"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.seal(bytes(32), bytes(12), b"", 1), "found int as the associated data"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.open(bytes(32), bytes(12), None), "found NoneType as the sealed text"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.key(bytes(32)).sealer(bytes(12)), "found 12 bytes as the nonce, expected 7"),
        ("chacha20poly1305", lambda it: it.chacha20poly1305.seal(it.xchacha20poly1305.key(bytes(32)), bytes(12), b""), "a key of `xchacha20poly1305`"),
        ("xsalsa20poly1305", lambda it: it.xsalsa20poly1305.seal(bytes(32), bytes(24), b"", b"data"), "takes no associated data"),
        ("xsalsa20poly1305", lambda it: it.xsalsa20poly1305.key(bytes(32)).sealer(bytes(19)), "has no `stream_begin`"),
    ],
)
def test_wrong_calls(library, folder, call, part):
    with pytest.raises(usuba.Error) as caught:
        call(library(folder))
    assert part in str(caught.value) and not isinstance(caught.value, usuba.Forged)


def test_threads_share_a_key(library):
    primitive = library("chacha20poly1305").chacha20poly1305
    key, texts = primitive.key(bytes(32)), [bytes([at]) * 200_000 for at in range(4)]
    found = [b""] * 4

    def work(at):
        nonce = bytes([at] * 12)
        found[at] = key.open(nonce, key.seal(nonce, texts[at]))

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == texts
