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
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, TypeVar

from . import _core
from ._call import Function, RawFunction
from ._errors import Error
from ._hash import Hash, Mac
from ._options import RawStruct, Struct
from ._primitive import Cipher, Primitive, RawPrimitive
from ._seal import Seal
from ._sign import Sign

_FLAGS = ["-O3", "-fPIC", "-shared"]
_KINDS: Dict[str, Type[Primitive]] = {"hash": Hash, "mac": Mac, "seal": Seal, "sign": Sign}
_Kind = TypeVar("_Kind", bound=Primitive)


class Library:
    """A cipher folder as a shared object: its primitives are attributes and items.

    ``functions`` has every function of the header by its C name, ``c`` and ``header`` the texts,
    ``path`` the shared object. :meth:`cipher`, :meth:`hash`,
    :meth:`mac`, :meth:`seal` and :meth:`sign` give a primitive with its type.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        texts: Tuple[str, str],
        primitives: List[RawPrimitive],
        functions: List[RawFunction],
        structs: List[RawStruct],
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
        for one in functions:
            self.functions[one[0]] = Function(loaded, one)
        self._structs = {one[0]: Struct(one) for one in structs}
        self._folder = next(
            symbol[: -len("_wipe")] for symbol in self.functions if symbol.endswith("_wipe")
        )
        self._described = {one[0]: one for one in primitives}
        self.primitives: Dict[str, Primitive] = {
            one[0]: self._of(_KINDS.get(one[1], Cipher), one) for one in primitives
        }

    def cipher(self, name: str) -> Cipher:
        """A block cipher, stream cipher, permutation or other function on blocks by its name."""
        return self._named(name, Cipher)

    def hash(self, name: str) -> Hash:
        """A hash function by its name. Raises :class:`Error` if the library has no such one."""
        return self._named(name, Hash)

    def mac(self, name: str) -> Mac:
        """A MAC by its name, which may be a hash function with keys, such as ``skein512``.

        Raises :class:`Error` if the library has no such one.
        """
        found = self.primitives.get(name)
        if isinstance(found, Hash) and f"usuba_{name}_check" in self.functions:
            return self._of(Mac, self._described[name])
        return self._named(name, Mac)

    def seal(self, name: str) -> Seal:
        """Authenticated encryption by its name. Raises :class:`Error` if there is no such one."""
        return self._named(name, Seal)

    def sign(self, name: str) -> Sign:
        """A signature scheme by its name. Raises :class:`Error` if there is no such one."""
        return self._named(name, Sign)

    def _of(self, kind: Type[_Kind], described: RawPrimitive) -> _Kind:
        return kind(self._folder, self.functions, self._structs, described)

    def _named(self, name: str, kind: Type[_Kind]) -> _Kind:
        found = self.primitives.get(name)
        if isinstance(found, kind):
            return found
        is_known = f"`{name}` is a primitive of another kind, {found.kind}" if found else ""
        names = [one for one, primitive in self.primitives.items() if isinstance(primitive, kind)]
        raise Error(
            is_known or f"`{self.name}` has no primitive `{name}`",
            f"of this kind it has {', '.join(names) or 'none'}",
        )

    def __getattr__(self, name: str) -> Any:
        primitives = self.__dict__.get("primitives", {})
        if name in primitives:
            return primitives[name]
        known = ", ".join(primitives)
        raise AttributeError(f"`{self.__dict__.get('name')}` has no {name!r}; it has {known}")

    def __getitem__(self, name: str) -> Any:
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
    first call chooses. ``cc`` is the compiler with its flags, by default ``$CC`` or ``cc``; they come
    behind ``-O3``, so ``"cc -O1"`` compiles in less time. The
    test vectors of the cipher are checked before it is compiled, of a folder with each call.

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
    files, primitives, functions, structs = _core.dist(wanted[0], list(targets))
    texts = {os.path.splitext(path)[1]: text for path, text in files}
    path = _cached(Path(files[0][0]).stem, files, compiler)
    if is_folder or not path.is_file():
        _core.verify(wanted[0])
    _compile(path, files, compiler)
    library = Library(wanted[0], path, (texts[".c"], texts[".h"]), primitives, functions, structs)
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


def _cached(stem: str, files: Sequence[Tuple[str, str]], compiler: List[str]) -> Path:
    """The shared object of a C file in the cache."""
    asked = subprocess.run([*compiler, "--version"], capture_output=True, text=True)
    key = hashlib.sha256(repr((asked.stdout, compiler, _FLAGS, sorted(files))).encode())
    return _cache() / f"{stem}-{key.hexdigest()[:32]}.so"


def _compile(path: Path, files: Sequence[Tuple[str, str]], compiler: List[str]) -> None:
    """Compiles a shared object that is not in the cache."""
    if path.is_file():
        return
    folder = path.parent
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
        # The caller's flags come behind, so that they hold.
        at = next((n for n, word in enumerate(compiler) if word.startswith("-")), len(compiler))
        command = [*compiler[:at], *_FLAGS, *compiler[at:], "-o", path.name, source]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True)
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[:10])
            raise Error(f"`{shlex.join(command)}` failed:\n{said}", "try another compiler by `cc=`")
        # Renamed when it is complete, so that processes side by side see a whole file.
        os.replace(Path(place, path.name), path)
