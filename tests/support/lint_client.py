"""An editor: a real client of the protocol, which starts `raf lsp` as editors do and keeps what it is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

_LONGEST = 60.0


class Editor(LanguageClient):
    """Documents are called by their paths; their versions count up with each change."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.told: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.logged: list[str] = []
        self.versions: dict[Path, int] = {}
        self._news = asyncio.Event()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def told(client: Editor, params: lsp.PublishDiagnosticsParams) -> None:
            client.told[params.uri] = params
            client._news.set()

        @self.feature(lsp.WINDOW_LOG_MESSAGE)
        def logged(client: Editor, params: lsp.LogMessageParams) -> None:
            client.logged.append(params.message)
            client._news.set()

    def open(self, path: Path, text: str | None = None) -> None:
        self.versions[path] = 1
        held = path.read_text(encoding="utf-8") if text is None else text
        document = lsp.TextDocumentItem(uri=path.as_uri(), language_id="python", version=1, text=held)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))

    def type(self, path: Path, text: str, at: tuple[int, int] | None = None) -> None:
        """The whole text, or some put in at a line and column counted from zero."""
        self.versions[path] += 1
        change: lsp.TextDocumentContentChangeEvent = lsp.TextDocumentContentChangeWholeDocument(text=text)
        if at is not None:
            place = lsp.Position(line=at[0], character=at[1])
            change = lsp.TextDocumentContentChangePartial(range=lsp.Range(start=place, end=place), text=text)
        document = lsp.VersionedTextDocumentIdentifier(uri=path.as_uri(), version=self.versions[path])
        self.text_document_did_change(
            lsp.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        )

    def save(self, path: Path) -> None:
        self.text_document_did_save(lsp.DidSaveTextDocumentParams(text_document=_named(path)))

    def close(self, path: Path) -> None:
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=_named(path)))

    def diagnostics(self, path: Path) -> list[lsp.Diagnostic]:
        told = self.told.get(path.as_uri())
        return list(told.diagnostics) if told is not None else []

    async def once(self, holds: Callable[[], bool]) -> None:
        async def wait() -> None:
            while not holds():
                self._news.clear()
                await self._news.wait()

        try:
            await asyncio.wait_for(wait(), _LONGEST)
        except asyncio.TimeoutError:
            raise AssertionError(f"not told: {self.told}, {self.logged}") from None

    async def told_of(self, path: Path) -> list[lsp.Diagnostic]:
        """What is said of the text as it is now."""

        def of_this_text() -> bool:
            told = self.told.get(path.as_uri())
            return told is not None and told.version == self.versions[path]

        await self.once(of_this_text)
        return self.diagnostics(path)

    async def hover(self, path: Path, line: int) -> str:
        """What is said over a line, counted from one."""
        at = lsp.Position(line=line - 1, character=6)
        said = await self.text_document_hover_async(lsp.HoverParams(text_document=_named(path), position=at))
        return (
            said.contents.value if said is not None and isinstance(said.contents, lsp.MarkupContent) else ""
        )

    async def actions(self, path: Path, at_least: int = 1) -> list[lsp.CodeAction]:
        """For the first diagnostic, as soon as there are so many."""
        about = self.diagnostics(path)[0]
        params = lsp.CodeActionParams(
            text_document=_named(path), range=about.range, context=lsp.CodeActionContext(diagnostics=[about])
        )
        for _ in range(int(_LONGEST / 0.1)):
            found = await self.text_document_code_action_async(params)
            actions = [each for each in found or [] if isinstance(each, lsp.CodeAction)]
            if len(actions) >= at_least:
                return actions
            await asyncio.sleep(0.1)
        raise AssertionError(f"only {actions}")


@asynccontextmanager
async def editor(folder: Path, **options: bool) -> AsyncIterator[Editor]:
    client = Editor()
    await client.start_io(sys.executable, "-m", "rankandfile", "lsp", cwd=folder.parent)
    await client.initialize_async(
        lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(),
            root_uri=folder.as_uri(),
            workspace_folders=[lsp.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
            initialization_options=options,
        )
    )
    client.initialized(lsp.InitializedParams())
    try:
        yield client
        await client.shutdown_async(None)
    finally:
        client.exit(None)
        await client.stop()


def made(action: lsp.CodeAction, path: Path, text: str) -> str:
    """The text of a file after the changes of an action."""
    assert action.edit is not None and action.edit.changes is not None
    lines = text.splitlines(keepends=True)
    for edit in sorted(action.edit.changes[path.as_uri()], key=lambda each: -each.range.start.line):
        assert edit.range.start.character == edit.range.end.character == 0
        lines[edit.range.start.line : edit.range.end.line] = [edit.new_text]
    return "".join(lines)


def _named(path: Path) -> lsp.TextDocumentIdentifier:
    return lsp.TextDocumentIdentifier(uri=path.as_uri())
