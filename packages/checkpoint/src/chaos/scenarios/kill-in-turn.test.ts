import { expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { inTest } from "../test-site.ts";
import { killInModel, killInTool } from "./kill-in-turn.ts";

const TIMES = sized(1, 5);

test("R-01 a finished tool of a turn is not run again when its process was killed during the other", async () => {
  const outcome = await inTest((site) => killInTool(site, { times: TIMES }));
  expect(outcome).toMatchObject({ ok: TIMES, failures: [] });
});

test("R-02 only the model call that was under way at the kill is repeated", async () => {
  const outcome = await inTest((site) => killInModel(site, { times: TIMES }));
  expect(outcome).toMatchObject({ ok: TIMES, failures: [] });
});
