import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { MapBackend } from "deepwright";
import { backendSuite } from "deepwright/testing";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../packages/checkpoint/src/test-support/postgres.ts";
import { sized } from "../scripts/test-size.ts";
import { GuardedBackend, PolicyWrapper } from "./guarded-backend.ts";
import { CREATE_TABLE, postgresBackend } from "./postgres-backend.ts";
import { objectStoreBackend } from "./s3-style-backend.ts";
import { type ObjectServer, startObjectServer } from "./support/object-server.ts";

describe("an object store", () => {
  backendSuite(
    { describe, test },
    {
      name: "objectStoreBackend",
      runs: 5,
      open: async () => {
        const server = await startObjectServer();
        return { backend: objectStoreBackend(server.url), close: () => server.close() };
      },
    },
  );

  let server: ObjectServer;
  beforeAll(async () => {
    server = await startObjectServer();
  });
  afterAll(() => server.close());

  test("edits of one file by two clients all land", async () => {
    const clients = [objectStoreBackend(server.url), objectStoreBackend(server.url)];
    const names = Array.from({ length: 10 }, (_, index) => `<${index}>`);
    await clients[0]?.write("/shared.txt", names.join("\n"));
    const edits = names.map((name, index) => clients[index % 2]?.edit("/shared.txt", name, `${name}!`));
    for (const result of await Promise.all(edits)) expect(result?.error).toBeUndefined();
    const stored = await clients[1]?.read("/shared.txt");
    expect(stored?.content).toBe(names.map((name) => `${name}!`).join("\n"));
  });
});

describe("a table of Postgres", () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 4 });
    // The database may be dropped before the last connection has said good-bye.
    pool.on("error", () => {});
    await pool.query(CREATE_TABLE);
  });
  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  });

  backendSuite(
    { describe, test },
    {
      name: "postgresBackend",
      size: sized("small", "full"),
      storesBytes: false,
      runs: 5,
      open: async () => {
        await pool.query("TRUNCATE files");
        return { backend: postgresBackend(pool) };
      },
    },
  );

  test("the listing of a directory uses the index of the key", async () => {
    const client = await pool.connect();
    await client.query("SET enable_seqscan = off");
    const { rows } = await client.query(
      "EXPLAIN SELECT path FROM files WHERE path LIKE '/a\\_b/%' ESCAPE '\\'",
    );
    await client.query("RESET enable_seqscan");
    client.release();
    expect(JSON.stringify(rows)).toContain("files_pkey");
  });
});

describe("guards", () => {
  backendSuite(
    { describe, test },
    {
      name: "PolicyWrapper",
      size: sized("small", "full"),
      open: () => ({ backend: new PolicyWrapper(new MapBackend(), ["/elsewhere"]) }),
    },
  );

  test("a guarded directory can be read and not changed, whatever the spelling", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "deepwright-guarded-"));
    const open = new GuardedBackend({ rootDir, virtualMode: true, denyPrefixes: [] });
    await open.write("/policies/a.md", "law\n");
    const guarded = new GuardedBackend({ rootDir, virtualMode: true, denyPrefixes: ["/policies/"] });
    const denied = { code: "PERMISSION_DENIED" };
    expect(await guarded.write("/policies/b.md", "x")).toEqual({
      error: "Writes are not allowed under /policies",
      code: "PERMISSION_DENIED",
    });
    expect(await guarded.edit("//policies/./a.md", "law", "x")).toMatchObject(denied);
    expect(await guarded.append("/policies/a.md", "x")).toMatchObject(denied);
    expect(await guarded.delete("/policies")).toMatchObject(denied);
    const uploads = await guarded.uploadFiles([
      ["/policies/c.md", new Uint8Array(1)],
      ["/free.bin", new Uint8Array(1)],
    ]);
    expect(uploads).toEqual([
      { path: "/policies/c.md", error: "permission_denied" },
      { path: "/free.bin", error: null },
    ]);
    expect(await guarded.read("/policies/a.md")).toMatchObject({ content: "law\n" });
    expect(await guarded.write("/policies2/a.md", "x")).toMatchObject({ path: "/policies2/a.md" });
    rmSync(rootDir, { recursive: true });
  });
});

describe("docs/write-a-backend.md", () => {
  test("shows code as it is in the examples", () => {
    const sources = [
      "s3-style-backend.ts",
      "postgres-backend.ts",
      "backends.test.ts",
      "support/suite-under-node-test.ts",
    ].map((name) => readFileSync(`examples/${name}`, "utf8"));
    const guide = readFileSync("docs/write-a-backend.md", "utf8");
    const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code as string);
    expect(blocks.length).toBe(4);
    for (const block of blocks)
      expect(
        sources.some((source) => source.includes(block)),
        block,
      ).toBe(true);
  });

  test("the suite runs under the test runner of Node", async () => {
    const flags = ["--import", "tsx", "--conditions=source", "--test", "--test-reporter=tap"];
    const part = sized(["--test-name-pattern=/append|delete/"], []);
    const file = "examples/support/suite-under-node-test.ts";
    const env = { ...process.env, NODE_OPTIONS: "", VITEST: "", NODE_TEST_CONTEXT: undefined };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...part, file], {
      env,
      maxBuffer: 1 << 26,
    });
    expect(stdout).toMatch(/# tests [3-9]\d\d\n/);
    expect(stdout).toMatch(sized(/# pass [3-9]\d\n# fail 0\n/, /# pass [3-9]\d\d\n# fail 0\n/));
  });
});
