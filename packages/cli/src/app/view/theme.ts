/** Colours of the app, by the terminal's background. */
import pc from "picocolors";

export type ThemeName = "dark" | "light";
type Paint = (text: string) => string;

export interface Theme {
  readonly name: ThemeName;
  readonly hasColour: boolean;
  readonly accent: Paint;
  readonly dim: Paint;
  readonly bold: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly strike: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warning: Paint;
  readonly code: Paint;
  readonly keyword: Paint;
  readonly text: Paint;
  readonly number: Paint;
  readonly comment: Paint;
  readonly user: Paint;
}

const plain: Paint = (text) => text;

/** Without colours every paint returns its text. */
export function themeOf(name: ThemeName, hasColour: boolean): Theme {
  const colours = pc.createColors(hasColour);
  const rgb = (dark: number, light: number): Paint => {
    if (!hasColour) return plain;
    const code = name === "dark" ? dark : light;
    return (text) => `\x1b[38;5;${code}m${text}\x1b[39m`;
  };
  return {
    name,
    hasColour,
    accent: rgb(75, 25),
    dim: rgb(245, 243),
    bold: colours.bold,
    italic: colours.italic,
    underline: colours.underline,
    strike: colours.strikethrough,
    good: rgb(114, 28),
    bad: rgb(203, 124),
    warning: rgb(179, 130),
    code: rgb(180, 94),
    keyword: rgb(176, 90),
    text: rgb(150, 64),
    number: rgb(173, 130),
    comment: rgb(245, 243),
    user: rgb(117, 25),
  };
}

/** The theme for a background that the terminal names as `rgb:RRRR/GGGG/BBBB`; undefined for other answers. */
export function themeForBackground(answer: string): ThemeName | undefined {
  const match = /rgb:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(answer);
  if (!match) return undefined;
  const [red = 0, green = 0, blue = 0] = match
    .slice(1)
    .map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? "light" : "dark";
}

/** The theme that COLORFGBG names, as some terminals set it: `15;0` is light text on black. */
export function themeFromEnvironment({ COLORFGBG }: NodeJS.ProcessEnv): ThemeName | undefined {
  const background = Number(COLORFGBG?.split(";").at(-1) || Number.NaN);
  if (!Number.isInteger(background)) return undefined;
  return background === 7 || background === 15 ? "light" : "dark";
}
