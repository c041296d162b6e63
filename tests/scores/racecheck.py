#!/usr/bin/env python3
"""racecheck.py ASKED.. [--jobs N]: compute-sanitizer's racecheck on the launches that `flow` was asked about. On a machine with a GPU and cuda-python.

ASKED is written by another script of this folder with --asked FILE: a JSON line a case, with its PTX and options. Each case is launched once alone, with arrays of the given values, else zeros, and once under
racecheck. Output, for page.py: suite | case | label | answer of flow | launched, or why it was not | hazards. racecheck looks at accesses to shared memory. Without --jobs, with the word `launch` and a file of one case,
it is the program that launches.
"""
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 40  # of wall time a launch: one that hangs never ends
POINTED = 1 << 20  # bytes behind a pointer that no option describes
SIZES = {"64": 8, "32": 4, "16": 2, "8": 1}


def bytes_of(spec):
    """The array of `name:i32[64]=0,1,..`, `=iota` or `=zeros`, with 256 bytes behind it."""
    import numpy as np

    kind, bits, extents, values = re.match(r"\w+:([a-z]+)(\d+)((?:\[\d+\])*)(?:=(.*))?$", spec).groups()
    size, count = SIZES[bits], 1
    for extent in re.findall(r"\d+", extents):
        count *= int(extent)
    data = np.zeros(count * size + 256, np.uint8)
    if values not in (None, "zeros"):
        given = np.arange(count) if values == "iota" else np.array([float(one) if "." in one else int(one, 0) for one in values.split(",")])
        data[: len(given) * size] = given.astype(f"{'f' if kind == 'f' else 'i'}{size}").view(np.uint8)
    return data


class Launch:
    """A kernel of PTX, its parameters as bytes, and the options of `flow` that fill them."""

    def __init__(self, case):
        from cuda.bindings import driver

        self.driver, self.kept = driver, []
        self.done(driver.cuInit(0))
        self.done(driver.cuCtxSetCurrent(self.done(driver.cuDevicePrimaryCtxRetain(self.done(driver.cuDeviceGet(0))))))
        self.module = self.done(driver.cuModuleLoadData(case["ptx"].encode() + b"\0"))
        self.entry, head = re.search(r"\.entry\s+([\w$]+)\s*(?:\((.*?)\))?", case["ptx"], re.S).groups()
        self.parameters = {name: bytearray(SIZES[bits] * int(count or 1)) for bits, name, count in re.findall(r"\.param\s[^,]*?\.[a-z](\d+)[^,]*?([\w$]+)(?:\[(\d+)\])?\s*(?:,|$)", head or "")}
        for value in self.parameters.values():
            if len(value) == 8:
                self.put(value, 0, self.device(bytes_of(f"any:u8[{POINTED}]")))
        words = iter(case["options"])
        self.options = {}
        for word in words:
            if word == "--param":
                self.fill(*next(words).split("=", 1))
            elif word not in ("--same-values", "--every-element"):
                self.options[word] = next(words)

    def done(self, answer):
        if answer[0] != self.driver.CUresult.CUDA_SUCCESS:
            print(f"not launched: {answer[0].name}")
            sys.exit(0)
        return answer[1] if len(answer) == 2 else answer[1:]

    def device(self, data):
        at = self.done(self.driver.cuMemAlloc(len(data)))
        self.done(self.driver.cuMemcpyHtoD(at, data.ctypes.data, len(data)))
        self.kept.append(at)
        return int(at)

    @staticmethod
    def put(value, at, number):
        size = min(len(value) - at, 8)
        value[at : at + size] = (number % (1 << 8 * size)).to_bytes(size, "little")

    def fill(self, key, text):
        """One --param, of a parameter by its number or name, with an offset, or of a variable of the module."""
        number, offset = re.match(r"(\w+)(?:\+(\d+))?$", key).groups()
        names = list(self.parameters)
        name = names[int(number)] if number.isdigit() and int(number) < len(names) else number
        if name in self.parameters:
            value = self.device(bytes_of(text)) if "[" in text else None if ":" in text else int(text, 0)
            if value is not None:
                self.put(self.parameters[name], int(offset or 0), value)
        elif ":" in text:
            at, size = self.done(self.driver.cuModuleGetGlobal(self.module, name.encode()))
            data = bytes_of(text)
            self.done(self.driver.cuMemcpyHtoD(at, data.ctypes.data, min(int(size), len(data))))

    def run(self):
        shape = lambda word: ([int(n) for n in self.options.get(word, "1").split(",")] + [1, 1])[:3]
        held = [(ctypes.c_char * len(value)).from_buffer(value) for value in self.parameters.values()]
        pointers = (ctypes.c_void_p * max(len(held), 1))(*map(ctypes.addressof, held))
        kernel = self.done(self.driver.cuModuleGetFunction(self.module, self.entry.encode()))
        self.done(self.driver.cuLaunchKernel(kernel, *shape("--grid"), *shape("--block"), int(self.options.get("--shared-bytes", 0)), 0, ctypes.addressof(pointers), 0))
        print(f"launched: {self.driver.cuCtxSynchronize()[0].name.removeprefix('CUDA_')}")


def ran(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS).stdout
    except subprocess.TimeoutExpired:
        return "launched: does not end\n"


def row(folder, number, case):
    """The line of a case."""
    path = pathlib.Path(folder, f"{number}.json")
    path.write_text(json.dumps(case))
    launch = [sys.executable, __file__, "launch", str(path)]
    how = (re.findall(r"^(?:not )?launched: .*", ran(launch), re.M) or ["not launched"])[0]
    found = re.search(r"RACECHECK SUMMARY: .*\((\d+) errors?, (\d+) warnings?\)", ran(["compute-sanitizer", "--tool", "racecheck", *launch]))
    hazards = f"{sum(map(int, found.groups()))}" if found and "SUCCESS" in how else ""
    return " | ".join([case["suite"], case["name"], case["label"], case["answer"], how, hazards])


def main():
    if sys.argv[1:2] == ["launch"]:
        return Launch(json.loads(pathlib.Path(sys.argv[2]).read_text())).run()
    jobs = int(sys.argv.pop()) if "--jobs" in sys.argv else max((os.cpu_count() or 2) // 2, 1)
    cases = [json.loads(line) for path in sys.argv[1:] if path != "--jobs" for line in pathlib.Path(path).read_text().splitlines()]
    version = re.search(r"Version (\S+)", ran(["compute-sanitizer", "--version"]))
    print(f"# racecheck on the launches of flow, {version[1] if version else 'unknown'}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        print("\n".join(pool.map(lambda one: row(folder, *one), enumerate(cases))))
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
