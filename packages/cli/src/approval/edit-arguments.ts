/** Lets a person change the arguments of a call: in their editor, or on a line. */
import { isRecord } from "deepwright/check-options";
import { editedText } from "../terminal/editor.ts";
import type { Prompt } from "../terminal/prompt.ts";
import { revealedJson, revealedLine } from "../terminal/revealed-text.ts";

export type Edited = { readonly args: Record<string, unknown> } | { readonly problem: string };

/** The longest text that can still be edited on one line. */
const MOST_INLINE = 2_000;

export async function editedArguments(
  args: Record<string, unknown>,
  prompt: Prompt,
  environment: NodeJS.ProcessEnv,
): Promise<Edited> {
  if (environment.VISUAL || environment.EDITOR) return inEditor(args, environment);
  const json = revealedJson(JSON.stringify(args));
  if (json.length > MOST_INLINE)
    return { problem: "These arguments are too long for a line. Set EDITOR to edit them." };
  return parsed(await prompt.line("arguments: ", json));
}

async function inEditor(args: Record<string, unknown>, environment: NodeJS.ProcessEnv): Promise<Edited> {
  const json = `${revealedJson(JSON.stringify(args, undefined, 2))}\n`;
  const edited = await editedText(json, "arguments.json", environment);
  return "problem" in edited ? edited : parsed(edited.text);
}

function parsed(text: string): Edited {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { args: value } : { problem: "The arguments must be a JSON object." };
  } catch (error) {
    return {
      problem: `That is not JSON: ${revealedLine(String((error as Error).message).replaceAll("\n", " "))}`,
    };
  }
}
