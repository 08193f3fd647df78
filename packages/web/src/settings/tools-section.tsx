/** MCP servers with their state, and skills. */
import type { HostSettings } from "./settings-calls.ts";
import { words } from "./words.ts";

interface HostProps {
  readonly host: HostSettings;
}

export function ToolsSection({ host: { mcp_servers: servers, skills } }: HostProps) {
  return (
    <>
      <section>
        <h2>{words.mcpServers}</h2>
        <p class="muted">{words.mcpHint}</p>
        {servers.length === 0 && <p>{words.none}</p>}
        <ul>
          {servers.map(({ name, origin, state, problem, tools }) => (
            <li key={name}>
              <strong>{name}</strong> <span class="muted">{words.origins[origin] ?? origin}</span>{" "}
              <span class={`badge ${state === "untrusted" ? "reject" : ""}`}>{state}</span>
              {problem !== undefined && <p class="muted">{problem}</p>}
              {tools.length > 0 && (
                <details>
                  <summary>{words.tools(tools.length)}</summary>
                  {tools.map((tool) => (
                    <code key={tool} class="command">
                      {tool}
                    </code>
                  ))}
                </details>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>{words.skills}</h2>
        {skills.length === 0 && <p>{words.none}</p>}
        <ul>
          {skills.map(({ name, description, path, is_trusted: isTrusted }) => (
            <li key={path}>
              <strong>{name}</strong>{" "}
              <span class={`badge ${isTrusted ? "approve" : ""}`}>
                {isTrusted ? words.trusted : words.untrusted}
              </span>
              <p>{description}</p>
              <code class="muted">{path}</code>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
