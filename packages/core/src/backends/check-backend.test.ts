import { describe, expect, it } from "vitest";
import { createDeepAgent, createFilesystemMiddleware, createSummarizationMiddleware } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { checkBackend } from "./check-backend.ts";
import { StateBackend } from "./state/state.ts";

const provider = { name: "os", network: "none", workingDirectory: "/workspace", open: async () => ({}) };
const lease = { id: "1", sandbox: new StateBackend(), release: async () => {} };

const MAKERS: readonly [name: string, make: (backend: never) => unknown][] = [
  ["createDeepAgent", (backend) => createDeepAgent({ model: scriptedModel([]), backend })],
  [
    "createDeepAgent with permissions",
    (backend) =>
      createDeepAgent({
        model: scriptedModel([]),
        backend,
        permissions: [{ operations: ["write"], paths: ["/x/**"], mode: "deny" }],
      }),
  ],
  ["createFilesystemMiddleware", (backend) => createFilesystemMiddleware({ backend })],
  ["createSummarizationMiddleware", (backend) => createSummarizationMiddleware({ backend })],
];

describe.each(MAKERS)("%s", (_, make) => {
  it.each<[what: string, given: unknown, words: RegExp]>([
    [
      "a provider of sandboxes",
      provider,
      /not the provider 'os'\. It is a provider.*createSandbox\(\{ provider: … \}\) of '@deepwright\/sandboxes'/,
    ],
    ["a lease", lease, /It is a lease: give its `sandbox`/],
    ["a promise", Promise.resolve(new StateBackend()), /It is a promise: await it/],
    ["a name", "os", /not 'os'\. For example new StateBackend/],
    ["any object", {}, /not an object\. For example/],
  ])("refuses %s for a backend, and says what to give", (_, given, words) => {
    expect(() => make(given as never)).toThrow(words);
  });
});

describe("checkBackend", () => {
  it("takes backends, classes, functions that make one, and nothing", () => {
    for (const backend of [new StateBackend(), StateBackend, () => new StateBackend(), null, undefined])
      expect(() => checkBackend(backend)).not.toThrow();
  });
});
