/** Scores that DeepAgents published of its own eval. Their cases are other ones, so the figures are not comparable with ours. */

export const PUBLISHED_SOURCE = "DeepAgents' own eval, on other cases: not comparable";

const CATEGORIES = ["file operations", "retrieval", "tool use", "memory", "conversation", "summarization"];

const SCORES: Readonly<Record<string, readonly number[]>> = {
  "gemini-3.1-pro-preview": [100, 100, 25, 54, 48, 80],
  "gpt-5.4": [100, 100, 18, 51, 38, 100],
  "glm-5": [92, 100, 87, 44, 29, 60],
};

/** Per cent by category; undefined for a model that is not in their table. */
export function publishedScores(model: string): ReadonlyMap<string, number> | undefined {
  const name = (model.split("/").at(-1)?.split(":").at(-1) ?? "").toLowerCase();
  const scores = Object.hasOwn(SCORES, name) ? SCORES[name] : undefined;
  return scores && new Map(CATEGORIES.map((category, index) => [category, scores[index] as number]));
}
