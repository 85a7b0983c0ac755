"""`raf lsp`: findings in the files that an editor has open, of their text as it is there, in the program around them.

Every question is answered by a process of its own, which is ended as soon as somebody types on. Questions wait for a
moment without typing. While a file is no Python, its findings stay as they were, and others see it as it last was.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import msgspec
from lsprotocol import types as lsp
from msgspec import Struct
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from rankandfile import __version__
from rankandfile.model.lint import Flagged
from rankandfile.source.program.modules import parsed

from .asking import Answer, Found, Mend, Question
from .words import diagnostic, hover, mending, suppressing

QUIET_SECONDS = 0.4
"""Without typing, before a question is asked."""
_LONGEST_SECONDS = 300.0
_LONGEST_LINE = 256 << 20

_Finding = tuple[int, str]
"""Line and fingerprint."""


class Said(Struct):
    """What is known of a document, as it was in one version."""

    version: int | None
    folder: Path
    flagged: tuple[Flagged, ...]
    mends: dict[_Finding, Mend]


class LintServer(LanguageServer):
    """A server for one client."""

    def __init__(self, worker: Sequence[str], pages: Mapping[str, str]) -> None:
        super().__init__("raf", __version__)
        self._worker = tuple(worker)
        self.pages = pages
        self.hints = self.plain = False
        self.said: dict[str, Said] = {}
        self._good: dict[str, str] = {}
        self._asking: asyncio.Task[None] | None = None

    def ask_again(self, soon: bool = False) -> None:
        """Whatever is being asked is asked no longer: the text is another one."""
        self.ask_no_more()
        self._asking = asyncio.get_running_loop().create_task(self._ask(0.0 if soon else QUIET_SECONDS))

    def ask_no_more(self) -> None:
        if self._asking is not None:
            self._asking.cancel()

    def closed(self, uri: str) -> None:
        self.said.pop(uri, None)
        self._good.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    def flagged_on(self, uri: str, lines: range) -> list[tuple[Flagged, Mend | None, lsp.Diagnostic]]:
        """What is said of these lines, counted from one, if it is of the text as it is now."""
        said, document = self.said.get(uri), self._open().get(uri)
        if said is None or document is None or said.version != document.version:
            return []
        return [
            (each, said.mends.get((each.line, each.fingerprint)), self._diagnostic(each, said, document))
            for each in said.flagged
            if each.line in lines
        ]

    def _open(self) -> dict[str, TextDocument]:
        """The Python files that the client has open; what has no path is no part of a program."""
        documents = self.workspace.text_documents.values()
        return {each.uri: each for each in documents if each.path.endswith(".py") and to_fs_path(each.uri)}

    async def _ask(self, quiet: float) -> None:
        await asyncio.sleep(quiet)
        documents = self._open()
        for uri, document in documents.items():
            if parsed(document.source) is not None:
                self._good[uri] = document.source
        of_folder: dict[Path, list[TextDocument]] = defaultdict(list)
        for document in documents.values():
            of_folder[self._folder_of(Path(document.path).resolve())].append(document)
        for folder, asked in of_folder.items():
            try:
                await asyncio.wait_for(self._ask_about(folder, asked), _LONGEST_SECONDS)
            except asyncio.TimeoutError:
                self._log(f"{folder}: no answer within {_LONGEST_SECONDS:.0f} seconds")

    async def _ask_about(self, folder: Path, documents: Sequence[TextDocument]) -> None:
        places = {str(Path(each.path).resolve()): each for each in documents}
        versions = {each.uri: each.version for each in documents}
        texts = {place: self._good[each.uri] for place, each in places.items() if each.uri in self._good}
        question = Question(
            folder=str(folder), open=tuple(places), texts=texts, hints=self.hints, plain=self.plain
        )
        async for answer in self._answers(question):
            if isinstance(answer, Found):
                for place, document in places.items():
                    flagged = [f for f in answer.report.flagged if str(folder / f.file) == place]
                    self._publish(document, versions[document.uri], folder, flagged)
            else:
                uri = places[str(folder / answer.file)].uri
                if uri in self.said:
                    self.said[uri].mends[answer.line, answer.fingerprint] = answer

    async def _answers(self, question: Question) -> AsyncIterator[Answer]:
        process = await asyncio.create_subprocess_exec(
            *self._worker, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=_LONGEST_LINE
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        try:
            process.stdin.write(msgspec.json.encode(question))
            with contextlib.suppress(ConnectionError):
                await process.stdin.drain()
            process.stdin.close()
            while line := await process.stdout.readline():
                yield msgspec.json.decode(line, type=Answer)
            said = await process.stderr.read()
            if await process.wait():
                told = said.decode("utf-8", "replace").strip().splitlines()
                self._log(f"raf lint: {told[-1] if told else 'ended without an answer'}")
        finally:
            await _ended(process)

    def _publish(
        self, document: TextDocument, version: int | None, folder: Path, flagged: Sequence[Flagged]
    ) -> None:
        if document.version != version:
            return
        broken = self._good.get(document.uri) != document.source
        if broken and document.uri in self.said:
            return
        said = Said(version=version, folder=folder, flagged=() if broken else tuple(flagged), mends={})
        self.said[document.uri] = said
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(
                uri=document.uri,
                version=version,
                diagnostics=[self._diagnostic(each, said, document) for each in said.flagged],
            )
        )

    def _diagnostic(self, flagged: Flagged, said: Said, document: TextDocument) -> lsp.Diagnostic:
        units = self.workspace.position_codec.client_num_units
        return diagnostic(flagged, said.folder, document.lines, units)

    def _folder_of(self, file: Path) -> Path:
        """The innermost folder of the workspace that the file is in, else its own."""
        paths = [to_fs_path(each.uri) for each in self.workspace.folders.values()]
        root = to_fs_path(self.workspace.root_uri) if self.workspace.root_uri else None
        folders = [Path(path).resolve() for path in (*paths, root) if path]
        around = [folder for folder in folders if file.is_relative_to(folder)]
        return max(around, key=lambda folder: len(folder.parts), default=file.parent)

    def _log(self, words: str) -> None:
        self.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Warning, message=words))


async def _ended(process: Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def server(worker: Sequence[str], pages: Mapping[str, str]) -> LintServer:
    """`worker`: the command that answers a question. `pages`: what a rule is about, by its word."""
    made = LintServer(worker, pages)

    @made.feature(lsp.INITIALIZED)
    def initialized(server: LintServer, _params: lsp.InitializedParams) -> None:
        server.ask_again()

    @made.feature(lsp.INITIALIZE)
    def initialize(server: LintServer, params: lsp.InitializeParams) -> None:
        given = params.initialization_options
        if isinstance(given, dict):
            server.hints, server.plain = given.get("hints") is True, given.get("plain") is True

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(server: LintServer, _params: lsp.DidOpenTextDocumentParams) -> None:
        server.ask_again()

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(server: LintServer, _params: lsp.DidChangeTextDocumentParams) -> None:
        server.ask_again()

    @made.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(server: LintServer, _params: lsp.DidSaveTextDocumentParams) -> None:
        server.ask_again(soon=True)

    @made.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def elsewhere(server: LintServer, _params: lsp.DidChangeWatchedFilesParams) -> None:
        server.ask_again()

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(server: LintServer, params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)
        server.ask_again()

    @made.feature(lsp.SHUTDOWN)
    def shutdown(server: LintServer, _params: None) -> None:
        server.ask_no_more()

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(server: LintServer, params: lsp.HoverParams) -> lsp.Hover | None:
        uri, line = params.text_document.uri, params.position.line + 1
        found = server.flagged_on(uri, range(line, line + 1))
        if not found:
            return None
        folder = server.said[uri].folder
        words = "\n\n".join(
            hover(flagged, mend, server.pages.get(flagged.rule, ""), folder)
            for flagged, mend, _about in found
        )
        return lsp.Hover(
            contents=lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=words), range=found[0][2].range
        )

    @made.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def actions(server: LintServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, asked = params.text_document.uri, params.range
        if params.context.only and not any(
            str(lsp.CodeActionKind.QuickFix.value).startswith(str(getattr(kind, "value", kind)))
            for kind in params.context.only
        ):
            return []
        text = server.workspace.get_text_document(uri).source
        found: list[lsp.CodeAction | None] = []
        for flagged, mend, about in server.flagged_on(uri, range(asked.start.line + 1, asked.end.line + 2)):
            found.append(mending(mend, about, server.said[uri].folder) if mend is not None else None)
            found.append(suppressing(flagged, about, uri, text))
        return [each for each in found if each is not None]

    return made
