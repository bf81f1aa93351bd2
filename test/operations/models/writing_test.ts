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
    const told = [{
      n: 1,
      from: "repairs",
      text: "The type of fault is not known. Its restart did not help.",
    }];
    for (const text of ["The type of the fault is not known.", "Its restart did not help."]) {
      assert.equal(
        claimObjection({ text, evidence: [1] }, { evidence: told, report: "", services: [] }),
        undefined,
      );
    }
  });

  it("objects to an address, and to a citation that does not exist", () => {
    assert.match(objectionTo("See https://example.test")!, /gives an address/);
    assert.match(objectionTo("It is slow.", [3])!, /cites 3, and the evidence ends with 2/);
    assert.match(objectionTo("It is slow.", [])!, /cites no evidence/);
  });

  describe("to what the evidence does not say", () => {
    const facts = [
      { n: 1, from: "service", text: "shop (web) fails its health check just now: refused." },
      {
        n: 2,
        from: "open_tickets",
        text: "INC-1 (high, open): attackers stole orders; pay is up.",
      },
      {
        n: 3,
        from: "service",
        text: "Open finding brute force on gate, seen 40 times. Attackers guessed.",
      },
      { n: 4, from: "logs", text: "The queue was not full. Two workers lost their connections." },
      { n: 5, from: "service", text: "pay (web) answers its health check just now (3 ms)." },
    ];
    const services = ["shop", "pay", "gate"];
    const check = (text: string, ...cited: number[]) =>
      claimObjection({ text, evidence: cited }, {
        evidence: facts,
        report: "Is the disk full?",
        services,
      });

    it("accepts other forms of the words that stand there", () => {
      assert.equal(check("`shop` is failing its health check, and refuses.", 1), undefined);
      assert.equal(check("The workers lost a connection.", 4), undefined);
      assert.equal(check("The queue was not full.", 4), undefined);
    });

    it("objects to words that only the question has, or nothing", () => {
      assert.match(check("The disk of `shop` is full.", 1)!, /something of "disk"/);
      assert.match(
        check("`shop` fails its check, so customers left.", 1)!,
        /something of "customers"/,
      );
      assert.match(check("`gate` was brute forced.", 1)!, /not in what it cites/);
    });

    it("objects to the opposite of what is cited, or of what was measured", () => {
      assert.match(check("The queue was full.", 4)!, /denies what it cites/);
      assert.match(check("The workers never lost their connections.", 4)!, /denies what it cites/);
      assert.match(check("`shop` is up.", 2)!, /otherwise than the measurement that shop is down/);
      assert.match(check("`pay` is down.", 2)!, /otherwise than the measurement that pay is up/);
      assert.equal(check("`pay` is up.", 2), undefined);
    });

    it("objects to an accusation without a finding of security", () => {
      assert.match(check("Attackers stole orders.", 2)!, /cites no finding of an attack/);
      assert.match(
        check("`shop` fails its check on purpose.", 1)!,
        /"on purpose", and cites no finding/,
      );
      assert.equal(check("Attackers guessed on `gate`.", 3), undefined);
    });
  });
});
