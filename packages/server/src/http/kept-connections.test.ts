import { expect, test } from "vitest";
import { startServer } from "../server-for-tests.ts";
import { auth, raw } from "./raw-for-tests.ts";

test("connections are kept for longer than proxies rest on theirs, and do not hold up the end", async () => {
  const server = await startServer();
  try {
    const { headers } = await raw(server, "GET", "/ok", { ...auth, connection: "keep-alive" });
    expect(headers["keep-alive"]).toBe("timeout=75");
    const answer = await fetch(`${server.url}/ok`, { headers: auth });
    expect(await answer.json()).toEqual({ ok: true });
  } finally {
    const began = performance.now();
    await server.close();
    expect(performance.now() - began).toBeLessThan(30_000);
  }
});
