import { decodeBase64 } from "../../text/base64.ts";
import { ensure, same, succeeded } from "../suite/suite-check.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";
import { shown, utf8 } from "./backend-case.ts";

interface Encoded {
  readonly name: string;
  /** Three lines. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The line end in this encoding. */
  readonly lineEnd: readonly number[];
  readonly mark?: readonly number[];
}

const GERMAN =
  "Größe und Maß für die Übung prüfen\nDie Straße läuft über den Fluß\nMöglichst schöne Grüße aus Köln\n";

const ENCODED: readonly Encoded[] = [
  utf16("UTF-16 LE with a mark", GERMAN, "little"),
  utf16("UTF-16 BE with a mark", GERMAN, "big"),
  { name: "Latin-1", text: GERMAN, bytes: latin1(GERMAN), lineEnd: [10] },
  {
    name: "UTF-8 with a mark",
    text: GERMAN,
    bytes: utf8(`\ufeff${GERMAN}`),
    lineEnd: [10],
    mark: [0xef, 0xbb, 0xbf],
  },
  {
    name: "Shift_JIS",
    text: "設定ファイルの読み込みに失敗しました。\nもう一度ファイルを確認してください。\nこの行は変更されません。\n",
    bytes: base64(
      "kN2S6IN0g0CDQ4OLgsyTx4LdjZ6C3YLJjriUc4K1gtyCtYK9gUIKguCCpIjqk3iDdINAg0ODi4Lwim2URoK1gsSCrYK+grOCooFCCoKxgsyNc4LNlc+NWIKzguqC3IK5gvGBQgo=",
    ),
    lineEnd: [10],
  },
  {
    name: "EUC-KR",
    text: "설정 파일을 읽지 못했습니다.\n파일을 다시 확인해 주세요.\n이 줄은 바뀌지 않습니다.\n",
    bytes: base64(
      "vLPBpCDGxMDPwLsgwNDB9iC4+MffvcC0z7TZLgrGxMDPwLsgtNm9wyDIrsDOx9ggwda8vL/kLgrAzCDB2cC6ILnZsu7B9iC+yr3AtM+02S4K",
    ),
    lineEnd: [10],
  },
  {
    name: "GB18030",
    text: "无法读取配置文件。\n请再次检查该文件的内容。\n这一行不会改变。\n",
    bytes: base64("zt63qLbByKHF5NbDzsS8/qGjCsfr1Nm0zrzssum4w87EvP61xMTayN2howrV4tK70NCyu7vhuMSx5KGjCg=="),
    lineEnd: [10],
  },
  {
    name: "Big5",
    text: "無法讀取設定檔案。\n請再次檢查該檔案的內容。\n這一行不會改變。\n",
    bytes: base64("tUyqa8WqqPqzXal3wMmu16FDCr3QpkGmuMDLrGS408DJrtequqS6rmWhQwqzb6RApuako7d8p+/F3KFDCg=="),
    lineEnd: [10],
  },
];

export const encodingCases: readonly BackendCase[] = [
  ...ENCODED.flatMap((encoded): BackendCase[] => [
    {
      name: `${encoded.name} is shown as text`,
      needs: ["encodings"],
      run: async (subject) => {
        await subject.put("encoded.txt", encoded.bytes);
        same(await plainText(subject), encoded.text);
      },
    },
    {
      name: `${encoded.name}: an edit accepts what was shown, keeps the encoding and every other byte`,
      needs: ["encodings"],
      run: async (subject) => {
        await subject.put("encoded.txt", encoded.bytes);
        const [, second = "", third = ""] = encoded.text.split("\n");
        await succeeded(subject.backend.edit(subject.at("encoded.txt"), second, third));
        same(await subject.bytes("encoded.txt"), withSecondLineAsThird(encoded));
      },
    },
    {
      name: `${encoded.name}: grep finds what was shown`,
      needs: ["encodings"],
      run: async (subject) => {
        await subject.put("encoded.txt", encoded.bytes);
        const second = encoded.text.split("\n")[1] as string;
        same(await subject.grep(second.slice(2, 8)), [`encoded.txt:2:${second}`]);
      },
    },
  ]),
  {
    name: "bytes that are text in UTF-8 come back as they were when another line was edited",
    needs: ["upload"],
    run: async (subject) => {
      await subject.put("utf8.txt", utf8("\ufeffé\r\nü\n\rß"));
      await succeeded(subject.backend.edit(subject.at("utf8.txt"), "ü", "u"));
      same(await subject.bytes("utf8.txt"), utf8("\ufeffé\r\nu\n\rß"));
    },
  },
];

/** The text without a byte order mark, which a backend may show or not. */
async function plainText(subject: BackendUnderTest): Promise<string> {
  const { content } = await succeeded(subject.backend.read(subject.at("encoded.txt")));
  return shown(content).replace(/^\ufeff/, "");
}

/** All line ends in these texts are where the bytes of one are: no character has them inside. */
function withSecondLineAsThird({ bytes, lineEnd, mark = [] }: Encoded): Uint8Array {
  const lines: number[][] = [[]];
  for (let at = mark.length; at < bytes.length; at += lineEnd.length) {
    const unit = [...bytes.subarray(at, at + lineEnd.length)];
    if (unit.every((byte, index) => byte === lineEnd[index])) lines.push([]);
    else lines.at(-1)?.push(...unit);
  }
  const [first = [], , third = []] = lines;
  return Uint8Array.from([...mark, ...[first, third, third].flatMap((line) => [...line, ...lineEnd])]);
}

function utf16(name: string, text: string, order: "little" | "big"): Encoded {
  const pair = (code: number): number[] => {
    const bytes = [code & 0xff, code >> 8];
    return order === "little" ? bytes : bytes.reverse();
  };
  const units = Array.from({ length: text.length }, (_, index) => pair(text.charCodeAt(index)));
  const mark = pair(0xfeff);
  return { name, text, bytes: Uint8Array.from([mark, ...units].flat()), lineEnd: pair(10), mark };
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function base64(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  ensure(bytes, "not base64");
  return bytes;
}
