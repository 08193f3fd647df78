/** Commands that carry a plan out, or continue a long conversation in a short one. */
import type { AppCommand } from "./command.ts";

const PLAN_GO = "The plan is approved. Carry it out now.";

const approve: AppCommand = {
  name: "approve",
  usage: "[fresh]",
  description: "carry out the plan of plan mode",
  run: async ({ session, say, replay }, words) => {
    const plan = session.screen.main.messages.findLast(
      ({ role, text }) => role === "assistant" && text !== "",
    )?.text;
    if (session.mode !== "plan" || plan === undefined)
      return say("There is no plan to approve: /mode plan, then ask for one.");
    session.setMode("accept-edits");
    if (words !== "fresh") return session.say(PLAN_GO);
    session.clear();
    replay();
    await session.say(`${PLAN_GO}\n\n${plan}`);
  },
};

const SUMMARISE =
  "Summarise this conversation for somebody who goes on with it and knows nothing: the task, what was done, which files changed, what is open. Use no tools.";

const compact: AppCommand = {
  name: "compact",
  description: "go on in a new thread with a summary of this one",
  run: async ({ session, say, replay }) => {
    if (session.isEmpty) return say("There is nothing to compact.");
    await session.say(SUMMARISE);
    await session.idle();
    const { main, run } = session.screen;
    const last = main.messages.at(-1);
    if (run.status !== "success" || session.isWaiting || last?.role !== "assistant" || last.text === "")
      return say("The agent gave no summary; the thread stays as it is.");
    session.clear();
    session.additions.push(`Summary of the conversation so far:\n\n${last.text}`);
    replay();
    say("This is a new thread. Your next message goes with the summary.");
  },
};

export const PLAN_COMMANDS: readonly AppCommand[] = [approve, compact];
