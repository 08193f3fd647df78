/**
 * Enforces approval modes: a gate asks people, and a guard in front of every tool refuses calls that the mode forbids.
 * The terminal, pages and editors use the same modes.
 */
import { ToolMessage } from "@langchain/core/messages";
import { type InterruptOnConfig, toolEffect } from "deepwright";
import {
  type AllowRule,
  type ApprovalMode,
  allows,
  isApprovalMode,
  rulesIn,
  verdictOf,
} from "./approval-mode.ts";

/** The key of `config.configurable` that clients name a mode with. */
export const APPROVAL_MODE_KEY = "approval_mode";

/** The key of `config.configurable` with the rules of a thread. */
export const APPROVAL_RULES_KEY = "approval_rules";

export interface ApprovalModesOptions {
  /** The mode of threads without one. Default `ask`. */
  readonly initial?: ApprovalMode;
  /** Whether commands run in a sandbox. */
  readonly isContained: boolean;
  /** The words of a plain command; undefined for one with pipes, variables or the like. */
  readonly wordsOf?: (command: string) => Promise<readonly string[] | undefined>;
  /** Permissions that were given before. */
  readonly rules?: readonly AllowRule[];
  /** Keeps a permission for later processes. Absent: rules of a project are not offered. */
  readonly save?: (rule: AllowRule) => Promise<void>;
}

type Gates = Readonly<Record<string, InterruptOnConfig>>;

interface CallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: Record<string, unknown> };
  readonly tool?: unknown;
  readonly runtime: { readonly configurable?: Record<string, unknown> };
  readonly state: unknown;
}

/** Calls of our own tools that only organise the work. */
const ORGANISING: ReadonlySet<string> = new Set(["write_todos", "task"]);
const MOST_REFUSED = 1_000;

export class ApprovalModes {
  private readonly chosen = new Map<string, ApprovalMode>();
  private readonly allowed: AllowRule[];
  /** Calls that a mode refused before they reached their tool; a later change of mode must not run them. */
  private readonly refused = new Set<string>();
  private gates: Gates = {};

  constructor(private readonly options: ApprovalModesOptions) {
    this.allowed = [...(options.rules ?? [])];
  }

  /** The mode of a thread; `configured` is the mode that its run was started with. */
  modeOf(threadId: string, configured?: unknown): ApprovalMode {
    const given = isApprovalMode(configured) ? configured : undefined;
    return this.chosen.get(threadId) ?? given ?? this.options.initial ?? "ask";
  }

  /** Counts from the next call on, also in a run that is at work. */
  set(threadId: string, mode: ApprovalMode): void {
    this.chosen.set(threadId, mode);
  }

  get rules(): readonly AllowRule[] {
    return this.allowed;
  }

  allow(rule: AllowRule): void {
    this.allowed.push(rule);
  }

  get savesRules(): boolean {
    return this.options.save !== undefined;
  }

  /** Allows it in all threads, also of later processes. */
  async remember(rule: AllowRule): Promise<void> {
    await this.options.save?.(rule);
    this.allow(rule);
  }

  forget(rule: AllowRule): void {
    const index = this.allowed.indexOf(rule);
    if (index !== -1) this.allowed.splice(index, 1);
  }

  /** `interruptOn` for an agent: the gates it has, as the mode of the thread sees them. */
  gate(gates: Gates): Gates {
    this.gates = { ...this.gates, ...gates };
    return Object.fromEntries(
      Object.entries(gates).map(([tool, config]) => [
        tool,
        { ...config, when: (request: CallRequest) => this.asks(request, config) },
      ]),
    );
  }

