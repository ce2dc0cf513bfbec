"""Programs: findings, C, the reference semantics, proofs."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Error, Finding, finding

Source = Union["Program", str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Port:
    """A parameter or a result of an entry: ``words`` words of ``bits`` bits each."""

    name: str
    bits: int
    words: int


@dataclass(frozen=True)
class Program:
    """A program in Usuba, and the choice of its entry.

    Includes are looked for beside the file ``name``, then in each folder of ``include``. The entry
    is the last node unless ``entry`` names another, such as ``"f"``, ``"f<1>"`` or ``"f(10)"``.
    ``word`` is the word size in bits that the entry leaves open. ``keep_tables`` looks tables of
    words up in memory, which is not constant-time.
    """

    text: str
    name: str = "program.ua"
    include: Tuple[str, ...] = ()
    entry: Optional[str] = None
    word: Optional[int] = None
    keep_tables: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise Error(
                f"found {type(self.text).__name__} as the text of a program, expected str",
                "pass `pathlib.Path(...)` for a file",
            )
        if any("\ud800" <= letter <= "\udfff" for letter in self.text):
            raise Error("found half a surrogate pair in the text", "decode the file as UTF-8")
        _text(self.name, "the name of a program")
        if self.entry is not None:
            _text(self.entry, "an entry")
        if isinstance(self.include, (str, bytes, os.PathLike)):
            raise Error("found one path as `include`, expected a list of folders", "write `[path]`")
        if self.word is not None and not (isinstance(self.word, int) and 1 <= self.word <= 64):
            raise Error(f"found the word size {self.word!r}, expected 1 to 64 bits", "pass `word=32`")
        object.__setattr__(self, "include", tuple(os.fspath(folder) for folder in self.include))

    @classmethod
    def read(cls, path: "os.PathLike[str]") -> "Program":
        """The program in the file ``path``.

        Raises :class:`Error` if the file cannot be read or is not UTF-8.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            reason = error.strerror or str(error)
            raise Error(f"cannot read {os.fspath(path)}: {reason}", "check the path") from error
        except UnicodeDecodeError as error:
            place = f"byte {error.start}"
            raise Error(f"{os.fspath(path)} is not UTF-8 at {place}", "save it as UTF-8") from error
        return cls(text, name=os.fspath(path))

    def at(self, entry: str, word: Optional[int] = None) -> "Program":
        """The same program with another entry."""
        return replace(self, entry=entry, word=word)

    @property
    def inputs(self) -> List[Port]:
        """The parameters of the entry, in their order."""
        return [Port(*port) for port in _core.ports(self)[0]]

    @property
    def outputs(self) -> List[Port]:
        """The results of the entry, in their order."""
        return [Port(*port) for port in _core.ports(self)[1]]


def program(source: Source) -> Program:
    """The program of a source: a text, a path, or a program itself."""
    if isinstance(source, Program):
        return source
    if isinstance(source, str):
        return Program(source)
    if isinstance(source, os.PathLike):
        return Program.read(source)
    raise Error(
        f"found {type(source).__name__} as a source, expected str, a path or usuba.Program",
        "pass the text of a program, or `pathlib.Path(...)` for a file",
    )


def cipher(name: str) -> Program:
    """The program of a built-in cipher, such as ``"present"``, or of one of its functions, such as
    ``"present80_decrypt"``, with the function's node as the entry.

    Raises :class:`Error` with similar names if there is none.
    """
    path, text, node, _ = _core.built_in(_text(name, "the name of a cipher"))
    return Program(text, name=path, entry=node)


def check(source: Source, *, slicing: Optional[str] = None) -> List[Finding]:
    """The findings about a program: all errors, or all warnings.

    With ``slicing`` (``"V"``, ``"H"``, ``"B"`` or ``"W"``) or a word size, the rules of that
    slicing are checked, too. An empty list means that there is nothing to say.
    """
    if slicing is not None:
        _text(slicing, "a slicing")
    return [finding(raw) for raw in _core.check(program(source), slicing)]


@dataclass(frozen=True)
class Compiled:
    """A kernel in C."""

    c: str
    """The C file."""
    header: str
    """Its header."""
    name: str
    """The name of the function."""
    prototype: str
    slicing: str
    target: str
    cflags: Tuple[str, ...]
    """The flags that the C compiler needs, such as ``-mavx2``."""
    lanes: int
    """Instances in one register."""
    copies: int
    """Registers of each word, side by side; a call computes ``lanes * copies`` instances."""
    instructions: int
    """Instructions that compute, by the tables of the target; loads, stores and moves not counted."""
    live: int
    """The largest number of values that are live at once."""
    source: Program

    def stages(self) -> List[Tuple[str, str]]:
        """The programs in Usuba0 after lowering and after each pass, each with its name.

        The programs are texts that the compiler reads again.
        """
        return _core.stages(self.source, self.slicing, self.target)


