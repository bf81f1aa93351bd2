import { appendFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { createServer } from "node:net";

const DECOYS = 24;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Opens doors for attackers on loopback: a log-in that lets nobody in, decoy ports, and a sink for stolen data. Their log has
 * the format of syslog, with lines like those of sshd and a firewall.
 */
export async function openDoors(log) {
  writeFileSync(log, "");
  const counts = { attempts: 0, ports_scanned: 0, bytes_out: 0 };
  const servers = [];
  let open = true;

  const writeLog = (program, text) => {
    const [, month, day, , time] = /^\w+ (\w+) 0?(\d+) (\d+) ([\d:]+)/.exec(new Date().toString());
    appendFileSync(log, `${month} ${day.padStart(2)} ${time} ${hostname()} ${program}: ${text}\n`);
  };

  const listen = (answer) =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        if (!open) return socket.destroy();
        answer(socket);
      });
      servers.push(server);
      server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server.address().port));
    });

  /** Takes `<user> <password>` a line, and refuses each. */
  function login(socket) {
    socket.setEncoding("utf8").on("data", (text) => {
      for (const line of text.split("\n").filter(Boolean)) {
        const user = /^[a-z]{1,32}(?= )/.exec(line)?.[0] ?? "unknown";
        counts.attempts++;
        writeLog(
          `sshd[${process.pid}]`,
          `Failed password for ${user} from 127.0.0.1 port ${socket.remotePort} ssh2`,
        );
      }
      if (!socket.destroyed) socket.write("Permission denied\n");
    });
  }

  function decoy(socket) {
    counts.ports_scanned++;
    const { remotePort, localPort } = socket;
    writeLog(
      "kernel",
      `[UFW BLOCK] IN=lo OUT= SRC=127.0.0.1 DST=127.0.0.1 LEN=60 TTL=64 PROTO=TCP SPT=${remotePort} DPT=${localPort} SYN`,
    );
    socket.destroy();
  }

  function sink(socket) {
    socket.on("data", (bytes) => {
      counts.bytes_out += bytes.length;
      if (counts.bytes_out > MAX_BYTES) socket.destroy();
    });
  }

  const ports = {
    login: await listen(login),
    sink: await listen(sink),
    decoys: await Promise.all(Array.from({ length: DECOYS }, () => listen(decoy))),
  };

  function close() {
    open = false;
    for (const server of servers) server.close();
  }

  return { ports, counts, close };
}
