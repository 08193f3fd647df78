/** Texts of orders to subagents. */
export const words = {
  tell: "Tell it something",
  stop: "Stop it",
  messageFor: (name: string) => `Message for ${name}`,
  told: (name: string) => `${name} reads it before its next step.`,
  stopped: (name: string) => `${name} is being stopped. The agent that called it reads that.`,
} as const;
