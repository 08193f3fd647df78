/** How a sandbox on this machine reaches the few hosts it may reach. */
import type { EgressOptions } from "../egress/egress-options.ts";

/** A file or directory of this machine and where it is in the sandbox. */
export interface Bind {
  readonly from: string;
  readonly to: string;
  readonly isWritable?: boolean;
}

/** What the command line of a sandbox needs so that its commands reach the proxy. */
export interface SandboxNetwork {
  readonly binds: readonly Bind[];
  /** Stands before the command that is run in the sandbox. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ends the proxy and removes its files. Safe twice. */
  close(): Promise<void>;
}

export type { EgressOptions };
