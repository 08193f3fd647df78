import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { describe, expect, onTestFinished, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import type { BackendProtocol, BackendRuntime } from "../backends/backend.ts";
import type { WithChildFiles } from "../backends/child-files.ts";
import { CompositeBackend } from "../backends/composite/composite.ts";
import { listChildFiles } from "../backends/disk/child-files.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { ContainedRoot } from "../backends/disk/root/contained-root.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { LocalSandbox } from "../backends/sandbox/local-sandbox-for-tests.ts";
import { StateBackend } from "../backends/state/state.ts";
import { StoreBackend } from "../backends/store/store.ts";
import { CHILD_FILES } from "../internal-symbols.ts";
import { type Catalog, SkillLoader } from "./load-skills.ts";
import { skillText, temporaryDirectory, writeTree } from "./skill-files-for-tests.ts";

type Tree = Readonly<Record<string, string>>;

const NOW = "2026-01-01T00:00:00.000Z";
const bytesOf = (tree: Tree) =>
  Object.entries(tree).map(([path, text]) => [path, new TextEncoder().encode(text)] as const);

type Quick = NonNullable<WithChildFiles[typeof CHILD_FILES]>;

/** A disk with the ability to list quickly, or without it: both must find the same. */
function diskWith(rootDir: string, quick: Quick | undefined): FilesystemBackend {
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  return Object.defineProperty(backend, CHILD_FILES, { value: quick, configurable: true });
}

const quickly = (rootDir: string): Quick => {
  const root = new ContainedRoot(rootDir);
  return (path, request) => listChildFiles(root, path, request);
};
const quickDisk = (rootDir: string) => diskWith(rootDir, quickly(rootDir));
const plainDisk = (rootDir: string) => diskWith(rootDir, undefined);

const onDisk = (tree: Tree): string => {
  const root = temporaryDirectory();
  writeTree(root, tree);
  return root;
};

interface Place {
  readonly backend: BackendSource;
  readonly runtime: BackendRuntime;
  /** Where `/` of the tree is; default there. */
  readonly at?: string;
}

/** A backend with these files, and the runtime it is to be used in. */
const places: Record<string, (tree: Tree) => Promise<Place>> = {
  "a disk": async (tree) => ({ backend: quickDisk(onDisk(tree)), runtime: { state: {} } }),
  "a disk without quick listing": async (tree) => ({
    backend: plainDisk(onDisk(tree)),
    runtime: { state: {} },
  }),
  "the state of a thread": async (tree) => {
    const entries = Object.entries(tree).map(([path, content]) => [
      path,
      { content, mimeType: "text/markdown", created_at: NOW, modified_at: NOW },
    ]);
    return { backend: new StateBackend(), runtime: { state: { files: Object.fromEntries(entries) } } };
  },
  "a store": async (tree) => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: ["skills"] });
    await backend.uploadFiles(bytesOf(tree));
    return { backend, runtime: { state: {} } };
  },
  "a map": async (tree) => {
    const backend = new MapBackend();
    await backend.uploadFiles?.(bytesOf(tree));
    return { backend, runtime: { state: {} } };
  },
  "a composite": async (tree) => {
    const inner = Object.fromEntries(
      Object.entries(tree).map(([path, text]) => [path.replace(/^\/skills/, ""), text]),
    );
    const disk = new FilesystemBackend({ rootDir: onDisk(inner), virtualMode: true });
    return {
      backend: new CompositeBackend(new StateBackend(), { "/skills/": disk }),
      runtime: { state: {} },
    };
  },
  "a sandbox": async (tree) => {
    const sandbox = new LocalSandbox();
    onTestFinished(() => sandbox.close());
    const at = sandbox.root;
    await sandbox.uploadFiles(bytesOf(tree).map(([path, bytes]) => [at + path, bytes] as const));
    return { backend: sandbox, runtime: { state: {} }, at };
  },
};

const namesIn = ({ groups }: Catalog): string[] =>
  groups.flatMap(({ skills }) => skills.map(({ name }) => name));
const codesIn = ({ warnings }: Catalog): string[] => warnings.map(({ code }) => code).sort();

