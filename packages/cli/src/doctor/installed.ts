/** How this program was installed, derived from its path, and the command that updates it. Pure. */

export interface Installation {
  /** For people. */
  readonly way: string;
  readonly command: string;
}

const PACKAGE = "@deepwright/cli";

/** `path` is the real path of the program; `isCheckout`: it lies in a git repository and not in node_modules. */
export function installationOf(path: string, isCheckout: boolean): Installation {
  const place = path.replaceAll("\\", "/");
  if (isCheckout)
    return { way: "a checkout of the sources", command: "git pull && npm install && npm run build" };
  if (place.includes("/_npx/")) return { way: "npx, for single runs", command: `npx ${PACKAGE}@latest` };
  if (/\/(?:pnpm|\.pnpm)\/(?:.*\/)?global\/|\/pnpm-global\//.test(place))
    return { way: "pnpm, globally", command: `pnpm add --global ${PACKAGE}@latest` };
  if (/\/\.bun\/install\/global\//.test(place))
    return { way: "bun, globally", command: `bun add --global ${PACKAGE}@latest` };
  if (/\/(?:\.config\/yarn|\.yarn|yarn)\/global\//i.test(place))
    return { way: "yarn, globally", command: `yarn global add ${PACKAGE}@latest` };
  if (/\/\.?volta\/tools\//.test(place)) return { way: "volta", command: `volta install ${PACKAGE}@latest` };
  if (/\/lib\/node_modules\/@deepwright\/|\/npm\/node_modules\/@deepwright\//.test(place))
    return { way: "npm, globally", command: `npm install --global ${PACKAGE}@latest` };
  const project = place.split("/node_modules/")[0] ?? "";
  return { way: `a dependency of ${project}`, command: `npm install ${PACKAGE}@latest` };
}
