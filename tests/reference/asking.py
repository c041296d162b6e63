"""What reference models of single command lines share: options, the program's answer, an expectation, the summary."""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile


class Failure(Exception):
    """An answer that the model does not give."""


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(str(part) for part in what))


def options_of(description, cases=300, by_number=False, keep=False):
    """Options of the command line. A model that draws each case by its number has --first and --show, too, and asks the module without
    --binary; one that keeps what differs has --keep."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--binary", required=not by_number)
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=1)
    if by_number:
        parser.add_argument("--first", type=int, default=0)
        parser.add_argument("--show", action="store_true")
    if keep:
        parser.add_argument("--keep")
    return parser.parse_args()


def answered(binary, words):
    """Exit code and document, of a program or of the Python module."""
    if binary:
        done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout)
    from swizproof import _swizproof
    code, document, _ = _swizproof.answer([word.encode() for word in words])
    return code, json.loads(document)


def ask(binary, *words):
    done = subprocess.run([binary, *words, "--json"], capture_output=True, text=True, check=False)
    expect(done.returncode in (0, 1), words, done.stderr)
    return json.loads(done.stdout)


def kernels_of(binary, folder, text, *words):
    """Answers of `kernel` about PTX, by mangled name: the text without its first lines."""
    path = pathlib.Path(folder) / "cases.ptx"
    path.write_text(".version 9.0\n.target sm_90a\n.address_size 64\n" + text, encoding="utf-8")
    done = subprocess.run([binary, "kernel", path, "--json", *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"exit code {done.returncode}: {done.stderr[:500]}\n{text}")
    return {kernel["mangled"]: kernel for kernel in json.loads(done.stdout)["kernels"]}


def batches_of(given, kernel):
    """Random kernels, at most fifty at a time: `kernel` makes one of a random number generator and its name."""
    for first in range(0, given.cases, 50):
        yield [kernel(random.Random(f"{given.seed} {k}"), f"k{k}") for k in range(first, min(first + 50, given.cases))]


def races_of(binary, kernels, *words):
    """What `kernel --races` says of each kernel, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        answers = kernels_of(binary, folder, "".join(kernel.ptx() for kernel in kernels), "--races", *words)
    return {name: kernel["races"] for name, kernel in answers.items()}


def print_sums(odd):
    for what, count in sorted(odd.items()):
        print(f"  {what}: {count}")
