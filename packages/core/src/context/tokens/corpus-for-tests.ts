/** Texts of every kind that agents meet, generated from a seed; for the tests of token counts. */
import { SENTENCES } from "./corpus-sentences-for-tests.ts";

export type Random = () => number;

/** A small generator of pseudo-random numbers in [0, 1): the same seed gives the same texts. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const NOUNS =
  "order customer request message token buffer session account report window channel invoice index schedule worker record filter response handler position element budget snapshot".split(
    " ",
  );
const VERBS =
  "create load update remove parse format collect validate resolve merge send fetch build render compare append measure restore".split(
    " ",
  );

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function prose(sentences: readonly string[], space: string) {
  return (random: Random, length: number): string =>
    filled(length, () => pick(random, sentences) + (random() < 0.15 ? "\n\n" : space));
}

function filled(length: number, next: () => string): string {
  const parts: string[] = [];
  for (let size = 0; size < length; ) {
    const part = next();
    parts.push(part);
    size += part.length;
  }
  return parts.join("").slice(0, length);
}

function typescript(random: Random, length: number): string {
  return filled(length, () => {
    const [noun, other, verb] = [pick(random, NOUNS), pick(random, NOUNS), pick(random, VERBS)];
    const name = `${verb}${capital(noun)}`;
    return pick(random, [
      `export interface ${capital(noun)}Options {\n  readonly ${other}: string;\n  /** Absent: no limit. */\n  readonly max${capital(other)}s?: number;\n}\n\n`,
      `export async function ${name}(${noun}: ${capital(noun)}, options: ${capital(noun)}Options): Promise<${capital(other)}[]> {\n  const ${other}s = await this.${pick(random, VERBS)}${capital(other)}s(${noun}.id);\n  if (${other}s.length === 0) return [];\n  for (const ${other} of ${other}s) {\n    if (${other}.status !== "done" && !options.force) continue;\n    await ${noun}.${pick(random, VERBS)}(${other}, { retries: ${Math.floor(random() * 9)}, signal: options.signal });\n  }\n  return ${other}s.filter((item) => item !== undefined);\n}\n\n`,
      `import { ${name}, ${pick(random, VERBS)}${capital(other)} } from "../${noun}/${verb}-${other}.ts";\n`,
      `test("${verb}s the ${noun} when a ${other} is missing", async () => {\n  const ${noun} = await ${name}({ ${other}: undefined });\n  expect(${noun}.${other}s).toEqual([]);\n});\n\n`,
      `  private readonly ${noun}s = new Map<string, ${capital(noun)}>();\n\n  get ${other}Count(): number {\n    return this.${noun}s.size * ${Math.floor(random() * 100)};\n  }\n`,
    ]);
  });
}

function python(random: Random, length: number): string {
  return filled(length, () => {
    const [noun, other, verb] = [pick(random, NOUNS), pick(random, NOUNS), pick(random, VERBS)];
    return pick(random, [
      `def ${verb}_${noun}(self, ${other}_id: int, *, strict: bool = False) -> list[${capital(other)}]:\n    """${capital(verb)} the ${noun} of a ${other}."""\n    ${other} = self.${noun}s.get(${other}_id)\n    if ${other} is None:\n        raise KeyError(f"no ${other} with id {${other}_id}")\n    return [item for item in ${other}.${noun}s if not strict or item.is_valid]\n\n`,
      `class ${capital(noun)}${capital(other)}(BaseModel):\n    name: str\n    ${other}_count: int = ${Math.floor(random() * 50)}\n    created_at: datetime | None = None\n\n`,
      `import ${noun}_tools as ${noun.slice(0, 2)}\nfrom .${other} import ${verb}_${other}, ${capital(other)}Error\n\n`,
      `    try:\n        result = ${verb}_${noun}(${other}s[${Math.floor(random() * 10)}:])\n    except (ValueError, TypeError) as error:\n        logger.warning("could not ${verb} %s: %s", ${noun}, error)\n        continue\n`,
    ]);
  });
}

function record(random: Random): object {
  return {
    id: uuid(random),
    type: pick(random, NOUNS),
    name: `${pick(random, VERBS)}-${pick(random, NOUNS)}`,
    amount: Math.round(random() * 100_000) / 100,
    isActive: random() < 0.5,
    created_at: `2025-0${1 + Math.floor(random() * 9)}-${10 + Math.floor(random() * 18)}T0${Math.floor(random() * 9)}:${10 + Math.floor(random() * 49)}:00.000Z`,
    tags: [pick(random, NOUNS), pick(random, NOUNS)],
    parent: random() < 0.3 ? null : { [pick(random, NOUNS)]: Math.floor(random() * 1000) },
  };
}

function json(random: Random, length: number): string {
  return filled(length, () => `${JSON.stringify(record(random), undefined, 2)},\n`);
}

function compactJson(random: Random, length: number): string {
  return filled(length, () => `${JSON.stringify(record(random))},`);
}

function minified(random: Random, length: number): string {
  const letter = (): string => pick(random, [..."abcdefghijklmnoprstuvxyABCDEFGHILMNOPRST"]);
  return filled(length, () => {
    const [a, b, c] = [letter(), letter(), letter()];
    return pick(random, [
      `function ${a}(${b},${c}){return ${b}.${pick(random, NOUNS)}&&!${c}?${b}.${pick(random, VERBS)}(${c}):void 0}`,
      `var ${a}=${b}=>({...${b},${pick(random, NOUNS)}:${c}.length>${Math.floor(random() * 20)}});`,
      `if(${a}!==null&&"object"==typeof ${a}){for(let ${b} in ${a})${c}.push(${a}[${b}])}`,
      `${a}.prototype.${pick(random, VERBS)}=function(){this._${pick(random, NOUNS)}=${b}||[],${c}(this,arguments)},`,
    ]);
  });
}

function from(alphabet: string) {
  return (random: Random, length: number): string => {
    let text = "";
    for (let i = 0; i < length; i += 1) text += alphabet[Math.floor(random() * alphabet.length)];
    return text;
  };
}

const hexDigits = from("0123456789abcdef");

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((size) => hexDigits(random, size)).join("-");
}

const EMOJI = [..."😀🎉🚀👍🔥✅❌⚠🙂😂🤔💡📁🔧🌍🍎🐛⭐🎯📈"];

export const CORPUS = {
  english: prose(SENTENCES.english, " "),
  chinese: prose(SENTENCES.chinese, ""),
  japanese: prose(SENTENCES.japanese, ""),
  korean: prose(SENTENCES.korean, " "),
  russian: prose(SENTENCES.russian, " "),
  german: prose(SENTENCES.german, " "),
  arabic: prose(SENTENCES.arabic, " "),
  hindi: prose(SENTENCES.hindi, " "),
  thai: prose(SENTENCES.thai, " "),
  typescript,
  python,
  json,
  compactJson,
  minified,
  base64: from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
  hex: hexDigits,
  uuids: (random: Random, length: number): string => filled(length, () => `${uuid(random)}\n`),
  digits: (random: Random, length: number): string =>
    filled(
      length,
      () => `${Math.floor(random() * 10 ** Math.ceil(random() * 9))}${pick(random, [" ", ", ", "\n"])}`,
    ),
  whitespace: (random: Random, length: number): string =>
    filled(
      length,
      () =>
        `${"\n".repeat(Math.ceil(random() * 3))}${" ".repeat(Math.floor(random() * 40))}${pick(random, ["x;", "}", "| |", "end"])}`,
    ),
  emoji: (random: Random, length: number): string =>
    filled(length, () => pick(random, EMOJI) + pick(random, ["", " ", " ok "])),
  log: (random: Random, length: number): string =>
    filled(
      length,
      () =>
        `2025-03-${10 + Math.floor(random() * 18)} 1${Math.floor(random() * 9)}:0${Math.floor(random() * 9)}:42.${Math.floor(random() * 999)} ${pick(random, ["INFO", "WARN", "ERROR"])} [worker-${Math.floor(random() * 16)}] ${pick(random, VERBS)} ${pick(random, NOUNS)} took ${Math.floor(random() * 5000)}ms path=/srv/app/${pick(random, NOUNS)}/${pick(random, VERBS)}.js\n`,
    ),
} as const satisfies Record<string, (random: Random, length: number) => string>;

export type CorpusKind = keyof typeof CORPUS;
export const KINDS = Object.keys(CORPUS) as CorpusKind[];
