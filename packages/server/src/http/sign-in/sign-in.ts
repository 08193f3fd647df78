/** Signs browsers in: a one-time code becomes a session, which the browser keeps in a cookie. */
import { createHmac, randomBytes } from "node:crypto";
import type { Owner, TicketRecords } from "../../records/records.ts";
import { attemptsWith, RateLimit } from "../limits/rate-limit.ts";
import { Problem } from "../problems.ts";

/** How long a code may be used. */
const CODE_MS = 5 * 60_000;
/** How long a session lasts. */
export const SESSION_MS = 30 * 24 * 60 * 60_000;
/** A code cannot be guessed; this keeps the database from being asked without end. */
const ATTEMPTS = { burst: 20, perSecond: 0.5 };

export interface SignInOptions {
  readonly tickets: TicketRecords;
  /** The token of the server: with another token all codes and sessions are void. */
  readonly token: string;
  /** The owner of the sessions. */
  readonly owner: Owner;
}

export class SignIn {
  readonly #options: SignInOptions;
  readonly #attempts = new RateLimit(ATTEMPTS);

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  async newCode(): Promise<{ readonly code: string; readonly expires_at: string }> {
    const code = await this.#newTicket("code", CODE_MS);
    return { code, expires_at: new Date(Date.now() + CODE_MS).toISOString() };
  }

  /** Uses the code up and returns the secret of the new session. */
  async enter(code: string): Promise<string> {
    const { tickets } = this.#options;
    const hash = this.#hash(code);
    this.#attempts.take(attemptsWith(hash));
    // Looked up first: wrong codes take no turn among the writers of the database.
    const isKnown = (await tickets.get("code", hash)) !== undefined;
    if (!isKnown || (await tickets.take("code", hash)) === undefined)
      throw new Problem("UNAUTHENTICATED", "This code was used before, is too old, or is not a code.");
    return this.#newTicket("session", SESSION_MS);
  }

  async isSession(secret: string): Promise<boolean> {
    return (await this.#options.tickets.get("session", this.#hash(secret))) !== undefined;
  }

  async leave(secret: string): Promise<void> {
    await this.#options.tickets.remove("session", this.#hash(secret));
  }

  async #newTicket(kind: "code" | "session", ttlMs: number): Promise<string> {
    const secret = randomBytes(24).toString("base64url");
    const { tickets, owner } = this.#options;
    await tickets.put({ kind, hash: this.#hash(secret), owner, data: "{}" }, ttlMs);
    return secret;
  }

  #hash(secret: string): string {
    return createHmac("sha256", this.#options.token).update(secret, "utf8").digest("base64url");
  }
}
