/** Calls to addresses that others name: `fetch` with checked addresses and bounded answers. For our own packages. */
export { isLinkLocalAddress, isPublicAddress } from "./address.ts";
export { checkedAddress, checkedLookup } from "./checked-address.ts";
export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchOptions,
  RedirectError,
} from "./guarded-fetch.ts";
