/** Texts of the choices of a run. */
export const words = {
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
  limited: (limits: readonly string[]) => limits.join(", "),
  tokenLimit: (tokens: string) => `${tokens} tokens`,
  noPrice: "The price of this model is not known: limit the tokens.",
} as const;
