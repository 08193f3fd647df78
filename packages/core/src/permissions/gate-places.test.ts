/** An approval is about the files a person was shown: a link that leads elsewhere afterwards is not approved. */
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { createFilesystemMiddleware } from "../middleware/filesystem.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import { type Args, ask, callingAgent, onThread, resultsIn } from "./agent-for-tests.ts";
import { directoryWith, rule } from "./backends-for-tests.ts";

const TREE = {
  "/desk/plan.txt": "the plan",
  "/desk/other.txt": "another",
  "/staff/pay.txt": "the pay",
  "/desk/current": { link: "plan.txt" },
  "/desk/folder": { link: "." },
};
const ASKING = [rule("interrupt", ["/desk/**", "/staff/**"])];

async function asked(tool: string, args: Args, permissions = ASKING, more: object = {}) {
  const rootDir = directoryWith(TREE);
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const { agent } = callingAgent([[tool, args]], {
    backend,
    permissions,
    checkpointer: new MemorySaver(),
    ...more,
  });
  const { __interrupt__ } = (await agent.invoke(ask(), onThread("t"))) as { __interrupt__?: unknown[] };
  expect(__interrupt__).toHaveLength(1);
  return {
    turnLink(name: string, target: string) {
      rmSync(join(rootDir, name));
      symlinkSync(target, join(rootDir, name));
    },
    async decide(decision: object) {
      const state = await agent.invoke(new Command({ resume: { decisions: [decision] } }), onThread("t"));
      return resultsIn(state.messages).at(-1)?.text ?? "";
    },
  };
}

const approve = { type: "approve" };

describe("a call that was approved", () => {
  it("reads by a link what the link led to when it was asked about", async () => {
    const { decide } = await asked("read_file", { file_path: "/desk/current" });
    expect(await decide(approve)).toContain("the plan");
  });

  it("does not read what the link was turned to meanwhile", async () => {
    const { turnLink, decide } = await asked("read_file", { file_path: "/desk/current" });
    turnLink("desk/current", "../staff/pay.txt");
    expect(await decide(approve)).toBe("Error: a person has to approve read on /desk/current");
  });

  it("does not, either, when a policy for the tool had asked and no rule", async () => {
    const { turnLink, decide } = await asked(
      "read_file",
      { file_path: "/desk/current" },
      [rule("interrupt", "/staff/**")],
      { interruptOn: { read_file: true } },
    );
    turnLink("desk/current", "../staff/pay.txt");
    expect(await decide(approve)).toBe("Error: a person has to approve read on /desk/current");
  });

  it("searches the whole directory it was about, and nothing that a link in it leads to", async () => {
    const { turnLink, decide } = await asked("grep", { pattern: "the", path: "/desk" });
    turnLink("desk/current", "../staff/pay.txt");
    const found = await decide(approve);
    expect(found).toContain("/desk/plan.txt");
    expect(found).not.toContain("the pay");
  });

  it("is about the files of its new arguments when it was edited", async () => {
    const { decide } = await asked("read_file", { file_path: "/desk/current" });
    const editedAction = { name: "read_file", args: { file_path: "/staff/pay.txt" } };
    expect(await decide({ type: "edit", editedAction })).toContain("the pay");
  });
});

describe("an approval of a call that runs another agent", () => {
  it("is none for the calls of that agent, also of one of LangChain's", async () => {
    const inner = createAgent({
      model: scriptedModel([callTool("read_file", { file_path: "/staff/pay.txt" }), say("read")]),
      middleware: [
        createFilesystemMiddleware({
          backend: new MapBackend({ "/staff/pay.txt": "the pay" }),
          permissions: ASKING,
        }) as never,
      ],
    });
    const consult = tool(
      async (_: object, config: object) => {
        const { messages } = await inner.invoke(ask() as never, config as never);
        return resultsIn(messages).at(-1)?.text ?? "";
      },
      { name: "consult", description: "Asks another agent.", schema: z.object({}) },
    );
    const { decide } = await asked("consult", {}, [], { tools: [consult], interruptOn: { consult: true } });
    expect(await decide(approve)).toBe("Error: a person has to approve read on /staff/pay.txt");
  });
});
