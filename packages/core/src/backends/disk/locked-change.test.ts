import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { changeLocked, type LockedEntry } from "./locked-change.ts";
import { ContainedRoot } from "./root/contained-root.ts";
import { resolveChecked } from "./root/resolve-checked.ts";

const broken = new Error("the check is broken");

describe("the place of a change", () => {
  let host: string;
  let root: ContainedRoot;

  beforeEach(() => {
    host = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-change-place-")));
    mkdirSync(join(host, "real"));
    symlinkSync("real", join(host, "link"));
    root = new ContainedRoot(host);
    onTestFinished(() => {
      root.close();
      rmSync(host, { recursive: true, force: true });
    });
  });

  const pathOf = async ({ path }: LockedEntry) => ({ path });

  it("is refused by its own name or by the one that links lead to, before anything is made", async () => {
    for (const refused of ["/link/new/a", "/real/new/a"]) {
      const refuse = async (path: string) =>
        path === refused ? ({ error: "no", code: "PERMISSION_DENIED" } as const) : undefined;
      const result = await changeLocked({ root, path: "/link/new/a", refuse }, { create: true }, pathOf);
      expect(result).toMatchObject({ code: "PERMISSION_DENIED" });
    }
    expect(existsSync(join(host, "real/new"))).toBe(false);
  });

  it("is not used when a check fails", async () => {
    const refuse = async (path: string): Promise<undefined> => {
      if (path === "/real/a") throw broken;
    };
    await expect(changeLocked({ root, path: "/link/a", refuse }, { create: true }, pathOf)).rejects.toBe(
      broken,
    );
    const openCheck = { at: () => Promise.reject(broken), found: () => undefined };
    await expect(resolveChecked({ root, path: "/link/a", openCheck })).rejects.toBe(broken);
  });

  it("is looked up again when it became a link while the change waited for its turn", async () => {
    writeFileSync(join(host, "a"), "a");
    writeFileSync(join(host, "b"), "b");
    const waiting: Promise<unknown>[] = [];
    await changeLocked({ root, path: "/a" }, {}, async () => {
      waiting.push(changeLocked({ root, path: "/a" }, {}, pathOf));
      // The second change has opened the directory by then, and waits for the lock.
      await new Promise(setImmediate);
      renameSync(join(host, "a"), join(host, "old"));
      symlinkSync("b", join(host, "a"));
      return {};
    });
    expect(await Promise.all(waiting)).toEqual([{ path: "/b" }]);
  });
});
