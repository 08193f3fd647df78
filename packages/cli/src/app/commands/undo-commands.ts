/** Commands about what the agent did to files: who wrote a line, and taking back a part. */
import { posix } from "node:path";
import { blameLines } from "../../threads/blame-lines.ts";
import { rewindLines } from "../../threads/lines.ts";
import type { AppCommand } from "./command.ts";
import { previewLines } from "./preview-lines.ts";

/** As the agent names it: from the root of its directory. */
function agentPath(given: string): string {
  return posix.join("/", given);
}

const blame: AppCommand = {
  name: "blame",
  usage: "FILE",
  description: "show which step wrote each line of a file",
  run: async (host, words) => {
    const file = words.trim();
    if (file === "") return host.say("Name a file: /blame src/main.ts");
    const lines = await host.place.past.blame(host.session.threadId, agentPath(file));
    host.say(...blameLines({ lines }));
  },
};

/** Beginnings of ids of calls; anything else is a file. */
const CALL = /^(call|restore|toolu)[-_]\w/;

const restore: AppCommand = {
  name: "restore",
  usage: "FILE or CALL",
  description: "undo what this thread did to a file, or one call; messages stay",
  run: async (host, words) => {
    const given = words.trim();
    if (given === "") return host.say("Name a file, or a call that /blame shows: /restore src/main.ts");
    const { past } = host.place;
    const { threadId } = host.session;
    const part = CALL.test(given) ? { call: given } : { path: agentPath(given) };
    const plan = await past.restore(threadId, { ...part, dry_run: true });
    host.say(host.theme.bold("Files would change:"), ...(await previewLines(host, plan)));
    if (plan.restored.length + plan.conflicts.length === 0) return;
    if (!(await host.confirm("Restore them?"))) return host.say("Nothing was changed.");
    const done = await past.restore(threadId, part);
    host.say(host.theme.bold("Restored:"), ...rewindLines(done));
    if (done.call) host.say(`Undo: /restore ${done.call}`);
  },
};

export const UNDO_COMMANDS: readonly AppCommand[] = [restore, blame];