def compile(
    source: Source, slicing: str = "V", target: str = "gp64", *, prefix: str = ""
) -> Compiled:
    """Compiles the entry of a program to C, as ``usubac`` does without further flags.

    ``slicing`` is ``"V"`` (words stay whole), ``"H"``, ``"B"`` (bits) or ``"W"``; a program that
    writes a direction itself keeps it. ``target`` is one of :func:`usuba.targets`. ``prefix`` goes
    before the name of the function.

    Raises :class:`Error` with the findings of the compiler.
    """
    own = program(source)
    _text(slicing, "a slicing")
    _text(target, "a target")
    if not (_text(prefix, "a prefix") == "" or (prefix.isascii() and prefix.isidentifier())):
        raise Error(f"found the prefix {prefix!r}, expected a C identifier", "write `my_`")
    c, header, name, prototype, used, cflags, lanes, copies, instructions, live = _core.compile(
        own, slicing, target, prefix
    )
    flags = tuple(cflags)
    return Compiled(
        c, header, name, prototype, used, target, flags, lanes, copies, instructions, live, own
    )


def evaluate(source: Source, *inputs: npt.ArrayLike) -> "npt.NDArray[np.uint64]":
    """Evaluates the entry on a batch by the reference semantics.

    Each of ``inputs`` is an array of ``uint64[n, words]`` with the words of one or more parameters,
    in the order of the parameters, or ``uint64[words]`` for the same words in every row; together
    they have all words of all parameters. A word of ``m`` bits is a number below ``2**m``, and a
    parameter of bits has one word for each bit, the first element first.

    The result is ``uint64[n, words]`` with all words of all results. The evaluation runs on all
    cores without the lock of the interpreter; it is an interpreter for tests, not for speed.

    Raises :class:`Error` for another shape or type, or a word that is too large.
    """
    own = program(source)
    arrays = [_words(array, at) for at, array in enumerate(inputs)]
    rows = {array.shape[0] for array in arrays if array.ndim == 2}
    if len(rows) > 1:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise Error(
            f"found inputs of the shapes {shapes}, expected equal numbers of rows",
            "pass an array of one dimension for words that are the same in every row",
        )
    count = rows.pop() if rows else 1
    full = [np.broadcast_to(array, (count, array.shape[-1])) for array in arrays]
    # A copy of our own: other threads may write to the caller's arrays meanwhile.
    batch = np.concatenate(full, axis=1) if full else np.zeros((count, 0), np.uint64)
    return _core.evaluate(own, batch)


def _words(array: npt.ArrayLike, at: int) -> "npt.NDArray[np.uint64]":
    found = np.asarray(array)
    if found.dtype != np.uint64 or found.ndim not in (1, 2):
        raise Error(
            f"found {found.dtype}{list(found.shape)} as input {at}, expected uint64[n, words] or "
            "uint64[words]",
            "convert by `numpy.asarray(words, dtype=numpy.uint64)`",
        )
    return found


@dataclass(frozen=True)
class Claim:
    """One step of a proof."""

    kind: str
    """``contract``, ``lowering``, ``pass``, ``lanes`` and so on."""
    subject: str
    """The node, pass or operator."""
    verdict: str
    engines: Optional[str]
    """The engines that proved it."""
    reason: Optional[str]
    """A counterexample, or the reason why nothing is known; ``None`` if it is proved."""
    seconds: float


@dataclass(frozen=True)
class Proof:
    """The verdict on one entry in one slicing on one target."""

    entry: str
    slicing: str
    target: str
    verdict: str
    """``PROVED``, ``REFUTED`` or ``UNKNOWN``."""
    claims: Tuple[Claim, ...]

    @property
    def is_proved(self) -> bool:
        """Whether every claim is proved."""
        return self.verdict == "PROVED"


def prove(
    source: Source,
    slicings: Union[str, Sequence[str]] = "V",
    targets: Union[str, Sequence[str]] = "gp64",
) -> List[Proof]:
    """Proves that the final IR of each compilation computes the source (translation validation),
    and the contracts of the program.

    The result has one proof for each slicing and target, slicings outermost. Lowering, every pass
    and the instruction patterns in every lane are proved; the C compiler is trusted.

    Raises :class:`Error` if the program has errors, or violates a contract of its own, with the
    line that fails.
    """
    some = [slicings] if isinstance(slicings, str) else list(slicings)
    on = [targets] if isinstance(targets, str) else list(targets)
    for letter in some:
        _text(letter, "a slicing")
    for name in on:
        _text(name, "a target")
    found = _core.prove(program(source), some, on)
    return [
        Proof(entry, slicing, target, verdict, tuple(Claim(*claim) for claim in claims))
        for entry, slicing, target, verdict, claims in found
    ]


def _text(value: str, noun: str) -> str:
    if not isinstance(value, str):
        raise Error(f"found {type(value).__name__} as {noun}, expected str", "write a string")
    return value
