import { describe, expect, it } from "vitest";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import { restoreComments } from "./comment-guard.ts";
import { standInFor, withStandIns } from "./comments.ts";

const [a, b] = ["<!-- a: $& -->", "<!-- b\n  over lines -->"];
const before = `# Notes\n${a}\nx\n${b}\ny ${a}\n`;

async function guarded(written: string, known: readonly string[], stored = written) {
  const backend = new MapBackend();
  await backend.write("/AGENTS.md", stored);
  const { file } = await restoreComments(backend, { path: "/AGENTS.md", text: written }, known, {});
  const { data } = await backend.readRaw("/AGENTS.md");
  return { file, stored: data?.content };
}

describe("restoreComments", () => {
  it("gives the file back that was written from the shown text", async () => {
    const { file, stored } = await guarded(withStandIns(before), [a, b, a]);
    expect(stored).toBe(before);
    expect(file.text).toBe(before);
  });

  it("takes out what stands for a comment that is still there", async () => {
    const { file, stored } = await guarded(`${before}${standInFor(b)}`, [a, b, a]);
    expect(stored).toBe(before);
    expect(file.text).toBe(before);
  });

  it("leaves a file alone that needs nothing, or that it knows no comments of", async () => {
    const shown = withStandIns(before);
    expect(await guarded(before, [a, b, a])).toEqual({
      file: { path: "/AGENTS.md", text: before },
      stored: before,
    });
    expect(await guarded(shown, [])).toEqual({ file: { path: "/AGENTS.md", text: shown }, stored: shown });
  });

  it("changes nothing in a file that somebody else wrote meanwhile", async () => {
    const shown = withStandIns(before);
    expect(await guarded(shown, [a, b, a], "theirs")).toEqual({
      file: { path: "/AGENTS.md", text: shown },
      stored: "theirs",
    });
  });

  it("hands over changes that the backend cannot store itself", async () => {
    const shown = withStandIns(before);
    const times = { created_at: "", modified_at: "" };
    const backend = new StateBackend({ state: { files: { "/AGENTS.md": { content: shown, ...times } } } });
    const { filesUpdate } = await restoreComments(backend, { path: "/AGENTS.md", text: shown }, [b], {});
    expect(filesUpdate?.["/AGENTS.md"]?.content).toContain(b);
  });
});
