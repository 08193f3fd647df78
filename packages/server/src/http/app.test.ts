import { Client } from "@langchain/langgraph-sdk";
import { createDeepAgent } from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { echoAgent, startServer } from "../server-for-tests.ts";
import { type AppOptions, createApp } from "./app.ts";

async function withApp<T>(
  options: Partial<AppOptions>,
  work: (app: Awaited<ReturnType<typeof createApp>>) => Promise<T>,
): Promise<T> {
  const app = await createApp({
    agents: { echo: echoAgent() },
    drainMs: 1_000,
    limits: { answerMs: 600_000 },
    ...options,
  });
  try {
    return await work(app);
  } finally {
    await app.close();
    await app.close();
  }
}

test("a client in the same process needs no port", async () => {
  await withApp({}, async ({ fetch, token }) => {
    const client = new Client({
      apiUrl: "http://localhost",
      apiKey: token as string,
      callerOptions: { fetch: ((url: string, init: RequestInit) => fetch(new Request(url, init))) as never },
    });
    const values = await client.runs.wait(null, "echo", {
      input: { messages: [{ role: "user", content: "hi" }] },
    });
    expect((values as { messages: { content: string }[] }).messages.at(-1)?.content).toBe("echo: hi");
    expect((await fetch(new Request("http://localhost/ok"))).status).toBe(401);
    expect((await fetch(new Request("http://evil.com/ok"))).status).toBe(403);
  });
});

test("an agent may be made when it is first wanted, and failing to is told without its words", async () => {
  let made = 0;
  const errors: unknown[] = [];
  const agents = {
    lazy: () => {
      made++;
      return echoAgent();
    },
    broken: () => {
      throw new Error("secret of /etc/hosts");
    },
  };
  await withApp({ agents, onError: (error) => errors.push(error) }, async ({ fetch, token }) => {
    const ask = (path: string) =>
      fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } }));
    expect(made).toBe(0);
    expect((await ask("/assistants/lazy/graph")).status).toBe(200);
    expect((await ask("/assistants/lazy/schemas")).status).toBe(200);
    expect(made).toBe(1);
    const failed = await ask("/assistants/broken/graph");
    expect(failed.status).toBe(500);
    expect(await failed.json()).toEqual({
      code: "INTERNAL",
      message: "The server failed; its log says why.",
    });
    expect(String(errors[0])).toContain("secret");
  });
});

describe("agents that are made at the start", () => {
  const boss = (graphId: string) => () =>
    createDeepAgent({
      model: scriptedModel([]),
      subagents: [{ name: "helper", description: "Helps.", graphId }],
    });

  test("an async subagent whose graphId no agent of the server has fails the start, with the names there are", async () => {
    const agents = { boss: boss("nobody"), worker: echoAgent() };
    await expect(createApp({ agents, loadAgents: true })).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(/The agent 'boss' cannot be made\. .*'nobody'.*Known are: .*worker/s),
    });
    // Nothing of it is left: the names are free.
    await withApp(
      { agents: { boss: boss("worker"), worker: echoAgent() }, loadAgents: true },
      async () => {},
    );
  });

  test("a failure that may pass is told, and the agent is made when it is wanted", async () => {
    const errors: unknown[] = [];
    let made = 0;
    const agents = {
      flaky: () => {
        made++;
        if (made === 1) throw new Error("The network is down.");
        return echoAgent();
      },
    };
    await withApp(
      { agents, loadAgents: true, onError: (error) => errors.push(error) },
      async ({ fetch, token }) => {
        expect(String(errors[0])).toContain("network");
        const headers = { authorization: `Bearer ${token}` };
        const asked = new Request("http://localhost/assistants/flaky/graph", { headers });
        expect((await fetch(asked)).status).toBe(200);
      },
    );
  });

  test("serve does so by itself", async () => {
    const starting = startServer({ agents: { boss: boss("nobody") } });
    await expect(starting).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});

test("only /ok is open to everyone, and only when it is asked for", async () => {
  await withApp({ openHealth: true }, async ({ fetch }) => {
    expect((await fetch(new Request("http://localhost/ok"))).status).toBe(200);
    expect((await fetch(new Request("http://localhost/info"))).status).toBe(401);
    expect((await fetch(new Request("http://localhost/ok", { method: "POST" }))).status).toBe(401);
    const page = new Request("http://localhost/ok", { headers: { origin: "https://evil.com" } });
    expect((await fetch(page)).status).toBe(403);
  });
});

test("an identity that is none is nobody", async () => {
  for (const identity of ["", "a\0b", "x".repeat(300), undefined, 1])
    await withApp({ authenticate: () => ({ identity }) as never }, async ({ fetch }) => {
      expect((await fetch(new Request("http://localhost/info"))).status).toBe(401);
    });
  const fails = () => Promise.reject(new Error("the directory of users is away"));
  await withApp({ authenticate: fails }, async ({ fetch }) => {
    expect((await fetch(new Request("http://localhost/info"))).status).toBe(401);
  });
});

test("a token that can be guessed is refused", async () => {
  await expect(createApp({ agents: {}, token: "short" })).rejects.toThrow(/at least 16/);
});

test("a server that closes sends everyone elsewhere", async () => {
  const app = await createApp({ agents: { echo: echoAgent() } });
  await app.close();
  const headers = { authorization: `Bearer ${app.token}` };
  for (const path of ["/ok", "/threads/t1", "/assistants/echo"]) {
    const answer = await app.fetch(new Request(`http://localhost${path}`, { headers }));
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("1");
  }
});

test("the reference of the routes is given as OpenAPI, to those with a token", async () => {
  await withApp({}, async ({ fetch, token }) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(new Request("http://localhost/openapi.json", { headers }));
    expect(answer.status).toBe(200);
    const document = (await answer.json()) as { openapi: string; paths: Record<string, object> };
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths["/threads/{thread_id}/runs"] ?? {})).toEqual(["post", "get"]);
    expect((await fetch(new Request("http://localhost/openapi.json"))).status).toBe(401);
  });
});
