import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { tool } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { checkRequest } from "../testing/request-checker.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { ChatModel } from "./model-source.ts";
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
    ["a model nobody knows", modelLike("Local"), image, `about it\n[image/png, 8 bytes: ${LEFT_OUT}`],
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
      `about it\n[application/zip, 8 bytes: ${LEFT_OUT}`,
    ],
  ])("in the result of a tool, for %s", (_name, model, block, expected) => {
    const sent = requestMedia(thread(block), model);
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
  ])("stand behind the results where %s takes them from a user only", (name, profile) => {
    const messages = [...thread(image), new AIMessage("seen"), new HumanMessage("thanks")];
    const sent = requestMedia(messages, modelLike(name, profile));
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
  });

  test("of a person are left alone unless the profile says that the model cannot take them", () => {
    const messages = [new HumanMessage({ content: [{ type: "text", text: "see" }, image] as never })];
    expect(requestMedia(messages, modelLike("Local"))[0]).toBe(messages[0]);
    expect(requestMedia(messages, modelLike("Local", ALL))[0]).toBe(messages[0]);
    expect(outline(requestMedia(messages, modelLike("Local", { imageInputs: false })))).toEqual([
      ["human", `see\n[image/png, 8 bytes: ${LEFT_OUT}`],
    ]);
  });

  test("are rendered once and sent the same way again; the thread keeps the block", () => {
    const messages = thread(image);
    const model = modelLike("Local");
    const first = requestMedia(messages, model)[2] as ToolMessage;
    expect(requestMedia([...messages, new HumanMessage("and?")], model)[2]).toBe(first);
    expect(first).toMatchObject({ tool_call_id: "c1", name: "read_file", id: messages[2]?.id });
    expect(messages[2]?.content).toContain(image);
  });

  test("are looked at again when a message was edited in place", () => {
    const messages = thread(image);
    const [, , result] = messages as [BaseMessage, BaseMessage, ToolMessage];
    requestMedia(messages, modelLike("Local"));
    result.content = [{ type: "text", text: "other" }, pdf] as never;
    expect(requestMedia(messages, modelLike("Local"))[2]?.content).toMatch(/^other\n\[application\/pdf/);
  });

  test("cost next to nothing in a long thread without them", () => {
    const messages = Array.from({ length: 2500 }, () => thread()).flat();
    requestMedia(messages, modelLike("Local"));
    const start = performance.now();
    requestMedia(messages, modelLike("Local"));
    expect(performance.now() - start).toBeLessThan(50);
  });

  test("reach the model of an agent, and the thread keeps them", async () => {
    const shoot = tool(async () => [{ type: "text", text: "a shot" }, image] as never, {
      name: "shoot",
      description: "Takes a picture.",
      schema: z.object({}),
    });
    for (const [profile, expected] of [
      [{ imageInputs: true, imageToolMessage: true }, ["a shot", "image"]],
      [{ imageInputs: false }, `a shot\n[image/png, 8 bytes: ${LEFT_OUT}`],
    ] as const) {
      const model = scriptedModel([{ toolCalls: [{ name: "shoot", args: {} }] }, "done"] as never, {
        profile,
      });
      const agent = createDeepAgent({ model, tools: [shoot] });
      const result = await agent.invoke({ messages: [new HumanMessage("go")] });
      expect(outline(model.calls[1]?.messages ?? []).at(-1)).toEqual(["tool", expected]);
      const kept = (result.messages as BaseMessage[]).find(({ type }) => type === "tool");
      expect(kept?.content).toEqual([{ type: "text", text: "a shot" }, image]);
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
    await expect(model.invoke(requestMedia(thread(image, pdf), model) as BaseMessage[])).rejects.toThrow();
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
      await expect(model.invoke(requestMedia(thread(image, pdf), model) as BaseMessage[])).rejects.toThrow();
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
