/** Settings to paste into an editor. Pure. */
import type { ConfiguredEditor, RawAcpOptions } from "./acp-command-line.ts";

/** The options of the command line go into the settings. */
export function editorConfig(editor: ConfiguredEditor, options: RawAcpOptions): string {
  const args = argumentsOf(options);
  if (editor === "neovim") return neovimConfig(args);
  const agent = { ...(editor === "zed" && { type: "custom" }), command: "deepwright", args, env: {} };
  return `${JSON.stringify({ agent_servers: { Deepwright: agent } }, undefined, 2)}\n`;
}

function argumentsOf({ model, baseUrl, db, mode, connect, mcp, unstable }: RawAcpOptions): readonly string[] {
  const named = { "--model": model, "--base-url": baseUrl, "--db": db, "--mode": mode, "--connect": connect };
  return [
    "acp",
    ...Object.entries(named).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...(mcp === false ? ["--no-mcp"] : []),
    ...(unstable ? ["--unstable"] : []),
  ];
}

function neovimConfig(args: readonly string[]): string {
  const command = ["deepwright", ...args].map((word) => JSON.stringify(word)).join(", ");
  return `require("codecompanion").setup({
  adapters = {
    acp = {
      deepwright = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {
          name = "deepwright",
          formatted_name = "Deepwright",
          type = "acp",
          roles = { llm = "assistant", user = "user" },
          commands = { default = { ${command} } },
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            setup = function() return true end,
            auth = function() return true end,
            form_messages = function(self, messages, capabilities)
              return helpers.form_messages(self, messages, capabilities)
            end,
            on_exit = function() end,
          },
        }
      end,
    },
  },
  interactions = { chat = { adapter = "deepwright" } },
})
`;
}
