/** The readable text of an HTML page: headings, paragraphs, lists and links, without scripts, styles and navigation. Linear in its length. */

export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** Elements whose content is not for reading. */
const LEFT_OUT = new Set([
  ...["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "head"],
  ...["nav", "footer", "aside", "form", "select", "button", "dialog"],
]);
/** Their content is text up to their own end tag. */
const RAW = new Set(["script", "style", "title", "textarea", "noscript", "iframe"]);
const BLOCKS = new Set([
  ...[
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "table",
    "tr",
    "figure",
  ],
  ...["blockquote", "pre", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "li", "figcaption", "address"],
]);
const EMPTY = new Set(["br", "hr", "img", "input", "meta", "link", "wbr", "source", "col", "area", "base"]);

export function pageText(html: string, base: URL): PageText {
  const reader = new PageReader(base, html.toLowerCase());
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1 || !/[a-z!/?]/i.test(html[open + 1] ?? "")) {
      const end = open === -1 ? html.length : open + 1;
      reader.words(html.slice(at, end));
      at = end;
      continue;
    }
    reader.words(html.slice(at, open));
    at = html.startsWith("<!--", open) ? after(html, "-->", open + 4) : reader.tag(html, open);
  }
  return reader.page();
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

class PageReader {
  private title = "";
  private text = "";
  /** Elements that are open and left out. */
  private readonly hidden: string[] = [];
  private readonly links: { readonly from: number; readonly href: string }[] = [];
  private preformatted = 0;
  private readonly base: URL;
  /** The page in lower case, to find end tags. */
  private readonly lower: string;

  constructor(base: URL, lower: string) {
    this.base = base;
    this.lower = lower;
  }

  words(raw: string): void {
    if (this.hidden.length > 0 || raw === "") return;
    const plain = entities(raw);
    const words = this.preformatted > 0 ? plain : plain.replace(/\s+/g, " ");
    this.text += /(?:^|\s)$/.test(this.text.slice(-1)) && this.preformatted === 0 ? words.trimStart() : words;
  }

  /** Reads the tag at `open` and gives the place behind it. */
  tag(html: string, open: number): number {
    const end = after(html, ">", open + 1);
    const source = html.slice(open + 1, end - 1);
    const [, slash, name = ""] = /^(\/?)([a-z][a-z0-9-]*)/i.exec(source) ?? [];
    const element = name.toLowerCase();
    if (element === "") return end;
    if (slash === "/") this.close(element);
    else this.open(element, source);
    if (slash === "/" || !RAW.has(element) || source.endsWith("/")) return end;
    const closing = this.lower.indexOf(`</${element}`, end);
    const stop = closing === -1 ? html.length : closing;
    if (element === "title" && this.title === "")
      this.title = entities(html.slice(end, stop)).replace(/\s+/g, " ").trim();
    return stop;
  }

  private open(element: string, source: string): void {
    if (LEFT_OUT.has(element)) {
      if (!EMPTY.has(element) && !source.endsWith("/")) this.hidden.push(element);
      return;
    }
    if (this.hidden.length > 0) return;
    if (BLOCKS.has(element)) this.newLine(/^(?:br|li|tr|dt|dd)$/.test(element) ? 1 : 2);
    if (/^h[1-6]$/.test(element)) this.text += `${"#".repeat(Number(element[1]))} `;
    if (element === "li") this.text += "- ";
    if (element === "td" || element === "th") this.text += this.text.endsWith("\n") ? "| " : " | ";
    if (element === "pre") this.preformatted += 1;
    if (element === "a") this.links.push({ from: this.text.length, href: this.address(source) });
  }

  private close(element: string): void {
    const hidden = this.hidden.lastIndexOf(element);
    if (hidden !== -1) this.hidden.length = hidden;
    if (this.hidden.length > 0) return;
    if (element === "pre") this.preformatted = Math.max(0, this.preformatted - 1);
    if (element === "a") this.endLink();
    if (BLOCKS.has(element) && !EMPTY.has(element)) this.newLine(/^(?:li|tr|dt|dd)$/.test(element) ? 1 : 2);
  }

  private endLink(): void {
    const link = this.links.pop();
    if (!link || link.href === "" || link.from > this.text.length) return;
    const words = this.text.slice(link.from).trim();
    if (words !== "" && !words.includes("\n"))
      this.text = `${this.text.slice(0, link.from)}[${words}](${link.href})`;
  }

  private address(source: string): string {
    const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(source) ?? [];
    const href = entities(double ?? single ?? bare ?? "");
    if (href === "" || href.startsWith("#") || !URL.canParse(href, this.base)) return "";
    const url = new URL(href, this.base);
    return /^https?:$/.test(url.protocol) ? url.href : "";
  }

  private newLine(count: number): void {
    if (this.text === "") return;
    const breaks = /\n*$/.exec(this.text.slice(-2))?.[0].length ?? 0;
    this.text = this.text.slice(-1) === " " ? this.text.slice(0, -1) : this.text;
    if (breaks < count) this.text += "\n".repeat(count - breaks);
  }

  page(): PageText {
    const text = this.text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    return { title: this.title, text };
  }
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®", trade: "™" },
  ...{
    mdash: "—",
    ndash: "–",
    hellip: "…",
    laquo: "«",
    raquo: "»",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
  },
  ...{ bull: "•", middot: "·", times: "×", rarr: "→", larr: "←", euro: "€", pound: "£", sect: "§", shy: "" },
  ...{
    auml: "ä",
    ouml: "ö",
    uuml: "ü",
    Auml: "Ä",
    Ouml: "Ö",
    Uuml: "Ü",
    szlig: "ß",
    eacute: "é",
    egrave: "è",
  },
};

function entities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
