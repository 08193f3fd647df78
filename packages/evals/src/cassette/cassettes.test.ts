/** Cassettes: threads of real runs, replayed without a model. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { fileOperations } from "../cases/file-operations.ts";
import type { EvalCase } from "../format/eval-case.ts";
import { scriptedSource } from "../runner/model-source.ts";
import { cassetteText, parseCassette } from "./cassette.ts";
import type { TapeFault } from "./play-tape.ts";
import { recordCase } from "./record-case.ts";
import { CassetteDivergence, cassetteOf, replayCassette } from "./record-cassette.ts";

/** The thread of a run with real file tools. */
async function thread(): Promise<BaseMessage[]> {
  const model = scriptedModel([
    callTool("write_file", { file_path: "/a.md", content: "one" }, "c1"),
    {
      text: "Now I look.",
      toolCalls: [
        { name: "read_file", args: { file_path: "/a.md" }, id: "c2" },
        { name: "ls", args: {}, id: "c3" },
      ],
    },
    callTool("look_up", { word: "x" }, "c4"),
    say("Done."),
  ]);
  const { messages } = await createDeepAgent({ model }).invoke({
    messages: [new HumanMessage("Write a file.")],
  });
  return messages as BaseMessage[];
}

const recorded = async () => cassetteOf(await thread(), { name: "files" });

describe("a cassette", () => {
  test("replays with the same requests, from its file too", async () => {
    const directory = mkdtempSync(join(tmpdir(), "cassette-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const cassette = await recorded();
    const path = join(directory, "files.cassette.json");
    writeFileSync(path, cassetteText(cassette));
    const [played, again] = [await replayCassette(path), await replayCassette(cassette)];
    expect(played).toEqual(again);
    expect(played.requests).toBe(4);
    expect(played.outline[0]).toBe("human · Write a file.");
    expect(played.outline.at(-1)).toBe("ai · Done.");
  });

  test("says which request changed, and where", async () => {
    const cassette = await recorded();
    const [, other] = Object.entries(cassette.results).find(([id]) => id === "c2") ?? [];
    const results = { ...cassette.results, c2: { ...other!, text: `${other?.text} and more` } };
    const replay = replayCassette({ ...cassette, results });
    await expect(replay).rejects.toBeInstanceOf(CassetteDivergence);
    await expect(replay).rejects.toMatchObject({ request: 3 });
    await expect(replay).rejects.toThrow(
      /message \d+ \(tool\) differs from character \d+ on:\n {2}- .*one.*\n {2}\+ .*and more/,
    );
  });

  test.each<TapeFault>([
    { kind: "rate-limit" },
    { kind: "cut-stream" },
    { kind: "killed-tool" },
    ...[1, 2, 3, 4].map((request) => ({ kind: "crash", request }) as const),
  ])("comes to the same end after %o", async (fault) => {
    const cassette = await recorded();
    const usual = await replayCassette(cassette);
    const played = await replayCassette(cassette, { fault });
    const isTool = fault.kind === "killed-tool";
    expect(played.outline.length).toBe(usual.outline.length);
    expect(played.outline.filter((line, i) => line !== usual.outline[i])).toHaveLength(isTool ? 1 : 0);
  });

  test("keeps several runs of a thread, an interrupted one too", async () => {
    const interrupted = new AIMessage({ content: "", tool_calls: [{ name: "ls", args: {}, id: "x1" }] });
    const messages = [
      new HumanMessage("a"),
      interrupted,
      new HumanMessage("b"),
      new HumanMessage("c"),
      new AIMessage("Yes."),
    ];
    const cassette = await cassetteOf(messages, { name: "runs" });
    expect(cassette.segments.map(({ messages }) => messages)).toEqual([["a"], ["b", "c"]]);
    expect((await replayCassette(cassette)).outline.at(-1)).toBe("ai · Yes.");
  });

  test("has no secrets: not in texts, arguments, results or requests", async () => {
    process.env.CASSETTE_TEST_TOKEN = "v3ry-secret-value-1";
    onTestFinished(() => {
      delete process.env.CASSETTE_TEST_TOKEN;
    });
    const secret = "v3ry-secret-value-1";
    const call = { name: "look_up", args: { deep: [`a ${secret}`], [secret]: 1 }, id: "c1" };
    const broken = {
      name: "look_up",
      args: `{"x": "${secret}`,
      id: "c2",
      type: "invalid_tool_call" as const,
    };
    const cassette = await cassetteOf(
      [
        new HumanMessage(`Use ${secret}.`),
        new AIMessage({ content: `I use ${secret}`, tool_calls: [call], invalid_tool_calls: [broken] }),
        new ToolMessage({ content: `got ${secret}`, tool_call_id: "c1", name: "look_up" }),
        new AIMessage("sk-abcdefghijklmnopqrstuvwx is the key"),
      ],
      { name: "secret" },
    );
    const text = cassetteText(cassette);
    expect(text).not.toContain(secret);
    expect(text).not.toContain("sk-abcdef");
    expect(text).toContain("[CASSETTE_TEST_TOKEN]");
    await replayCassette(parseCassette(text, "it"));
  });

  test.each([
    ["{", /is not a cassette/],
    ['{"format":"other"}', /not a cassette of this version/],
  ])("of another form is refused: %s", (text, words) => {
    expect(() => parseCassette(text, "x.json")).toThrow(words);
  });

  test("needs a message of a user", async () => {
    await expect(cassetteOf([], { name: "none" })).rejects.toThrow(/no message of a user/);
  });
});

test("the run of a case becomes a cassette; one that did not come to its end does not", async () => {
  const given = fileOperations.cases[0] as EvalCase;
  const cassette = await recordCase(given, scriptedSource);
  expect(cassette).toMatchObject({ name: given.id, segments: [{ messages: [given.task].flat() }] });
  expect((await replayCassette(cassette)).requests).toBe(cassette.requests.length);
  const limited = { ...given, limits: { modelCalls: 1 } };
  await expect(recordCase(limited, scriptedSource)).rejects.toThrow(/did not come to its end.*1 model call/);
});

const KEPT = new URL("kept/", import.meta.url);

describe("kept threads send the requests they sent before; `npm run cassettes` records them anew after a wanted change", () => {
  test.each(readdirSync(KEPT))("%s", async (file) => {
    await replayCassette(new URL(file, KEPT));
  });
});
