/** A directory as tests compare it, and agents that run commands in it. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { lstat, mkdtemp, readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { type Script, scriptedModel } from "deepwright/testing";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { openThreads } from "../open-threads.ts";
import { newName } from "../thread-for-tests.ts";
import type { RewindResult } from "../threads.ts";

/** A new directory below the one for temporary files, without links on its way. */
export async function emptyDirectory(made: string[]): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "deepwright-undo-")));
  made.push(directory);
  return directory;
}

/** Removes directories whose modes may forbid it. */
export async function removeAll(made: readonly string[]): Promise<void> {
  for (const directory of made) await rm(directory, { recursive: true, force: true });
}

/** A small project with everything that a tree may hold. */
export function fillProject(directory: string): void {
  const at = (path: string): string => join(directory, path);
  for (const path of ["src/deep/er", "empty/inner", "docs"]) mkdirSync(at(path), { recursive: true });
  writeFileSync(at("README.md"), "# Title\n\nfirst\nsecond\nthird\n");
  writeFileSync(at("src/main.ts"), "export const one = 1;\nexport const two = 2;\n");
  writeFileSync(at("src/deep/er/util.ts"), "export {};\n");
  writeFileSync(at("src/Case.ts"), "upper\n");
  writeFileSync(at("bytes.bin"), Buffer.from([0, 255, 1, 254, 10, 13]));
  writeFileSync(at("latin.txt"), Buffer.from("caf\xe9\n", "latin1"));
  writeFileSync(at("empty.txt"), "");
  writeFileSync(at("line\nbreak.txt"), "a name with a line break\n");
  writeFileSync(at("docs/long.md"), "a line of the long document\n".repeat(2_000));
  writeFileSync(at("run.sh"), "#!/bin/sh\necho run\n");
  chmodSync(at("run.sh"), 0o755);
  writeFileSync(at("read-only.txt"), "read only\n");
  chmodSync(at("read-only.txt"), 0o444);
  symlinkSync("src/main.ts", at("link.ts"));
  symlinkSync("src", at("link-dir"));
  symlinkSync("nowhere", at("dangling"));
}

const OCTAL = 8;

/** Every entry by path: type, mode, and content or target. */
export async function treeOf(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    const name = path.slice(directory.length + 1);
    const bits = (mode & 0o7777).toString(OCTAL);
    if (entry.isSymbolicLink()) found[name] = `link ${await readlink(path)}`;
    else if (entry.isDirectory()) found[name] = `directory ${bits}`;
    else found[name] = `file ${bits} ${await readFile(path, "latin1")}`;
  }
  return found;
}

/** A thread whose agent has files and commands in `directory`. */
export class ShellThread {
  readonly id = newName();

  constructor(
    readonly saver: SharedSaver,
    readonly directory: string,
  ) {}

  get threads() {
    return openThreads(this.saver);
  }

  async run(script: Script): Promise<void> {
    const backend = new LocalShellBackend({ rootDir: this.directory, virtualMode: true });
    const agent = createDeepAgent({ model: scriptedModel(script), checkpointer: this.saver, backend });
    await agent.invoke({ messages: "Go" }, { configurable: { thread_id: this.id } });
    await backend.close();
  }

  rewind(step: number | string, dryRun = false): Promise<RewindResult> {
    return this.threads.rewind(this.id, step, { roots: [this.directory], dryRun });
  }
}
