/** Colours of code: the core and each language are loaded when they are first needed. */
import type { HLJSApi, LanguageFn } from "highlight.js";

type Loader = () => Promise<{ default: LanguageFn }>;

const LANGUAGES: Readonly<Record<string, Loader>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  php: () => import("highlight.js/lib/languages/php"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ sh: "bash", shell: "bash", zsh: "bash", console: "bash", h: "c", cc: "cpp", hpp: "cpp", cs: "csharp" },
  ...{
    patch: "diff",
    docker: "dockerfile",
    golang: "go",
    js: "javascript",
    jsx: "javascript",
    mjs: "javascript",
  },
  ...{ cjs: "javascript", jsonc: "json", kt: "kotlin", md: "markdown", py: "python", rb: "ruby", rs: "rust" },
  ...{
    ts: "typescript",
    tsx: "typescript",
    mts: "typescript",
    html: "xml",
    svg: "xml",
    vue: "xml",
    yml: "yaml",
  },
};

/** Longer code stays without colours. */
const MOST_LENGTH = 40_000;

export interface Coloured {
  /** Undefined: no colour. */
  readonly kind: string | undefined;
  readonly text: string;
}

export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  const known = Object.hasOwn(OTHER_NAMES, lower) ? OTHER_NAMES[lower] : lower;
  return known !== undefined && Object.hasOwn(LANGUAGES, known) ? known : undefined;
}

let core: Promise<HLJSApi> | undefined;

/** Undefined: the language is not known, or the text too long. */
export async function colours(text: string, name: string): Promise<readonly Coloured[] | undefined> {
  const language = languageOf(name);
  if (language === undefined || text.length > MOST_LENGTH) return undefined;
  core ??= import("highlight.js/lib/core").then((module) => module.default);
  const [api, definition] = await Promise.all([core, LANGUAGES[language]?.()]);
  if (!definition) return undefined;
  if (!api.getLanguage(language)) api.registerLanguage(language, definition.default);
  const result = api.highlight(text, { language, ignoreIllegals: true });
  return flat((result._emitter as unknown as { rootNode: TreeNode }).rootNode, undefined);
}

interface TreeNode {
  readonly scope?: string;
  readonly children: readonly (TreeNode | string)[];
}

function flat({ children }: TreeNode, kind: string | undefined): Coloured[] {
  return children.flatMap((child) =>
    typeof child === "string" ? [{ kind, text: child }] : flat(child, child.scope?.split(".")[0] ?? kind),
  );
}
