/** Runs a Harbor task: the agent works in a sandbox, then `tests/test.sh` decides. */

import type { OpenedSandbox, SandboxProvider } from "@deepwright/sandboxes";
import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { HumanMessage } from "@langchain/core/messages";
import { createDeepAgent } from "deepwright";
import { EvalsError } from "../format/evals-error.ts";
import type { TaskFiles } from "./harbor-environment.ts";
import type { HarborTask } from "./harbor-task.ts";

export interface RunHarborOptions {
  /** Place of the agent's work and of the tests, such as `osSandbox()`, or `dockerSandbox({ image: task.image })`. */
  readonly sandbox: SandboxProvider;
  readonly model: BaseChatModel;
  readonly signal?: AbortSignal;
  /** Ends the agent's work; the tests run all the same. */
  readonly stop?: AbortSignal;
  /** Of the agent's run. */
  readonly callbacks?: Callbacks;
}

export interface HarborEnd {
  /** As the tests say, from 0 to 1; their exit code decides where they write none. */
  readonly reward: number;
  /** Output of the tests. */
  readonly output: string;
  /** The error that ended the agent early. The tests run all the same. */
  readonly error?: string;
  /** The error behind those words. */
  readonly cause?: unknown;
}

/** A container of the image that the task names, or the sandbox of the operating system. */
export async function sandboxFor({ image }: HarborTask): Promise<SandboxProvider> {
  if (image === undefined) return (await import("@deepwright/sandboxes/os")).osSandbox();
  return (await import("@deepwright/sandboxes/docker")).dockerSandbox({ image });
}

export async function runHarborTask(task: HarborTask, options: RunHarborOptions): Promise<HarborEnd> {
  const opened = await options.sandbox.open({ key: "harbor", env: task.env, signal: options.signal });
  try {
    const place = new Place(opened, options.sandbox.workingDirectory, task);
    await place.put(task.files);
    const failure = await work(task, place, options);
    // The tests come after the agent's work, so that it can neither read nor change them, nor put files beside them.
    await place.clearTests();
    await place.put(
      Object.fromEntries(Object.entries(task.tests).map(([path, file]) => [`/tests/${path}`, file])),
    );
    const end = await place.test();
    return { ...end, ...failure };
  } finally {
    await opened.destroy();
  }
}

async function work(
  task: HarborTask,
  place: Place,
  { model, signal, stop, callbacks }: RunHarborOptions,
): Promise<Pick<HarborEnd, "error" | "cause"> | undefined> {
  const limit = AbortSignal.timeout(task.agentSeconds * 1000);
  const signals = [signal, stop, limit].filter((each) => each !== undefined);
  const agent = createDeepAgent({ model, backend: place.opened.sandbox });
  try {
    await agent.invoke(
      { messages: [new HumanMessage(place.mapped(task.instruction))] },
      { signal: AbortSignal.any(signals), recursionLimit: 10_000, ...(callbacks ? { callbacks } : {}) },
    );
    return undefined;
  } catch (cause) {
    signal?.throwIfAborted();
    if (limit.aborted) return { error: `the agent took more than ${task.agentSeconds} seconds` };
    return { error: (cause as Error).message, cause };
  }
}

const LARGEST_TEXT = 1024 * 1024;

/** A sandbox has one directory that can be written: the directories of the task are in it, and texts name them there. */
class Place {
  readonly #roots: readonly (readonly [string, string])[];

  constructor(
    readonly opened: OpenedSandbox,
    directory: string,
    private readonly task: HarborTask,
  ) {
    const base = directory.replace(/\/$/, "");
    this.#roots = [
      ["/tests", `${base}/.harbor/tests`],
      ["/logs", `${base}/.harbor/logs`],
      [task.workingDirectory.replace(/(?<=.)\/$/, ""), base],
    ];
  }

  /** Paths of the task as they are in the sandbox. */
  mapped(text: string): string {
    return this.#roots.reduce(
      (changed, [from, to]) =>
        from === "/"
          ? changed
          : changed.replace(new RegExp(`(?<![\\w./-])${escaped(from)}(?![\\w-])`, "g"), () => to),
      text,
    );
  }

  async put(files: TaskFiles): Promise<void> {
    const uploads = Object.entries(files).map(([path, content]): [string, Uint8Array] => {
      const to = this.mapped(path);
      if (to === path && !path.startsWith(`${this.#roots[2]?.[1]}/`))
        throw new EvalsError(
          `${this.task.name}: ${path} lies outside of ${this.task.workingDirectory}, where a sandbox cannot write.`,
        );
      return [to, this.#content(content)];
    });
    const stored = uploads.length === 0 ? [] : await this.opened.sandbox.uploadFiles?.(uploads);
    const refused = stored?.find(({ error }) => error);
    if (stored === undefined || refused !== undefined)
      throw new EvalsError(
        `${this.task.name}: files cannot be put into the sandbox (${refused?.path}: ${refused?.error}).`,
      );
  }

  async clearTests(): Promise<void> {
    await this.opened.sandbox.execute(`rm -rf '${this.mapped("/tests")}'`);
  }

  async test(): Promise<Pick<HarborEnd, "reward" | "output">> {
    const { sandbox } = this.opened;
    const [tests, logs] = [this.mapped("/tests"), this.mapped("/logs")];
    // What the agent left at the place of the reward does not count.
    const command = `rm -rf '${logs}' && mkdir -p '${logs}/verifier' && bash '${tests}/test.sh'`;
    const { output, exitCode } = await sandbox.execute(command, { timeout: this.task.verifierSeconds });
    const page = await sandbox.read(`${logs}/verifier/reward.txt`);
    const text = typeof page.content === "string" ? page.content.trim() : undefined;
    const written = text === undefined || text === "" ? undefined : Number(text);
    if (written !== undefined && !(written >= 0 && written <= 1))
      throw new EvalsError(
        `${this.task.name}: the tests wrote '${text}' as reward, which is no number from 0 to 1.`,
      );
    return { reward: written ?? (exitCode === 0 ? 1 : 0), output };
  }

  /** Binary and large files stay as they are. */
  #content(content: Uint8Array): Uint8Array {
    if (content.length > LARGEST_TEXT || content.includes(0)) return content;
    try {
      return new TextEncoder().encode(this.mapped(new TextDecoder("utf-8", { fatal: true }).decode(content)));
    } catch (error) {
      if (error instanceof TypeError) return content;
      throw error;
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
