/** LangSmithSandbox over a sandbox object that keeps its files in memory. */
import { LangSmithSandbox } from "library";
import { bytes, withoutWords } from "../../kit/look.ts";

type Sandbox = ConstructorParameters<typeof LangSmithSandbox>[0]["sandbox"];

export default async function program() {
  const files = new Map<string, Uint8Array>();
  const log: string[] = [];
  const rented = {
    name: "rented-1",
    run: async (command: string, options?: { timeout?: number }) => {
      log.push(`run ${options?.timeout}`);
      return { stdout: `ran ${command}`, stderr: "", exit_code: command === "false" ? 1 : 0 };
    },
    read: async (path: string) => {
      const content = files.get(path);
      if (content === undefined)
        throw Object.assign(new Error("404"), { name: "LangSmithResourceNotFoundError" });
      return content;
    },
    write: async (path: string, content: string | Uint8Array) => {
      files.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
    },
    start: async () => log.push("start"),
    stop: async () => log.push("stop"),
    delete: async () => log.push("delete"),
  };
  const sandbox = new LangSmithSandbox({ sandbox: rented as unknown as Sandbox, defaultTimeout: 30 });
  const uploads = await sandbox.uploadFiles([["/a.bin", new Uint8Array([1, 2, 255])]]);
  const downloads = await sandbox.downloadFiles(["/a.bin", "/none"]);
  const answers = {
    id: sandbox.id,
    running: sandbox.isRunning,
    echo: await sandbox.execute("echo"),
    failed: (await sandbox.execute("false", { timeout: 5 })).exitCode,
    uploads,
    downloads: downloads.map((one) => ({ ...one, content: bytes(one.content) })),
    write: withoutWords(await sandbox.write("/b.txt", "text")),
    written: bytes(files.get("/b.txt")),
  };
  await sandbox.stop();
  await sandbox.start();
  await sandbox.close();
  return { ...answers, log, afterClose: sandbox.isRunning };
}
