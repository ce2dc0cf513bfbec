"""Further parameters of hash functions and MACs, by keyword.

``cshake128`` has the parameters ``name`` and ``custom``, as its functions in C have; the parameters
of ``skein512`` are fields of a struct.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, Set, Tuple, Union

import numpy as np

from ._call import Bytes, Function, RawSize, Size, address, view
from ._errors import Error

if TYPE_CHECKING:
    from ._call import Array

Option = Union[Bytes, int, None]
RawStruct = Tuple[str, int, List[Tuple[str, str, int, Optional[RawSize]]]]


class Struct:
    """A struct that callers fill: pointers, their lengths, and numbers of one byte."""

    def __init__(self, raw: RawStruct) -> None:
        self.name, self._bytes, fields = raw
        sizes = [(name, Size(size)) for name, _, _, size in fields if size is not None]
        self._lengths = {name: size.name for name, size in sizes}
        self._offsets = {name: offset for name, _, offset, _ in fields}
        lengths = set(self._lengths.values())
        self.fields = [name for name, _, _, _ in fields if name not in lengths]

    def filled(self, given: Dict[str, Option]) -> "Tuple[Optional[Array], List[Array]]":
        """The struct with these fields, or ``None`` without any, and the arrays that it points to."""
        room = np.zeros(self._bytes, np.uint8)
        kept: "List[Array]" = []
        for name in self.fields:
            value = given.get(name)
            if value is None:
                continue
            if name in self._lengths:
                kept.append(view(value, name))  # type: ignore[arg-type]
                self._put(room, name, address(kept[-1]), 8)
                self._put(room, self._lengths[name] or "", kept[-1].size, 8)
            elif isinstance(value, (int, np.integer)) and 0 <= value < 256:
                self._put(room, name, int(value), 1)
            else:
                raise Error(f"found {value!r} as `{name}`, expected a number from 0 to 255", "pass 0")
        is_given = any(given.get(name) is not None for name in self.fields)
        return (room if is_given else None), kept

    def _put(self, room: "Array", name: str, value: int, size: int) -> None:
        at = self._offsets[name]
        room[at : at + size] = np.frombuffer(value.to_bytes(size, sys.byteorder), np.uint8)


class Options:
    """The parameters of some functions that are neither ``known`` nor lengths."""

    def __init__(
        self, functions: Iterable[Function], structs: Dict[str, Struct], known: Set[str]
    ) -> None:
        self._structs = structs
        self._is_number: Dict[str, bool] = {}
        for function in functions:
            lengths = {one.size.name for one in function.parameters if one.size is not None}
            for one in function.parameters:
                struct = self._struct(one.type)
                names = struct.fields if struct is not None else [one.name]
                for name in names:
                    if name not in known and name not in lengths:
                        self._is_number[name] = struct is None and one.number is not None

    @property
    def names(self) -> Tuple[str, ...]:
        """The names in their order."""
        return tuple(self._is_number)

    def check(self, owner: str, given: Dict[str, Option]) -> None:
        """Raises :class:`Error` for a name that is unknown or missing."""
        for name in given:
            if name not in self._is_number:
                names = ", ".join(f"`{one}`" for one in self.names)
                raise Error(
                    f"`{owner}` has no parameter `{name}`",
                    f"its parameters are {names}" if names else "leave it out",
                )
        for name, is_number in self._is_number.items():
            if is_number and given.get(name) is None:
                raise Error(f"`{owner}` lacks its parameter `{name}`, a number", f"pass `{name}=1`")

    def of(
        self, function: Function, given: Dict[str, Option]
    ) -> "Tuple[Dict[str, object], List[Array]]":
        """The arguments of a function by name, and arrays that must stay during the call."""
        found: Dict[str, object] = {}
        kept: "List[Array]" = []
        for one in function.parameters:
            struct = self._struct(one.type)
            if struct is not None:
                found[one.name], kept = struct.filled(given)
            elif given.get(one.name) is not None:
                found[one.name] = given[one.name]
        return found, kept

    def _struct(self, kind: str) -> Optional[Struct]:
        return self._structs.get(kind.replace("const ", "").rstrip(" *"))
