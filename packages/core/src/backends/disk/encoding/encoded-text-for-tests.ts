/** Tests only: texts in the encodings of the world, written by an independent hand. */
import fc from "fast-check";
import iconv from "iconv-lite";
import type { Encoding } from "./detect-encoding.ts";

const ASCII = "abc XYZ_019 {}[]()<>;:=+*/\\|~`'\"$&.,-#@!?%^\t";

export const SAMPLES: readonly (readonly [Encoding, string])[] = [
  ["utf-8", "Größe 中文字符 こんにちは 한국어 🙂👩‍👩‍👧 é e\u0301 \u2028 ∀x∈ℝ"],
  ["windows-1252", "Le garçon a mangé une crème brûlée à l'été « œuvre » – 5€ “so” ÄÖÜß ñ"],
  ["gb18030", "这是一个中文注释，用于测试编码检测。函数返回值不能为空，请检查输入参数是否正确"],
  ["big5", "這是一個中文註解，用來測試編碼偵測。函式的傳回值不可以是空的，請檢查輸入參數功能許蓋"],
  ["shift_jis", "これは日本語のコメントです。ソース表示の能力を予約する関数、テストのために"],
  ["euc-jp", "これは日本語のコメントです。ソース表示の能力を予約する関数、テストのために"],
  ["euc-kr", "이것은 한국어 주석입니다. 함수의 반환값이 비어 있으면 안 됩니다 입력을 확인하세요"],
  ["windows-1251", "Это комментарий на русском языке, чтобы проверить определение кодировки файла"],
];

export function encoded(text: string, encoding: Encoding, bom = false): Buffer {
  const name = encoding.replace("utf-16", "utf16-");
  return iconv.encode(text, name, { addBOM: bom });
}

export interface EncodedFile {
  readonly encoding: Encoding;
  readonly bom: boolean;
  readonly text: string;
  readonly bytes: Buffer;
}

/** Lines of code and words of a language, with any mixture of line ends, with and without a last one. */
export function encodedFile(): fc.Arbitrary<EncodedFile> {
  const kinds = [
    ...SAMPLES.map(([encoding, words]) => ({ encoding, words, bom: false })),
    ...(["utf-8", "utf-16le", "utf-16be"] as const).map((encoding) => ({
      encoding,
      words: SAMPLES[0]?.[1] as string,
      bom: true,
    })),
  ];
  return fc.constantFrom(...kinds).chain(({ encoding, words, bom }) => {
    const characters = Array.from(words);
    const word = fc.oneof(
      fc.string({ unit: fc.constantFrom(...ASCII), maxLength: 8 }),
      fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 6 }),
      fc.constant(words),
    );
    const line = fc.array(word, { maxLength: 4 }).map((parts) => parts.join(""));
    const end = fc.constantFrom("\n", "\r\n", "\r");
    return fc
      .tuple(fc.array(fc.tuple(line, end), { maxLength: 12 }), line)
      .map(([lines, last]) => lines.map(([text, lineEnd]) => text + lineEnd).join("") + last)
      .map((text) => ({ encoding, bom, text, bytes: encoded(text, encoding, bom) }));
  });
}

/** Any bytes that pass for text: mostly UTF-8 or words of a language, with bytes astray. */
export function strayBytes(): fc.Arbitrary<Buffer> {
  const stray = fc
    .uint8Array({ minLength: 1, maxLength: 3 })
    .map((bytes) => Buffer.from(bytes.map((b) => b | 0x80)));
  return fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: encodedFile().map((file) => file.bytes) },
        { weight: 1, arbitrary: stray },
      ),
      {
        minLength: 1,
        maxLength: 6,
      },
    )
    .map((parts) => Buffer.concat(parts))
    .filter((bytes) => !bytes.includes(0));
}
