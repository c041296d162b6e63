"""The same question from the command line and from Python has the same answer: every golden command line that is one; without SWIZPROOF_NIGHTLY
the longest of each command and exit code.
"""

import concurrent.futures
import inspect
import json
import keyword
import os
import pathlib
import re
import reprlib
import shlex
import subprocess
import sys
import typing
import unittest

import swizproof
from swizproof import _questions, _record

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "src" / "python"))
from questions import LEFT_OUT  # noqa: E402

PROGRAM = os.environ["SWIZPROOF_BINARY"]
GOLDEN = ROOT / "tests" / "golden"
ASKED = sorted({*_questions.__all__} - {"predict"})  # whose lines are another test
#: Options without a value.
FLAGS = {
    name.rstrip("_").replace("_", "-")
    for question in _questions.__all__
    for name, option in inspect.signature(getattr(swizproof, question)).parameters.items()
    if option.annotation == "bool"
}
#: Several words may follow these.
GREEDY = ("access",)


def words_of(command):
    """The words of a command line that is nothing but one; nothing of a longer script."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return None
    simple = words[:1] == ["swizproof"] and "$" not in command and "`" not in command
    if not simple or any(word and set(word) <= set("();<>|&") for word in words):
        return None
    return words[1:]


def call_of(words):
    """The function, places and options that a command line is in Python; nothing where it is none."""
    places, options = [], {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            places.append(word)
            continue
        name, _, value = word[2:].partition("=")
        if name == "json":
            continue
        if "--" + name in LEFT_OUT:
            return None
        key = name.replace("-", "_") + "_" * keyword.iskeyword(name)
        if name in FLAGS and "=" not in word:
            options[key] = True
            continue
        if "=" not in word and not rest:
            return None  # Python has no option without a value
        values = [value] if "=" in word else [rest.pop(0)]
        while name in GREEDY and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
        options[key] = options[key] + values if key in options else values
    if not places or places[0] not in ASKED:
        return None
    options = {k: v[0] if isinstance(v, list) and len(v) == 1 and k != "access" else v for k, v in options.items()}
    function = getattr(swizproof, places[0])
    if function is swizproof.prove and not places[1:] and "only" not in options:
        return None  # the whole catalogue is no question of a test
    try:
        inspect.signature(function).bind(*places[1:], **options)
    except TypeError:
        return None  # a word too many or too few: Python says so before it asks
    return function, places[1:], options


def questions():
    """Name, words, call and exit code of every golden command line that Python can ask."""
    for file in sorted(GOLDEN.glob("*.txt")):
        name = None
        lines = file.read_text(errors="surrogateescape").splitlines()
        for line, code in zip(lines, lines[1:]):
            if line.startswith("=== "):
                name = line[4:]
            elif name and line.startswith("$ "):
                words = words_of(line[2:])
                call = words and call_of(words)
                if call:
                    yield name, words, call, code
                name = None


def differences(value, document, hint, where):
    """What an answer of Python has otherwise than the document, or than its types say."""
    if hint is not typing.Any and not fits(value, hint):
        yield f"{where}: {reprlib.repr(value)} is no {hint}"
    if isinstance(value, _record.Record):
        hints = _record.hints_of(type(value))
        for key in document:
            name = _record.attribute_of(key)
            if name not in hints:
                yield f"{where}.{name} is not declared by {type(value).__name__}"
            else:
                yield from differences(getattr(value, name), document[key], hints[name], f"{where}.{name}")
        for name in hints:
            if name.rstrip("_") not in document and getattr(value, name) is not None:
                yield f"{where}.{name} is not in the document"
    elif isinstance(value, list):
        inner = [typing.get_args(one)[0] for one in _record._choices(hint) if typing.get_origin(one) is list]
        if len(value) != len(document):
            yield f"{where} has {len(value)} entries, not {len(document)}"
        for i, (one, other) in enumerate(zip(value, document)):
            yield from differences(one, other, inner[0] if len(inner) == 1 else typing.Any, f"{where}[{i}]")
    elif value != document or type(value) is not type(document):
        yield f"{where} is {value!r}, not {document!r}"


def fits(value, hint):
    """Whether a value is of a type; of lists and dictionaries, all entries."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return True
    if origin is typing.Union:
        return any(fits(value, one) for one in inner)
    if origin is list:
        return isinstance(value, list) and all(fits(one, inner[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(one, inner[1]) for one in value.values())
    if hint is float:
        return isinstance(value, (int, float))
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def without_times(document):
    return re.sub(r'"seconds": [0-9.e-]+', '"seconds": TIME', document)


def asked(call):
    function, places, options = call
    try:
        return function(*places, **options)
    except swizproof.InputError as error:
        return error


class Parity(unittest.TestCase):
    def setUp(self):
        os.chdir(GOLDEN / "data")
        os.environ.update(NO_COLOR="1", SWIZPROOF_TIMEOUT="100000")

    def test_every_golden_question_has_one_answer(self):
        nightly = "SWIZPROOF_NIGHTLY" in os.environ
        all_questions = list(questions())
        if not nightly:
            all_questions = list({(one[2][0], one[3]): one for one in sorted(all_questions, key=lambda one: len(one[1]))}.values())
        # As many at a time as there are cores: the program and Python at once, and Python's threads at once.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            printed = pool.map(
                lambda one: subprocess.run([PROGRAM, "--json", *one[1]], capture_output=True, stdin=subprocess.DEVNULL),
                all_questions,
            )
            answers = pool.map(lambda one: asked(one[2]), all_questions)
            results = list(zip(all_questions, printed, answers))
        counts = {}
        for (name, words, *_), process, answer in results:
            with self.subTest(name, words=words):
                self.compare(process, answer)
            kind = type(answer).__name__
            counts[kind] = counts.get(kind, 0) + 1
        print("answers:", counts)
        for command in ASKED:
            few = command in ("accesses", "language") or not nightly  # almost no options
            self.assertGreaterEqual(counts.get(command.capitalize(), 0), 1 if few else 3, command)
        self.assertGreaterEqual(counts["InputError"], 50 if nightly else 10)

    def compare(self, process, answer):
        document = json.loads(process.stdout)
        if isinstance(answer, swizproof.InputError):
            self.assertEqual(process.returncode, 2)
            error = document["error"]
            for key in ("message", "input", "at", "length", "hint"):
                self.assertEqual(getattr(answer, key), error.get(key))
            self.assertEqual(str(answer), process.stderr.decode().rstrip("\n"))
            return
        self.assertIn(process.returncode, (0, 1, 3), process.stderr)
        if process.returncode == 3:
            self.assertEqual(answer.verdict, "unknown")
        self.assertEqual(without_times(answer._document), without_times(process.stdout.decode()))
        document = answer.to_dict()
        self.assertEqual(list(differences(answer, document, type(answer), type(answer).__name__)), [])
        self.assertIn(type(answer).__name__ + "(", repr(answer))

    def test_the_command_of_an_answer_asks_it(self):
        answer = swizproof.check("(32,32):(33,1)", "ld.shared.b32: row = lane, col = i for i in 0..31", element="f32", at_most=2)
        words = shlex.split(answer.command)
        self.assertEqual(words[0], "swizproof")
        process = subprocess.run([PROGRAM, *words[1:], "--json"], capture_output=True)
        self.assertEqual(json.loads(process.stdout), answer.to_dict())

    def help_of(self, *words):
        return subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def test_every_command_and_option_is_in_python_or_left_out_with_a_reason(self):
        text = self.help_of()
        options_in = lambda help: set(re.findall(r"^  (?:-h,)?(--[a-z0-9-]+)", help, re.MULTILINE))  # noqa: E731
        commands = re.findall(r"^  ([a-z]+)  ", text[text.index("Subcommands:") :], re.MULTILINE)
        self.assertGreaterEqual(len(commands), 19)
        seen, missing, needless = set(), [], []
        for command in commands:
            options = options_in(text) | options_in(self.help_of(command))
            seen |= {command, *options}
            if command in LEFT_OUT:
                continue
            if command not in swizproof.__all__:
                missing.append(command)
                continue
            given = inspect.signature(getattr(swizproof, command)).parameters
            for option in options:
                name = option[2:].replace("-", "_")
                has = name in given or name + "_" in given
                if has == (option in LEFT_OUT):
                    (needless if has else missing).append(f"{command} {option}")
        self.assertEqual((missing, needless), ([], []))
        self.assertEqual({*LEFT_OUT} - seen, set(), "left out, and nothing of the program")
        self.assertTrue(all(LEFT_OUT.values()))


if __name__ == "__main__":
    unittest.main()
