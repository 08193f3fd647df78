/** State, model, steps, tokens and cost of two threads as a table. */
import { money } from "../state/usage.ts";
import { grouped, words } from "../words.ts";
import type { ComparedThread } from "./comparison.ts";
import { timeWords } from "./words.ts";

const ROWS: readonly (readonly [keyof typeof timeWords.facts, (thread: ComparedThread) => string])[] = [
  ["status", ({ status }) => words.status[status] ?? status],
  ["model", ({ model }) => model ?? timeWords.unknown],
  ["steps", ({ steps }) => grouped(steps)],
  ["calls", ({ usage }) => grouped(usage.calls)],
  ["tokens", ({ usage }) => grouped(usage.tokens)],
  ["cost", ({ usage }) => (usage.unpriced_calls < usage.calls ? money(usage.cost) : timeWords.unknown)],
  ["changes", ({ changes }) => grouped(changes.length)],
];

export function CompareFacts({ threads }: { readonly threads: readonly ComparedThread[] }) {
  return (
    <table class="compare-facts">
      <thead>
        <tr>
          <th scope="col">{timeWords.fact}</th>
          <th scope="col">{timeWords.side("A")}</th>
          <th scope="col">{timeWords.side("B")}</th>
        </tr>
      </thead>
      <tbody>
        {ROWS.map(([name, read]) => (
          <tr key={name}>
            <th scope="row">{timeWords.facts[name]}</th>
            {threads.map((thread, index) => (
              <td key={index}>{read(thread)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
