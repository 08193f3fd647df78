/** Durability: processes that die and providers that fail, at each place of a small piece of work. */
import type { CaseFault, EvalCase, Suite } from "../format/eval-case.ts";
import { call, say, write } from "../policies/plan.ts";
import { answerContains, worldIs } from "../verifiers/answer-verifiers.ts";
import { fileEquals } from "../verifiers/file-verifiers.ts";
import { doneBy, scriptedCase } from "./building.ts";
import { createOrder, sendMail } from "./office-tools.ts";

const TOOLS = [createOrder, sendMail];
const PLAN = [
  call("create_order", { item_name: "lamp", quantity: 3 }),
  write("/log.md", "ordered\n"),
  call("send_mail", { mail_to: "ada@example.com", mail_subject: "Lamps", mail_body: "Ordered." }),
  say("Ordered and told Ada."),
];
const once = (tool: string) =>
  worldIs(`${tool} was carried out once`, (world) => doneBy(world, tool).length === 1);

const FAULTS: readonly (readonly [id: string, faults: readonly CaseFault[]])[] = [
  ["dies-before-the-first-reply", [{ kind: "crash", call: 1 }]],
  ["dies-after-a-call-with-an-effect", [{ kind: "crash", call: 2 }]],
  ["dies-after-a-file-was-written", [{ kind: "crash", call: 3 }]],
  ["dies-before-the-last-reply", [{ kind: "crash", call: 4 }]],
  ["dies-three-times", [1, 3, 5].map((number) => ({ kind: "crash", call: number }) as const)],
  ["is-refused-for-its-rate", [{ kind: "rate-limit", call: 2 }]],
  ["is-refused-three-times", [2, 3, 4].map((number) => ({ kind: "rate-limit", call: number }) as const)],
  ["meets-a-server-error", [{ kind: "server", call: 3 }]],
  ["loses-its-connection", [{ kind: "connection", call: 1 }]],
  ["loses-a-reply-in-the-middle", [{ kind: "cut-stream", call: 4, after: 1 }]],
  [
    "loses-its-connection-and-dies",
    [
      { kind: "connection", call: 1 },
      { kind: "crash", call: 3 },
    ],
  ],
];

const cases: readonly EvalCase[] = [
  ...FAULTS.map(([id, faults]) =>
    scriptedCase({
      id,
      task: "Order three lamps, write 'ordered' to /log.md and tell Ada.",
      tools: TOOLS,
      faults,
      verify: [
        once("create_order"),
        once("send_mail"),
        fileEquals("/log.md", "ordered"),
        answerContains("Ada"),
      ],
      policy: "careful",
      plan: PLAN,
    }),
  ),
  scriptedCase({
    id: "dies-in-the-middle-of-a-tool",
    task: "Order three lamps and tell Ada.",
    tools: TOOLS,
    faults: [{ kind: "crash-in-tool", tool: "create_order", run: 1 }],
    verify: [once("send_mail"), answerContains("Ada")],
    policy: "ignores-instructions",
    plan: PLAN,
  }),
  scriptedCase({
    id: "dies-and-the-thread-goes-on",
    task: ["Order three lamps.", "Tell Ada."],
    tools: TOOLS,
    faults: [{ kind: "crash", call: 3 }],
    verify: [once("create_order"), once("send_mail")],
    policy: "careful",
    plan: [PLAN[0]!, say("Ordered."), PLAN[2]!, say("Told Ada.")],
  }),
];

export const durability: Suite = { category: "durability", cases };
