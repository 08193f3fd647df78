/** Providers nobody has: the registry is of the whole process. */
let count = 0;

export function newProvider(): string {
  count += 1;
  return `provider-${count}`;
}
