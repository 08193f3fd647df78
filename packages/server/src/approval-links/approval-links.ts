/**
 * Links to one decision each, for webhooks and notifications. A link names the exact calls that wait: it is worth nothing
 * once they are decided, once it was used, or after its time. Its secret is derived from the key of the server, so that
 * nothing in the database opens it.
 */
import { createHash, createHmac } from "node:crypto";
import type { Interrupt } from "@deepwright/protocol";
import { ConfigurationError } from "deepwright";
import { isRecord } from "deepwright/check-options";
import { durationMs } from "deepwright/duration";
import { attemptsWith, RateLimit } from "../http/limits/rate-limit.ts";
import type { Owner, RunRecord, TicketRecords } from "../records/records.ts";

export interface ApprovalLinkOptions {
  /** The public address of the server's page, such as `https://agents.example.org`. */
  readonly url: string;
  /** Seconds a link may be used, at most 30 days. Default: a day. */
  readonly validFor?: number;
  /** Secrets of links are made with it. Default: the token of the server. All processes need the same one. */
  readonly secret?: string;
}

/** A link as the body of a webhook has it. */
export interface ApprovalLink {
  readonly interrupt_id: string;
  /** Names of the tools that would be called. */
  readonly calls: readonly string[];
  readonly expires_at: string;
}

/** The decision that a link is for. */
export interface LinkedDecision {
  readonly owner: Owner;
  readonly runId: string;
  readonly threadId: string;
  readonly interruptId: string;
  readonly callsHash: string;
  readonly expiresAt: string;
}

const DAY_S = 86_400;
/** A link cannot be guessed; this keeps the database from being asked without end. */
const ATTEMPTS = { burst: 100, perSecond: 2 };

export class ApprovalLinks {
  readonly #tickets: TicketRecords;
  readonly #key: string;
  readonly #base: string;
  readonly #validMs: number;
  readonly #attempts = new RateLimit(ATTEMPTS);

  constructor(tickets: TicketRecords, token: string | undefined, options: ApprovalLinkOptions) {
    const { url, validFor = DAY_S, secret = token } = options;
    if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw invalid("approvals.links.url must be the http or https address of the page.");
    if (!secret || secret.length < 16)
      throw invalid("approvals.links.secret must have at least 16 characters, as there is no token.");
    this.#tickets = tickets;
    this.#key = secret;
    this.#base = url.replace(/\/+$/, "");
    this.#validMs = durationMs("approvals.links.validFor", validFor, { unit: "seconds" });
    if (this.#validMs > 30 * DAY_S * 1_000)
      throw invalid("approvals.links.validFor must be at most 30 days.");
  }

  /** Makes a link for each question about calls when the run waits. Other questions need the page. */
  async make(
    run: RunRecord,
    interrupts: Readonly<Record<string, readonly Interrupt[]>>,
  ): Promise<ApprovalLink[]> {
    const expiresAt = new Date(Date.now() + this.#validMs).toISOString();
    const made: ApprovalLink[] = [];
    for (const { id, value } of Object.values(interrupts).flat()) {
      const calls = callsIn(value);
      if (id === undefined || calls.length === 0) continue;
      const about = { run_id: run.run_id, thread_id: run.thread_id, interrupt_id: id };
      const data = JSON.stringify({ ...about, calls: hashOf(calls), expires_at: expiresAt });
      const hash = this.#hash(this.#secret(run.run_id, id));
      await this.#tickets.put({ kind: "approval", hash, owner: run.owner, data }, this.#validMs);
      made.push({ interrupt_id: id, calls: calls.map(({ name }) => name), expires_at: expiresAt });
    }
    return made;
  }

  /** The part after `#` reaches no server and no log. The time in it is for the words of the page alone. */
  urlOf(runId: string, { interrupt_id: id, expires_at: expiresAt }: ApprovalLink): string {
    const seconds = Math.floor(Date.parse(expiresAt) / 1_000);
    return `${this.#base}/approve.html#${this.#secret(runId, id)}.${seconds}`;
  }

  /** The body of a webhook with its addresses, which are not stored. */
  bodyOf({ runId, body }: { readonly runId: string; readonly body: string }): string {
    if (!body.includes('"approval_links":[{')) return body;
    const told = JSON.parse(body) as { approval_links?: ApprovalLink[] };
    if (!Array.isArray(told.approval_links)) return body;
    const links = told.approval_links.map((link) => ({ ...link, url: this.urlOf(runId, link) }));
    return JSON.stringify({ ...told, approval_links: links });
  }

  /** Undefined: it was used, is too old, or is no link. */
  async find(secret: string): Promise<LinkedDecision | undefined> {
    const hash = this.#hash(secret);
    this.#attempts.take(attemptsWith(hash));
    const ticket = await this.#tickets.get("approval", hash);
    if (ticket === undefined) return undefined;
    const data = JSON.parse(ticket.data) as Record<string, string>;
    return {
      owner: ticket.owner,
      runId: data.run_id as string,
      threadId: data.thread_id as string,
      interruptId: data.interrupt_id as string,
      callsHash: data.calls as string,
      expiresAt: data.expires_at as string,
    };
  }

  /** Uses the link up while `work` runs. False: it was used already. If the work fails, the link is valid again. */
  async use(secret: string, work: () => Promise<unknown>): Promise<boolean> {
    const ticket = await this.#tickets.take("approval", this.#hash(secret));
    if (ticket === undefined) return false;
    try {
      await work();
    } catch (error) {
      const left = Date.parse((JSON.parse(ticket.data) as { expires_at: string }).expires_at) - Date.now();
      if (left > 0) await this.#tickets.put(ticket, left);
      throw error;
    }
    return true;
  }

  #secret(runId: string, interruptId: string): string {
    return this.#hmac(`approval link\0${runId}\0${interruptId}`);
  }

  #hash(secret: string): string {
    return this.#hmac(`approval ticket\0${secret}`);
  }

  #hmac(text: string): string {
    return createHmac("sha256", this.#key).update(text, "utf8").digest("base64url");
  }
}

export interface WaitingCall {
  readonly name: string;
  readonly args: unknown;
}

function callsIn(value: unknown): readonly WaitingCall[] {
  const { actionRequests } = isRecord(value) ? value : {};
  if (!Array.isArray(actionRequests)) return [];
  return actionRequests
    .filter(isRecord)
    .map(({ name, args }) => ({ name: String(name), args: isRecord(args) ? args : {} }));
}

/** The same for the same calls: databases keep the keys of arguments in any order. */
export function hashOf(calls: readonly WaitingCall[]): string {
  const plain = calls.map(({ name, args }) => ({ name, args }));
  return createHash("sha256").update(JSON.stringify(plain, sorted)).digest("base64url");
}

function sorted(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
