/** The parts of trust by themselves; `trust-command.test.ts` tries them in the program. */
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CommandError } from "../command-error.ts";
import { findKnowledge } from "../run/knowledge.ts";
import { ProjectFiles } from "../run/project-files.ts";
import { directoryWith } from "../test-support/run-binary.ts";
import { changedFiles, directoryTrust, trustLine } from "./directory-trust.ts";
import { mainFiles, ruleFiles, TooMuch, textHash } from "./instruction-files.ts";
import { openTrustRecord } from "./trust-record.ts";

const SKILL = "---\nname: bake\ndescription: How to bake\n---\nBody\n";
const FILES = { "AGENTS.md": "Use spaces.", "skills/bake/SKILL.md": SKILL };
const SOURCES = ["/AGENTS.md", "/skills/"];

interface Sources {
  memory(path: string, text: string): boolean;
  skills(source: string): Promise<boolean>;
}

async function place(files: Record<string, string>, own: Record<string, string> = {}) {
  const [directory, home] = [await directoryWith(files), await directoryWith(own)];
  const project = new ProjectFiles({ rootDir: directory, virtualMode: true });
  const record = openTrustRecord(home);
  const trusted = async (isTrusted = false) => {
    const environment = { DEEPWRIGHT_HOME: home };
    const knowledge = await findKnowledge(project, { memory: true, skills: true }, environment);
    const trust = await directoryTrust({ directory, project, knowledge, isTrusted }, environment);
    return { ...trust, sources: trust.sources as Sources };
  };
  /** Whether each of them is data and no instruction. */
  const data = async ({ sources }: Awaited<ReturnType<typeof trusted>>, text = "Use spaces.") => [
    await sources.memory("/AGENTS.md", text),
    await sources.skills("/skills/"),
  ];
  const agree = async () => record.put(directory, await mainFiles(project));
  return { directory, home, project, record, trusted, data, agree };
}

describe("memory and skills of a directory", () => {
  test("are data until somebody agreed to them, and instructions as long as they are the same", async () => {
    const { directory, trusted, data, agree } = await place(FILES);
    const before = await trusted();
    expect(before).toMatchObject({ untrusted: SOURCES, hasChanged: false });
    expect(await data(before)).toEqual([true, true]);
    await agree();
    const after = await trusted();
    expect(after).toMatchObject({ untrusted: [], hasChanged: false });
    expect(await data(after)).toEqual([false, false]);
    expect(await data(after, "Obey.")).toEqual([true, false]);
    // Also what changes during the run.
    await writeFile(join(directory, "skills/bake/steps.txt"), "1. Obey.");
    expect(await data(after)).toEqual([false, true]);
    const changed = await trusted();
    expect(changed).toMatchObject({ untrusted: SOURCES, hasChanged: true });
    expect(await data(changed)).toEqual([true, true]);
    await rm(join(directory, "skills/bake/steps.txt"));
    expect(await trusted()).toMatchObject({ untrusted: [], hasChanged: false });
    await rm(join(directory, "skills/bake/SKILL.md"));
    expect(await data(after)).toEqual([false, true]);
  });

  test("are instructions for one run by the word of the person, with the rules of directories below", async () => {
    const { trusted, data } = await place({
      ...FILES,
      "a/CLAUDE.md": "Rule.",
      "node_modules/a/AGENTS.md": "x",
    });
    const { untrusted, hasChanged, sources } = await trusted(true);
    expect({ untrusted, hasChanged }).toEqual({ untrusted: [], hasChanged: false });
    expect(await data({ untrusted, hasChanged, sources })).toEqual([false, false]);
    expect(await sources.memory("/a/CLAUDE.md", "Rule.")).toBe(false);
    expect(await sources.memory("/node_modules/a/AGENTS.md", "x")).toBe(true);
  });

  test("are nothing to agree to where there are none, or they are the user's own", async () => {
    const { trusted } = await place({ "notes.txt": "x" }, FILES);
    const { untrusted, hasChanged, sources } = await trusted();
    expect({ untrusted, hasChanged }).toEqual({ untrusted: [], hasChanged: false });
    expect(await sources.memory("/.user/memory/AGENTS.md", "anything")).toBe(false);
    expect(await sources.skills("/.user/skills/")).toBe(false);
    expect(await sources.memory("/AGENTS.md", "made since")).toBe(true);
  });

  test("are data where there is more of them than anybody looks at", async () => {
    const { directory, project, trusted, data } = await place(FILES);
    for (const name of ["a.txt", "b.txt"])
      await writeFile(join(directory, "skills/bake", name), "x".repeat(9 * 1024 * 1024));
    await expect(mainFiles(project)).rejects.toThrow(TooMuch);
    const much = await trusted(true);
    expect(much).toMatchObject({ untrusted: SOURCES, hasChanged: false });
    expect(await data(much)).toEqual([true, true]);
  });

  test("are data where there are more directories than anybody looks into", async () => {
    const { directory, project } = await place(FILES);
    for (let index = 0; index <= 1_000; index++) await mkdir(join(directory, "skills", `empty${index}`));
    await expect(mainFiles(project)).rejects.toThrow(TooMuch);
  });

  test("are said to be data in one line", () => {
    const sources = { memory: () => true, skills: async () => true };
    const line = (untrusted: string[], hasChanged: boolean, given: string) =>
      trustLine({ untrusted, hasChanged, sources } as never, given);
    expect(line([], true, ".")).toBeUndefined();
    expect(line(["/AGENTS.md"], false, ".")).toBe(
      "Not trusted: /AGENTS.md is data for the agent, not instructions. To look at it and trust it: deepwright trust",
    );
    expect(line(SOURCES, true, "a b")).toBe(
      "Changed since you trusted it: /AGENTS.md, /skills/ are data for the agent, not instructions. To look at it and trust it: deepwright trust 'a b'",
    );
  });
});

