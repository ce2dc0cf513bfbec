"""Hash functions, in the manner of ``hashlib``, and message authentication codes.

>>> import usuba
>>> library = usuba.load("sha2", targets=["gp64"])
>>> library.sha256(b"abc").hex()[:16]
'ba7816bf8f01cfea'
>>> library.sha256.new(b"a").update(b"bc").hexdigest()[:16]
'ba7816bf8f01cfea'
>>> tag = library.hmac_sha256(b"key", b"message")
>>> library.hmac_sha256.verify(b"key", b"message", tag)
True
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from ._call import Bytes, Function, Memory, address, bytes_of, counted, is_genuine, number, view
from ._errors import Error
from ._options import Option, Options, Struct
from ._primitive import Primitive, RawPrimitive, context

if TYPE_CHECKING:
    from ._call import Array

_KNOWN = {"state", "in", "length", "out", "out_length", "tag", "tag_length", "lengths", "count"}


class _Message:
    """The state of a message in pieces. Calls of several threads take turns."""

    digest_size: Optional[int]

    def __init__(self, owner: Union[Hash, Mac], length: Optional[int], given: Dict[str, Option]) -> None:
        self._owner, self._length, self._given = owner, length, given
        self._fixed: Dict[str, object] = {}
        self._lock = threading.Lock()
        self._ended = False

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return self._owner.name

    @property
    def block_size(self) -> int:
        """Bytes of a block; 1 for a function that does not tell it."""
        call = self._owner._function("block_size")
        return int(call()) if call is not None else 1  # type: ignore[call-overload]

    def _begin(self, begin: Function, more: Dict[str, object]) -> None:
        values, kept = self._owner._options.of(begin, self._given)
        self._state = Memory(begin.size("state"), self._owner._wipe)
        values.update(more, state=self._state)
        if begin.parameter("out_length") is not None:
            values["out_length"] = self._length
        begin.apply(values)
        del kept

    def _take(self, data: Bytes) -> None:
        found = view(data, "data")
        with self._lock:
            if self._ended:
                raise Error("the message has ended by `read`", "begin another one by `new`")
            self._owner._has("update").apply({**self._fixed, "state": self._state, "in": found})

    def _copied(self) -> Memory:
        with self._lock:
            if self._ended:
                raise Error("the message has ended by `read`", "call `digest` instead of `read`")
            return self._state.copy()

    def _copy(self, found: "_Message") -> None:
        found._fixed = self._fixed
        with self._lock:
            found._state, found._ended = self._state.copy(), self._ended


class Hashing(_Message):
    """A message in pieces, as the objects of ``hashlib`` (PEP 452). Calls of threads take turns.

    ``digest_size`` is the number of bytes of a hash, or ``None`` if :meth:`digest` takes it.
    """

    _owner: "Hash"

    def update(self, data: Bytes) -> "Hashing":
        """Takes the next bytes of the message. Raises :class:`Error` after :meth:`read`."""
        self._take(data)
        return self

    def digest(self, length: Optional[int] = None) -> bytes:
        """The hash of the message so far, which may go on.

        ``length`` is in bytes, for functions with outputs of any length.
        """
        size = self._owner._size(self.digest_size, length)
        state = self._copied()
        final = self._owner._function("final")
        if final is not None:
            values, _ = self._owner._options.of(final, self._given)
            values["state"] = state
            if final.result is not None:
                return final.give(values, size)
            final.apply(values)
        return self._owner._has("squeeze").give({"state": state}, size)

    def hexdigest(self, length: Optional[int] = None) -> str:
        """:meth:`digest` in hexadecimal."""
        return self.digest(length).hex()

    def read(self, length: int) -> bytes:
        """Ends the message, and gives the next ``length`` bytes of an output of any length."""
        squeeze, size = self._owner._has("squeeze"), counted(length)
        final = self._owner._function("final")
        with self._lock:
            if not self._ended and final is not None and final.result is None:
                values, _ = self._owner._options.of(final, self._given)
                final.apply({**values, "state": self._state})
            self._ended = True
            return squeeze.give({"state": self._state}, size)

    def copy(self) -> "Hashing":
        """Another message that begins as this one."""
        found = Hashing(self._owner, self._length, self._given)
        found.digest_size = self.digest_size
        self._copy(found)
        return found


class Hash(Primitive):
    """A hash function: ``sha256(data)`` is a hash, and :meth:`new` begins a message in pieces.

    Data are ``bytes``, a ``bytearray``, a contiguous ``memoryview`` of bytes, or a contiguous array
    of ``uint8``; they are not copied. Calls release the lock of the interpreter.
    """

    digest_size: Optional[int]
    """Bytes of a hash, or ``None`` if each call takes its ``length``."""
    parameters: Tuple[str, ...]
    """Names of further parameters, which calls take by keyword: bytes, or a number. An absent string
    is empty, or as the specification says; an absent number is an error unless it belongs to
    a tree of Skein."""

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        structs: Dict[str, Struct],
        described: RawPrimitive,
    ) -> None:
        super().__init__(folder, functions, structs, described)
        whole = self._function("hash")
        self._whole = whole if whole is not None else self._has("xof")
        self.digest_size = self._whole.result_bytes
        self._options = Options([self._whole], structs, _KNOWN)
        self.parameters = self._options.names

    def __call__(self, data: Bytes, length: Optional[int] = None, **parameters: Option) -> bytes:
        """The hash of ``data``, of ``length`` bytes if ``digest_size`` is ``None``.

        Raises :class:`Error` for data of another type, a length that the function does not have, and
        parameters that it lacks or does not take.
        """
        size = self._size(self.digest_size, length)
        self._options.check(self.name, parameters)
        values, kept = self._options.of(self._whole, parameters)
        values["in"] = view(data, "data")
        found = self._whole.give(values, size)
        del kept
        return found

    def new(self, data: Bytes = b"", length: Optional[int] = None, **parameters: Option) -> Hashing:
        """Begins a message in pieces.

        ``length`` is for Skein, where it is an input of the hash; ``2**64 - 1`` is an output without
        an end, for :meth:`Hashing.read`.
        """
        self._options.check(self.name, parameters)
        begin = self._has("begin")
        found = Hashing(self, None, parameters)
        found.digest_size = self.digest_size
        if begin.parameter("out_length") is not None:
            if length is None:
                raise self._lacks_length()
            found.digest_size = found._length = number(length, "length", 2**64, 32)
        elif length is not None:
            raise Error(f"`{self.name}` takes no length here", "pass it to `digest`")
        found._begin(begin, {})
        return found.update(data)

    def many(
        self, messages: Sequence[Bytes], length: Optional[int] = None, **parameters: Option
    ) -> "Array":
        """``uint8[n, length]``: the hashes of n messages, each in a lane of its own."""
        size = self._size(self.digest_size, length)
        self._options.check(self.name, parameters)
        call = self._has("hash_many")
        inputs = [view(one, "message") for one in messages]
        values, kept = self._options.of(call, parameters)
        values["in"] = np.array([address(one) for one in inputs], np.uint64)
        values["lengths"] = np.array([one.size for one in inputs], np.uint64)
        values["count"] = len(inputs)
        if call.parameter("out_length") is not None:
            values["out_length"] = size
        found = call.apply(values)["out"]
        del kept
        return found.reshape(len(inputs), size)

    def _size(self, own: Optional[int], length: Optional[int]) -> int:
        if own is None and length is None:
            raise self._lacks_length()
        if own is not None and length is not None and length != own:
            raise Error(
                f"found the length {length!r}, expected {own}, which `{self.name}` has",
                "leave out the length",
            )
        return counted(length if own is None else own, 1)

    def _lacks_length(self) -> Error:
        return Error(f"`{self.name}` has outputs of any length, found no length", "pass `length=32`")


class Tagging(_Message):
    """A message in pieces under a key, as the objects of ``hmac`` (PEP 247).

    ``digest_size`` is the number of bytes of the tag.
    """

    _owner: "Mac"
    digest_size: int

    def update(self, data: Bytes) -> "Tagging":
        """Takes the next bytes of the message."""
        self._take(data)
        return self

    def digest(self) -> bytes:
        """The tag of the message so far, which may go on."""
        values: Dict[str, object] = {**self._fixed, "state": self._copied()}
        return self._owner._has("final").give(values, self.digest_size)

    def hexdigest(self) -> str:
        """:meth:`digest` in hexadecimal."""
        return self.digest().hex()

    def verify(self, tag: Bytes) -> bool:
        """Whether ``tag`` belongs to the message so far, in a time that depends on lengths only.

        A tag of another length than ``digest_size`` does not.
        """
        found = view(tag, "tag")
        values: Dict[str, object] = {**self._fixed, "state": self._copied(), "tag": found}
        check = self._owner._has("verify")
        return found.size == self.digest_size and is_genuine(lambda: check.apply(values))

    def copy(self) -> "Tagging":
        """Another message that begins as this one, under the same key."""
        found = Tagging(self._owner, self._length, self._given)
        found.digest_size = self.digest_size
        self._copy(found)
        return found


class MacKey:
    """A key of a MAC that is set up once, for any number of threads. It is zeroized at the end."""

    def __init__(self, primitive: "Mac", key: Bytes) -> None:
        self.primitive = primitive
        self._memory = context(primitive, key)


class Mac(Primitive):
    """A message authentication code: ``mac(key, data)`` is a tag, and :meth:`verify` checks one.

    Keys and data are ``bytes``, a ``bytearray``, a contiguous ``memoryview`` of bytes, or a contiguous
    array of ``uint8``; they are not copied. Calls release the lock of the interpreter.
    A key of Poly1305 is for one message.
    """

    tag_bytes: Optional[int]
    """Bytes of a tag, or ``None`` if each call takes its ``length``."""
    parameters: Tuple[str, ...]
    """Names of further parameters, which calls take by keyword, as of :class:`Hash`."""

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        structs: Dict[str, Struct],
        described: RawPrimitive,
    ) -> None:
        super().__init__(folder, functions, structs, described)
        whole = self._function("tag")
        self._whole = whole if whole is not None else self._has("hash")
        self._check = self._has("check")
        self.tag_bytes = self._whole.result_bytes
        key = self._whole.parameter("key")
        self._is_set_up = self._function("init") is not None
        if not self._is_set_up and key is not None and key.size is not None:
            self.key_bytes = key.size.fixed or 0
        self._options = Options([self._whole], structs, _KNOWN | {"key"})
        self.parameters = self._options.names
        self._key_is_parameter = key is not None

    def key(self, key: Bytes) -> MacKey:
        """Sets up a key, for MACs whose keys are set up by themselves, such as CMAC.

        Others save this work by :meth:`new` and :meth:`Tagging.copy`.
        """
        if not self._is_set_up:
            raise Error(
                f"`{self.name}` has no key that is set up by itself", "copy a message of `new(key)`"
            )
        return MacKey(self, key)

    def __call__(
        self,
        key: Union[Bytes, MacKey],
        data: Bytes,
        length: Optional[int] = None,
        **parameters: Option,
    ) -> bytes:
        """The tag of ``data`` under ``key``, of ``length`` bytes if ``tag_bytes`` is ``None``.

        Raises :class:`Error` for a key or a tag of a wrong length, and for data of another type.
        """
        size = self._size(length)
        self._options.check(self.name, parameters)
        values, kept = self._values(self._whole, key, parameters)
        values["in"] = view(data, "data")
        found = self._whole.give(values, size)
        del kept
        return found

    def verify(
        self,
        key: Union[Bytes, MacKey],
        data: Bytes,
        tag: Bytes,
        length: Optional[int] = None,
        **parameters: Option,
    ) -> bool:
        """Whether ``tag`` belongs to ``data``, in a time that depends on lengths only.

        ``length`` is the length in bytes that the receiver expects: with HMAC and CMAC it may be
        less than ``tag_bytes``, at least half of it. A tag of another length is wrong.
        """
        shortens = self.tag_bytes is not None and self._check.parameter("tag_length") is not None
        size = counted(length, 1) if shortens and length is not None else self._size(length)
        self._options.check(self.name, parameters)
        values, kept = self._values(self._check, key, parameters)
        values["in"] = view(data, "data")
        found = view(tag, "tag")
        values["tag"] = found
        is_right = found.size == size and is_genuine(lambda: self._check.apply(values))
        del kept
        return is_right

    def new(
        self,
        key: Union[Bytes, MacKey],
        data: Bytes = b"",
        length: Optional[int] = None,
        **parameters: Option,
    ) -> Tagging:
        """Begins a message in pieces, with a tag of ``length`` bytes if ``tag_bytes`` is ``None``."""
        size = self._size(length)
        self._options.check(self.name, parameters)
        found = Tagging(self, size, {**parameters, **self._as_parameter(key)})
        found.digest_size = size
        begin = self._has("begin")
        more: Dict[str, object] = {}
        if self._is_set_up:
            # Each call of such a message takes the key.
            found._fixed = {"key": self._set_up(key)}
        elif self._key_is_parameter:
            more["key"] = view(key, "key")  # type: ignore[arg-type]
        found._begin(begin, more)
        return found.update(data)

    def xof(self, key: Bytes, data: Bytes, length: int, **parameters: Option) -> bytes:
        """``length`` bytes of a keyed output of any length, such as KMACXOF, which is no tag."""
        self._options.check(self.name, parameters)
        begin, squeeze, size = self._has("xof_begin"), self._has("squeeze"), counted(length, 1)
        found = Tagging(self, None, parameters)
        found._begin(begin, {"key": view(key, "key")})
        found.update(data)
        return squeeze.give({"state": found._state}, size)

    def _values(
        self, call: Function, key: Union[Bytes, MacKey], parameters: Dict[str, Option]
    ) -> "Tuple[Dict[str, object], object]":
        values, kept = self._options.of(call, {**parameters, **self._as_parameter(key)})
        if self._is_set_up:
            values["key"] = self._set_up(key)
        elif self._key_is_parameter:
            values["key"] = view(key, "key")  # type: ignore[arg-type]
        return values, kept

    def _as_parameter(self, key: Union[Bytes, MacKey]) -> Dict[str, Option]:
        """The key as a field of a struct of parameters, as Skein has it."""
        if self._key_is_parameter:
            return {}
        return {"key": view(key, "key")}  # type: ignore[arg-type]

    def _set_up(self, key: Union[Bytes, MacKey]) -> Memory:
        if isinstance(key, MacKey):
            if key.primitive is not self:
                raise Error(f"found a key of `{key.primitive.name}`", f"set up one of `{self.name}`")
            return key._memory
        return context(self, key)

    def _size(self, length: Optional[int]) -> int:
        if self.tag_bytes is None and length is None:
            raise Error(f"`{self.name}` has tags of any length, found no length", "pass `length=32`")
        if self.tag_bytes is not None and length is not None and length != self.tag_bytes:
            raise Error(
                f"found the length {length!r}, expected {bytes_of(self.tag_bytes)}",
                "leave out the length",
            )
        return counted(length if self.tag_bytes is None else self.tag_bytes, 1)
