/** Reviews of threads for the memory: one at a time, in the background of the requests that ask for it. */
import type { MemoryProposals } from "@deepwright/protocol";
import { withoutSecrets } from "deepwright/secrets";
import type { SettingsOfHost } from "./host-settings.ts";

/** Characters of a failure that are shown. */
const MOST_WORDS = 500;
const NOTHING = { message: "", conversations: 0, files: [] };

export class MemoryReviews {
  #last: MemoryProposals = { status: "none", ...NOTHING };

  constructor(
    private readonly review: () => ReturnType<SettingsOfHost["propose"]>,
    private readonly onError: (error: unknown) => void,
  ) {}

  get last(): MemoryProposals {
    return this.#last;
  }

  /** Joins a review that is under way. */
  begin(): MemoryProposals {
    if (this.#last.status === "working") return this.#last;
    this.#last = { status: "working", ...NOTHING };
    this.review().then(
      (made) => {
        this.#last = { status: "done", ...made };
      },
      (error: unknown) => {
        this.onError(error);
        const why = withoutSecrets(error instanceof Error ? error.message : String(error));
        this.#last = { status: "failed", ...NOTHING, message: why.slice(0, MOST_WORDS) };
      },
    );
    return this.#last;
  }
}
