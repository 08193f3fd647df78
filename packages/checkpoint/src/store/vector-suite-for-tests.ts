import { Embeddings } from "@langchain/core/embeddings";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import type { DurableStore, StoreOptions } from "./durable-store.ts";
import type { StorePlace } from "./store-suite-for-tests.ts";

/** A vector of how often each letter is in a text, so that what is alike is near. */
class Letters extends Embeddings {
  embedded: string[] = [];

  constructor() {
    super({});
  }

  override async embedQuery(text: string): Promise<number[]> {
    const counts = new Array<number>(26).fill(0);
    for (const letter of text.toLowerCase()) {
      const place = letter.charCodeAt(0) - 97;
      if (place >= 0 && place < 26) counts[place]! += 1;
    }
    return counts;
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    this.embedded.push(...texts);
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

const DOCUMENTS = {
  zoo: { text: "zebra zoo", kind: "place", chapters: [{ title: "giraffe" }, { title: "monkey" }] },
  food: { text: "apples bananas", kind: "thing", chapters: [{ title: "bread" }] },
  music: { text: "violin drum", kind: "thing", chapters: [] },
};

export function vectorSuite(
  open: (options?: StoreOptions) => Promise<DurableStore>,
  place: StorePlace,
): void {
  const index = (fields?: string[]) => ({ dims: 26, embeddings: new Letters(), fields });
  const fill = async (store: { put: DurableStore["put"] | InMemoryStore["put"] }) => {
    for (const [key, value] of Object.entries(DOCUMENTS)) await store.put(["docs"], key, value);
  };

  describe("search by meaning", () => {
    test.each([
      [undefined],
      [["text"]],
      [["chapters[*].title"]],
      [["chapters[0].title", "kind"]],
      [["{text,kind}"]],
    ])("the order and the scores are those of LangGraph's store with fields %j", async (fields) => {
      const store = await open({ index: index(fields) });
      const model = new InMemoryStore({ index: index(fields) });
      await Promise.all([fill(store), fill(model)]);
      for (const query of ["zebra", "bread", "violin", "place"]) {
        const found = await store.search(["docs"], { query });
        const expected = await model.search(["docs"], { query });
        expect(found.map(({ key }) => key)).toEqual(expected.map(({ key }) => key));
        found.forEach(({ score }, place) => {
          const wanted = expected[place]!.score;
          if (wanted === undefined) expect(score).toBeUndefined();
          else expect(score).toBeCloseTo(wanted, 5);
        });
      }
    });

    test("filters, limits and offsets hold, and items without a vector come last", async () => {
      const store = await open({ index: index(["text"]) });
      await fill(store);
      await store.put(["docs"], "silent", { text: "zebra", kind: "thing" }, false);
      const keys = async (options: object) =>
        (await store.search(["docs"], { query: "zebra", ...options })).map(({ key }) => key);
      expect((await keys({}))[0]).toBe("zoo");
      expect((await keys({})).at(-1)).toBe("silent");
      expect(await keys({ filter: { kind: "thing" } })).not.toContain("zoo");
      expect([...(await keys({ limit: 2 })), ...(await keys({ limit: 2, offset: 2 }))]).toEqual(
        await keys({}),
      );
    });

    test("a new value has its own vectors, and a deleted one none", async () => {
      const store = await open({ index: index(["text", "chapters[*].title"]) });
      await fill(store);
      await store.put(["docs"], "zoo", { text: "qqq" });
      expect((await store.search(["docs"], { query: "q" }))[0]).toMatchObject({ key: "zoo", score: 1 });
      for (const key of Object.keys(DOCUMENTS)) await store.delete(["docs"], key);
      expect(await place.count("dw_item_vectors")).toBe(0);
    });

    test("the same text is embedded once, and only what is indexed", async () => {
      const embeddings = new Letters();
      const store = await open({ index: { dims: 26, embeddings, fields: ["text"] } });
      const put = (key: string, more: object = {}) => ({
        namespace: ["a"],
        key,
        value: { text: "same", title: "t" },
        ...more,
      });
      await store.batch([put("1"), put("2"), put("3", { index: false }), put("4", { index: ["title"] })]);
      expect(embeddings.embedded).toEqual(["same", "t"]);
    });

    test("vectors of another length than promised are refused", async () => {
      const store = await open({ index: { dims: 3, embeddings: new Letters() } });
      await expect(store.put(["a"], "k", { text: "x" })).rejects.toMatchObject({ code: "INVALID_OPTION" });
    });

    test("without an index a query changes nothing", async () => {
      const store = await open();
      await fill(store);
      const found = await store.search(["docs"], { query: "violin" });
      expect(found.map(({ key, score }) => [key, score])).toEqual([
        ["zoo", undefined],
        ["food", undefined],
        ["music", undefined],
      ]);
    });
  });
}
