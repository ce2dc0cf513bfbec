"""Calls of C functions: sizes of arrays, numbers, statuses, and memory that is zeroized.

The manifest of a library has the size of the memory behind each pointer, as an expression in other
parameters: ``out`` of ``seal`` has ``length + 16`` bytes. :class:`Function` checks arrays by it.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._errors import Error, Forged

if TYPE_CHECKING:
    Array = npt.NDArray[np.uint8]

Bytes = Union[bytes, bytearray, memoryview, "npt.NDArray[np.uint8]"]
"""Bytes in one piece: they are read in place, and not copied."""

RawSize = Tuple[List[Tuple[int, List[str]]], int]
RawParameter = Tuple[str, str, Optional[Tuple[RawSize, bool, bool]]]
RawFunction = Tuple[str, str, List[RawParameter]]

_FORGED = 8
_STATUS = {
    1: "a pointer is NULL",
    2: "the function does not take this length",
    3: "the counter of the keystream would overflow",
    4: "input and output overlap and are not the same array",
    5: "this processor or this build has no such backend",
    6: "the state does not allow this call",
    7: "the parameters do not go together",
    _FORGED: "a tag does not belong to the message",
    9: "a point has small order",
}
# Types of numbers with their least and their first value beyond.
_NUMBERS = {
    "int": (ctypes.c_int, -(2**31), 2**31),
    "size_t": (ctypes.c_size_t, 0, 256 ** ctypes.sizeof(ctypes.c_size_t)),
    "uint64_t": (ctypes.c_uint64, 0, 2**64),
    "uint32_t": (ctypes.c_uint32, 0, 2**32),
    "uint16_t": (ctypes.c_uint16, 0, 2**16),
    "uint8_t": (ctypes.c_uint8, 0, 2**8),
    "unsigned": (ctypes.c_uint, 0, 2**32),
}


def bytes_of(count: int) -> str:
    """A number of bytes as text."""
    return f"{count} byte" + ("" if count == 1 else "s")


def array(value: object, noun: str) -> "Array":
    """An array of bytes without gaps."""
    if not isinstance(value, np.ndarray):
        raise Error(
            f"found {type(value).__name__} as the {noun}, expected an array of uint8",
            "convert bytes by `numpy.frombuffer(data, numpy.uint8)`",
        )
    if value.dtype != np.uint8:
        raise Error(
            f"found {value.dtype}{list(value.shape)} as the {noun}, expected uint8",
            "`array.view(numpy.uint8)` has the bytes in the order of this machine",
        )
    if not value.flags.c_contiguous:
        raise Error(
            f"found {noun} with strides {value.strides}, expected contiguous bytes",
            "copy it by `numpy.ascontiguousarray(array)`",
        )
    return value


def view(value: Bytes, noun: str) -> "Array":
    """The bytes of ``bytes``, a ``bytearray``, a ``memoryview`` or an array, without a copy."""
    if isinstance(value, np.ndarray):
        return array(value, noun).reshape(-1)
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise Error(
            f"found {type(value).__name__} as the {noun}, expected bytes or an array of uint8",
            "encode text by `text.encode()`",
        )
    if isinstance(value, memoryview) and not (value.itemsize == 1 and value.c_contiguous):
        raise Error(
            f"found {noun} with items of {bytes_of(value.itemsize)} and strides {value.strides}, "
            "expected contiguous bytes",
            "copy it by `bytes(view)`",
        )
    return np.frombuffer(value, np.uint8)


def address(value: "npt.NDArray[np.generic]") -> int:
    """The place of an array in memory, in half the time of ``value.ctypes.data``."""
    return int(value.__array_interface__["data"][0])


def given(value: Bytes, size: int, noun: str) -> "Array":
    """Bytes of a fixed size, such as a key or a nonce."""
    found = view(value, noun)
    if found.size != size:
        raise Error(f"found {bytes_of(found.size)} as the {noun}, expected {bytes_of(size)}", f"pass {size}")
    return found


def blocks(value: "Array", size: int, noun: str) -> "Array":
    """Rows of ``size`` bytes."""
    found = array(value, noun)
    if found.ndim == 0 or found.shape[-1] != size:
        raise Error(
            f"found uint8{list(found.shape)} as the {noun}, expected uint8[n, {size}]",
            f"reshape it by `array.reshape(-1, {size})`",
        )
    return found


def output(value: "Optional[Array]", shape: Tuple[int, ...]) -> "Array":
    """An array for a result: the caller's, or a new one."""
    if value is None:
        return np.empty(shape, np.uint8)
    found = array(value, "output")
    if found.shape != shape:
        raise Error(
            f"found uint8{list(found.shape)} as the output, expected uint8{list(shape)}",
            "leave out `out` for a new array",
        )
    if not found.flags.writeable:
        raise Error("found an output that cannot be written", "copy it by `array.copy()`")
    return found


