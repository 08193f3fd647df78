/** History of the input in a directory, for the up key. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { homeOf } from "../../state/home.ts";

const MOST = 200;
const MOST_CHARACTERS = 10_000;

export class InputHistory {
  constructor(
    private readonly directory: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** The oldest first. Lines that cannot be read are left out. */
  async load(): Promise<readonly string[]> {
    const text = await readFile(await this.path(), "utf8").catch(() => "");
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
      const path = await this.path();
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await appendFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    } catch {}
  }

  /** Hashing is loaded late: it would delay the first frame. */
  private async path(): Promise<string> {
    const { createHash } = await import("node:crypto");
    const key = createHash("sha256").update(this.directory).digest("hex").slice(0, 16);
    return join(homeOf(this.environment), "history", `${key}.jsonl`);
  }
}
