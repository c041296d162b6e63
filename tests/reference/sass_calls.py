"""Calls of SASS that leave the cubin, for sass_interpreter.py."""
import re


def failing_of(path):
    """By kernel: addresses of its calls of __assertfail, if it calls no other function outside of the cubin."""
    found = {}
    text = open(path, errors="replace").read()
    for name, body in re.findall(r"\t\.section\t\.nv\.info\.([^,\n]*),(.*?)(?=\n\t\.section\t|\Z)", text, re.S):
        parts = dict(re.findall(r"nvinfo : (EIATTR_\w+)(.*?)(?=//-----|\Z)", body, re.S))
        if set(re.findall(r"index@\((.*?)\)", parts.get("EIATTR_EXTERNS", ""))) == {"__assertfail"}:
            found[name] = {int(c, 16) for c in re.findall(r"\.word\s+0x([0-9a-f]+)", parts.get("EIATTR_SYSCALL_OFFSETS", ""))}
    return found
