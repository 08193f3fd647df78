/** The answer of one thread, and the commands that it ran. */
import { revealed } from "../approvals/revealed.ts";
import { Markdown } from "../markdown/markdown.tsx";
import type { ComparedThread } from "./comparison.ts";
import { timeWords } from "./words.ts";

export function Answer({ side, answer }: { readonly side: string; readonly answer: string }) {
  return (
    <article class="compare-answer" aria-label={timeWords.side(side)} tabIndex={0}>
      {answer === "" ? <p class="muted">{timeWords.noAnswer}</p> : <Markdown text={answer} />}
    </article>
  );
}

interface CommandsProps {
  readonly side: string;
  readonly commands: ComparedThread["commands"];
}

export function Commands({ side, commands }: CommandsProps) {
  if (commands.length === 0) return <p class="muted">{timeWords.noCommands}</p>;
  return (
    <ul class="compare-commands" aria-label={timeWords.side(side)}>
      {commands.map(({ command, exit_code: code, is_check: isCheck }, index) => (
        <li key={index}>
          <code>{revealed(command)}</code> {isCheck && <span class="badge">{timeWords.check}</span>}{" "}
          <span class={`badge ${code === 0 ? "created" : code === null ? "" : "deleted"}`}>
            {timeWords.exit(code)}
          </span>
        </li>
      ))}
    </ul>
  );
}
