import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { testPlaces } from "./engine-for-tests.ts";

const places = testPlaces(({ bashImage }) => ({ image: bashImage }));

afterAll(() => places.close());

sandboxSuite(
  { describe, test },
  { name: "a container as a sandbox", open: () => places.open(), slackSeconds: 10 },
);
