/**
 * Keeps requests for files apart from commands. An editor opens a file by its name and follows links. A command in the
 * sandbox could put a link to anywhere there in between.
 */

interface CallRequest {
  readonly toolCall: { readonly name: string };
}

/** Tools that run commands; checks of todos are some. */
const RUN_COMMANDS: ReadonlySet<string> = new Set(["execute", "write_todos"]);

export class EditorTurns {
  #commands = 0;
  readonly #requests = new Set<Promise<unknown>>();

  /** Middleware for an agent and all of its subagents. */
  readonly guard = {
    name: "EditorTurnsMiddleware",
    wrapToolCall: async <Request extends CallRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ): Promise<Awaited<Result>> => {
      if (!RUN_COMMANDS.has(request.toolCall.name)) return await handler(request);
      this.#commands += 1;
      try {
        await Promise.allSettled(this.#requests);
        return await handler(request);
      } finally {
        this.#commands -= 1;
      }
    },
  };

  /** Undefined while a command runs: nothing is requested then. */
  async request<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    if (this.#commands > 0) return undefined;
    const asked = ask();
    this.#requests.add(asked);
    try {
      return await asked;
    } finally {
      this.#requests.delete(asked);
    }
  }
}
