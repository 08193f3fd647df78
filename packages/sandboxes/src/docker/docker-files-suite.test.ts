import { backendSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { testPlaces } from "./engine-for-tests.ts";

const places = testPlaces(({ plainImage }) => ({ image: plainImage }));

/**
 * Topics that depend on how bytes get in and out of a container. The others are the same for every sandbox and take
 * minutes here; TEST_CONTAINER_FILES=1 runs them too.
 */
const TOPICS = ["write, append and delete", "transfer", "the protocol"];
const NAME = "the files of a container with busybox";

function describeSome(name: string, body: () => void): void {
  if (name === NAME || TOPICS.includes(name) || process.env.TEST_CONTAINER_FILES === "1")
    describe(name, body);
}

afterAll(() => places.close());

backendSuite(
  { describe: describeSome, test },
  {
    name: NAME,
    open: () => places.open(),
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    detectsEncodings: true,
    keepsEmptyDirectories: true,
    runs: 1,
    size: sized("small", "full"),
    timeoutMs: 600_000,
  },
);
