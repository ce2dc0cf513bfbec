"""Calls of generated ciphers: shapes, types, strides, threads, the cache."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import usuba


@pytest.fixture(scope="module")
def chacha():
    return usuba.load("chacha20")


@pytest.fixture(scope="module")
def block():
    return usuba.load("rectangle", targets=["gp64"]).rectangle128.key(bytes(16))


def test_a_library_names_its_parts(chacha):
    assert "chacha20" in dir(chacha) and chacha["chacha20"] is chacha.chacha20
    assert chacha.chacha20.key_bytes == 32 and chacha.chacha20.nonce_bytes == 12
    assert "usuba_chacha20_xor" in chacha.functions and "usuba_chacha20_xor" in chacha.header
    assert chacha.backend and chacha.path.is_file()
    assert usuba.load("chacha20") is chacha
    with pytest.raises(AttributeError, match="it has chacha20, "):
        chacha.chacha21


def test_arrays_are_not_copied(chacha):
    key = chacha.chacha20.key(bytes(32))
    data = np.zeros((3, 100), np.uint8)
    out = np.empty_like(data)
    assert key.xor(bytes(12), data, out=out) is out
    assert np.array_equal(out.reshape(-1), key.keystream(bytes(12), 300))
    assert key.xor(bytes(12), out, out=out) is out and not out.any()
    assert key.xor(bytes(12), np.empty(0, np.uint8)).size == 0


def test_xchacha_has_a_long_nonce(chacha):
    key = chacha.xchacha20.key(bytes(32))
    assert chacha.xchacha20.nonce_bytes == 24
    assert key.keystream(bytes(24), 10).shape == (10,)


@pytest.mark.parametrize(
    "call,part",
    [
        (lambda key: key.encrypt(np.zeros((4, 8), np.int8)), "found int8[4, 8] as the blocks"),
        (lambda key: key.encrypt(np.zeros((4, 8), np.uint64)), "expected uint8"),
        (lambda key: key.encrypt(np.zeros((4, 9), np.uint8)), "expected uint8[n, 8]"),
        (lambda key: key.encrypt(np.zeros(7, np.uint8)), "expected uint8[n, 8]"),
        (lambda key: key.encrypt(np.uint8(1)), "expected an array"),
        (lambda key: key.encrypt(np.array(1, np.uint8)), "found uint8[] as the blocks"),
        (lambda key: key.encrypt(bytes(8)), "found bytes as the blocks"),
        (lambda key: key.encrypt(np.zeros((4, 16), np.uint8)[:, ::2]), "with strides (16, 2)"),
        (lambda key: key.encrypt(np.zeros((8, 4), np.uint8).T), "with strides"),
        (lambda key: key.encrypt(np.zeros((1, 8), np.uint8), out=np.zeros((2, 8), np.uint8)), "as the output, expected uint8[1, 8]"),
        (lambda key: key.encrypt(np.zeros((1, 8), np.uint8), out=np.frombuffer(bytes(8), np.uint8).reshape(1, 8)), "cannot be written"),
        (lambda key: key.xor(bytes(7), np.zeros(9, np.uint8)), "found 7 bytes as the nonce, expected 8 bytes"),
        (lambda key: key.xor(bytes(8), np.zeros(9, np.uint8), position=-1), "found the position -1"),
        (lambda key: key.xor(bytes(8), np.zeros(9, np.uint8), position=2**64), "found the position"),
        (lambda key: key.keystream(bytes(8), -1), "found the length -1"),
        (lambda key: key.blocks(np.zeros((1, 8), np.uint8)), "has no `blocks`"),
        (lambda key: key.primitive.key(bytes(15)), "found 15 bytes as the key, expected 16"),
        (lambda key: key.primitive.key("0" * 16), "found str as the key"),
        (lambda key: key.primitive.blocks(np.zeros((1, 8), np.uint8)), "set up a key"),
    ],
)
def test_wrong_arrays(block, call, part):
    with pytest.raises(usuba.Error) as caught:
        call(block)
    assert part in str(caught.value)


def test_a_keystream_with_a_state():
    library = usuba.load("trivium", targets=["gp64"])
    key = library.cipher("trivium").key(bytes(range(10)))
    nonces = np.arange(30, dtype=np.uint8).reshape(3, 10)
    streams = key.keystreams(nonces, 200)
    for nonce, stream in zip(nonces, streams):
        state = key.begin(nonce)
        assert np.array_equal(np.concatenate([state.read(7), state.read(0), state.read(93)]), stream[:100])
        assert np.array_equal(state.xor(np.full(100, 5, np.uint8)), stream[100:] ^ 5)
    with pytest.raises(usuba.Error, match="has no `xor`"):
        key.xor(nonces[0], nonces)
    with pytest.raises(usuba.Error, match="found 9 bytes as the nonce, expected 10"):
        key.begin(bytes(9))


def test_functions_check_sizes(chacha):
    """The manifest has the size behind each pointer."""
    xor = chacha.functions["usuba_chacha20_xor"]
    state, nonce, data = np.zeros(32, np.uint8), bytes(12), np.zeros(9, np.uint8)
    for arguments, part in [
        ((0,), "found 1 arguments, expected 6"),
        ((None, None, 0, None, None, 1), "a pointer is NULL"),
        ((state[1:], nonce, 0, data, data, 9), "found 31 bytes as `key`, expected 32"),
        ((state, nonce[1:], 0, data, data, 9), "found 11 bytes as `nonce`, expected 12"),
        ((state, nonce, 0, data, data, 10), "found 9 bytes as `in`, expected 10"),
        ((state, nonce, 0, data, bytes(9), 9), "`out` that cannot be written"),
        ((state, nonce, 0, data[::2], data, 5), "with strides"),
        ((state, nonce, -1, data, data, 9), "found -1 as `position`, expected a number"),
        ((state, nonce, 0, "text", data, 1), "found str as the input"),
    ]:
        with pytest.raises(usuba.Error) as caught:
            xor(*arguments)
        assert part in str(caught.value)


def test_functions_by_the_names_of_parameters(library):
    """HKDF of RFC 5869, test case 1, which has no class of its own."""
    derive = library("sha2").functions["usuba_hkdf_sha256_derive"]
    given = {"salt": bytes(range(13)), "secret": b"\x0b" * 22, "info": bytes(range(0xF0, 0xFA))}
    found = derive.apply(given, 42)["out"].tobytes().hex()
    assert found.startswith("3cb25f25faacd57a90434f64d0362f2a") and len(found) == 84
    assert len(derive.apply({"secret": b"x"}, 9)["out"]) == 9
    for values, part in [
        ({"password": b""}, "found `password`, which is no parameter"),
        ({"secret": 7}, "found int as the secret"),
    ]:
        with pytest.raises(usuba.Error, match=part):
            derive.apply(values, 42)
    with pytest.raises(usuba.Error, match="found None as `length`"):
        derive.apply(given)
    compare = library("sha2").functions["usuba_sha2_compare"]
    assert compare.apply({"one": b"abcd", "other": b"abce", "length": 3}) == {}
    with pytest.raises(usuba.Error, match="found 3 bytes as the other, expected 4 bytes"):
        compare.apply({"one": b"abcd", "other": b"abc"})


def test_outputs_that_overlap_are_refused(block):
    room = np.zeros(24, np.uint8)
    with pytest.raises(usuba.Error, match="overlap"):
        block.encrypt(room[:16].reshape(2, 8), out=room[8:].reshape(2, 8))


def test_the_counter_ends(chacha):
    key = chacha.chacha20.key(bytes(32))
    with pytest.raises(usuba.Error, match="counter"):
        key.keystream(bytes(12), 65, position=(2**32 - 1) * 64)


@pytest.mark.parametrize(
    "call,part",
    [
        (lambda: usuba.load("chacha2O"), "did you mean `chacha20`?"),
        (lambda: usuba.load(7), "found int as a cipher"),
        (lambda: usuba.load("gimli", targets=["avx3"]), "there is no target"),
        (lambda: usuba.load("gimli", cc="no-such-compiler"), "found no C compiler"),
        (lambda: usuba.load("gimli", targets="gp64", cc="cc -no-such-flag"), "failed"),
    ],
)
def test_wrong_loads(call, part):
    with pytest.raises(usuba.Error) as caught:
        call()
    assert part in str(caught.value)


def test_the_cache_is_found_again(tmp_path, monkeypatch):
    path = usuba.load("gimli", targets=["gp64"]).path
    changed = path.stat().st_mtime_ns
    usuba._native._LOADED.clear()
    assert usuba.load("gimli", targets=["gp64"]).path.stat().st_mtime_ns == changed
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("USUBA_PYTHON", str(tmp_path / "file" / "folder"))
    usuba._native._LOADED.clear()
    with pytest.raises(usuba.Error, match="set USUBA_PYTHON"):
        usuba.load("gimli", targets=["gp64"])


def ticks(work):
    """Turns of another thread while ``work`` runs."""
    running, count, started = True, 0, threading.Event()

    def tick():
        nonlocal count
        started.set()
        while running:
            time.sleep(0.001)
            count += 1

    thread = threading.Thread(target=tick)
    thread.start()
    started.wait()
    before = count
    work()
    found = count - before
    running = False
    thread.join()
    return found


def test_native_calls_release_the_lock(chacha):
    key = chacha.chacha20.key(bytes(32))
    data = np.zeros(128 << 20, np.uint8)
    # One call of at least 30 ms; with the lock held there would be no turn or one.
    assert ticks(lambda: key.xor(bytes(12), data, out=data)) > 3


def test_the_evaluator_releases_the_lock():
    program = usuba.cipher("present")
    inputs = np.zeros((100, 64), np.uint64), np.zeros(32 * 64, np.uint64)
    assert ticks(lambda: usuba.evaluate(program, *inputs)) > 3


def test_threads_share_a_key(chacha):
    key = chacha.chacha20.key(bytes(32))
    data = np.arange(1 << 20, dtype=np.uint8)
    expected = key.xor(bytes(12), data)
    found = [None] * 4

    def work(at):
        found[at] = key.xor(bytes(12), data)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, expected) for one in found)
