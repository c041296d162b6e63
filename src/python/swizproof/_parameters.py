"""Names of the arguments of a kernel of Triton, in place of the numbers that its PTX has."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

#: Pointers at the end of the parameters that are no arguments: from Triton 3.4 on both, before the first or none.
SCRATCH = ("global_scratch", "profile_scratch")
#: Bits of a parameter of PTX, by the type of the argument.
_BITS = {"i1": 8, "u1": 8, "i8": 8, "u8": 8, "i16": 16, "u16": 16, "fp16": 16, "bf16": 16, "i32": 32, "u32": 32, "fp32": 32, "i64": 64, "u64": 64, "fp64": 64}


def _arguments(name: str, kind: Any) -> List[Tuple[str, Any]]:
    """Names and types of the parameters of an argument: none of a constant, several of a tuple."""
    if isinstance(kind, (tuple, list)):
        return [one for i, part in enumerate(kind) for one in _arguments(f"{name}_{i}", part)]
    return [] if kind == "constexpr" else [(name, kind)]


def _bits(kind: Any) -> Optional[int]:
    return 64 if str(kind).startswith("*") else _BITS.get(str(kind))


def named_parameters(text: str, kernel: str, signature: Dict[str, Any]) -> str:
    """PTX whose parameters have the names of the arguments: `stride` in place of `matmul_param_8`. Lines stay where they are. The text is unchanged where
    number or size of the parameters do not fit the `signature`, and a parameter where its name is a name of something else."""
    numbered = rf"(?<![\w$]){re.escape(kernel)}_param_(\d+)(?![\w$])"
    head = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(([^)]*)\)", text)
    if not head or not signature:
        return text
    parameters = re.findall(rf"\.param\s+\.[a-z]+(\d+)\b[^,]*?{numbered}(?!\s*\[)", head[1])
    given = [one for name, kind in signature.items() for one in _arguments(name, kind)]
    fits = len(given) <= len(parameters) <= len(given) + len(SCRATCH) and head[1].count(".param") == len(parameters)
    if not fits or any(int(bits) != _bits(kind) for (bits, _), (_, kind) in zip(parameters, given)):
        return text
    names = [name for name, _ in given] + list(SCRATCH)
    free = {str(i): name for i, name in enumerate(names[: len(parameters)]) if names.count(name) == 1 and not _is_taken(name, text)}
    return re.sub(numbered, lambda found: free.get(found[1], found[0]), text)


def _is_taken(name: str, text: str) -> bool:
    """True if the PTX declares something of this name, or takes it for the number of a parameter."""
    return bool(re.fullmatch(r"param_\d+", name) or re.search(rf"(?<![\w$%.]){re.escape(name)}\s*(\[[^\]]*\]\s*)?[(:;=]", text))
