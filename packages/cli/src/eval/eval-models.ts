/** Models of an eval: scripted ones, or those that the person named. */
import type { ModelSource, Priced } from "@deepwright/evals";
import { costOf, priceOf as listPriceOf } from "deepwright/internal";
import { usageError } from "../command-error.ts";
import { loadStoredKeys } from "../login/stored-keys.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { loadModel } from "../model/load.ts";
import type { RawEvalOptions } from "./eval-command-line.ts";

type Evals = typeof import("@deepwright/evals");

export async function sourcesOf({ model, baseUrl }: RawEvalOptions, evals: Evals): Promise<ModelSource[]> {
  if (model === undefined) return [evals.scriptedSource];
  return Promise.all(model.map(async (name) => evals.liveSource(name, await live(name, baseUrl))));
}

/** Undefined when no judge was named. */
export async function judgeOf({
  judge,
  baseUrl,
}: RawEvalOptions): Promise<((question: string) => Promise<string>) | undefined> {
  if (judge === undefined) return undefined;
  const model = await live(judge, baseUrl);
  return async (question) => (await model.invoke(question)).text;
}

async function live(name: string, baseUrl: string | undefined) {
  await loadStoredKeys(process.env);
  const choice = await chooseModel({ model: name, baseUrl }, process.env, endpoints);
  if (choice.kind === "offline")
    throw usageError("The offline model solves no cases.", "Leave --model out to use scripted models.");
  return loadModel(choice);
}

/** Dollars of a call by the list price of the model, cached tokens at theirs; undefined without one. */
export const priceOf: Priced = (model, tokens) => {
  const price = listPriceOf(model);
  return price && costOf(tokens, price);
};

/** Refuses a limit in dollars for a model without a known price. */
export function checkPrices(models: readonly ModelSource[], where: string | undefined): void {
  const unknown = models.find(({ name, scripted }) => !scripted && !hasPrice(name));
  if (unknown !== undefined && where !== undefined)
    throw usageError(
      `${where} cannot be kept: ${unknown.name} has no known price.`,
      "Limit its tokens instead: --max-tokens.",
    );
}

/** Models of Ollama run on this machine and cost nothing. */
function hasPrice(name: string): boolean {
  const [provider, model] = [name.split(":")[0], name.slice(name.indexOf(":") + 1)];
  return provider === "ollama" || listPriceOf(model) !== undefined;
}
