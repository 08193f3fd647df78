/** The part of LangSmith's API that keeps agents of the context hub, on the loopback. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export const HUB_KEY = "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789";

type Entries = Record<string, Record<string, unknown>>;

interface Repository {
  entries: Entries;
  commit?: string;
}

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
}

export class HubServer {
  /** By `owner/name`. */
  readonly repositories = new Map<string, Repository>();
  /** Method and path, oldest first. */
  readonly requests: string[] = [];
  /** Called before a commit is taken, once. */
  beforeCommit: (() => void) | undefined;
  readonly #server: Server;
  #commits = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status = 200, body = {} }) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
    });
  }

  static async start(): Promise<HubServer> {
    const hub = new HubServer();
    await new Promise<void>((resolve) => hub.#server.listen(0, "127.0.0.1", resolve));
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get pulls(): number {
    return this.requests.filter((line) => /^GET .*\/directories$/.test(line)).length;
  }

  get commits(): number {
    return this.requests.filter((line) => line.endsWith("/directories/commits")).length;
  }

  /** A commit of somebody else. */
  commit(repository: string, files: Record<string, Entries[string] | null>): string {
    const { entries } = this.repositories.get(repository) ?? { entries: {} };
    const next = { ...entries };
    for (const [path, entry] of Object.entries(files))
      if (entry === null) delete next[path];
      else next[path] = entry;
    this.#commits += 1;
    const commit = createHash("sha256").update(String(this.#commits)).digest("hex");
    this.repositories.set(repository, { entries: next, commit });
    return commit;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { method = "", headers } = request;
    const { pathname } = new URL(request.url ?? "/", "http://hub");
    this.requests.push(`${method} ${pathname}`);
    const body = method === "POST" ? ((await json(request)) as Record<string, never>) : {};
    if (headers["x-api-key"] !== HUB_KEY)
      return { status: 401, body: { detail: `Invalid token ${headers["x-api-key"]}` } };
    if (pathname === "/settings") return { body: { id: "workspace-1", tenant_handle: "team" } };
    if (pathname === "/repos/" && method === "POST") return this.#create(body);
    const [, owner, name, rest = ""] = /\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
    const repository = this.repositories.get(`${owner}/${name}`);
    if (repository === undefined) return { status: 404, body: { detail: "Repo not found" } };
    if (rest === "/directories/commits") return this.#take(`${owner}/${name}`, body);
    if (rest === "") return { body: { repo: {} } };
    if (repository.commit === undefined) return { status: 404, body: { detail: "Commit not found" } };
    return {
      body: { commit_id: "id", commit_hash: repository.commit, files: repository.entries },
    };
  }

  #create(body: Record<string, unknown>): Answer {
    for (const owner of ["-", "team"]) this.repositories.set(`${owner}/${body.repo_handle}`, { entries: {} });
    return { body: { repo: {} } };
  }

  #take(repository: string, body: Record<string, unknown>): Answer {
    const before = this.beforeCommit;
    this.beforeCommit = undefined;
    before?.();
    const { commit } = this.repositories.get(repository) as Repository;
    const parent = body.parent_commit as string | undefined;
    if (commit !== undefined && (parent === undefined || !commit.startsWith(parent)))
      return { status: 409, body: { detail: "The parent is not the latest commit" } };
    return {
      body: { commit: { commit_hash: this.commit(repository, body.files as Entries) } },
    };
  }
}
