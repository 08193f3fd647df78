import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { testProgram } from "../../../../../scripts/test-program.mjs";
import { scratchDirectory } from "../../loop/fixtures/processes.ts";
import { backgroundTasks } from "./background-tasks.ts";
import { supervisorOnDisk } from "./supervisor-process-for-tests.ts";

const PROGRAM = await testProgram(new URL("./supervisor-process-for-tests.ts", import.meta.url));

test("after kill -9 another process knows the tasks, what came of them, and goes on with the one that was cut off", async () => {
  const directory = scratchDirectory();
  const child = spawn(process.execPath, [PROGRAM, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  const thread = supervisorOnDisk(directory);
  const tasks = await thread.tasks();
  const id = (order: string) => tasks.find(({ description }) => description === order)?.taskId;
  const list = (await thread.one("list_async_tasks")).text.split("\n").toSorted();
  expect(list).toEqual(
    [
      `- ${id("Whales.")} · researcher · success · Whales.`,
      `- ${id("For ever.")} · researcher · error · For ever.`,
    ].toSorted(),
  );
  expect((await thread.one("check_async_task", { task_id: id("Whales.") })).text).toMatch(
    /success\nFound: Whales\.$/,
  );
  await thread.one("update_async_task", { task_id: id("For ever."), message: "Only until noon." });
  await backgroundTasks().idle();
  await thread.tell("And?");
  expect((await thread.one("check_async_task", { task_id: id("For ever.") })).text).toMatch(
    /Found: Only until noon\.$/,
  );
  const heard = await thread.heard();
  expect(new Set(heard).size).toBe(heard.length);
});
