/** Carries a compaction out: records the removed messages, summarises them, and returns the model's new view. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { BackendSource } from "../../backends/resolve.ts";
import { StateBackend } from "../../backends/state/state.ts";
import type { RequestView, StageTask } from "../../loop/contract/stages.ts";
import { type Messages, newId } from "../../loop/messages/messages.ts";
import type { ChatModel, ModelSource } from "../../loop/providers/model-source.ts";
import { ownValue } from "../../text/own-value.ts";
import { estimateTokens } from "../../tokens.ts";
import { marksOf } from "../message-copy.ts";
import { saveText } from "../save-text.ts";
import type { Budget, Size } from "../tokens/budget.ts";
import { messageTokens } from "../tokens/token-meter.ts";
import type { Plan } from "./compaction-plan.ts";
import { type KeptRequest, keptRequest, shorterRequest } from "./compaction-request.ts";
import { type Compaction, clipsAmong, messagesOf, type Sight } from "./compaction-state.ts";
import { appendHistory, type History, historyName } from "./history.ts";
import type { ArgumentLimit, Clip } from "./shorten.ts";
import { clipToTokens, type Summary, summarize } from "./summarize.ts";
import { pinnedState, summaryWords } from "./summary-message.ts";
import { textOf } from "./transcript.ts";

export interface CompactionSettings {
  /** Model that summarizes; absent: the model of the request. */
  readonly model: ModelSource | undefined;
  /** Where the record is kept; absent: the state of the thread. */
  readonly backend: BackendSource | undefined;
  readonly triggers: readonly Size[];
  readonly keep: Size | undefined;
  readonly summaryPrompt: string | undefined;
  readonly historyDirectory: string | undefined;
  readonly arguments: ArgumentLimit;
  /** When arguments are shortened, apart from when something must be done; absent: then only. */
  readonly argumentTriggers: readonly Size[] | undefined;
  /** How many of the newest messages keep their arguments. */
  readonly argumentKeep: Size | undefined;
  readonly readAtMost: number | undefined;
  /** Seconds. */
  readonly summaryTimeout: number;
}

export interface Compacting {
  readonly view: RequestView;
  readonly task: StageTask;
  readonly settings: CompactionSettings;
  readonly state: Compaction;
  readonly sight: Sight;
  readonly budget: Budget;
  readonly plan: Plan;
  /** The request must become smaller, not only have fewer messages. */
  readonly mustShrink: boolean;
}

/** Undefined when the request would not become smaller. */
export async function compact(compacting: Compacting): Promise<Compaction | undefined> {
  const { plan, state, view } = compacting;
  const session = state.session ?? newId();
  const clips = await withPaths(compacting, { ...clipsAmong(state.clips ?? {}, plan.kept), ...plan.clips });
  const { clips: _, shortenedThrough: before, request: _request, ...known } = state;
  const shortenedThrough = plan.isShortened ? lastId(view.valid) : before;
  const next: Compaction = {
    ...known,
    session,
    after: lastId(view.thread),
    ...(view.valid[0]?.id !== undefined && { origin: view.valid[0].id }),
    ...(shortenedThrough !== undefined && { shortenedThrough }),
    ...(Object.keys(clips).length > 0 && { clips }),
  };
  if (plan.removed.length === 0)
    return { ...next, ...(state.request !== undefined && { request: state.request }) };
  const { start } = compacting.sight;
  const removed = view.valid.slice(start, start + plan.removedFromThread);
  const [history, summary] = await Promise.all([record(compacting, removed, session), sumUp(compacting)]);
  const words = fittingWords(compacting, summary, history);
  if (words === undefined) return undefined;
  const kept = view.valid[start + removed.length];
  const left = new Set(view.valid.slice(start + removed.length).map((message) => message.id));
  compacting.task.keepReminders?.((id) => left.has(id));
  const last = removed.at(-1)?.id;
  return {
    ...next,
    ...words,
    count: state.count + 1,
    ...(kept?.id !== undefined && { first: kept.id }),
    ...(last !== undefined && { archivedTo: last }),
    ...(history.path !== undefined && { historyPath: history.path }),
    historyParts: history.parts,
  };
}

export function lastId(messages: Messages): string | undefined {
  return messages.at(-1)?.id;
}

