/** A device with its gateway and ledger, and its runner, whose talker is the test. New for each test of a suite. */
import type { DeviceBundle, DeviceCommand } from "../../contract/domain/mod.ts";
import { type Device, enroll, readAcceptedSize, TestRunner } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { makeCommand, type TestLedger } from "./_ledger.ts";

/** Fields of a message or a statement. */
export type Fields = Record<string, unknown>;

/** A device, its runner and its ledger for the tests of a suite. Made within `describe()`. */
export class RunnerScene {
  gateway!: TestGateway;
  device!: Device;
  runner!: TestRunner;

  constructor() {
    beforeEach(async () => {
      this.gateway = await new TestGateway().start();
      this.device = await enroll(this.gateway);
    });
    afterEach(async () => {
      await this.runner?.kill();
      await this.gateway.stop();
    });
  }

  get ledger(): TestLedger {
    return this.gateway.ledger;
  }

  /** Starts a runner of the device, in place of the one before. */
  start(env: Readonly<Record<string, string>> = {}, before = ""): TestRunner {
    return this.runner = new TestRunner(this.device, env, before);
  }

  /** Issues a command that appends a line to the device's marker, unless it is another one. */
  issue(sequence = 1, more: Partial<DeviceCommand> = {}): Promise<DeviceBundle> {
    return this.ledger.issue(makeCommand(this.device.id, sequence, this.device.marker, more));
  }

  /** Gives a bundle to the runner with fresh proofs, and returns its answer. */
  async deliver(bundle: DeviceBundle) {
    const log = await this.ledger.log(readAcceptedSize(this.device));
    const message = { type: "command", log, bundle: await this.ledger.proveAgain(bundle) };
    return await this.runner.ask(message, "result");
  }

  /** Seals the runner's next statement, and returns it. */
  async sealNext(more: Fields = {}): Promise<Fields> {
    const body = (await this.runner.take("statement")).body as Fields;
    const { record, salt } = this.gateway.seal(this.device.id, body);
    this.runner.send({ type: "sealed", sequence: body.sequence, record, salt, ...more });
    return body;
  }

  /** Seals statements until one ends the command. */
  async sealUntilEnded(): Promise<Fields> {
    for (;;) {
      const body = await this.sealNext();
      if (body.phase === "ended") return body;
    }
  }
}
