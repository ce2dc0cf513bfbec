"""The notebook, and the examples of the documentation."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import re

import pytest


@pytest.mark.parametrize("name", ["usuba", "usuba._hash", "usuba._seal", "usuba._sign"])
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert found.attempted and not found.failed


@pytest.mark.parametrize("path", ["docs/book/src/python.md", "python/README.md"])
def test_examples_of_documents(root, path, tmp_path, monkeypatch):
    """Blocks of Python run in order; a block with prompts prints the text below each line."""
    monkeypatch.chdir(tmp_path)
    text = (root / path).read_text()
    for name, program in re.findall(r"^```usuba,file=(\S+)\n(.*?)^```", text, re.M | re.S):
        (tmp_path / name).write_text(program)
    names: dict = {}
    blocks = list(re.finditer(r"^```(python|pycon)\n(.*?)^```", text, re.M | re.S))
    assert blocks
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 1
        if block[1] == "python":
            exec(compile(block[2], f"{path}:{line}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block[2], names, path, path, line)
        said: list = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
        assert not said, "".join(said)


def test_the_notebook(root, monkeypatch):
    """Cells run in order and have no stored outputs; without matplotlib none draws."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    draws = importlib.util.find_spec("matplotlib") is not None
    (path,) = root.glob("python/notebooks/*.ipynb")
    names: dict = {}
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"] and cell["execution_count"] is None, f"cell {number} has outputs"
        text = "".join(cell["source"])
        if "matplotlib" in text and not draws:
            continue
        exec(compile(text, f"{path.name}, cell {number}", "exec"), names)
    assert names["table"].sum() == 256 and names["table"][1:].max() == 4
    assert len(names["speeds"]) == len(names["lengths"]) and min(names["speeds"]) > 0
