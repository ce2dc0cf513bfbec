"""Generated ciphers: C, compiled once and called through ctypes.

ctypes releases the lock of the interpreter during a call, so calls of several threads run at once.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Error

Bytes = Union[bytes, bytearray, memoryview, "npt.NDArray[np.uint8]"]

_STATUS = {
    1: "a pointer is NULL",
    2: "the function does not take this length",
    3: "the counter of the keystream would overflow",
    4: "input and output overlap and are not the same array",
    5: "this processor or this build has no such backend",
    6: "the state does not allow this call",
    7: "the parameters do not go together",
    8: "a tag does not belong to the message",
    9: "a point has small order",
}
_FLAGS = ["-O3", "-fPIC", "-shared"]
_TYPES = {
    "void": None,
    "int": ctypes.c_int,
    "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "uint32_t": ctypes.c_uint32,
    "uint16_t": ctypes.c_uint16,
    "uint8_t": ctypes.c_uint8,
    "unsigned": ctypes.c_uint,
    "const char *": ctypes.c_char_p,
}


def _size(expected: int) -> str:
    return f"{expected} byte" + ("" if expected == 1 else "s")


def _given(value: Bytes, size: int, noun: str) -> "npt.NDArray[np.uint8]":
    """The bytes of a key or a nonce."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        found = np.frombuffer(value, np.uint8)
    else:
        found = _array(value, noun)
    if found.ndim != 1 or found.size != size:
        raise Error(f"found {found.size} bytes as the {noun}, expected {_size(size)}", f"pass {size}")
    return found


def _array(value: "npt.NDArray[np.uint8]", noun: str) -> "npt.NDArray[np.uint8]":
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


def _blocks(value: "npt.NDArray[np.uint8]", size: int, noun: str) -> "npt.NDArray[np.uint8]":
    found = _array(value, noun)
    if found.ndim == 0 or found.shape[-1] != size:
        shape = list(found.shape)
        raise Error(
            f"found uint8{shape} as the {noun}, expected uint8[n, {size}]",
            f"reshape it by `array.reshape(-1, {size})`",
        )
    return found


def _out(
    given: "Optional[npt.NDArray[np.uint8]]", shape: Tuple[int, ...]
) -> "npt.NDArray[np.uint8]":
    if given is None:
        return np.empty(shape, np.uint8)
    found = _array(given, "output")
    if found.shape != shape:
        raise Error(
            f"found uint8{list(found.shape)} as the output, expected uint8{list(shape)}",
            "leave out `out` for a new array",
        )
    if not found.flags.writeable:
        raise Error("found an output that cannot be written", "copy it by `array.copy()`")
    return found


def _position(position: int) -> int:
    if not isinstance(position, (int, np.integer)) or not 0 <= position < 2**64:
        raise Error(f"found the position {position!r}, expected bytes from 0 to 2**64 - 1", "pass 0")
    return int(position)


class Function:
    """A function of the C interface, by its name in the header.

    It takes numbers, and arrays or bytes as pointers, and checks neither sizes nor contents: the
    header has the rules. :class:`Key` and :class:`Primitive` check them.
    """

    def __init__(self, call: "ctypes._NamedFuncPointer", name: str, returns: str) -> None:
        self.name = name
        self.returns = returns
        self._call = call

    def __call__(self, *arguments: object) -> object:
        """The result; raises :class:`Error` for a status that is not ``USUBA_OK``."""
        plain = [one.ctypes.data if isinstance(one, np.ndarray) else one for one in arguments]
        # ctypes itself would pass on more than there are.
        if len(plain) != len(self._call.argtypes or ()):
            wanted = len(self._call.argtypes or ())
            counts = f"found {len(plain)} arguments, expected {wanted}"
            raise Error(f"{self.name}: {counts}", "the header has the parameters")
        try:
            found = self._call(*plain)
        except (TypeError, ctypes.ArgumentError) as error:
            raise Error(f"{self.name}: {error}", "the header has the parameters") from error
        if self.returns == "int" and found != 0:
            raise Error(f"{self.name}: {_STATUS.get(found, f'status {found}')}", "see the header")
        return found


