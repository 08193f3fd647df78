import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listImages, recordImage, SharedMemorySaver, type SharedSaver } from "@deepwright/checkpoint";
import { createDeepAgent, FilesystemBackend } from "deepwright";
import { undoTreeName } from "deepwright/internal";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { describe, expect, it } from "vitest";
import { directoryWith } from "../test-support/run-binary.ts";
import { changesSince, imagesBefore, imagesBeforeInput } from "./run-changes.ts";

const THREAD = "t";

/** One run whose agent writes these files, each in a step of its own. */
async function runIn(saver: SharedSaver, rootDir: string, files: Record<string, string>): Promise<void> {
  const calls = Object.entries(files).map(([file_path, content]) =>
    callTool("write_file", { file_path, content }),
  );
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const model = scriptedModel([...calls, say("Done.")]);
  const agent = createDeepAgent({ model, backend, checkpointer: saver });
  await agent.invoke({ messages: "Go" }, { configurable: { thread_id: THREAD } });
}

describe("what a run wrote", () => {
  it("is counted from where it began; one that was broken off, from its input", async () => {
    const [saver, directory] = [new SharedMemorySaver(), await directoryWith({})];
    const place = undoTreeName(directory);
    const told = async (since: number) => (await changesSince(saver, THREAD, since, place)).created;
    expect(await imagesBefore(saver, THREAD)).toBe(0);
    await runIn(saver, directory, { "/a": "a", "/b": "b" });
    expect(await told(0)).toEqual(["/a", "/b"]);
    expect(await told(await imagesBeforeInput(saver, THREAD))).toEqual(["/a", "/b"]);
    const before = await imagesBefore(saver, THREAD);
    await runIn(saver, directory, { "/c": "c", "/d": "d" });
    expect(await told(before)).toEqual(["/c", "/d"]);
    expect(await told(await imagesBeforeInput(saver, THREAD))).toEqual(["/c", "/d"]);
    await runIn(saver, directory, {});
    expect(await told(await imagesBeforeInput(saver, THREAD))).toEqual([]);
  });

  it("is what is on the disk: not what failed, was changed back, or lies elsewhere", async () => {
    const bytes = new Uint8Array([0, 255]);
    const [saver, directory] = [
      new SharedMemorySaver(),
      await directoryWith({ kept: "old", bytes, dir: "x" }),
    ];
    await runIn(saver, directory, { "/mine": "new" });
    const checkpointId = (await listImages(saver, THREAD))[0]?.checkpointId as string;
    const image = { checkpointId, place: undoTreeName(directory) };
    const record = (
      path: string,
      before: string | Uint8Array | undefined,
      after: string | Uint8Array | undefined,
    ) => recordImage(saver, THREAD, { ...image, path, before, after });
    await record("/kept", "old", "never written");
    await record("/none", undefined, "never written");
    await record("/bytes", bytes, "changed");
    await record("/bytes", "changed", bytes);
    await record("/gone", "was there", undefined);
    await record("/dir", "y", "x");
    await record("/dir/impossible", "y", "x");
    await recordImage(saver, THREAD, {
      ...image,
      place: "disk:/elsewhere",
      path: "/x",
      before: "a",
      after: "b",
    });
    await writeFile(join(directory, "mine"), "edited by a person since");
    expect(await changesSince(saver, THREAD, 0, image.place)).toEqual({
      created: ["/mine"],
      changed: ["/dir", "/dir/impossible"],
      deleted: ["/gone"],
    });
  });
});
