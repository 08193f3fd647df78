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

/** The ending stands behind all output, so no output can pretend to be it. */
function exitCodeIn(result: unknown): number | null {
  const code = typeof result === "string" && /\[[^[\]]*exit code (\d+)[^[\]]*\]$/.exec(result)?.[1];
  return code ? Number(code) : null;
}
