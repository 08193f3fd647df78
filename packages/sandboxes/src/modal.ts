/** Sandboxes at Modal: `createSandbox({ provider: modalSandbox() })`. Needs the package `modal`. */
import { isHandle } from "./checked-options.ts";
import {
  type ModalHandleOptions,
  type ModalSandboxOptions,
  modalHandle,
  modalSettings,
} from "./modal/modal-options.ts";
import { ModalProvider, ownedModalSandbox } from "./modal/modal-provider.ts";
import type { SandboxProvider } from "./provider.ts";

export type { ModalCommandOptions, ModalHandleOptions, ModalSandboxOptions } from "./modal/modal-options.ts";
export type { VendorNetwork } from "./remote/vendor-network.ts";

/** Makes nothing and loads nothing until a sandbox is opened. */
export function modalSandbox(options: ModalSandboxOptions | ModalHandleOptions | null = {}): SandboxProvider {
  if (isHandle<ModalHandleOptions>(options)) return ownedModalSandbox(modalHandle(options));
  return new ModalProvider(modalSettings(options));
}
