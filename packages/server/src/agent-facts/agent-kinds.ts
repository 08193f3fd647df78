/** Kinds of work that a run may be begun with. The middleware adds the words of the kind to the prompt of the main agent. */
import { ConfigurationError } from "deepwright";

/** The key of `config.configurable` that clients name a kind with. */
export const AGENT_KIND_KEY = "agent_kind";

export interface AgentKindsOptions {
  /** Words for the system prompt by kind. The first kind is that of runs that name none. */
  readonly words: Readonly<Record<string, string>>;
}

interface ModelRequest {
  readonly runtime: { readonly configurable?: Readonly<Record<string, unknown>> };
  readonly systemMessage: { concat(text: string): unknown };
}

export class AgentKinds {
  constructor(private readonly options: AgentKindsOptions) {}

  get names(): readonly string[] {
    return Object.keys(this.options.words);
  }

  /** Middleware for the agent alone: its subagents get their tasks, whatever its kind. */
  readonly guard = {
    name: "AgentKindMiddleware",
    kinds: this as AgentKinds,
    wrapModelCall: <Request extends ModelRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ): Result => {
      const words = this.wordsOf(request.runtime.configurable?.[AGENT_KIND_KEY]);
      return handler({ ...request, systemMessage: request.systemMessage.concat(`\n\n${words}`) });
    },
  };

  private wordsOf(kind: unknown = this.names[0]): string {
    const { words } = this.options;
    if (typeof kind === "string" && Object.hasOwn(words, kind)) return words[kind] as string;
    throw new ConfigurationError("INVALID_OPTION", "This agent does not have the kind that the run names.");
  }
}