  /** Middleware for the agent and all of its subagents. */
  readonly guard = {
    name: "ApprovalModeMiddleware",
    modes: this as ApprovalModes,
    wrapModelCall: <Request extends ModelRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ): Result => {
      const { thread_id: threadId = "", [APPROVAL_MODE_KEY]: configured } =
        request.runtime.configurable ?? {};
      if (this.modeOf(String(threadId), configured) !== "plan") return handler(request);
      return handler({ ...request, systemMessage: request.systemMessage.concat(PLAN_PROMPT) });
    },
    wrapToolCall: async <Request extends CallRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ): Promise<Awaited<Result> | ToolMessage> => {
      const { id = "", name } = request.toolCall;
      const isRefused = this.refused.has(id) || (await this.verdict(request)) === "refuse";
      if (!isRefused) return await handler(request);
      return new ToolMessage({ content: REFUSED, tool_call_id: id, name, status: "error" });
    },
  };

  private async asks(request: CallRequest, gate: InterruptOnConfig): Promise<boolean> {
    const verdict = await this.verdict(request, gate);
    if (verdict === "refuse") this.noteRefused(request.toolCall.id);
    return verdict === "ask";
  }

  private async verdict(request: CallRequest, gate = this.gateOf(request.toolCall.name)) {
    const { name, args } = request.toolCall;
    const {
      thread_id,
      [APPROVAL_MODE_KEY]: configured,
      [APPROVAL_RULES_KEY]: given,
    } = request.runtime.configurable ?? {};
    const threadId = String(thread_id ?? "");
    const rules = [...this.allowed, ...(rulesIn(given) ?? [])];
    const declared = ORGANISING.has(name) ? "reads" : toolEffect(request.tool);
    const effect = declared === "unknown" ? (EFFECTS.get(name) ?? declared) : declared;
    const mode = this.modeOf(threadId, configured);
    const asks =
      gate !== undefined && (gate.when === undefined || (await gate.when(request as never)) !== false);
    const verdict = verdictOf(mode, {
      effect,
      // A gate that does not ask about this call knows that it is harmless.
      isHarmless: gate?.when !== undefined && !asks,
      isContained: effect === "commands" && this.options.isContained,
      // Reading a web page sends its address to a foreign server. Such a tool has a gate of its own, which counts in
      // every mode.
      asksToRead: effect === "reads" && asks,
    });
    if (verdict !== "ask") return verdict;
    const command = effect === "commands" ? String(args.command) : undefined;
    const words = command === undefined ? undefined : await this.options.wordsOf?.(command);
    return rules.some((rule) => allows(rule, { tool: name, threadId, words })) ? "run" : "ask";
  }

  private gateOf(tool: string): InterruptOnConfig | undefined {
    const prefix = Object.keys(this.gates)
      .filter((name) => name.endsWith("*") && tool.startsWith(name.slice(0, -1)))
      .sort((a, b) => b.length - a.length)[0];
    return this.gates[tool] ?? (prefix === undefined ? undefined : this.gates[prefix]);
  }

  private noteRefused(id: string | undefined): void {
    if (id === undefined) return;
    this.refused.add(id);
    for (const first of this.refused) {
      if (this.refused.size <= MOST_REFUSED) break;
      this.refused.delete(first);
    }
  }
}

interface ModelRequest {
  readonly runtime: { readonly configurable?: Record<string, unknown> };
  readonly systemMessage: { concat(text: string): unknown };
}

/** Effects of our own tools, for requests that come without the tool. */
const EFFECTS = new Map([
  ["write_file", "files"],
  ["edit_file", "files"],
  ["delete", "files"],
  ["execute", "commands"],
  ...["ls", "read_file", "glob", "grep"].map((name) => [name, "reads"] as const),
] as const);

/** The answer to the model for a call that plan mode refuses. */
const REFUSED =
  "Error: Plan mode: this call did not run. Only looking is possible now. Finish with a plan; a person approves it before anything changes.";

const PLAN_PROMPT = `

## Plan mode

Only looking is possible now: changes of files and commands that do more than look are refused. Look at what you need, then end with a plan: the steps, the files each of them changes, and how to check the result. A person approves the plan before anything is changed.`;
