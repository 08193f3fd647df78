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
  /** The directory of this machine whose files are seen at `/`. */
  readonly skeleton: string;
  readonly hasFilter: boolean;
  /** Identity of the program that isolates commands, as it was when the place was opened. Absent: it belongs to the system. */
  readonly program?: Pick<Bubblewrap, "path" | "fingerprint">;
  /** Commands may need a sandbox in the sandbox. */
  readonly isNested?: boolean;
  /**
   * File operations are about to change these paths, relative to the workspace. The returned function gets whether they
   * did. Absent: nobody needs to know.
   */
  allowChanges?(paths: readonly string[]): (isDone: boolean) => void;
  /** Ends what is left and removes what was made besides the lease's directory. Safe twice. */
  close(): Promise<void>;
}
