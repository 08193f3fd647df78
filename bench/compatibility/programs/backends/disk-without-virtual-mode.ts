/** FilesystemBackend with real paths. */
import { FilesystemBackend } from "library";
import { withoutWords } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";

export default async function program() {
  const rootDir = scratch("disk-real");
  fill(rootDir, { "a.txt": "text", "sub/b.txt": "more text" });
  const backend = new FilesystemBackend({ rootDir });
  const listing = await backend.ls(rootDir);
  const globbed = await backend.glob("**/*.txt", rootDir);
  return {
    absolute: (await backend.read(`${rootDir}/a.txt`)).content,
    relative: (await backend.read("a.txt")).content,
    listing: listing.files?.map(({ path, is_dir }) => ({ path, is_dir })),
    globbed: globbed.files?.map(({ path }) => path),
    found: (await backend.grep("text", rootDir)).matches,
    write: withoutWords(await backend.write(`${rootDir}/c.txt`, "c")),
    edit: withoutWords(await backend.edit("sub/b.txt", "more", "less")),
    edited: (await backend.read(`${rootDir}/sub/b.txt`)).content,
  };
}
