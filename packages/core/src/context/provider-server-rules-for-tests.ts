/** Why a provider refuses a request, in its own words. */
import {
  type Api,
  type Block,
  mergedTurns,
  type ReadRequest,
  type Turn,
} from "./provider-server-read-for-tests.ts";

/** Undefined: the request is accepted. */
export function refusalOf(request: ReadRequest): string | undefined {
  for (const rule of [...COMMON, ...RULES[request.api]]) {
    const refusal = rule(request);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Rule = (request: ReadRequest) => string | undefined;

const COMMON: readonly Rule[] = [unknownRole, noMessage, unsupportedBlock, unfitTools];

const RULES: Readonly<Record<Api, readonly Rule[]>> = {
  anthropic: [
    firstIsUser,
    emptyContent,
    orphanedResult,
    unansweredCall,
    repeatedCallId,
    tooManyMarkers,
    markerOrder,
    misplacedMarker,
  ],
  chat: [emptyContent, orphanedResult, unansweredCall, longCacheKey],
  responses: [orphanedOutput, missingOutput, longCacheKey, foreignItemId],
  gemini: [firstIsUser, emptyContent, functionTurns],
};

function unknownRole({ turns }: ReadRequest): string | undefined {
  const turn = turns.find(({ role }) => role === "other");
  return turn && `${turn.path}.role: Input should be 'user' or 'assistant'`;
}

function noMessage({ api, turns }: ReadRequest): string | undefined {
  if (turns.length > 0) return undefined;
  if (api === "gemini") return "* GenerateContentRequest.contents: contents is not specified\n";
  return api === "anthropic" ? "messages: at least one message is required" : "[] is too short - 'messages'";
}

function firstIsUser({ api, turns }: ReadRequest): string | undefined {
  if (turns[0]?.role === "user") return undefined;
  return api === "gemini"
    ? "Please ensure that multiturn requests alternate between user and model and begin with a user turn."
    : 'messages: first message must use the "user" role';
}

function emptyContent({ api, turns }: ReadRequest): string | undefined {
  for (const { blocks, path } of turns) {
    if (blocks.length === 0)
      return api === "gemini"
        ? `* GenerateContentRequest.${path}.parts: contents.parts must not be empty.\n`
        : `${path}: all messages must have non-empty content except for the optional final assistant message`;
    if (api !== "anthropic") continue;
    const empty = blocks.find((block) => block.kind === "text" && String(block.raw.text).trim() === "");
    if (empty)
      return `messages: text content blocks must ${empty.raw.text === "" ? "be non-empty" : "contain non-whitespace text"}`;
  }
  return undefined;
}

const MEDIA: Readonly<Record<Api, ReadonlySet<string>>> = {
  anthropic: new Set(["image", "document", "thinking", "redacted_thinking", "search_result"]),
  chat: new Set(["image_url", "input_audio", "file", "refusal"]),
  responses: new Set(["input_image", "input_file", "refusal"]),
  gemini: new Set(),
};

function unsupportedBlock({ api, turns }: ReadRequest): string | undefined {
  for (const { blocks } of turns)
    for (const { kind, raw, path } of blocks) {
      if (kind === "result" && api === "chat" && Array.isArray(raw.content))
        for (const part of raw.content)
          if (part.type !== "text")
            return `Invalid content type. ${part.type} is only allowed for messages with role 'user', but this message with role 'tool' contains one.`;
      if (kind !== "media") continue;
      const type = raw.type ?? Object.keys(raw)[0];
      const isTaken = api === "gemini" ? "inlineData" in raw || "fileData" in raw : MEDIA[api].has(type);
      if (!isTaken)
        return `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${[...MEDIA[api]].join(", ")}`;
    }
  return undefined;
}

function unfitTools({ api, body, tools }: ReadRequest): string | undefined {
  const names = tools.map(({ raw }) => raw.name ?? raw.function?.name ?? raw.type);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return "tools: Tool names must be unique.";
  const odd = names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name));
  if (odd !== undefined)
    return `tools.${names.indexOf(odd)}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
  return api !== "gemini" && Array.isArray(body.tools) && body.tools.length === 0 && api === "chat"
    ? "[] is too short - 'tools'"
    : undefined;
}

const idsOf = (blocks: readonly Block[], kind: Block["kind"]): string[] =>
  blocks.filter((block) => block.kind === kind).map((block) => block.id ?? "");

/** The results a turn begins with. */
function leadingResults(turn: Turn | undefined): readonly Block[] {
  const blocks = turn?.blocks ?? [];
  const end = blocks.findIndex((block) => block.kind !== "result");
  return end < 0 ? blocks : blocks.slice(0, end);
}

function orphanedResult({ api, turns }: ReadRequest): string | undefined {
  const merged = mergedTurns(turns);
  for (const [index, turn] of merged.entries()) {
    const calls = new Set(idsOf(merged[index - 1]?.blocks ?? [], "call"));
    const seen = new Set<string>();
    for (const { kind, id = "", path } of turn.blocks) {
      if (kind !== "result") continue;
      if (!calls.has(id))
        return api === "anthropic"
          ? `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
          : "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      if (seen.has(id))
        return `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
      seen.add(id);
    }
  }
  return undefined;
}

function unansweredCall({ api, turns }: ReadRequest): string | undefined {
  const merged = mergedTurns(turns);
  for (const [index, turn] of merged.entries()) {
    const answered = new Set(idsOf(leadingResults(merged[index + 1]), "result"));
    const missing = idsOf(turn.blocks, "call").filter((id) => !answered.has(id));
    if (missing.length === 0) continue;
    return api === "anthropic"
      ? `${turn.path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
      : `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${missing.join(", ")}`;
  }
  return undefined;
}

