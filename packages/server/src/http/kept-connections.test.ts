import { expect, test } from "vitest";
import { withinLimit } from "../../../../scripts/test-time.ts";
import { startServer } from "../server-for-tests.ts";
import { auth, raw } from "./raw-for-tests.ts";

test("connections are kept for longer than proxies rest on theirs, and do not hold up the end", async () => {
  await withinLimit("a server closes whose clients keep their connections", async () => {
    const server = await startServer();
    try {
      const { headers } = await raw(server, "GET", "/ok", { ...auth, connection: "keep-alive" });
      expect(headers["keep-alive"]).toBe("timeout=75");
      const answer = await fetch(`${server.url}/ok`, { headers: auth });
      expect(await answer.json()).toEqual({ ok: true });
    } finally {
      await server.close();
    }
  });
});
