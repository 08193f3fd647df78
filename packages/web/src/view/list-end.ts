/** Keeps the end of a list of messages in view. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Pixels from the end at which a reader still follows it. */
const NEAR_END = 80;

type Box = RefObject<HTMLDivElement | null>;

/** The end of the list stays in view until the reader scrolls away from it, also when parts of it grow later. */
export function useEnd(list: Box, body: Box, place: string) {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const toEnd = (): void => {
    follows.current = true;
    setAtEnd(true);
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  };
  useEffect(() => {
    const frame = list.current;
    if (!frame) return;
    const look = (): void => {
      follows.current = frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR_END;
      setAtEnd(follows.current);
    };
    frame.addEventListener("scroll", look, { passive: true });
    return () => frame.removeEventListener("scroll", look);
  }, [list]);
  useLayoutEffect(toEnd, [place]);
  const follow = (): void => {
    if (follows.current && list.current) list.current.scrollTop = list.current.scrollHeight;
  };
  useLayoutEffect(follow);
  useEffect(() => {
    if (!body.current) return;
    const observer = new ResizeObserver(follow);
    observer.observe(body.current);
    return () => observer.disconnect();
  }, [body]);
  return { isAtEnd, toEnd };
}