describe.each(Object.entries(places))("skills in %s", (_, make) => {
  test("are found in directories of a source, with or without a slash at its end", async () => {
    const {
      backend,
      runtime,
      at = "",
    } = await make({
      "/skills/pdf/SKILL.md": skillText("pdf", "Fills in forms.", "allowed-tools: read_file\n"),
      "/skills/pdf/scripts/fill.py": "print()",
      "/skills/web/SKILL.md": skillText("web", "x", "metadata: {a: b}\n"),
      "/skills/notes.md": "no skill",
      "/skills/empty/readme.md": "no skill either",
    });
    for (const given of ["/skills", "/skills/"]) {
      const catalog = await new SkillLoader(backend, [at + given]).load(runtime);
      expect(namesIn(catalog)).toEqual(["pdf", "web"]);
      expect(catalog.warnings).toEqual([]);
      const [pdf, web] = catalog.groups[0]?.skills ?? [];
      expect(pdf).toMatchObject({ description: "Fills in forms.", allowedTools: ["read_file"] });
      expect(pdf?.path.endsWith("/skills/pdf/SKILL.md")).toBe(true);
      expect(web).toMatchObject({ metadata: { a: "b" } });
    }
  });

  test("may be a source themselves, and what is deeper is theirs", async () => {
    const {
      backend,
      runtime,
      at = "",
    } = await make({
      "/skills/pdf/SKILL.md": skillText("pdf"),
      "/skills/pdf/inner/SKILL.md": skillText("inner"),
    });
    const catalog = await new SkillLoader(backend, [`${at}/skills/pdf/`]).load(runtime);
    expect(namesIn(catalog)).toEqual(["pdf"]);
  });

  test("of a later source win", async () => {
    const {
      backend,
      runtime,
      at = "",
    } = await make({
      "/skills/user/pdf/SKILL.md": skillText("pdf", "of the user"),
      "/skills/user/web/SKILL.md": skillText("web"),
      "/skills/project/pdf/SKILL.md": skillText("pdf", "of the project"),
    });
    const sources = [`${at}/skills/user/`, `${at}/skills/project/`];
    const catalog = await new SkillLoader(backend, sources).load(runtime);
    expect(namesIn(catalog)).toEqual(["pdf", "web"]);
    expect(catalog.groups[0]?.skills[0]?.description).toBe("of the project");
  });

  test("that are bad are skipped with a warning, and the good ones are loaded", async () => {
    const {
      backend,
      runtime,
      at = "",
    } = await make({
      "/skills/good/SKILL.md": skillText("good"),
      "/skills/none/SKILL.md": "# No front matter\n",
      "/skills/open/SKILL.md": "---\nname: open\n",
      "/skills/bad/SKILL.md": "---\nname: [bad\ndescription: }{\n---\n",
      "/skills/long/SKILL.md": skillText("long", "x".repeat(5_000_000)),
      "/skills/nameless/SKILL.md": "---\ndescription: x\n---\n",
      "/skills/empty/SKILL.md": "",
    });
    const catalog = await new SkillLoader(backend, [`${at}/skills/`]).load(runtime);
    expect(namesIn(catalog)).toEqual(["good"]);
    expect(codesIn(catalog)).toEqual(Array(6).fill("INVALID_FRONT_MATTER"));
    expect(catalog.warnings.every(({ path, message }) => message.includes(path))).toBe(true);
  });

  test("that are bad are the only thing said about a source without good ones", async () => {
    const { backend, runtime, at = "" } = await make({ "/skills/none/SKILL.md": "# No front matter\n" });
    const catalog = await new SkillLoader(backend, [`${at}/skills/`]).load(runtime);
    expect(codesIn(catalog)).toEqual(["INVALID_FRONT_MATTER"]);
  });

  test("that do not exist are missed aloud", async () => {
    const { backend, runtime, at = "" } = await make({ "/skills/readme.md": "x", "/other/x": "x" });
    const catalog = await new SkillLoader(backend, [`${at}/skills/`, `${at}/skills/nowhere/`]).load(runtime);
    expect(namesIn(catalog)).toEqual([]);
    expect(catalog.warnings).toHaveLength(2);
    for (const { code } of catalog.warnings) expect(["SOURCE_EMPTY", "SOURCE_NOT_FOUND"]).toContain(code);
  });

  test("with a front matter longer than the first page are read on", async () => {
    const metadata = Array.from({ length: 400 }, (_, i) => `  key-${i}: ${"v".repeat(20)}\n`).join("");
    const {
      backend,
      runtime,
      at = "",
    } = await make({
      "/skills/pdf/SKILL.md": skillText("pdf", "x", `metadata:\n${metadata}`),
    });
    const { groups } = await new SkillLoader(backend, [`${at}/skills/`]).load(runtime);
    expect(Object.keys(groups[0]?.skills[0]?.metadata ?? {})).toHaveLength(400);
  });
});

