import { expect, test } from "vitest";
import { createSandbox, type SandboxProvider } from "../index.ts";
import { testProvider } from "./sandboxes-for-tests.ts";

interface Counted {
  readonly provider: SandboxProvider;
  /** Handles that were taken up and not let go of. */
  readonly held: () => number;
}

/** Its places can be taken up, and are ended as it is said here. */
function counted(own: SandboxProvider, destroy: () => Promise<void>): Counted {
  let held = 0;
  const provider: SandboxProvider = {
    ...own,
    reattach: async (id, request) => {
      const opened = await own.reattach?.(id, request);
      if (opened === undefined) return undefined;
      held += 1;
      let isHeld = true;
      const letGo = (): void => {
        if (isHeld) held -= 1;
        isHeld = false;
      };
      return {
        ...opened,
        detach: async () => {
          letGo();
          await opened.detach();
        },
        destroy: async () => {
          letGo();
          await opened.destroy();
        },
      };
    },
    destroy,
  };
  return { provider, held: () => held };
}

/** A provider with three places of the thread `t`, as crashes leave them. */
async function withThree(): Promise<SandboxProvider> {
  const own = testProvider();
  let key = "";
  const noting: SandboxProvider = {
    ...own,
    open: (request) => {
      key = request.key;
      return own.open(request);
    },
  };
  const source = createSandbox({ provider: noting });
  await source.lease("t");
  await source.close();
  for (let more = 0; more < 2; more += 1) await (await own.open({ key, env: {} })).detach();
  return own;
}

test("a place that was found is let go of when another of the thread cannot be ended", async () => {
  const { provider, held } = counted(await withThree(), async () => {
    throw new Error("service down");
  });
  const source = createSandbox({ provider });
  await expect(source.lease("t")).rejects.toThrow("service down");
  expect(held()).toBe(0);
  await source.close();
});

test("a place that was found is let go of when the opening is given up while others are ended", async () => {
  let closing: Promise<void> | undefined;
  const { provider, held } = counted(await withThree(), async () => {
    closing = source.close();
  });
  const source = createSandbox({ provider });
  await expect(source.lease("t")).rejects.toThrow();
  await closing;
  expect(held()).toBe(0);
});
