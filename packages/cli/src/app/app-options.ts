/** Options that the app gets from the program that opens it. */
import type { ApprovalMode } from "@deepwright/server";
import type { AppCommand } from "./commands/command.ts";
import type { Place } from "./session/place.ts";
import type { ThemeName } from "./view/theme.ts";

export interface AppOptions {
  readonly directory: string;
  /** Absent: as the settings say, else `ask`. */
  readonly mode: ApprovalMode | undefined;
  readonly initialTheme: ThemeName;
  readonly hasColour: boolean;
  readonly environment: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly reflows: boolean;
  readonly openPlace: (model?: string) => Promise<Place>;
  readonly loadCommands: () => Promise<readonly AppCommand[]>;
}
