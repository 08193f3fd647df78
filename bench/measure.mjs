/** One measurement in a process of its own; run.mjs starts it. Prints the metrics as JSON. */
const { workload, contender, params } = JSON.parse(process.argv[2]);
const { measure } = await import(`./workloads/${workload}.mjs`);
const metrics = await measure(contender, params ?? {});
process.stdout.write(`\n${JSON.stringify(metrics)}\n`, () => process.exit(0));
