/** One message of a conversation. */
import type { ShownMessage } from "@deepwright/protocol/live";
import { Markdown } from "../markdown/markdown.tsx";
import { inlinePicture } from "../markdown/tokens.ts";
import { askUndo } from "../undo/undo-request.ts";
import { words } from "../words.ts";
import { CallCard, textOf } from "./call-card.tsx";
import { CopyButton } from "./copy-button.tsx";
import { LongText } from "./long-text.tsx";
import { memo } from "./memo.tsx";

interface MessageProps {
  readonly message: ShownMessage;
  /** The address of the message; undefined: it has none. */
  readonly link: string | undefined;
  readonly isTarget: boolean;
  readonly onEdit: ((message: ShownMessage) => void) | undefined;
}

const ROLES: Readonly<Record<string, string>> = {
  user: words.you,
  assistant: words.assistant,
  system: words.system,
  tool: words.result,
};

export const Message = memo(function Message({ message, link, isTarget, onEdit }: MessageProps) {
  const { role, text, reasoning, media, calls, streaming, name } = message;
  const label = role === "assistant" && name ? name : (ROLES[role] ?? role);
  return (
    <article
      class={`message ${role} ${isTarget ? "target" : ""} ${text === "" ? "wordless" : ""}`}
      aria-label={label}
      aria-busy={streaming}
    >
      <header>
        <span class="role">{label}</span>
        {text !== "" && !streaming && (
          <span class="message-tools">
            <CopyButton text={text} label={words.copyMessage} />
            {link !== undefined && <CopyButton text={`${location.origin}/${link}`} label={words.copyLink} />}
            {role === "user" && onEdit && (
              <>
                <button type="button" class="quiet" onClick={() => onEdit(message)}>
                  {words.editMessage}
                </button>
                <button
                  type="button"
                  class="quiet"
                  onClick={() => askUndo({ kind: "since-message", messageId: message.id })}
                >
                  {words.undoSince}
                </button>
              </>
            )}
          </span>
        )}
      </header>
      {reasoning !== "" && (
        <details class="reasoning">
          <summary>{words.reasoning}</summary>
          <LongText text={reasoning} />
        </details>
      )}
      {text !== "" &&
        (role === "assistant" ? <Markdown text={text} /> : <LongText class="said" text={text} />)}
      {media.map((block, index) => (
        <Media key={index} block={block} />
      ))}
      {calls.map((call) => (
        <CallCard key={call.id} call={call} />
      ))}
    </article>
  );
});

/** Pictures in the message itself are shown; everything else is named. */
function Media({ block }: { readonly block: unknown }) {
  const given = (block ?? {}) as Readonly<Record<string, unknown>>;
  const address = (given.image_url as { url?: unknown } | undefined)?.url ?? given.image_url;
  const { mimeType, mime_type: type = mimeType, data } = given;
  const picture =
    typeof address === "string"
      ? inlinePicture(address)
      : typeof data === "string" && typeof type === "string"
        ? inlinePicture(`data:${type};base64,${data}`)
        : undefined;
  if (picture) return <img class="media" src={picture} alt={words.pictureAt("")} />;
  return <LongText class="said" text={textOf(block).slice(0, 2_000)} />;
}
