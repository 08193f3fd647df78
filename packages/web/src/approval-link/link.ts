/** The link in the address, and what the server says about it. */
import { ProtocolError } from "@deepwright/protocol/live";
import { type CallQuestion, type Decision, questionOf } from "../approvals/questions.ts";
import { call } from "../state/connection.ts";

export interface Link {
  readonly secret: string;
  /** By the clock of this device; for words alone. */
  readonly isOld: boolean;
}

/** Undefined: the address holds no link. */
export function readLink(hash: string): Link | undefined {
  const [, secret, seconds] = /^#([\w-]{20,200})\.(\d+)$/.exec(hash) ?? [];
  return secret === undefined ? undefined : { secret, isOld: Number(seconds) * 1_000 < Date.now() };
}

export interface LinkedCall extends CallQuestion {
  readonly warnings: readonly string[];
}

export type LinkState =
  | {
      readonly kind: "waiting";
      readonly calls: readonly LinkedCall[];
      readonly agents: readonly string[];
      readonly since: string;
      readonly until: string;
    }
  | { readonly kind: "answered" | "used" | "expired" | "incomplete" }
  | { readonly kind: "done"; readonly decisions: readonly Decision[] };

interface Answer {
  readonly status: "waiting" | "answered";
  readonly calls: readonly {
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly description?: string;
    readonly allowed_decisions: readonly string[];
    readonly args_schema?: unknown;
    readonly warnings: readonly string[];
  }[];
  readonly agent_path?: readonly string[];
  readonly waiting_since: string;
  readonly expires_at: string;
}

export async function lookAt(link: Link): Promise<LinkState> {
  try {
    const body = { link: link.secret };
    const answer = await call<Answer>("POST", "/approval-links/read", { body });
    if (answer.status === "answered") return { kind: "answered" };
    return {
      kind: "waiting",
      agents: answer.agent_path ?? [],
      since: answer.waiting_since,
      until: answer.expires_at,
      calls: questionOf({ id: "", value: requestOf(answer) }).calls.map((one, at) => ({
        ...one,
        warnings: answer.calls[at]?.warnings ?? [],
      })),
    };
  } catch (error) {
    if (error instanceof ProtocolError && error.status === 404)
      return { kind: link.isOld ? "expired" : "used" };
    throw error;
  }
}

/** The calls in the form of a question of an agent. */
function requestOf({ calls }: Answer) {
  return {
    actionRequests: calls.map(({ name, args, description }) => ({ name, args, description })),
    reviewConfigs: calls.map(({ name, allowed_decisions: allowedDecisions, args_schema: argsSchema }) => ({
      actionName: name,
      allowedDecisions,
      argsSchema,
    })),
  };
}

export async function decide(link: Link, decisions: readonly Decision[]): Promise<LinkState> {
  try {
    await call("POST", "/approval-links/decide", { body: { link: link.secret, decisions } });
    return { kind: "done", decisions };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    if (error.code === "NOTHING_TO_RESUME") return { kind: "answered" };
    if (error.status === 404) return { kind: link.isOld ? "expired" : "used" };
    throw error;
  }
}
