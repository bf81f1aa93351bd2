import assert from "node:assert/strict";
import { claimObjection } from "../../../operations/models/writing/mod.ts";

describe("claimObjection()", () => {
  const evidence = [
    { n: 1, from: "logs", text: "prod-db-1 wrote 3.5 MB to /var/log/app.log, INC-12-old" },
    { n: 2, from: "metrics", text: "db-2.example answers at 127.0.0.1:5432, v1.2.3." },
  ];
  const objectionTo = (text: string, cited = [1, 2]) =>
    claimObjection({ text, evidence: cited }, { evidence, report: "It is slow", services: [] });

  const parts = ["`db-1`", "5 MB", "3 MB", "/var/log/app", "INC-12", "db-2", "v1.2", "2.3"];
  for (const name of parts) {
    it(`objects to ${name}, of which the evidence only has a longer name`, () => {
      assert.match(objectionTo(`It was ${name} there`)!, /which is no service that was found/);
    });
  }

  const names = ["`prod-db-1`", "3.5 MB", "app.log", "127.0.0.1", "5432", "v1.2.3", "INC-12-old"];
  for (const name of names) {
    it(`accepts ${name}, which the evidence has`, () => {
      assert.equal(objectionTo(`It was ${name} there.`), undefined);
    });
  }

  const instructions = [
    "Restart it.",
    "It is slow, and then please run it again.",
    "First, delete the file.",
    "You should wait.",
    "To fix this, roll back the change.",
  ];
  for (const text of instructions) {
    it(`objects to the instruction "${text}"`, () => {
      assert.match(objectionTo(text)!, /says what should be done/);
    });
  }

  it("accepts a sentence whose verb tells what happened", () => {
    assert.equal(objectionTo("The type of the fault is not known."), undefined);
    assert.equal(objectionTo("Its restart did not help."), undefined);
  });

  it("objects to an address, and to a citation that does not exist", () => {
    assert.match(objectionTo("See https://example.test")!, /gives an address/);
    assert.match(objectionTo("It is slow.", [3])!, /cites 3, and the evidence ends with 2/);
    assert.match(objectionTo("It is slow.", [])!, /cites no evidence/);
  });
});
