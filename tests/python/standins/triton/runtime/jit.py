import collections
import inspect
import os


class CompiledKernel:
    def __init__(self, name, ptx, num_warps, shared, src=None, cubin=None, num_stages=3):
        metadata = {"name": name, "num_warps": num_warps, "num_stages": num_stages, "num_ctas": 1, "shared": shared}
        self.metadata = collections.namedtuple("KernelMetadata", metadata)(**metadata)
        self.src = src
        self.asm = {"ttir": "module {}", "ptx": ptx, **({"cubin": cubin} if cubin else {})}


class ASTSource:
    """The function, the types of its arguments (`constexpr` of constants), and the constants by the path to each."""

    def __init__(self, fn, signature, constexprs):
        self.fn, self.signature, self.constants = fn, signature, constexprs


class KernelParam:
    def __init__(self, num, param):
        self.num, self.name = num, param.name
        self.is_constexpr = "constexpr" in str(param.annotation)


def type_of(value):
    """The type of an argument, as Triton 3.6 specialises it."""
    if value is None or (value == 1 and isinstance(value, int)):
        return "constexpr"
    if isinstance(value, tuple):
        return tuple(map(type_of, value))
    return "*fp32" if isinstance(value, str) else "i32" if isinstance(value, int) else "fp32"


class JITFunction:
    """Compiles to the text of a file: that of the constant PTX, and to the bytes of the constant CUBIN, if there is one."""

    def __init__(self, fn):
        self.fn, self.__name__ = fn, fn.__name__
        self.params = [KernelParam(i, one) for i, one in enumerate(inspect.signature(fn).parameters.values())]
        self.arg_names = [one.name for one in self.params]
        self.constexprs = [one.num for one in self.params if one.is_constexpr]
        self.device_caches = {0: ({}, "target", "backend", "binder")}

    def run(self, *args, grid, warmup, num_warps=4, num_stages=3, **constants):
        cache = self.device_caches[0][0]
        given = {**dict(zip(self.arg_names, args)), **{name: constants[name] for name in self.arg_names if name in constants}}
        given = {one.name: given[one.name] for one in self.params if one.name in given}
        types = {name: "constexpr" if self.params[self.arg_names.index(name)].is_constexpr else type_of(value) for name, value in given.items()}
        key = str((num_warps, num_stages, constants, types))
        if key not in cache:
            fixed = {(self.arg_names.index(name),): value for name, value in given.items() if types[name] == "constexpr"}
            with open(constants["PTX"]) as file:
                src = ASTSource(self, types, fixed)
                cache[key] = CompiledKernel(self.__name__, file.read(), num_warps, constants.get("shared", 0), src, constants.get("CUBIN"), num_stages)
        return cache[key]

    def warmup(self, *args, grid, **options):
        return self.run(*args, grid=grid, warmup=True, **options)

    def __getitem__(self, grid):
        return lambda *args, **options: self.run(*args, grid=grid, warmup=False, **options)


class Autotuner:
    """Compiles each configuration."""

    def __init__(self, fn, configs):
        self.fn, self.configs, self.cache = fn, configs, {}

    def warmup(self, *args, **options):
        return [self.fn.warmup(*args, **{**options, **config}) for config in self.configs]


def write_cache(folder, compiled):
    """The files of Triton's cache."""
    import json

    os.makedirs(folder)
    with open(os.path.join(folder, compiled.metadata.name + ".ptx"), "w") as file:
        file.write(compiled.asm["ptx"])
    with open(os.path.join(folder, compiled.metadata.name + ".json"), "w") as file:
        json.dump(compiled.metadata._asdict(), file)
