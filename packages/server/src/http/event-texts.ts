/** Events as text for the wire: small ones whole, large ones as their pieces come. */
import {
  EVENT_END,
  encodeEvent,
  encodeEventData,
  encodeEventHead,
  type WireEvent,
} from "@deepwright/protocol";

export interface StreamedEvent extends WireEvent {
  /** Data of a large event, whose `data` are empty: read when the reader has taken the events before it. */
  readonly pieces?: (() => AsyncIterable<string>) | undefined;
}

export interface EventText {
  readonly text: string;
  /** Nothing of the event comes behind it. */
  readonly isLast: boolean;
}

/** `return` ends the source too. */
export async function* textsOf(
  events: AsyncIterable<StreamedEvent>,
): AsyncGenerator<EventText, void, undefined> {
  for await (const { pieces, ...event } of events) {
    if (!pieces) {
      yield { text: encodeEvent(event), isLast: true };
      continue;
    }
    yield { text: encodeEventHead(event), isLast: false };
    for await (const piece of pieces()) yield { text: encodeEventData(piece), isLast: false };
    yield { text: EVENT_END, isLast: true };
  }
}
