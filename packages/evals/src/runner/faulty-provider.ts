/** A scripted model behind a provider that has a window, refuses bad requests and fails where the case says so. */
import { AIMessage } from "@langchain/core/messages";
import {
  checkRequestFor,
  fault,
  requestBytes,
  type ScriptedModel,
  type ScriptedRequest,
  scriptedModel,
  type Turn,
  type TurnFunction,
} from "deepwright/testing";
import type { CaseFault, EvalCase } from "../format/eval-case.ts";
import type { Life } from "./crash.ts";

const BYTES_PER_TOKEN = 4;
/** Large enough that nothing is summarized in cases that do not care. */
const USUAL_WINDOW = 200_000;

export class FaultyProvider {
  readonly model: ScriptedModel;
  private readonly script: TurnFunction;
  private readonly given: EvalCase;
  private readonly life: () => Life;
  private requests = 0;
  /** Requests that at least one provider would refuse. */
  invalidRequests = 0;
  /** A reply that broke off: the model gives it again. */
  private cut: Exclude<Turn, Error> | undefined;

  constructor(script: TurnFunction, given: EvalCase, life: () => Life) {
    this.script = script;
    this.given = given;
    this.life = life;
    this.model = scriptedModel((request) => this.answer(request), {
      record: false,
      check: false,
      profile: { maxInputTokens: this.window },
    });
  }

  private get window(): number {
    return this.given.window ?? USUAL_WINDOW;
  }

  private async answer(request: ScriptedRequest): Promise<Turn> {
    const life = this.life();
    if (life.isDead) return new Promise(() => {});
    this.requests += 1;
    const size = requestBytes({ messages: request.messages, tools: request.tools }) / BYTES_PER_TOKEN;
    if (size > this.window) return fault.contextOverflow();
    const found = (this.given.faults ?? []).find((each) => "call" in each && each.call === this.requests);
    if (found?.kind === "crash") return life.die();
    if (found !== undefined && found.kind !== "cut-stream") return failureOf(found);
    const refusal = this.check(request.messages);
    if (refusal !== undefined) return refusal;
    const turn = this.cut ?? withUsage(await this.script(request), size);
    this.cut = undefined;
    if (found?.kind !== "cut-stream" || turn instanceof Error) return turn;
    this.cut = turn;
    return fault.cutStream({ after: found.after, turn });
  }

  /** The error of a provider that refuses the request. */
  private check(messages: ScriptedRequest["messages"]): Error | undefined {
    const [broken] = checkRequestFor(RULES, messages);
    if (broken !== undefined || OTHERS.some((name) => checkRequestFor(name, messages).length > 0))
      this.invalidRequests += 1;
    return broken && fault.status(400, `Invalid request: ${broken.message}`);
  }
}

/** The provider of the script has OpenAI's rules, the least strict ones. */
const RULES = "openai";
const OTHERS = ["anthropic", "gemini"] as const;

/** Tokens by bytes: tools, prompt and messages count alike in every harness. */
function withUsage(turn: Turn, inputTokens: number): Turn {
  if (turn instanceof Error || AIMessage.isInstance(turn)) return turn;
  const reply = typeof turn === "string" ? { text: turn } : turn;
  const written = (reply.text ?? "").length + JSON.stringify(reply.toolCalls ?? []).length;
  const usage = { input_tokens: Math.ceil(inputTokens), output_tokens: Math.ceil(written / BYTES_PER_TOKEN) };
  return { ...reply, usage };
}

function failureOf({ kind }: CaseFault): Error {
  if (kind === "rate-limit") return fault.rateLimit({ retryAfter: 0 });
  if (kind === "server") return fault.status(503);
  if (kind === "overflow") return fault.contextOverflow();
  return fault.connectionReset();
}
