/** Sandboxes at Modal: `createSandbox({ provider: modalSandbox() })`. Needs the package `modal`. */
import { type ModalHandleOptions, type ModalSandboxOptions, modalSettings } from "./modal/modal-options.ts";
import { isHandle, ModalProvider, ownedModalSandbox } from "./modal/modal-provider.ts";
import type { SandboxProvider } from "./provider.ts";
import { checkDirectory } from "./remote/checked-options.ts";

export type { ModalCommandOptions, ModalHandleOptions, ModalSandboxOptions } from "./modal/modal-options.ts";
export type { VendorNetwork } from "./remote/vendor-network.ts";

/** Makes nothing and loads nothing until a sandbox is opened. */
export function modalSandbox(options: ModalSandboxOptions | ModalHandleOptions = {}): SandboxProvider {
  if (isHandle(options))
    return ownedModalSandbox(options, checkDirectory(options.workingDirectory ?? "/workspace"));
  return new ModalProvider(modalSettings(options));
}
