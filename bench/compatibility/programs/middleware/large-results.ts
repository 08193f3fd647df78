/** Large results of tools and large messages go to files. */
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { createFilesystemMiddleware } from "library";
import { z } from "zod";
import { results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const big = Array.from({ length: 3000 }, (_, i) => `row ${i}`).join("\n");
const report = tool(() => big, { name: "report", description: "A long report.", schema: z.object({}) });
const small = tool(() => "short", { name: "small", description: "A short one.", schema: z.object({}) });

export default async function program() {
  const model = scripted([call("report", {}, "call_big"), call("small", {}), "done"]);
  const files = createFilesystemMiddleware({
    toolTokenLimitBeforeEvict: 1000,
    humanMessageTokenLimitBeforeEvict: 1000,
  });
  const agent = createAgent({ model, tools: [report, small], middleware: [files] });
  const result = await agent.invoke({ messages: [{ role: "user", content: `Please read: ${big}` }] });
  const paths = Object.keys(result.files ?? {});
  const evicted = results(result.messages, "report")[0] ?? "";
  const stored = Object.entries(result.files ?? {}).map(([path, file]) => {
    const content = file.content;
    const text = Array.isArray(content) ? content.join("\n") : String(content);
    return [path.split("/").slice(0, -1).join("/"), text.includes("row 2999")];
  });
  const seen = model.requests[0]?.messages.find((one) => one.getType() === "human")?.text ?? "";
  return {
    stored,
    resultIsShort: evicted.length < 10_000,
    resultNamesFile: paths.some((path) => evicted.includes(path)),
    smallIsKept: results(result.messages, "small"),
    humanIsShort: seen.length < 10_000,
    humanNamesFile: paths.some((path) => seen.includes(path)),
    conversationKeepsHuman: result.messages[0]?.text.length === big.length + "Please read: ".length,
  };
}
