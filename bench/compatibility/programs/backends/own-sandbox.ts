/** A subclass of BaseSandbox whose paths begin in a directory of its own. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  BaseSandbox,
  type ExecuteResponse,
  type FileDownloadResponse,
  type FileUploadResponse,
} from "library";
import { bytes, withoutWords } from "../../kit/look.ts";
import { scratch } from "../../kit/scratch.ts";

class Workshop extends BaseSandbox {
  readonly id = "workshop";
  readonly root: string;
  constructor(root: string) {
    super();
    this.root = root;
  }
  execute(command: string): Promise<ExecuteResponse> {
    return new Promise((done) => {
      execFile("sh", ["-c", command], { cwd: this.root }, (error, stdout, stderr) => {
        const exitCode = error ? Number((error as { code?: unknown }).code ?? 1) : 0;
        done({ output: stdout + stderr, exitCode, truncated: false });
      });
    });
  }
  async uploadFiles(files: Array<[string, Uint8Array]>): Promise<FileUploadResponse[]> {
    return files.map(([path, content]) => {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), content);
      return { path, error: null };
    });
  }
  async downloadFiles(paths: string[]): Promise<FileDownloadResponse[]> {
    return paths.map((path) => {
      const file = join(this.root, path);
      if (!existsSync(file)) return { path, content: null, error: "file_not_found" };
      return { path, content: new Uint8Array(readFileSync(file)), error: null };
    });
  }
}

export default async function program() {
  const root = scratch("workshop");
  // A library that ignores the mapping writes here, and to no other place of this machine.
  const at = scratch("workshop-unmapped");
  const sandbox = new Workshop(root);
  const large = "x".repeat(180_000);
  const write = withoutWords(await sandbox.write(`${at}/notes/a.txt`, "one\ntwo\n"));
  const writeLarge = withoutWords(await sandbox.write(`${at}/large.txt`, large));
  const edit = withoutWords(await sandbox.edit(`${at}/notes/a.txt`, "two", "three"));
  const raw = await sandbox.readRaw(`${at}/notes/a.txt`);
  const real = (path: string) =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null;
  const inside = scratch("workshop-real");
  writeFileSync(join(inside, "b.txt"), "needle\nhay\n");
  return {
    write,
    writeLarge,
    edit,
    onDisk: real(`${at}/notes/a.txt`),
    largeOnDisk: real(`${at}/large.txt`)?.length,
    raw: raw.data?.content,
    missing: withoutWords(await sandbox.edit(`${at}/none.txt`, "a", "b")),
    again: withoutWords(await sandbox.write(`${at}/notes/a.txt`, "again")),
    page: bytes((await sandbox.read(`${inside}/b.txt`, 1, 1)).content),
    ls: (await sandbox.ls(inside)).files?.map(({ path, is_dir }) => ({ path, is_dir })),
    glob: (await sandbox.glob("*.txt", inside)).files?.map(({ path }) => path),
    grep: (await sandbox.grep("needle", inside)).matches,
    leftovers: (await sandbox.execute("find . -name '.*' -type f")).output,
  };
}
