/** A button that copies a text to the clipboard. */
import { useState } from "preact/hooks";
import { words } from "../words.ts";

/** Time that the button says "copied". */
const SAID_MS = 1_500;

export function CopyButton({ text, label = words.copy }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_MS);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy().catch(() => undefined)}>
      {isCopied ? words.copied : label}
    </button>
  );
}
