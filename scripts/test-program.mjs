// Programs that tests start, bundled once a run: from source each start would load hundreds of files.
import { fileURLToPath } from "node:url";

/** The file to start with Node and no flags; `source` is the URL of a TypeScript program of ours. */
export async function testProgram(source) {
  const file = encodeURIComponent(fileURLToPath(source));
  const response = await fetch(`${process.env.TEST_BROKER}/bundle?file=${file}`);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer;
}
