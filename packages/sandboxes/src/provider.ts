/**
 * The contract between a provider of sandboxes and the lease that uses them.
 *
 * A provider opens sandboxes and ends them. Tools get the `Sandbox`, with files and commands. Only the harness holds
 * the lease, which can end it. See `lease/`.
 */
import type { SandboxBackendProtocol } from "deepwright";

/** The part of a sandbox that tools get: files and commands, and no way to end or to keep it. */
export type Sandbox = SandboxBackendProtocol;

/** Network that commands in a sandbox can reach: nothing, hosts on a list, or everything. */
export type NetworkReach = "none" | "allow-list" | "open";

export interface OpenRequest {
  /** Stands for the thread or assistant, `[a-z0-9-]{1,63}`: a place that can is labelled with it, under `LEASE_LABEL`. */
  readonly key: string;
  /** Variables of every command beside the provider's own. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Seconds without use after which the sandbox ends by itself; if it cannot, the next `open` of the provider, in any
   * process, ends it. Absent: the provider's default.
   */
  readonly ttl?: number;
  readonly signal?: AbortSignal;
}

/** A place that is there, held by this process. */
export interface OpenedSandbox {
  /** By which it can be found again, also from another process. */
  readonly id: string;
  readonly sandbox: Sandbox;
  /** Signals that the sandbox is still needed; absent: no signal is necessary. */
  keepAlive?(): Promise<void>;
  /** Releases the sandbox in this process and leaves it as it is. Calling it twice is safe. */
  detach(): Promise<void>;
  /** Ends it with all that runs in it and all its files, except files of the caller. Safe twice; no error when it is gone. */
  destroy(): Promise<void>;
}

export interface SandboxProvider {
  /** As in `--sandbox`: `os`, `docker`, `modal`, … */
  readonly name: string;
  readonly network: NetworkReach;
  /** Where commands start, and relative paths lie. */
  readonly workingDirectory: string;
  /** Words for the model about how commands see the files; absent: at the same paths. */
  readonly commandNote?: string;
  /** Commands can be run with paths closed: see `closesPaths` of a sandbox. */
  readonly closesPaths?: true;
  /** The working directory belongs to the caller and outlives every sandbox, so that a fresh one has the same files. */
  readonly lendsFiles?: boolean;
  /** There is one sandbox, which the caller owns: every lease shares it, and none ends it. */
  readonly isBorrowed?: boolean;
  /** Throws a `SandboxError`; then nothing is left of the attempt. */
  open(request: OpenRequest): Promise<OpenedSandbox>;
  /** Commands get the variables of this request. Undefined: it is gone. Absent: a place cannot be found again. */
  reattach?(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined>;
  /** Ends an unused sandbox; no error if it is gone. */
  destroy?(id: string): Promise<void>;
  /** Sandboxes with this key, to find those of a process that crashed before it could note the id. */
  find?(key: string): Promise<readonly string[]>;
}

/** The label or tag that holds `OpenRequest.key`. */
export const LEASE_LABEL = "deepwright-lease";