class Key:
    """A key, ready for use by any number of threads. It is zeroized when it is no longer used.

    Arrays are ``uint8``, contiguous, and neither copied nor converted. ``out`` is an array for the
    result; it may be the input itself where the sizes are equal. A wrong shape, type or stride
    raises :class:`Error`, and so does a method that the primitive does not have.
    """

    def __init__(self, primitive: "Primitive", key: Bytes) -> None:
        self.primitive = primitive
        functions, name = primitive._functions, primitive._name
        given = _given(key, primitive.key_bytes, "key")
        size = functions[f"{name}_context_size"]()
        # Registers of 64 bytes are the largest alignment that a key has.
        room = np.zeros(int(size) + 64, np.uint8)  # type: ignore[call-overload]
        start = -room.ctypes.data % 64
        self._memory = room[start : start + int(size)]  # type: ignore[call-overload]
        wipe = functions[f"{primitive._folder}_wipe"]
        weakref.finalize(self, wipe, self._memory, self._memory.size)
        functions[f"{name}_init"](self._memory, given, given.size)

    def xor(
        self,
        nonce: Bytes,
        data: "npt.NDArray[np.uint8]",
        *,
        position: int = 0,
        out: "Optional[npt.NDArray[np.uint8]]" = None,
    ) -> "npt.NDArray[np.uint8]":
        """Encrypts or decrypts ``data``, ``uint8`` of any shape, by the keystream of ``nonce``.

        A block cipher is in CTR mode, and the nonce is the first counter block, one big-endian
        number. ``position`` is the offset in the keystream in bytes.
        """
        call = self._stream("xor", "ctr")
        data = _array(data, "data")
        result = _out(out, data.shape)
        nonce = _given(nonce, self.primitive.nonce_bytes, "nonce")
        call(self._memory, nonce, _position(position), data, result, data.size)
        return result

    def keystream(
        self, nonce: Bytes, length: int, *, position: int = 0
    ) -> "npt.NDArray[np.uint8]":
        """``length`` bytes of the keystream of ``nonce``, as ``uint8[length]``."""
        call = self._stream("keystream", "ctr_keystream")
        if not isinstance(length, (int, np.integer)) or not 0 <= length < 2**47:
            raise Error(f"found the length {length!r}, expected a number of bytes", "pass 64")
        result = np.empty(int(length), np.uint8)
        nonce = _given(nonce, self.primitive.nonce_bytes, "nonce")
        call(self._memory, nonce, _position(position), result, result.size)
        return result

    def encrypt(
        self, blocks: "npt.NDArray[np.uint8]", *, out: "Optional[npt.NDArray[np.uint8]]" = None
    ) -> "npt.NDArray[np.uint8]":
        """Each block of ``uint8[n, block]`` by itself, which is no mode of operation.

        A tweakable cipher takes rows of tweak and block, in the order of its ``cipher.toml``.
        """
        return self._each("encrypt", blocks, out)

    def decrypt(
        self, blocks: "npt.NDArray[np.uint8]", *, out: "Optional[npt.NDArray[np.uint8]]" = None
    ) -> "npt.NDArray[np.uint8]":
        """The inverse of :meth:`encrypt`."""
        return self._each("decrypt", blocks, out)

    def blocks(
        self, blocks: "npt.NDArray[np.uint8]", *, out: "Optional[npt.NDArray[np.uint8]]" = None
    ) -> "npt.NDArray[np.uint8]":
        """The function of a primitive that is no cipher of blocks, such as the block function of a
        stream cipher, on each row of ``uint8[n, before]``, to ``uint8[n, after]``."""
        return self._each("blocks", blocks, out)

    def _each(
        self,
        direction: str,
        blocks: "npt.NDArray[np.uint8]",
        out: "Optional[npt.NDArray[np.uint8]]",
    ) -> "npt.NDArray[np.uint8]":
        own = self.primitive
        for name, before, after in own._operations:
            # A function without an inverse has the name of its primitive.
            alone = "encrypt" if own.kind in ("block", "tweakable") else "blocks"
            if name.endswith(f"_{direction}") or (direction == alone and name == own.name):
                return own._run(name, (before, after), blocks, out, [self._memory])
        raise self._lacks(direction)

    def _stream(self, *names: str) -> Function:
        own = self.primitive
        if own.kind in ("stream", "block"):
            return own._functions[f"{own._name}_{names[own.kind == 'block']}"]
        raise self._lacks(names[0])

    def _lacks(self, method: str) -> Error:
        own = self.primitive
        kind = "an" if own.kind[0] in "aeiou" else "a"
        return Error(
            f"`{own.name}` is {kind} {own.kind} primitive and has no `{method}`",
            f"its functions are {', '.join(own._own()) or 'none'}",
        )


