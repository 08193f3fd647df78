/** Arguments of a call in fields: text as text, everything else as JSON. */
import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../words.ts";
import { type CallQuestion, problemsOf } from "./questions.ts";

interface EditFormProps {
  readonly call: CallQuestion;
  readonly onDone: (args: object) => void;
  readonly onCancel: () => void;
}

export function EditForm({ call, onDone, onCancel }: EditFormProps) {
  const [texts, setTexts] = useState(() => textsOf(call.args));
  const [problems, setProblems] = useState<readonly string[]>([]);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("textarea")?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    const { args, problems: found } = argsOf(call, texts);
    setProblems(found);
    if (found.length === 0) onDone(args);
  };
  return (
    <form class="edit-form" ref={form} onSubmit={submit}>
      {Object.entries(texts).map(([name, text]) => (
        <label key={name}>
          <span class="name">{name}</span>
          <textarea
            rows={Math.min(14, text.split("\n").length + 1)}
            value={text}
            spellcheck={false}
            onInput={({ currentTarget }) => setTexts({ ...texts, [name]: currentTarget.value })}
          />
        </label>
      ))}
      {problems.length > 0 && (
        <ul class="problems" role="alert">
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <div class="buttons">
        <button type="submit" class="primary">
          {words.approveEdited}
        </button>
        <button type="button" onClick={onCancel}>
          {words.cancel}
        </button>
      </div>
    </form>
  );
}

function textsOf(args: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value, undefined, 2),
    ]),
  );
}

/** A field that held text is text; the others are JSON. */
function argsOf(call: CallQuestion, texts: Readonly<Record<string, string>>) {
  const problems: string[] = [];
  const args: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (typeof call.args[name] === "string") {
      args[name] = text;
      continue;
    }
    try {
      args[name] = JSON.parse(text);
    } catch {
      problems.push(`${name}: ${words.jsonInvalid}`);
    }
  }
  return { args, problems: problems.length > 0 ? problems : problemsOf(args, call.schema) };
}
