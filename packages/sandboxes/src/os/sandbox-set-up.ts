/** The contract between the sandbox and the systems that keep commands apart. */

import type { CommandSettings } from "./commands.ts";
import type { LeaseDirectory, Owner } from "./lease/lease-directory.ts";
import type { Bubblewrap } from "./linux/bubblewrap-program.ts";
import type { SandboxNetwork } from "./network/network.ts";
import type { OsSettings } from "./os-options.ts";

export interface SetUpRequest {
  readonly settings: OsSettings;
  readonly state: string;
  readonly lease: LeaseDirectory;
  /** Real. */
  readonly workspace: string;
  /** Owner of the processes of commands; absent: this user. */
  readonly owner: Owner | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly network: SandboxNetwork | undefined;
}

export interface PreparedSandbox {
  readonly commandSettings: CommandSettings;
  /** The directory of this machine that is mounted at `/`. */
  readonly skeleton: string;
  readonly hasFilter: boolean;
  /** Identity of the isolating program when the sandbox was opened. Absent: it belongs to the system. */
  readonly program?: Pick<Bubblewrap, "path" | "fingerprint">;
  /** Commands may need a sandbox in the sandbox. */
  readonly isNested?: boolean;
  /**
   * Announces that file operations may change these paths, relative to the workspace. Call the result with whether they
   * did. Absent: no announcement is needed.
   */
  allowChanges?(paths: readonly string[]): (isDone: boolean) => void;
  /** Ends the rest and removes everything made outside the lease's directory. Calling it twice is safe. */
  close(): Promise<void>;
}
