/** A provider that isolates nothing: each place is a directory of this machine, which any process can find. */
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ExecuteOptions, type ExecuteResponse, LocalShellBackend, SandboxError } from "deepwright";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";

export interface ProcessProvider extends SandboxProvider {
  readonly root: string;
  /** Calls in order: `open key`, `reattach id`, `destroy id`, `keepAlive id`, `detach id`. */
  readonly log: string[];
  /** The ids of all places that are there. */
  places(): string[];
}

export interface ProcessProviderOptions {
  /** Where the places lie; two providers with one root are two processes with one account. */
  readonly root: string;
  readonly network?: SandboxProvider["network"];
  /** Milliseconds opening takes. */
  readonly delay?: number;
  /** Called before a place is made; what it throws is thrown. */
  readonly onOpen?: () => void;
  /** Without a way to find places again. */
  readonly forgets?: boolean;
}

export function processProvider(options: ProcessProviderOptions): ProcessProvider {
  const { root, delay = 0 } = options;
  const log: string[] = [];
  const open = async (request: OpenRequest): Promise<OpenedSandbox> => {
    request.signal?.throwIfAborted();
    log.push(`open ${request.key}`);
    removeExpired(root);
    options.onOpen?.();
    const id = `place-${randomBytes(6).toString("hex")}`;
    makePlace(join(root, id), request);
    await waited(delay, request.signal).catch((error: unknown) => {
      endPlace(join(root, id));
      throw error;
    });
    return opened(root, id, request.env, log);
  };
  const base: ProcessProvider = {
    root,
    log,
    name: "process",
    network: options.network ?? "open",
    workingDirectory: "/",
    commandNote: "Commands start in the directory that file paths call `/`.",
    places: () => sandboxIds(root),
    open,
  };
  if (options.forgets) return base;
  return {
    ...base,
    reattach: async (id, { env, signal }) => {
      signal?.throwIfAborted();
      log.push(`reattach ${id}`);
      return existsSync(join(root, id)) ? opened(root, id, env, log) : undefined;
    },
    destroy: async (id) => {
      log.push(`destroy ${id}`);
      endPlace(join(root, id));
    },
    find: async (key) => sandboxIds(root).filter((id) => read(join(root, id, "key")) === key),
  };
}

function makePlace(place: string, { key, ttl }: OpenRequest): void {
  mkdirSync(join(place, "work"), { recursive: true });
  mkdirSync(join(place, "running"));
  writeFileSync(join(place, "key"), key);
  writeFileSync(join(place, "ttl"), String(ttl ?? ""));
}

function opened(root: string, id: string, env: OpenRequest["env"], log: string[]): OpenedSandbox {
  const place = join(root, id);
  const sandbox = new PlaceShell(place, env);
  return {
    id,
    sandbox,
    keepAlive: async () => {
      log.push(`keepAlive ${id}`);
      const now = new Date();
      utimesSync(join(place, "ttl"), now, now);
    },
    detach: async () => {
      log.push(`detach ${id}`);
    },
    destroy: async () => {
      log.push(`destroy ${id}`);
      endPlace(place);
    },
  };
}

/** Commands note their process, so that who ends the place can end them. */
class PlaceShell extends LocalShellBackend {
  readonly #place: string;

  constructor(place: string, env: OpenRequest["env"]) {
    super({ rootDir: join(place, "work"), virtualMode: true, env });
    this.#place = place;
    for (const method of METHODS) {
      const act = this[method].bind(this) as (...given: unknown[]) => Promise<unknown>;
      this[method] = this.#orLost(act) as never;
    }
  }

  override async execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    const noted =
      command.includes("\0") || command.trim() === ""
        ? command
        : `echo > '${this.#place}/running/'$$\n${command}`;
    return this.#orLost((given: string) => super.execute(given, options))(noted);
  }

  #orLost<Given extends unknown[], Result>(
    act: (...given: Given) => Promise<Result>,
  ): (...given: Given) => Promise<Result> {
    const checkThere = (): void => {
      if (!existsSync(join(this.#place, "key")))
        throw new SandboxError("The sandbox is gone.", "SANDBOX_LOST");
    };
    return async (...given) => {
      checkThere();
      try {
        return await act(...given);
      } finally {
        checkThere();
      }
    };
  }
}

const METHODS = [
  "ls",
  "read",
  "readRaw",
  "write",
  "append",
  "edit",
  "delete",
  "grep",
  "glob",
  "uploadFiles",
  "downloadFiles",
] as const;

function endPlace(place: string): void {
  const running = existsSync(place) ? readdirSync(join(place, "running")) : [];
  rmSync(place, { recursive: true, force: true });
  for (const pid of running)
    try {
      process.kill(-Number(pid), "SIGKILL");
    } catch {
      // It ended by itself.
    }
}

function removeExpired(root: string): void {
  for (const id of sandboxIds(root)) {
    const ttl = Number(read(join(root, id, "ttl")));
    if (ttl > 0 && Date.now() - statSync(join(root, id, "ttl")).mtimeMs > ttl * 1000)
      endPlace(join(root, id));
  }
}

function sandboxIds(root: string): string[] {
  return existsSync(root) ? readdirSync(root).filter((name) => existsSync(join(root, name, "key"))) : [];
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function waited(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
