/** Calls of tools, and their results, in messages: in any of the ways LangChain and providers write them. */

/** Fields that hold them, unless they are empty. */
const CALL_KEYS = [
  ...["tool_calls", "tool_call_chunks", "invalid_tool_calls", "function_call", "tool_outputs"],
  ...["toolUse", "toolResult", "functionCall", "functionResponse"],
];

/** Types of blocks and items that are calls or results, or may stand for anything. */
const CALL_TYPES = [
  /^(?:\w+_)?tool_?(?:use|call|result|output)/i,
  /^function_?(?:call|response)/i,
  /^(?:web_search|file_search|computer|code_interpreter|image_generation|local_shell|shell|apply_patch|mcp)_call/,
  /^(?:mcp_list_tools|mcp_approval_\w+|item_reference|non_standard)$/,
];

/** Looks into the whole message: content, blocks beside it, and all other fields. */
export function hasCalls(message: unknown): boolean {
  if (typeof message !== "object" || message === null) return false;
  if (!Array.isArray(message)) {
    const fields = message as Record<string, unknown>;
    if (CALL_TYPES.some((type) => type.test(String(fields.type)))) return true;
    if (CALL_KEYS.some((key) => isSomething(fields[key]))) return true;
  }
  return Object.values(message).some(hasCalls);
}

const isSomething = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
