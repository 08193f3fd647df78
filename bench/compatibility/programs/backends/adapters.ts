/** Backends and sandboxes of the older protocol, adapted and decorated. */
import {
  adaptBackendProtocol,
  adaptSandboxProtocol,
  type BackendProtocolV1,
  type FileData,
  isSandboxBackend,
  isSandboxProtocol,
  type SandboxBackendProtocolV1,
} from "library";
import { withoutWords } from "../../kit/look.ts";

const date = "2026-01-01T00:00:00.000Z";

class OlderBackend implements BackendProtocolV1 {
  readonly files = new Map<string, string>([["/a.txt", "alpha\nbeta"]]);
  lsInfo(_path: string) {
    return [...this.files.keys()].map((path) => ({ path, is_dir: false }));
  }
  read(filePath: string) {
    return this.files.get(filePath) ?? `Error: File '${filePath}' not found`;
  }
  readRaw(filePath: string): FileData {
    const text = this.files.get(filePath);
    if (text === undefined) throw new Error(`File '${filePath}' not found`);
    return { content: text.split("\n"), created_at: date, modified_at: date };
  }
  grepRaw(pattern: string) {
    if (pattern === "(") return "Invalid pattern";
    return [{ path: "/a.txt", line: 1, text: "alpha" }];
  }
  globInfo(_pattern: string) {
    return [{ path: "/a.txt" }];
  }
  write(filePath: string, content: string) {
    this.files.set(filePath, content);
    return { path: filePath, filesUpdate: null };
  }
  edit(filePath: string, oldString: string, newString: string) {
    this.files.set(filePath, (this.files.get(filePath) ?? "").replace(oldString, newString));
    return { path: filePath, filesUpdate: null, occurrences: 1 };
  }
}

class OlderSandbox extends OlderBackend implements SandboxBackendProtocolV1 {
  readonly id = "older";
  execute(command: string) {
    return { output: `ran ${command}`, exitCode: 0, truncated: false };
  }
}

export default async function program() {
  const older = new OlderBackend();
  const backend = adaptBackendProtocol(older);
  const sandbox = new OlderSandbox();
  const adapted = adaptSandboxProtocol(sandbox);
  const twice = adaptSandboxProtocol(adapted);
  Object.assign(adapted, { label: "decorated" });
  return {
    ls: await backend.ls("/"),
    read: await backend.read("/a.txt"),
    missing: withoutWords(await backend.read("/none.txt")),
    raw: await backend.readRaw?.("/a.txt"),
    grep: await backend.grep("alpha"),
    badGrep: withoutWords(await backend.grep("(")),
    glob: await backend.glob("*.txt"),
    write: await backend.write("/b.txt", "b"),
    edit: await backend.edit("/b.txt", "b", "c"),
    execute: await adapted.execute("ls"),
    id: adapted.id,
    isNew: [adapted !== (sandbox as unknown), backend !== (older as unknown)],
    twiceIsNew: twice !== adapted,
    sourceIsUntouched: !("label" in sandbox),
    guards: [sandbox, older, adapted, {}, null].map((one) => [isSandboxProtocol(one), isSandboxBackend(one)]),
  };
}
