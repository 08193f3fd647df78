import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { PROMPT, startServer, type TestServer } from "../server-for-tests.ts";

/** Writes a file for each word of the message, and says which words a person gave. */
function writingAgent() {
  const model = scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") return say(`done: ${last.text}`);
      const calls = String(last?.text ?? "")
        .split(" ")
        .flatMap(
          (name) => callTool("write_file", { file_path: `/${name}.md`, content: "x" }).toolCalls ?? [],
        );
      return { toolCalls: calls };
    },
    { record: false },
  );
  return createDeepAgent({ model, interruptOn: { write_file: true } });
}

let server: TestServer;
let receiver: Server;
let hook: string;
const heard: Record<string, any>[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    heard.push(JSON.parse(body));
    response.end();
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  server = await startServer({
    agents: { writing: writingAgent() },
    approvals: { links: { url: "https://agents.example.org/" } },
    runs: { ...PROMPT, webhooks: { allowPrivate: true } },
  });
});
afterAll(async () => {
  await server.close();
  receiver.close();
});

interface Waiting {
  readonly threadId: string;
  readonly interruptId: string;
  readonly url: string;
  readonly link: string;
}

async function waiting(words: string, to = server): Promise<Waiting> {
  const { thread_id: threadId } = (await to.call("POST", "/threads", {})).body;
  await to.call("POST", `/threads/${threadId}/runs/wait`, {
    assistant_id: "writing",
    input: { messages: [{ role: "user", content: words }] },
    webhook: hook,
  });
  await until(() => heard.some((one) => one.thread_id === threadId));
  const told = heard.find((one) => one.thread_id === threadId);
  const [{ url = "", interrupt_id: interruptId = "" } = {}] = told?.approval_links ?? [];
  return { threadId, interruptId, url, link: /#([\w-]+)\.\d+$/.exec(url)?.[1] as string };
}

/** Without a token, as a person with the link asks. */
async function open(what: "read" | "decide", body: object, to = server) {
  const response = await fetch(`${to.url}/approval-links/${what}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const approve = (link: string, decisions: object[] = [{ type: "approve" }]) =>
  open("decide", { link, decisions });
const statusOf = async (threadId: string) => (await server.call("GET", `/threads/${threadId}`)).body.status;

test("a webhook carries a link that shows the calls to whoever has it; the decision uses it up, opening does not", async () => {
  const { threadId, link, url } = await waiting("one");
  expect(url).toMatch(/^https:\/\/agents\.example\.org\/approve\.html#/);
  for (let time = 0; time < 2; time += 1)
    expect(await open("read", { link })).toMatchObject({
      status: 200,
      body: {
        status: "waiting",
        calls: [
          {
            name: "write_file",
            args: { file_path: "/one.md" },
            allowed_decisions: ["approve", "reject", "respond"],
          },
        ],
      },
    });
  expect((await approve(link)).status).toBe(204);
  await expect.poll(() => statusOf(threadId)).toBe("idle");
  expect((await approve(link)).status).toBe(404);
  expect((await open("read", { link })).status).toBe(404);
  const { body } = await server.call("GET", `/threads/${threadId}/files`);
  expect(body.files).toMatchObject([{ path: "/one.md" }]);
});

test("a link decides about the calls as they are: it edits none, remembers nothing, and leaves none out", async () => {
  const { threadId, link } = await waiting("two three");
  const refused: readonly object[][] = [
    [{ type: "approve" }],
    [{ type: "approve" }, { type: "approve", remember: "thread" }],
    [{ type: "approve" }, { type: "approve", allow: { tool: "write_file", scope: "thread" } }],
    [{ type: "approve" }, { type: "edit", editedAction: { name: "write_file", args: {} } }],
  ];
  for (const decisions of refused) expect((await approve(link, decisions)).status).toBe(400);
  const made = [{ type: "reject", message: "Not this one." }, { type: "approve" }];
  expect((await approve(link, made)).status).toBe(204);
  await expect.poll(() => statusOf(threadId)).toBe("idle");
  const { body } = await server.call("GET", `/threads/${threadId}/files`);
  expect(body.files).toMatchObject([{ path: "/three.md" }]);
});

test("a link is worth nothing once its calls were answered elsewhere, also where others wait in their place", async () => {
  const { threadId, interruptId, link } = await waiting("four");
  await server.call("POST", `/threads/${threadId}/interrupts/${interruptId}`, {
    value: { decisions: [{ type: "approve" }] },
  });
  await expect.poll(() => statusOf(threadId)).toBe("idle");
  expect(await open("read", { link })).toMatchObject({ status: 200, body: { status: "answered" } });
  expect(await approve(link)).toMatchObject({ status: 409, body: { code: "NOTHING_TO_RESUME" } });
  await server.call("POST", `/threads/${threadId}/runs/wait`, {
    assistant_id: "writing",
    input: { messages: [{ role: "user", content: "five" }] },
  });
  expect((await open("read", { link })).body).toEqual({ status: "answered" });
  expect((await approve(link)).status).toBe(409);
});

test("a link decides nothing while its thread is in the trash", async () => {
  const { threadId, link } = await waiting("ten");
  await server.call("PATCH", `/threads/${threadId}`, { trashed: true });
  expect((await open("read", { link })).body).toEqual({ status: "answered" });
  expect((await approve(link)).status).toBe(409);
  await server.call("PATCH", `/threads/${threadId}`, { trashed: false });
  expect((await approve(link)).status).toBe(204);
});

test("of decisions at once one counts", async () => {
  const { threadId, link } = await waiting("six");
  const all = await Promise.all(Array.from({ length: 6 }, () => approve(link)));
  expect(all.filter(({ status }) => status === 204)).toHaveLength(1);
  expect(all.filter(({ status }) => status !== 204 && status !== 404 && status !== 409)).toEqual([]);
  await expect.poll(() => statusOf(threadId)).toBe("idle");
});

test("guesses of others do not keep a link from being opened", async () => {
  const { link } = await waiting("nine");
  const guesses = Array.from({ length: 150 }, (_, i) => open("read", { link: `${i}`.padEnd(43, "a") }));
  expect((await Promise.all(guesses)).every(({ status }) => status === 404)).toBe(true);
  expect(await open("read", { link })).toMatchObject({ status: 200, body: { status: "waiting" } });
});

test("links are not guessed, end with their time, and open nothing with the token of another server", async () => {
  expect((await open("read", { link: "a".repeat(43) })).status).toBe(404);
  expect((await open("read", { link: "short" })).status).toBe(400);
  const brief = await startServer({
    agents: { writing: writingAgent() },
    approvals: { links: { url: "https://agents.example.org", validFor: 0.001 } },
    runs: { ...PROMPT, webhooks: { allowPrivate: true } },
  });
  try {
    const { link } = await waiting("seven", brief);
    expect((await open("read", { link }, brief)).status).toBe(404);
    expect((await open("decide", { link, decisions: [{ type: "approve" }] }, brief)).status).toBe(404);
  } finally {
    await brief.close();
  }
  const plain = await startServer();
  try {
    expect((await open("read", { link: "a".repeat(43) }, plain)).body.code).toBe("NOT_SUPPORTED");
  } finally {
    await plain.close();
  }
});

test("the secret of a link is not in the database while its webhook waits", async () => {
  const { link, threadId } = await waiting("eight");
  const { readFile, readdir } = await import("node:fs/promises");
  for (const name of await readdir(server.directory))
    expect((await readFile(`${server.directory}/${name}`)).includes(link)).toBe(false);
  expect(await statusOf(threadId)).toBe("interrupted");
});

test.each([
  ["an address that is none", { url: "agents" }],
  ["a link for a year", { url: "https://a.example", validFor: 31_536_000 }],
])("%s ends the start", async (_, links) => {
  await expect(startServer({ approvals: { links } })).rejects.toMatchObject({ code: "INVALID_OPTION" });
});
