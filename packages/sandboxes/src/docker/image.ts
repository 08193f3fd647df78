/** The image of a container: there, or pulled. */
import { SandboxError } from "deepwright";
import type { DockerSettings } from "./docker-options.ts";
import type { Engine } from "./engine.ts";
import { engineError, isGone, messageOf } from "./engine-error.ts";

/** How much longer than a call a pull may take. */
const PULL_FACTOR = 10;

interface PullEvent {
  readonly status?: string;
  readonly id?: string;
  readonly progress?: string;
  readonly error?: string;
}

export async function ensureImage(
  engine: Engine,
  settings: DockerSettings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { image, pull = true } = settings;
  try {
    await engine.ask(() => engine.docker.getImage(image).inspect(), {
      action: "look for the image",
      signal,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (!isGone(error)) throw engineError(error, `look for the image '${image}'`, engine.address);
    if (!pull) throw missingImage(image, error);
    await pullImage(engine, settings, signal);
  }
}

export function missingImage(image: string, cause: unknown): SandboxError {
  return new SandboxError(
    `The engine has no image '${image}'. Pull it (docker pull ${image}), build it, or name another with \`image\`.`,
    "SANDBOX_UNAVAILABLE",
    cause,
  );
}

async function pullImage(
  engine: Engine,
  { image, onPull, engineTimeout }: DockerSettings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = engineTimeout * 1000 * PULL_FACTOR;
  try {
    await engine.ask(
      async (abortSignal) => {
        const stream = await engine.docker.pull(image, { abortSignal });
        for await (const event of eventsOf(stream)) {
          if (event.error !== undefined) throw new Error(event.error);
          if (event.status !== undefined)
            onPull?.([event.id, event.status, event.progress].filter(Boolean).join(" "));
        }
      },
      { action: "pull the image", signal, deadline },
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw new SandboxError(
      `The image '${image}' could not be pulled: ${messageOf(error)}. Check its name, the network and the registry, or name another with \`image\`.`,
      engineError(error, "pull the image", engine.address).code,
      error,
    );
  }
}

/** One object a line. A failure is the last of them: the status was sent long before. */
async function* eventsOf(stream: NodeJS.ReadableStream): AsyncGenerator<PullEvent> {
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line);
  }
  if (rest.trim() !== "") yield JSON.parse(rest);
}
