/** Background tasks of the thread: agents that work on while the conversation goes on. */
import { safeLine } from "../../terminal/safe-text.ts";
import { errorWords } from "../app-words.ts";
import { Picker } from "../panels/picker.ts";
import type { AppCommand, CommandHost } from "./command.ts";

/** As the agent's state holds them. */
interface BackgroundTask {
  readonly threadId: string;
  readonly agentName: string;
  readonly status: string;
  readonly description?: string;
}

async function tasksOf({ session, place }: CommandHost): Promise<readonly BackgroundTask[]> {
  if (session.isEmpty) return [];
  const { values } = await place.client.threads.getState(session.threadId);
  const { asyncTasks } = (values ?? {}) as { readonly asyncTasks?: Record<string, BackgroundTask> };
  return Object.values(asyncTasks ?? {});
}

/** The state says how tasks were when the agent last looked; the server knows how they are. */
async function statusNow({ place }: CommandHost, { threadId, status }: BackgroundTask): Promise<string> {
  const [newest] = await place.client.runs.list(threadId, { limit: 1 }).catch(() => []);
  return newest?.status ?? status;
}

async function joined(host: CommandHost, { threadId, agentName }: BackgroundTask): Promise<void> {
  const { session, theme } = host;
  const from = session.threadId;
  host.say(
    theme.dim(`The task of ${safeLine(agentName, 40)}; /resume leads back to ${from.slice(0, 8)}:`),
    "",
  );
  await session.open(threadId, { isShown: false });
  host.replay();
}

const tasks: AppCommand = {
  name: "tasks",
  description: "background tasks of this thread; choosing one shows it at work",
  run: async (host) => {
    const found = await tasksOf(host);
    if (found.length === 0) return host.say("This thread has no background tasks.");
    const items = await Promise.all(
      found.map(async (task) => ({
        value: task,
        label: safeLine(`${task.agentName}: ${task.description ?? ""}`, 60),
        description: `${safeLine(await statusNow(host, task), 20)} · ${safeLine(task.threadId, 8)}`,
      })),
    );
    const onPick = (task: BackgroundTask): void => {
      host.closePanel();
      void joined(host, task).catch((error: Error) => host.say(host.theme.bad(errorWords(error))));
    };
    host.show(
      new Picker({ title: "Background tasks", items, theme: host.theme, onClose: host.closePanel, onPick }),
    );
  },
};

export const TASK_COMMANDS: readonly AppCommand[] = [tasks];
