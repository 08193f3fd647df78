/** Names of events: a kind, and the namespace of the graph it comes from. Loads no schemas. */
export interface EventName {
  /** One of `EventKind`, or what another server sends. */
  readonly kind: string;
  /** Graphs from the outside in, `<node>:<task>` each; empty: the agent itself. */
  readonly namespace: readonly string[];
}

/** `updates|tools:1|agent:2` → `updates` in `["tools:1", "agent:2"]`. */
export function parseEventName(name: string): EventName {
  const [kind = "", ...namespace] = name.split("|");
  return { kind, namespace };
}

export function formatEventName(kind: string, namespace: readonly string[] = []): string {
  return [kind, ...namespace].join("|");
}
