/** Values of a client against the schema of the agent, before anything is stored. */
import type { CreateRun } from "@deepwright/protocol";
import type { AnyGraph } from "../../agents/graph-types.ts";
import { ServiceError } from "../service-error.ts";
import { runInput } from "./run-input.ts";

/**
 * INVALID_REQUEST for values that can never become state. Messages were checked before; an agent is made only for other
 * values. An agent that cannot be made here reports that when it runs.
 */
export async function checkInput(
  request: Pick<CreateRun, "input" | "command">,
  load: () => AnyGraph | Promise<AnyGraph>,
): Promise<void> {
  if (request.command?.update === undefined && hasOnlyMessages(request.input)) return;
  const agent = await Promise.resolve()
    .then(load)
    .catch(() => undefined);
  const checking = agent as { _validateInput?(input: unknown): Promise<unknown> } | undefined;
  try {
    await checking?._validateInput?.(runInput(request));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError("INVALID_REQUEST", wordsOf(error));
  }
}

function hasOnlyMessages(input: unknown): boolean {
  if (input === undefined || input === null) return true;
  return typeof input === "object" && Object.keys(input).every((key) => key === "messages");
}

const LONGEST = 1_000;

/** Other schema libraries report paths and messages as issues. */
function wordsOf(error: unknown): string {
  const { message, issues } = error as { message?: unknown; issues?: unknown };
  const [first] = (Array.isArray(issues) ? issues : []) as { path?: unknown[]; message?: string }[];
  const words = first ? [...(first.path ?? []), first.message].join(": ") : String(message ?? error);
  return `input: ${words}`.slice(0, LONGEST);
}
