import assert from "node:assert/strict";
import { initialEnvironment, PROCESSES } from "../../../processes/supervisor/mod.ts";

describe("PROCESSES", () => {
  const namesThatGet = (setting: string) =>
    PROCESSES.filter((entry) => setting in initialEnvironment(entry, { [setting]: "secret" }))
      .map(({ name }) => name).sort();

  it("gives keys of models to those that ask models, and to no other", () => {
    for (const setting of ["SEALOOP_ANTHROPIC_API_KEY", "SEALOOP_OPENAI_API_KEY"]) {
      assert.deepEqual(namesThatGet(setting), ["engine", "gateway", "mcp", "worker"]);
    }
  });

  it("gives no process a way into a database before it starts", () => {
    for (const setting of ["DATABASE_URL", "SEALOOP_DATABASE_GATEWAY_URL"]) {
      assert.deepEqual(namesThatGet(setting), []);
    }
  });
});
