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
    return key.encrypt(blocks) if primitive.kind == "block" else key.blocks(blocks)


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


def test_every_cipher(request, targets, root):
    """Every folder is bound, and block ciphers and permutations answer their vectors."""
    tomllib = pytest.importorskip("tomllib", reason="Python before 3.11 reads no TOML")
    names = sorted(path.parent.name for path in root.glob("ciphers/*/cipher.toml"))
    if not request.config.getoption("--whole"):
        names = ["gimli"]
    checked = set()
    for name in names:
        library = usuba.load(name, targets=targets)
        described = tomllib.loads((root / "ciphers" / name / "cipher.toml").read_text())
        operations = {
            operation[0]: (primitive, operation)
            for primitive in library.primitives.values()
            for operation in primitive._operations
        }
        for function in described.get("function", []):
            # Functions of hash functions have no name of their own in the header.
            if function["name"] not in operations or function["direction"] == "decrypt":
                continue
            primitive, _ = operations[function["name"]]
            if f"usuba_{function['name']}_blocks" not in library.functions:
                continue
            for key, given, expected in vectors(root / "ciphers" / name / function["vectors"]):
                blocks = given.reshape(1, -1)
                if primitive.key_bytes:
                    found = native(primitive, key, blocks)
                else:
                    found = primitive.blocks(blocks)
                assert found.tobytes() == expected.tobytes(), function["name"]
                checked.add(function["name"])
    assert checked, "no function has vectors"
