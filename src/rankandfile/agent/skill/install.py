"""Puts the skill where an agent looks for skills, and leaves alone what somebody edited there."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

NAME = "diagnose-training-hang"
FOLDER = Path(__file__).parent / NAME
#: Beside the skill's files: the digests of what was written, by which a later version knows its own.
RECORD = ".written-by-raf.json"

#: agent -> its folders of skills, below the project and below the home directory
AGENTS = {
    "claude": (".claude/skills", ".claude/skills"),
    "codex": (".agents/skills", ".agents/skills"),
    "cursor": (".cursor/skills", ".cursor/skills"),
    "vscode": (".github/skills", ".copilot/skills"),
}


class Edited(Exception):
    """Files there are not as this program wrote them; they are left as they are."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        super().__init__(", ".join(map(str, files)))


@dataclass
class Installed:
    folder: Path
    written: list[Path] = field(default_factory=list)
    removed: list[Path] = field(default_factory=list)


def files() -> dict[str, bytes]:
    """The skill's files by their names in its folder, SKILL.md first."""
    found = sorted(FOLDER.rglob("*.md"), key=lambda path: (path.parent != FOLDER, path))
    return {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in found}


def install(skills: Path, force: bool = False) -> Installed:
    """Write the skill below this folder of skills. Raises Edited, before anything is written, and OSError."""
    done, wanted = Installed(skills / NAME), files()
    recorded = _recorded(done.folder)
    stale = [name for name in recorded if name not in wanted]
    edited = [
        done.folder / name
        for name in (*wanted, *stale)
        if _is_there(done.folder / name)
        and _digest_of(done.folder / name) not in {recorded.get(name), _digest(wanted.get(name))} - {None}
    ]
    if edited and not force:
        raise Edited(edited)
    for name, data in wanted.items():
        path = done.folder / name
        if _digest_of(path) != _digest(data):
            path.parent.mkdir(parents=True, exist_ok=True)
            # A link is replaced, and what it led to is somebody else's.
            path.unlink(missing_ok=True)
            path.write_bytes(data)
            done.written.append(path)
    for name in stale:
        if _is_there(done.folder / name):
            (done.folder / name).unlink()
            done.removed.append(done.folder / name)
    record = {name: _digest(data) for name, data in wanted.items()}
    if record != recorded:
        text = json.dumps(record, indent=2) + "\n"
        (done.folder / RECORD).unlink(missing_ok=True)
        (done.folder / RECORD).write_text(text, encoding="utf-8")
    return done


def _recorded(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    names = found.items() if isinstance(found, dict) else ()
    # Somebody else can have written it: only names that the skill could have are taken from it.
    return {
        name: digest
        for name, digest in names
        if isinstance(digest, str)
        and name.endswith(".md")
        and ".." not in Path(name).parts
        and name[:1] != "/"
    }


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _digest_of(path: Path) -> str | None:
    return _digest(path.read_bytes()) if path.is_file() and not path.is_symlink() else None


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
