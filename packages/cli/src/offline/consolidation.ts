/** The offline model lists the conversations to review, and changes nothing. */
import { count } from "../terminal/amounts.ts";
import type { PlannedTurn } from "./planned-turn.ts";
import { type Progress, successes, wasTried } from "./progress.ts";

/** Only an agent that consolidates memory offers it. */
export const SEARCH_TOOL = "search_recent_conversations";

export function consolidationTurn(progress: Progress): PlannedTurn {
  if (!wasTried(progress, SEARCH_TOOL)) return { text: "", calls: [{ name: SEARCH_TOOL, args: {} }] };
  const listed = successes(progress, SEARCH_TOOL).flatMap(({ result }) => result.match(/^- /gm) ?? []);
  const text = [
    `I am the offline model, not an LLM: I listed ${count(listed.length, "conversation")}, but I cannot judge what is worth remembering.`,
    "No memory file was changed. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_API_KEY, or start Ollama.",
  ].join("\n\n");
  return { text, calls: [] };
}
