/**
 * Whether a request would be accepted by the providers, found out without asking them.
 *
 * The rules are those the APIs of Anthropic, OpenAI and Gemini enforce on what LangChain's packages
 * send them, and one of ours: results stand in call order.
 */
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { applyRules, PROVIDERS, type Provider, type Violation } from "./request-rules.ts";

export type { Provider, Violation } from "./request-rules.ts";

export interface CheckOptions {
  /** Providers whose rules apply beside the common ones. Default: all. */
  readonly providers?: readonly Provider[];
  /** Also require that every message has an id (see `checkIds`). Default false. */
  readonly ids?: boolean;
}

/** Violations of the rules that all providers share. */
export function checkRequest(messages: readonly BaseMessage[]): Violation[] {
  return applyRules(messages, (providers) => providers.length === PROVIDERS.length);
}

/** Violations of the common rules and of one provider's own. */
export function checkRequestFor(provider: Provider, messages: readonly BaseMessage[]): Violation[] {
  return applyRules(messages, (providers) => providers.includes(provider));
}

/**
 * Messages without an id of their own. No provider asks for this: it shows that ids were given before
 * anything was stored. System messages are exempt, since they are made for a request and not stored.
 */
export function checkIds(messages: readonly BaseMessage[]): Violation[] {
  const owner = new Map<string, number>();
  const violations: Violation[] = [];
  messages.forEach(({ id, type }, index) => {
    if (type === "system") return;
    const earlier = id ? owner.get(id) : undefined;
    if (!id) violations.push({ rule: "message-id", index, message: `the ${type} message has no id` });
    else if (earlier === undefined) owner.set(id, index);
    else
      violations.push({ rule: "message-id", index, message: `message #${earlier} has the id '${id}' too` });
  });
  return violations;
}

/** Throws a `RequestViolation` that lists every broken rule beside the messages it is about. */
export function assertValidRequest(messages: readonly BaseMessage[], options: CheckOptions = {}): void {
  const { providers = PROVIDERS, ids = false } = options;
  const violations = applyRules(
    messages,
    (owners) => owners.length === PROVIDERS.length || owners.some((owner) => providers.includes(owner)),
  );
  if (ids) violations.push(...checkIds(messages));
  if (violations.length > 0) throw new RequestViolation(messages, violations);
}

/** A request that a provider would refuse. */
export class RequestViolation extends Error {
  override readonly name = "RequestViolation";
  readonly violations: readonly Violation[];

  constructor(messages: readonly BaseMessage[], violations: readonly Violation[]) {
    const count = `${violations.length} ${violations.length === 1 ? "rule is" : "rules are"} broken`;
    const list = violations.map(({ rule, index, message }) => `  #${index} ${rule}: ${message}`);
    const heading = `${count} in a request of ${messages.length} messages:`;
    super([heading, ...list, "The messages:", ...transcript(messages, violations)].join("\n"));
    this.violations = violations;
  }
}

const NEIGHBOURS = 3;

/** The messages near a violation, one line each; the others are counted. */
function transcript(messages: readonly BaseMessage[], violations: readonly Violation[]): string[] {
  const lines: string[] = [];
  let skipped = 0;
  messages.forEach((message, index) => {
    if (violations.every((violation) => Math.abs(violation.index - index) > NEIGHBOURS)) skipped += 1;
    else {
      if (skipped > 0) lines.push(`  … ${skipped} more`);
      skipped = 0;
      lines.push(`  #${index} ${describe(message)}`);
    }
  });
  return skipped > 0 ? [...lines, `  … ${skipped} more`] : lines;
}

function describe(message: BaseMessage): string {
  const words = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
  const shown = JSON.stringify(words.length > 60 ? `${words.slice(0, 60)}…` : words);
  if (ToolMessage.isInstance(message)) return `tool ${message.tool_call_id} ${shown}`;
  if (!AIMessage.isInstance(message)) return `${message.type} ${shown}`;
  const calls = (message.tool_calls ?? []).map(({ name, id }) => ` → ${name}(${id ?? "no id"})`);
  const invalid = (message.invalid_tool_calls ?? []).map(({ name, id }) => ` → invalid ${name}(${id})`);
  return ["ai ", shown, ...calls, ...invalid].join("");
}
