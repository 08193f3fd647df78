/** The file to start with Node and no flags; `source` is the URL of a TypeScript program of ours. */
export function testProgram(source: URL): Promise<string>;
