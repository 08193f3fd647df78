// Loaded before each test file: closes what helpers have opened for it.
import { afterAll, afterEach } from "vitest";
import { endFile, endTest } from "./test-cleanups.mjs";

afterEach(endTest);
afterAll(endFile);
