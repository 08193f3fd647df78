import { expect, it } from "vitest";
import type { StageTask } from "../loop/contract/stages.ts";
import { writeFilesUpdate } from "./write-files-update.ts";

it("changes of several stages of one task reach the state together", () => {
  const written: Record<string, unknown> = {};
  const write = (key: string, value: unknown): void => {
    written[key] = value;
  };
  const task = { write } as unknown as StageTask;
  const file = (content: string) => ({ content, created_at: "", modified_at: "" });
  writeFilesUpdate(task, { "/a": file("a") });
  writeFilesUpdate(task, undefined);
  writeFilesUpdate(task, { "/b": file("b") });
  expect(Object.keys(written.files as object)).toEqual(["/a", "/b"]);
});
