// Runs once in vitest's main process: starts one Postgres when the first test asks for it.
import { createServer } from "node:http";
import { startPostgres } from "./test-postgres.mjs";

export default async function setup() {
  let starting;
  const broker = createServer(async (_request, response) => {
    try {
      starting ??= startPostgres();
      response.end((await starting).url);
    } catch (error) {
      response.writeHead(500).end(error.message);
    }
  });
  await new Promise((resolve) => broker.listen(0, "127.0.0.1", resolve));
  process.env.TEST_POSTGRES_BROKER = `http://127.0.0.1:${broker.address().port}`;
  return async () => {
    broker.close();
    broker.closeAllConnections();
    const server = await starting?.catch(() => undefined);
    await server?.stop();
  };
}
