/** Sizes that scripts and what reads their answers agree upon. */

/** Bytes of an answer that are printed rather than downloaded: in base64 less than providers cut off. */
export const INLINE_BYTES = 48 * 1024;
/** Bytes of a file that is handled whole: edited, or read without pages. */
export const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
