/** Tools of one server as LangChain has them, made by LangChain's own adapter around a connection of ours. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import { loadAdapters } from "../load-mcp.ts";
import type { Connection } from "../servers/connection.ts";
import { shownContent } from "./content.ts";
import { type OfferedTool, saysItReads } from "./offered-tool.ts";

type Adapters = Awaited<ReturnType<typeof loadAdapters>>;
type AdapterClient = Parameters<Adapters["loadMcpTools"]>[1];

/** In the order of `offered`. `believed`: the server's claims about the effects of its tools count. */
export async function langchainTools(
  server: string,
  offered: readonly OfferedTool[],
  connection: Pick<Connection, "call" | "read">,
  believed: boolean,
): Promise<readonly StructuredToolInterface[]> {
  const { loadMcpTools } = await loadAdapters();
  const originals = new Map(offered.map(({ name, original }) => [name, original]));
  const client = {
    listTools: async () => ({ tools: offered.map((tool) => structuredClone({ ...tool })) }),
    callTool: async (
      { name, arguments: args = {} }: CallParams,
      _: unknown,
      options?: { signal?: AbortSignal },
    ) => withWords(await connection.call(originals.get(name) ?? name, args, options?.signal)),
    readResource: ({ uri }: { readonly uri: string }) => connection.read(uri),
  };
  const tools = await loadMcpTools(server, client as unknown as AdapterClient, {
    throwOnLoadError: true,
    useStandardContentBlocks: true,
    outputHandling: "content",
    afterToolCall: ({ result }) => {
      const [content] = result as unknown as [string | Record<string, unknown>[]];
      return { result: [shownContent(content) as never, []] };
    },
  });
  const reading = new Set(offered.filter((tool) => believed && saysItReads(tool)).map(({ name }) => name));
  for (const tool of tools)
    tool.metadata = { ...tool.metadata, effect: reading.has(tool.name) ? "reads" : "unknown" };
  return tools as unknown as readonly StructuredToolInterface[];
}

interface CallParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

/** Data without words are shown as they are. */
function withWords(result: unknown): unknown {
  const { content, structuredContent } = (result ?? {}) as { content?: unknown; structuredContent?: unknown };
  if (structuredContent === undefined || (Array.isArray(content) && content.length > 0)) return result;
  return { ...(result as object), content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
}
