// The linter of Rank & File in Visual Studio Code: starts `raf lsp`, and hands it the documents of Python.
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = workspace.getConfiguration("raf");
  const [command, ...words] = settings.get("command");
  const run = { command, args: [...words, "lsp"] };
  client = new LanguageClient("raf", "Rank & File", { run, debug: run }, {
    documentSelector: [{ language: "python", scheme: "file" }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{*.py,raf.toml,pyproject.toml}") },
    initializationOptions: { hints: settings.get("hints"), plain: settings.get("plain") },
  });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `${[command, ...words].join(" ")} lsp does not start: ${error.message}. ` +
        "It comes with: pip install 'rankandfile[lsp]'. The setting raf.command says where it is."
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("raf.restart", restart),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("raf") && restart())
  );
  return start();
}

module.exports = { activate, deactivate: stop };
