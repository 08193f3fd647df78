/** What `import()` of the library costs, over the empty process it runs in. */
const SPECIFIERS = {
  deepwright: ["deepwright"],
  deepagents: ["deepagents"],
  createAgent: ["langchain"],
  hand: ["@langchain/core/messages", "@langchain/core/tools"],
};

export async function measure(contender) {
  const start = process.hrtime.bigint();
  const before = process.cpuUsage();
  for (const specifier of SPECIFIERS[contender]) await import(specifier);
  const { user, system } = process.cpuUsage(before);
  return {
    cpu: (user + system) / 1000,
    wall: Number(process.hrtime.bigint() - start) / 1e6,
    rss: process.memoryUsage().rss / 2 ** 20,
  };
}
