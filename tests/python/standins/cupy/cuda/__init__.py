import os

from . import _nvrtc as nvrtc  # an attribute, no module of its own: as CuPy 14.2 has it


def get_cuda_path():
    return os.environ.get("CUDA_PATH")
