"""Types of the compiled module; its functions are private to the package."""

from typing import List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._call import RawFunction
from ._options import RawStruct
from ._primitive import RawPrimitive
from ._program import Program

Raw = Tuple[str, str, str, Optional[Tuple[str, int, int]], Optional[str]]
Ports = List[Tuple[str, int, int]]
Shown = Tuple[str, str, str, Optional[str], Optional[str], float]

VERSION: str

def check(source: Program, slicing: Optional[str]) -> List[Raw]: ...
def circuit(
    entries: List[int], sizes: Tuple[int, int], lsb_first: bool, gates: str, goal: str
) -> Tuple[List[Tuple[str, List[int], Optional[int]]], List[int], str]: ...
def compile(
    source: Program, slicing: str, target: str, prefix: str
) -> Tuple[str, str, str, str, str, List[str], int, int, int, int]: ...
def stages(source: Program, slicing: str, target: str) -> List[Tuple[str, str]]: ...
def targets() -> List[str]:
    """The names of all targets of :func:`usuba.compile`."""

def dist(
    name: str, targets: List[str]
) -> Tuple[List[Tuple[str, str]], List[RawPrimitive], List[RawFunction], List[RawStruct]]: ...
def verify(name: str) -> None: ...
def evaluate(source: Program, words: "npt.NDArray[np.uint64]") -> "npt.NDArray[np.uint64]": ...
def ports(source: Program) -> Tuple[Ports, Ports]: ...
def prove(
    source: Program, slicings: List[str], targets: List[str]
) -> List[Tuple[str, str, str, str, List[Shown]]]: ...
def built_in(name: str) -> Tuple[str, str, str, str]: ...
