/** The store in memory, and the backends that are made of others, pass the suite that everybody's do. */
import { InMemoryStore } from "@langchain/langgraph";
import { describe, test } from "vitest";
import { PolicyBackend } from "../permissions/policy/policy.ts";
import { backendSuite } from "../testing/backend-suite/backend-suite.ts";
import { adaptBackendProtocol } from "./adapt/adapt-protocol.ts";
import { OlderMapBackend } from "./adapt/older-backend-for-tests.ts";
import { CompositeBackend } from "./composite/composite.ts";
import { MapBackend } from "./file-map/map-backend.ts";
import { previewBackend } from "./preview/preview.ts";
import { StoreBackend } from "./store/store.ts";

const timeoutMs = 600_000;
const everything = { canDelete: true, canAppend: true, canTransfer: true, timeoutMs };
const storeBackend = (...namespace: string[]) => new StoreBackend({ store: new InMemoryStore(), namespace });

backendSuite(
  { describe, test },
  { name: "StoreBackend", open: () => ({ backend: storeBackend("suite", "files") }), ...everything },
);

backendSuite(
  { describe, test },
  {
    name: "CompositeBackend, in the default",
    open: () => ({
      backend: new CompositeBackend(new MapBackend(), { "/mounted/": new MapBackend() }),
      root: "/work",
    }),
    ...everything,
  },
);

backendSuite(
  { describe, test },
  {
    name: "CompositeBackend, in a mount",
    open: () => ({
      backend: new CompositeBackend(new MapBackend(), { "/mounted/deep/": storeBackend("suite") }),
      root: "/mounted/deep",
    }),
    ...everything,
  },
);

backendSuite(
  { describe, test },
  {
    name: "PolicyBackend",
    open: () => ({ backend: new PolicyBackend(new MapBackend(), { denyPrefixes: ["/no"] }) }),
    ...everything,
  },
);

backendSuite(
  { describe, test },
  { name: "previewBackend", open: () => ({ backend: previewBackend(new MapBackend()) }), ...everything },
);

backendSuite(
  { describe, test },
  {
    name: "an older backend, adapted",
    open: () => ({ backend: adaptBackendProtocol(new OlderMapBackend()) }),
    timeoutMs,
  },
);
