/**
 * Models whose streamed replies are put together in linear time.
 *
 * The view of a model is an object with the model as its prototype, so the caller's object is not changed. Methods of
 * LangChain's base class run on the view; methods of the model's own classes run on the model itself, which may have
 * private fields.
 */
import type { BoundModel } from "../providers/model-source.ts";
import { type StreamArguments, wholeStream } from "./whole-stream.ts";

type Model = Record<string, any>;

const views = new WeakMap<object, object>();

/** The model itself where it does not stream, or is none of LangChain's. */
export function foldedClient(model: BoundModel): BoundModel {
  const known = views.get(model) ?? viewOf(model as Model);
  views.set(model, known);
  return known as BoundModel;
}

function viewOf(model: Model): object {
  if (typeof model.bound === "object" && model.bound !== null) {
    const bound = foldedClient(model.bound);
    return bound === model.bound ? model : Object.create(model, { bound: { value: bound } });
  }
  const own = ownClasses(model);
  if (own === undefined || !own.some((owner) => Object.hasOwn(owner, "_streamResponseChunks"))) return model;
  const properties: PropertyDescriptorMap = {};
  for (const owner of own.toReversed())
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(owner)))
      if (name !== "constructor") properties[name] = onModel(model, property);
  properties._streamResponseChunks = { value: foldedStream(model, model) };
  return Object.create(model, properties);
}

/** A replacement for `_streamResponseChunks`. It runs on `self`, by default on the object it is called on. */
export function foldedStream(model: Model, self?: Model): (...given: unknown[]) => AsyncGenerator {
  return function (this: Model, ...given: unknown[]) {
    const pieces = model._streamResponseChunks.apply(self ?? this, given);
    return wholeStream(pieces, given as unknown as StreamArguments);
  };
}

/** The prototypes below LangChain's base class; undefined if the model does not extend it. */
function ownClasses(model: Model): object[] | undefined {
  const own: object[] = [];
  for (let at = Object.getPrototypeOf(model); at !== null; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, "_generateUncached")) return own;
    own.push(at);
  }
  return undefined;
}

function onModel(model: Model, property: PropertyDescriptor): PropertyDescriptor {
  const { value, get } = property;
  if (typeof value === "function")
    return { value: (...given: unknown[]) => value.apply(model, given), writable: true };
  return get === undefined ? property : { get: () => get.call(model) };
}
