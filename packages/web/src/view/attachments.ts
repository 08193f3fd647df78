/** Files that go with a message: pictures as pictures, text as text. */
import { notify } from "../state/notices.ts";
import { words } from "../words.ts";

export interface Attachment {
  readonly id: number;
  readonly name: string;
  readonly block: Readonly<Record<string, unknown>>;
}

const MOST_BYTES = 5_000_000;
let last = 0;

export async function attachmentsOf(files: Iterable<File>): Promise<readonly Attachment[]> {
  const read = await Promise.all([...files].map(attachmentOf));
  return read.filter((one) => one !== undefined);
}

async function attachmentOf(file: File): Promise<Attachment | undefined> {
  const { name, type, size } = file;
  if (size > MOST_BYTES) {
    notify(words.fileTooLarge(name), { isFailure: true });
    return undefined;
  }
  last += 1;
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(type))
    return { id: last, name, block: { type: "image_url", image_url: { url: await dataAddress(file) } } };
  const text = await file.text();
  if (text.includes("\0") || text.includes("\ufffd")) {
    notify(words.fileNotText(name), { isFailure: true });
    return undefined;
  }
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return { id: last, name, block: { type: "text", text: `${name}:\n${fence}\n${text}\n${fence}` } };
}

function dataAddress(file: File): Promise<string> {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(file);
  });
}
