"""Fixtures: the repository, and test vectors of cipher folders."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="every cipher, for every target")


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return Path(os.environ.get("USUBA_ROOT", Path(__file__).parents[2])).resolve()


@pytest.fixture(scope="session")
def targets(request) -> list:
    """The targets of ciphers: few instructions compile faster."""
    return [] if request.config.getoption("--whole") else ["gp64"]


def vectors(path: Path):
    """The test vectors of a file: key, input and output as arrays of bytes."""
    one = {}
    for line in path.read_text().splitlines():
        name, equals, value = line.partition(" = ")
        if equals and not line.startswith("#"):
            one[name] = value
            if name == "out":
                yield tuple(
                    np.frombuffer(bytes.fromhex(one.get(part, "")), np.uint8)
                    for part in ("key", "in", "out")
                )
                one = {}


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
