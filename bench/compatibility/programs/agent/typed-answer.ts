/** A structured answer of the agent itself. */
import { providerStrategy, toolStrategy } from "langchain";
import { createDeepAgent } from "library";
import { z } from "zod";
import { call, type Request, scripted } from "../../kit/scripted-model.ts";

const city = z.object({ city: z.string(), inhabitants: z.number() });
const input = { messages: [{ role: "user", content: "go" }] };
const extractOf = ({ tools }: Request) => tools.find((one) => /extract/.test(one.name))?.name ?? "none";

export default async function program() {
  const good = scripted((request) => call(extractOf(request), { city: "Bern", inhabitants: 134_000 }));
  const first = await createDeepAgent({ model: good, responseFormat: toolStrategy(city) }).invoke(input);
  const corrected = scripted((request) =>
    call(extractOf(request), request.turn === 0 ? { city: 5 } : { city: "Ulm", inhabitants: 1 }),
  );
  const second = await createDeepAgent({ model: corrected, responseFormat: toolStrategy(city) }).invoke(
    input,
  );
  const json = scripted(['{"city":"Rom","inhabitants":2}']);
  const third = await createDeepAgent({ model: json, responseFormat: providerStrategy(city) }).invoke(input);
  const name: string = first.structuredResponse.city;
  return {
    name,
    first: first.structuredResponse,
    second: [second.structuredResponse, corrected.requests.length],
    third: third.structuredResponse,
  };
}
