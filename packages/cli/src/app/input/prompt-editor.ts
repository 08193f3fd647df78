/** The multi-line editor of the app. The hardware cursor stands at its caret. */
import { type AutocompleteProvider, Editor, visibleWidth } from "@earendil-works/pi-tui";
import { CARET } from "../screen/safe-rows.ts";
import type { Theme } from "../view/theme.ts";

export interface PromptEditorOptions {
  readonly rows: () => number;
  readonly onRender: () => void;
  readonly onSubmit: (text: string) => void;
}

const REVERSE = "\x1b[7m";
const PLAIN = "\x1b[0m";

export class PromptEditor {
  private readonly editor: Editor;

  constructor(
    private theme: Theme,
    options: PromptEditorOptions,
  ) {
    const host = {
      requestRender: options.onRender,
      terminal: {
        get rows() {
          return options.rows();
        },
      },
    };
    this.editor = new Editor(host as never, this.editorTheme(), { autocompleteMaxVisible: 6 });
    this.editor.focused = true;
    this.editor.onSubmit = options.onSubmit;
  }

  /** Rows of the editor with its borders; `label` stands in the upper one. */
  rows(width: number, label = ""): readonly string[] {
    const rows = this.editor.render(width - 2).map((row) => withCaret(row));
    const [top = "", ...rest] = rows;
    const border = label === "" ? top : titled(label, width, this.theme);
    const last = rest.findIndex((row) => row.replace(STYLES, "").startsWith("──"));
    return [
      label === "" ? this.theme.dim("─".repeat(width)) : border,
      ...rest.map((row, i) =>
        i === last ? this.theme.dim("─".repeat(width)) : `${i === 0 ? this.theme.accent("› ") : "  "}${row}`,
      ),
    ];
  }

  handle(data: string): void {
    this.editor.handleInput(data);
  }

  /** A long text becomes a chip that stands for it. */
  paste(text: string): void {
    this.editor.handleInput(`\x1b[200~${text}\x1b[201~`);
  }

  complete(provider: AutocompleteProvider): void {
    this.editor.setAutocompleteProvider(provider);
  }

  get isCompleting(): boolean {
    return this.editor.isShowingAutocomplete();
  }

  /** With the text behind chips. */
  get text(): string {
    return this.editor.getExpandedText();
  }

  set text(text: string) {
    this.editor.setText(text);
  }

  remember(text: string): void {
    this.editor.addToHistory(text);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
  }

  private editorTheme() {
    return {
      borderColor: (text: string) => this.theme.dim(text),
      selectList: {
        selectedPrefix: (text: string) => this.theme.accent(text),
        selectedText: (text: string) => this.theme.accent(text),
        description: (text: string) => this.theme.dim(text),
        scrollInfo: (text: string) => this.theme.dim(text),
        noMatch: (text: string) => this.theme.dim(text),
      },
    };
  }
}

const STYLES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** The cursor that the editor paints becomes the place of the real one. */
function withCaret(row: string): string {
  const start = row.indexOf(REVERSE);
  if (start === -1) return row;
  const end = row.indexOf(PLAIN, start);
  const before = row.slice(0, start).replaceAll(CARET, "");
  return `${before}${CARET}${row.slice(start + REVERSE.length, end)}${row.slice(end + PLAIN.length)}`;
}

function titled(label: string, width: number, theme: Theme): string {
  const text = `── ${label} `;
  return `${theme.warning(text)}${theme.dim("─".repeat(Math.max(0, width - visibleWidth(text))))}`;
}
