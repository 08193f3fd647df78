/** Models that a run may be begun with. The middleware puts the chosen one in the place of the agent's own. */
import { ConfigurationError } from "deepwright";

/** The key of `config.configurable` that clients name a model with. */
export const RUN_MODEL_KEY = "run_model";

export interface ModelChoicesOptions {
  /** The agent's own model: subagents with another one keep theirs. */
  readonly model: unknown;
  /** Others by name. Each is loaded when it is first chosen. */
  readonly others: Readonly<Record<string, () => Promise<unknown>>>;
}

interface ModelRequest {
  readonly model?: unknown;
  readonly runtime: { readonly configurable?: Readonly<Record<string, unknown>> };
}

export class ModelChoices {
  private readonly loaded = new Map<string, Promise<unknown>>();

  constructor(private readonly options: ModelChoicesOptions) {}

  get names(): readonly string[] {
    return Object.keys(this.options.others);
  }

  /** Middleware for the agent and its subagents. */
  readonly guard = {
    name: "ModelChoiceMiddleware",
    choices: this as ModelChoices,
    wrapModelCall: async <Request extends ModelRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ): Promise<Awaited<Result>> => {
      const chosen = request.runtime.configurable?.[RUN_MODEL_KEY];
      if (chosen === undefined || request.model !== this.options.model) return await handler(request);
      return await handler({ ...request, model: await this.load(chosen) });
    },
  };

  private load(name: unknown): Promise<unknown> {
    const { others } = this.options;
    const load = typeof name === "string" && Object.hasOwn(others, name) ? others[name] : undefined;
    if (load === undefined)
      throw new ConfigurationError(
        "INVALID_OPTION",
        "This agent does not offer the model that the run names.",
      );
    const known = this.loaded.get(name as string);
    if (known) return known;
    const loading = load();
    this.loaded.set(name as string, loading);
    loading.catch(() => this.loaded.delete(name as string));
    return loading;
  }
}
