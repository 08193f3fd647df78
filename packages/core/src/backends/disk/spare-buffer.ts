/**
 * A large buffer that is reused until the garbage collector takes it: touching new memory costs several times as much
 * as reading a file into it.
 */
let spare: WeakRef<Buffer> | undefined;

/** Gives `use` a buffer of at least `size` bytes. Nothing may hold on to it afterwards. */
export async function withSpareBuffer<Result>(
  size: number,
  use: (buffer: Buffer) => Promise<Result>,
): Promise<Result> {
  const buffer = takeSpare(size) ?? Buffer.allocUnsafeSlow(size);
  try {
    return await use(buffer);
  } finally {
    spare = new WeakRef(buffer);
  }
}

/** A second caller, while the buffer is in use, makes another one. */
function takeSpare(size: number): Buffer | undefined {
  const known = spare?.deref();
  if (known === undefined || known.length < size) return undefined;
  spare = undefined;
  return known;
}
