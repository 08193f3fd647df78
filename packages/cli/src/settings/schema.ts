/**
 * The settings: every key with its meaning. docs/settings.md and settings.schema.json are made from this schema by
 * `npm run docs:settings`.
 */
import { z } from "zod";
import { HOOK_EVENTS } from "./hook-events.ts";
import { KEY, KEY_ACTIONS } from "./key-actions.ts";

const text = z
  .string()
  .min(1)
  .refine((value) => !value.includes("\0"), "must not hold a NUL character");
const KINDS = "os, docker, docker:IMAGE, modal, runloop, daytona, langsmith, agentcore, e2b, none or off";
const model = text
  .regex(
    /^(?:[^:\s]+:\S.*|offline|anthropic|openai|google|ollama)$/u,
    "must be provider:model, for example openai:gpt-5.4",
  )
  .meta({ examples: ["anthropic:claude-sonnet-4-6", "ollama:qwen3"] });
const path = text.startsWith("/", "must begin with /, which is the directory of the project");
const commandPattern = text.regex(
  /^[A-Za-z0-9][\w.+-]*(?: [\w./:@%+,=-]+)*(?: \*)?$/,
  "must be a program and plain words, for example `npm test`; ` *` at the end stands for any further words",
);
const strictPattern = text.regex(
  /^[A-Za-z0-9][\w.+-]*(?: [\w./:@%+,-]+)*$/,
  "must be a program and plain words, for example `git push`",
);
const key = text.regex(KEY, "must be a key such as `ctrl+t`, `alt+enter`, `shift+tab` or `f2`");
const seconds = z.number().positive().max(86_400);

const permission = z
  .strictObject({
    operations: z.array(z.enum(["read", "write"])).min(1),
    paths: z.array(path).min(1),
    mode: z.enum(["allow", "deny", "interrupt"]),
  })
  .describe("One rule: operations, globs from the root of the project, and what happens.");

const hook = z
  .strictObject({
    command: text.describe("A command line for the shell. It starts in the project's directory."),
    tools: z
      .array(text)
      .optional()
      .describe("Names of tools, `*` for any part of a name. Absent: every tool. For events about tools."),
    timeout: seconds.optional().describe("Seconds it may take. Default: 60."),
  })
  .describe("A shell command that gets JSON on stdin.");

export const settingsSchema = z.strictObject({
  $schema: text.optional().describe("The address of this schema, for editors."),
  model: model.optional().describe("The model, as `provider:model`."),
  fallbacks: z
    .array(model)
    .optional()
    .describe("Models that are asked in this order where the first fails. A later file replaces the list."),
  baseUrl: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .optional()
    .describe("A server that is used instead of the provider's own."),
  theme: z
    .enum(["auto", "light", "dark"])
    .optional()
    .describe("Colours of the terminal app. `auto` follows the terminal's background."),
  mode: z
    .enum(["ask", "accept-edits", "plan", "auto"])
    .optional()
    .describe(
      "What is asked about. `ask`: changes and commands. `accept-edits`: commands. `plan`: the agent only looks. `auto`: nothing that the sandbox contains.",
    ),
  permissions: z
    .array(permission)
    .optional()
    .describe(
      "Rules for the agent's file tools. The first rule that fits decides; without one all is allowed. Rules of later files come first.",
    ),
  commands: z
    .strictObject({
      allow: z
        .array(commandPattern)
        .optional()
        .describe(
          "Plain commands that run without a question. `npm test` is exactly that; `npm test *` allows further words.",
        ),
      ask: z
        .array(strictPattern)
        .optional()
        .describe("Commands that are always asked about, wherever they stand in a command line."),
      deny: z
        .array(strictPattern)
        .optional()
        .describe("Commands that are refused, wherever they stand in a command line."),
    })
    .optional()
    .describe("Rules for commands. The strictest counts: deny, ask, allow. Lists of all files are joined."),
  sandbox: z
    .strictObject({
      kind: text
        .regex(
          /^(?:os|docker|docker:.+|modal|runloop|daytona|langsmith|agentcore|e2b|none|off)$/s,
          `must be ${KINDS}`,
        )
        .optional()
        .describe(`Where commands run: ${KINDS}.`),
      hosts: z.array(text).optional().describe("Hosts that commands in the os sandbox may reach."),
    })
    .optional()
    .describe("The sandbox of commands."),
  mcpServers: z
    .record(text, z.record(z.string(), z.unknown()))
    .optional()
    .describe("MCP servers by name, as in `.mcp.json`. A later file replaces a server of the same name."),
  memory: z
    .strictObject({
      files: z
        .array(text)
        .optional()
        .describe(
          "Further files of instructions beside AGENTS.md. A project names files below its directory; the user's own may begin with `~/`.",
        ),
    })
    .optional()
    .describe("Memory files. Lists of all files are joined."),
  budget: z
    .strictObject({
      maxSteps: z.int().positive().optional().describe("Model calls of a run."),
      maxStepsPerAgent: z
        .int()
        .positive()
        .optional()
        .describe(
          "Model calls of the agent itself in a run; each task of a subagent has as many of its own. Default of `deepwright serve`: 25.",
        ),
      maxCost: z.number().positive().optional().describe("Dollars a run may cost."),
      maxTokens: z.int().positive().optional().describe("Tokens in and out of a run."),
      maxSeconds: z
        .number()
        .positive()
        .optional()
        .describe("Seconds a run may work; waiting does not count."),
    })
    .optional()
    .describe("Limits of a run."),
  snapshots: z
    .strictObject({
      maxDays: z
        .number()
        .positive()
        .optional()
        .describe("Days that what commands changed can be taken back. Default: 90."),
      maxGigabytes: z
        .number()
        .positive()
        .optional()
        .describe("Size of the database beyond which the oldest snapshots are removed. Default: 10."),
    })
    .optional()
    .describe("Limits of snapshots in the user's own database, checked once a day. Messages and steps stay."),
  hooks: z
    .partialRecord(z.enum(HOOK_EVENTS), z.array(hook))
    .optional()
    .describe("Shell commands by event. They run outside the sandbox. Lists of all files are joined."),
  statusLine: z
    .array(z.enum(["model", "directory", "sandbox", "mode", "tokens", "cost", "budget"]))
    .optional()
    .describe("Items of the terminal app's status line, from left to right."),
  keybindings: z
    .partialRecord(z.enum(KEY_ACTIONS), z.union([key, z.array(key)]))
    .optional()
    .describe("Keys of the terminal app by action: one key, several, or an empty list for none."),
  vim: z.boolean().optional().describe("Whether the input of the terminal app has vim's keys."),
  notifications: z
    .enum(["auto", "bell", "osc9", "osc777", "off"])
    .optional()
    .describe("How the terminal app tells that a run ended or waits while the terminal is not focused."),
});

export type Settings = z.infer<typeof settingsSchema>;
export type SettingKey = Exclude<keyof Settings, "$schema">;

/** The published JSON schema. */
export function settingsJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(settingsSchema),
    title: "Settings of deepwright",
    description: "~/.deepwright/settings.json, .deepwright/settings.json and .deepwright/settings.local.json",
  };
}
