/** Texts of the page of one decision. */
export const words = {
  title: (calls: number) => (calls === 1 ? "One call waits for you" : `${calls} calls wait for you`),
  by: (agents: readonly string[]) => `asked by ${agents.join(" › ")}`,
  times: (since: string, until: string) => `Waits since ${since}. The link can be used until ${until}.`,
  once: "Your decision uses the link up. Opening it does not.",
  sending: "Sending…",
  states: {
    answered: [
      "Already answered",
      "Somebody has answered this, or the agent was stopped. Nothing is left to decide.",
    ],
    used: ["This link was used", "A decision was made with it. Each link is for one decision."],
    expired: ["This link is too old", "Open the page of the server to decide, or wait for another link."],
    incomplete: ["This is not a whole link", "Copy all of the address, with the part behind the sign #."],
  } as Readonly<Record<string, readonly [string, string]>>,
  done: "Your decision was sent",
  goesOn: "The agent goes on. You can close this page.",
  openPage: "Open the page of the server",
} as const;
