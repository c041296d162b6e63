"""python setup.py build_ext: the CUDA sources are compiled to PTX as well, and the build fails where an access has a bank conflict.

With torch.utils.cpp_extension: the same class around its BuildExtension."""

import pathlib
import subprocess

from setuptools import setup
from setuptools.command.build_ext import build_ext

SOURCES, BLOCK = ["transpose.cu"], "32,8"


class Proved(build_ext):
    def run(self):
        ptx = pathlib.Path(self.build_temp, "ptx")
        ptx.mkdir(parents=True, exist_ok=True)
        for source in SOURCES:
            out = ptx / (pathlib.Path(source).stem + ".ptx")
            subprocess.run(["nvcc", "-ptx", "-lineinfo", "-arch=sm_100a", "-o", out, source], check=True)
        if subprocess.run(["swizproof", "kernel", ptx, "--block", BLOCK, "--arch", "sm_100", "--brief"]).returncode:
            raise SystemExit("a kernel has bank conflicts, or is not decided")
        super().run()


setup(name="transpose", version="1.0", cmdclass={"build_ext": Proved})
