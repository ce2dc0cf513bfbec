"""Signatures.

>>> import usuba
>>> scheme = usuba.load("slh_dsa", targets=["gp64"]).slh_dsa_sha2_128f
>>> public, secret = scheme.keypair()
>>> signature = scheme.sign(secret, b"message")
>>> len(signature), scheme.verify(public, b"message", signature)
(17088, True)
"""

from __future__ import annotations

import os
from typing import Dict, Optional, Tuple

from ._call import Bytes, Function, Memory, given, is_genuine, view
from ._errors import Error
from ._options import Struct
from ._primitive import Primitive, RawPrimitive


class Sign(Primitive):
    """A signature scheme, such as ``slh_dsa_sha2_128f``.

    Inputs are ``bytes``, a ``bytearray``, a contiguous ``memoryview`` of bytes, or a contiguous array
    of ``uint8``; they are not copied. Calls release the lock of the interpreter.
    """

    seed_bytes: int
    public_bytes: int
    """Bytes of a public key."""
    secret_bytes: int
    """Bytes of a secret key."""
    random_bytes: int
    """Bytes of randomness of a signature; 0 for a scheme that takes none."""
    signature_bytes: int

    def __init__(
        self,
        folder: str,
        functions: Dict[str, Function],
        structs: Dict[str, Struct],
        described: RawPrimitive,
    ) -> None:
        super().__init__(folder, functions, structs, described)
        self._pair, self._sign = self._has("keypair_from_seed"), self._has("sign")
        self._check = self._has("verify")
        self.seed_bytes = self._pair.size("seed")
        self.public_bytes = self._pair.size("public_key")
        self.secret_bytes = self._pair.size("secret_key")
        self.random_bytes = self._sign.size("random")
        self.signature_bytes = self._sign.size("signature")

    def keypair(self, seed: Optional[Bytes] = None) -> Tuple[bytes, bytes]:
        """Public key and secret key of ``seed``, or of fresh ``seed_bytes`` bytes of the system.

        Raises :class:`Error` for a seed of another length.
        """
        seed = os.urandom(self.seed_bytes) if seed is None else view(seed, "seed")
        found = self._pair.apply({"seed": seed, **self._work(self._pair)})
        return found["public_key"].tobytes(), found["secret_key"].tobytes()

    def sign(
        self,
        secret_key: Bytes,
        message: Bytes,
        *,
        context: Bytes = b"",
        random: Optional[Bytes] = None,
        checked: bool = False,
    ) -> bytes:
        """A signature of ``signature_bytes`` bytes.

        ``random`` is ``random_bytes`` bytes, by default fresh ones of the system; with ``b""`` the
        signature depends on key and message only. ``checked`` verifies the signature before it is
        shown, against faults of the machine. ``context`` has at most 255 bytes. Raises :class:`Error`
        for wrong lengths, and a secret key whose parts do not go together.
        """
        call = self._has("sign_checked") if checked else self._sign
        values: Dict[str, object] = {
            "secret_key": given(secret_key, self.secret_bytes, "secret key")
        }
        values["message"] = view(message, "message")
        values.update(self._context(call, context), **self._work(call))
        if self.random_bytes:
            random = os.urandom(self.random_bytes) if random is None else view(random, "random")
            values["random"] = random if len(random) else None
        return call.give(values)

    def verify(
        self, public_key: Bytes, message: Bytes, signature: Bytes, *, context: Bytes = b""
    ) -> bool:
        """Whether ``signature`` belongs to the message; one of another length does not.

        Raises :class:`Error` for a public key of another length.
        """
        values: Dict[str, object] = {
            "public_key": given(public_key, self.public_bytes, "public key")
        }
        values["message"] = view(message, "message")
        found = view(signature, "signature")
        values["signature"] = found
        values.update(self._context(self._check, context), **self._work(self._check))
        if found.size != self.signature_bytes:
            return False
        return is_genuine(lambda: self._check.apply(values))

    def _context(self, call: Function, context: Bytes) -> Dict[str, object]:
        found = view(context, "context")
        if call.parameter("context") is not None:
            return {"context": found}
        if found.size:
            raise Error(f"`{self.name}` takes no context", "leave it out")
        return {}

    def _work(self, call: Function) -> Dict[str, object]:
        """The work area of a call."""
        size = call.size("work")
        return {"work": Memory(size, self._wipe)} if size else {}
