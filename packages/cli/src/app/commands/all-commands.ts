/** All commands of the app, in the order of help. */
import type { AppCommand } from "./command.ts";
import { INFO_COMMANDS } from "./info-commands.ts";
import { THREAD_COMMANDS } from "./thread-commands.ts";

export const allCommands: readonly AppCommand[] = [...THREAD_COMMANDS, ...INFO_COMMANDS];
