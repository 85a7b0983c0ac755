// Without an editor: the extension is started with stand-ins for it, and is to start the command with the settings.
const assert = require("node:assert");
const Module = require("node:module");
const manifest = require("./package.json");

const started = [];
const shown = [];
const settings = Object.fromEntries(
  Object.entries(manifest.contributes.configuration.properties).map(([key, said]) => [key.slice(4), said.default])
);
class LanguageClient {
  constructor(...words) {
    this.words = words;
  }
  async start() {
    if (settings.command[0] === "missing") throw new Error("ENOENT");
    started.push(this.words);
  }
  needsStop() {
    return true;
  }
  async stop() {
    started.pop();
  }
}
const registered = {};
const standIns = {
  vscode: {
    commands: { registerCommand: (name, run) => (registered[name] = run) },
    window: { showErrorMessage: (words) => shown.push(words) },
    workspace: {
      getConfiguration: () => ({ get: (key) => settings[key] }),
      createFileSystemWatcher: (pattern) => pattern,
      onDidChangeConfiguration: () => ({}),
    },
  },
  "vscode-languageclient/node": { LanguageClient },
};
const load = Module._load;
Module._load = (name, ...rest) => standIns[name] ?? load(name, ...rest);

(async () => {
  const { activate, deactivate } = require(manifest.main);
  await activate({ subscriptions: [] });
  const [, , server, client] = started[0];
  assert.deepStrictEqual(server.run, { command: "raf", args: ["lsp"] });
  assert.deepStrictEqual(client.initializationOptions, { hints: false, plain: false });
  settings.command = ["python", "-m", "rankandfile"];
  await registered[manifest.contributes.commands[0].command]();
  assert.strictEqual(started.length, 1);
  assert.deepStrictEqual(started[0][2].run, { command: "python", args: ["-m", "rankandfile", "lsp"] });
  await deactivate();
  assert.strictEqual(started.length, 0);
  settings.command = ["missing"];
  await activate({ subscriptions: [] });
  assert.match(shown[0], /missing lsp does not start: ENOENT.*pip install/);
})();
