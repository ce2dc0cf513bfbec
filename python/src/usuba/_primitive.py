"""Ciphers: blocks, permutations and keystreams over arrays."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

import numpy as np

from ._call import Bytes, Function, Memory, array, blocks, counted, given, number, output
from ._errors import Error
from ._options import Struct

if TYPE_CHECKING:
    from ._call import Array

RawPrimitive = Tuple[str, str, int, int, List[Tuple[str, int, int]]]


class Primitive:
    """A primitive of a cipher folder, such as ``aes128`` or ``sha256``."""

    name: str
    kind: str
    """``block``, ``stream``, ``running`` (a stream cipher with a state), ``tweakable``,
    ``permutation``, ``keyed`` or ``unkeyed`` for a :class:`Cipher`; ``hash``, ``mac``, ``seal`` or
    ``sign`` for a :class:`Hash`, :class:`Mac`, :class:`Seal` or :class:`Sign`."""
    key_bytes: int
    """Bytes of a key; 0 if it has any length, or none is set up by itself."""
    nonce_bytes: int
    """Bytes of a nonce, or of the counter block of a block cipher."""

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        structs: Dict[str, Struct],
        described: RawPrimitive,
    ) -> None:
        self.name, self.kind, self.key_bytes, self.nonce_bytes, self._operations = described
        self._functions, self._structs = functions, structs
        self._wipe = functions[f"{folder}_wipe"]
        self._name = f"usuba_{self.name}"

    def _function(self, end: str) -> Optional[Function]:
        return self._functions.get(f"{self._name}_{end}")

    def _has(self, end: str) -> Function:
        found = self._function(end)
        if found is None:
            raise self._lacks(end)
        return found

    def _lacks(self, method: str) -> Error:
        kind = "an" if self.kind[0] in "aeiou" else "a"
        return Error(
            f"`{self.name}` is {kind} {self.kind} primitive and has no `{method}`",
            f"its functions are {', '.join(self._own()) or 'none'}",
        )

    def _own(self) -> List[str]:
        return [name for name in self._functions if name.startswith(f"{self._name}_")]

    def __repr__(self) -> str:
        return f"<usuba {self.kind} {self.name}>"


def context(primitive: Primitive, key: Bytes) -> Memory:
    """A key that is ready for use."""
    found = given(key, primitive.key_bytes, "key")
    init = primitive._has("init")
    memory = Memory(init.size("key"), primitive._wipe)
    init(memory.bytes, found, found.size)
    return memory


class Cipher(Primitive):
    """A block cipher, a stream cipher, a permutation, or another function on blocks."""

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        structs: Dict[str, Struct],
        described: RawPrimitive,
    ) -> None:
        super().__init__(folder, functions, structs, described)
        if self.kind == "block":
            self.nonce_bytes = self._operations[0][1]

    @property
    def block_bytes(self) -> Tuple[int, int]:
        """Bytes of a block before and after the first operation; zeros without one."""
        return self._operations[0][1:] if self._operations else (0, 0)

    def key(self, key: Bytes) -> "Key":
        """Sets up a key of ``key_bytes`` bytes."""
        if self._function("init") is None:
            raise Error(
                f"`{self.name}` has no key that is set up by itself",
                f"its functions are {', '.join(self._own()) or 'none'}",
            )
        return Key(self, key)

    def blocks(self, states: "Array", *, out: "Optional[Array]" = None) -> "Array":
        """A function without a key on each row of ``uint8[n, before]``, to ``uint8[n, after]``."""
        if self.key_bytes or not self._operations:
            raise Error(f"`{self.name}` is no function on blocks alone", "set up a key by `key`")
        name, before, after = self._operations[0]
        return self._run(name, (before, after), states, out, [])

    def _run(
        self,
        name: str,
        sizes: Tuple[int, int],
        rows: "Array",
        out: "Optional[Array]",
        first: "List[Array]",
    ) -> "Array":
        before, after = sizes
        call = self._functions.get(f"usuba_{name}_blocks")
        if call is None:
            raise Error(f"`{self.name}` has no function on single blocks", "use its modes")
        rows = blocks(rows, before, "blocks")
        result = output(out, rows.shape[:-1] + (after,))
        call(*first, rows, result, rows.size // before)
        return result


class Key:
    """A key, ready for use by any number of threads. It is zeroized when it is no longer used.

    Arrays are ``uint8``, contiguous, and neither copied nor converted. ``out`` is an array for the
    result; it may be the input itself where the sizes are equal. A wrong shape, type or stride
    raises :class:`Error`, and so does a method that the primitive does not have.
    """

    def __init__(self, primitive: Cipher, key: Bytes) -> None:
        self.primitive = primitive
        self._memory = context(primitive, key)

    def xor(
        self, nonce: Bytes, data: "Array", *, position: int = 0, out: "Optional[Array]" = None
    ) -> "Array":
        """Encrypts or decrypts ``data``, ``uint8`` of any shape, by the keystream of ``nonce``.

        A block cipher is in CTR mode, and the nonce is the first counter block, one big-endian
        number. ``position`` is the offset in the keystream in bytes.
        """
        call = self._stream("xor", "ctr")
        data = array(data, "data")
        result = output(out, data.shape)
        nonce = given(nonce, self.primitive.nonce_bytes, "nonce")
        at = number(position, "position", 2**64, 0)
        call(self._memory.bytes, nonce, at, data, result, data.size)
        return result

    def keystream(self, nonce: Bytes, length: int, *, position: int = 0) -> "Array":
        """``length`` bytes of the keystream of ``nonce``, as ``uint8[length]``."""
        call = self._stream("keystream", "ctr_keystream")
        result = np.empty(counted(length), np.uint8)
        nonce = given(nonce, self.primitive.nonce_bytes, "nonce")
        at = number(position, "position", 2**64, 0)
        call(self._memory.bytes, nonce, at, result, result.size)
        return result

    def begin(self, nonce: Bytes) -> "Keystream":
        """The keystream of ``nonce``, of a stream cipher with a state."""
        if self.primitive.kind != "running":
            raise self.primitive._lacks("begin")
        return Keystream(self, nonce)

    def keystreams(self, nonces: "Array", length: int) -> "Array":
        """``uint8[n, length]``: the keystream of each row of ``uint8[n, nonce]``, side by side, of a
        stream cipher with a state."""
        call = self.primitive._has("keystreams")
        nonces = blocks(nonces, self.primitive.nonce_bytes, "nonces")
        rows = nonces.size // self.primitive.nonce_bytes
        result = np.empty((rows, counted(length)), np.uint8)
        call(self._memory.bytes, nonces, rows, result, result.shape[1])
        return result

    def encrypt(self, blocks: "Array", *, out: "Optional[Array]" = None) -> "Array":
        """Each block of ``uint8[n, block]`` by itself, which is no mode of operation.

        A tweakable cipher takes rows of tweak and block, in the order of its ``cipher.toml``.
        """
        return self._each("encrypt", blocks, out)

    def decrypt(self, blocks: "Array", *, out: "Optional[Array]" = None) -> "Array":
        """The inverse of :meth:`encrypt`."""
        return self._each("decrypt", blocks, out)

    def blocks(self, blocks: "Array", *, out: "Optional[Array]" = None) -> "Array":
        """The function of a primitive that is no cipher of blocks, such as the block function of a
        stream cipher, on each row of ``uint8[n, before]``, to ``uint8[n, after]``."""
        return self._each("blocks", blocks, out)

    def _each(self, direction: str, rows: "Array", out: "Optional[Array]") -> "Array":
        own = self.primitive
        for name, before, after in own._operations:
            # A function without an inverse has the name of its primitive.
            alone = "encrypt" if own.kind in ("block", "tweakable") else "blocks"
            if name.endswith(f"_{direction}") or (direction == alone and name == own.name):
                return own._run(name, (before, after), rows, out, [self._memory.bytes])
        raise own._lacks(direction)

    def _stream(self, *names: str) -> Function:
        own = self.primitive
        if own.kind in ("stream", "block"):
            return own._has(names[own.kind == "block"])
        raise own._lacks(names[0])


class Keystream:
    """The keystream of a key and a nonce from a state, each byte once. Calls take turns."""

    def __init__(self, key: Key, nonce: Bytes) -> None:
        own = key.primitive
        begin, self._xor, self._next = own._has("begin"), own._has("xor"), own._has("keystream")
        self._memory = Memory(begin.size("state"), own._wipe)
        self._lock = threading.Lock()
        begin(self._memory.bytes, key._memory.bytes, given(nonce, own.nonce_bytes, "nonce"))

    def xor(self, data: "Array", *, out: "Optional[Array]" = None) -> "Array":
        """Encrypts or decrypts ``data``, ``uint8`` of any shape, by the next bytes."""
        data = array(data, "data")
        result = output(out, data.shape)
        with self._lock:
            self._xor(self._memory.bytes, data, result, data.size)
        return result

    def read(self, length: int) -> "Array":
        """The next ``length`` bytes, as ``uint8[length]``."""
        result = np.empty(counted(length), np.uint8)
        with self._lock:
            self._next(self._memory.bytes, result, result.size)
        return result
