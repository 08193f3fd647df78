import { expect, test } from "vitest";
import { killInModel, killInTool } from "./kill-in-turn.ts";
import { inTest } from "./test-site.ts";

const SLOW_MACHINE = 120_000;

test("R-01 a finished tool of a turn is not run again when its process was killed during the other", {
  timeout: SLOW_MACHINE,
}, async () => {
  const outcome = await inTest((site) => killInTool(site, { times: 2 }));
  expect(outcome).toMatchObject({ ok: 2, failures: [] });
});

test("R-02 only the model call that was under way at the kill is repeated", {
  timeout: SLOW_MACHINE,
}, async () => {
  const outcome = await inTest((site) => killInModel(site, { times: 2 }));
  expect(outcome).toMatchObject({ ok: 2, failures: [] });
});
