/** The conformance suite under the test runner of Node: `node --test`. */
import { describe, test } from "node:test";
import { backendSuite } from "deepwright/testing";
import { objectStoreBackend } from "../s3-style-backend.ts";
import { startObjectServer } from "./object-server.ts";

backendSuite(
  { describe, test: (name, body, timeout) => void test(name, { timeout }, body) },
  {
    name: "objectStoreBackend",
    runs: 2,
    open: async () => {
      const server = await startObjectServer();
      return { backend: objectStoreBackend(server.url), close: () => server.close() };
    },
  },
);
