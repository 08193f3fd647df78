/** Numbers as people read them. */

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${grouped(amount)} ${amount === 1 ? one : many}`;
}

/** 12345 as `12,345`, whatever the locale of the machine. */
export function grouped(amount: number): string {
  return String(Math.round(amount)).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function bytes(amount: number): string {
  if (amount < 1024) return `${amount} B`;
  if (amount < 1024 * 1024) return `${Math.round(amount / 1024)} KB`;
  const megabytes = amount / 1024 / 1024;
  return megabytes < 1024 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}

export function seconds(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const whole = Math.round(milliseconds / 1000);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
