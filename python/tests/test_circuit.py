"""Circuits against their tables."""

from __future__ import annotations

import numpy as np
import pytest
import usuba

PRESENT = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2]


@pytest.mark.parametrize("lsb_first", [False, True])
@pytest.mark.parametrize("goal", ["size", "depth"])
@pytest.mark.parametrize("gates", ["basic", "andn", "lut3"])
def test_a_circuit_is_its_table(gates, goal, lsb_first):
    random = np.random.default_rng(2)
    for table in (PRESENT, random.integers(0, 8, 32).tolist(), [1, 0], [0] * 8):
        made = usuba.circuit(table, gates=gates, goal=goal, lsb_first=lsb_first)
        index = np.arange(len(table))
        assert made.evaluate(index).tolist() == table
        assert made.evaluate(index.reshape(2, -1)[::-1]).shape == (2, len(table) // 2)
        assert sum(made.counts.values()) == len(made.gates)
        assert 0 <= made.depth <= len(made.gates)


def test_the_database():
    made = usuba.circuit(PRESENT)
    assert made.origin == "database" and len(made.gates) <= 14
    assert set(made.counts) <= {"and", "or", "xor", "not", "zero", "one"}


@pytest.mark.parametrize(
    "call,part",
    [
        (lambda: usuba.circuit([1, 2, 3]), "found 3 entries"),
        (lambda: usuba.circuit([]), "found 0 entries"),
        (lambda: usuba.circuit([0] * 512), "found 512 entries"),
        (lambda: usuba.circuit([0, -1]), "found entries from -1"),
        (lambda: usuba.circuit([0, 4], outputs=2), "expected 0 to 2**2 - 1"),
        (lambda: usuba.circuit([0, 1 << 80]), "found entries"),
        (lambda: usuba.circuit("ab"), "no list of integers"),
        (lambda: usuba.circuit([0, 1], gates="nand"), 'found the gates "nand"'),
        (lambda: usuba.circuit([0, 1], goal="area"), 'found the goal "area"'),
        (lambda: usuba.circuit([0, 1]).evaluate([2]), "expected 0 to 1"),
        (lambda: usuba.circuit([0, 1]).evaluate([0.5]), "expected integers"),
    ],
)
def test_wrong_arguments(call, part):
    with pytest.raises(usuba.Error) as caught:
        call()
    assert part in str(caught.value)
