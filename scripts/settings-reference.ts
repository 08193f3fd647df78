/** Writes docs/settings.md and packages/cli/settings.schema.json from the schema of the settings: `npm run docs:settings`. */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { SETTING_VARIABLES } from "../packages/cli/src/settings/environment.ts";
import { settingsJsonSchema } from "../packages/cli/src/settings/schema.ts";

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
}

export const PAGES = {
  "docs/settings.md": settingsPage,
  "packages/cli/settings.schema.json": (): string =>
    `${JSON.stringify(settingsJsonSchema(), undefined, 2)}\n`,
} as const;

const INTRODUCTION = `# Settings

Made from the schema by \`npm run docs:settings\`. Settings are JSON, in up to three files. Later places count more:

| place | for |
|---|---|
| \`~/.deepwright/settings.json\` | you, in every directory; \`DEEPWRIGHT_HOME\` names another directory than \`~/.deepwright\` |
| \`.deepwright/settings.json\` | everybody who works on the project |
| \`.deepwright/settings.local.json\` | you, in this project; keep it out of the repository |
| environment | one shell |
| flags | one run |

\`\`\`json
{
  "model": "anthropic:claude-sonnet-4-6",
  "fallbacks": ["openai:gpt-5.4"],
  "commands": { "allow": ["npm test", "npm run lint *"], "deny": ["git push"] },
  "permissions": [{ "operations": ["read", "write"], "paths": ["/secrets/**"], "mode": "deny" }],
  "budget": { "maxCost": 2 }
}
\`\`\`

\`deepwright config list\` shows the values that count here and where each comes from. \`deepwright config set KEY VALUE\` changes one,
with \`--project\` or \`--local\` for the files of the project; \`deepwright config edit\` opens a file in your editor.
An unknown key or a wrong value is an error that names the file, the key and what was expected. \`deepwright config schema\` prints the
JSON schema; a file may name it as \`$schema\` for its editor.

## Settings of a project that you did not write

A project's settings may start programs and allow calls. Its keys count only after you trusted the directory with
\`deepwright trust\`. The exceptions are \`model\`, \`fallbacks\`, \`theme\`, \`statusLine\`, \`notifications\`, the mode \`plan\`, \`commands.ask\`,
\`commands.deny\`, and permission rules that deny or ask. You trust the content: after a change by anybody, you are asked again.
Changes by \`deepwright config set\` stay trusted.

At a terminal \`deepwright run\` asks you. Without one it does not start if the settings would run programs or send the conversation to
another server (\`hooks\`, \`mcpServers\`, \`baseUrl\`). Other keys are ignored, and a line says so. \`--trust\` trusts them for one run.

Keys of model providers are not settings: [\`deepwright login\`](cli.md#keys) stores them.`;

export function settingsPage(): string {
  const schema = settingsJsonSchema() as JsonSchema;
  const rows = rowsOf(schema, "").filter(([key]) => key !== "$schema");
  return [
    INTRODUCTION,
    "## Keys",
    table(["key", "value", "meaning"], rows),
    "## Variables",
    table(
      ["variable", "key", "value"],
      SETTING_VARIABLES.map(({ name, key, kind }) => [
        `\`${name}\``,
        `\`${key}\``,
        kind === "list" ? "a list, with commas" : kind === "number" ? "a number" : "text",
      ]),
    ),
    "",
  ].join("\n\n");
}

function rowsOf(schema: JsonSchema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    const own = [name === "$schema" ? key : `\`${key}\``, typeWords(value), value.description ?? ""];
    const inner = value.properties
      ? rowsOf(value, key)
      : value.items?.properties
        ? rowsOf(value.items, `${key}[]`)
        : [];
    return [own, ...inner, ...eventRows(value, key)];
  });
}

/** Records whose entries are lists of objects: hooks by event. */
function eventRows({ propertyNames, additionalProperties }: JsonSchema, key: string): string[][] {
  const entry = typeof additionalProperties === "object" ? additionalProperties : undefined;
  if (!entry?.items?.properties || !propertyNames?.enum) return [];
  return rowsOf(entry.items, `${key}.EVENT[]`);
}

function typeWords(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(", ");
  if (schema.anyOf) return schema.anyOf.map(typeWords).join(" or ");
  if (schema.type === "array")
    return schema.items?.properties ? "list of objects" : `list of ${typeWords(schema.items ?? {})}`;
  if (schema.propertyNames?.enum) return `object by event: ${typeWords(schema.propertyNames)}`;
  if (schema.type === "object") return schema.properties ? "object" : "object by name";
  return (
    { string: "text", integer: "whole number", number: "number", boolean: "`true`, `false`" }[
      schema.type ?? ""
    ] ?? ""
  );
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(headings), line(headings.map(() => "---")), ...rows.map(line)].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  for (const [path, text] of Object.entries(PAGES)) writeFileSync(path, text());
