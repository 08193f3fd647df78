/** Hooks before a person is asked, and around the runs of a served agent. */
import type { InterruptOnConfig } from "deepwright";
import type { Hooks } from "./hooks.ts";

/**
 * The same questions, with `before-approval` and `notification` hooks before each. A call that a hook refuses is not asked
 * about: the middleware of hooks keeps it from running.
 */
export function hookedQuestions(
  questions: Readonly<Record<string, InterruptOnConfig>>,
  hooks: Hooks | undefined,
): Readonly<Record<string, InterruptOnConfig>> {
  if (!hooks?.has("before-approval") && !hooks?.has("notification")) return questions;
  const entries = Object.entries(questions).map(
    ([name, question]) => [name, hooked(question, hooks)] as const,
  );
  return Object.fromEntries(entries);
}

function hooked(question: InterruptOnConfig, hooks: Hooks): InterruptOnConfig {
  return {
    ...question,
    when: async (request) => {
      if (question.when && (await question.when(request)) === false) return false;
      const { id = "", name: tool, args } = request.toolCall;
      const threadId: unknown = request.runtime?.configurable?.thread_id;
      const { refused } = await hooks.run("before-approval", { threadId, tool, args });
      if (refused !== undefined) {
        hooks.refusals.set(id, refused);
        return false;
      }
      await hooks.run("notification", { threadId, reason: "approval", tool });
      return true;
    },
  };
}

interface Runtime {
  readonly configurable?: { readonly thread_id?: unknown };
  readonly signal?: AbortSignal;
}

/** `run-start` and `run-end` around every run of a served agent; `deepwright run` calls these itself. A run that a hook refuses fails before the model is asked. */
export function runHooks(hooks: Hooks | undefined): readonly object[] {
  if (hooks === undefined) return [];
  const middleware = {
    name: "RunHooksMiddleware",
    beforeAgent: async (_: unknown, { configurable, signal }: Runtime) => {
      const { refused } = await hooks.run("run-start", { threadId: configurable?.thread_id }, signal);
      if (refused !== undefined) throw new Error(`A hook refused the run: ${refused}`);
    },
    afterAgent: async (_: unknown, { configurable }: Runtime) => {
      await hooks.run("run-end", { threadId: configurable?.thread_id, end: "outcome" });
    },
  };
  return [middleware];
}
