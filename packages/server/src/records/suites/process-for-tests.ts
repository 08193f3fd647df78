/** A process of its own on an SQLite file: claims and ends runs, or holds one, or takes crons, and says what it did. */
import { processName } from "deepwright/process-identity";
import { openRecords } from "../open-records.ts";

const [job = "", path = "", ...threads] = process.argv.slice(2);
const records = await openRecords({ sqlite: path });

if (job === "work") {
  for (let idle = 0; idle < 20; ) {
    let claims = 0;
    for (const threadId of threads) {
      const claim = await records.runs.claimNext(threadId, `process ${process.pid}`, 60_000);
      if (claim === undefined) continue;
      claims += 1;
      const data = JSON.stringify({ pid: process.pid });
      await records.events.append(claim, [{ event: "values", data }]);
      const ended = await records.runs.finish(claim, { status: "success", threadStatus: "idle" }, []);
      if (ended) console.log(`ended ${claim.run.run_id}`);
    }
    idle = claims > 0 ? 0 : idle + 1;
    if (claims === 0) await new Promise((done) => setTimeout(done, 5));
  }
}
if (job === "hold") {
  for (const threadId of threads)
    if (await records.runs.claimNext(threadId, processName(), 86_400_000)) console.log("claimed");
  await new Promise((done) => setTimeout(done, 3_600_000));
}
if (job === "crons") {
  const due = await records.crons.takeDue(Date.now(), () => null);
  for (const { cron } of due) console.log(`took ${cron.cron_id}`);
}
await records.close();
