// The service while it is TypeScript. Not published.
import { bundleSource } from "../../../checkpoint/src/sqlite/bundle-source.mjs";

const sources = [new URL(".", import.meta.url), new URL("../../../checkpoint/src/", import.meta.url)];
const bundle = await bundleSource("records", new URL("./service.ts", import.meta.url), sources);

export default (await import(bundle)).default;
