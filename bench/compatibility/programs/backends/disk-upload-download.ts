/** Bytes to and from a directory, and the codes of what fails. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { FilesystemBackend } from "library";
import { bytes, withoutWords } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";

const image = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 250]);

export default async function program() {
  const rootDir = scratch("disk-upload");
  const outside = scratch("disk-outside");
  fill(rootDir, { "folder/a.txt": "text" });
  fill(outside, { "secret.txt": "secret" });
  symlinkSync(outside, join(rootDir, "link"));
  const backend = new FilesystemBackend({ rootDir, virtualMode: true, maxFileSizeMb: 1 });
  const uploads = await backend.uploadFiles([
    ["/new/image.png", image],
    ["/folder/a.txt", new TextEncoder().encode("changed")],
  ]);
  const downloads = await backend.downloadFiles([
    "/new/image.png",
    "/folder/a.txt",
    "/missing.txt",
    "/folder",
    "/../../etc/passwd",
  ]);
  const read = await backend.read("/new/image.png");
  return {
    uploads,
    downloads: downloads.map((one) => ({ ...one, content: bytes(one.content) })),
    image: { content: bytes(read.content), mimeType: read.mimeType },
    throughLink: withoutWords(await backend.read("/link/secret.txt")),
    linkFound: (await backend.grep("secret", "/")).matches,
    writeThroughLink: withoutWords(await backend.write("/link/new.txt", "x")),
  };
}
