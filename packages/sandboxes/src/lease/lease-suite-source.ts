/** Cases about createSandbox with a provider. */
import { createSandbox, type SandboxSource } from "./create-sandbox.ts";
import { check, checkSame, type LeaseCase, type LeaseScene, NEEDS } from "./lease-suite-case.ts";

export const sourceCases: readonly LeaseCase[] = [
  {
    name: "createSandbox sets a sandbox up once, and another process finds it as it was left",
    needs: [NEEDS.reattach, NEEDS.find],
    run: (scene) =>
      withSources(scene, async (make) => {
        const thread = scene.request().key;
        const options = { setupScript: `echo "$SUITE_ENV" >> ${thread}`, env: { SUITE_ENV: "set up" } };
        const first = make(options);
        const lease = await first.lease(thread);
        checkSame(await output(lease.sandbox.execute(`cat ${thread}`)), "set up\n", "after the set-up");
        await first.close();
        const again = await make(options).lease(thread);
        checkSame(again.id, lease.id, "id");
        checkSame(await output(again.sandbox.execute(`cat ${thread}`)), "set up\n", "found again");
        await again.release();
        await scene.until("that it is gone", async () => (await scene.reattach(lease.id)) === undefined);
      }),
  },
  {
    name: "createSandbox leaves nothing of a sandbox whose set-up failed",
    run: (scene) =>
      withSources(scene, async (make) => {
        const failing = make({ setupScript: "echo the reason; exit 3" });
        const error = await failing.lease().then(
          () => undefined,
          (thrown: { readonly code?: string; readonly message: string }) => thrown,
        );
        checkSame(error?.code, "SETUP_FAILED", "code");
        check(error?.message.includes("the reason"), `expected its output, got: ${error?.message}`);
      }),
  },
];

type Make = (options: {
  readonly setupScript: string;
  readonly env?: Record<string, string>;
}) => SandboxSource;

async function withSources(scene: LeaseScene, act: (make: Make) => Promise<void>): Promise<void> {
  const sources: SandboxSource[] = [];
  try {
    await act((options) => {
      const source = createSandbox({ ...options, provider: scene.another() });
      sources.push(source);
      return source;
    });
  } finally {
    for (const source of sources) await source.close({ keep: false });
  }
}

async function output(response: { output: string } | Promise<{ output: string }>): Promise<string> {
  return (await response).output;
}
