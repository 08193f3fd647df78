/** Names that mean something else on Windows: devices, streams of another file, short forms of other names. */

const DEVICES = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;
const RESERVED = /[<>:"|?*]/;
const SHORT_FORM = /~\d/;

/** The first such name in a canonical path. */
export function ambiguousOnWindows(path: string): string | undefined {
  return path.split("/").find((name) => DEVICES.test(name) || RESERVED.test(name) || SHORT_FORM.test(name));
}
