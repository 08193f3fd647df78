/** Facts about the agents of the server, read once for each. */
import { signal } from "@preact/signals";
import { call } from "../state/connection.ts";

/** As `GET /assistants/:id/facts` gives them; null where an agent does not say it. */
export interface Facts {
  readonly model: string | null;
  readonly directory: string | null;
  readonly window: number | null;
  readonly tokens: {
    readonly instructions: number;
    readonly tools: number;
    readonly mcp_tools: number;
  } | null;
  readonly price: { readonly input: number; readonly output: number; readonly cache_read: number } | null;
  readonly budget: {
    readonly max_tokens: number | null;
    readonly max_cost: number | null;
    readonly max_steps: number | null;
    readonly max_steps_per_agent: number | null;
  } | null;
  readonly choices: {
    readonly approval_modes: readonly string[];
    readonly approval_mode: string | null;
    readonly models: readonly { readonly name: string; readonly is_priced: boolean }[];
    readonly agent_kinds: readonly string[];
    readonly budget: boolean;
    readonly rules: readonly string[];
  };
}

const known = signal<ReadonlyMap<string, Facts>>(new Map());
const asked = new Set<string>();

/** Undefined until they are read. */
export function factsOf(assistantId: string): Facts | undefined {
  const facts = known.value.get(assistantId);
  if (facts === undefined && assistantId !== "" && !asked.has(assistantId)) {
    asked.add(assistantId);
    call<Facts>("GET", "/assistants/:assistant_id/facts", { parameters: { assistant_id: assistantId } }).then(
      (read) => {
        known.value = new Map([...known.peek(), [assistantId, read]]);
      },
      () => asked.delete(assistantId),
    );
  }
  return facts;
}
