/** The answer to a question that a tool asks in its own words: text. */
import { useState } from "preact/hooks";
import { words } from "../words.ts";

interface FreeAnswerProps {
  readonly disabled: boolean;
  readonly onAnswer: (value: string) => void;
}

export function FreeAnswer({ disabled, onAnswer }: FreeAnswerProps) {
  const [text, setText] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== "") onAnswer(text);
  };
  return (
    <form class="edit-form" onSubmit={submit}>
      <label>
        <span class="name">{words.answer}</span>
        <textarea rows={2} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="primary" disabled={disabled || text.trim() === ""}>
          {words.send}
        </button>
      </div>
    </form>
  );
}