def number(value: object, noun: str, below: int, example: int) -> int:
    """A number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < below:
        raise Error(
            f"found the {noun} {value!r}, expected a number of bytes from 0 to {below - 1}",
            f"pass {example}",
        )
    return int(value)


def counted(value: object, least: int = 0) -> int:
    """The number of bytes of a result."""
    found = number(value, "length", 2**47, 32)
    if found < least:
        raise Error(f"found the length {found}, expected at least {bytes_of(least)}", "pass 32")
    return found


class Size:
    """Bytes behind a pointer: a polynomial in parameters, divided and rounded down."""

    fixed: Optional[int]
    """The value, if it depends on no parameter."""
    name: Optional[str]
    """The parameter that is the size itself."""

    def __init__(self, raw: RawSize) -> None:
        self.terms, self.divisor = raw
        is_name = self.divisor == 1 and [(f, len(names)) for f, names in self.terms] == [(1, 1)]
        self.name = self.terms[0][1][0] if is_name else None
        is_fixed = not any(names for _, names in self.terms)
        self.fixed = self.value({}) if is_fixed else None

    def value(self, numbers: Dict[str, int]) -> Optional[int]:
        """The value for these parameters; ``None`` if it depends on others."""
        if self.name is not None:
            return numbers.get(self.name)
        total = 0
        for factor, names in self.terms:
            for name in names:
                if name not in numbers:
                    return None
                factor *= numbers[name]
            total += factor
        return max(total, 0) // self.divisor


class Parameter:
    """A parameter: its name, its C type, and the memory behind a pointer."""

    def __init__(self, raw: RawParameter) -> None:
        self.name, self.type, memory = raw
        self.size = Size(memory[0]) if memory else None
        self.writes, self.points = (memory[1], memory[2]) if memory else (False, False)
        kind = _NUMBERS.get(self.type)
        self.number = None if kind is None else kind[1:]
        text = ctypes.c_char_p if self.type == "const char *" else ctypes.c_void_p
        self.ctype = text if kind is None else kind[0]
        self.noun = "input" if self.name == "in" else self.name.replace("_", " ")


class Function:
    """A function of the C interface, by its name in the header.

    It takes numbers, and arrays or bytes as pointers; ``None`` is NULL. Types of numbers and sizes of
    arrays are checked; a plain number as a pointer, arrays behind arrays of pointers, and strings
    are the caller's responsibility.
    """

    def __init__(self, library: ctypes.CDLL, raw: RawFunction) -> None:
        self.name, self.returns, parameters = raw
        self.parameters = [Parameter(one) for one in parameters]
        self._named = {one.name: one for one in self.parameters}
        writes = (one for one in self.parameters if one.writes and one.type == "uint8_t *")
        self.result = next(writes, None)
        self._call = getattr(library, self.name)
        kind = _NUMBERS.get(self.returns)
        results = {"void": None, "const char *": ctypes.c_char_p}
        self._call.restype = kind[0] if kind else results.get(self.returns, ctypes.c_void_p)
        self._call.argtypes = [one.ctype for one in self.parameters]

    def __call__(self, *arguments: object) -> object:
        """The result.

        Raises :class:`Forged` for a tag or a signature that does not belong to the message, and
        :class:`Error` for any other status that is not ``USUBA_OK``, a number out of range, and an
        array that is too small.
        """
        if len(arguments) != len(self.parameters):
            counts = f"found {len(arguments)} arguments, expected {len(self.parameters)}"
            raise self._wrong(counts)
        numbers: Dict[str, int] = {}
        for one, value in zip(self.parameters, arguments):
            if one.number is not None:
                numbers[one.name] = self._number(one, value)
        plain = [
            numbers[one.name] if one.number is not None else self._pointer(one, value, numbers)
            for one, value in zip(self.parameters, arguments)
        ]
        try:
            found = self._call(*plain)
        except (TypeError, ctypes.ArgumentError) as error:
            raise self._wrong(str(error)) from error
        if self.returns == "int" and found == _FORGED:
            raise Forged(f"{self.name}: {_STATUS[found]}", "discard the message")
        if self.returns == "int" and found != 0:
            raise Error(f"{self.name}: {_STATUS.get(found, f'status {found}')}", "see the header")
        return found

    def apply(self, values: Dict[str, object], length: Optional[int] = None) -> "Dict[str, Array]":
        """Calls it with ``values`` by the names of parameters, and gives the outputs.

        Lengths of given bytes may be absent; an absent output is new, and an absent input is NULL.
        ``length`` is the length of the result, if it has no length of its own. Raises as
        :meth:`__call__`.
        """
        if not values.keys() <= self._named.keys():
            (unknown, *_) = values.keys() - self._named.keys()
            raise self._wrong(f"found `{unknown}`, which is no parameter")
        arguments: Dict[str, object] = {}
        numbers = {
            one.name: self._number(one, values[one.name])
            for one in self.parameters
            if one.size is None and values.get(one.name) is not None
        }
        chosen = set(numbers)
        for one in self.parameters:
            value = values.get(one.name)
            if one.size is None:
                continue
            if isinstance(value, np.ndarray) and (one.points or value.dtype != np.uint8):
                # Arrays of pointers and of lengths: their lengths are numbers of their own.
                arguments[one.name] = value
                continue
            if value is not None:
                found = value.bytes if isinstance(value, Memory) else view(value, one.noun)  # type: ignore[arg-type]
                arguments[one.name] = found
                size = found.size
            elif one.writes:
                continue
            else:
                size = 0
            expected = one.size.fixed
            if one.size.name is not None and one.size.name not in chosen:
                expected = numbers.setdefault(one.size.name, size)
            if value is not None and expected is not None and size != expected:
                counts = f"found {bytes_of(size)} as the {one.noun}"
                raise Error(f"{counts}, expected {bytes_of(expected)}", f"pass {expected}")
        result = self.result
        if length is not None and result is not None and result.size and result.size.name:
            numbers[result.size.name] = length
        outputs: "Dict[str, Array]" = {}
        for one in self.parameters:
            if one.size is not None and one.writes and one.name not in arguments:
                outputs[one.name] = np.empty(one.size.value(numbers) or 0, np.uint8)
        arguments.update(numbers)
        arguments.update(outputs)
        self(*[arguments.get(one.name) for one in self.parameters])
        return outputs

    def give(self, values: Dict[str, object], length: Optional[int] = None) -> bytes:
        """The same for a function with one result."""
        (found,) = self.apply(values, length).values()
        return found.tobytes()

    @property
    def result_bytes(self) -> Optional[int]:
        """The bytes of the result; ``None`` if the caller chooses."""
        return self.result.size.fixed if self.result and self.result.size else None

    def size(self, name: str) -> int:
        """The bytes behind a parameter of a fixed size."""
        found = self.parameter(name)
        return (found.size.fixed or 0) if found is not None and found.size is not None else 0

    def parameter(self, name: str) -> Optional[Parameter]:
        """The parameter of this name."""
        return self._named.get(name)

    def _number(self, one: Parameter, value: object) -> int:
        least, beyond = one.number or (0, 0)
        if not isinstance(value, (int, np.integer)) or not least <= value < beyond:
            raise self._wrong(
                f"found {value!r} as `{one.name}`, expected a number from {least} to {beyond - 1}"
            )
        return int(value)

    def _pointer(self, one: Parameter, value: object, numbers: Dict[str, int]) -> object:
        # ctypes itself passes strings and NULL.
        if value is None or isinstance(value, int) or one.ctype is ctypes.c_char_p:
            return value
        if not isinstance(value, np.ndarray):
            value = view(value, one.noun)  # type: ignore[arg-type]
        wanted = one.size.value(numbers) if one.size is not None else None
        if wanted is not None and value.nbytes < wanted:
            raise self._wrong(
                f"found {bytes_of(value.nbytes)} as `{one.name}`, expected {wanted}"
            )
        if not value.flags.c_contiguous:
            raise self._wrong(f"found `{one.name}` with strides {value.strides}")
        if one.writes and not value.flags.writeable:
            raise self._wrong(f"found `{one.name}` that cannot be written")
        return address(value)

    def _wrong(self, message: str) -> Error:
        return Error(f"{self.name}: {message}", "the header has the parameters")


class Memory:
    """Memory of a struct, zeroized when it is no longer used."""

    def __init__(self, size: int, wipe: Function) -> None:
        # Registers of 64 bytes are the largest alignment that a struct has.
        room = np.zeros(size + 64, np.uint8)
        start = -room.ctypes.data % 64
        self.bytes = room[start : start + size]
        self._wipe = wipe
        weakref.finalize(self, wipe, self.bytes, size)

    def copy(self) -> "Memory":
        """The same content in memory of its own."""
        found = Memory(self.bytes.size, self._wipe)
        found.bytes[:] = self.bytes
        return found


def is_genuine(check: Callable[[], object]) -> bool:
    """Whether a check of a tag or a signature passes."""
    try:
        check()
    except Forged:
        return False
    return True
