/** Values that a caller takes for stored: by contract a first checkpoint stores only new ones. */
import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import { Decoder } from "../content/decode.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { headRefs, storedVersions } from "./record.ts";

const PAGE = 100;

/** Channels whose version is neither new nor found in an older checkpoint of the namespace. */
export async function neverStored(
  storage: ThreadStorage,
  threadId: string,
  namespace: string,
  { channel_values: values, channel_versions: versions }: Checkpoint,
  newVersions: ChannelVersions,
): Promise<ReadonlySet<string>> {
  const open = new Set(
    Object.keys(values).filter(
      (channel) => versions[channel] !== undefined && !Object.hasOwn(newVersions, channel),
    ),
  );
  let after: { threadId: string; namespace: string; id: string } | undefined;
  while (open.size > 0) {
    const page = await storage.listRows({ threadId, namespace, after, limit: PAGE });
    const decoder = new Decoder();
    decoder.add(await storage.loadObjects(page.flatMap(({ checkpoint }) => headRefs(checkpoint))));
    for (const { checkpoint } of page)
      for (const [channel, version] of storedVersions(decoder, checkpoint))
        if (version === versions[channel]) open.delete(channel);
    const last = page.at(-1)?.checkpoint;
    if (!last || page.length < PAGE) break;
    after = { threadId, namespace, id: last.id };
  }
  return open;
}

export function without(checkpoint: Checkpoint, channels: ReadonlySet<string>): Checkpoint {
  if (channels.size === 0) return checkpoint;
  const kept = Object.entries(checkpoint.channel_values).filter(([channel]) => !channels.has(channel));
  return { ...checkpoint, channel_values: Object.fromEntries(kept) };
}
