import { expect, it } from "vitest";
import type { StageTask } from "../loop/contract/stages.ts";
import { handOnFiles } from "./hand-on.ts";

it("changes of several stages of one task reach the state together", () => {
  const written: Record<string, unknown> = {};
  const write = (key: string, value: unknown): void => {
    written[key] = value;
  };
  const task = { write } as unknown as StageTask;
  const file = (content: string) => ({ content, created_at: "", modified_at: "" });
  handOnFiles(task, { "/a": file("a") });
  handOnFiles(task, undefined);
  handOnFiles(task, { "/b": file("b") });
  expect(Object.keys(written.files as object)).toEqual(["/a", "/b"]);
});
