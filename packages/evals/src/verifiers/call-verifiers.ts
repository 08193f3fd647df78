/** Verifiers of tool calls. Calls with an error count as attempts, not as done. */
import { type CallRecord, failed, PASSED, type Verifier } from "./verifier.ts";

export interface CallCount {
  readonly least?: number;
  readonly most?: number;
}

/** The tool was called and did its work, `least` to `most` times; without numbers at least once. */
export function called(
  tool: string,
  { least = 1, most = Number.POSITIVE_INFINITY }: CallCount = {},
): Verifier {
  return {
    name: `${tool} was called`,
    tools: [tool],
    check: ({ calls }) => {
      const count = calls.filter((call) => call.name === tool && isDone(call)).length;
      return count >= least && count <= most
        ? PASSED
        : failed(`${tool} worked ${count} times, expected ${least} to ${most}`);
    },
  };
}

/** No call of the tool, not even an attempt. */
export function notCalled(tool: string): Verifier {
  return {
    name: `${tool} was not called`,
    tools: [tool],
    check: ({ calls }) => (calls.some(({ name }) => name === tool) ? failed(`${tool} was called`) : PASSED),
  };
}

/** All calls, refused ones too, are of these tools. */
export function onlyCalled(...tools: readonly string[]): Verifier {
  return {
    name: `only ${tools.join(", ")} were called`,
    tools,
    check: ({ calls }) => {
      const other = calls.find(({ name }) => !tools.includes(name));
      return other === undefined ? PASSED : failed(`${other.name} was called`);
    },
  };
}

/** The first successful calls of these tools came in this order. */
export function calledInOrder(...tools: readonly string[]): Verifier {
  return {
    name: `order: ${tools.join(", ")}`,
    tools,
    check: ({ calls }) => {
      const done = calls.filter(isDone).map(({ name }) => name);
      let from = 0;
      for (const tool of tools) {
        const at = done.indexOf(tool, from);
        if (at === -1)
          return failed(`expected ${tools.join(", ")} in this order, got ${done.join(", ") || "none"}`);
        from = at + 1;
      }
      return PASSED;
    },
  };
}

function isDone({ failed: isFailure, result }: CallRecord): boolean {
  return !isFailure && result !== undefined;
}
