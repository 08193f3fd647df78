/** Pictures of views, compared on a coarse grid: a large part that moved or is missing is seen, other fonts and a changed word are not. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "playwright-core";

const GRID = { width: 32, height: 20 };
const KEPT = { width: 320, height: 200 };
/** Of 255: how much a cell may differ in a colour. */
const MOST_COLOUR = 8;

const fileOf = (name: string): string => fileURLToPath(new URL(`./pictures/${name}.png`, import.meta.url));

const screenshot = async (page: Page): Promise<string> =>
  (await page.screenshot({ animations: "disabled", caret: "hide" })).toString("base64");

/** `UPDATE_PICTURES=1`: the pictures are to be written. A person looks at them before they are committed. */
export const isUpdate = process.env.UPDATE_PICTURES === "1";

export async function keepPicture(name: string, page: Page): Promise<void> {
  const file = fileOf(name);
  mkdirSync(dirname(file), { recursive: true });
  const { file: small } = await drawn(page.context(), { png: await screenshot(page), ...KEPT });
  writeFileSync(file, Buffer.from(small, "base64"));
}

/** The share of cells in which the page differs from the stored picture, from 0 to 1. */
export async function differenceTo(name: string, page: Page): Promise<number> {
  const now = await screenshot(page);
  const file = fileOf(name);
  if (!existsSync(file)) throw new Error(`There is no picture ${name}. UPDATE_PICTURES=1 writes it.`);
  const kept = readFileSync(file).toString("base64");
  const { file: small } = await drawn(page.context(), { png: now, ...KEPT });
  const grid = async (png: string) => (await drawn(page.context(), { png, ...GRID, hasPoints: true })).points;
  const [left, right] = [await grid(small), await grid(kept)];
  const differing = left.filter((cell, index) =>
    cell.some((colour, at) => Math.abs(colour - (right[index]?.[at] ?? 0)) > MOST_COLOUR),
  );
  return differing.length / left.length;
}

interface Drawing {
  readonly png: string;
  readonly width: number;
  readonly height: number;
  /** Whether the colours of the points are wanted, which take long to hand over. */
  readonly hasPoints?: boolean;
}

/** The picture in another size, as a file and as the colours of its points. A page without the policy of ours draws it. */
async function drawn(context: BrowserContext, drawing: Drawing) {
  const page = await context.newPage();
  try {
    return await page.evaluate(async ({ png, width, height, hasPoints = false }: Drawing) => {
      const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const brush = canvas.getContext("2d") as CanvasRenderingContext2D;
      brush.imageSmoothingQuality = "high";
      brush.drawImage(picture, 0, 0, width, height);
      const { data } = brush.getImageData(0, 0, width, height);
      const file = canvas.toDataURL("image/png").split(",")[1] ?? "";
      return {
        file,
        points: Array.from({ length: hasPoints ? width * height : 0 }, (_, at) => [
          ...data.slice(at * 4, at * 4 + 3),
        ]),
      };
    }, drawing);
  } finally {
    await page.close();
  }
}
