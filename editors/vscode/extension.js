// Starts `usubac lsp` for files of Usuba, and sends it the settings of the user.
//
//     activate ─settings→ LanguageClient ─standard input and output→ usubac lsp

"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The server, while the extension is active. */
let client;

/** The settings that the server reads: all but the path of the server. */
function settings() {
  const { hints, include, lints, keepTables, legacyTables } = workspace.getConfiguration("usuba");
  return { hints, include, lints, keepTables, legacyTables };
}

async function activate(context) {
  const command = workspace.getConfiguration("usuba").get("path");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("usuba", "Usuba", server, {
    documentSelector: [{ language: "usuba" }],
    initializationOptions: settings(),
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.ua") },
  });
  context.subscriptions.push(
    workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("usuba") && client.isRunning()) {
        const params = { settings: { usuba: settings() } };
        await client.sendNotification("workspace/didChangeConfiguration", params);
      }
    }),
  );
  await client.start();
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
