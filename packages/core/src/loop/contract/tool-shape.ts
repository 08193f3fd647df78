/** Tools of an agent that are hidden from models, and other descriptions for the visible ones. */
import type { AnyTool } from "../providers/any-tool.ts";

export interface ToolShape {
  readonly excluded: ReadonlySet<string>;
  /** In place of a tool's own description, by the name of the tool. */
  readonly descriptions: Readonly<Record<string, string>>;
}

export const UNSHAPED: ToolShape = { excluded: new Set(), descriptions: {} };

/** The list itself where nothing of it changes. No tool is changed: others may use it too. */
export function shapedTools(tools: readonly AnyTool[], shape: ToolShape): readonly AnyTool[] {
  if (shape.excluded.size === 0 && Object.keys(shape.descriptions).length === 0) return tools;
  const shaped = tools.filter((tool) => !isExcluded(tool, shape)).map((tool) => described(tool, shape));
  return shaped.length === tools.length && shaped.every((tool, i) => tool === tools[i]) ? tools : shaped;
}

/** A tool the provider runs may have a type for a name. */
export function isExcluded(tool: unknown, { excluded }: ToolShape): boolean {
  const { type } = tool as { type?: unknown };
  return excluded.has(toolName(tool)) || (typeof type === "string" && excluded.has(type));
}

export function toolName(tool: unknown): string {
  const { name, function: inner } = tool as { name?: string; function?: { name?: string } };
  return name ?? inner?.name ?? "";
}

function described(tool: AnyTool, { descriptions }: ToolShape): AnyTool {
  const name = toolName(tool);
  if (name === "" || !Object.hasOwn(descriptions, name)) return tool;
  const description = descriptions[name] as string;
  if ((tool as { description?: unknown }).description === description) return tool;
  return keptCopy(tool, description);
}

const copies = new WeakMap<object, Map<string, AnyTool>>();

/** One copy per description: models cache bound tools by identity. */
function keptCopy(tool: AnyTool, description: string): AnyTool {
  const known = copies.get(tool) ?? new Map<string, AnyTool>();
  copies.set(tool, known);
  const copy = known.get(description) ?? copyOf(tool, description);
  known.set(description, copy);
  return copy;
}

function copyOf(tool: AnyTool, description: string): AnyTool {
  if (typeof (tool as { invoke?: unknown }).invoke === "function") return speaking(tool, description);
  const { function: inner } = tool as { function?: object };
  return (
    inner === undefined ? { ...tool, description } : { ...tool, function: { ...inner, description } }
  ) as AnyTool;
}

/** A tool of any class, private fields and all: the tool itself does the work, only its words are others. */
function speaking(tool: AnyTool, description: string): AnyTool {
  const methods = new Map<PropertyKey, { readonly of: unknown; readonly bound: unknown }>();
  // Not the tool is the target: of a frozen one a proxy may not answer anything else.
  return new Proxy<object>(
    {},
    {
      get(_, key) {
        if (key === "description") return description;
        const value: unknown = Reflect.get(tool, key, tool);
        if (typeof value !== "function" || key === "constructor") return value;
        const known = methods.get(key);
        if (known?.of === value) return known.bound;
        const bound: unknown = value.bind(tool);
        methods.set(key, { of: value, bound });
        return bound;
      },
      set: (_, key, value) => Reflect.set(tool, key, value, tool),
      has: (_, key) => Reflect.has(tool, key),
      ownKeys: () => Reflect.ownKeys(tool),
      getPrototypeOf: () => Reflect.getPrototypeOf(tool),
      getOwnPropertyDescriptor(_, key) {
        const own = Reflect.getOwnPropertyDescriptor(tool, key);
        return own && { value: this.get?.(_, key, _), enumerable: own.enumerable, configurable: true };
      },
    },
  ) as AnyTool;
}
