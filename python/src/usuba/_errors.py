"""Exceptions and findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional, Sequence, Tuple


@dataclass(frozen=True)
class Finding:
    """An error or a warning about a program.

    ``line`` and ``column`` begin at 1, and the column counts bytes of UTF-8. ``file``, ``line`` and
    ``column`` are ``None`` for a finding about a whole compilation. ``usubac explain CODE`` has a
    page about each ``code``.
    """

    severity: str
    """``"error"`` or ``"warning"``."""
    code: str
    """The code in the error index, such as ``"U0309"``."""
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    help: Optional[str]
    """One repair."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file is not None else ""
        help = f"\n  help: {self.help}" if self.help else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}{help}"


class Error(ValueError):
    """Wrong input: a program, an argument or an array.

    ``message`` has what was found and what was expected, ``help`` one repair. ``findings`` has the
    places in a program; it is empty where an argument is wrong.
    """

    def __init__(self, message: str, help: str = "", findings: Sequence[Finding] = ()) -> None:
        super().__init__(message, help, tuple(findings))
        self.message = message
        self.help = help or None
        self.findings: Tuple[Finding, ...] = tuple(findings)

    def __str__(self) -> str:
        return f"{self.message}\n  help: {self.help}" if self.help else self.message


class Forged(Error):
    """A tag or a signature does not belong to the message, the key, the nonce or the data.

    The message is lost: no part of it is shown.
    """


class InternalError(RuntimeError):
    """A fault of Usuba itself, not of its input."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return (
            f"internal fault of usuba: {self.fault}\n"
            "  help: this is a bug in usuba; please report it with the program, the call and this "
            "message, as CONTRIBUTING.md of the repository says"
        )


Raw = Tuple[str, str, str, Optional[Tuple[str, int, int]], Optional[str]]


def finding(raw: Raw) -> Finding:
    """The finding that the compiled module describes."""
    severity, code, message, place, help = raw
    file, line, column = place if place is not None else (None, None, None)
    return Finding(severity, code, message, file, line, column, help)


def of_findings(raw: Iterable[Raw]) -> Error:
    """The exception for the findings of a program."""
    findings = [finding(one) for one in raw]
    return Error("\n".join(str(one) for one in findings), findings=findings)
