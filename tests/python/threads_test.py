"""Several threads ask at a time, and Ctrl-C is answered at once, during any query."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import unittest

import swizproof

#: True, and out of every engine's reach.
HARD = (
    "fn(x) = ((x ^ 0x55555555) + 2*(x & 0x55555555)) * (x*x + 7*x)",
    "fn(x) = x*x*x + 7*x*x + 0x55555555ull*x*x + 0x55555555ull*7*x",
)
FOR_EVER = 1e6


class Threads(unittest.TestCase):
    def test_threads_get_their_own_answers(self):
        def ask(i):
            swizzle = f"Sw<{i % 4},4,3>"
            equal = swizproof.equal(swizzle, "tma:128B")
            try:
                swizproof.eval("(" * (i + 1))
            except swizproof.InputError as error:
                return equal.verdict, equal.left, error.input
            return None

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for i, found in enumerate(pool.map(ask, range(64))):
                self.assertEqual(found, ("proved" if i % 4 == 3 else "refuted", f"Sw<{i % 4},4,3>", "(" * (i + 1)))

    def test_python_goes_on_while_it_is_solved(self):
        # The solver ends when this thread says so, which it only can where the other one does not hold Python.
        program = f"""
import os, signal, threading, swizproof
solving = threading.Thread(target=lambda: swizproof.equal(*{HARD!r}, timeout={FOR_EVER}), daemon=True)
solving.start()
for i in range(100):
    assert swizproof.eval("(2):(1)").values == [0, 1]
assert solving.is_alive()
print("went on", flush=True)
os._exit(0)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.stdout, "went on\n", done.stderr)

    def test_what_is_not_decided_is_an_answer(self):
        unknown = swizproof.equal(*HARD, timeout=0.001)
        self.assertEqual(unknown.verdict, "unknown")
        self.assertIn("time-out", unknown.reason)


class Signals(unittest.TestCase):
    def test_ctrl_c_interrupts_at_once_and_stops_the_solver(self):
        program = f"""
import os, signal, threading, time, swizproof
from swizproof import _swizproof
def interrupt():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
threading.Thread(target=interrupt).start()
try:
    swizproof.equal(*{HARD!r}, timeout={FOR_EVER})
except KeyboardInterrupt:
    print("interrupted", flush=True)
while _swizproof.left_behind():
    time.sleep(0.01)
print("stopped", swizproof.eval("(2):(1)").values, flush=True)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.stdout, "interrupted\nstopped [0, 1]\n", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_a_program_that_is_interrupted_ends_by_the_signal(self):
        program = f"""
import signal, swizproof
signal.signal(signal.SIGINT, signal.default_int_handler)
print('begun', flush=True)
swizproof.equal(*{HARD!r}, timeout={FOR_EVER})
"""
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "begun\n")
        process.send_signal(signal.SIGINT)
        errors = process.communicate()[1]
        self.assertEqual(process.returncode, -signal.SIGINT, errors)
        self.assertIn("KeyboardInterrupt", errors)

    def test_a_handler_of_ones_own_is_called(self):
        program = f"""
import os, signal, threading, time, swizproof
class Enough(Exception): pass
def enough(*_): raise Enough
signal.signal(signal.SIGUSR1, enough)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
try:
    swizproof.equal(*{HARD!r}, timeout={FOR_EVER})
except Enough:
    print("enough")
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.returncode), ("enough\n", 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
