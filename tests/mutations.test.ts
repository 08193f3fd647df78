/** Mutation testing tests tests: its changes have to be what they are said to be, and off until they are asked for. */
import { expect, it, onTestFinished } from "vitest";
import { mutationsOf, withSwitches } from "../scripts/mutations.ts";

const SOURCE = `export function verdict(list) {
  if (list.length > 0 && !list.some((one) => one >= 3)) return "small";
  if (list.includes(9)) throw new Error("nine");
  return "large";
}`;

async function verdicts(code: string, mutation: string): Promise<string> {
  process.env.MUTATION = mutation;
  const url = `data:text/javascript,${encodeURIComponent(`${code} // ${mutation}`)}`;
  const { verdict } = (await import(/* @vite-ignore */ url)) as { verdict(list: number[]): string };
  return [[], [1], [3], [1, 3], [9]]
    .map((list) => {
      try {
        return verdict(list);
      } catch (error) {
        return (error as Error).message;
      }
    })
    .join(" ");
}

it("all changes of a file are in it at once, and one at a time has an effect", async () => {
  onTestFinished(() => {
    delete process.env.MUTATION;
  });
  const mutations = mutationsOf(SOURCE);
  const code = withSwitches(SOURCE, mutations, "file.ts");
  expect(await verdicts(code, "")).toBe("large small large large nine");
  expect(await verdicts(code, "other.ts#0")).toBe("large small large large nine");
  const found: Record<string, string> = {};
  for (const [index, { lineNumber, column, what }] of mutations.entries())
    found[`${lineNumber}:${column} ${what}`] = await verdicts(code, `file.ts#${index}`);
  expect(found).toEqual({
    "2:7 condition is always true": "small small small small small",
    "2:7 condition is always false": "large large large large nine",
    "2:7 || for &&": "small small small small small",
    "2:7 <= for >": "small large large large nine",
    "2:26 ! removed": "large large small small small",
    "2:32 every for some": "large small large small nine",
    "2:46 < for >=": "large large small large small",
    "3:7 condition is always true": "nine small nine nine nine",
    "3:7 condition is always false": "large small large large large",
    "3:25 throw removed": "large small large large large",
  });
});
