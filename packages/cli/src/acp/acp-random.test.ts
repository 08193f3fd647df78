import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { until } from "../../../../scripts/test-time.ts";
import { isRunning, startEditor, type TestEditor, workspaces } from "./editor-for-tests.ts";
import { scriptModel } from "./script-model-for-tests.ts";

const SCRIPTS = sized(2, 200);
const STEPS = 6;

type Answer = "allow_once" | "reject_once" | "closed" | "cancel" | "crash";

/** A restart takes longer than all else of a script: it is rarer. */
const ANSWERS: readonly Answer[] = [
  ...Array<Answer>(9).fill("allow_once"),
  ...([
    "reject_once",
    "reject_once",
    "reject_once",
    "closed",
    "closed",
    "closed",
    "cancel",
    "cancel",
    "crash",
  ] as const),
];
const MEDDLING = [
  ...Array<"none">(11).fill("none"),
  "cancel",
  "cancel",
  "cancel",
  "cancel",
  "crash",
] as const;

/** A prompt and its result. */
interface Turn {
  /** Once in the prompt, and in the file of effects if its command ran. */
  readonly token: string;
  readonly isCommand: boolean;
  answer: Answer | undefined;
  /** The reason why it ended; undefined: the program was killed meanwhile. */
  end: string | undefined;
}

test("a thread stays whole through random prompts, cancels, answers and restarts", async () => {
  const [model, places] = await Promise.all([scriptModel(), workspaces()]);
  model.release();
  const args = ["--model", "openai:gpt-5.4", "--base-url", model.url, "--no-mcp"];
  const start = () => startEditor({ cwd: places.base, args, env: places.env });
  let editor = await start();
  for (let seed = 1; seed <= SCRIPTS; seed++) {
    const cwd = await places.with();
    const random = randomOf(seed);
    const { sessionId } = await editor.open(cwd);
    const turns: Turn[] = [];
    const there = { sessionId, cwd, mcpServers: [] };
    const restart = async (): Promise<void> => {
      if (random() < 0.5) await editor.kill();
      else await editor.hangUp();
      editor = await start();
      // A session that was never used is no thread yet.
      if (turns.length > 0)
        await editor.agent.request("session/load", there).catch(async ({ code }: { code: number }) => {
          expect({ seed, code, ended: turns.filter(({ end }) => end !== undefined) }).toEqual({
            seed,
            code: -32_002,
            ended: [],
          });
        });
    };
    for (let step = 0; step < STEPS; step++) {
      if (random() < 0.03) await restart();
      const turn = await played(editor, sessionId, `${seed}-${step}`, random);
      if (turn === "unknown") break;
      turns.push(turn);
      if (turn.end === undefined) await restart();
    }
    await checked(editor, there, turns, seed);
  }
  expect(model.problems).toEqual([]);
});

/** One prompt with what meets it. `unknown`: nothing of the session was stored before a crash. */
async function played(
  editor: TestEditor,
  sessionId: string,
  token: string,
  random: () => number,
): Promise<Turn | "unknown"> {
  const isCommand = random() < 0.7;
  const turn: Turn = { token, isCommand, answer: undefined, end: undefined };
  const cancel = () => editor.agent.notify("session/cancel", { sessionId });
  editor.permit = async () => {
    turn.answer ??= oneOf(ANSWERS, random);
    if (turn.answer === "cancel") await cancel();
    if (turn.answer === "crash") editor.child.kill("SIGKILL");
    return turn.answer;
  };
  const slow = random() < 0.3 ? "; sleep 3737" : "";
  const ask = `call execute ${JSON.stringify({ command: `echo ${token} >> effects${slow}` })}`;
  const prompt = editor.prompt(sessionId, isCommand ? `${ask}\nsay did ${token}` : `say heard ${token}`);
  const meddle = oneOf(MEDDLING, random);
  const heard = editor.updates.length;
  const when = Math.floor(random() * 4);
  let isOver = false;
  const isAtWork = () => [...editor.calls(sessionId).values()].at(-1)?.status === "in_progress";
  const meddling = until(() => isOver || editor.updates.length >= heard + when || isAtWork()).then(
    async () => {
      if (isOver) return;
      if (meddle === "cancel") await cancel();
      if (meddle === "crash") editor.child.kill("SIGKILL");
      // A slow command is not waited for.
      if (meddle !== "none" || slow === "" || !isCommand) return;
      await until(() => isOver || isAtWork());
      await cancel();
    },
  );
  try {
    turn.end = (await prompt).stopReason;
  } catch (error) {
    if ((error as { code?: unknown }).code === -32_002) return "unknown";
    if (!editor.child.killed) throw error;
  }
  isOver = true;
  await meddling.catch(() => undefined);
  return turn;
}

async function checked(
  editor: TestEditor,
  there: { readonly sessionId: string; readonly cwd: string },
  turns: readonly Turn[],
  seed: number,
): Promise<void> {
  const { sessionId, cwd } = there;
  if (turns.every(({ end }) => end === undefined)) return;
  expect({ seed, reason: await editor.prompt(sessionId, "say all is well") }).toEqual({
    ...{ seed, reason: { stopReason: "end_turn" } },
  });
  expect(editor.said(sessionId).endsWith("all is well")).toBe(true);
  await editor.agent.request("session/close", { sessionId });
  const heard = editor.updates.length;
  await editor.agent.request("session/load", { ...there, mcpServers: [] });
  await editor.heard();
  const replayed = editor.updates.slice(heard).map(({ update }) => update);
  const said = replayed.flatMap((update) =>
    update.sessionUpdate === "user_message_chunk" && update.content.type === "text"
      ? [update.content.text]
      : [],
  );
  const effects = (await readFile(join(cwd, "effects"), "utf8").catch(() => "")).split("\n");
  for (const { token, end, answer, isCommand } of turns) {
    const messages = said.filter((text) => text.includes(`${token} >>`) || text.endsWith(` ${token}`)).length;
    const ran = effects.filter((line) => line === token).length;
    const about = { seed, token, end, answer, messages, ran };
    expect(messages, JSON.stringify(about)).toBeLessThanOrEqual(1);
    if (end !== undefined) expect(messages, JSON.stringify(about)).toBe(1);
    expect(ran, JSON.stringify(about)).toBeLessThanOrEqual(answer === "allow_once" ? 1 : 0);
    if (isCommand && end === "end_turn" && answer === "allow_once")
      expect(ran, JSON.stringify(about)).toBe(1);
  }
  const states = replayed.flatMap((update) => (update.sessionUpdate === "tool_call" ? [update.status] : []));
  expect(states.every((status) => status === "completed" || status === "failed")).toBe(true);
  await editor.agent.request("session/close", { sessionId });
  await until(async () => !(await isRunning("sleep 3737")));
}

function oneOf<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
