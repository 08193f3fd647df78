/** Delimiters around the content of files, so that the model can tell it from our own words. */
import { showPath } from "../paths.ts";
import { normalizeLineEnds } from "../text/lines.ts";

/** The start of a tag that opens or closes text of the harness. */
const OWN_TAG = /<(?=[\s/]*(?:memory_|system|workspace_|untrusted_))/gi;
/** Characters that are invisible, or change how text reads. */
const UNSEEN =
  /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u00ad\u200b\u2028\u2029\u2060-\u2064\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** The content between tags; nothing in it can close them. Only the few characters above are changed. */
export function delimited(tag: string, path: string, content: string): string {
  const text = harmless(content);
  return `<${tag} path="${attribute(path)}">\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}</${tag}>`;
}

/** Text of a file without power over the tags around it. */
export function harmless(content: string): string {
  return normalizeLineEnds(content)
    .replace(OWN_TAG, "&lt;")
    .replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A path among words of ours. */
export function named(path: string): string {
  return `\`${harmless(showPath(path)).replaceAll("`", "'")}\``;
}

function attribute(path: string): string {
  return showPath(path).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
