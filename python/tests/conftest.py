"""Fixtures: the repository, and test vectors of cipher folders."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import usuba


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="every cipher, for every target")


def pytest_configure(config):
    # Tests compile more than they run.
    if not config.getoption("--whole"):
        os.environ.setdefault("CC", "cc -O1")


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(os.environ.get("USUBA_ROOT", Path(__file__).parents[2])).resolve()


@pytest.fixture(scope="session")
def targets(request) -> list:
    """The targets of ciphers: few instructions compile faster."""
    return [] if request.config.getoption("--whole") else ["gp64"]


@pytest.fixture(scope="session")
def library(targets):
    """Loads cipher folders; all that a session needs are begun side by side."""
    names = ["keccak", "ascon", "aes_gcm", "slh_dsa", "aes_cmac", "sha2", "skein"]
    pool = ThreadPoolExecutor(2)
    begun = {name: pool.submit(usuba.load, name, targets=targets) for name in names}

    def loaded(name):
        # One that has not begun is loaded here, so that a single test waits for no others.
        if name not in begun or begun[name].cancel():
            return usuba.load(name, targets=targets)
        return begun[name].result()

    yield loaded
    pool.shutdown(cancel_futures=True)


def described(root: Path, kind: str):
    """The tables of a kind in all cipher folders, with their folders."""
    tomllib = pytest.importorskip("tomllib", reason="Python before 3.11 reads no TOML")
    for path in sorted(root.glob("ciphers/*/cipher.toml")):
        for table in tomllib.loads(path.read_text()).get(kind, []):
            yield path.parent, table


def fields(path: Path):
    """The test vectors of a file, as bytes by the names of their fields."""
    for block in path.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        pairs = [line.split("=", 1) for line in lines]
        if pairs:
            yield {name.strip(): value_of(value.strip()) for name, value in pairs}


def value_of(text: str) -> bytes:
    """Digits, or the pattern ``ptn(n)``, whose byte i is i mod 251."""
    if text.startswith("ptn("):
        return bytes(at % 251 for at in range(int(text[4:-1])))
    return bytes.fromhex(text)


def vectors(path: Path):
    """The test vectors of a file: key, input and output as arrays of bytes."""
    for one in fields(path):
        yield tuple(np.frombuffer(one.get(part, b""), np.uint8) for part in ("key", "in", "out"))


def pieces(random: np.random.Generator, data: bytes):
    """The data in pieces of random lengths, some of them empty."""
    cuts = sorted(random.integers(0, len(data) + 1, 4))
    for start, end in zip([0, *cuts], [*cuts, len(data)]):
        yield data[start:end]


def words(blocks: np.ndarray, bits: int, order: str) -> np.ndarray:
    """Rows of bytes as rows of words of 1, 8, 16, 32 or 64 bits."""
    rows = np.ascontiguousarray(blocks)
    if bits == 1:
        return np.unpackbits(rows, axis=-1).astype(np.uint64)
    sign = ">" if order == "be" else "<"
    return rows.view(f"{sign}u{bits // 8}").astype(np.uint64)


def as_bytes(values: np.ndarray, bits: int, order: str) -> np.ndarray:
    """The inverse of :func:`words`."""
    if bits == 1:
        return np.packbits(values.astype(np.uint8), axis=-1)
    sign = ">" if order == "be" else "<"
    return np.ascontiguousarray(values.astype(f"{sign}u{bits // 8}")).view(np.uint8)
