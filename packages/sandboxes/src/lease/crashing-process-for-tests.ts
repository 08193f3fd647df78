/** A process that leases a sandbox and never gives it back: it says `ready`, uses it and waits to be killed. */
import { createSandbox } from "../index.ts";
import { processProvider } from "./process-provider-for-tests.ts";

const [root = "", stage = "", ttl = "3600"] = process.argv.slice(2);
const source = createSandbox({
  provider: processProvider({ root, delay: stage === "opening" ? 600_000 : 0 }),
  ttl: Number(ttl),
  setupScript: stage === "set-up" ? "echo half > half; sleep 600" : "echo x >> count",
});
const leasing = source.lease("t");
if (stage === "using") {
  const { sandbox } = await leasing;
  void sandbox.execute("echo kept > new; mv new note; sleep 600", { timeout: 600 });
}
console.log("ready");
setInterval(() => {}, 60_000);
await leasing;
