/** Entries of a directory, such as files and links, as snapshots keep them. */

/** Why the content of something is not kept. */
export type NotKeptReason = "large" | "key" | "ignored" | "limit" | "special" | "unreadable";

export type TreeEntry =
  | {
      readonly type: "file";
      /** Undefined: not known. */
      readonly mode: number | undefined;
      readonly content: string | Uint8Array;
    }
  | { readonly type: "symlink"; readonly target: string }
  | { readonly type: "directory"; readonly mode: number | undefined }
  /** `mark` changes when it changes. The size of a directory that is ignored is its number of entries. */
  | {
      readonly type: "not-kept";
      readonly reason: NotKeptReason;
      readonly size: number;
      readonly mark: string;
    };

/** An unknown mode equals any. */
export function sameEntry(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.type === "file" && other.type === "file")
    return sameMode(one.mode, other.mode) && sameBytes(one.content, other.content);
  if (one.type === "symlink" && other.type === "symlink") return one.target === other.target;
  if (one.type === "directory" && other.type === "directory") return sameMode(one.mode, other.mode);
  return one.type === "not-kept" && other.type === "not-kept" && one.mark === other.mark;
}

function sameMode(one: number | undefined, other: number | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

export function sameBytes(one: string | Uint8Array, other: string | Uint8Array): boolean {
  if (typeof one === "string" && typeof other === "string") return one === other;
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) === 0;
}
