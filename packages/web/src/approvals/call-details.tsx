/** A call as a person reads it: a diff, a command, or its arguments with nothing hidden. */
import { lazy } from "../view/lazy.tsx";
import { LongText } from "../view/long-text.tsx";
import { words } from "../words.ts";
import { isRecord } from "./questions.ts";
import { revealed } from "./revealed.ts";

const DiffView = lazy(async () => (await import("../diff/diff-view.tsx")).DiffView);

interface CallDetailsProps {
  readonly tool: string;
  readonly args: unknown;
}

export function CallDetails({ tool, args }: CallDetailsProps) {
  const given = isRecord(args) ? args : { value: args };
  const { file_path: path, old_string: before, new_string: after, content, command, ...rest } = given;
  const label = typeof path === "string" ? words.change(path) : words.arguments;
  const left: Record<string, unknown> = rest;
  let main = null;
  if (tool === "edit_file" && typeof before === "string" && typeof after === "string")
    main = <DiffView before={before} after={after} label={label} isExcerpt />;
  else if (tool === "write_file" && typeof content === "string")
    main = <DiffView before="" after={content} label={label} />;
  else Object.assign(left, { old_string: before, new_string: after, content });
  const named = Object.entries({ ...(path !== undefined && { file_path: path }), ...left });
  const shown = named.filter(([, value]) => value !== undefined);
  return (
    <div class="call-details">
      {typeof command === "string" ? (
        <pre class="command">{revealed(command)}</pre>
      ) : (
        command !== undefined && <Argument name="command" value={command} />
      )}
      {shown.map(([name, value]) => (
        <Argument key={name} name={name} value={value} />
      ))}
      {main}
    </div>
  );
}

const SHORT = 100;

function Argument({ name, value }: { readonly name: string; readonly value: unknown }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
  const shown = revealed(text);
  const isShort = shown.length <= SHORT && !shown.includes("\n");
  return (
    <div class="argument">
      <span class="name">{revealed(name)}</span>
      {isShort ? <code>{shown}</code> : <LongText text={shown} />}
    </div>
  );
}
