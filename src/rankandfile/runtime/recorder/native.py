"""The recorder's hot path in C++: optional, built on demand against the torch that is installed, with the same format.

    python -m rankandfile.runtime.recorder.native

builds it into the user's cache; the recorder uses it from then on. Without it everything works, slower.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

SOURCE = Path(__file__).with_name("native.cpp")
NAME = "raf_native"


def _torch() -> str | None:
    """The version of the torch that is installed, without loading it, which takes seconds; None without one."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    told = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    found = re.search(r"^__version__ = ['\"](.+)['\"]", told, re.MULTILINE)
    return found[1] if found else None


def library() -> Path:
    """Where the library for this Python, torch and source is, or would be."""
    text = SOURCE.read_bytes() + f"{_torch()} {sysconfig.get_config_var('SOABI')}".encode()
    cache = os.environ.get("RAF_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "rankandfile" / hashlib.sha256(text).hexdigest()[:16] / f"{NAME}.so"


def said() -> str:
    """Which recorder a job of this Python has, for people; empty where there is no torch to record."""
    if _torch() is None:
        return ""
    return "native recorder" if _wanted() and library().is_file() else "recorder in Python"


def _wanted() -> bool:
    return os.environ.get("RAF_NATIVE", "") != "0"


def load() -> ModuleType | None:
    """The built library; None where there is none, or `RAF_NATIVE=0` says to do without. Raises nothing."""
    if not _wanted():
        return None
    try:
        path = library()
        # Another user's file must not be loaded into this process.
        if not path.is_file() or path.stat().st_uid != os.getuid():
            return None
        spec = importlib.util.spec_from_file_location(NAME, path)
        if spec is None or spec.loader is None:
            return None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except Exception as error:
        sys.stderr.write(f"raf: recording without the native library: {type(error).__name__}: {error}\n")
        return None


def build() -> Path:
    """Compile the library. Needs a C++ compiler and the headers of Python; takes about a minute."""
    import torch
    from torch.utils import cpp_extension

    path = library()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    libraries = Path(torch.__file__).parent / "lib"
    part = path.with_name(f"{NAME}.{os.getpid()}.part")
    includes = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"]]
    command = [
        os.environ.get("CXX", "c++"),
        *("-O2", "-shared", "-fPIC", "-std=c++20", "-w", f"-DTORCH_EXTENSION_NAME={NAME}"),
        *(f"-I{folder}" for folder in includes),
        str(SOURCE),
        *("-o", str(part), f"-L{libraries}", "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the compiler refused:\n{done.stderr[-4000:]}")
    part.replace(path)
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{build()}\n")
