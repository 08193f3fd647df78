/** What was typed in a directory, for the up key. */
import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { homeOf } from "../../state/home.ts";

const MOST = 200;
const MOST_CHARACTERS = 10_000;

export class InputHistory {
  private readonly path: string;

  constructor(directory: string, environment: NodeJS.ProcessEnv) {
    const key = createHash("sha256").update(directory).digest("hex").slice(0, 16);
    this.path = join(homeOf(environment), "history", `${key}.jsonl`);
  }

  /** The oldest first. Lines that cannot be read are left out. */
  async load(): Promise<readonly string[]> {
    const text = await readFile(this.path, "utf8").catch(() => "");
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.slice(-MOST).flatMap((line) => {
      try {
        const entry: unknown = JSON.parse(line);
        return typeof entry === "string" ? [entry] : [];
      } catch {
        return [];
      }
    });
  }

  /** A history that cannot be written is no reason to stop. */
  async add(entry: string): Promise<void> {
    if (entry.length > MOST_CHARACTERS) return;
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      await appendFile(this.path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    } catch {}
  }
}
