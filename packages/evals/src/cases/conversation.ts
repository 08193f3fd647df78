/** Conversation: several messages in one thread, with follow-ups after runs that went wrong. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, edit, type Plan, read, say, tell, together } from "../policies/plan.ts";
import { answerContains, verify, worldIs } from "../verifiers/answer-verifiers.ts";
import { fileContains } from "../verifiers/file-verifiers.ts";
import { failed, PASSED } from "../verifiers/verifier.ts";
import { doneBy, scriptedCase } from "./building.ts";
import { createOrder, faxDocument, getWeather } from "./office-tools.ts";

const TOOLS = [createOrder, getWeather, faxDocument];
const order = call("create_order", { item_name: "lamp", quantity: 3 });
const weather = call("get_weather", { city_name: "Turku" });
const FILES = { "/todo.md": "- milk\n" };

/** A fact of the first message, asked for after some small talk. */
const recalled: readonly EvalCase[] = [1, 4, 10, 20, 40].map((turns) =>
  scriptedCase({
    id: `recalls-a-name-after-${turns}-turns`,
    task: [
      "My cat is called Misu.",
      ...Array.from({ length: turns }, (_, index) => `Small talk ${index}.`),
      "How is my cat called?",
    ],
    verify: [answerContains("Misu")],
    calls: 50,
    policy: "careful",
    plan: [
      say("Noted."),
      ...Array.from({ length: turns }, () => say("I see.")),
      tell(/cat is called (\w+)/, "$1"),
    ],
  }),
);

/** A first message whose run goes wrong, and a second one that must still work. */
const FOLLOW_UPS: readonly (readonly [id: string, policy: PolicyName, plan: Plan])[] = [
  ["broken-json", "broken-json", [order, say("Ordered."), weather, tell(/(\d+) degrees/, "$1 degrees.")]],
  [
    "wrong-arguments",
    "wrong-arguments",
    [order, say("Ordered."), weather, tell(/(\d+) degrees/, "$1 degrees.")],
  ],
  [
    "an-unknown-tool",
    "misnamed-tools",
    [order, say("Ordered."), weather, tell(/(\d+) degrees/, "$1 degrees.")],
  ],
  [
    "a-failed-tool",
    "gives-up",
    [
      together(order, call("fax_document", { fax_number: "5" })),
      say("Ordered."),
      weather,
      tell(/(\d+) degrees/, "$1 degrees."),
    ],
  ],
];

const followed: readonly EvalCase[] = FOLLOW_UPS.map(([id, policy, plan]) =>
  scriptedCase({
    id: `answers-after-${id}`,
    task: ["Order three lamps.", "How warm is it in Turku?"],
    tools: TOOLS,
    verify: [
      answerContains("17 degrees"),
      worldIs("lamps were ordered", (world) => doneBy(world, "create_order").length >= 1),
    ],
    calls: 30,
    policy,
    plan,
  }),
);

const others: readonly EvalCase[] = [
  scriptedCase({
    id: "asks-back-first",
    task: ["Order lamps.", "Three."],
    tools: TOOLS,
    verify: [
      verify("it asks first", ({ answers }) => (answers[0]?.endsWith("?") ? PASSED : failed("no question"))),
      worldIs("three lamps", (world) => doneBy(world, "create_order")[0]?.quantity === 3),
    ],
    policy: "careful",
    plan: [say("How many?"), order, say("Ordered.")],
  }),
  scriptedCase({
    id: "a-correction-counts",
    task: ["I live in Oslo.", "No, I live in Turku.", "How warm is it where I live?"],
    tools: TOOLS,
    verify: [
      worldIs("asked for Turku only", (world) =>
        doneBy(world, "get_weather").every(({ city_name }) => city_name === "Turku"),
      ),
    ],
    policy: "careful",
    plan: [say("Noted."), say("Noted."), weather, say("17 degrees.")],
  }),
  scriptedCase({
    id: "files-last-from-turn-to-turn",
    task: ["Add bread to /todo.md.", "And eggs.", "And tea."],
    files: FILES,
    verify: [fileContains("/todo.md", "milk", "bread", "eggs", "tea")],
    policy: "careful",
    plan: ["bread", "eggs", "tea"].flatMap((name, index) => [
      edit(
        "/todo.md",
        `- ${["milk", "bread", "eggs"][index]}\n`,
        `- ${["milk", "bread", "eggs"][index]}\n- ${name}\n`,
      ),
      say("Added."),
    ]),
  }),
  scriptedCase({
    id: "refers-to-a-file-of-an-earlier-turn",
    task: ["Read /todo.md.", "What is on it?"],
    files: FILES,
    verify: [answerContains("milk")],
    policy: "careful",
    plan: [read("/todo.md"), say("I read it."), tell(/- (milk)/, "$1")],
  }),
  scriptedCase({
    id: "a-very-long-message",
    task: [`The word is heron. ${"Please read all of this carefully. ".repeat(2_500)}`, "What was the word?"],
    verify: [answerContains("heron")],
    window: 60_000,
    policy: "careful",
    plan: [say("I read it."), tell(/word is (\w+)/, "$1")],
  }),
  scriptedCase({
    id: "undoes-a-change-when-asked",
    task: ["Replace milk by juice in /todo.md.", "Take that back."],
    files: FILES,
    verify: [fileContains("/todo.md", "milk")],
    policy: "careful",
    plan: [
      edit("/todo.md", "milk", "juice"),
      say("Replaced."),
      edit("/todo.md", "juice", "milk"),
      say("Taken back."),
    ],
  }),
];

export const conversation: Suite = { category: "conversation", cases: [...recalled, ...followed, ...others] };
