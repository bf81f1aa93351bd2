import assert from "node:assert/strict";
import { operations } from "../../operations/mod.ts";
import { WORKFLOW_TYPES } from "../workflows/_histories.ts";

describe("the list of workflow types", () => {
  it("has every type that workers run, and says of each whether callers may start it", async () => {
    const listTypes = operations.find(({ name }) => name === "workflows.types")!;
    const { types } = await listTypes.run({}, {} as Parameters<typeof listTypes.run>[1]) as {
      types: { type: string; startable: boolean; operation: string | null }[];
    };
    assert.deepEqual(types.map(({ type }) => type).sort(), [...WORKFLOW_TYPES].sort());
    assert.deepEqual(types.filter(({ startable }) => startable).map(({ operation }) => operation), [
      ...["itsm.loop", "itsm.test", "attacks.simulate", "approvals.create"],
      ...["reasoning.invoke", "crew.dispatch", "security.scan"],
    ]);
  });
});
