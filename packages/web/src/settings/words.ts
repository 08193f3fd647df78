/** Texts of the settings. */
import { grouped } from "../words.ts";

const some = (amount: number, one: string): string => `${grouped(amount)} ${one}${amount === 1 ? "" : "s"}`;

export const words = {
  tabs: {
    general: "General",
    models: "Models",
    permissions: "Permissions",
    tools: "Tools and skills",
    memory: "Memory",
    schedules: "Schedules",
    webhooks: "Webhooks",
  } as Readonly<Record<string, string>>,
  none: "None.",
  ownerOnly:
    "This server keeps the settings of its machine to itself. The program that starts it can offer them.",
  language: "Language",
  english: "English",
  directory: "Directory",
  settingsFiles: "Settings files",
  fileState: (isThere: boolean, isTrusted: boolean) =>
    isThere ? (isTrusted ? "in use" : "not trusted: deepwright trust") : "not there",

  model: "Model of the agent",
  keys: "Keys",
  keysHint: "Values of keys are never shown. To add one: deepwright login",
  provider: "Provider",
  key: "Variable",
  state: "State",
  present: "present",
  missing: "missing",
  more: (amount: number) => some(amount, "more provider"),
  modelServers: "Model servers of this machine",
  noAnswer: "no answer",
  models: (names: readonly string[]) => (names.length === 0 ? "no models" : names.join(", ")),

  explain: "Would this be allowed?",
  explainWhat: "Ask about",
  readPath: "Reading a file",
  writePath: "Changing a file",
  command: "A command",
  explainField: "Path or command",
  explainHint: { path: "/src/secret.ts", command: "npm test" },
  explainButton: "Explain",
  decisions: { allow: "Allowed", ask: "Asks you", deny: "Refused" } as Readonly<Record<string, string>>,
  modeNote: (mode: string) =>
    mode === "ask"
      ? "In the mode “ask”, a person is asked about each change of a file that is allowed here."
      : `The mode of runs that name none is “${mode}”.`,
  filePermissions: "Rules for files",
  filePermissionsHint: "The first rule that fits decides. What fits none is allowed.",
  operations: "Operations",
  paths: "Paths",
  rule: "Rule",
  modes: { allow: "allowed", deny: "refused", interrupt: "asks" } as Readonly<Record<string, string>>,
  commandRules: "Rules for commands",
  sandbox: (kind: string) =>
    kind === "none"
      ? "Commands run without isolation, or there are none."
      : `Commands run in the sandbox “${kind}”.`,
  commandLists: { deny: "Refused", ask: "Always asked about", allow: "Run without a question" } as Readonly<
    Record<string, string>
  >,
  allowed: "Allowed by you in this directory",
  allCalls: (tool: string) => `all calls of ${tool}`,
  beginsWith: (prefix: string) => `${prefix} …`,
  takeBack: "Ask again",
  takeBackOf: (rule: string) => `Ask again about ${rule}`,
  editHint: "Rules are in the settings files. Changes count from the next start of the server on.",

  mcpServers: "MCP servers",
  mcpHint: "A server of the project starts only after you trust it: deepwright mcp trust NAME",
  origins: { caller: "from the settings", user: "yours", project: "of the project" } as Readonly<
    Record<string, string>
  >,
  tools: (amount: number) => some(amount, "tool"),
  skills: "Skills",
  trusted: "trusted",
  untrusted: "not trusted: data for the agent, not instructions",

  memoryFiles: "Memory files",
  memoryHint:
    "Instructions for every thread. After a change of a file of the project, agree to it again: deepwright trust. Your own counts from the next start of the server on.",
  edit: "Edit",
  create: "Create",
  editOf: (action: string, path: string) => `${action} ${path}`,
  content: (path: string) => `Content of ${path}`,
  save: "Save",
  saved: "Saved",
  changedMeanwhile: "The file was changed meanwhile. Copy your text, then open it again.",
  review: "Review of threads",
  reviewHint:
    "A model reads the threads that were not reviewed yet and proposes a better AGENTS.md. It costs what a run costs, and changes nothing.",
  reviewButton: "Review threads",
  reviewing: "Reviewing threads…",
  reviewed: (threads: number) => `${some(threads, "thread")} reviewed.`,
  proposal: (path: string) => `Proposed change of ${path}`,
  accept: "Save this change",
  discard: "Discard",

  crons: "Schedules",
  noCrons: "No runs begin by the clock. Programs create them: client.crons.create",
  next: (moment: string) => `next: ${moment}`,
  paused: "paused",
  over: "over",
  pause: "Pause",
  resume: "Resume",
  remove: "Delete",
  removed: "The schedule is deleted.",
  cronOf: (action: string, schedule: string) => `${action}: ${schedule}`,
  onThread: "on one thread",

  webhook: "Address for runs of this page",
  webhookHint:
    "It gets a POST when a run ends or waits for you. This browser keeps it. Addresses of private networks are refused.",
  webhookInvalid: "This is not an http or https address.",
  deliveries: "Sent lately",
  noDeliveries: "Nothing was sent lately.",
  deliveryStates: { waiting: "will be tried again", delivered: "delivered", failed: "given up" } as Readonly<
    Record<string, string>
  >,
  attempts: (amount: number) => some(amount, "attempt"),
  answered: (status: number | null) => (status === null ? "no answer" : `answer ${status}`),
} as const;
