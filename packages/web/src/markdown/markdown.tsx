/** Markdown as nodes. No text of a model becomes HTML. */
import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { CodeBlock } from "../code/code-block.tsx";
import { LongText } from "../view/long-text.tsx";
import { memo } from "../view/memo.tsx";
import { words } from "../words.ts";
import { decodeEntities, inlinePicture, safeAddress, tokensOf } from "./tokens.ts";

/** Blocks that did not change while a message streams are not drawn again. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  if (!tokens) return <LongText class="plain" text={text} />;
  return (
    <div class="markdown">
      {tokens.map((token, index) => (
        <Block key={index} raw={token.raw} token={token} />
      ))}
    </div>
  );
});

/** The text says whether a block changed: every reading makes new tokens. */
function Block({ raw, token }: { readonly raw: string; readonly token: Token }) {
  return useMemo(() => block(token, 0), [raw]);
}

type Children = ComponentChildren;

function blocks(tokens: readonly Token[] | undefined): Children {
  return (tokens ?? []).map(block);
}

const HEADINGS = ["h2", "h3", "h4", "h5", "h6", "h6"] as const;

function block(token: Token, key: number): VNode | null {
  switch (token.type) {
    case "heading": {
      const Heading = HEADINGS[(token as Tokens.Heading).depth - 1] ?? "h6";
      return <Heading key={key}>{inlines(token.tokens)}</Heading>;
    }
    case "paragraph":
      return <p key={key}>{inlines(token.tokens)}</p>;
    case "text":
      return <span key={key}>{token.tokens ? inlines(token.tokens) : decodeEntities(token.text)}</span>;
    case "code":
      return <CodeBlock key={key} text={token.text} language={(token.lang ?? "").split(/\s/)[0] ?? ""} />;
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens)}</blockquote>;
    case "list":
      return list(token as Tokens.List, key);
    case "table":
      return table(token as Tokens.Table, key);
    case "hr":
      return <hr key={key} />;
    case "space":
    case "def":
      return null;
    default:
      return (
        <p key={key} class="raw">
          {token.raw}
        </p>
      );
  }
}

function list({ ordered, start, items }: Tokens.List, key: number): VNode {
  const entries = items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {item.task && (
        <span
          role="img"
          aria-label={item.checked ? words.done : words.notDone}
          class={`tick ${item.checked ? "on" : ""}`}
        />
      )}
      {blocks(item.tokens)}
    </li>
  ));
  return ordered ? (
    <ol key={key} start={start === "" ? 1 : start}>
      {entries}
    </ol>
  ) : (
    <ul key={key}>{entries}</ul>
  );
}

function table({ header, align, rows }: Tokens.Table, key: number): VNode {
  const side = (column: number): string => `align-${align[column] ?? "left"}`;
  return (
    <div key={key} class="table" role="region" aria-label={words.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, column) => (
              <th key={column} class={side(column)}>
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={side(column)}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[] | undefined): Children {
  return (tokens ?? []).map(inline);
}

function inline(token: Token, key: number): Children {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inlines(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inlines(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{decodeEntities(token.text)}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return <Link key={key} href={token.href} label={inlines(token.tokens)} text={token.text} />;
    case "image":
      return <Picture key={key} href={token.href} alt={token.text} />;
    case "text":
      return token.tokens ? inlines(token.tokens) : decodeEntities(token.text);
    case "escape":
      return token.text;
    default:
      return token.raw;
  }
}

/** The host is written behind other words: they could name another one. */
function Link({
  href,
  label,
  text,
}: {
  readonly href: string;
  readonly label: Children;
  readonly text: string;
}) {
  const url = safeAddress(href);
  if (!url) return <span title={href}>{label}</span>;
  const place = url.protocol === "mailto:" ? url.pathname : url.host;
  const isPlain =
    decodeEntities(text) === decodeEntities(href) && url.username === "" && !place.includes("xn--");
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      {label}
      {!isPlain && <span class="host"> ({place})</span>}
    </a>
  );
}

function Picture({ href, alt }: { readonly href: string; readonly alt: string }) {
  const inline = inlinePicture(href);
  if (inline) return <img src={inline} alt={alt} loading="lazy" />;
  const url = safeAddress(href);
  return url ? (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      {words.pictureAt(alt)}
      <span class="host"> ({url.host})</span>
    </a>
  ) : (
    <span>{words.pictureAt(alt)}</span>
  );
}
