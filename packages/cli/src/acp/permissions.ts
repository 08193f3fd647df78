/** Puts the open questions of a session to the editor: permissions for calls, forms for other questions. */
import { isDeepStrictEqual } from "node:util";
import type { PermissionOption, ToolCallContent } from "@agentclientprotocol/sdk";
import type { Screen, ShownCall } from "@deepwright/protocol";
import { callWarnings } from "deepwright/approval-warnings";
import { ApprovalPanel, type Choice } from "../app/approvals/approval-panel.ts";
import { approveAs } from "../app/approvals/approve-as.ts";
import { prefixOf } from "../app/approvals/command-prefix.ts";
import type { Session } from "../app/session/session.ts";
import { type Answers, type CallQuestion, type Question, questionsOf } from "../approval/question.ts";
import { safeText } from "../terminal/safe-text.ts";
import { callUpdate, textNow } from "./call-update.ts";
import type { Editor } from "./editor.ts";
import { answerFrom } from "./forms.ts";
import type { ScreenUpdates } from "./screen-updates.ts";

export interface Asking {
  readonly editor: Editor;
  readonly session: Session;
  readonly updates: ScreenUpdates;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** Undefined: the person did not decide, and the questions stay open. */
export async function askedAnswers(asking: Asking): Promise<Answers | undefined> {
  const { session } = asking;
  const questions = questionsOf(session.screen.interrupts);
  const panel = new ApprovalPanel(questions, session.threadId, prefixOf, session.place.rules);
  const waiting = waitingCalls(session.screen);
  while (!panel.isDone) {
    const { question, call } = panel;
    const isDecided = call
      ? await isCallDecided(asking, panel, question as Question, call, takeFrom(waiting, call))
      : await isQuestionAnswered(asking, panel, question as Question);
    if (!isDecided || asking.signal.aborted) return undefined;
  }
  return panel.answers;
}

async function isCallDecided(
  asking: Asking,
  panel: ApprovalPanel,
  question: Question,
  call: CallQuestion,
  shown: WaitingCall | undefined,
): Promise<boolean> {
  const choices = [...panel.choices(false), ...alwaysChoices(panel, call)].filter(({ act }) =>
    OFFERED.has(act),
  );
  if (choices.length === 0) return isQuestionAnswered(asking, panel, question);
  const { editor, session, signal } = asking;
  const request = {
    sessionId: session.threadId,
    toolCall: permissionCall(asking, question, call, shown),
    options: choices.map(optionOf),
  };
  const outcome = await unlessStopped(editor.askPermission(request, signal), signal);
  if (outcome?.outcome.outcome !== "selected") return false;
  const { optionId } = outcome.outcome;
  const chosen = choices.find((choice, i) => optionOf(choice, i).optionId === optionId);
  // An answer that was not offered allows nothing.
  if (chosen?.act === "approve") await approveAs(panel, chosen, session);
  else panel.reject("");
  return true;
}

const OFFERED: ReadonlySet<Choice["act"]> = new Set(["approve", "reject"]);

function alwaysChoices(panel: ApprovalPanel, { allowed }: CallQuestion): readonly Choice[] {
  return allowed.includes("approve") ? panel.choices(true) : [];
}

function optionOf({ act, label, rule, remember }: Choice, index: number): PermissionOption {
  const isLasting = rule !== undefined || remember !== undefined;
  const kind = act === "reject" ? "reject_once" : isLasting ? "allow_always" : "allow_once";
  const name = act === "reject" ? "No" : isLasting ? `Always: ${label}` : "Yes, run it";
  return { optionId: `${kind}-${index}`, name: safeText(name), kind };
}

async function isQuestionAnswered(
  asking: Asking,
  panel: ApprovalPanel,
  question: Question,
): Promise<boolean> {
  const { editor, session, signal } = asking;
  if (!editor.hasForms) return false;
  const answer = await unlessStopped(answerFrom(editor, session.threadId, question.value, signal), signal);
  if (answer === undefined) return false;
  panel.respond(answer);
  return true;
}

/** Undefined: the turn was cancelled meanwhile. */
async function unlessStopped<Answer>(
  asked: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  try {
    const answer = await asked;
    return signal.aborted ? undefined : answer;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function permissionCall(
  { updates, directory, session }: Asking,
  { agentPath, problem }: Question,
  call: CallQuestion,
  shown: WaitingCall | undefined,
) {
  const known: ShownCall = shown?.call ?? {
    ...{ id: `ask-${call.tool}`, name: call.tool, argsText: "", status: "waiting" },
    args: call.args,
  };
  const id = updates.idOf(shown?.messageId ?? "ask", known.id, shown?.isOfSubagent ?? false);
  const update = callUpdate(known, { id, directory, before: textNow(known, directory) });
  const controlPaths = session.place.local?.controlPaths ?? [];
  const remarks = [
    ...(problem === undefined ? [] : [`That was not accepted: ${problem}`]),
    ...(agentPath.length > 0 ? [`Asked by ${agentPath.join(" › ")}.`] : []),
    ...(call.description === undefined ? [] : [call.description]),
    ...callWarnings({ name: call.tool, args: call.args }, { controlPaths }).map((warning) => `⚠ ${warning}`),
  ];
  const content: ToolCallContent[] = [
    ...(update.content ?? []),
    ...remarks.map((text): ToolCallContent => {
      return { type: "content", content: { type: "text", text: safeText(text) } };
    }),
  ];
  return { ...update, content };
}

interface WaitingCall {
  readonly messageId: string;
  readonly call: ShownCall;
  readonly isOfSubagent: boolean;
}

function waitingCalls({ main, subagents }: Screen): WaitingCall[] {
  return [main, ...Object.values(subagents)].flatMap((agent) =>
    agent.messages.flatMap(({ id, calls }) =>
      calls
        .filter(({ status }) => status === "waiting" || status === "running")
        .map((call) => ({ messageId: id, call, isOfSubagent: agent !== main })),
    ),
  );
}

/** The newest call that fits, each once. */
function takeFrom(waiting: WaitingCall[], { tool, args }: CallQuestion): WaitingCall | undefined {
  const index = waiting.findIndex(({ call }) => call.name === tool && isDeepStrictEqual(call.args, args));
  return index === -1 ? undefined : waiting.splice(index, 1)[0];
}