/** A new folder each time: what was read once is not read again. */
function hostileSkills(): string {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
  for (let i = 0; i < 9; i++)
    bomb.push(`${"bcdefghij"[i]}: &${"bcdefghij"[i]} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`);
  const root = onDisk({
    "/skills/good/SKILL.md": skillText("good"),
    "/skills/bomb/SKILL.md": skillText("bomb", "x", `${bomb.join("\n")}\n`),
    "/skills/yaml/SKILL.md": "---\nname: 'yaml\ndescription: [}\n---\n",
    "/skills/long/SKILL.md": skillText("long", "x".repeat(5_000_000)),
    "/skills/proto/SKILL.md": skillText("proto", "x", "__proto__:\n  polluted: yes\n"),
    "/skills/deep/SKILL.md": `---\nname: deep\ndescription: x\nmetadata: ${"[".repeat(60_000)}\n---\n`,
    "/skills/none/SKILL.md": "just text\n",
    "/skills/binary/SKILL.md": "\0\0\0",
  });
  mkdirSync(join(root, "skills/link"));
  symlinkSync("/etc/passwd", join(root, "skills/link/SKILL.md"));
  mkdirSync(join(root, "skills/directory/SKILL.md"), { recursive: true });
  writeFileSync(join(root, "skills/good/helper.md"), "x");
  return root;
}

