/** Facts about the workspace, collected from tool results. */
import { type Progress, successes } from "./progress.ts";
import { isEntryPoint } from "./relevance.ts";
import { type FoundLine, foundLines, isCut, listedPaths, pageText, totalLines } from "./tool-output.ts";

export interface Facts {
  /** Every file, as far as the tools listed them. */
  readonly files: readonly string[];
  /** There are more files: the list was too long to be shown. */
  readonly isPartial: boolean;
  /** Files per extension, the most frequent first. */
  readonly kinds: readonly (readonly [kind: string, amount: number])[];
  /** The files that were read, longest first. */
  readonly longest: readonly { readonly path: string; readonly lines: number }[];
  readonly entryPoints: readonly string[];
  /** Lines that say TODO or FIXME. */
  readonly notes: readonly FoundLine[];
  /** Headings of the README, with their `#`. */
  readonly headings: readonly string[];
  readonly read: readonly string[];
  /** The answer of the subagent; empty if none ran. */
  readonly secondLook: string;
}

export function factsOf(progress: Progress): Facts {
  const files = filesOf(progress);
  const pages = successes(progress, "read_file").map(({ args, result }) => ({
    path: String(args.file_path),
    result,
    whole: args.limit !== 1,
  }));
  const read = pages.filter(({ whole }) => whole);
  return {
    files,
    isPartial: successes(progress, "glob").some(({ result }) => isCut(result)),
    kinds: kindsOf(files),
    longest: pages
      .map(({ path, result }) => ({ path, lines: totalLines(result) ?? 0 }))
      .filter(({ lines }) => lines > 0)
      .toSorted((a, b) => b.lines - a.lines)
      .slice(0, 5),
    entryPoints: entryPointsOf(files, read),
    notes: successes(progress, "grep").flatMap(({ result }) => foundLines(result)),
    headings: headingsOf(read),
    read: read.map(({ path }) => path),
    secondLook: successes(progress, "task")[0]?.result ?? "",
  };
}

/** Without `glob` the first level must do. */
export function filesOf(progress: Progress): readonly string[] {
  const results = successes(progress, "glob");
  const found = (results.length > 0 ? results : successes(progress, "ls")).flatMap(({ result }) =>
    listedPaths(result),
  );
  return [...new Set(found)].filter((path) => !path.endsWith("/")).sort();
}

function kindsOf(files: readonly string[]): Facts["kinds"] {
  const amounts = new Map<string, number>();
  for (const path of files) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const dot = name.lastIndexOf(".");
    const kind = dot > 0 ? name.slice(dot) : "without extension";
    amounts.set(kind, (amounts.get(kind) ?? 0) + 1);
  }
  return [...amounts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

interface Page {
  readonly path: string;
  readonly result: string;
}

function headingsOf(pages: readonly Page[]): readonly string[] {
  const readme = pages.find(({ path }) => /^\/readme(\.\w+)?$/i.test(path));
  if (readme === undefined) return [];
  const outsideCode = pageText(readme.result).replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
  return outsideCode
    .split("\n")
    .filter((line) => /^#{1,3} /.test(line))
    .slice(0, 20);
}

function entryPointsOf(files: readonly string[], pages: readonly Page[]): readonly string[] {
  const manifest = pages.find(({ path }) => path === "/package.json");
  const declared = manifest === undefined ? [] : declaredIn(pageText(manifest.result));
  const others = files.filter((path) => isEntryPoint(path) && !declared.includes(path));
  return [...declared.map((path) => `${path} (package.json)`), ...others].slice(0, 12);
}

/** The entry points of a package.json; empty if it does not parse. */
function declaredIn(text: string): readonly string[] {
  try {
    const { main, module, bin } = JSON.parse(text) as Record<string, unknown>;
    const commands = typeof bin === "object" && bin !== null ? Object.values(bin) : [bin];
    return [main, module, ...commands]
      .filter((value) => typeof value === "string")
      .map((value) => `/${value.replace(/^\.?\//, "")}`);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return [];
    throw error;
  }
}
