/** Colours for code: comments, texts, numbers and the keywords that most languages share. */
import type { Theme } from "./theme.ts";

const KEYWORDS = new Set(
  (
    "abstract and as async await begin bool boolean break case catch class const continue def default defer del do done echo " +
    "elif else end enum esac except export extends extern false fi final finally fn for from func function go if impl " +
    "implements import in instanceof int interface is lambda let local loop match mod module mut namespace new nil none " +
    "not null of or package pass private protected pub public raise readonly return select self static string struct " +
    "super switch then this throw trait true try type typeof undefined union unless until use using val var void when where while with yield"
  ).split(" "),
);

const TOKEN =
  /(?<comment>\/\/.*|\/\*.*?(?:\*\/|$)|(?<=^|\s)#(?!!?\[).*|(?<=^|\s)--\s.*)|(?<text>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`(?:\\.|[^`\\])*`?)|(?<number>\b\d[\w.]*\b)|(?<word>[A-Za-z_]\w*)/g;

const MARKUP = new Set(["md", "markdown", "text", "txt", "html", "xml", ""]);

/** One line of code with colours. Lines stand alone, so a line that was shown never changes. */
export function highlightLine(line: string, language: string, theme: Theme): string {
  if (language === "diff" || language === "patch") return diffColour(line, theme);
  if (!theme.hasColour || MARKUP.has(language)) return theme.code(line);
  return line.replace(TOKEN, (match, ...rest) => {
    const { comment, text, number, word } = rest.at(-1) as Record<string, string | undefined>;
    if (comment !== undefined) return theme.comment(match);
    if (text !== undefined) return theme.text(match);
    if (number !== undefined) return theme.number(match);
    return word !== undefined && KEYWORDS.has(word) ? theme.keyword(match) : match;
  });
}

function diffColour(line: string, theme: Theme): string {
  if (line.startsWith("+")) return theme.good(line);
  if (line.startsWith("-")) return theme.bad(line);
  return line.startsWith("@@") ? theme.accent(line) : line;
}