function repeatedCallId({ turns }: ReadRequest): string | undefined {
  const ids = turns.flatMap(({ blocks }) => idsOf(blocks, "call"));
  return new Set(ids).size === ids.length ? undefined : "messages: `tool_use` ids must be unique";
}

/** In the order the provider reads them. */
function inOrder({ tools, system, turns }: ReadRequest): readonly Block[] {
  return [...tools, ...system, ...turns.flatMap(({ blocks }) => blocks)];
}

function tooManyMarkers(request: ReadRequest): string | undefined {
  const own = request.body.cache_control ? 1 : 0;
  const count = inOrder(request).filter(({ marker }) => marker).length + own;
  return count > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${count}.` : undefined;
}

function markerOrder(request: ReadRequest): string | undefined {
  let isShort = false;
  for (const { marker, path } of inOrder(request)) {
    if (marker === "1h" && isShort)
      return `${path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`;
    isShort ||= marker === "5m";
  }
  return undefined;
}

function misplacedMarker(request: ReadRequest): string | undefined {
  for (const { kind, raw, marker, path } of inOrder(request)) {
    if (kind === "text" && marker && raw.text === "")
      return `${path}.text: cache_control cannot be set for empty text blocks`;
    if (
      kind === "result" &&
      Array.isArray(raw.content) &&
      raw.content.some((part: any) => part.cache_control)
    )
      return `${path}.content: cache_control is not permitted in the content of a tool_result`;
  }
  return undefined;
}

function longCacheKey({ body }: ReadRequest): string | undefined {
  const { prompt_cache_key: key } = body;
  return key !== undefined && String(key).length > 64
    ? `Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length ${String(key).length} instead.`
    : undefined;
}

function orphanedOutput({ turns }: ReadRequest): string | undefined {
  const known = new Set<string>();
  for (const { blocks } of turns)
    for (const { kind, id = "" } of blocks) {
      if (kind === "call") known.add(id);
      if (kind === "result" && !known.has(id))
        return `No tool call found for function call output with call_id ${id}.`;
    }
  return undefined;
}

function missingOutput({ turns }: ReadRequest): string | undefined {
  const outputs = new Set(turns.flatMap(({ blocks }) => idsOf(blocks, "result")));
  const missing = turns.flatMap(({ blocks }) => idsOf(blocks, "call")).find((id) => !outputs.has(id));
  return missing === undefined ? undefined : `No tool output found for function call ${missing}.`;
}

const ITEM_PREFIXES: Readonly<Record<string, string>> = {
  function_call: "fc",
  message: "msg",
  reasoning: "rs",
};

function foreignItemId({ body }: ReadRequest): string | undefined {
  for (const [index, item] of body.input.entries()) {
    const prefix = ITEM_PREFIXES[item.type ?? "message"];
    if (item.id !== undefined && prefix !== undefined && !String(item.id).startsWith(prefix))
      return `Invalid 'input[${index}].id': '${item.id}'. Expected an ID that begins with '${prefix}'.`;
  }
  return undefined;
}

function functionTurns({ turns }: ReadRequest): string | undefined {
  const merged = mergedTurns(turns);
  for (const [index, turn] of merged.entries()) {
    const calls = turn.blocks.filter(({ kind }) => kind === "call");
    const results = turn.blocks.filter(({ kind }) => kind === "result");
    const before = merged[index - 1]?.blocks.some(({ kind }) => kind === "call") ?? false;
    if (results.length > 0 && !before)
      return "Please ensure that function response turn comes immediately after a function call turn.";
    if (calls.length === 0) continue;
    if (index === 0)
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    const names = leadingResults(merged[index + 1]).map(({ name }) => name);
    if (names.join() !== calls.map(({ name }) => name).join())
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
  }
  return undefined;
}
