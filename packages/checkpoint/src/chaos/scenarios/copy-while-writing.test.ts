import { expect, test } from "vitest";
import { inTest } from "../test-site.ts";
import { copyWhileWriting } from "./copy-while-writing.ts";

test("R-04 what is on disk at any moment of writing opens, is whole and knows all that was acted upon", async () => {
  const outcome = await inTest((site) => copyWhileWriting(site, { copies: 15 }));
  expect(outcome).toMatchObject({ ok: 15, failures: [] });
});
