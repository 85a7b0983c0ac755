"""A patch as bytes: what the file is made of stays, and `git apply` takes the diff."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.source.remedy_cases import Texts, problem

from rankandfile.source.files.text import decode
from rankandfile.source.remedies import Patch, patched
from rankandfile.source.remedies.restore import NotTheSame, diff_bytes, patched_bytes

TEXT = """import torch.distributed as dist


def fit(loss):
    while True:
        if loss() < 0.1:  # genug für heute
            break
        dist.barrier()
"""
FORMS = {
    "as usual": TEXT.encode(),
    "Windows": TEXT.replace("\n", "\r\n").encode(),
    "no last line end": TEXT.rstrip("\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "latin-1": b"# -*- coding: latin-1 -*-\n" + TEXT.encode("latin-1"),
    "mixed": TEXT.replace("\n\n\n", "\r\n\r\n\r\n").encode(),
}


def made(data: bytes) -> Patch:
    text = decode(data)
    assert text is not None
    files = Texts()
    files.files["train.py"] = text
    patch = patched(problem(files, "loss() <"), files)
    assert isinstance(patch, Patch)
    return patch


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_only_the_changed_lines_change(data: bytes, tmp_path: Path) -> None:
    patch = made(data)
    after = patched_bytes(patch, data)
    assert decode(after) == patch.after
    kept, new = data.split(b"\n"), after.split(b"\n")
    assert len(set(kept) - set(new)) <= 1 and len(new) == len(kept) + 1
    assert after.endswith(b"\n") == data.endswith(b"\n")
    assert after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")

    (tmp_path / "train.py").write_bytes(data)
    (tmp_path / "a.diff").write_bytes(diff_bytes(patch, data, "train.py"))
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "a.diff"], cwd=tmp_path, check=True)
    assert (tmp_path / "train.py").read_bytes() == after


def test_a_file_that_has_changed_is_left_alone() -> None:
    data = TEXT.encode()
    with pytest.raises(NotTheSame, match="changed"):
        patched_bytes(made(data), data + b"# more\n")
