import type { AgentMiddleware } from "langchain";

/**
 * A part of the system prompt that depends only on which tools the model can see.
 *
 * Our own middleware carries its section under this key, so that our loop assembles the prompt once
 * per tool list instead of calling a `wrapModelCall` on every turn. In another loop the middleware's
 * `wrapModelCall` appends the same words.
 */
export const PROMPT_SECTION: unique symbol = Symbol.for("deepwright.prompt-section") as never;

export type PromptSection = (visibleTools: ReadonlySet<string>) => string;

export interface WithPromptSection {
  readonly [PROMPT_SECTION]?: PromptSection;
}

export function promptSectionOf(middleware: AgentMiddleware): PromptSection | undefined {
  return (middleware as WithPromptSection)[PROMPT_SECTION];
}

type WrapModelCall = NonNullable<AgentMiddleware["wrapModelCall"]>;

/** The same section for a loop that does not know the key: appended to the request's system message. */
export function appendSection(section: PromptSection): WrapModelCall {
  return (request, handler) => {
    const visible = new Set(request.tools.map((tool) => (tool as { name?: string }).name ?? ""));
    const text = section(visible);
    if (text === "") return handler(request);
    return handler({ ...request, systemMessage: request.systemMessage.concat(`\n\n${text}`) });
  };
}
