/** Where the agent of this machine works, and with which model. */
import { useEffect } from "preact/hooks";
import { words } from "../words.ts";
import { hostSettings, readHostSettings } from "./settings-calls.ts";

export function WorksIn() {
  useEffect(() => {
    if (typeof hostSettings.peek() === "string") readHostSettings().catch(() => undefined);
  }, []);
  const facts = hostSettings.value;
  if (typeof facts === "string") return null;
  return (
    <p class="muted">
      {words.worksIn} <code>{facts.directory}</code>. {facts.model}
    </p>
  );
}
