/** A list with search: what is typed narrows it. */
import { decodeKittyPrintable, fuzzyFilter, matchesKey, truncateToWidth } from "@earendil-works/pi-tui";
import { CARET } from "../screen/safe-rows.ts";
import type { Theme } from "../view/theme.ts";
import type { Panel } from "./panel.ts";

export interface PickedItem<Value> {
  readonly value: Value;
  readonly label: string;
  readonly description: string;
  /** More of the description, which takes time to find out; asked for when the row is shown. */
  readonly more?: () => Promise<string>;
}

export interface PickerOptions<Value> {
  readonly title: string;
  readonly items: readonly PickedItem<Value>[];
  readonly theme: Theme;
  readonly onPick: (value: Value) => void;
  readonly onClose: () => void;
  /** Keys of the first moment are no answer: the person was still typing something else. */
  readonly needsReading?: boolean;
  /** More of a row is known. */
  readonly onChange?: () => void;
}

const READING_MS = 300;
/** Lists up to this length show a row for the search only once something is typed. */
const SHORT_LIST = 5;

export class Picker<Value> implements Panel {
  private readonly more = new Map<PickedItem<Value>, string>();
  private readonly shownAt = Date.now();
  private query = "";
  private selected = 0;

  constructor(private readonly options: PickerOptions<Value>) {}

  private get found(): readonly PickedItem<Value>[] {
    const { items } = this.options;
    if (this.query === "") return items;
    return fuzzyFilter([...items], this.query, ({ label, description }) => `${label} ${description}`);
  }

  rows(width: number, rows: number): readonly string[] {
    const { theme, title, items } = this.options;
    const { found, query } = this;
    const height = Math.max(Math.min(rows - 3, 15), 1);
    this.selected = Math.max(0, Math.min(this.selected, found.length - 1));
    const top = Math.max(0, Math.min(this.selected - Math.floor(height / 2), found.length - height));
    const shown = found.slice(top, top + height).map((item, i) => {
      const description = [item.description, this.moreOf(item)].filter(Boolean).join(" · ");
      const { label } = item;
      const isSelected = top + i === this.selected;
      const text = truncateToWidth(
        `${isSelected ? "❯" : " "} ${label}  ${theme.dim(description)}`,
        width,
        "…",
      );
      return isSelected ? theme.accent(text) : text;
    });
    return [
      theme.accent(`── ${title}`),
      ...(items.length > SHORT_LIST || query !== "" ? [`  search: ${query}${CARET}`] : []),
      ...(found.length === 0 ? [theme.dim("  nothing fits")] : shown),
      theme.dim(`  ${found.length} of ${items.length} · ↑↓ Enter chooses · Esc closes`),
    ];
  }

  private moreOf(item: PickedItem<Value>): string {
    const known = this.more.get(item);
    if (known !== undefined || !item.more) return known ?? "";
    this.more.set(item, "");
    void item.more().then(
      (words) => {
        this.more.set(item, words);
        this.options.onChange?.();
      },
      () => undefined,
    );
    return "";
  }

  handle(data: string): void {
    const { onPick, onClose, needsReading } = this.options;
    if (needsReading && Date.now() - this.shownAt < READING_MS) return;
    const printable = decodeKittyPrintable(data) ?? data;
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) onClose();
    else if (matchesKey(data, "up")) this.selected -= 1;
    else if (matchesKey(data, "down")) this.selected += 1;
    else if (matchesKey(data, "pageUp")) this.selected -= 10;
    else if (matchesKey(data, "pageDown")) this.selected += 10;
    else if (matchesKey(data, "backspace")) this.query = this.query.slice(0, -1);
    else if (matchesKey(data, "enter")) {
      const item = this.found[this.selected];
      if (item) onPick(item.value);
    } else if (/^[^\p{Cc}]+$/u.test(printable)) {
      this.query += printable;
      this.selected = 0;
    }
  }
}
