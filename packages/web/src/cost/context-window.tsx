/** The window of the model as a bar, by source, with a legend. */
import type { Screen } from "@deepwright/protocol/live";
import type { Facts } from "../choices/facts.ts";
import { grouped } from "../words.ts";
import { countedTokens, sourcesOf } from "./context-sources.ts";
import { words } from "./words.ts";

interface WindowProps {
  readonly screen: Screen;
  readonly facts: Facts | undefined;
}

export function ContextWindow({ screen, facts }: WindowProps) {
  const sources = sourcesOf(screen, facts);
  const used = sources.reduce((sum, [, tokens]) => sum + tokens, 0);
  const whole = Math.max(facts?.window ?? used, used, 1);
  const counted = countedTokens(screen);
  let from = 0;
  const parts = sources.map(([source, tokens]) => {
    const start = from;
    from += (100 * tokens) / whole;
    return { source, tokens, start, width: from - start };
  });
  return (
    <section>
      <h2>{words.context}</h2>
      <p class="muted">{words.contextHint}</p>
      <svg class="window-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ source, start, width }) => (
          <rect key={source} class={`source-${source}`} x={start} y={0} width={width} height={6} />
        ))}
      </svg>
      <dl class="facts">
        {parts.map(({ source, tokens }) => (
          <div key={source}>
            <dt>
              <span class={`swatch source-${source}`} />
              {words.sources[source]}
            </dt>
            <dd>{grouped(tokens)}</dd>
          </div>
        ))}
        {counted > 0 && (
          <div>
            <dt>{words.lastRequest}</dt>
            <dd>{grouped(counted)}</dd>
          </div>
        )}
        {facts?.window != null && (
          <div>
            <dt>{words.window}</dt>
            <dd>
              {grouped(facts.window)} · {words.share(used / facts.window)}
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}
