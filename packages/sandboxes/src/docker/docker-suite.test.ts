import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { testPlaces } from "./engine-for-tests.ts";

const places = testPlaces(({ bashImage }) => ({ image: bashImage }));

afterAll(() => places.close());

sandboxSuite(
  { describe, test },
  {
    name: "a container as a sandbox",
    size: sized("small", "full"),
    open: () => places.open(),
    timeoutMs: 600_000,
  },
);
