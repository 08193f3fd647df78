/** Texts of the choices of a run. */
export const words = {
  kind: "Works",
  kinds: { cowork: "Side by side", acp: "As a team" } as Readonly<Record<string, string>>,
  kindHint: "Side by side: the agent works with you. As a team: it leads subagents, and you see them work.",
  model: "Model",
  ownModel: (name: string | null) => (name === null ? "The agent's own" : `${name} (the agent's own)`),
  allowed: (rules: number) => `Allowed: ${rules}`,
  allowedHint:
    "Runs of this thread do not ask about these calls. What is removed counts from the next run on.",
  askAgain: (name: string) => `Ask again about ${name}`,
  budget: "Budget",
  budgetHint: "The run stops before a model call that would exceed it.",
  dollars: "At most, in dollars",
  tokens: "At most, in tokens",
  noBudget: "no limit",
  callLimit: (calls: string) => `${calls} model calls`,
  callHint: (calls: string) =>
    `After ${calls} model calls of its own the agent stops, and you choose whether it continues. Each task of a subagent may make as many.`,
  limited: (limits: readonly string[]) => limits.join(", "),
  tokenLimit: (tokens: string) => `${tokens} tokens`,
  noPrice: "The price of this model is not known: limit the tokens.",
} as const;
