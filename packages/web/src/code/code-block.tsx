/** Code with its colours, a button that copies it, and no more lines than a person reads at once. */
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../view/copy-button.tsx";
import { words } from "../words.ts";
import { type Coloured, colours } from "./highlight.ts";

interface CodeProps {
  readonly text: string;
  /** Name or file extension; empty: none. */
  readonly language: string;
}

/** Colours come once the text rests, not with every piece of it. */
const REST_MS = 120;

export function useColours(text: string, language: string): readonly Coloured[] | undefined {
  const [made, setMade] = useState<{ text: string; parts: readonly Coloured[] | undefined }>();
  useEffect(() => {
    if (language === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      colours(text, language).then(
        (parts) => isCurrent && setMade({ text, parts }),
        () => undefined,
      );
    }, REST_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  return made?.text === text ? made.parts : undefined;
}

export function Code({ text, language }: CodeProps) {
  const parts = useColours(text, language);
  return (
    <code>
      {parts
        ? parts.map(({ kind, text: part }, index) =>
            kind === undefined ? (
              part
            ) : (
              <span key={index} class={`hl-${kind}`}>
                {part}
              </span>
            ),
          )
        : text}
    </code>
  );
}

export function CodeBlock({ text, language }: CodeProps) {
  return (
    <figure class="code">
      <figcaption>
        <span>{language || words.text}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <Code text={text} language={language} />
      </pre>
    </figure>
  );
}
