import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type ProviderServer, providerServer } from "../test-support/provider-server.ts";
import { endpoints } from "./endpoints.ts";

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

describe("endpoints", () => {
  it("Ollama's models that can call tools come first", async () => {
    server = await providerServer([], ["plain", "a-tools", "other"]);
    expect(await endpoints.ollama(server.url, 600_000)).toEqual(["a-tools", "plain", "other"]);
  });

  it("an OpenAI-compatible server lists its models", async () => {
    server = await providerServer([], ["one", "two"]);
    expect(await endpoints.openai(`${server.url}/v1`, "key")).toEqual(["one", "two"]);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer key");
  });

  it("nobody there is no error", async () => {
    expect(await endpoints.ollama("http://127.0.0.1:1", 600_000)).toBeUndefined();
    expect(await endpoints.openai("http://127.0.0.1:1/v1", undefined)).toBeUndefined();
  });

  it("a server that does not answer holds nothing up", async () => {
    const deaf = createServer(() => {});
    await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`;
    expect(await endpoints.ollama(url, 50)).toBeUndefined();
    deaf.closeAllConnections();
    deaf.close();
  });
});
