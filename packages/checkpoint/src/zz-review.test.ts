import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { putStep, uuid, readStep, tree } from "./home/content-for-tests.ts";
import { scratchDirectory, scratchFile } from "./sqlite/scratch-for-tests.ts";
import { openSqliteHome } from "./sqlite/sqlite-home.ts";
import { startProcess } from "./sqlite/processes-for-tests.ts";
import { Decoder } from "./content/decode.ts";

it("A count", async () => {
  const home = await openSqliteHome(scratchFile());
  const row = (n: number) => ({ namespace: "", checkpoint: { id: uuid(n), parent: undefined, root: undefined, refs: [], body: "[]" } });
  await home.put({ threadId: "t", epoch: 0, fence: undefined, now: 1, objects: [], ...row(1), more: [row(2), row(3)] });
  expect((await home.thread("t"))?.checkpointCount).toBe(3);
});
it("B fence", async () => {
  const home = await openSqliteHome(scratchFile());
  const a = await home.claim("t", "one", 1);
  const fence = a.held ? a.fence : 0;
  await new Promise((r) => setTimeout(r, 20));
  await home.deleteThread("t");
  await putStep(home, { threadId: "t", id: uuid(1) });
  const renewed = await home.claim("t", "one", 60000, fence).catch((e) => e);
  const put = await putStep(home, { threadId: "t", id: uuid(2), fence }).catch((e) => e.code);
  expect({ renewed, put }).toMatchObject({ renewed: { held: false }, put: "CLAIM_LOST" });
});
it("B2 ghost", async () => {
  const home = await openSqliteHome(scratchFile());
  const a = await home.claim("t", "one", 60000);
  const fence = a.held ? a.fence : 0;
  await home.release("t", fence);
  expect(await home.claim("t", "one", 60000, fence)).toMatchObject({ held: false });
});
it("C locks", async () => {
  const { execSync } = await import("node:child_process");
  const { statSync, readdirSync, readFileSync } = await import("node:fs");
  const dir = scratchDirectory();
  mkdirSync(join(dir, "real"));
  symlinkSync(join(dir, "real"), join(dir, "link"));
  const path = join(dir, "link", "new", "state.db");
  const locks = () => { const i = statSync(path).ino; const k = statSync(path + "-shm", {throwIfNoEntry:false})?.ino; return readFileSync("/proc/locks","utf8").split("\n").filter((l) => l.includes(`:${i} `) || l.includes(`:${k} `)).join("\n") + " files " + readdirSync(join(dir,"real","new")); };
  const one = await openSqliteHome(path);
  await putStep(one, { threadId: "a", id: uuid(1), content: [tree("x")] });
  console.log("1", locks());
  const two = await openSqliteHome(path);
  console.log("2", locks());
  if (!process.env.KEEP) await two.close();
  console.log("3", locks());
  const p = startProcess("write", path, 1, "other");
  await p.ended;
  console.log("4", locks());
  await putStep(one, { threadId: "a", id: uuid(2), content: [tree("y")] });
  console.log("5", locks());
  const q = startProcess("write", path, 1, "third");
  await q.ended;
  console.log("6", locks());
  console.log(execSync(`python3 -c "import sqlite3;print(sqlite3.connect('${path}').execute('select thread_id, checkpoint_count from dw_threads').fetchall())"`).toString());
  await putStep(one, { threadId: "a", id: uuid(3), content: [tree("z")] }).catch((e) => console.log("put", e));
  console.log(execSync(`python3 -c "import sqlite3;print(sqlite3.connect('${path}').execute('select thread_id, checkpoint_count from dw_threads').fetchall())"`).toString());
  await one.close(); 
  console.log(execSync(`python3 -c "import sqlite3;print(sqlite3.connect('${path}').execute('select thread_id, checkpoint_count from dw_threads').fetchall())"`).toString());
}, 60000);
it("H proto", () => {
  const d = new Decoder();
  const m = d.text('{"$":["c","human",{"content":"x","__proto__":{"polluted":1}}]}', []) as any;
  expect(m.constructor.name).toBe("HumanMessage");
});
