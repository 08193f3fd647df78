/** Permissions: why a call would be asked about, rules of the settings, and what a person allowed. */
import { useState } from "preact/hooks";
import { attempt } from "../state/notices.ts";
import {
  type AllowedCall,
  type Explanation,
  explain,
  type HostSettings,
  takeBack,
} from "./settings-calls.ts";
import { words } from "./words.ts";

interface HostProps {
  readonly host: HostSettings;
}

export function PermissionsSection({ host }: HostProps) {
  const { permissions, commands, allowed, sandbox } = host;
  return (
    <>
      <Explainer mode={host.approval_mode} />
      <section>
        <h2>{words.filePermissions}</h2>
        <p class="muted">{words.filePermissionsHint}</p>
        {permissions.length === 0 ? <p>{words.none}</p> : <FileRules permissions={permissions} />}
      </section>
      <section>
        <h2>{words.commandRules}</h2>
        <p class="muted">{words.sandbox(sandbox)}</p>
        {(["deny", "ask", "allow"] as const).map((kind) => (
          <p key={kind}>
            <strong>{words.commandLists[kind]}:</strong>{" "}
            {commands[kind].length === 0
              ? words.none
              : commands[kind].map((command) => (
                  <code key={command} class="command">
                    {command}
                  </code>
                ))}
          </p>
        ))}
        <p class="muted">{words.editHint}</p>
      </section>
      <section>
        <h2>{words.allowed}</h2>
        {allowed.length === 0 && <p>{words.none}</p>}
        <ul>
          {allowed.map((rule) => (
            <Allowed key={nameOf(rule)} rule={rule} />
          ))}
        </ul>
      </section>
    </>
  );
}

function FileRules({ permissions }: Pick<HostSettings, "permissions">) {
  return (
    <ol class="rules">
      {permissions.map(({ operations, paths, mode }, index) => (
        <li key={index}>
          <span class={`badge ${mode === "deny" ? "reject" : mode === "allow" ? "approve" : ""}`}>
            {words.modes[mode]}
          </span>{" "}
          {operations.join(", ")}{" "}
          {paths.map((path) => (
            <code key={path} class="command">
              {path}
            </code>
          ))}
        </li>
      ))}
    </ol>
  );
}

const nameOf = ({ tool, prefix }: AllowedCall): string =>
  prefix ? words.beginsWith(prefix.join(" ")) : words.allCalls(tool);

function Allowed({ rule }: { readonly rule: AllowedCall }) {
  const name = nameOf(rule);
  return (
    <li class="settings-row">
      <code>{name}</code>
      <button type="button" aria-label={words.takeBackOf(name)} onClick={() => attempt(() => takeBack(rule))}>
        {words.takeBack}
      </button>
    </li>
  );
}

type About = "read" | "write" | "command";

function Explainer({ mode }: { readonly mode: string }) {
  const [about, setAbout] = useState<About>("write");
  const [text, setText] = useState("");
  const [answer, setAnswer] = useState<Explanation>();
  const submit = (event: Event): void => {
    event.preventDefault();
    const asked = text.trim();
    if (asked === "") return;
    const path = asked.startsWith("/") ? asked : `/${asked}`;
    attempt(async () =>
      setAnswer(await explain(about === "command" ? { command: asked } : { path, operation: about })),
    );
  };
  const choose = (next: About): void => {
    setAbout(next);
    setAnswer(undefined);
  };
  return (
    <section>
      <h2>{words.explain}</h2>
      <form class="explainer" onSubmit={submit}>
        <select
          aria-label={words.explainWhat}
          value={about}
          onChange={({ currentTarget }) => choose(currentTarget.value as About)}
        >
          <option value="write">{words.writePath}</option>
          <option value="read">{words.readPath}</option>
          <option value="command">{words.command}</option>
        </select>
        <input
          aria-label={words.explainField}
          placeholder={about === "command" ? words.explainHint.command : words.explainHint.path}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setAnswer(undefined);
          }}
        />
        <button type="submit" class="primary">
          {words.explainButton}
        </button>
      </form>
      <p role="status" class="explanation">
        {answer && (
          <>
            <span
              class={`badge ${answer.decision === "deny" ? "reject" : answer.decision === "allow" ? "approve" : ""}`}
            >
              {words.decisions[answer.decision]}
            </span>{" "}
            {answer.reason}
            {about === "write" && answer.decision === "allow" && ` ${words.modeNote(mode)}`}
          </>
        )}
      </p>
    </section>
  );
}
