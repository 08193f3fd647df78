/** Settings of the machine that a server runs on, for its one owner: what is set up, and why a call is asked about. */
import { z } from "zod";
import { allowRule, filePath } from "../thread-work.ts";
import { inDirectoryOf } from "../workspace.ts";

const permission = z.object({
  operations: z.array(z.enum(["read", "write"])),
  paths: z.array(z.string()).describe("Globs; `/` is the directory."),
  mode: z.enum(["allow", "deny", "interrupt"]),
});

const modelProvider = z.object({
  name: z.string().describe("As written before the colon of `provider:model`."),
  key: z.string().describe("The variable that holds its key. The value is never given."),
  is_present: z.boolean(),
  model: z.string().optional().describe("The model that is used without another choice."),
});

const modelServer = z.object({
  title: z.string(),
  url: z.string(),
  models: z.array(z.string()).nullable().describe("null: nothing answers there."),
});

const mcpServer = z.object({
  name: z.string(),
  origin: z.enum(["caller", "user", "project"]),
  state: z.string().describe("`ready`, `untrusted`, `disabled` or a state of the connection."),
  problem: z.string().optional(),
  tools: z.array(z.string()),
});

const skill = z.object({
  name: z.string(),
  description: z.string(),
  path: z.string(),
  is_trusted: z.boolean().describe("False: the agent reads it as data."),
});

export const memoryFile = z.object({
  path: z.string().describe("For the routes of memory files."),
  shown_path: z.string().describe("Where it lies, for people."),
  is_there: z.boolean(),
  is_trusted: z.boolean().describe("False: the agent reads it as data."),
});
export type MemoryFile = z.infer<typeof memoryFile>;

export const hostSettings = z.object({
  directory: z.string().describe("The directory that the agent works in."),
  model: z.string().describe("The model of the agent, and why it was chosen."),
  providers: z.array(modelProvider),
  model_servers: z.array(modelServer).describe("Model servers of this machine."),
  approval_mode: z.string().describe("Of runs that name none."),
  sandbox: z.string().describe("Where commands run; `none`: without isolation, or there are none."),
  permissions: z.array(permission).describe("The first that fits decides."),
  commands: z.object({
    allow: z.array(z.string()),
    ask: z.array(z.string()),
    deny: z.array(z.string()),
  }),
  allowed: z.array(allowRule).describe("Calls that a person allowed in this directory from then on."),
  settings_files: z.array(z.object({ path: z.string(), is_there: z.boolean(), is_trusted: z.boolean() })),
  mcp_servers: z.array(mcpServer),
  skills: z.array(skill),
  memory: z.array(memoryFile),
});
export type HostSettings = z.infer<typeof hostSettings>;

export const explainCall = z
  .object({
    path: filePath.optional(),
    operation: z.enum(["read", "write"]).optional().describe("For `path`. Default: `read`."),
    command: z.string().min(1).max(10_000).optional(),
  })
  .refine(({ path, command }) => (path === undefined) !== (command === undefined), {
    message: "name a path or a command",
  });
export type ExplainCall = z.infer<typeof explainCall>;

export const callExplanation = z.object({
  decision: z.enum(["allow", "ask", "deny"]),
  reason: z.string().describe("The rule that decides, as a sentence."),
});
export type CallExplanation = z.infer<typeof callExplanation>;

export const memoryQuery = inDirectoryOf.extend({ path: filePath });

export const memoryProposals = z.object({
  status: z.enum(["none", "working", "done", "failed"]),
  message: z.string().describe("How the review ended, in a sentence; empty while it works."),
  conversations: z.number().int().min(0).describe("Threads that were reviewed."),
  files: z.array(z.object({ path: z.string(), before: z.string(), after: z.string() })),
});
export type MemoryProposals = z.infer<typeof memoryProposals>;

export const webhookDeliveries = z.object({
  webhooks: z
    .array(
      z.object({
        run_id: z.string(),
        host: z.string().describe("Of the address. The rest of it may be a secret."),
        status: z.enum(["waiting", "delivered", "failed"]),
        attempts: z.number().int().min(0),
        answer: z.number().int().nullable().describe("The status of the last answer; null: none came."),
      }),
    )
    .describe("The newest first, at most 50."),
});
export type WebhookDeliveries = z.infer<typeof webhookDeliveries>;
