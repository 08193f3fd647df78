/** LangChain's middleware that both peers get. */
import { modelCallLimitMiddleware, modelRetryMiddleware } from "langchain";

/** The budget of a case, as far as LangChain has one: model calls of a run. It has none of tokens. */
export function callLimit({ budget }) {
  if (budget?.maxSteps === undefined) return [];
  return [modelCallLimitMiddleware({ runLimit: budget.maxSteps, exitBehavior: "end" })];
}

/** Clients of providers retry by themselves, six times. The scripted model has no client, so this stands for it. */
export function clientRetries() {
  return [modelRetryMiddleware({ maxRetries: 6, initialDelayMs: 0, jitter: false, onFailure: "error" })];
}
