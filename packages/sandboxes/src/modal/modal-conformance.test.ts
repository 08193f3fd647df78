import { sandboxSuite } from "deepwright/testing";
import { ModalClient } from "modal";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
import { modalSandbox } from "../modal.ts";
import { leaseSuite } from "../testing.ts";
import { ModalServer } from "./server-for-tests.ts";

const server = await ModalServer.start();
Object.assign(process.env, { MODAL_SERVER_URL: server.url, MODAL_LOGLEVEL: "error" });
afterAll(() => server.close());

const provider = () => modalSandbox({ tokenId: server.tokenId, tokenSecret: server.tokenSecret });
const opened = await provider().open({ key: "suite", env: {} });

// Cases wait more than they work, and each has a directory of its own.
const runner = { describe, test: test.concurrent };
const timeoutMs = 600_000;
let count = 0;

async function open() {
  const root = `/workspace/case-${++count}`;
  const { machine } = server.sandboxes.get(opened.id)!;
  await machine.makeDirectory(root);
  return { backend: opened.sandbox, root, close: () => machine.remove(root) };
}

sandboxSuite(runner, { timeoutMs, name: "a sandbox at Modal", open, size: sized("small", "full") });
const own = leaseSuite(runner, { timeoutMs, name: "leases at Modal", provider, endsByItself: 3 });
expectLeftOut(own, OWN);

const client = new ModalClient({ tokenId: server.tokenId, tokenSecret: server.tokenSecret });
const app = await client.apps.fromName("mine", { createIfMissing: true });
const mine = await client.sandboxes.create(app, client.images.fromRegistry("debian:stable-slim"));

const borrowed = leaseSuite(runner, {
  name: "leases of a sandbox of the user's at Modal",
  provider: () => modalSandbox({ sandbox: mine }),
  sharesFiles: true,
  timeoutMs,
});
expectLeftOut(borrowed, BORROWED);
