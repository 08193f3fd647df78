/** The two formats of files, in the state and in a store, for text and for bytes. */
import { InMemoryStore } from "@langchain/langgraph";
import { type BackendRuntime, StateBackend, StoreBackend } from "library";
import { bytes, withoutDates } from "../../kit/look.ts";

const png = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 255]);
const date = "2026-01-01T00:00:00.000Z";

export default async function program() {
  const files = { "/a.png": { content: png, mimeType: "image/png", created_at: date, modified_at: date } };
  const runtime = { state: { files } } as unknown as BackendRuntime;
  const state = new StateBackend(runtime);
  const older = new StateBackend(runtime, { fileFormat: "v1" });
  const store = new InMemoryStore();
  const v1 = new StoreBackend({ store, namespace: ["v1"], fileFormat: "v1" });
  const v2 = new StoreBackend({ store, namespace: ["v2"] });
  for (const backend of [v1, v2]) {
    await backend.write("/text.txt", "a\nb");
    await backend.uploadFiles?.([["/b.png", png]]);
    await backend.write("/c.png", Buffer.from(png).toString("base64"));
  }
  const value = async (space: string, key: string) => (await store.get([space], key))?.value;
  return withoutDates({
    stateBytes: bytes((await state.read("/a.png")).content),
    stateRaw: await state.readRaw("/a.png"),
    stateDownload: bytes((await state.downloadFiles?.(["/a.png"]))?.[0]?.content),
    olderWrite: await older.write("/x.txt", "a\nb"),
    newerWrite: await state.write("/x.txt", "a\nb"),
    base64Write: await state.write("/y.png", Buffer.from(png).toString("base64")),
    v1Text: await value("v1", "/text.txt"),
    v2Text: await value("v2", "/text.txt"),
    v2Upload: await value("v2", "/b.png"),
    v2Base64: await value("v2", "/c.png"),
    v1Raw: await v1.readRaw("/text.txt"),
    v2Raw: await v2.readRaw("/text.txt"),
    downloads: (await v2.downloadFiles?.(["/b.png", "/c.png"]))?.map((one) => bytes(one.content)),
    reads: [bytes((await v2.read("/b.png")).content), bytes((await v2.read("/c.png")).content)],
  });
}
