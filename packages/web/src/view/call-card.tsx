/** A tool call: what it does, how far it is, and what came of it. */
import type { ShownCall } from "@deepwright/protocol/live";
import { useState } from "preact/hooks";
import { CallDetails } from "../approvals/call-details.tsx";
import { shownAgent } from "../state/current.ts";
import { route } from "../state/route.ts";
import { askUndo, changesFiles, taskOf } from "../undo/undo-request.ts";
import { words } from "../words.ts";
import { LongText } from "./long-text.tsx";
import { memo } from "./memo.tsx";

const MOST_SUMMARY = 120;

export const CallCard = memo(function CallCard({ call }: { readonly call: ShownCall }) {
  const [isOpen, setOpen] = useState(false);
  const { name, status, args, argsText, result, progress, subagent } = call;
  const shown = isRejected(call) ? "rejected" : status;
  return (
    <div class={`call ${shown}`}>
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="call-mark" aria-hidden="true" />
        <span class="call-name">{name}</span>
        <span class="call-summary">{name === "write_todos" ? planOf(args) : summaryOf(args, argsText)}</span>
        <span class="call-status">{words.callStatus[shown] ?? shown}</span>
      </button>
      {status === "running" && progress !== undefined && (
        <p class="progress">{textOf(progress).slice(0, MOST_SUMMARY)}</p>
      )}
      {subagent !== undefined && (
        <button type="button" class="quiet" onClick={() => (shownAgent.value = subagent)}>
          {words.openAgent}
        </button>
      )}
      {isOpen && (
        <div class="call-body">
          {args === undefined ? <LongText text={argsText} /> : <CallDetails tool={name} args={args} />}
          {result !== undefined && (
            <>
              <h4>{words.result}</h4>
              {result === "" ? <p class="muted">{words.noResult}</p> : <LongText text={result} />}
            </>
          )}
          {(status === "done" || status === "error") &&
            changesFiles(name) &&
            route.value.view === "thread" && <UndoCall call={call} />}
        </div>
      )}
    </div>
  );
});

/** A person said no: the call did not fail. The sentence is the one that the model reads. */
function isRejected({ name, status, result }: ShownCall): boolean {
  return status === "error" && result?.startsWith(`The call of ${name} was rejected by a person`) === true;
}

function UndoCall({ call: { id, name, subagent = "" } }: { readonly call: ShownCall }) {
  const task = taskOf(subagent);
  if (name === "task" && task === undefined) return null;
  const one = task === undefined ? ({ kind: "call", call: id } as const) : ({ kind: "agent", task } as const);
  return (
    <div class="buttons">
      <button type="button" class="quiet" onClick={() => askUndo(one)}>
        {words.undoCall}
      </button>
      {task === undefined && (
        <button type="button" class="quiet" onClick={() => askUndo({ kind: "since-call", call: id })}>
          {words.undoSince}
        </button>
      )}
    </div>
  );
}

const TELLING = ["command", "file_path", "path", "pattern", "description", "query", "url"];

/** How far the plan is, and what is worked on. */
function planOf(args: unknown): string {
  const { todos } = (args ?? {}) as { readonly todos?: unknown };
  if (!Array.isArray(todos)) return "";
  const listed = todos as readonly ({ readonly content?: unknown; readonly status?: unknown } | null)[];
  const done = listed.filter((todo) => todo?.status === "completed").length;
  const now = listed.find((todo) => todo?.status === "in_progress")?.content;
  return [words.todosDone(done, listed.length), ...(typeof now === "string" ? [now] : [])].join(" · ");
}

/** The argument that tells most, on one line. */
function summaryOf(args: unknown, argsText: string): string {
  if (typeof args !== "object" || args === null) return argsText.slice(0, MOST_SUMMARY);
  const given = args as Readonly<Record<string, unknown>>;
  const key = TELLING.find((name) => typeof given[name] === "string");
  const text =
    key === undefined ? (Object.keys(given).length === 0 ? "" : JSON.stringify(given)) : String(given[key]);
  const [line = ""] = text.split("\n");
  return line.length > MOST_SUMMARY ? `${line.slice(0, MOST_SUMMARY)}…` : line;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
