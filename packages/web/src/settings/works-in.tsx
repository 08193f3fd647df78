/** Where the agent of this machine works, and with which model. */
import { useEffect } from "preact/hooks";
import { words } from "../words.ts";
import { hostSettings, settingsAgent, showSettingsOf } from "./settings-calls.ts";

export function WorksIn({ assistantId }: { readonly assistantId: string }) {
  useEffect(() => {
    if (
      assistantId !== "" &&
      (assistantId !== settingsAgent.peek() || typeof hostSettings.peek() === "string")
    )
      showSettingsOf(assistantId).catch(() => undefined);
  }, [assistantId]);
  const facts = hostSettings.value;
  if (typeof facts === "string") return null;
  return (
    <p class="muted">
      {words.worksIn} <code>{facts.directory}</code>. {facts.model}
    </p>
  );
}
