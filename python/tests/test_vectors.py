"""Test vectors and random batches: native code, the evaluator and the standards agree."""

from __future__ import annotations

import numpy as np
import pytest
import usuba
from conftest import as_bytes, vectors, words

# Folder, primitive, file of vectors, node, node of the key schedule, bits of a word, byte order.
CIPHERS = [
    ("present", "present80", "present80", "encrypt", "schedule80", 1, "be"),
    ("rectangle", "rectangle80", "rectangle80", "encrypt", "schedule80", 16, "be"),
    ("chacha20", "chacha20", "chacha20", "block", None, 32, "le"),
]


def evaluated(folder, node, schedule, bits, order, key, blocks):
    """The answers of the reference semantics to rows of bytes under one key."""
    program = usuba.cipher(folder).at(node)
    round_keys = words(key, bits, order)
    if schedule:
        round_keys = usuba.evaluate(program.at(schedule), round_keys)[0]
    data = words(blocks, bits, order)
    names = [port.words for port in program.inputs]
    given = [data, round_keys] if names[0] == data.shape[-1] else [round_keys, data]
    return as_bytes(usuba.evaluate(program, *given), bits, order)


def native(primitive, key, blocks):
    key = primitive.key(key)
    ciphers = ("block", "tweakable")
    return key.encrypt(blocks) if primitive.kind in ciphers else key.blocks(blocks)


@pytest.mark.parametrize("folder,name,file,node,schedule,bits,order", CIPHERS)
def test_vectors(root, targets, folder, name, file, node, schedule, bits, order):
    primitive = usuba.load(folder, targets=targets)[name]
    count = 0
    for key, given, expected in vectors(root / "ciphers" / folder / "vectors" / f"{file}.txt"):
        blocks = given.reshape(1, -1)
        assert native(primitive, key, blocks).tobytes() == expected.tobytes()
        found = evaluated(folder, node, schedule, bits, order, key, blocks)
        assert found.tobytes() == expected.tobytes()
        count += 1
    assert count > 0


@pytest.mark.parametrize("folder,name,file,node,schedule,bits,order", CIPHERS)
def test_random_batches(targets, folder, name, file, node, schedule, bits, order):
    random = np.random.default_rng(1)
    primitive = usuba.load(folder, targets=targets)[name]
    for rows in (1, 7, 130):
        key = random.integers(0, 256, primitive.key_bytes, np.uint8)
        blocks = random.integers(0, 256, (rows, primitive.block_bytes[0]), np.uint8)
        expected = evaluated(folder, node, schedule, bits, order, key, blocks)
        assert np.array_equal(native(primitive, key, blocks), expected)


def test_decryption_inverts(targets):
    key = usuba.load("rectangle", targets=targets).rectangle128.key(bytes(range(16)))
    blocks = np.arange(8 * 50, dtype=np.uint8).reshape(50, 8)
    assert np.array_equal(key.decrypt(key.encrypt(blocks)), blocks)


def test_ctr_is_the_encryption_of_counters(targets):
    key = usuba.load("rectangle", targets=targets).rectangle80.key(bytes(10))
    counters = np.arange(5, dtype=">u8").reshape(5, 1).view(np.uint8)
    stream = key.keystream(bytes(8), 40)
    assert np.array_equal(stream, key.encrypt(counters).reshape(-1))
    data = np.arange(33, dtype=np.uint8)
    assert np.array_equal(key.xor(bytes(8), data, position=3), data ^ stream[3:36])


def folders(root, whole):
    """Folders with functions alone, with their descriptions; without `whole` one of them."""
    tomllib = pytest.importorskip("tomllib", reason="Python before 3.11 reads no TOML")
    for path in sorted(root.glob("ciphers/*/cipher.toml")):
        described = tomllib.loads(path.read_text())
        more = ("arithmetic", "hash", "mac", "scheme", "seal", "sign")
        if any(key in described for key in more) or not (whole or path.parent.name == "prince"):
            continue
        yield path.parent, described


def test_every_cipher(request, root):
    """Block functions and permutations answer the vectors of their folders."""
    checked = set()
    for folder, described in folders(root, request.config.getoption("--whole")):
        library = usuba.load(folder.name, targets=["gp64"])
        operations = {
            operation[0]: primitive
            for primitive in library.primitives.values()
            for operation in primitive._operations
        }
        for function in described["function"]:
            name = function["name"]
            # Functions of keystreams have other names in the header.
            if name not in operations or function["direction"] == "decrypt":
                continue
            if f"usuba_{name}_blocks" not in library.functions:
                continue
            primitive = operations[name]
            for key, given, expected in vectors(folder / function["vectors"]):
                blocks = given.reshape(1, -1)
                keyed = primitive.key_bytes > 0
                found = native(primitive, key, blocks) if keyed else primitive.blocks(blocks)
                assert found.tobytes() == expected.tobytes(), name
            checked.add(name)
    assert checked, "no function has vectors"
