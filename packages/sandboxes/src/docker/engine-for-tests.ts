/** The container engine that all tests of a run share: see `scripts/test-engine.mjs`. */
import { randomBytes } from "node:crypto";
import { type DockerSandboxOptions, dockerSandbox } from "../docker.ts";
import type { OpenedSandbox, Sandbox } from "../provider.ts";

export interface TestEngine {
  readonly socketPath: string;
  /** Busybox alone. */
  readonly plainImage: string;
  /** Busybox and bash. */
  readonly bashImage: string;
  /** For `podman`, so that it works on the same containers. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Starts it when nobody has asked before. */
export async function testEngine(): Promise<TestEngine> {
  const response = await fetch(`${process.env.TEST_BROKER}/engine`);
  const text = await response.text();
  if (!response.ok) throw new Error(`The tests need a container engine: ${text}`);
  return JSON.parse(text) as TestEngine;
}

export interface TestPlace {
  readonly backend: Sandbox;
  /** With nothing in it. */
  readonly root: string;
}

export interface TestPlaces {
  open(): Promise<TestPlace>;
  close(): Promise<void>;
}

/** Podman keeps every command of a container in one record, so that each one takes longer than the one before. */
const USES = 20;

/** Directories for the cases of a suite, which run one after the other, in containers that are changed now and then. */
export function testPlaces(options: (engine: TestEngine) => DockerSandboxOptions): TestPlaces {
  let opened: OpenedSandbox | undefined;
  let uses = 0;
  const close = async (): Promise<void> => {
    const last = opened;
    opened = undefined;
    uses = 0;
    await last?.destroy();
  };
  const container = async (): Promise<OpenedSandbox> => {
    const engine = await testEngine();
    const provider = dockerSandbox({
      socketPath: engine.socketPath,
      pull: false,
      engineTimeout: 600,
      ...options(engine),
    });
    return provider.open({ key: "suite", env: {} });
  };
  return {
    close,
    open: async () => {
      if (uses >= USES) await close();
      opened ??= await container();
      uses += 1;
      const root = `/workspace/${randomBytes(4).toString("hex")}`;
      await opened.sandbox.execute(`mkdir ${root}`);
      return { backend: opened.sandbox, root };
    },
  };
}
