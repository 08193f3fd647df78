/** As much of an object store as the example needs: objects by key, entity tags, conditions, listings in pages. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface StoredObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly modified: Date;
}

const PAGE = 500;

export interface ObjectServer {
  /** Objects are at `${url}/key`, the listing is `${url}/`. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startObjectServer(): Promise<ObjectServer> {
  const objects = new Map<string, StoredObject>();
  const server = createServer((request, response) => {
    answer(objects, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  objects: Map<string, StoredObject>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const key = decodeURIComponent(url.pathname.slice(1));
  if (request.method === "GET")
    return key === "" ? list(objects, url, response) : get(objects.get(key), response);
  if (request.method === "PUT") return put(objects, key, request, response);
  if (request.method === "DELETE") objects.delete(key);
  response.writeHead(request.method === "DELETE" ? 204 : 405).end();
}

function get(object: StoredObject | undefined, response: ServerResponse): void {
  if (object === undefined) return void response.writeHead(404).end();
  response
    .writeHead(200, { etag: object.etag, "last-modified": object.modified.toUTCString() })
    .end(object.bytes);
}

/** The condition is judged and the object put without anything in between. */
async function put(
  objects: Map<string, StoredObject>,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const existing = objects.get(key);
  const { "if-none-match": unless, "if-match": only } = request.headers;
  if ((unless === "*" && existing) || (only !== undefined && existing?.etag !== only))
    return void response.writeHead(412).end();
  const bytes = Buffer.concat(parts);
  const etag = `"${createHash("sha256").update(bytes).digest("hex")}"`;
  objects.set(key, { bytes, etag, modified: new Date() });
  response.writeHead(200, { etag }).end();
}

/** Keys in order, those with a delimiter after the prefix folded into one; `next` is where the next page begins. */
function list(objects: ReadonlyMap<string, StoredObject>, url: URL, response: ServerResponse): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const delimiter = url.searchParams.get("delimiter");
  const after = url.searchParams.get("after") ?? "";
  const entries = new Map<string, object>();
  for (const [key, { bytes, modified }] of objects) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    if (end === -1) entries.set(key, { key, size: bytes.length, modified: modified.toISOString() });
    else entries.set(key.slice(0, end + 1), { prefix: key.slice(0, end + 1) });
  }
  const names = [...entries.keys()].filter((name) => name > after).sort();
  const page = names.slice(0, PAGE);
  const next = names.length > PAGE ? page.at(-1) : undefined;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ entries: page.map((name) => entries.get(name)), next }));
}
