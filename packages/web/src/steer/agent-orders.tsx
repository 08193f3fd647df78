/** Stops one subagent of the run at work, or tells it something. */
import { useState } from "preact/hooks";
import { call } from "../state/connection.ts";
import { attempt, notify } from "../state/notices.ts";
import { route } from "../state/route.ts";
import { words } from "./words.ts";

interface OrdersProps {
  /** Its namespace: `tools:1|tools:2`. */
  readonly place: string;
  readonly name: string;
}

export function AgentOrders({ place, name }: OrdersProps) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const at = route.value;
  if (at.view !== "thread") return null;
  const parameters = { thread_id: at.threadId };
  const order = (kind: "stop" | "steer", body: object, done: string): void =>
    attempt(async () => {
      await call("POST", `/threads/:thread_id/subagents/${kind}`, {
        parameters,
        body: { subagent: place, id: crypto.randomUUID(), ...body },
      });
      notify(done);
    });
  const tell = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === "") return;
    order("steer", { content: text }, words.told(name));
    setText("");
    setOpen(false);
  };
  return (
    <div class="agent-orders">
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {words.tell}
      </button>
      <button type="button" class="quiet danger" onClick={() => order("stop", {}, words.stopped(name))}>
        {words.stop}
      </button>
      {isOpen && (
        <form onSubmit={tell}>
          <input
            value={text}
            aria-label={words.messageFor(name)}
            placeholder={words.messageFor(name)}
            ref={(field) => field?.focus()}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={({ key }) => key === "Escape" && setOpen(false)}
          />
        </form>
      )}
    </div>
  );
}