describe("skills on a disk", () => {
  const disks = { quick: quickDisk, plain: plainDisk };
  const diskOf = (kind: string, root: string) => disks[kind as keyof typeof disks](root);

  test.each(Object.keys(disks))("%s: links inside are followed, links out are not", async (kind) => {
    const outside = temporaryDirectory();
    writeTree(outside, { "/SKILL.md": skillText("secret"), "/file.md": skillText("file") });
    const root = temporaryDirectory();
    writeTree(root, {
      "/shared/linked/SKILL.md": skillText("linked"),
      "/skills/good/SKILL.md": skillText("good"),
    });
    symlinkSync("../shared/linked", join(root, "skills/linked"));
    symlinkSync(outside, join(root, "skills/out"));
    mkdirSync(join(root, "skills/file"));
    symlinkSync(join(outside, "file.md"), join(root, "skills/file/SKILL.md"));
    const catalog = await new SkillLoader(diskOf(kind, root), ["/skills"]).load({ state: {} });
    expect(namesIn(catalog)).toEqual(["good", "linked"]);
    expect(codesIn(catalog)).toEqual(["SKILL_UNREADABLE", "SKILL_UNREADABLE"]);
    expect(JSON.stringify(catalog)).not.toContain("secret things");
  });

  test.each(Object.keys(disks))(
    "TR-04 on a %s disk: hostile files hurt nobody, and not for long",
    async (kind) => {
      const catalog = await withinCpuLimit("a folder of hostile skills is loaded", () => {
        const root = hostileSkills();
        return new SkillLoader(diskOf(kind, root), ["/skills"]).load({ state: {} });
      });
      expect(namesIn(catalog)).toEqual(["good"]);
      const paths = catalog.warnings.map(({ path }) => path.split("/")[2]).sort();
      expect(paths.filter((name) => name !== "directory")).toEqual([
        "binary",
        "bomb",
        "deep",
        "link",
        "long",
        "none",
        "proto",
        "yaml",
      ]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect(JSON.stringify(catalog)).not.toContain("root:");
    },
  );

  test.each(Object.keys(disks))("%s: a file over 10 MB is skipped", async (kind) => {
    const root = onDisk({ "/skills/big/SKILL.md": skillText("big") + "x".repeat(10 * 1024 * 1024) });
    const catalog = await new SkillLoader(diskOf(kind, root), ["/skills"]).load({ state: {} });
    expect(codesIn(catalog)).toEqual(["SKILL_TOO_LARGE"]);
  });

  test.each(Object.keys(disks))("%s: other encodings are understood", async (kind) => {
    const root = temporaryDirectory();
    const text = Buffer.from(`\uFEFF${skillText("utf", "größer")}`, "utf16le");
    writeTree(root, { "/skills/utf/SKILL.md": text });
    const catalog = await new SkillLoader(diskOf(kind, root), ["/skills"]).load({ state: {} });
    expect(catalog.groups[0]?.skills[0]?.description).toBe("größer");
  });
});

describe("what was read before", () => {
  const tree = {
    "/skills/pdf/SKILL.md": skillText("pdf", "one"),
    "/skills/web/SKILL.md": skillText("web", "two"),
  };
  const aged = (root: string): void => {
    const earlier = new Date(Date.now() - 60_000);
    for (const path of Object.keys(tree)) utimesSync(join(root, path), earlier, earlier);
  };

  test("is not read again, not even by another agent with another backend on the same disk", async () => {
    const root = onDisk(tree);
    aged(root);
    const loader = new SkillLoader(quickDisk(root), ["/skills"]);
    const first = await loader.load({ state: {} });
    const heads: (string | undefined)[] = [];
    const watched: Quick = async (...given) => {
      const found = await quickly(root)(...given);
      if (!("error" in found)) heads.push(...found.files.map(({ head }) => head));
      return found;
    };
    const other = await new SkillLoader(diskWith(root, watched), ["/skills"]).load({ state: {} });
    expect(heads).toEqual([undefined, undefined]);
    expect(other).toEqual(first);
    expect(await loader.load({ state: {} })).toBe(first);
  });

  test("is read again when it changed", async () => {
    const root = onDisk(tree);
    aged(root);
    const loader = new SkillLoader(quickDisk(root), ["/skills"]);
    await loader.load({ state: {} });
    writeTree(root, { "/skills/pdf/SKILL.md": skillText("pdf", "new") });
    expect((await loader.load({ state: {} })).groups[0]?.skills[0]?.description).toBe("new");
    writeTree(root, { "/skills/pdf/SKILL.md": skillText("pdf", "abc") });
    expect((await loader.load({ state: {} })).groups[0]?.skills[0]?.description).toBe("abc");
  });

  test("is kept for a backend that is the same in every run, by path, date and size", async () => {
    const backend = new MapBackend();
    const dated = (text: string) => ({ ...base, content: text, modified_at: NOW, created_at: NOW });
    const base = { mimeType: "text/markdown" };
    const files: Record<string, ReturnType<typeof dated>> = {
      "/skills/pdf/SKILL.md": dated(skillText("pdf")),
    };
    let reads = 0;
    const counted = {
      ...protocolOf(backend),
      ls: () => ({ files: [{ path: "/skills/pdf/", is_dir: true }] }),
      glob: () => ({
        files: Object.entries(files).map(([path, file]) => ({
          path,
          size: file.content.length,
          modified_at: file.modified_at,
        })),
      }),
      read: (path: string) => {
        reads += 1;
        return { content: files[path]?.content ?? "", mimeType: "text/markdown" };
      },
    } as unknown as BackendProtocol;
    const load = () => new SkillLoader(counted, ["/skills"]).load({ state: {} });
    expect(namesIn(await load())).toEqual(["pdf"]);
    await load();
    expect(reads).toBe(1);
    files["/skills/pdf/SKILL.md"] = dated(skillText("pdf", "longer than before"));
    expect((await load()).groups[0]?.skills[0]?.description).toBe("longer than before");
    expect(reads).toBe(2);
  });

  test("is never shared between threads or users, even with the same dates and sizes", async () => {
    const backend = new StateBackend();
    const loader = new SkillLoader(backend, ["/skills"]);
    const runtime = (description: string): BackendRuntime => ({
      state: {
        files: {
          "/skills/pdf/SKILL.md": {
            content: skillText("pdf", description),
            mimeType: "text/markdown",
            created_at: NOW,
            modified_at: NOW,
          },
        },
      },
    });
    const one = await loader.load(runtime("aaa"));
    const other = await loader.load(runtime("bbb"));
    expect(one.groups[0]?.skills[0]?.description).toBe("aaa");
    expect(other.groups[0]?.skills[0]?.description).toBe("bbb");
  });
});

function protocolOf(backend: BackendProtocol): BackendProtocol {
  return { ...backend } as BackendProtocol;
}
