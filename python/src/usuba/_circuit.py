"""Boolean circuits for tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Error


@dataclass(frozen=True)
class Gate:
    """A gate on bits.

    ``operator`` is ``zero``, ``one``, ``not``, ``and``, ``or``, ``xor``, ``andn`` (``~a & b``) or
    ``lut3``, whose result is bit ``4a + 2b + c`` of ``table``. Wires are numbered: inputs first, then
    the gates in their order.
    """

    operator: str
    wires: Tuple[int, ...]
    table: Optional[int] = None


@dataclass(frozen=True)
class Circuit:
    """A straight-line program on bits: a circuit for a table.

    Input bit 0 and output bit 0 are the most significant bits of index and entry, or the least
    significant ones if the circuit was made with ``lsb_first``.
    """

    inputs: int
    gates: Tuple[Gate, ...]
    outputs: Tuple[int, ...]
    """The wire of each output bit."""
    origin: str
    """``database``, ``inversion`` (in the field of 256 elements) or ``polynomials``."""
    lsb_first: bool = False

    @property
    def depth(self) -> int:
        """Gates on the longest path from an input to an output."""
        levels = [0] * self.inputs
        for gate in self.gates:
            levels.append(1 + max((levels[wire] for wire in gate.wires), default=-1))
        return max((levels[wire] for wire in self.outputs), default=0)

    @property
    def counts(self) -> Dict[str, int]:
        """The number of gates of each operator."""
        counts: Dict[str, int] = {}
        for gate in self.gates:
            counts[gate.operator] = counts.get(gate.operator, 0) + 1
        return counts

    def evaluate(self, values: npt.ArrayLike) -> "npt.NDArray[np.uint64]":
        """The entries at some indices: an array of integers of any shape, each below
        ``2**inputs``, gives ``uint64`` of the same shape.

        Raises :class:`Error` for other types and larger numbers.
        """
        found = np.asarray(values)
        if found.dtype.kind not in "ui":
            raise Error(
                f"found {found.dtype}{list(found.shape)}, expected integers",
                "convert by `values.astype(numpy.uint64)`",
            )
        if found.size and (int(found.min()) < 0 or int(found.max()) >> self.inputs):
            raise Error(
                f"found {int(found.min())} to {int(found.max())}, expected 0 to "
                f"{2**self.inputs - 1}",
                f"the circuit has {self.inputs} inputs",
            )
        index = found.astype(np.uint64)
        one = np.uint64(1)
        wires: List["npt.NDArray[np.uint64]"] = [
            (index >> np.uint64(place)) & one for place in self._places(self.inputs)
        ]
        for gate in self.gates:
            wires.append(_gate(gate, [wires[wire] for wire in gate.wires], index.shape))
        result = np.zeros(index.shape, np.uint64)
        for wire, place in zip(self.outputs, self._places(len(self.outputs))):
            result |= wires[wire] << np.uint64(place)
        return result

    def _places(self, bits: int) -> Sequence[int]:
        return range(bits) if self.lsb_first else range(bits - 1, -1, -1)


def _gate(
    gate: Gate, args: "List[npt.NDArray[np.uint64]]", shape: Tuple[int, ...]
) -> "npt.NDArray[np.uint64]":
    one = np.uint64(1)
    if gate.operator in ("zero", "one"):
        return np.full(shape, gate.operator == "one", np.uint64)
    if gate.operator == "not":
        return args[0] ^ one
    if gate.operator == "lut3":
        index = args[0] << np.uint64(2) | args[1] << one | args[2]
        return np.uint64(gate.table or 0) >> index & one
    a, b = args
    if gate.operator == "and":
        return a & b
    if gate.operator == "or":
        return a | b
    if gate.operator == "xor":
        return a ^ b
    return (a ^ one) & b


def circuit(
    table: Sequence[int],
    *,
    outputs: Optional[int] = None,
    gates: str = "basic",
    goal: str = "size",
    lsb_first: bool = False,
) -> Circuit:
    """The best known circuit for a lookup table, or a synthesised one.

    ``table`` has 2, 4, ... or 256 entries below ``2**outputs``; without ``outputs`` there are as
    many output bits as the largest entry needs. ``gates`` are ``"basic"`` (and, or, xor, not),
    ``"andn"`` (also ``~a & b``) or ``"lut3"`` (also all functions of three bits); ``goal`` is
    ``"size"`` or ``"depth"``. With ``lsb_first`` bit 0 is the least significant bit.

    The circuit was compared with the table on all inputs. Raises :class:`Error` for a table of
    another shape.
    """
    try:
        entries = [int(entry) for entry in np.asarray(table).tolist()]
    except (TypeError, ValueError) as error:
        raise Error("found no list of integers as a table", "write `[1, 0]`") from error
    size = len(entries)
    if size & (size - 1) or not 2 <= size <= 256:
        raise Error(f"found {size} entries, expected a power of two from 2 to 256", "fill the table")
    needed = max(1, max(entry.bit_length() for entry in entries))
    width = needed if outputs is None else outputs
    if min(entries) < 0 or not needed <= width <= 64:
        raise Error(
            f"found entries from {min(entries)} to {max(entries)}, expected 0 to 2**{width} - 1",
            f"`outputs` is at least {needed}",
        )
    for choice in (gates, goal):
        if not isinstance(choice, str):
            raise Error(f"found {choice!r} as gates or goal, expected str", 'write "basic"')
    inputs = size.bit_length() - 1
    found, wires, origin = _core.circuit(entries, (inputs, width), lsb_first, gates, goal)
    shown = tuple(Gate(name, tuple(on), lut) for name, on, lut in found)
    return Circuit(inputs, shown, tuple(wires), origin, lsb_first)
