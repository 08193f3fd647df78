/** Rough token counts for descriptions: four characters a token, one for each East Asian character. */
const EAST_ASIAN = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;

export function estimateTokens(text: string): number {
  const wide = text.match(EAST_ASIAN)?.length ?? 0;
  return wide + Math.ceil((text.length - wide) / 4);
}
