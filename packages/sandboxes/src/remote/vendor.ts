/** Vendors' packages: loaded when a sandbox is opened, and named with their install line when they are missing. */
import { SandboxError } from "deepwright";

/** Loads an optional package. `name` is the name for `npm install`. */
export async function loadVendor<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new SandboxError(
      `This sandbox needs the package '${name}', which is not installed. Run: npm install ${name}`,
      "SANDBOX_UNAVAILABLE",
      error,
    );
  }
}

function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return (
    (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && String(message).includes(`'${name}'`)
  );
}
