/** An answer that its route has written as JSON itself. */
export class JsonText {
  constructor(
    readonly text: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}
