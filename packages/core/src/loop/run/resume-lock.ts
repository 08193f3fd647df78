/** One answer at a time: with a saver that knows no claims, two resumes of one interrupt would both run the approved call. */
import { DeepwrightError } from "../../errors.ts";
import { type Resumable, resumesThread } from "./resume.ts";

/** Threads that a run of this process is resuming, by saver. */
const resuming = new WeakMap<object, Set<string>>();

interface ConfigurableOptions {
  readonly configurable?: Record<string, unknown>;
}

/**
 * Takes the thread for a run that answers an interrupt; throws THREAD_BUSY while another run of this process has it.
 * Returns the function that gives the thread back, or undefined for a run that answers nothing.
 */
export function lockResume(
  graph: Resumable,
  input: unknown,
  options: ConfigurableOptions,
): (() => void) | undefined {
  const saver = graph.checkpointer;
  if (typeof saver !== "object" || saver === null || !resumesThread(input, options)) return undefined;
  const thread = String({ ...graph.config?.configurable, ...options.configurable }.thread_id);
  const threads = resuming.get(saver) ?? new Set();
  resuming.set(saver, threads);
  if (threads.has(thread))
    throw new DeepwrightError("THREAD_BUSY", "Another run of this process is answering this thread.", {
      hint: "Wait for it, then read the thread's state before you answer again.",
    });
  threads.add(thread);
  return () => threads.delete(thread);
}
