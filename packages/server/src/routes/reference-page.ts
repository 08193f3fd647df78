/** The API reference as a page: made of the OpenAPI document, without any script. */
import { createHash } from "node:crypto";
import type { OpenApiDocument } from "@deepwright/protocol";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto}h3 code:first-child{display:inline-block;min-width:4.5rem}
table{border-collapse:collapse}td{padding:.1rem .8rem .1rem 0;vertical-align:top}`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function referencePage(document: OpenApiDocument): Response {
  return new Response(pageOf(document), {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
  });
}

type Operation = OpenApiDocument["paths"][string][string];

function pageOf({ info, paths, components }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))];
  const groups = tags.map((tag) => {
    const own = operations.filter(({ operation }) => (operation.tags[0] ?? "") === tag);
    return `<h2 id="${text(tag)}">${text(tag)}</h2>${own.map(operationOf).join("")}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<h3 id="schema-${text(name)}">${text(name)}</h3>${json(schema)}`,
  );
  const links = [...tags, "schemas"].map((tag) => `<a href="#${text(tag)}">${text(tag)}</a>`).join(" · ");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)} API</title><style>${STYLE}</style></head><body><h1>${text(info.title)} API ${text(info.version)}</h1>
<p><a href="openapi.json">openapi.json</a> · ${links}</p>${groups.join("")}<h2 id="schemas">schemas</h2>${schemas.join("")}</body></html>`;
}

function operationOf(given: {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}): string {
  const { path, method, operation } = given;
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const rows = parameters.map(
    (each) =>
      `<tr><td><code>${text(each.name)}</code></td><td>${text(each.in)}</td><td>${json(each)}</td></tr>`,
  );
  return `<h3 id="${text(operationId)}"><code>${text(method.toUpperCase())}</code> <code>${text(path)}</code></h3>
<p>${text(summary)}</p>${rows.length > 0 ? `<table>${rows.join("")}</table>` : ""}
${requestBody ? folded("Body", requestBody) : ""}${folded("Answers", responses)}`;
}

function folded(title: string, value: unknown): string {
  return `<details><summary>${title}</summary>${json(value)}</details>`;
}

/** References within the document become links. */
function json(value: unknown): string {
  const written = text(JSON.stringify(value, undefined, 2));
  const linked = written.replace(
    /#\/components\/schemas\/(\w+)/g,
    (whole, name: string) => `<a href="#schema-${name}">${whole}</a>`,
  );
  return `<pre>${linked}</pre>`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function text(value: string): string {
  return value.replace(/[&<>"]/g, (sign) => ESCAPES[sign] as string);
}
