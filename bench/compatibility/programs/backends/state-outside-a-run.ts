/** StateBackend over a state that the program holds itself: the older way to construct it. */
import { type BackendRuntime, StateBackend } from "library";
import { withoutDates, withoutWords } from "../../kit/look.ts";

const date = "2026-01-01T00:00:00.000Z";
const stamps = { created_at: date, modified_at: date };

export default async function program() {
  const files = {
    "/notes/a.md": { content: "alpha\nbeta\ngamma", mimeType: "text/markdown", ...stamps },
    "/notes/deep/b.md": { content: ["one", "alpha two"], ...stamps },
    "/empty.txt": { content: "", mimeType: "text/plain", ...stamps },
  };
  const backend = new StateBackend({ state: { files } } as unknown as BackendRuntime);
  const write = await backend.write("/new.txt", "fresh");
  const edit = await backend.edit("/notes/a.md", "beta", "BETA");
  const remove = (await backend.delete?.("/notes")) ?? {};
  return withoutDates({
    isSynchronous: !(backend.ls("/") instanceof Promise),
    root: await backend.ls("/"),
    notes: await backend.ls("/notes"),
    page: await backend.read("/notes/a.md", 1, 1),
    older: await backend.read("/notes/deep/b.md"),
    raw: await backend.readRaw("/notes/deep/b.md"),
    missing: withoutWords(await backend.read("/nowhere.txt")),
    found: await backend.grep("alpha", "/"),
    foundByGlob: await backend.grep("alpha", "/", "*.txt"),
    globbed: await backend.glob("**/*.md", "/"),
    write,
    edit,
    twice: withoutWords(await backend.edit("/notes/a.md", "a", "b")),
    absent: withoutWords(await backend.edit("/notes/a.md", "zeta", "b")),
    remove,
  });
}
