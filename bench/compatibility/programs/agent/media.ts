/** Images and documents that the agent reads. */
import { createDeepAgent, FilesystemBackend } from "library";
import { fill, scratch } from "../../kit/scratch.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

export default async function program() {
  const rootDir = scratch("media");
  fill(rootDir, { "pixel.png": Buffer.from(PIXEL, "base64"), "paper.pdf": Buffer.from("%PDF-1.4\n%%EOF") });
  const model = scripted([
    call("read_file", { file_path: "/pixel.png" }),
    call("read_file", { file_path: "/paper.pdf" }),
    "a white dot",
  ]);
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  await createDeepAgent({ model, backend }).invoke({ messages: [{ role: "user", content: "look" }] });
  const seen =
    model.requests.at(-1)?.messages.flatMap((one) => (Array.isArray(one.content) ? one.content : [])) ?? [];
  const data = JSON.stringify(seen);
  return {
    imageIsSent: data.includes(PIXEL),
    types: seen.map((block) => block.type).filter((type) => type !== "text"),
    mimeTypes: ["image/png", "application/pdf"].map((type) => data.includes(type)),
  };
}
