/** Handles a text that a person sent: a command of the app, a shell command, or a message with files. */
import { safeLine, safeText } from "../../terminal/safe-text.ts";
import { expandCommand } from "../../user-files/user-commands.ts";
import { withAttachments } from "../input/attachments.ts";
import type { AppCommand, CommandHost } from "./command.ts";

const MOST_OUTPUT = 20_000;
const SHOWN_LINES = 40;
const LONGEST_MS = 120_000;
const NO_SANDBOX = "Commands need a sandbox, and there is none here: see deepwright doctor.";
const ELSEWHERE = "Your own commands run on this machine only, and the app is connected to a server.";

export async function submit(text: string, host: CommandHost): Promise<void> {
  const { session } = host;
  if (text.startsWith("!") && text.length > 1) return shell(text.slice(1).trim(), host);
  const named = /^\/([a-z][\w:-]*)(?:\s+([\s\S]*))?$/i.exec(text);
  const own = named && expandCommand(text, host.place.local?.userCommands ?? []);
  if (named && !own) return command(named[1] ?? "", named[2]?.trim() ?? "", host);
  if (session.isWaiting)
    host.say(host.theme.dim("What waited for approval is cancelled by the new message."));
  const { content, problems } = await withAttachments(own?.text ?? text, host.directory);
  for (const problem of problems) host.say(host.theme.warning(safeLine(problem, 300)));
  await session.say(content);
}

async function command(name: string, words: string, host: CommandHost): Promise<void> {
  const found = host.commands.find((one) => one.name === name) ?? onlyBeginning(name, host.commands);
  if (!found) {
    host.say(host.theme.bad(`There is no command /${safeLine(name, 40)}. /help lists all of them.`));
    return;
  }
  if (host.session.isRunning && !found.isQuick) {
    host.say(host.theme.warning(`/${found.name} waits until the agent is done: Esc stops it.`));
    return;
  }
  await found.run(host, words);
}

function onlyBeginning(name: string, commands: readonly AppCommand[]): AppCommand | undefined {
  const fitting = commands.filter((one) => one.name.startsWith(name));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** The person's own command: nobody is asked, the sandbox holds. The next message tells the agent about it. */
async function shell(line: string, host: CommandHost): Promise<void> {
  const execute = host.place.local?.execute;
  if (!execute) {
    host.say(host.theme.bad(host.place.local ? NO_SANDBOX : ELSEWHERE));
    return;
  }
  host.say(host.theme.accent(`! ${safeLine(line, 500)}`));
  const stop = new AbortController();
  const done = host.working(`Running ${safeLine(line, 60)}`, () => stop.abort());
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(LONGEST_MS)]);
  const whole = await execute(line, signal)
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return stop.signal.aborted ? "(stopped)" : "(stopped after 2 minutes)";
    })
    .finally(done);
  const output = safeText(whole.slice(0, MOST_OUTPUT));
  const lines = output.replace(/\n$/, "").split("\n");
  host.session.additions.push(`I ran \`${line}\`:\n\n${output}`);
  const hidden = lines.length - SHOWN_LINES;
  host.say(
    ...lines.slice(0, SHOWN_LINES).map((row) => `  ${row}`),
    ...(hidden > 0 ? [host.theme.dim(`  … ${hidden} more lines`)] : []),
  );
}
