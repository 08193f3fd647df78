/** Parts of the page that are loaded when they are first shown. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { words } from "../words.ts";

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props): JSX.Element {
    const [, setReady] = useState(loaded !== undefined);
    const [isFailed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (view) => {
          loaded = view;
          setReady(true);
        },
        () => setFailed(true),
      );
    }, []);
    const View = loaded;
    if (View) return <View {...props} />;
    return <div class="loading">{isFailed ? words.partMissing : words.loading}</div>;
  };
}
