import { expect, test } from "vitest";
import { harborSandbox } from "./harbor.ts";
import { lentPlace } from "./lent-place.ts";

/** Its temporary files are removed as it is said here. */
function place(removeTemporaryFiles: () => Promise<void>, isAwake?: () => boolean) {
  const sandbox = harborSandbox({ environment: { exec: async () => ({ exitCode: 0 }) } });
  return lentPlace("a", Object.assign(sandbox, { removeTemporaryFiles }), isAwake);
}

test("nobody waits long for a place that does not answer any more", async () => {
  await place(() => new Promise(() => undefined)).detach();
});

test("a place that cannot be reached is let go of without an error", async () => {
  const unreachable = place(async () => Promise.reject(new Error("gone")));
  await unreachable.detach();
  await unreachable.destroy();
});

test("a place that may sleep is not woken to be tidied, and tidied once when it is awake", async () => {
  let removals = 0;
  let isAwake = false;
  const remove = async (): Promise<void> => {
    removals += 1;
  };
  const lent = place(remove, () => isAwake);
  await lent.detach();
  expect(removals).toBe(0);
  isAwake = true;
  await lent.detach();
  await lent.destroy();
  expect(removals).toBe(1);
});
