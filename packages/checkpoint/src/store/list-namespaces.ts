import { textIn } from "../sql/columns.ts";
import type { SqlSession, SqlValue } from "../sql/sql.ts";
import { damaged } from "../storage/damaged.ts";
import { checkedNamespace, decodeNamespace, endOfPrefix } from "./namespace.ts";
import type { ListNamespaces, NamespaceMatch } from "./store-service.ts";

const PAGE = 500;

/** Encoded namespaces in the order of their bytes, from the items' keys alone. */
export async function listNamespaces(
  session: SqlSession,
  { matches, maxDepth, limit, offset }: ListNamespaces,
  now: number,
): Promise<readonly string[]> {
  const prefix = knownPrefix(matches);
  const found: string[] = [];
  let after = "";
  while (found.length < offset + limit) {
    const page = await readPage(session, prefix, after, now);
    if (page[0] === after) throw damaged("the namespaces of the store have no order");
    for (const namespace of page) {
      after = namespace;
      const parts = decodeNamespace(namespace);
      if (!matches.every((match) => fits(match, parts))) continue;
      const shown = encode(parts.slice(0, maxDepth));
      if (found.at(-1) !== shown) found.push(shown);
      if (shown !== namespace) after = endOfPrefix(shown);
    }
    if (page.length < PAGE) break;
  }
  return found.slice(offset, offset + limit);
}

async function readPage(session: SqlSession, prefix: string, after: string, now: number): Promise<string[]> {
  const params: SqlValue[] = [now, after];
  let range = "";
  if (prefix !== "") {
    params.push(prefix, endOfPrefix(prefix));
    range = "AND namespace >= $3 AND namespace < $4";
  }
  const rows = await session.all(
    `SELECT namespace FROM dw_items WHERE (expires_at IS NULL OR expires_at > $1) AND namespace > $2 ${range}
       GROUP BY namespace ORDER BY namespace LIMIT ${PAGE}`,
    params,
  );
  return rows.map((row) => checkedNamespace(textIn(row, "namespace")));
}

/** The longest beginning that every match demands literally. */
function knownPrefix(matches: readonly NamespaceMatch[]): string {
  const prefixes = matches
    .filter(({ end }) => end === "prefix")
    .map(({ path }) => {
      const wildcard = path.indexOf("*");
      return encode(wildcard < 0 ? path : path.slice(0, wildcard));
    });
  return prefixes.reduce((longest, one) => (one.length > longest.length ? one : longest), "");
}

function fits({ end, path }: NamespaceMatch, parts: readonly string[]): boolean {
  if (path.length > parts.length) return false;
  const start = end === "prefix" ? 0 : parts.length - path.length;
  return path.every((part, index) => part === "*" || part === parts[start + index]);
}

function encode(parts: readonly string[]): string {
  return parts.map((part) => `${part}.`).join("");
}
