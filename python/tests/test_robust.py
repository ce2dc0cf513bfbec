"""Odd input gives `usuba.Error`, and a fault of Usuba gives `usuba.InternalError`."""

from __future__ import annotations

import random

import numpy as np
import pytest
import usuba

PIECES = "node f ( ) u8 x : let tel = ^ [ ] <<< 9 table { } , \0 é returns include forall in 'm".split(" ")


def test_random_text_has_findings():
    choose = random.Random(3)
    for length in range(120):
        text = " ".join(choose.choices(PIECES, k=length))
        assert all(finding.message for finding in usuba.check(text))


@pytest.mark.parametrize(
    "text",
    [
        "node f (x:u8) returns (y:u8) let y = " + "(" * 5000 + "x" + ")" * 5000 + " tel",
        "node f (x:u8[1000000000]) returns (y:u8) let y = x[0] tel",
        "node f (x:u8) returns (y:u8) let y = f(x) tel",
        "\ufeff",
        "\ud800",
    ],
)
def test_extreme_programs(text):
    try:
        found = usuba.check(text)
    except usuba.Error:
        return
    assert all(finding.severity in ("error", "warning") for finding in found)


@pytest.mark.parametrize("folder", ["sha2", "keccak", "skein", "ascon", "chacha20poly1305", "slh_dsa"])
def test_no_array_is_too_short(library, folder):
    """Each pointer of each function in turn has a byte too few, and C is never called."""
    functions, count = library(folder).functions, 0
    for name, function in functions.items():
        numbers = {one.name: 3 for one in function.parameters if one.number is not None}
        sizes = {
            one.name: one.size.value(numbers) or 0
            for one in function.parameters
            if one.size is not None and not one.points
        }
        for short in (one for one, size in sizes.items() if size):
            rooms = {one: np.zeros(size - (one == short), np.uint8) for one, size in sizes.items()}
            with pytest.raises(usuba.Error, match=f"{name}: found .* as `{short}`, expected"):
                function(*[{**numbers, **rooms}.get(one.name) for one in function.parameters])
            count += 1
    assert count > 30


def test_an_internal_fault_says_how_to_report_it():
    error = usuba.InternalError("index out of bounds at x.rs:3")
    for part in ("index out of bounds at x.rs:3", "bug in usuba", "report"):
        assert part in str(error)
    assert not isinstance(error, usuba.Error)
