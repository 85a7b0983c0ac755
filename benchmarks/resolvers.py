"""What a call names: our own resolver, jedi and astroid, held against the functions that were really called.

    PYTHON=... python benchmarks/resolvers.py record FOLDER PROGRAM... [--packages lightning,accelerate]
    PYTHON=... python benchmarks/resolvers.py measure FOLDER [--docs docs/performance.md]

The first runs programs (folders with a `case.toml`, healthy as it says there) and keeps what each call expression of
theirs, and of some packages, called. The second asks every resolver about each of these calls, in the Python that
has the packages: PYTHON, which needs jedi and astroid besides.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from named_by import Astroid, Callee, Jedi, Ours, place_of

BEGIN, END = "<!-- resolvers: written by benchmarks/resolvers.py -->", "<!-- resolvers: end -->"
#: A decorator's inner function: what was called is not what any name means.
_WRAPS = ("wrapper", "_wrapper", "wrapped", "inner", "decorated", "wrapped_func", "decorate_context")


class Resolver(Protocol):
    def answers(self, path: Path, call: ast.Call) -> Iterable[Callee]:
        """What the call may call; nothing where that is unknown."""


@dataclass(frozen=True)
class Truth:
    """A call expression, and what it called."""

    path: Path
    place: tuple[int, int, int, int]
    called: tuple[dict[str, Any], ...]

    def has(self, answer: Callee) -> bool:
        return any(_is(answer, one) for one in self.called)


def _is(answer: Callee, one: dict[str, Any]) -> bool:
    if answer.class_name:
        makes = one["name"] in (
            "__init__",
            "__new__",
            "__call__",
            "_wrapped_call_impl",
            "forward",
            "_call_impl",
        )
        return makes and answer.class_name in one["classes"]
    same = Path(answer.file).name == Path(one["callee"]).name and answer.name == one["name"]
    # The first line may be that of a decorator.
    return same and 0 <= answer.line - one["line"] <= 10


def record(folder: Path, programs: list[Path], packages: list[str], limit_s: float) -> None:
    python = os.environ.get("PYTHON", sys.executable)
    for program in programs:
        try:
            import tomllib
        except ImportError:
            import tomli as tomllib
        case = tomllib.loads((program / "case.toml").read_text()) if (program / "case.toml").is_file() else {}
        target = folder / program.name
        shutil.rmtree(target, ignore_errors=True)
        source, hooks = target / "src", target / "hooks"
        shutil.copytree(program / "src" if (program / "src").is_dir() else program, source)
        hooks.mkdir()
        shutil.copy(Path(__file__).parent / "called_functions.py", hooks / "sitecustomize.py")
        if isinstance(case.get("healthy"), dict):
            file = source / case["healthy"]["file"]
            file.write_text(file.read_text().replace(case["healthy"]["old"], case["healthy"]["new"]))
        where = subprocess.run(
            [python, "-c", "import importlib.util as u, sys\nfor n in sys.argv[1:]:\n"
             "  s = u.find_spec(n)\n  print(s.submodule_search_locations[0] if s else '')", *packages],
            capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip
        environment = {
            **os.environ, "PYTHONPATH": str(hooks), "CALLS_TO": str(target), "OMP_NUM_THREADS": "1",
            "CALLS_OF": ":".join([str(source), *where]), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        command = case.get("command", case.get("main", "train.py")).split()
        launch = [
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            str(case.get("ranks", 4)),
        ]
        job = subprocess.Popen(
            [python, *launch, *command], cwd=source, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=(target / "errors.log").open("w"),
        )  # fmt: skip
        try:
            code: int | str = job.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = "still ran"
            # The launcher ends its ranks, which are no group of its own.
            job.send_signal(signal.SIGTERM)
            job.wait()
        count = sum(len(path.read_text().splitlines()) for path in target.glob("calls-*.jsonl"))
        print(f"{program.name}: {code}, {count} calls", flush=True)


def truths(folder: Path) -> list[Truth]:
    found: dict[tuple[str, tuple[int, int, int, int]], dict[str, dict[str, Any]]] = defaultdict(dict)
    for path in folder.glob("calls-*.jsonl"):
        for line in path.read_text().splitlines():
            try:
                one = json.loads(line)
            except ValueError:
                continue
            # Lines of `place` are first, last, and then the columns.
            first, last, left, right = one["place"]
            found[one["file"], (first, left, last, right)][json.dumps(one, sort_keys=True)] = one
    return [
        Truth(Path(file), place, tuple(called.values()))
        for (file, place), called in sorted(found.items())
        if not all(
            one["name"] in _WRAPS or one["callee"].endswith("c10d_logger.py") for one in called.values()
        )
    ]


def measure(folder: Path, most: int, docs: Path | None) -> None:
    kinds: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    spent: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    misses: dict[str, list[str]] = defaultdict(list)
    drawn = random.Random(18)
    for program in sorted(path for path in folder.iterdir() if (path / "src").is_dir()):
        source = (program / "src").resolve()
        told = truths(program)
        own = [one for one in told if one.path.is_relative_to(source)]
        others = [one for one in told if not one.path.is_relative_to(source)]
        drawn.shuffle(others)
        by_root: dict[Path, list[Truth]] = {source: own} if own else {}
        for one in others[:most]:
            by_root.setdefault(_package(one.path), []).append(one)
        for root, sites in by_root.items():
            kind = "programs" if root == source else "packages"
            for name, make in (("ours", Ours), ("jedi", Jedi), ("astroid", Astroid)):
                began = time.perf_counter()
                resolver = make(root if kind == "programs" or name == "ours" else root.parent)
                for one in sites:
                    call = _call(one)
                    if call is None:
                        continue
                    result = _asked(resolver, one, call)
                    kinds[kind][name][result] += 1
                    if result == "wrong" and kind == "programs":
                        misses[name].append(f"{one.path.name}:{one.place[0]} {ast.unparse(call.func)}")
                spent[kind][name] += time.perf_counter() - began
                sys.path[:] = [path for path in sys.path if path != str(root)]
        print(f"after {program.name}:", *table(kinds, spent)[4:], sep="\n", flush=True)
    lines = table(kinds, spent)
    print("\n".join(lines))
    for name, places in misses.items():
        print(name, "wrong:", *sorted(set(places))[:40], sep="\n  ")
    if docs is not None:
        from pages import write_block

        write_block(docs, BEGIN, END, lines, "Resolution of names")


def _asked(resolver: Resolver, one: Truth, call: ast.Call) -> str:
    try:
        answers = list(resolver.answers(one.path, call))
    except Exception:
        answers = []
    if not answers:
        return "unknown"
    return "right" if any(one.has(answer) for answer in answers) else "wrong"


_TREES: dict[Path, dict[tuple[int, int, int, int], ast.Call]] = {}


def _call(one: Truth) -> ast.Call | None:
    if one.path not in _TREES:
        tree = ast.parse(one.path.read_text())
        _TREES[one.path] = {place_of(n): n for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return _TREES[one.path].get(one.place)


def _package(path: Path) -> Path:
    """The folder of the package that the file is in."""
    folder = path.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


def table(kinds: Any, spent: Any) -> list[str]:
    told = {"programs": "calls in programs", "packages": "calls in packages"}
    counts = ", ".join(
        f"{sum(kinds[kind]['ours'].values()):,} {told[kind]}" for kind in told if kind in kinds
    )
    lines = [
        "`python benchmarks/resolvers.py`: call expressions that called a function of Python while the programs of "
        f"`tests/field`, of the lab and of an opened set of others ran ({counts}; "
        "of packages a sample); an answer is right if it names a function that was called, or the class whose object "
        "was made or called.",
        "",
        "| | resolver | right | unknown | wrong | time per call |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for kind in (kind for kind in told if kind in kinds):
        for name in ("ours", "jedi", "astroid"):
            found = kinds[kind][name]
            whole = max(sum(found.values()), 1)
            shares = [f"{found[word] / whole:.1%}" for word in ("right", "unknown", "wrong")]
            cells = [told[kind], name, *shares, f"{spent[kind][name] / whole * 1000:.1f} ms"]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("record", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--packages", default="lightning,accelerate,transformers,torchmetrics")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds for each program")
    parser.add_argument(
        "--most", type=int, default=150, help="calls in packages that count, for each program"
    )
    parser.add_argument("--docs", type=Path)
    options = parser.parse_args()
    if options.what == "record":
        record(options.folder, options.programs, options.packages.split(","), options.limit)
    else:
        measure(options.folder, options.most, options.docs)


if __name__ == "__main__":
    main()
