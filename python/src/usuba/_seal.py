"""Authenticated encryption of messages, and of messages in segments.

>>> import usuba
>>> aead = usuba.load("chacha20poly1305", targets=["gp64"]).chacha20poly1305
>>> key, nonce = aead.key(bytes(range(32))), bytes(12)
>>> sealed = key.seal(nonce, b"message", b"header")
>>> key.open(nonce, sealed, b"header")
b'message'
>>> key.open(nonce, sealed, b"another header")
Traceback (most recent call last):
usuba._errors.Forged: usuba_chacha20poly1305_open: a tag does not belong to the message
  help: discard the message
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Dict, Union

from ._call import Bytes, Function, Memory, given, view
from ._errors import Error, Forged
from ._options import Struct
from ._primitive import Primitive, RawPrimitive, context

if TYPE_CHECKING:
    from ._call import Array


class Seal(Primitive):
    """Authenticated encryption with associated data (AEAD), such as ``chacha20poly1305``.

    Inputs are ``bytes``, a ``bytearray``, a contiguous ``memoryview`` of bytes, or a contiguous array
    of ``uint8``; they are not copied. Calls release the lock of the interpreter.
    """

    tag_bytes: int
    """Bytes that a sealed text is longer than its plaintext."""
    has_data: bool
    """Whether it takes associated data; a secret box takes none."""

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        structs: Dict[str, Struct],
        described: RawPrimitive,
    ) -> None:
        super().__init__(folder, functions, structs, described)
        self._seal, self._open = self._has("seal"), self._has("open")
        self.key_bytes = int(self._has("key_size")())  # type: ignore[call-overload]
        self.nonce_bytes = self._seal.size("nonce")
        self.tag_bytes = self._has("seal_detached").size("tag")
        self.has_data = self._seal.parameter("data") is not None

    def key(self, key: Bytes) -> "SealKey":
        """Sets up a key of ``key_bytes`` bytes, for many messages."""
        return SealKey(self, key)

    def seal(
        self, key: "Union[Bytes, SealKey]", nonce: Bytes, plaintext: Bytes, aad: Bytes = b""
    ) -> bytes:
        """Encrypts ``plaintext`` and authenticates it with ``aad``: ``tag_bytes`` more bytes.

        A nonce of ``nonce_bytes`` bytes is for one message under a key. Raises :class:`Error` for
        wrong lengths and types.
        """
        return self._set_up(key).seal(nonce, plaintext, aad)

    def open(
        self, key: "Union[Bytes, SealKey]", nonce: Bytes, sealed: Bytes, aad: Bytes = b""
    ) -> bytes:
        """The plaintext of :meth:`seal`.

        Raises :class:`Forged` and gives no plaintext if key, nonce, ``sealed`` or ``aad`` are not
        those of :meth:`seal`, and :class:`Error` for a key or a nonce of a wrong length.
        """
        return self._set_up(key).open(nonce, sealed, aad)

    def _set_up(self, key: "Union[Bytes, SealKey]") -> "SealKey":
        if not isinstance(key, SealKey):
            return SealKey(self, key)
        if key.primitive is not self:
            raise Error(f"found a key of `{key.primitive.name}`", f"set up one of `{self.name}`")
        return key

    def _data(self, aad: Bytes) -> Dict[str, object]:
        found = view(aad, "associated data")
        if self.has_data:
            return {"data": found}
        if found.size:
            raise Error(f"`{self.name}` takes no associated data", "leave out `aad`")
        return {}

    def _sealed(self, sealed: Bytes) -> "Array":
        found = view(sealed, "sealed text")
        if found.size < self.tag_bytes:
            raise Forged(f"{self.name}: {found.size} bytes have no tag", "discard the message")
        return found


class SealKey:
    """A key, ready for use by any number of threads. It is zeroized when it is no longer used."""

    def __init__(self, primitive: Seal, key: Bytes) -> None:
        self.primitive = primitive
        self._memory = context(primitive, key)

    def seal(self, nonce: Bytes, plaintext: Bytes, aad: Bytes = b"") -> bytes:
        """:meth:`Seal.seal` under this key."""
        own = self.primitive
        values = own._data(aad)
        values.update(key=self._memory, nonce=given(nonce, own.nonce_bytes, "nonce"))
        values["in"] = view(plaintext, "plaintext")
        return own._seal.give(values)

    def open(self, nonce: Bytes, sealed: Bytes, aad: Bytes = b"") -> bytes:
        """:meth:`Seal.open` under this key."""
        own = self.primitive
        values = own._data(aad)
        values.update(key=self._memory, nonce=given(nonce, own.nonce_bytes, "nonce"))
        values["in"] = own._sealed(sealed)
        return own._open.give(values)

    def seal_into(self, nonce: Bytes, plaintext: Bytes, out: Bytes, aad: Bytes = b"") -> None:
        """:meth:`seal` into ``out``, a ``bytearray`` or an array that can be written.

        ``out`` has ``tag_bytes`` more bytes than ``plaintext``, which may lie in the place of its
        ciphertext. Raises :class:`Error` for another length, or if they overlap otherwise.
        """
        own = self.primitive
        self._into(own._seal, nonce, view(plaintext, "plaintext"), out, own.tag_bytes, aad)

    def open_into(self, nonce: Bytes, sealed: Bytes, out: Bytes, aad: Bytes = b"") -> None:
        """:meth:`open` into ``out``, which has ``tag_bytes`` fewer bytes than ``sealed``.

        Raises as :meth:`open`, and leaves ``out`` as it is then.
        """
        own = self.primitive
        self._into(own._open, nonce, own._sealed(sealed), out, -own.tag_bytes, aad)

    def _into(
        self, call: Function, nonce: Bytes, text: "Array", out: Bytes, more: int, aad: Bytes
    ) -> None:
        own = self.primitive
        values = own._data(aad)
        values.update(key=self._memory, nonce=given(nonce, own.nonce_bytes, "nonce"))
        values.update({"in": text, "out": given(out, text.size + more, "output")})
        call.apply(values)

    def sealer(self, nonce: Bytes) -> "Sealer":
        """Begins a message in segments. Its nonce has 5 bytes less, and is for one message."""
        return Sealer(self, nonce)

    def opener(self, nonce: Bytes) -> "Opener":
        """Begins the message of a :class:`Sealer` in the other direction."""
        return Opener(self, nonce)


class _Segments:
    """The state of a message in segments. Calls of several threads take turns."""

    def __init__(self, key: SealKey, nonce: Bytes) -> None:
        self.primitive = own = key.primitive
        begin, self._finish = own._has("stream_begin"), own._has("stream_finish")
        self._key = key
        self._memory = Memory(begin.size("stream"), own._wipe)
        self._lock = threading.Lock()
        begin(self._memory.bytes, given(nonce, begin.size("nonce"), "nonce"))

    def finish(self) -> None:
        """Raises :class:`Forged` if the last segment was not there: the message lost its end."""
        with self._lock:
            self._finish(self._memory.bytes)

    def _next(self, end: str, segment: object, aad: Bytes, last: bool) -> bytes:
        call, values = self.primitive._has(end), self.primitive._data(aad)
        values.update(stream=self._memory, key=self._key._memory, last=int(last))
        values["in"] = segment
        with self._lock:
            return call.give(values)


class Sealer(_Segments):
    """Seals a message in segments (STREAM), each with a tag of its own."""

    def seal(self, segment: Bytes, aad: Bytes = b"", *, last: bool = False) -> bytes:
        """The next segment, ``tag_bytes`` longer; ``last`` ends the message."""
        return self._next("stream_seal", view(segment, "segment"), aad, last)


class Opener(_Segments):
    """Opens the segments of a :class:`Sealer` in their order."""

    def open(self, segment: Bytes, aad: Bytes = b"", *, last: bool = False) -> bytes:
        """The plaintext of the next segment.

        Raises :class:`Forged` for a segment that is forged, repeated, of another place or of another
        message; the message may go on with the right one. It is complete only after ``last``, which
        :meth:`finish` checks.
        """
        return self._next("stream_open", self.primitive._sealed(segment), aad, last)
