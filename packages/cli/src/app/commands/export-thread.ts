/** A conversation as Markdown or as a page. */
import type { Screen, ShownMessage } from "@deepwright/protocol";

const NAMES: Readonly<Record<ShownMessage["role"], string>> = {
  user: "You",
  assistant: "Agent",
  system: "System",
  tool: "Tool",
};

export function exportMarkdown({ main }: Screen): string {
  const parts = main.messages.map(({ role, text, calls }) => {
    const used = calls.map(({ name, args, result = "" }) => {
      const fence = "`".repeat(Math.max(3, longestTicks(result) + 1));
      return `**${name}** \`${JSON.stringify(args)}\`\n\n${fence}\n${result}\n${fence}`;
    });
    return [`## ${NAMES[role]}`, text, ...used].filter((part) => part !== "").join("\n\n");
  });
  return `${parts.join("\n\n")}\n`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
}

export function exportHtml({ main }: Screen): string {
  const parts = main.messages.map(({ role, text, calls }) => {
    const used = calls.map(
      ({ name, args, result = "" }) =>
        `<details><summary>${escaped(name)}</summary><pre>${escaped(JSON.stringify(args, undefined, 2) ?? "")}</pre><pre>${escaped(result)}</pre></details>`,
    );
    return `<section class="${role}"><h2>${NAMES[role]}</h2><pre>${escaped(text)}</pre>${used.join("")}</section>`;
  });
  return `<!doctype html><meta charset="utf-8"><title>Deepwright</title><style>body{max-width:50rem;margin:auto;font:1rem/1.5 sans-serif}pre{white-space:pre-wrap}</style>${parts.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
