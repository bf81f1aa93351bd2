import { type Observation, say } from "../../contract/domain/mod.ts";
import { runProgram } from "./_program.ts";
import type { Observer } from "./observer.ts";

const LINES = "60";
const PROPERTIES =
  "ActiveState,SubState,Result,ExecMainStatus,ExecMainCode,NRestarts,MemoryCurrent";

/** Reads the state and the journal of a service's systemd unit. */
export const unit: Observer = {
  name: "unit",
  about:
    "Reads the state and the journal of the service's systemd unit, which the services file names",
  applies: ({ isLocal, values: { unit } }) => isLocal && typeof unit === "string",
  async observe({ values, since }): Promise<Observation[]> {
    const unit = String(values.unit);
    const [state, journal] = await Promise.all([
      runProgram(["systemctl", "show", `--property=${PROPERTIES}`, "--", unit]),
      runProgram([
        ...["journalctl", "--no-pager", "--output=short-iso", "--lines", LINES],
        ...["--since", `@${Math.floor(since.getTime() / 1_000)}`, "--unit", unit],
      ]),
    ]);
    const figures = Object.fromEntries(
      state.text.split("\n").filter((line) => line.includes("=")).map((line): [string, string] => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
    return [{
      code: "unit",
      says:
        say`The unit ${unit} is ${figures.ActiveState} (${figures.SubState}), result ${figures.Result}, exit status ${figures.ExecMainStatus}, restarted ${figures.NRestarts} times.`,
      text: journal.text,
      figures,
    }];
  },
};
