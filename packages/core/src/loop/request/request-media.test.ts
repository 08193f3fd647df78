import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { tool } from "langchain";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { withinCpuLimit } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { png } from "../../context/media/media-kinds-for-tests.ts";
import { checkRequest } from "../../testing/request-checker.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import type { ChatModel } from "../providers/model-source.ts";
import { requestMedia } from "./request-media.ts";

const DATA = "iVBORw0KGgo=";
const image = { type: "image", mimeType: "image/png", data: DATA };
const pdf = { type: "file", mimeType: "application/pdf", data: DATA, metadata: { filename: "a.pdf" } };
const film = { type: "video", mimeType: "video/mp4", data: DATA };

function thread(...blocks: object[]): BaseMessage[] {
  return [
    new HumanMessage("look"),
    new AIMessage({
      content: "",
      tool_calls: [
        { id: "c1", name: "read_file", args: {} },
        { id: "c2", name: "read_file", args: {} },
      ],
    }),
    new ToolMessage({
      tool_call_id: "c1",
      name: "read_file",
      content: [{ type: "text", text: "about it" }, ...blocks] as never,
    }),
    new ToolMessage({ tool_call_id: "c2", name: "read_file", content: "text" }),
  ];
}

function modelLike(name: string, profile: object = {}): ChatModel {
  return scriptedModel(["ok"], { name, profile });
}

const outline = (messages: readonly BaseMessage[]): unknown[] =>
  messages.map(({ type, content }) => [
    type,
    typeof content === "string" ? content : content.map((block) => block.text ?? block.type),
  ]);

const ALL = { imageInputs: true, pdfInputs: true, audioInputs: true, videoInputs: true };
const LEFT_OUT = "left out, this model cannot take it]";

