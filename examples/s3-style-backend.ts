/** Files as objects in a bucket: list, get, conditional put and delete make a whole backend. */
import { fileURLToPath } from "node:url";
import { type BackendProtocol, backendFromPrimitives, createDeepAgent, type FileInfo } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { startObjectServer } from "./support/object-server.ts";

interface Page {
  readonly entries: readonly { key?: string; prefix?: string; size?: number; modified?: string }[];
  readonly next?: string;
}

/** `bucket` is its URL; `/notes/a.md` is the object `notes/a.md`. */
export function objectStoreBackend(bucket: string): BackendProtocol {
  const urlOf = (path: string) => bucket + path.split("/").map(encodeURIComponent).join("/");
  return backendFromPrimitives({
    async *list(prefix, { shallow, signal }): AsyncGenerator<FileInfo> {
      for (let after: string | undefined = ""; after !== undefined; ) {
        const delimiter = shallow ? "/" : "";
        const query = new URLSearchParams({ prefix: prefix.slice(1), delimiter, after });
        const response = await expected(fetch(`${bucket}/?${query}`, { signal }), 200);
        const page = (await response.json()) as Page;
        for (const { key, prefix: directory, size, modified } of page.entries)
          yield key === undefined
            ? { path: `/${directory}`, is_dir: true }
            : { path: `/${key}`, size, modified_at: modified };
        after = page.next;
      }
    },
    async get(path, { signal }) {
      const response = await expected(fetch(urlOf(path), { signal }), 200, 404);
      if (response.status === 404) return undefined;
      const modified_at = new Date(response.headers.get("last-modified") ?? 0).toISOString();
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { bytes, version: response.headers.get("etag") ?? "", modified_at };
    },
    async put(path, bytes, { ifAbsent, ifVersion, signal }) {
      const headers = new Headers();
      if (ifAbsent) headers.set("if-none-match", "*");
      if (ifVersion) headers.set("if-match", ifVersion);
      const body = Uint8Array.from(bytes);
      const request = fetch(urlOf(path), { method: "PUT", body, headers, signal });
      return (await expected(request, 200, 412)).ok;
    },
    remove: (path, { signal }) => expected(fetch(urlOf(path), { method: "DELETE", signal }), 204),
  });
}

/** Any other status is a broken store, which is thrown. */
async function expected(request: Promise<Response>, ...statuses: number[]): Promise<Response> {
  const response = await request;
  if (!statuses.includes(response.status)) throw new Error(`The store answered ${response.status}`);
  return response;
}

async function main(): Promise<void> {
  const server = await startObjectServer();
  const model = scriptedModel([
    callTool("write_file", { file_path: "/notes/a.md", content: "one\ntwo\n" }),
    callTool("edit_file", { file_path: "/notes/a.md", old_string: "two", new_string: "three" }),
    callTool("grep", { pattern: "three" }),
    "Done.",
  ]);
  const agent = createDeepAgent({ model, backend: objectStoreBackend(server.url) });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Keep notes." }] });
  console.log(messages.at(-2)?.text);
  console.log(await (await fetch(`${server.url}/notes/a.md`)).text());
  await server.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
