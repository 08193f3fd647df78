import { lazy } from "./lazy.tsx";

/** Choices for the next run that the agent of the thread honours. */
export const RunChoices = lazy(async () => (await import("../choices/run-choices-view.tsx")).RunChoicesView);
