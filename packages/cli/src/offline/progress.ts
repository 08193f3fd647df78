/** The offline model's progress on the current task, read from the messages. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

export interface DoneCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The tool's result; empty if there is none. */
  readonly result: string;
  readonly failed: boolean;
}

export interface Progress {
  /** The last thing a person asked for. */
  readonly task: string;
  /** Calls since then, in order. */
  readonly calls: readonly DoneCall[];
}

export function progressOf(messages: readonly BaseMessage[]): Progress {
  const start = messages.findLastIndex(
    (message, i) =>
      HumanMessage.isInstance(message) &&
      askedIn(message) !== "" &&
      !isMediaOfTools(message, messages[i - 1]),
  );
  const since = messages.slice(start + 1);
  const results = new Map(
    since.filter((message) => ToolMessage.isInstance(message)).map((result) => [result.tool_call_id, result]),
  );
  const calls = since
    .filter((message) => AIMessage.isInstance(message))
    .flatMap((message) => message.tool_calls ?? [])
    .map(({ name, args, id }) => {
      const result = results.get(id ?? "");
      return { name, args, result: result?.text ?? "", failed: isError(result) };
    });
  return { task: start === -1 ? "" : askedIn(messages[start] as BaseMessage), calls };
}

/** Pictures of tool results stand in a message behind the results. */
function isMediaOfTools({ content }: BaseMessage, before: BaseMessage | undefined): boolean {
  const isMedia = typeof content !== "string" && content.some(({ type }) => type !== "text");
  return isMedia && ToolMessage.isInstance(before);
}

/** The words of a person, without reminders of the harness. */
function askedIn({ text }: BaseMessage): string {
  return text.replace(/<(workspace_data|system_reminder)>[\s\S]*?<\/\1>/g, "").trim();
}

/** Tools of others do not always set a status. */
function isError(result: ToolMessage | undefined): boolean {
  return result === undefined || result.status === "error" || /^Error\b/.test(result.text);
}

/** The successful calls of `name`. */
export function successes({ calls }: Progress, name: string): readonly DoneCall[] {
  return calls.filter((call) => call.name === name && !call.failed);
}

export function wasTried({ calls }: Progress, name: string): boolean {
  return calls.some((call) => call.name === name);
}
