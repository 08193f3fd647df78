/** Tools of cases, and the world that they change. */

/** A tool that a case brings along. Arguments are described by JSON schema, so that any harness can take it. */
export interface CaseTool {
  readonly name: string;
  readonly description: string;
  /** A JSON schema of type object. */
  readonly parameters: JsonSchema;
  /** `world` is fresh in each trial; verifiers read it. A thrown error is the tool's failure. */
  run(args: Record<string, unknown>, world: World): string | Promise<string>;
}

export type JsonSchema = { readonly type: "object"; readonly [key: string]: unknown };

/** Data that tools of a case change, such as a list of sent mails. */
export type World = Record<string, unknown>;
