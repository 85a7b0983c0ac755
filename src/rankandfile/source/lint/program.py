"""The program that the paths on a command line belong to: the whole package of a file or folder is read with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rankandfile.source.files.roots import Folder, Root
from rankandfile.source.files.tree import SourceTree


class Package:
    """The Python files below a folder, by their paths from where its package begins; some as they are in an editor."""

    def __init__(self, path: Path, unsaved: Mapping[Path, str] | None = None) -> None:
        self.start = _start(path)
        self.inside = Folder(path if path.is_dir() else path.parent)
        self.prefix = self.inside.path.relative_to(self.start).as_posix()
        self.name = self.start.name
        self.unsaved = {
            file.relative_to(self.start).as_posix(): text
            for file, text in (unsaved or {}).items()
            if file.is_relative_to(self.inside.path)
        }

    def names(self) -> Iterator[str]:
        listed = [name if self.prefix == "." else f"{self.prefix}/{name}" for name in self.inside.names()]
        yield from listed
        yield from sorted(self.unsaved.keys() - set(listed))

    def read(self, name: str) -> bytes | None:
        if name in self.unsaved:
            return self.unsaved[name].encode("utf-8", "replace")
        inside = name if self.prefix == "." else name.removeprefix(f"{self.prefix}/")
        return self.inside.read(inside)


def opened(
    paths: Sequence[Path], unsaved: Mapping[Path, str] | None = None
) -> tuple[SourceTree, dict[str, Path], frozenset[str]]:
    """The tree, where each of its files lies, and which of them were asked for.

    `unsaved`: files, by their resolved paths, that are not read but taken to hold this text, whether they exist or not.
    """
    tree = SourceTree([])
    places: dict[str, Path] = {}
    packages = [Package(path, unsaved) for path in paths]
    for package in _outermost(packages):
        root: Root = package
        for name, known in tree.add(root).items():
            places[known] = package.start / name
    asked: set[str] = set()
    for path in (path.resolve() for path in paths):
        below = path.is_dir()
        asked.update(
            known for known, at in places.items() if at == path or (below and at.is_relative_to(path))
        )
    return tree, places, frozenset(asked)


def _outermost(packages: Sequence[Package]) -> list[Package]:
    """Each folder once, and none that lies below another one: two files of a folder are of one program."""
    found: dict[Path, Package] = {}
    for package in sorted(packages, key=lambda each: len(each.inside.path.parts)):
        if not any(package.inside.path.is_relative_to(outer) for outer in found):
            found[package.inside.path] = package
    return list(found.values())


def _start(path: Path) -> Path:
    """The folder that a package is imported from: the first one above that is no package itself."""
    folder = (path if path.is_dir() else path.parent).resolve()
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder
