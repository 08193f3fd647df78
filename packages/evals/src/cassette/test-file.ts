/** The vitest file of a recorded thread. Pure. */

const FAULTS = [
  ["a request is refused for its rate", '{ kind: "rate-limit" }'],
  ["a stream is cut", '{ kind: "cut-stream" }'],
  ["a tool is killed", '{ kind: "killed-tool" }'],
] as const;

/** Crashes that are tried; each plays the whole thread. */
const MOST_CRASHES = 6;

export interface TestFileOptions {
  readonly faults: boolean;
  /** Requests of the thread. */
  readonly requests: number;
}

/** `cassette` is the name of the file beside the test. */
export function testFileOf(cassette: string, { faults, requests }: TestFileOptions): string {
  const file = JSON.stringify(`./${cassette}`);
  const variants = FAULTS.map(
    ([words, fault]) => `
test(${JSON.stringify(`it comes to its end although ${words}`)}, async () => {
  await replayCassette(cassette, { fault: ${fault} });
});
`,
  );
  const crashes = `
test.each([${crashPoints(requests).join(", ")}])("it comes to its end although the process crashes in request %i", async (request) => {
  await replayCassette(cassette, { fault: { kind: "crash", request } });
});
`;
  return `import { replayCassette } from "@deepwright/evals";
import { test } from "vitest";

const cassette = new URL(${file}, import.meta.url);

test("the recorded thread sends the same requests", async () => {
  await replayCassette(cassette);
});
${faults ? [...variants, crashes].join("") : ""}`;
}

/** Every request of a short thread; of a long one the first, the last, and some between. */
function crashPoints(requests: number): number[] {
  const count = Math.min(requests, MOST_CRASHES);
  const step = count === 1 ? 0 : (requests - 1) / (count - 1);
  return Array.from({ length: count }, (_, index) => 1 + Math.round(index * step));
}
