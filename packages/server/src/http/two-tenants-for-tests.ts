/** A server with two tenants, on SQLite or Postgres. */
import { onTestFinished } from "vitest";
import { testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { echoAgent, PROMPT, startServer, type TestAnswer, type TestServer } from "../server-for-tests.ts";

export type Ask = (method: string, path: string, body?: unknown) => Promise<TestAnswer>;

export interface TwoTenants {
  readonly server: TestServer;
  readonly alice: Ask;
  readonly bob: Ask;
}

const NO_LIMIT = { burst: 1e9, perSecond: 1e9 };

export async function twoTenants(
  place: "SQLite" | "Postgres",
  agents: Readonly<Record<string, object>> = {},
): Promise<TwoTenants> {
  const database = place === "Postgres" ? await testDatabase() : undefined;
  const server = await startServer({
    agents: { echo: echoAgent(), ...agents },
    authenticate: (request) => ({ identity: request.headers.get("x-who") ?? "nobody" }),
    onError: () => {},
    runs: PROMPT,
    limits: { runs: NO_LIMIT, requests: NO_LIMIT },
    ...(database && { database: database.url }),
  });
  onTestFinished(async () => {
    await server.close();
    await database?.drop();
  });
  const as =
    (who: string): Ask =>
    (method, path, body) =>
      server.call(method, path, body, { "x-who": who });
  return { server, alice: as("alice"), bob: as("bob") };
}

/** The body of a run. */
export const saying = (content: string) => ({
  assistant_id: "echo",
  input: { messages: [{ role: "user", content }] },
});

/** The next call of a method goes through `around`; those behind it do not. */
export function once<Method extends string, Target extends Record<Method, (...given: any[]) => Promise<any>>>(
  target: Target,
  method: Method,
  around: (call: () => Promise<any>, given: readonly any[]) => Promise<any>,
): void {
  const original = target[method];
  const isOwn = Object.hasOwn(target, method);
  target[method] = (async (...given: unknown[]) => {
    if (isOwn) target[method] = original;
    else delete (target as Partial<Target>)[method];
    return around(() => original.apply(target, given as never), given);
  }) as Target[Method];
}
