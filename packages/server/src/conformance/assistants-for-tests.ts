import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { lastText, type Scenario, say, UNKNOWN } from "./talk-for-tests.ts";

export const assistantScenarios: readonly Scenario[] = [
  {
    name: "the assistants the server brings",
    run: async (talk) => {
      const found = await talk.call("assistants.search", { graphId: "echo" });
      talk.here(() => expect(found[0]).toMatchObject({ graph_id: "echo", name: "echo", version: 1 }));
      const count = await talk.call("assistants.count", { graphId: "echo" });
      talk.here(() => expect(count).toBe(1));
      const own = await talk.call("assistants.get (by its agent's name)", "echo");
      talk.here(() => expect(own.assistant_id).toBe(found[0].assistant_id));
      const graph = await talk.call("assistants.getGraph", found[0].assistant_id);
      talk.here(() => expect(graph.nodes.map(({ id }: { id: string }) => id)).toContain("__start__"));
      const schemas = await talk.call("assistants.getSchemas", found[0].assistant_id);
      talk.here(() =>
        expect(schemas).toMatchObject({
          graph_id: "echo",
          input_schema: { properties: { messages: expect.anything() } },
        }),
      );
      const subgraphs = await talk.call("assistants.getSubgraphs", found[0].assistant_id);
      talk.here(() => expect(subgraphs).toBeTypeOf("object"));
    },
  },
  {
    name: "an assistant of one's own",
    run: async (talk) => {
      const id = randomUUID();
      const wanted = { graphId: "echo", assistantId: id, name: "mine", metadata: { team: "a" } };
      const made = await talk.call("assistants.create", { ...wanted, context: { locale: "de" } });
      talk.here(() =>
        expect(made).toMatchObject({ graph_id: "echo", name: "mine", version: 1, metadata: { team: "a" } }),
      );
      await talk.call("assistants.create (there already)", wanted);
      await talk.call("assistants.create (there already, do nothing)", { ...wanted, ifExists: "do_nothing" });
      const changed = await talk.call("assistants.update", id, { name: "better" });
      talk.here(() => expect(changed).toMatchObject({ name: "better", version: 2 }));
      const versions = await talk.call("assistants.getVersions", id);
      talk.here(() => expect(versions.map(({ version }: { version: number }) => version)).toEqual([2, 1]));
      const latest = await talk.call("assistants.setLatest", id, 1);
      talk.here(() => expect(latest).toMatchObject({ name: "mine", version: 1 }));
      const page = await talk.call("assistants.search (a page)", { limit: 1, includePagination: true });
      talk.here(() => expect(page).toMatchObject({ assistants: [{}], next: "1" }));
      const values = await talk.call("runs.wait (an assistant by its id)", null, id, { input: say("hi") });
      talk.here(() => expect(lastText(values)).toBe("echo: hi"));
      await talk.call("assistants.delete", id);
      await talk.call("assistants.get (deleted)", id);
    },
  },
  {
    name: "an assistant that is not there",
    run: async (talk) => {
      await talk.call("assistants.get (unknown)", UNKNOWN);
      await talk.call("assistants.create (unknown graph)", { graphId: "nothing" });
      await talk.call("assistants.delete (unknown)", UNKNOWN);
    },
  },
  {
    name: "the server's own assistant is changed",
    run: async (talk) => {
      const [{ assistant_id: id }] = await talk.call("assistants.search (to change)", { graphId: "echo" });
      const changed = await talk.call("assistants.update (the server's own)", id, { description: "mine" });
      talk.here(() => expect(changed).toBeUndefined());
    },
  },
];
