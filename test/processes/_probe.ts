/** A process of the platform that the tests look at: it says what happens to it, and fails when it is told to. */
import { runProcess } from "../../processes/mod.ts";

await runProcess("probe", ({ log, databaseUrl }) => {
  const what = process.env.PROBE;
  if (what === "fail") throw new Error("The probe was told to fail");
  if (what === "database") databaseUrl("ledger");
  if (what === "later") setTimeout(() => Promise.reject(new Error("nobody waits for this")), 50);
  return Promise.resolve({
    address: `http://probe/${what ?? ""}`,
    stop: () => {
      log.info("draining");
      return Promise.resolve();
    },
  });
});
