/** The address that hears of runs of this page, and how calls of webhooks went. */
import { useEffect, useState } from "preact/hooks";
import { attempt } from "../state/notices.ts";
import { webhook } from "../state/preferences.ts";
import { words as shared } from "../words.ts";
import { type Delivery, readDeliveries } from "./settings-calls.ts";
import { words } from "./words.ts";

export function WebhooksSection() {
  return (
    <>
      <Address />
      <Deliveries />
    </>
  );
}

function Address() {
  const [text, setText] = useState(webhook.value);
  const isValid = text === "" || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol));
  return (
    <section>
      <h2>
        <label for="webhook">{words.webhook}</label>
      </h2>
      <p class="muted" id="webhook-hint">
        {words.webhookHint}
      </p>
      <input
        id="webhook"
        type="url"
        value={text}
        placeholder="https://"
        aria-invalid={!isValid}
        aria-describedby="webhook-hint"
        onInput={({ currentTarget }) => setText(currentTarget.value.trim())}
        onChange={() => {
          if (isValid) webhook.value = text;
        }}
      />
      {!isValid && <p class="failure">{words.webhookInvalid}</p>}
    </section>
  );
}

function Deliveries() {
  const [sent, setSent] = useState<readonly Delivery[]>();
  useEffect(() => attempt(async () => setSent(await readDeliveries())), []);
  return (
    <section>
      <h2>{words.deliveries}</h2>
      {sent === undefined && <p class="muted">{shared.loading}</p>}
      {sent?.length === 0 && <p>{words.noDeliveries}</p>}
      <ul class="settings-list">
        {sent?.map(({ run_id: id, host, status, attempts, answer }) => (
          <li key={id}>
            <code>{host}</code>{" "}
            <span class={`badge ${status === "failed" ? "reject" : status === "delivered" ? "approve" : ""}`}>
              {words.deliveryStates[status] ?? status}
            </span>{" "}
            <span class="muted">
              {words.attempts(attempts)} · {words.answered(answer)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
