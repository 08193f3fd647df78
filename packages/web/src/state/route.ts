/** The view that the address names. Addresses are links: `#/t/<thread>`, `#/t/<thread>/m/<message>`, `#/t/<thread>/s/<step>`, `#/inbox`, `#/usage`. */
import { signal } from "@preact/signals";

export type Route =
  | { readonly view: "new" }
  | { readonly view: "thread"; readonly threadId: string; readonly messageId?: string }
  /** The thread as it was; without a checkpoint at its newest step. */
  | { readonly view: "steps"; readonly threadId: string; readonly checkpointId?: string | undefined }
  | { readonly view: "inbox" }
  | { readonly view: "settings" }
  | { readonly view: "usage" }
  | { readonly view: "compare"; readonly threads: readonly [string, string] };

export const route = signal<Route>(read(location.hash));

addEventListener("hashchange", () => {
  route.value = read(location.hash);
});

export function addressOf(to: Route): string {
  switch (to.view) {
    case "thread": {
      const message = to.messageId === undefined ? "" : `/m/${encodeURIComponent(to.messageId)}`;
      return `#/t/${encodeURIComponent(to.threadId)}${message}`;
    }
    case "steps":
      return `#/t/${[to.threadId, "s", to.checkpointId ?? ""].map(encodeURIComponent).join("/")}`;
    case "compare":
      return `#/compare/${to.threads.map(encodeURIComponent).join("/")}`;
    default:
      return to.view === "new" ? "#/" : `#/${to.view}`;
  }
}

export function go(to: Route): void {
  location.hash = addressOf(to);
}

function read(hash: string): Route {
  const [first, second, third, fourth] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (first === "inbox" || first === "settings" || first === "usage") return { view: first };
  if (first === "compare" && second && third) return { view: "compare", threads: [second, third] };
  if (first !== "t" || !second) return { view: "new" };
  if (third === "s") return { view: "steps", threadId: second, checkpointId: fourth || undefined };
  return third === "m" && fourth
    ? { view: "thread", threadId: second, messageId: fourth }
    : { view: "thread", threadId: second };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
