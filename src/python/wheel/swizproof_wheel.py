"""Build backend of `pip install .` (PEP 517): a wheel of the module that CMake builds, with Z3 and the other libraries that it needs.

It needs no package of Python. `pip install . --config-settings build-dir=build/default` takes a build that is there; without one it
configures and builds build/wheel. The libraries of CMakeLists.txt and a compiler have to be there (./run names them); who installs the
wheel needs neither.
"""

import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]

#: Libraries of every Linux. [PEP 600, and auditwheel's policies]
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|util|pthread|stdc\+\+|gcc_s|nsl|resolv))\.so(\.|$)")


def version():
    return re.search(r"project\(swizproof VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def run(*words):
    subprocess.run([str(word) for word in words], check=True, cwd=ROOT)


def built(settings):
    """The folder of a build that has the Python package."""
    if "build-dir" in settings:
        return (ROOT / settings["build-dir"]).resolve()
    folder = ROOT / "build" / "wheel"
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSWIZPROOF_BUILD_TESTS=OFF", "-DSWIZPROOF_BUILD_GPU=OFF",
        "-DSWIZPROOF_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}")
    run("cmake", "--build", folder, "--target", "swizproof_python_package")
    return folder


def package_in(build, stage):
    """The folder `swizproof` of the build's component `python`, installed into `stage`."""
    run("cmake", "--install", build, "--component", "python", "--prefix", stage)
    found = list(stage.rglob("swizproof/__init__.py"))
    if len(found) != 1:
        raise SystemExit(f"{build} has no Python package: configure with -DSWIZPROOF_BUILD_PYTHON=ON and build swizproof_python_package")
    return found[0].parent


def libraries_of(module):
    """The libraries that the module is loaded with and not every Linux has."""
    listed = subprocess.run(["ldd", module], check=True, capture_output=True, text=True).stdout
    if "not found" in listed:
        raise SystemExit(f"a library of {module} is missing:\n{listed}")
    found = re.findall(r"^\s*(\S+) => (\S+)", listed, re.M)
    return {name: pathlib.Path(path) for name, path in found if not SYSTEM.match(name)}


def tag(module):
    """`cp311-cp311-manylinux_2_36_x86_64`: this interpreter, and a glibc at least as new as the one of the build."""
    expected = sysconfig.get_config_var("EXT_SUFFIX")
    if not module.name.endswith(expected):
        raise SystemExit(f"{module.name} is for another Python: this one loads *{expected}")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    libc, number = platform.libc_ver()
    system = f"manylinux_{number.replace('.', '_')}" if libc == "glibc" else "linux"
    return f"{python}-{python}-{system}_{platform.machine()}"


def metadata():
    return (f"Metadata-Version: 2.1\nName: swizproof\nVersion: {version()}\nSummary: Proofs about CuTe swizzles, layouts and banks of shared memory\n"
            "License: MIT\nRequires-Python: >=3.9\nProvides-Extra: arrays\nRequires-Dist: numpy; extra == 'arrays'\n"
            "Provides-Extra: plots\nRequires-Dist: matplotlib; extra == 'plots'\n"
            "Description-Content-Type: text/markdown\n\n" + (ROOT / "src" / "python" / "README.md").read_text())


class Wheel:
    """A wheel that is written: each file, and its line of RECORD."""

    def __init__(self, path):
        self.zip, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes for the same build
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self, info):
        self.zip.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), "".join(self.record) + f"{info}/RECORD,,\n")
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = built(config_settings or {})
    with tempfile.TemporaryDirectory() as folder:
        package = package_in(build, pathlib.Path(folder))
        module = next(package.glob("_swizproof.*.so"))
        name = f"swizproof-{version()}-{tag(module)}.whl"
        wheel, info = Wheel(pathlib.Path(wheel_directory) / name), f"swizproof-{version()}.dist-info"
        for path in sorted(package.iterdir()):
            if path.is_file():
                wheel.add(f"swizproof/{path.name}", path.read_bytes(), 0o755 if path.suffix == ".so" else 0o644)
        for library, path in sorted(libraries_of(module).items()):
            wheel.add(f"swizproof.libs/{library}", path.read_bytes(), 0o755)
        wheel.add(f"{info}/METADATA", metadata().encode())
        wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        wheel.add(f"{info}/entry_points.txt", b"[console_scripts]\nswizproof = swizproof.__main__:main\n[pytest11]\nswizproof = swizproof.pytest_plugin\n")
        wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: swizproof_wheel\nRoot-Is-Purelib: false\nTag: {tag(module)}\n".encode())
        wheel.close(info)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The files that git has, and PKG-INFO."""
    base = f"swizproof-{version()}"
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, cwd=ROOT).stdout.decode().split("\0")
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive, \
            tempfile.TemporaryDirectory() as folder:
        for name in filter(None, listed):
            if (ROOT / name).is_file():
                archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        info = pathlib.Path(folder) / "PKG-INFO"
        info.write_text(metadata())
        archive.add(info, f"{base}/PKG-INFO")
    return f"{base}.tar.gz"
