/** Files that both libraries must read alike, whoever wrote them. */

export const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255);
export const seven = Uint8Array.of(0, 255, 1, 254, 2, 253, 3);
export const text = "first\nsecond ✓\n";

const times = { created_at: "2025-01-01T00:00:00.000Z", modified_at: "2025-01-01T00:00:00.000Z" };

/** As threads and stores of older and newer versions have them. */
export const stored = {
  "/older.txt": { content: text.split("\n"), ...times },
  "/newer.txt": { content: text, mimeType: "text/plain", ...times },
  "/typed.png": { content: png, mimeType: "image/png", ...times },
};

/** What every backend has to say of a place that holds `stored`, and of one that `writeAll` filled. */
export const storedContents = { "/older.txt": text, "/newer.txt": text, "/typed.png": png };
export const writtenContents = {
  "/note.md": text,
  "/drawn.png": png,
  "/uploaded.png": png,
  "/seven.pdf": seven,
};

/** Everything a program may do to put a file there. */
export async function writeAll(backend) {
  must(await backend.write("/note.md", text));
  must(await backend.write("/drawn.png", base64(png)));
  const uploads = await backend.uploadFiles([
    ["/uploaded.png", png],
    ["/seven.pdf", seven],
  ]);
  for (const upload of uploads) must(upload);
}

/** `[what, got, wanted]` of everything a program may do to get the files out. */
export async function readAll(backend, contents) {
  const found = [];
  for (const [path, wanted] of Object.entries(contents)) {
    const page = await backend.read(path);
    const isText = typeof wanted === "string";
    found.push([
      `read ${path}`,
      isText ? trimmed(page.content) : page.content,
      isText ? trimmed(wanted) : wanted,
    ]);
    const [download] = await backend.downloadFiles([path]);
    found.push([`download ${path}`, download.content, isText ? new TextEncoder().encode(wanted) : wanted]);
    const { data } = await backend.readRaw(path);
    found.push([
      `readRaw ${path}`,
      Array.isArray(data.content) ? data.content.join("\n") : data.content,
      wanted,
    ]);
  }
  return found;
}

export const base64 = (bytes) => Buffer.from(bytes).toString("base64");

/** Whether a page shows the end of the last line differs. */
const trimmed = (content) => (typeof content === "string" ? content.replace(/\n$/, "") : content);

function must({ error }) {
  if (error) throw new Error(error);
}
