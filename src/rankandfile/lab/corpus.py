"""Many incidents at once: scenarios, their twins and the variants of each, a few runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from rankandfile.lab import catalog, variants
from rankandfile.lab.run import ScenarioError, run_scenario

OnOutcome = Callable[["Outcome"], None]


class Outcome(msgspec.Struct, frozen=True):
    """One entry of the corpus: where it is, or why it could not be made."""

    name: str
    path: Path | None = None
    error: str = ""


def _ignore(_outcome: Outcome) -> None:
    return None


def make_corpus(
    out_dir: Path,
    names: Sequence[str] | None = None,
    *,
    twins: bool = True,
    variant_names: Iterable[str] = (),
    jobs: int = 2,
    on_outcome: OnOutcome = _ignore,
) -> list[Outcome]:
    """Run the scenarios (all, if none is named) into `out_dir/<name>`, `<name>.twin` and `<name>~<variant>`.

    A scenario that does not do what it says becomes an outcome with an error; the others go on.
    """
    chosen = names if names is not None else [s.name for s in catalog.scenarios()]
    runs = [
        (catalog.get(name).name, twin) for name in chosen for twin in ((False, True) if twins else (False,))
    ]
    wanted = list(variant_names)

    def one(run: tuple[str, bool]) -> list[Outcome]:
        made = _make(*run, out_dir, wanted)
        for outcome in made:
            on_outcome(outcome)
        return made

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        return [outcome for made in pool.map(one, runs) for outcome in made]


def _make(name: str, twin: bool, out_dir: Path, wanted: list[str]) -> list[Outcome]:
    label = f"{name}.twin" if twin else name
    try:
        incident = run_scenario(name, out_dir / label, twin=twin)
    except ScenarioError as error:
        return [Outcome(label, error=str(error))]
    made = [Outcome(label, incident)]
    for variant in () if twin else wanted:
        path = variants.make(incident, variant, out_dir / f"{name}~{variant}")
        made.append(Outcome(f"{name}~{variant}", path))
    return made
