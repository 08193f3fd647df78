/** Models: the agent's own, keys that are present or missing, and model servers of the machine. */
import type { HostSettings } from "./settings-calls.ts";
import { words } from "./words.ts";

interface HostProps {
  readonly host: HostSettings;
}

export function ModelsSection({ host }: HostProps) {
  const { providers, model_servers: servers, model } = host;
  const usual = providers.filter((one) => one.is_present || one.model !== undefined);
  const others = providers.filter((one) => !usual.includes(one));
  return (
    <>
      <section>
        <h2>{words.model}</h2>
        <p>{model}</p>
      </section>
      <section>
        <h2>{words.keys}</h2>
        <p class="muted">{words.keysHint}</p>
        <Keys providers={usual} />
        {others.length > 0 && (
          <details>
            <summary>{words.more(others.length)}</summary>
            <Keys providers={others} />
          </details>
        )}
      </section>
      <section>
        <h2>{words.modelServers}</h2>
        <ul>
          {servers.map(({ title, url, models }) => (
            <li key={url}>
              <strong>{title}</strong> <code>{url}</code>{" "}
              <span class="muted">{models === null ? words.noAnswer : words.models(models)}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Keys({ providers }: Pick<HostSettings, "providers">) {
  return (
    <table class="settings-table">
      <thead>
        <tr>
          <th>{words.provider}</th>
          <th>{words.key}</th>
          <th>{words.state}</th>
        </tr>
      </thead>
      <tbody>
        {providers.map(({ name, key, is_present: isPresent, model }) => (
          <tr key={name}>
            <td>
              {name} {model !== undefined && <span class="muted">{model}</span>}
            </td>
            <td>
              <code>{key}</code>
            </td>
            <td>
              <span class={`badge ${isPresent ? "approve" : ""}`}>
                {isPresent ? words.present : words.missing}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