async function record(
  { view, task, settings, state }: Compacting,
  messages: Messages,
  session: string,
): Promise<History> {
  return appendHistory({
    backend: settings.backend,
    task,
    directory: settings.historyDirectory,
    name: historyName(task.config, session),
    messages,
    thread: view.valid,
    parts: state.historyParts ?? 0,
  });
}

async function sumUp({ view, task, settings, state, budget, plan }: Compacting): Promise<Summary> {
  return summarize({
    model: await summariser(settings, view),
    prompt: settings.summaryPrompt,
    earlier: state.notes ?? "",
    messages: plan.removed,
    tokens: budget.summary,
    readAtMost: settings.readAtMost,
    config: task.config,
    signal: task.signal,
    timeout: settings.summaryTimeout,
  });
}

async function summariser({ model }: CompactionSettings, view: RequestView): Promise<ChatModel> {
  return (await model?.resolve()) ?? view.model;
}

const LEAST_NOTES = 24;
const threadFiles = new StateBackend();

/** Notes are cut, and then the words of a person, where the request would otherwise be no smaller than before. */
function fittingWords(
  compacting: Compacting,
  summary: Summary,
  history: History,
): Pick<Compaction, "summary" | "notes" | "request"> | undefined {
  const { view, sight, plan, mustShrink, budget } = compacting;
  const room = tokensOf(messagesOf(sight), view) - plan.keptTokens;
  let request = requestFor(compacting, history.path);
  for (let notes = summary.text; ; ) {
    const words = wordsWith(compacting, { ...summary, text: notes }, history, request);
    if (!mustShrink || tokensOf([new HumanMessage(words)], view) < room)
      return { summary: words, notes, ...(request !== undefined && { request }) };
    const size = Math.floor(estimateTokens(notes) / 2);
    const shorter = request && shorterRequest(request, budget.pin, view.model);
    if (size >= LEAST_NOTES) notes = clipToTokens(notes, size);
    else if (shorter === request) return undefined;
    else request = shorter;
  }
}

/** The newest request of a person, if it is no longer in view. */
function requestFor({ plan, state, view }: Compacting, record: string | undefined): KeptRequest | undefined {
  if (plan.keepsRequest) return undefined;
  const { request, requestTokens: tokens } = plan;
  if (request !== undefined) return keptRequest(request, tokens, view.model, record);
  return state.request && shorterRequest(state.request, tokens, view.model);
}

function wordsWith(
  { task, view, budget }: Compacting,
  summary: Summary,
  history: History,
  request: KeptRequest | undefined,
): string {
  const record = { path: history.path, canRead: canRead(view) };
  return summaryWords({
    notes: summary.text,
    isMechanical: summary.failure !== undefined,
    request,
    pinned: pinnedState((key) => task.read(key), budget.pin, record),
    ...record,
  });
}

function canRead({ tools }: RequestView): boolean {
  return tools.some((tool) => (tool as { name?: string }).name === "read_file");
}

function tokensOf(messages: Messages, { model }: RequestView): number {
  return messages.reduce((sum, message) => sum + messageTokens(message, model), 0);
}

/** Results that are shown in part are kept whole in a file, if the model can read files. */
async function withPaths(
  { view, task, settings, plan }: Compacting,
  clips: Readonly<Record<string, Clip>>,
): Promise<Record<string, Clip>> {
  const result: Record<string, Clip> = { ...clips };
  if (!canRead(view)) return result;
  for (const message of view.valid.slice(-plan.kept.length)) {
    const clip = ownValue(clips, message.id ?? "");
    if (clip === undefined || clip.path !== undefined || !ToolMessage.isInstance(message)) continue;
    const text = textOf(message);
    if (text.length <= clip.characters) continue;
    const offloaded = marksOf(message)?.offloaded as { readonly path?: string } | undefined;
    if (offloaded?.path !== undefined) {
      result[message.id as string] = { ...clip, path: offloaded.path };
      continue;
    }
    const place = { area: "large_tool_results", id: message.tool_call_id } as const;
    const { path } = await saveText(settings.backend ?? threadFiles, task, place, text);
    if (path !== undefined) result[message.id as string] = { ...clip, path };
  }
  return result;
}
