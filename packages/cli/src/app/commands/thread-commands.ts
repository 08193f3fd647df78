/** Commands about threads: other ones, their titles, changes, and files to take along. */
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { safeLine } from "../../terminal/safe-text.ts";
import { patchLines } from "../../threads/lines.ts";
import { realFiles } from "../../threads/put-aside.ts";
import { Picker } from "../panels/picker.ts";
import type { AppCommand, CommandHost } from "./command.ts";
import { exportHtml, exportMarkdown } from "./export-thread.ts";
import { threadItems } from "./thread-items.ts";

const resume: AppCommand = {
  name: "resume",
  description: "switch to another thread",
  run: async (host) => {
    const items = await threadItems(host.place, host.directory);
    if (items.length === 0) return host.say("There are no threads yet.");
    host.show(
      new Picker({
        title: "Threads",
        items,
        theme: host.theme,
        onClose: host.closePanel,
        onChange: host.changed,
        onPick: (threadId) => {
          host.closePanel();
          void opened(host, threadId);
        },
      }),
    );
  },
};

async function opened(host: CommandHost, threadId: string): Promise<void> {
  try {
    host.say(host.theme.dim(`Thread ${threadId.slice(0, 8)}:`), "");
    await host.session.open(threadId, { isShown: false });
    host.replay();
  } catch (error) {
    host.say(host.theme.bad(safeLine((error as Error).message, 300)));
  }
}

const clear: AppCommand = {
  name: "clear",
  description: "begin a new thread; this one is kept",
  run: (host) => {
    const { threadId, isEmpty } = host.session;
    host.session.clear();
    host.replay();
    host.say(isEmpty ? "New thread." : `New thread. Back to the old one (${threadId.slice(0, 8)}): /resume`);
  },
};

const diff: AppCommand = {
  name: "diff",
  description: "files that the agent changed in this thread",
  run: async (host) => {
    const changes = realFiles(await host.place.past.changes(host.session.threadId));
    if (changes.length === 0) return host.say("No files changed.");
    const { default: pc } = await import("picocolors");
    host.say(...patchLines(changes, pc.createColors(host.theme.hasColour)));
  },
};

const save: AppCommand = {
  name: "export",
  usage: "[file.md|file.html|file.json]",
  description: "write the conversation to a file",
  isQuick: true,
  run: async (host, words) => {
    const name = words || `deepwright-${host.session.threadId.slice(0, 8)}.md`;
    const { screen } = host.session;
    const text = name.endsWith(".json")
      ? `${JSON.stringify(screen.main.messages, undefined, 2)}\n`
      : name.endsWith(".html")
        ? exportHtml(screen)
        : exportMarkdown(screen);
    const path = resolve(host.directory, name);
    await writeFile(path, text, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw new Error(`${name} is there already: /export other-name.md`);
      if (error.code === "ENOENT") throw new Error(`There is no directory ${dirname(path)}.`);
      throw error;
    });
    host.say(`Wrote ${safeLine(name)}`);
  },
};

const title: AppCommand = {
  name: "title",
  usage: "[text]",
  description: "name this thread; without a text the model does",
  run: async (host, words) => {
    const { session, say, place } = host;
    if (session.isEmpty) return say("There is nothing to name yet.");
    if (words === "" && !place.local) return say("Give a name: /title the basket in cents");
    if (words === "") say(host.theme.dim("The model looks for a title…"));
    const named = words || ((await place.local?.titleOf(exportMarkdown(session.screen))) ?? "");
    await place.rename(session.threadId, named);
    say(`This thread is named: ${safeLine(named, 100)}`);
  },
};

export const THREAD_COMMANDS: readonly AppCommand[] = [resume, clear, title, diff, save];