class Primitive:
    """A primitive of a cipher folder, such as ``aes128`` or ``chacha20``."""

    name: str
    kind: str
    """``block``, ``stream``, ``running`` (a stream cipher with a state), ``tweakable``,
    ``permutation``, ``hash``, ``mac``, ``seal``, ``sign``, ``keyed`` or ``unkeyed``. The methods of this class and of :class:`Key` serve the first two,
    permutations, and single blocks of all; for other functions there is :attr:`Library.functions`."""
    key_bytes: int
    nonce_bytes: int
    """Bytes of a nonce, or of the counter block of a block cipher."""

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        described: Tuple[str, str, int, int, List[Tuple[str, int, int]]],
    ) -> None:
        self.name, self.kind, self.key_bytes, self.nonce_bytes, self._operations = described
        if self.kind == "block":
            self.nonce_bytes = self._operations[0][1]
        self._folder, self._functions = folder, functions
        self._name = f"usuba_{self.name}"

    @property
    def block_bytes(self) -> Tuple[int, int]:
        """Bytes of a block before and after the first operation; zeros without one."""
        return self._operations[0][1:] if self._operations else (0, 0)

    def key(self, key: Bytes) -> Key:
        """Sets up a key of ``key_bytes`` bytes."""
        if self.kind not in ("block", "stream", "tweakable", "keyed"):
            raise Error(
                f"`{self.name}` has no key that is set up by itself",
                f"its functions are {', '.join(self._own()) or 'none'}",
            )
        return Key(self, key)

    def blocks(
        self, states: "npt.NDArray[np.uint8]", *, out: "Optional[npt.NDArray[np.uint8]]" = None
    ) -> "npt.NDArray[np.uint8]":
        """A function without a key on each row of ``uint8[n, before]``, to ``uint8[n, after]``."""
        if self.key_bytes or not self._operations:
            raise Error(f"`{self.name}` is no function on blocks alone", "set up a key by `key`")
        name, before, after = self._operations[0]
        return self._run(name, (before, after), states, out, [])

    def _run(
        self,
        name: str,
        sizes: Tuple[int, int],
        blocks: "npt.NDArray[np.uint8]",
        out: "Optional[npt.NDArray[np.uint8]]",
        first: "List[npt.NDArray[np.uint8]]",
    ) -> "npt.NDArray[np.uint8]":
        before, after = sizes
        call = self._functions.get(f"usuba_{name}_blocks")
        if call is None:
            raise Error(f"`{self.name}` has no function on single blocks", "use its modes")
        blocks = _blocks(blocks, before, "blocks")
        result = _out(out, blocks.shape[:-1] + (after,))
        call(*first, blocks, result, blocks.size // before)
        return result

    def _own(self) -> List[str]:
        return [name for name in self._functions if name.startswith(f"{self._name}_")]

    def __repr__(self) -> str:
        return f"<usuba {self.kind} {self.name}>"


class Library:
    """A cipher folder as a shared object: its primitives are attributes and items.

    ``functions`` has every function of the header by its C name, ``c`` and ``header`` the texts,
    ``path`` the shared object.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        texts: Tuple[str, str],
        primitives: "List[Tuple[str, str, int, int, List[Tuple[str, int, int]]]]",
        functions: "List[Tuple[str, str, List[str]]]",
    ) -> None:
        self.name, self.path = name, path
        self.c, self.header = texts
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError as error:
            raise Error(
                f"cannot load {path}: {error}", "set USUBA_PYTHON to a folder for programs"
            ) from error
        self.functions: Dict[str, Function] = {}
        for symbol, returns, types in functions:
            call = getattr(loaded, symbol)
            call.restype = _TYPES.get(returns, ctypes.c_void_p)
            call.argtypes = [_TYPES.get(one, ctypes.c_void_p) for one in types]
            self.functions[symbol] = Function(call, symbol, returns)
        folder = next(
            symbol[: -len("_wipe")] for symbol in self.functions if symbol.endswith("_wipe")
        )
        self.primitives = {
            one[0]: Primitive(folder, self.functions, one) for one in primitives
        }

    def __getattr__(self, name: str) -> Primitive:
        primitives = self.__dict__.get("primitives", {})
        if name in primitives:
            return primitives[name]
        known = ", ".join(primitives)
        raise AttributeError(f"`{self.__dict__.get('name')}` has no {name!r}; it has {known}")

    def __getitem__(self, name: str) -> Primitive:
        return self.primitives[name]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.primitives]

    @property
    def backend(self) -> str:
        """The instruction set in use: the best one of the processor."""
        name = next(one for one in self.functions if one.endswith("_backend"))
        found = self.functions[name]()
        return found.decode() if isinstance(found, bytes) else ""

    def __repr__(self) -> str:
        return f"<usuba library {self.name}: {', '.join(self.primitives)}>"


_LOADED: Dict[Tuple[str, Tuple[str, ...], str], Library] = {}


def load(name: str, *, targets: Sequence[str] = (), cc: Optional[str] = None) -> Library:
    """A cipher as a shared object, compiled by the C compiler of the system.

    ``name`` is a built-in cipher such as ``"chacha20"``, the path of a cipher folder, or a function
    of one. ``targets`` are instruction sets; by default all that the processor may have, and the
    first call chooses. ``cc`` is the compiler with its flags, by default ``$CC`` or ``cc``. The
    test vectors of the cipher are checked before.

    The shared object is kept by the hash of its C, compiler and flags in the folder
    ``$USUBA_PYTHON``, or ``usuba/python`` in the user's folder for caches. A folder of that kind must
    not be writable for others.

    Raises :class:`Error` for an unknown name or target, without a C compiler, or if it fails.
    """
    if not isinstance(name, (str, os.PathLike)):
        raise Error(f"found {type(name).__name__} as a cipher, expected its name", 'pass "aes"')
    if isinstance(targets, str):
        targets = [targets]
    if not all(isinstance(target, str) for target in targets):
        raise Error(f"found {list(targets)!r} as targets, expected names", 'pass ["avx2"]')
    compiler = _compiler(cc)
    wanted = (os.fspath(name), tuple(targets), shlex.join(compiler))
    # A folder may have changed since; only built-in ciphers stay.
    is_folder = os.path.exists(wanted[0])
    if not is_folder and wanted in _LOADED:
        return _LOADED[wanted]
    files, primitives, functions = _core.dist(wanted[0], list(targets))
    texts = {os.path.splitext(path)[1]: text for path, text in files}
    path = _shared(Path(files[0][0]).stem, files, compiler)
    library = Library(wanted[0], path, (texts[".c"], texts[".h"]), primitives, functions)
    if not is_folder:
        _LOADED[wanted] = library
    return library


def _compiler(cc: Optional[str]) -> List[str]:
    given = cc or os.environ.get("CC") or "cc"
    words = shlex.split(given)
    if not words or shutil.which(words[0]) is None:
        raise Error(
            f"found no C compiler `{given}`", "install gcc or clang, or pass `cc=` with its path"
        )
    return words


def _cache() -> Path:
    if os.environ.get("USUBA_PYTHON"):
        return Path(os.environ["USUBA_PYTHON"])
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "usuba" / "python"


def _shared(stem: str, files: Sequence[Tuple[str, str]], compiler: List[str]) -> Path:
    """The shared object of a C file: from the cache, or compiled."""
    asked = subprocess.run([*compiler, "--version"], capture_output=True, text=True)
    key = hashlib.sha256(repr((asked.stdout, compiler, _FLAGS, sorted(files))).encode())
    folder = _cache()
    path = folder / f"{stem}-{key.hexdigest()[:32]}.so"
    if path.is_file():
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = tempfile.TemporaryDirectory(dir=folder)
    except OSError as error:
        raise Error(
            f"cannot write {folder}: {error.strerror}", "set USUBA_PYTHON to a folder of yours"
        ) from error
    with scratch as place:
        for name, text in files:
            Path(place, name).write_text(text, encoding="utf-8")
        source = next(name for name, _ in files if name.endswith(".c"))
        command = [*compiler, *_FLAGS, "-o", path.name, source]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True)
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[:10])
            raise Error(f"`{shlex.join(command)}` failed:\n{said}", "try another compiler by `cc=`")
        # Renamed when it is complete, so that processes side by side see a whole file.
        os.replace(Path(place, path.name), path)
    return path
