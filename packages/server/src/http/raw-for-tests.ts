/** Requests as no browser would send them, to every route of the protocol's table. */
import { request as httpRequest } from "node:http";
import { fillPath, type Route, routes } from "@deepwright/protocol";
import { expect } from "vitest";
import { TOKEN } from "../server-for-tests.ts";

export interface Raw {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** As no browser would send it: any header, any path, byte by byte. */
export function raw(
  server: { readonly port: number },
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Raw> {
  return new Promise((done, fail) => {
    const sent = httpRequest({
      host: "127.0.0.1",
      port: server.port,
      method,
      path,
      headers: {
        ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
        ...headers,
      },
      setHost: !("host" in headers),
      // A connection of its own: one that was kept may be closed by the other side just then.
      agent: false,
    });
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece) => {
        text += piece;
      });
      answer.on("end", () => done({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

export const SAMPLE = {
  thread_id: "t1",
  other_thread_id: "t2",
  run_id: "r1",
  assistant_id: "a1",
  cron_id: "c1",
  checkpoint_id: "p1",
  interrupt_id: "i1",
  namespace: "n1",
};
export const auth = { authorization: `Bearer ${TOKEN}` };
export const json = { "content-type": "application/json" };
export const all = routes as readonly Route[];
export const pathOf = ({ path }: Route, ids: Record<string, string> = SAMPLE) => fillPath(path, ids);
export const needsBody = ({ method }: Route) => method !== "GET";

/** Typed JSON, and nothing of the machine in it. */
export function expectProblem(answer: Raw, ...statuses: number[]) {
  expect(statuses, answer.text).toContain(answer.status);
  const body = JSON.parse(answer.text);
  expect(body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  expect(answer.text).not.toMatch(/\bat \S+ \(|node_modules|\.ts:\d/);
  for (const secret of [process.cwd(), TOKEN, "server.db"]) expect(answer.text).not.toContain(secret);
}

/** Input refused before it is a request has no body. */
export function expectProblemOrNone(answer: Raw, ...statuses: number[]) {
  if (answer.text === "") expect(statuses).toContain(answer.status);
  else expectProblem(answer, ...statuses);
}
