/** The messages of a thread as a model sees them. */

import type { Stages } from "../contract/stages.ts";
import { type Messages, mayHaveMarks } from "../messages/messages.ts";
import { withReminders } from "../messages/reminders.ts";
import type { LoopTask } from "../task/stage-task.ts";

type Render = NonNullable<Stages["render"]>;

/** Answers the list it is given where nothing is to be changed; of unmarked messages none is looked at. */
export function renderer(stages: readonly Stages[], task: LoopTask): (messages: Messages) => Messages {
  const renders = stages.map((stage) => stage.render).filter((render) => render !== undefined);
  return (messages) => withReminders(renderMarked(messages, renders), task.reminders());
}

function renderMarked(messages: Messages, renders: readonly Render[]): Messages {
  if (renders.length === 0 || !mayHaveMarks(messages)) return messages;
  let isChanged = false;
  const list = messages.map((message) => {
    const rendered = renders.reduce((current, render) => render(current), message);
    isChanged ||= rendered !== message;
    return rendered;
  });
  return isChanged ? list : messages;
}
