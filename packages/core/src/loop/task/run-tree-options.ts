/** Values that a run hands down to inner runs. */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { CallbackManager, Callbacks } from "@langchain/core/callbacks/manager";
import { treeOf, withTree } from "../../backends/run-tree.ts";
import { ambientConfigurable, isNested } from "../../engine/engine.ts";
import type { Loop } from "../contract/loop.ts";
import type { TreeConfig } from "../contract/stages.ts";

interface TreeOptions extends TreeConfig {
  readonly callbacks?: Callbacks;
}

/** The options of a run with the values that its stages pass on to children; the same object without such values. */
export function withRunTree<Options extends TreeOptions>(
  loop: Loop,
  options: Options | undefined,
): Options | undefined {
  let result = options;
  for (const { tree, listener } of loop.stages) {
    if (tree === undefined) continue;
    const around = isNested(result) ? undefined : ambientConfigurable();
    const config = { configurable: { ...around, ...result?.configurable } };
    const known = treeOf(config);
    const change = tree(known, config);
    if (change === undefined) continue;
    const whole = { ...known, ...change };
    const own = withTree({ configurable: { ...result?.configurable } }, whole);
    const heard = listener?.(whole);
    result = { ...result, ...own, ...(heard && { callbacks: added(result?.callbacks, heard) }) } as Options;
  }
  return result;
}

function added(callbacks: Callbacks | undefined, handler: BaseCallbackHandler): Callbacks {
  if (callbacks === undefined || Array.isArray(callbacks)) return [...(callbacks ?? []), handler];
  return (callbacks as CallbackManager).copy([handler]);
}
