/** The form of a text that a text field would lose: its line ends and its byte order mark. */

export interface TextForm {
  readonly mark: string;
  readonly lineEnd: "\n" | "\r\n";
}

const MARK = "\ufeff";

/** Undefined: the line ends are of several kinds, so a text field would change them. */
export function formOf(text: string): TextForm | undefined {
  const windows = text.split("\r\n").length - 1;
  const [returns, feeds] = [text.split("\r").length - 1, text.split("\n").length - 1];
  if (returns !== windows || (windows > 0 && feeds !== windows)) return undefined;
  return { mark: text.startsWith(MARK) ? MARK : "", lineEnd: windows > 0 ? "\r\n" : "\n" };
}

/** As a text field shows it. */
export function fieldText(text: string, { mark }: TextForm): string {
  return text.slice(mark.length).replaceAll("\r\n", "\n");
}

export function fileText(field: string, { mark, lineEnd }: TextForm): string {
  return mark + field.replaceAll("\n", lineEnd);
}
