import { readFile, readlink } from "node:fs/promises";

/** State of a TCP socket; `half_closed`: the other end has closed it, and this one has not. */
export type TcpState = "established" | "connecting" | "half_closed" | "listening";

/** A TCP socket, as the kernel lists it. */
export interface TcpSocket {
  readonly local: TcpPlace;
  readonly remote: TcpPlace;
  readonly state: TcpState;
  /** Bytes to be read; of a socket that listens, connections to be accepted. */
  readonly queued: number;
  readonly inode: string;
}

/** One end of a connection. */
interface TcpPlace {
  /** IPv4 or IPv6; an IPv4 address that is mapped to IPv6 is printed as IPv4. */
  readonly address: string;
  readonly port: number;
}

const STATES: Readonly<Record<string, TcpState>> = {
  "01": "established",
  "02": "connecting",
  "08": "half_closed",
  "0A": "listening",
};

/** A row of the table: both ends, the state, what is queued, and the inode. Rows of other states are passed over. */
const ROW = /^ *\d+: (\S+) (\S+) (0[128]|0A) [0-9A-F]+:([0-9A-F]+) \S+ \S+ +\d+ +\d+ (\d+)/gm;

/**
 * Reads the TCP sockets of this host, without those that both ends have closed. Those who ask while a table is read get the
 * same one: the kernel walks all of its sockets for each reading.
 *
 * @param pid of a process whose network is read, which may be another one; default: this one
 * @returns empty where the system has no such table
 * @see proc_pid_net(5)
 */
export async function readTcpTable(pid: number | "self" = "self"): Promise<readonly TcpSocket[]> {
  const network = await readlink(`/proc/${pid}/ns/net`).catch(() => `of ${pid}`);
  const reading = readings.get(network) ?? readTable(pid).finally(() => readings.delete(network));
  readings.set(network, reading);
  return await reading;
}

/** Tables that are being read, by their networks. */
const readings = new Map<string, Promise<readonly TcpSocket[]>>();

async function readTable(pid: number | "self"): Promise<readonly TcpSocket[]> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8").catch(() => "")),
  );
  return tables.flatMap((table) => [...table.matchAll(ROW)]).map((row) => ({
    local: parsePlace(row[1]!),
    remote: parsePlace(row[2]!),
    state: STATES[row[3]!]!,
    queued: Number.parseInt(row[4]!, 16),
    inode: row[5]!,
  }));
}

/** Parses an address as the kernel prints it: 32-bit words, each in the byte order of the machine. */
function parsePlace(text: string): TcpPlace {
  const [hex, port] = text.split(":") as [string, string];
  const bytes = Buffer.from(hex, "hex");
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  return { address: printAddress(bytes), port: Number.parseInt(port, 16) };
}

const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

function printAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.subarray(0, MAPPED.length).equals(MAPPED)) return bytes.subarray(-4).join(".");
  const groups = [0, 2, 4, 6, 8, 10, 12, 14].map((at) => bytes.readUInt16BE(at).toString(16));
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}
