/** Commands of a conversation with their exit codes, read from what the tool `execute` answered. */
import { isRecord } from "deepwright/check-options";

export interface RanCommand {
  readonly command: string;
  /** Null: it is not known, or the command has not ended. */
  readonly exit_code: number | null;
}

const MOST_CHARACTERS = 2_000;

/** In the order of the calls. Stored messages of any shape are read. */
export function commandsIn(messages: unknown): readonly RanCommand[] {
  const all = Array.isArray(messages) ? messages.filter(isRecord) : [];
  const results = new Map(all.map((message) => [message.tool_call_id, message.content]));
  return all.flatMap(({ tool_calls: calls }) =>
    (Array.isArray(calls) ? calls.filter(isRecord) : []).flatMap(({ id, name, args }) =>
      name === "execute" && isRecord(args) && typeof args.command === "string"
        ? [{ command: args.command.slice(0, MOST_CHARACTERS), exit_code: exitCodeIn(results.get(id)) }]
        : [],
    ),
  );
}

/** The longest ending of a result. */
const MOST_ENDING = 500;

/** The ending stands behind all output, so no output can pretend to be it. Only the ending is searched: output may be long. */
function exitCodeIn(result: unknown): number | null {
  if (typeof result !== "string") return null;
  const [, code] = /\[[^[\]]*exit code (\d+)[^[\]]*\]$/.exec(result.slice(-MOST_ENDING)) ?? [];
  return code === undefined ? null : Number(code);
}
