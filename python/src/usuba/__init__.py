"""Usuba: a compiler of ciphers to constant-time SIMD C, its reference semantics and its provers.

>>> import numpy as np, usuba
>>> text = "node swap (a:u8, b:u8) returns (x:u8, y:u8) let x = b; y = a ^ 1 tel"
>>> usuba.evaluate(text, np.array([[2, 3]], np.uint64)).tolist()
[[3, 3]]
>>> usuba.prove(text, targets=["avx2"])[0].verdict
'PROVED'

A *source* is a :class:`Program`, the text of a program as ``str``, or the path of a file as
``pathlib.Path``. Wrong input raises :class:`Error`, with places in its ``findings``.
"""

from ._circuit import Circuit, Gate, circuit
from ._core import VERSION as __version__
from ._core import targets
from ._call import Bytes, Function
from ._errors import Error, Finding, Forged, InternalError
from ._hash import Hash, Hashing, Mac, MacKey, Tagging
from ._native import Library, load
from ._primitive import Cipher, Key, Keystream, Primitive
from ._program import (
    Claim,
    Compiled,
    Port,
    Program,
    Proof,
    check,
    cipher,
    compile,
    evaluate,
    prove,
)
from ._seal import Opener, Seal, Sealer, SealKey
from ._sign import Sign

__all__ = [
    "Bytes",
    "Cipher",
    "Circuit",
    "Claim",
    "Compiled",
    "Error",
    "Finding",
    "Forged",
    "Function",
    "Gate",
    "Hash",
    "Hashing",
    "InternalError",
    "Key",
    "Keystream",
    "Library",
    "Mac",
    "MacKey",
    "Opener",
    "Port",
    "Primitive",
    "Program",
    "Proof",
    "Seal",
    "SealKey",
    "Sealer",
    "Sign",
    "Tagging",
    "check",
    "cipher",
    "circuit",
    "compile",
    "evaluate",
    "load",
    "prove",
    "targets",
    "__version__",
]
