from . import _nvrtc as nvrtc  # an attribute, no module of its own: as CuPy 14.2 has it
