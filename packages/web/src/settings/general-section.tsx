/** Choices of this browser, and the server. */
import { useEffect, useState } from "preact/hooks";
import { call, signOut } from "../state/connection.ts";
import { directoryOf } from "../state/directories.ts";
import { attempt } from "../state/notices.ts";
import { type Theme, theme } from "../state/preferences.ts";
import { assistants } from "../state/threads.ts";
import { words as shared } from "../words.ts";
import { hostSettings } from "./settings-calls.ts";
import { words } from "./words.ts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function GeneralSection() {
  const [version, setVersion] = useState("");
  useEffect(() => {
    attempt(async () => setVersion((await call<{ version?: string }>("GET", "/info")).version ?? ""));
  }, []);
  const host = hostSettings.value;
  return (
    <>
      <fieldset>
        <legend>{shared.theme}</legend>
        {THEMES.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="theme"
              checked={theme.value === one}
              onChange={() => (theme.value = one)}
            />
            {shared.themes[one]}
          </label>
        ))}
      </fieldset>
      <section>
        <h2>{words.language}</h2>
        <p>{words.english}</p>
      </section>
      <section>
        <h2>{shared.agents}</h2>
        <ul>
          {assistants.value.map(({ assistant_id: id, name, description }) => (
            <li key={id}>
              <strong>{name}</strong> {description}{" "}
              {directoryOf(id) !== undefined && <code>{directoryOf(id)}</code>}
            </li>
          ))}
        </ul>
      </section>
      {typeof host === "object" && (
        <section>
          <h2>{words.directory}</h2>
          <p>
            <code>{host.directory}</code>
          </p>
          <h2>{words.settingsFiles}</h2>
          <ul>
            {host.settings_files.map(({ path, is_there: isThere, is_trusted: isTrusted }) => (
              <li key={path}>
                <code>{path}</code> <span class="muted">{words.fileState(isThere, isTrusted)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>{shared.server}</h2>
        <p>
          {location.host}
          {version !== "" && ` · ${version}`}
        </p>
        <button type="button" onClick={() => attempt(signOut)}>
          {shared.signOut}
        </button>
      </section>
    </>
  );
}
