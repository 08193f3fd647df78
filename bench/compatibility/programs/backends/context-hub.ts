/** ContextHubBackend over a client that keeps the commits of one agent. */
import { ContextHubBackend } from "library";
import { withoutWords } from "../../kit/look.ts";

type Client = NonNullable<ConstructorParameters<typeof ContextHubBackend>[1]>["client"];

export default async function program() {
  const files: Record<string, object> = {
    "notes/a.md": { type: "file", content: "alpha\nbeta" },
    helper: { type: "skill", repo_handle: "team/helper" },
  };
  const pushes: unknown[] = [];
  const client = {
    pullAgent: async () => ({
      commit_id: `id-${pushes.length}`,
      commit_hash: `hash-${pushes.length}`,
      files: { ...files },
    }),
    pushAgent: async (
      _name: string,
      options: { files: Record<string, object | null>; parentCommit?: string },
    ) => {
      pushes.push([options.parentCommit, options.files]);
      for (const [path, entry] of Object.entries(options.files))
        if (entry === null) delete files[path];
        else files[path] = entry;
      return "https://hub.example/team/agent";
    },
  };
  const backend = new ContextHubBackend("team/agent", { client: client as unknown as Client });
  const answers = {
    linked: await backend.getLinkedEntries(),
    prior: await backend.hasPriorCommits(),
    root: (await backend.ls("/")).files?.map(({ path, is_dir }) => [path, is_dir]),
    read: (await backend.read("/notes/a.md")).content,
    write: withoutWords(await backend.write("/b.md", "new")),
    edit: withoutWords(await backend.edit("/notes/a.md", "beta", "gamma")),
    found: (await backend.grep("gamma")).matches,
    globbed: (await backend.glob("**/*.md")).files?.map(({ path }) => path).sort(),
    missing: withoutWords(await backend.read("/none.md")),
    remove: withoutWords(await backend.delete("/notes")),
    downloads: (await backend.downloadFiles(["/b.md", "/none"])).map(({ path, error }) => [path, error]),
  };
  return { ...answers, pushes, left: Object.keys(files) };
}
