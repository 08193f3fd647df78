/** Requests of four APIs in one form, with what the server needs to judge, count and cache them. */

export type Api = "anthropic" | "chat" | "responses" | "gemini";

export interface Block {
  readonly kind: "text" | "call" | "result" | "media" | "other";
  /** Its canonical text, cache markers aside: what is counted and cached. */
  readonly text: string;
  /** Of a call or a result; Gemini has none. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly marker: "5m" | "1h" | undefined;
  /** Where it stands, in the words of error messages. */
  readonly path: string;
  /** As it came. */
  readonly raw: any;
}

export interface Turn {
  readonly role: "user" | "assistant" | "other";
  readonly path: string;
  readonly blocks: readonly Block[];
}

export interface ReadRequest {
  readonly api: Api;
  readonly body: any;
  readonly tools: readonly Block[];
  readonly system: readonly Block[];
  readonly turns: readonly Turn[];
  readonly stream: boolean;
}

export function apiOf(path: string): Api {
  if (path.includes("/messages")) return "anthropic";
  if (path.includes("/chat/completions")) return "chat";
  if (path.includes("/responses")) return "responses";
  if (/generateContent/i.test(path)) return "gemini";
  throw new Error(`No provider answers ${path}.`);
}

const READERS: Readonly<Record<Api, (body: any) => Pick<ReadRequest, "system" | "turns">>> = {
  anthropic: readAnthropic,
  chat: readChat,
  responses: readResponses,
  gemini: readGemini,
};

export function readRequest(path: string, body: any): ReadRequest {
  const api = apiOf(path);
  const tools = (body.tools ?? []).flatMap((tool: any, index: number) =>
    (tool.functionDeclarations ?? [tool]).map((one: any) => block("other", one, `tools.${index}`)),
  );
  const stream = api === "gemini" ? path.includes("streamGenerateContent") : body.stream === true;
  return { api, body, tools, stream, ...READERS[api](body) };
}

interface Naming {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

function block(kind: Block["kind"], raw: any, path: string, { id, name }: Naming = {}): Block {
  const { cache_control: marker, ...rest } = typeof raw === "object" && raw !== null ? raw : { text: raw };
  const ttl = marker === undefined || marker === null ? undefined : marker.ttl === "1h" ? "1h" : "5m";
  return { kind, text: JSON.stringify(rest), id, name, marker: ttl, path, raw };
}

function textBlocks(content: unknown, path: string): readonly Block[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [block("text", { type: "text", text: content }, path)];
  return (content as any[]).map((part, index) => {
    const isText = part.type === "text" || part.type === "input_text" || part.type === "output_text";
    return block(isText ? "text" : "media", part, `${path}.${index}`);
  });
}

function readAnthropic(body: any): Pick<ReadRequest, "system" | "turns"> {
  const turns = body.messages.map((message: any, index: number): Turn => {
    const path = `messages.${index}`;
    const role = message.role === "user" || message.role === "assistant" ? message.role : "other";
    if (!Array.isArray(message.content))
      return { role, path, blocks: textBlocks(message.content, `${path}.content`) };
    const blocks = message.content.map((part: any, at: number) => {
      const place = `${path}.content.${at}`;
      if (part.type === "tool_use") return block("call", part, place, { id: part.id, name: part.name });
      if (part.type === "tool_result") return block("result", part, place, { id: part.tool_use_id });
      return block(part.type === "text" ? "text" : "media", part, place);
    });
    return { role, path, blocks };
  });
  return { system: textBlocks(body.system, "system"), turns };
}

function readChat(body: any): Pick<ReadRequest, "system" | "turns"> {
  const system: Block[] = [];
  const turns: Turn[] = [];
  body.messages.forEach((message: any, index: number) => {
    const path = `messages.[${index}]`;
    const words = textBlocks(message.content, `${path}.content`);
    if (message.role === "system" || message.role === "developer") system.push(...words);
    else if (message.role === "tool")
      turns.push({
        role: "user",
        path,
        blocks: [block("result", message, path, { id: message.tool_call_id })],
      });
    else if (message.role === "assistant") {
      const calls = (message.tool_calls ?? []).map((call: any, at: number) =>
        block("call", call, `${path}.tool_calls.[${at}]`, { id: call.id, name: call.function.name }),
      );
      turns.push({ role: "assistant", path, blocks: [...words, ...calls] });
    } else turns.push({ role: message.role === "user" ? "user" : "other", path, blocks: words });
  });
  return { system, turns };
}

function readResponses(body: any): Pick<ReadRequest, "system" | "turns"> {
  const system: Block[] = [...textBlocks(body.instructions, "instructions")];
  const turns: Turn[] = [];
  body.input.forEach((item: any, index: number) => {
    const path = `input[${index}]`;
    const one = (role: Turn["role"], only: Block) => turns.push({ role, path, blocks: [only] });
    if (item.type === "function_call")
      one("assistant", block("call", item, path, { id: item.call_id, name: item.name }));
    else if (item.type === "function_call_output")
      one("user", block("result", item, path, { id: item.call_id }));
    else if (item.type === "reasoning") one("assistant", block("other", item, path));
    else if (item.role === "system" || item.role === "developer")
      system.push(...textBlocks(item.content, path));
    else {
      const role = item.role === "user" || item.role === "assistant" ? item.role : "other";
      turns.push({ role, path, blocks: textBlocks(item.content, `${path}.content`) });
    }
  });
  return { system, turns };
}

function readGemini(body: any): Pick<ReadRequest, "system" | "turns"> {
  const turns = (body.contents ?? []).map((content: any, index: number): Turn => {
    const path = `contents[${index}]`;
    const blocks = (content.parts ?? []).map((part: any, at: number) => {
      const place = `${path}.parts[${at}]`;
      if (part.functionCall) return block("call", part, place, { name: part.functionCall.name });
      if (part.functionResponse) return block("result", part, place, { name: part.functionResponse.name });
      return block("text" in part ? "text" : "media", part, place);
    });
    const role = content.role === "model" ? "assistant" : content.role === "user" ? "user" : "other";
    return { role, path, blocks };
  });
  const system = (body.systemInstruction?.parts ?? []).map((part: any) =>
    block("text", part, "systemInstruction"),
  );
  return { system, turns };
}

/** Turns of one role that follow one another are one turn to every provider. */
export function mergedTurns(turns: readonly Turn[]): readonly Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === turn.role)
      merged[merged.length - 1] = { ...last, blocks: [...last.blocks, ...turn.blocks] };
    else merged.push(turn);
  }
  return merged;
}
