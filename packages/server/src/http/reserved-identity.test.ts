/** SV-06: the owner of a server with one token is no caller of one that tells them apart. */
import { createDeepAgent, StoreBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../server-for-tests.ts";

function filesModel() {
  return scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") return say(String(last.text));
      const [word, path = "", ...rest] = String(last?.text).split(" ");
      return word === "write"
        ? callTool("write_file", { file_path: path, content: rest.join(" ") })
        : callTool("read_file", { file_path: path });
    },
    { record: false },
  );
}

test("a caller that is called local is refused on every route, and the operator is told once", async () => {
  const errors: unknown[] = [];
  const server = await startServer({
    authenticate: ({ headers }) => ({ identity: headers.get("x-api-key") ?? "" }),
    onError: (error) => errors.push(error),
    agents: {
      byUser: createDeepAgent({
        model: filesModel(),
        backend: new StoreBackend({
          namespace: ({ serverInfo }) => [serverInfo?.user?.identity, "filesystem"],
        }),
      }),
      byDefault: createDeepAgent({ model: filesModel(), backend: new StoreBackend() }),
    },
  });
  onTestFinished(() => server.close());
  const as = (who: string, path: string, body: unknown) =>
    server.call("POST", path, body, { "x-api-key": who });
  const asks = (assistant: string, content: string) => ({
    assistant_id: assistant,
    input: { messages: [{ role: "user", content }] },
  });
  expect((await as("bob", "/runs/wait", asks("byUser", "write /secret.md bobs-secret"))).status).toBe(200);
  // Without a part of the store of its own, an assistant called as somebody else would have that one's files.
  const assistant = { graph_id: "byDefault", assistant_id: "bob" };
  const answers = [
    await as("local", "/assistants", assistant),
    await as("local", "/runs/wait", asks("bob", "read /secret.md")),
    await as("local", "/threads", {}),
    await as("local", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect(JSON.stringify(answer.body)).not.toContain("bobs-secret");
  }
  expect(errors).toEqual([expect.objectContaining({ code: "INVALID_OPTION" })]);
  expect(String((errors[0] as Error).message)).toContain("'local'");
  // Whoever is called nearly so has what everyone has.
  expect((await as("Local", "/assistants", assistant)).status).toBe(200);
  const read = await as("Local", "/runs/wait", asks("bob", "read /secret.md"));
  expect(JSON.stringify(read.body)).toContain("not found");
});

test("with the token the owner is local, as ever", async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  expect((await server.call("POST", "/threads", {})).status).toBe(200);
});
