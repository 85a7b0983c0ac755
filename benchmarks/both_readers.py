"""Python's reader of pickled dumps and the native one on the same files: changed ones, or given ones.

    python benchmarks/both_readers.py --mutations 100000
    python benchmarks/both_readers.py --files dumps/

Ends with 1 where they differ, and leaves the files in which they do in `--folder`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.fuzz.both_readers import compare, compare_file, why_not
from support.fuzz.decoder_targets import bounded_memory
from support.fuzz.mutations import mutations


def differing(changed: Iterator[bytes], folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for number, data in enumerate(changed):
        verdict = compare(data)
        found[verdict] += 1
        if verdict == "different":
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"different_{number}").write_bytes(data)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=Path, help="a folder of dumps, instead of changed ones")
    parser.add_argument("--folder", type=Path, help="where files are left in which the readers differ")
    arguments = parser.parse_args()
    if why := why_not():
        print(why)
        return 2
    folder = arguments.folder or Path(tempfile.gettempdir()) / "raf-both-readers"
    began = time.process_time()
    if arguments.files:
        found = Counter(compare_file(path) for path in sorted(arguments.files.rglob("*")) if path.is_file())
    else:
        with bounded_memory():
            found = differing(islice(mutations(arguments.seed), arguments.mutations), folder)
    print(
        f"{found.total():,} files in {time.process_time() - began:.0f} s of the processor: "
        f"{found['equal']:,} read by both and equal, {found['left']:,} left to Python's reader, "
        f"{found['different']:,} different"
    )
    return 1 if found["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
