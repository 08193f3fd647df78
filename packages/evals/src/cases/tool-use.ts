/** Tool use: the right calls with the right arguments, in spite of wrong names, broken JSON and tools that fail. */
import type { World } from "../format/case-tool.ts";
import type { EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, type Plan, say, structured, tell, together } from "../policies/plan.ts";
import { answerContains, structuredIs, worldIs } from "../verifiers/answer-verifiers.ts";
import { called, calledInOrder } from "../verifiers/call-verifiers.ts";
import { doneBy, scriptedCase } from "./building.ts";
import { addNumbers, bookRoom, createOrder, faxDocument, getWeather, sendMail } from "./office-tools.ts";

const TOOLS = [sendMail, createOrder, getWeather, addNumbers, bookRoom, faxDocument];
const MAIL = { mail_to: "ada@example.com", mail_subject: "Hello", mail_body: "Lunch at noon?" };
const ORDER = { item_name: "lamp", quantity: 3 };

const mail = call("send_mail", MAIL);
const order = call("create_order", ORDER);
const weather = call("get_weather", { city_name: "Turku" });
const sum = call("add_numbers", { first_number: 17, second_number: 25 });
const tellSum = tell(/sum is (\d+)/, "It is $1.");

const mailed = worldIs("one mail went to Ada", (world) => isOnce(world, "send_mail", MAIL));
const ordered = worldIs("three lamps were ordered once", (world) => isOnce(world, "create_order", ORDER));

function isOnce(world: World, tool: string, args: object): boolean {
  const done = doneBy(world, tool);
  return done.length === 1 && JSON.stringify(done[0]) === JSON.stringify(args);
}

/** Each mistake with each tool. */
const MISTAKES: readonly PolicyName[] = ["wrong-arguments", "broken-json", "misnamed-tools"];

const mistaken: readonly EvalCase[] = MISTAKES.flatMap((policy) => [
  scriptedCase({
    id: `mails-with-${policy}`,
    task: "Ask Ada (ada@example.com) for lunch at noon.",
    tools: TOOLS,
    verify: [mailed],
    policy,
    plan: [mail, say("Sent.")],
  }),
  scriptedCase({
    id: `orders-with-${policy}`,
    task: "Order three lamps.",
    tools: TOOLS,
    verify: [ordered],
    policy,
    plan: [order, say("Ordered.")],
  }),
  scriptedCase({
    id: `adds-with-${policy}`,
    task: "What is 17 + 25?",
    tools: TOOLS,
    verify: [answerContains("42")],
    policy,
    plan: [sum, tellSum],
  }),
]);

const REPORT = {
  type: "object",
  title: "report",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
  additionalProperties: false,
} as const;

const answers: readonly EvalCase[] = (
  [
    ["gives-a-structured-answer", "careful", [weather, structured({ city: "Turku", degrees: 17 })]],
    [
      "corrects-a-structured-answer",
      "careful",
      [
        weather,
        structured(
          { city: "Turku", degrees: 17 },
          { wrongly: structured({ city: "Turku", degrees: "warm" }) },
        ),
      ],
    ],
    [
      "is-reminded-of-the-structured-answer",
      "careful",
      [weather, say("17 degrees."), structured({ city: "Turku", degrees: 17 })],
    ],
  ] as const satisfies readonly (readonly [string, PolicyName, Plan])[]
).map(([id, policy, plan]) =>
  scriptedCase({
    id,
    task: "Report the weather in Turku.",
    tools: TOOLS,
    responseSchema: REPORT,
    verify: [structuredIs({ city: "Turku", degrees: 17 })],
    policy,
    plan,
  }),
);

const others: readonly EvalCase[] = [
  scriptedCase({
    id: "calls-two-tools-at-once",
    task: "Order three lamps and ask Ada for lunch.",
    tools: TOOLS,
    verify: [mailed, ordered],
    policy: "careful",
    plan: [together(order, mail), say("Done.")],
  }),
  scriptedCase({
    id: "calls-tools-in-order",
    task: "Look up the weather in Turku, then order three lamps, then mail Ada.",
    tools: TOOLS,
    verify: [calledInOrder("get_weather", "create_order", "send_mail"), mailed],
    policy: "careful",
    plan: [weather, order, mail, say("Done.")],
  }),
  scriptedCase({
    id: "tries-a-busy-service-again",
    task: "Book the room Oak.",
    tools: TOOLS,
    verify: [worldIs("Oak is booked", (world) => world.booked === "Oak")],
    policy: "careful",
    plan: [call("book_room", { room_name: "Oak" }), say("Booked.")],
  }),
  scriptedCase({
    id: "goes-on-after-a-tool-that-never-works",
    task: "Fax the document to 555, and order three lamps.",
    tools: TOOLS,
    verify: [ordered],
    policy: "ignores-instructions",
    plan: [call("fax_document", { fax_number: "555" }), order, say("The fax did not work.")],
  }),
  scriptedCase({
    id: "a-failing-call-beside-a-good-one",
    task: "Fax the document to 555, and order three lamps.",
    tools: TOOLS,
    verify: [ordered],
    policy: "ignores-instructions",
    plan: [together(call("fax_document", { fax_number: "555" }), order), say("The fax did not work.")],
  }),
  scriptedCase({
    id: "repeats-a-look-at-the-weather",
    task: "What is the weather in Turku?",
    tools: TOOLS,
    verify: [answerContains("17 degrees")],
    calls: 25,
    policy: "repeats",
    plan: [weather, tell(/(\d+) degrees/, "$1 degrees.")],
  }),
  scriptedCase({
    id: "stops-before-the-work-is-done",
    task: "Look at the weather, order three lamps, then mail Ada.",
    tools: TOOLS,
    verify: [mailed, ordered],
    policy: "done-early",
    plan: [weather, order, mail, say("Done.")],
  }),
  scriptedCase({
    id: "twelve-calls-in-one-turn",
    task: "Add the numbers from 1 to 12 to 100 each.",
    tools: TOOLS,
    verify: [called("add_numbers", { least: 12, most: 12 })],
    policy: "careful",
    plan: [
      together(
        ...Array.from({ length: 12 }, (_, index) =>
          call("add_numbers", { first_number: 100, second_number: index }),
        ),
      ),
      say("Done."),
    ],
  }),
];

export const toolUse: Suite = { category: "tool use", cases: [...mistaken, ...answers, ...others] };
