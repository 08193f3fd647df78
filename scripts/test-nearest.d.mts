/** Paths of test files, for the files and folders given or else for what git says has changed. */
export function nearestTests(paths: readonly string[], budgetSeconds?: number): string[];
