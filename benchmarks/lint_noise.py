"""What a change of the linter does to real projects: every finding is labelled by hand in `lint_noise.toml`.

    python benchmarks/lint_noise.py "lightning 2.6.6" PATH/TO/site-packages/lightning

prints findings that are new (not labelled yet), those that are gone, and the precision by the labels.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from rankandfile.source.lint.run import lint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LABELS = Path(__file__).with_name("lint_noise.toml")


def main(project: str, folder: Path) -> int:
    known = tomllib.loads(LABELS.read_text(encoding="utf-8"))["finding"]
    labels = {
        (one["file"], one["rule"], one["code"]): one["label"] for one in known if one["project"] == project
    }
    report = lint([folder])
    top = folder.resolve().parent.as_posix() + "/"
    said = {
        (Path(each.file).resolve().as_posix().removeprefix(top), each.rule, each.code): each
        for each in report.flagged
    }
    for key in said.keys() - labels.keys():
        print("new ", *key, said[key].severity)
    for key in labels.keys() - said.keys():
        print("gone", *key, labels[key])
    counts = Counter((each.severity, labels.get(key, "unlabelled")) for key, each in said.items())
    print(f"{project}: {report.files} files, {report.lines} lines")
    for (severity, label), count in sorted(counts.items()):
        print(f"  {severity} {label}: {count}")
    return 1 if said.keys() ^ labels.keys() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
