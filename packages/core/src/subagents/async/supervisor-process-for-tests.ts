/** A supervisor whose threads are on disk, with two background tasks: one ends, the other never does. */
import { join } from "node:path";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { DiskSaver } from "../../loop/fixtures/disk-saver.ts";
import { scriptedModel } from "../../testing/index.ts";
import { said, supervisor, talk } from "./supervisors-for-tests.ts";

let isCutOffAsked = false;

export function supervisorOnDisk(directory: string) {
  const research = createDeepAgent({
    model: scriptedModel((request) => {
      const order = said(request).at(-1) ?? "";
      isCutOffAsked ||= order === "For ever.";
      return order === "For ever." ? { never: true } : `Found: ${order}`;
    }),
    checkpointer: new DiskSaver(join(directory, "tasks")),
  });
  const saver = new DiskSaver(join(directory, "supervisor"));
  return talk(supervisor({ asyncAgents: { research }, checkpointer: saver }), "on-disk");
}

/** As a program: starts both tasks, says so when the first is done, and stays. */
const [, program = "", directory] = process.argv;
if (program.endsWith("supervisor-process-for-tests.js") && directory !== undefined) {
  const thread = supervisorOnDisk(directory);
  const start = (description: string) =>
    ["start_async_task", { description, subagent_type: "researcher" }] as const;
  await thread.call(start("Whales."), start("For ever."));
  const { backgroundTasks } = await import("./background-tasks.ts");
  await until(() => isCutOffAsked && backgroundTasks().running === 1);
  console.log("started");
  setInterval(() => undefined, 60_000);
}
