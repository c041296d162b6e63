"""The attributes of Numba that are read."""
from . import types


def typeof(value):
    return types.Type(type(value).__name__)
