/** The work beside the conversation: plan, changes, files, agents, cost. */
import type { Screen, ShownAgent, ShownTodo } from "@deepwright/protocol/live";
import { pastAgents, shownAgent, snapshot } from "../state/current.ts";
import { AgentOrders } from "../steer/agent-orders.tsx";
import { ChangesView } from "../undo/changes-view.tsx";
import { askUndo, taskOf } from "../undo/undo-request.ts";
import { lazy } from "../view/lazy.tsx";
import { words } from "../words.ts";
import { TodoList } from "./todo-list.tsx";
import { WORK_TABS, type WorkTab, workTab } from "./work-tab.ts";
import "./work-panel.css";

const CostView = lazy(async () => (await import("../cost/cost-view.tsx")).CostView);
const TimelineView = lazy(async () => (await import("../timeline/timeline-view.tsx")).TimelineView);
const FilesView = lazy(async () => (await import("../files/files-view.tsx")).FilesView);

export function WorkPanel() {
  const { screen } = snapshot.value;
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = WORK_TABS[
      (WORK_TABS.indexOf(workTab.peek()) + step + WORK_TABS.length) % WORK_TABS.length
    ] as WorkTab;
    workTab.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside class="panel" aria-label={words.work}>
      <div class="tabs" role="tablist" aria-label={words.work}>
        {WORK_TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={workTab.value === name}
            aria-controls="work"
            tabIndex={workTab.value === name ? 0 : -1}
            onClick={() => (workTab.value = name)}
            onKeyDown={onKey}
          >
            {words[name]}
          </button>
        ))}
      </div>
      <div class="panel-body" role="tabpanel" id="work" aria-labelledby={`tab-${workTab.value}`} tabIndex={0}>
        {workTab.value === "todos" && <Todos screen={screen} />}
        {workTab.value === "changes" && <ChangesView />}
        {workTab.value === "files" && <FilesView />}
        {workTab.value === "subagents" && <Agents screen={screen} />}
        {workTab.value === "usage" && <CostView screen={screen} />}
      </div>
    </aside>
  );
}

interface PartProps {
  readonly screen: Screen;
}

function Todos({ screen: { main, subagents } }: PartProps) {
  const agent = shownAgent.value === "" ? main : (subagents[shownAgent.value] ?? main);
  if (agent.todos.length === 0) return <p class="muted">{words.noTodos}</p>;
  const earlier = earlierPlans(agent);
  return (
    <>
      <TodoList todos={agent.todos} />
      {earlier.length > 0 && (
        <details class="earlier-plans">
          <summary>{words.earlierPlans(earlier.length)}</summary>
          {earlier.map((todos, index) => (
            <TodoList key={earlier.length - index} todos={todos} />
          ))}
        </details>
      )}
    </>
  );
}

/** Plans that were replaced, the newest first. */
function earlierPlans({ messages, todos }: ShownAgent): readonly (readonly ShownTodo[])[] {
  const written = messages
    .flatMap(({ calls }) => calls)
    .filter(({ name, status }) => name === "write_todos" && status === "done")
    .map(({ args }) => plannedIn(args))
    .toReversed();
  return JSON.stringify(written[0]) === JSON.stringify(todos) ? written.slice(1) : written;
}

/** Arguments are of a model, and may be anything. */
function plannedIn(args: unknown): readonly ShownTodo[] {
  const { todos } = (args ?? {}) as { readonly todos?: unknown };
  return (Array.isArray(todos) ? todos : []).map((todo) => {
    const { content, status } = (todo ?? {}) as Readonly<Record<string, unknown>>;
    return { content: String(content), status: String(status) };
  });
}

/** Agents in the order of their namespaces, so that children stand below their parents. */
function Agents({ screen }: PartProps) {
  const subagents = { ...pastAgents.value, ...screen.subagents };
  const places = Object.keys(subagents).sort();
  if (places.length === 0)
    return (
      <>
        <p class="muted">{words.noSubagents}</p>
        <TimelineView />
      </>
    );
  return (
    <>
      <ul class="agents">
        <AgentRow place="" name={words.mainAgent} status={screen.main.status} depth={0} task="" />
        {places.map((place) => {
          const { name, status, namespace } = subagents[place] as ShownAgent;
          const task = orderOf(place, screen, subagents);
          return (
            <AgentRow
              key={place}
              {...{ place, status, task }}
              name={name ?? words.subagent}
              depth={namespace.length}
            />
          );
        })}
      </ul>
      <TimelineView />
    </>
  );
}

/** The task of a subagent: its first message, or the call that it works on while that message is not read yet. */
function orderOf(place: string, { main }: Screen, subagents: Readonly<Record<string, ShownAgent>>): string {
  const first = subagents[place]?.messages.find(({ role }) => role === "user");
  if (first) return first.text;
  const call = [main, ...Object.values(subagents)]
    .flatMap(({ messages }) => messages)
    .flatMap(({ calls }) => calls)
    .find(({ subagent }) => subagent === place);
  const { description } = (call?.args ?? {}) as { readonly description?: unknown };
  return typeof description === "string" ? description : "";
}

interface AgentProps {
  readonly place: string;
  readonly name: string;
  readonly status: string;
  readonly depth: number;
  readonly task: string;
}

function AgentRow({ place, name, status, depth, task }: AgentProps) {
  const taskId = taskOf(place);
  return (
    <li class={`depth-${Math.min(depth, 4)}`}>
      <button
        type="button"
        aria-pressed={shownAgent.value === place}
        onClick={() => (shownAgent.value = place)}
      >
        <span class={`dot ${status}`} />
        <span class="agent-name">{name}</span>
        <span class="muted">{words.callStatus[status] ?? status}</span>
        {task !== "" && <span class="agent-task">{task.slice(0, 200)}</span>}
      </button>
      {place !== "" && status === "running" && <AgentOrders place={place} name={name} />}
      {taskId !== undefined && (
        <button type="button" class="quiet" onClick={() => askUndo({ kind: "agent", task: taskId })}>
          {words.undoWork}
        </button>
      )}
    </li>
  );
}
