"""Signatures: vectors of the cipher folders, forgeries, wrong calls."""

from __future__ import annotations

import hashlib

import pytest
import usuba
from conftest import described, fields

FAST = ("slh_dsa_sha2_128f", "slh_dsa_shake_128f")


@pytest.fixture(scope="module")
def scheme(library):
    return library("slh_dsa").sign("slh_dsa_sha2_128f")


@pytest.fixture(scope="module")
def signed(scheme):
    public, secret = scheme.keypair(bytes(range(scheme.seed_bytes)))
    return public, secret, scheme.sign(secret, b"message", context=b"use", random=b"")


def test_vectors(request, root, library):
    """Signatures of small parameter sets take seconds: `--whole` has all."""
    count = 0
    for folder, table in described(root, "sign"):
        primitive = library(folder.name).sign(table["name"])
        if table["name"] not in FAST and not request.config.getoption("--whole"):
            continue
        for one in fields(folder / table["vectors"]):
            public, secret = primitive.keypair(one["seed"])
            assert public == one["public_key"]
            if "in" not in one or "prehash" in one:
                continue
            random, context = one.get("random", b""), one.get("context", b"")
            signature = primitive.sign(secret, one["in"], context=context, random=random)
            assert hashlib.sha256(signature).digest() == one["out"]
            assert primitive.verify(public, one["in"], signature, context=context)
            count += 1
    assert count > 2


def test_forgeries(scheme, signed):
    public, _, signature = signed
    assert len(signature) == scheme.signature_bytes
    assert scheme.verify(public, b"message", signature, context=b"use")
    assert not scheme.verify(public, b"message", signature)
    assert not scheme.verify(public, b"massage", signature, context=b"use")
    assert not scheme.verify(bytes(len(public)), b"message", signature, context=b"use")
    for at in range(0, len(signature), 1711):
        wrong = bytearray(signature)
        wrong[at] ^= 1
        assert not scheme.verify(public, b"message", wrong, context=b"use")
    for wrong in (b"", signature[:-1], signature + b"\0"):
        assert not scheme.verify(public, b"message", wrong, context=b"use")


def test_randomness(scheme, signed):
    public, secret, signature = signed
    other = scheme.sign(secret, b"message", context=b"use", checked=True)
    assert other != signature and scheme.verify(public, b"message", other, context=b"use")
    assert scheme.keypair() != scheme.keypair()


@pytest.mark.parametrize(
    "call,part",
    [
        (lambda it, secret: it.keypair(bytes(47)), "found 47 bytes as the seed, expected 48"),
        (lambda it, secret: it.sign(secret[1:], b""), "found 63 bytes as the secret key, expected 64"),
        (lambda it, secret: it.sign(secret, "text"), "found str as the message"),
        (lambda it, secret: it.sign(secret, b"", random=bytes(15)), "found 15 bytes as the random, expected 16"),
        (lambda it, secret: it.sign(secret, b"", context=bytes(256)), "does not take this length"),
        (lambda it, secret: it.sign(secret[:-1] + b"!", b""), "do not go together"),
        (lambda it, secret: it.verify(bytes(31), b"", b""), "found 31 bytes as the public key"),
        (lambda it, secret: it.verify(bytes(32), b"", 7), "found int as the signature"),
    ],
)
def test_wrong_calls(scheme, signed, call, part):
    with pytest.raises(usuba.Error) as caught:
        call(scheme, signed[1])
    assert part in str(caught.value)
