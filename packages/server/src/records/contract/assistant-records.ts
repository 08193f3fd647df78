/** Assistants and their versions. */
import type { Assistant, SearchAssistants } from "@deepwright/protocol";
import type { ByteLimit, Page } from "../tables/conditions.ts";
import type { Owner } from "./owner.ts";

export interface AssistantFilters extends Pick<SearchAssistants, "graph_id" | "name" | "metadata"> {
  /** Agents whose own assistants are listed: a database may know agents of earlier starts. */
  readonly served?: readonly string[];
}

export interface AssistantRecords {
  /**
   * `replace` keeps the earlier version and numbers the new one itself; equal content makes no new version. An id of
   * `EVERYONE` exists for all owners.
   */
  put(
    owner: Owner,
    assistant: Assistant,
    options: { readonly ifExists: "raise" | "do_nothing" | "replace" },
  ): Promise<Assistant | "exists">;
  /** Makes an earlier version the current one; the next change gets a new number all the same. */
  setLatest(owner: Owner, assistantId: string, version: number): Promise<Assistant | undefined>;
  /** The server's own assistants, one for each agent, belong to everyone. */
  get(owner: Owner, assistantId: string): Promise<Assistant | undefined>;
  search(owner: Owner, query: SearchAssistants & AssistantFilters, bytes?: ByteLimit): Promise<Assistant[]>;
  count(owner: Owner, query: AssistantFilters): Promise<number>;
  versions(owner: Owner, assistantId: string, query: Page): Promise<Assistant[]>;
  countVersions(owner: Owner, assistantId: string): Promise<number>;
  delete(owner: Owner, assistantId: string): Promise<boolean>;
}
