/** What every server here does when it listens: one line with its URL, and the end when nobody holds its input any more. */
export function sayUrl(url, close) {
  process.stdout.write(`${url}\n`);
  process.stdin.resume().once("end", async () => {
    await close();
    process.exit();
  });
}
