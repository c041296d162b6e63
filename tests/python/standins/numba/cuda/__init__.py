import collections
import os

Device = collections.namedtuple("Device", "compute_capability")
asked = []


def get_current_device():
    return Device((9, 0))


def compile_ptx(pyfunc, sig, debug=False, lineinfo=False, device=False, fastmath=False, cc=None, opt=True):
    asked.append((pyfunc, sig, cc, lineinfo))
    with open(os.environ["SWIZPROOF_STANDIN_PTX"]) as file:
        return file.read(), None
