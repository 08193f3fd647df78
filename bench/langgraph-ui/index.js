export function watch() {
  throw new Error("The bench's copy of LangGraph's server bundles no components.");
}
