/** All commands of the app, in the order of help. */
import type { AppCommand } from "./command.ts";
import { INFO_COMMANDS } from "./info-commands.ts";
import { PLAN_COMMANDS } from "./plan-commands.ts";
import { REWIND_COMMANDS } from "./rewind-commands.ts";
import { TASK_COMMANDS } from "./task-commands.ts";
import { THREAD_COMMANDS } from "./thread-commands.ts";
import { TOKEN_COMMANDS } from "./token-commands.ts";
import { UNDO_COMMANDS } from "./undo-commands.ts";

export const allCommands: readonly AppCommand[] = [
  ...[...THREAD_COMMANDS, ...UNDO_COMMANDS, ...REWIND_COMMANDS],
  ...[...TASK_COMMANDS, ...PLAN_COMMANDS, ...TOKEN_COMMANDS, ...INFO_COMMANDS],
];
