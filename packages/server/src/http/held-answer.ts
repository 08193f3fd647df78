/** An answer that is in memory as a whole. It counts as held until the client has it; its type is JSON unless `headers` say otherwise. */
export class HeldAnswer {
  constructor(
    readonly body: string | Uint8Array,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}