describe("media of a request", () => {
  test("nothing is changed, and nothing copied, where there are none", () => {
    const messages = thread();
    expect(requestMedia(messages, modelLike("x"))).toBe(messages);
  });

  test.each<[string, ChatModel, object, unknown]>([
    ["a model nobody knows", modelLike("Local"), film, `about it\n[video/mp4, 8 bytes: ${LEFT_OUT}`],
    [
      "a model whose profile says no",
      modelLike("ChatAnthropic", { imageInputs: false }),
      image,
      `about it\n[image/png, 8 bytes: ${LEFT_OUT}`,
    ],
    ["a known provider", modelLike("ChatAnthropic"), image, ["about it", "image"]],
    ["a known provider", modelLike("ChatAnthropic"), pdf, ["about it", "file"]],
    ["a known provider", modelLike("ChatAnthropic"), film, `about it\n[video/mp4, 8 bytes: ${LEFT_OUT}`],
    [
      "a profile that says yes",
      modelLike("Local", { imageInputs: true, imageToolMessage: true }),
      image,
      ["about it", "image"],
    ],
    [
      "a picture in a form hardly anybody takes",
      modelLike("ChatAnthropic", ALL),
      { ...image, mimeType: "image/tiff" },
      `about it\n[image/tiff, 8 bytes: ${LEFT_OUT}`,
    ],
    [
      "a file that is no PDF",
      modelLike("ChatAnthropic", ALL),
      { ...pdf, mimeType: "application/zip" },
      `about it\n[application/zip 'a.pdf', 8 bytes: ${LEFT_OUT}`,
    ],
  ])("in the result of a tool, for %s", async (_name, model, block, expected) => {
    const sent = await requestMedia(thread(block), model);
    expect(outline(sent)).toEqual([
      ["human", "look"],
      ["ai", ""],
      ["tool", expected],
      ["tool", "text"],
    ]);
    checkRequest(sent);
  });

  test.each<[string, object]>([
    ["ChatOpenAI", {}],
    ["ChatGoogleGenerativeAI", ALL],
    ["Local", { imageInputs: true }],
    ["Local", {}],
  ])("stand behind the results where %s takes them from a user only", async (name, profile) => {
    const messages = [...thread(image), new AIMessage("seen"), new HumanMessage("thanks")];
    const sent = await requestMedia(messages, modelLike(name, profile));
    expect(outline(sent)).toEqual([
      ["human", "look"],
      ["ai", ""],
      ["tool", "about it\n[Shown in the next message.]"],
      ["tool", "text"],
      ["human", ["Content of the tool result c1:", "image"]],
      ["ai", "seen"],
      ["human", "thanks"],
    ]);
    checkRequest(sent);
    const again = await requestMedia(messages, modelLike(name, profile));
    expect(again.map((message, index) => message === sent[index])).not.toContain(false);
  });

  test("of a person are left alone unless the profile says that the model cannot take them", async () => {
    const messages = [new HumanMessage({ content: [{ type: "text", text: "see" }, image] as never })];
    expect((await requestMedia(messages, modelLike("Local")))[0]).toBe(messages[0]);
    expect((await requestMedia(messages, modelLike("Local", ALL)))[0]).toBe(messages[0]);
    expect(outline(await requestMedia(messages, modelLike("Local", { imageInputs: false })))).toEqual([
      ["human", `see\n[image/png, 8 bytes: ${LEFT_OUT}`],
    ]);
  });

  test("are rendered once and sent the same way again; the thread keeps the block", async () => {
    const messages = thread(image);
    const model = modelLike("Local");
    const first = (await requestMedia(messages, model))[2] as ToolMessage;
    expect((await requestMedia([...messages, new HumanMessage("and?")], model))[2]).toBe(first);
    expect(first).toMatchObject({ tool_call_id: "c1", name: "read_file", id: messages[2]?.id });
    expect(messages[2]?.content).toContain(image);
  });

  test("are looked at again when a message was edited in place", async () => {
    const messages = thread(image);
    const [, , result] = messages as [BaseMessage, BaseMessage, ToolMessage];
    await requestMedia(messages, modelLike("Local"));
    result.content = [{ type: "text", text: "other" }, film] as never;
    expect((await requestMedia(messages, modelLike("Local")))[2]?.content).toMatch(/^other\n\[video\/mp4/);
  });

  test("cost next to nothing in a long thread without them", async () => {
    const messages = Array.from({ length: 2500 }, () => thread()).flat();
    requestMedia(messages, modelLike("Local"));
    await withinCpuLimit("media are looked for again in a thread of 7,500 messages", () =>
      requestMedia(messages, modelLike("Local")),
    );
  });

  const reference = (metadata: object, type = "image", mimeType = "image/png"): object => ({
    type,
    mimeType,
    url: "backend:/large_tool_results/x.png",
    metadata: { filename: "x.png", size: 10, sha: "0", ...metadata },
  });
  const MB = 1024 * 1024;

  test.each<[string, string, object, string]>([
    ["too many bytes", "ChatAnthropic", reference({ size: 4 * MB }), "takes at most 3932160 bytes of it"],
    ["a side that is too long", "ChatAnthropic", reference({ width: 8001 }), "at most 8000 pixels a side"],
    ["too many bytes", "ChatOpenAI", reference({ size: 16 * MB }), "takes at most 15728640 bytes of it"],
    ["frames that move", "ChatOpenAI", reference({ animated: true }, "image", "image/gif"), "cannot take it"],
    ["a format of its own", "ChatGoogleGenerativeAI", reference({}, "image", "image/gif"), "cannot take it"],
    [
      "too many bytes",
      "ChatGoogleGenerativeAI",
      reference({ size: 15 * MB }),
      "takes at most 14680064 bytes of it",
    ],
  ])("with %s are words for %s, and their bytes are not fetched", async (_name, provider, block, why) => {
    const load = vi.fn(async () => new Uint8Array(3));
    for (const messages of [thread(block), [new HumanMessage({ content: [block] as never })]]) {
      const sent = await requestMedia(messages, modelLike(provider), load);
      expect(JSON.stringify(outline(sent))).toContain(why);
    }
    expect(load).not.toHaveBeenCalled();
  });

  test("whose bytes are more than was said are words, too", async () => {
    const load = async () => new Uint8Array(4 * MB);
    const sent = await requestMedia(thread(reference({})), modelLike("ChatAnthropic"), load);
    expect(sent[2]?.content).toContain("takes at most 3932160 bytes of it");
  });

  test("are fetched once for a message and a model", async () => {
    const load = vi.fn(async () => new Uint8Array([1, 2, 3]));
    const messages = thread(reference({}));
    const first = await requestMedia(messages, modelLike("ChatAnthropic"), load);
    const again = await requestMedia(
      [...messages, new HumanMessage("more")],
      modelLike("ChatAnthropic"),
      load,
    );
    expect(again[2]).toBe(first[2]);
    expect(load).toHaveBeenCalledTimes(1);
    const shown = { type: "image", mimeType: "image/png", data: "AQID", metadata: { filename: "x.png" } };
    expect(first[2]?.content).toEqual([{ type: "text", text: "about it" }, shown]);
  });

  test("of a long thread are shown as far as a request has room, the newest in any case", async () => {
    const load = async () => new Uint8Array([1]);
    const turns = Array.from({ length: 30 }, (_, index) =>
      thread(reference({ size: 3 * MB })).map((message) => {
        message.id = `${message.id}-${index}`;
        return message;
      }),
    );
    const shownAfter = async (count: number): Promise<boolean[]> => {
      const sent = await requestMedia(turns.slice(0, count).flat(), modelLike("ChatAnthropic"), load);
      return sent
        .filter(ToolMessage.isInstance)
        .flatMap(({ content }) =>
          typeof content === "string" && content === "text" ? [] : [typeof content !== "string"],
        );
    };
    for (const count of [1, 7, 8, 9, 30]) {
      const shown = await shownAfter(count);
      expect(shown).toHaveLength(count);
      expect(shown.at(-1)).toBe(true);
      expect(shown.filter(Boolean).length * 3).toBeLessThanOrEqual(22);
      expect(shown.lastIndexOf(false)).toBeLessThan(shown.indexOf(true));
    }
  });

  test("reach the model of an agent, and the thread keeps a reference", async () => {
    const data = Buffer.from(png(5, 4)).toString("base64");
    const shoot = tool(
      async () =>
        [
          { type: "text", text: "a shot" },
          { ...image, data },
        ] as never,
      {
        name: "shoot",
        description: "Takes a picture.",
        schema: z.object({}),
      },
    );
    for (const [profile, expected] of [
      [{ imageInputs: true, imageToolMessage: true }, ["a shot", "image"]],
      [{ imageInputs: false }, expect.stringMatching(/^a shot\n\[image\/png, \d+ bytes: left out/)],
    ] as const) {
      const model = scriptedModel([{ toolCalls: [{ name: "shoot", args: {} }] }, "done"] as never, {
        profile,
      });
      const agent = createDeepAgent({ model, tools: [shoot] });
      const result = await agent.invoke({ messages: [new HumanMessage("go")] });
      expect(outline(model.calls[1]?.messages ?? []).at(-1)).toEqual(["tool", expected]);
      const kept = (result.messages as BaseMessage[]).find(({ type }) => type === "tool");
      expect(kept?.content).toEqual([
        { type: "text", text: "a shot" },
        {
          type: "image",
          mimeType: "image/png",
          url: expect.stringMatching(/^backend:\/large_tool_results\/[0-9a-f]{32}\.png$/),
          metadata: {
            size: png(5, 4).length,
            width: 5,
            height: 4,
            sha: expect.stringMatching(/^[0-9a-f]{32}$/),
          },
        },
      ]);
    }
  });
});

describe("what the packages of the providers make of it", () => {
  const answers: [string, (fetch: typeof globalThis.fetch) => ChatModel][] = [
    [
      "ChatAnthropic",
      (fetch) =>
        new ChatAnthropic({
          model: "claude-sonnet-4-5",
          apiKey: "x",
          clientOptions: { fetch },
          maxRetries: 0,
        }),
    ],
    [
      "ChatOpenAI, responses",
      (fetch) =>
        new ChatOpenAI({
          model: "gpt-5",
          apiKey: "x",
          useResponsesApi: true,
          configuration: { fetch },
          maxRetries: 0,
        }),
    ],
    [
      "ChatOpenAI, completions",
      (fetch) => new ChatOpenAI({ model: "gpt-4o", apiKey: "x", configuration: { fetch }, maxRetries: 0 }),
    ],
  ];

  test.each(answers)("%s sends a picture and a PDF as what they are", async (_name, build) => {
    let body = "";
    const model = build(async (_url, init) => {
      body = String(init?.body);
      return new Response("{}", { status: 400, headers: { "content-type": "application/json" } });
    });
    await expect(
      model.invoke((await requestMedia(thread(image, pdf), model)) as BaseMessage[]),
    ).rejects.toThrow();
    const parts = JSON.stringify(JSON.parse(body), (key, value) => (key === "metadata" ? undefined : value));
    expect(parts).toMatch(
      /"(?:media_type":"image\/png","data":"iVBORw0KGgo=|(?:image_)?url":"data:image\/png;base64,iVBORw0KGgo=)"/,
    );
    expect(parts).toMatch(
      /"(?:media_type":"application\/pdf","data":"iVBORw0KGgo=|file_data":"data:application\/pdf;base64,iVBORw0KGgo=)"/,
    );
    expect(parts).not.toContain('\\"data\\"');
  });

  test("ChatGoogleGenerativeAI sends them as inline data of the user", async () => {
    const model = new ChatGoogleGenerativeAI({ model: "gemini-2.5-flash", apiKey: "x", maxRetries: 0 });
    const original = globalThis.fetch;
    let body = "";
    globalThis.fetch = async (_url, init) => {
      body = String(init?.body);
      return new Response("{}", { status: 400 });
    };
    try {
      await expect(
        model.invoke((await requestMedia(thread(image, pdf), model)) as BaseMessage[]),
      ).rejects.toThrow();
    } finally {
      globalThis.fetch = original;
    }
    const { contents } = JSON.parse(body) as { contents: { role: string; parts: object[] }[] };
    expect(contents.at(-1)?.role).toBe("user");
    expect(contents.at(-1)?.parts).toContainEqual({ inlineData: { mimeType: "image/png", data: DATA } });
    expect(contents.at(-1)?.parts).toContainEqual({
      inlineData: { mimeType: "application/pdf", data: DATA },
    });
  });
});