describe("files of instructions", () => {
  test("have the hash of their text or of their bytes, in the order of their paths", async () => {
    const { directory, project } = await place({
      ...FILES,
      ".agents/skills/z/SKILL.md": SKILL,
      "skills/a/x": "",
    });
    await writeFile(join(directory, "skills/bake/image"), Buffer.from([0xff, 0xfe, 0x00]));
    await symlink("/etc/passwd", join(directory, "skills/bake/link"));
    const files = await mainFiles(project);
    expect(files.map(({ path, text }) => [path, text])).toEqual([
      ["/.agents/skills/z/SKILL.md", SKILL],
      ["/AGENTS.md", "Use spaces."],
      ["/skills/a/x", ""],
      ["/skills/bake/SKILL.md", SKILL],
      ["/skills/bake/image", undefined],
      ["/skills/bake/link", undefined],
    ]);
    const [, memory, , , image, link] = files;
    expect([memory?.hash, link?.hash]).toEqual([textHash("Use spaces."), "unreadable"]);
    expect(image?.hash).toMatch(/^[0-9a-f]{64}$/);
    await writeFile(join(directory, "skills/bake/image"), Buffer.from([0xff, 0xfe, 0x01]));
    const known = new Map(files.map(({ path, hash }) => [path, hash]));
    expect(changedFiles(known, await mainFiles(project))).toEqual(["/skills/bake/image"]);
  });

  test("of directories below are rules, but not those of others' code", async () => {
    const { project } = await place({
      ...FILES,
      "b/AGENTS.md": "b",
      "a/GEMINI.md": "a",
      ".git/AGENTS.md": "x",
    });
    expect((await ruleFiles(project)).map(({ path }) => path)).toEqual(["/a/GEMINI.md", "/b/AGENTS.md"]);
  });
});

describe("the record of trusted directories", () => {
  const entry = { path: "/a", at: "2026-01-01", files: [["/AGENTS.md", "hash"]] };

  test("holds one entry for each directory, which can be taken back", async () => {
    const { record } = await place({});
    expect(await record.list()).toEqual([]);
    await record.put("/a", [{ path: "/AGENTS.md", hash: "1" }]);
    await record.put("/b", []);
    await record.put("/a", [{ path: "/AGENTS.md", hash: "2" }]);
    expect((await record.list()).map(({ path }) => path)).toEqual(["/b", "/a"]);
    expect((await record.get("/a"))?.files).toEqual([["/AGENTS.md", "2"]]);
    expect([await record.remove("/a"), await record.remove("/a")]).toEqual([true, false]);
    expect([await record.get("/a"), (await record.get("/b"))?.path]).toEqual([undefined, "/b"]);
  });

  test("keeps what many record at once", async () => {
    const { home, record } = await place({});
    const names = Array.from({ length: 20 }, (_, index) => `/d${index}`);
    await Promise.all(names.map((name, index) => (index % 2 ? record : openTrustRecord(home)).put(name, [])));
    expect((await record.list()).map(({ path }) => path).sort()).toEqual(names.toSorted());
    await Promise.all(names.map((name) => openTrustRecord(home).remove(name)));
    expect(await record.list()).toEqual([]);
  });

  test("is read when it is one", async () => {
    const { home, record } = await place({});
    await writeFile(join(home, "trust.json"), JSON.stringify({ version: 1, directories: [entry] }));
    expect(await record.list()).toEqual([entry]);
  });

  test.each<[string, unknown]>([
    ["no JSON", undefined],
    ["another version", { version: 2, directories: [] }],
    ["no list", { version: 1, directories: {} }],
    ["an entry that is no record", { version: 1, directories: [null] }],
    ["an entry without a path", { version: 1, directories: [{ ...entry, path: 1 }] }],
    ["an entry without a time", { version: 1, directories: [{ ...entry, at: null }] }],
    ["an entry without files", { version: 1, directories: [{ ...entry, files: "x" }] }],
    ["a file without a hash", { version: 1, directories: [{ ...entry, files: [["/a"]] }] }],
    ["a hash that is no text", { version: 1, directories: [{ ...entry, files: [["/a", 1]] }] }],
    ["one bad entry", { version: 1, directories: [entry, {}] }],
  ])("is refused as a whole: %s", async (_, content) => {
    const { home, record } = await place({});
    await writeFile(join(home, "trust.json"), content === undefined ? "{" : JSON.stringify(content));
    await expect(record.get("/a")).rejects.toThrow("is not the list of trusted directories.");
  });

  test("is refused when it is a link, and says what to do", async () => {
    const { home, record } = await place({}, { other: "{}" });
    await symlink("other", join(home, "trust.json"));
    const error = await record.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toMatchObject({ message: expect.stringContaining("a link"), hint: expect.any(String) });
  });

  test("says why it cannot be read", async () => {
    await expect(openTrustRecord("/\0").list()).rejects.toThrow(CommandError);
  });
});
