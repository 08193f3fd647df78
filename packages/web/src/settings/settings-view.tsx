/** The settings: of this browser, and what the server tells its owner of the machine. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { hasDirectories } from "../state/directories.ts";
import { attempt } from "../state/notices.ts";
import { assistants } from "../state/threads.ts";
import { choiceName } from "../view/new-thread.tsx";
import { words as shared } from "../words.ts";
import { CronsSection } from "./crons-section.tsx";
import { GeneralSection } from "./general-section.tsx";
import { MemorySection } from "./memory-section.tsx";
import { ModelsSection } from "./models-section.tsx";
import { PermissionsSection } from "./permissions-section.tsx";
import {
  type HostSettings,
  hostSettings,
  readHostSettings,
  settingsAgent,
  showSettingsOf,
} from "./settings-calls.ts";
import "./settings.css";
import { ToolsSection } from "./tools-section.tsx";
import { WebhooksSection } from "./webhooks-section.tsx";
import { words } from "./words.ts";

const TABS = ["general", "models", "permissions", "tools", "memory", "schedules", "webhooks"] as const;
type Tab = (typeof TABS)[number];

const tab = signal<Tab>("general");

export function SettingsView() {
  useEffect(() => attempt(readHostSettings), []);
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = TABS[(TABS.indexOf(tab.peek()) + step + TABS.length) % TABS.length] as Tab;
    tab.value = next;
    document.getElementById(`settings-${next}`)?.focus();
  };
  return (
    <div class="settings">
      <h1>{shared.settings}</h1>
      {hasDirectories() && <DirectoryChoice />}
      <div class="settings-tabs" role="tablist" aria-label={shared.settings}>
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`settings-${name}`}
            aria-selected={tab.value === name}
            aria-controls="settings-part"
            tabIndex={tab.value === name ? 0 : -1}
            onClick={() => (tab.value = name)}
            onKeyDown={onKey}
          >
            {words.tabs[name]}
          </button>
        ))}
      </div>
      <div
        class="settings-part"
        role="tabpanel"
        id="settings-part"
        aria-labelledby={`settings-${tab.value}`}
        tabIndex={0}
      >
        {tab.value === "general" && <GeneralSection />}
        {tab.value === "models" && <OfHost>{(host) => <ModelsSection host={host} />}</OfHost>}
        {tab.value === "permissions" && <OfHost>{(host) => <PermissionsSection host={host} />}</OfHost>}
        {tab.value === "tools" && <OfHost>{(host) => <ToolsSection host={host} />}</OfHost>}
        {tab.value === "memory" && (
          <OfHost>{(host) => <MemorySection key={host.directory} host={host} />}</OfHost>
        )}
        {tab.value === "schedules" && <CronsSection />}
        {tab.value === "webhooks" && <WebhooksSection />}
      </div>
    </div>
  );
}

/** The directory that the tabs about the machine are about. */
function DirectoryChoice() {
  const first = assistants.value[0]?.assistant_id ?? "";
  return (
    <label class="settings-directory">
      {shared.directory}
      <select
        value={settingsAgent.value || first}
        onChange={({ currentTarget: { value } }) => attempt(() => showSettingsOf(value))}
      >
        {assistants.value.map((assistant) => (
          <option key={assistant.assistant_id} value={assistant.assistant_id}>
            {choiceName(assistant)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Sections that only the owner of the machine sees. */
function OfHost({ children }: { readonly children: (host: HostSettings) => ComponentChildren }) {
  const host = hostSettings.value;
  if (host === "loading") return <p class="muted">{shared.loading}</p>;
  if (host === "none") return <p class="muted">{words.ownerOnly}</p>;
  return <>{children(host)}</>;
}
