"""Findings, compilation, the evaluator and proofs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import usuba

ROUND = """\
_lsb_first table sbox (x:v4) returns (y:v4)
  { 6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2 }

node round (s:u16x4, k:const u16x4) returns (t:u16x4)
vars a: u16x4
let
  a = sbox(s ^ k);
  t = (a[0], a[1] <<< 1, a[2] <<< 12, a[3] <<< 13)
tel
"""

WRONG_CONTRACT = """\
node double (x:u8) returns (y:u8)
requires x <= 200
ensures  y <= 100
let
  y = x
tel
"""


def test_findings_have_places():
    assert usuba.check(ROUND) == []
    (finding,) = usuba.check("node f (a:u8) returns (b:u8)\nlet\n  b = a ^ c\ntel\n")
    assert (finding.severity, finding.code) == ("error", "U0201")
    assert (finding.file, finding.line, finding.column) == ("program.ua", 3, 11)
    assert "`c`" in finding.message and finding.help
    assert str(finding).startswith("program.ua:3:11: error[U0201]: ")


def test_warnings_are_findings():
    found = usuba.check("node f (a:u8, b:u8) returns (c:u8) let c = a tel")
    assert [finding.severity for finding in found] == ["warning"]


def test_a_slicing_has_rules_of_its_own():
    text = "node f (a:u8) returns (b:u8) let b = a <<< 1 tel"
    assert usuba.check(text, slicing="V") == []
    assert usuba.check("node f (a:u'm) returns (b:u'm) let b = a + 1 tel", slicing="H")


def test_errors_of_compilation_are_exceptions():
    with pytest.raises(usuba.Error) as caught:
        usuba.compile("node f (a:u8) returns (b:u8) let b = d tel")
    assert caught.value.findings[0].line == 1 and "U0201" in str(caught.value)


@pytest.mark.parametrize(
    "call,part",
    [
        (lambda: usuba.compile(ROUND, "X"), 'found the slicing "X"'),
        (lambda: usuba.compile(ROUND, target="avx3"), "there is no target `avx3`"),
        (lambda: usuba.compile(ROUND, prefix="a b"), "expected a C identifier"),
        (lambda: usuba.check(3), "found int as a source"),
        (lambda: usuba.check(Path("missing.ua")), "cannot read missing.ua"),
        (lambda: usuba.Program(b"x"), "found bytes as the text"),
        (lambda: usuba.Program("", word=65), "expected 1 to 64 bits"),
        (lambda: usuba.cipher("presemt"), "did you mean `present`?"),
        (lambda: usuba.compile(usuba.Program(ROUND, entry="rnd")), "rnd"),
        (lambda: usuba.prove(ROUND, "Q"), "found the slicing"),
        (lambda: usuba.compile(""), "error"),
        (lambda: usuba.compile(ROUND, 1), "found int as a slicing"),
        (lambda: usuba.compile(ROUND, target=None), "found NoneType as a target"),
        (lambda: usuba.Program(ROUND, entry=1), "found int as an entry"),
    ],
)
def test_wrong_arguments(call, part):
    with pytest.raises(usuba.Error) as caught:
        call()
    assert part in str(caught.value)


def test_compile():
    one = usuba.compile(ROUND, "V", "avx2", prefix="my_")
    assert one.name == "my_round" and "my_round(" in one.c and one.prototype in one.header
    assert one.cflags == ("-mavx2",) and one.lanes == 16 and one.instructions > 10
    assert usuba.compile(ROUND, "V", "avx2", prefix="my_").c == one.c
    names = [name for name, _ in one.stages()]
    assert names[0] == "lower" and "cse" in names
    assert not any(found.severity == "error" for found in usuba.check(one.stages()[-1][1]))
    assert "avx2" in usuba.targets()


def test_includes(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "box.ua").write_text(ROUND.split("\n\n")[0] + "\n")
    main = tmp_path / "main.ua"
    main.write_text('include "box.ua"\nnode f (x:u8x4) returns (y:u8x4) let y = sbox(x) tel\n')
    program = usuba.Program.read(main)
    (finding,) = usuba.check(program)
    assert "box.ua" in finding.message
    program = usuba.Program(program.text, str(main), include=[tmp_path / "sub"])
    assert usuba.check(program) == []


def test_evaluate():
    program = usuba.Program(ROUND)
    assert [(p.name, p.bits, p.words) for p in program.inputs] == [("s", 16, 4), ("k", 16, 4)]
    state = np.array([[1, 2, 3, 4], [0, 0, 0, 0]], np.uint64)
    key = np.array([5, 6, 7, 8], np.uint64)
    found = usuba.evaluate(program, state, key)
    assert found.dtype == np.uint64 and found.shape == (2, 4)
    assert found[0].tolist() == [8, 0xFFFF, 0x3FFF, 1]
    # Any strides, one array for all parameters, no rows, many rows.
    both = np.concatenate([state, np.broadcast_to(key, (2, 4))], axis=1)
    assert np.array_equal(usuba.evaluate(program, both), found)
    turned = np.asfortranarray(both)
    assert np.array_equal(usuba.evaluate(program, turned), found)
    assert np.array_equal(usuba.evaluate(program, both[::-1]), found[::-1])
    assert usuba.evaluate(program, both[:0]).shape == (0, 4)
    many = np.tile(both, (500, 1))
    assert np.array_equal(usuba.evaluate(program, many), np.tile(found, (500, 1)))


@pytest.mark.parametrize(
    "arrays,part",
    [
        ([np.zeros((2, 8), np.int64)], "found int64[2, 8] as input 0, expected uint64[n, words]"),
        ([np.zeros((2, 8), np.float64)], "found float64[2, 8]"),
        ([np.zeros((2, 2, 4), np.uint64)], "found uint64[2, 2, 4]"),
        ([np.zeros((2, 7), np.uint64)], "found 7 words in a row, expected 8"),
        ([], "found 0 words in a row, expected 8"),
        ([np.zeros((2, 4), np.uint64), np.zeros((3, 4), np.uint64)], "equal numbers of rows"),
        ([np.full((3, 8), 1 << 16, np.uint64)], "found 0x10000 in row 0, word 0 of `s`"),
        ([["a"]], "expected uint64"),
    ],
)
def test_wrong_words(arrays, part):
    with pytest.raises(usuba.Error) as caught:
        usuba.evaluate(ROUND, *arrays)
    assert part in str(caught.value) and caught.value.help


def test_prove():
    proofs = usuba.prove(ROUND, ["V", "B"], ["gp64", "avx2"])
    pairs = [(proof.slicing, proof.target) for proof in proofs]
    assert pairs == [("V", "gp64"), ("V", "avx2"), ("B", "gp64"), ("B", "avx2")]
    assert all(proof.is_proved and proof.entry == "round" for proof in proofs)
    kinds = {claim.kind for claim in proofs[0].claims}
    assert {"lowering", "pass", "lanes"} <= kinds
    assert all(claim.reason is None for claim in proofs[0].claims)


def test_a_wrong_contract_is_refused():
    with pytest.raises(usuba.Error) as caught:
        usuba.prove(WRONG_CONTRACT)
    (finding,) = caught.value.findings
    assert finding.line == 3 and finding.severity == "error"
    right = WRONG_CONTRACT.replace("y <= 100", "y <= 200")
    (proof,) = usuba.prove(right)
    assert proof.is_proved and proof.claims[0].kind == "contract"
