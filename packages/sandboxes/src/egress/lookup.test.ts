import { expect, test } from "vitest";
import { createLookup } from "./lookup.ts";

test("names that are asked for at once wait for each other, and more than 258 are refused", async () => {
  const lookup = createLookup();
  const addresses = Array.from({ length: 300 }, (_, index) => `127.0.${index >> 7}.${index & 127}`);
  const answers = await Promise.allSettled(addresses.map(lookup));
  const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason.code] : []));
  expect(refused).toEqual(Array.from({ length: 300 - 258 }, () => "EAGAIN"));
  expect(answers.slice(0, 258).map((answer) => (answer as { value?: unknown }).value)).toEqual(
    addresses.slice(0, 258).map((address) => [address]),
  );
  expect(await Promise.all(addresses.slice(258).map(lookup))).toHaveLength(42);
});

test("who asks for a name that is being resolved shares the answer, and nobody after that", async () => {
  const lookup = createLookup();
  const first = lookup("127.0.0.1");
  expect(lookup("127.0.0.1")).toBe(first);
  await first;
  expect(lookup("127.0.0.1")).not.toBe(first);
});
