import { isIPv6 } from "node:net";
import { z } from "zod";

const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** A port of TCP. */
export const port = (fallback: number, about: string) =>
  z.coerce.number().int().min(1).max(65535).default(fallback).describe(about);
/** A number from 0 on. */
export const count = (fallback: number, about: string) =>
  z.coerce.number().int().min(0).max(1_000_000_000).default(fallback).describe(about);
/** A number of days, at most a hundred years. */
export const days = (fallback: number, about: string) =>
  z.coerce.number().int().min(0).max(36_500).default(fallback).describe(about);
/** true or false; false where it is unset. */
export const flag = (about: string) =>
  z.enum(["true", "false"]).default("false").transform((v) => v === "true").describe(about);
/** An address with one of some schemes, or none. */
export const url = (protocol: RegExp, about: string) =>
  z.url({ protocol }).optional().describe(about);
/** Addresses separated by commas, or a word for a list of them. Plain HTTP goes no further than this machine. */
export const urls = (prefix: RegExp, wellKnown: readonly string[], about: string) =>
  z.string().default("public")
    .transform((text) => text === "none" ? [] : text === "public" ? wellKnown : text.split(","))
    .refine((all) => all.every((one) => isSafe(one.replace(prefix, ""))), {
      message: "Expected public, none, or https addresses (http for loopback alone) and commas",
    })
    .transform((all) => all.map((one) => one.replace(/\/$/, ""))).describe(about);
/** A text, such as the path of a file, or none. */
export const text = (about: string) => z.string().min(1).optional().describe(about);
/** A text that nothing shows, or none. */
export const secret = (about: string) => text(about);
/** An address of HTTPS, or of plain HTTP on this machine; without the slash at its end. */
export const safe = (about: string) =>
  z.url().refine(isSafe, "Expected https (http for loopback alone)")
    .transform((address) => address.replace(/\/$/, "")).describe(about);
/** The same as its owner spells it, as names are compared by the letter. */
export const issuer = (about: string) =>
  z.url().refine(isSafe, "Expected https (http for loopback alone)").describe(about);
/** An address of a PostgreSQL, or none. */
export const postgres = (about: string) => url(/^postgres(ql)?$/, about);

/** Networks, or none: addresses, each with the length of its prefix or without, and commas between. */
export const networks = (about: string) =>
  z.string().regex(/^[0-9a-fA-F:.]+(\/\d+)?(,[0-9a-fA-F:.]+(\/\d+)?)*$/).optional()
    .transform((list) => list?.split(",") ?? []).describe(about);
/** Names or addresses of hosts, or none, without ports and with commas between. */
export const hosts = (about: string) =>
  z.string().optional().transform((list) => list?.split(",") ?? [])
    .refine(
      (all) => all.every((host) => HOST.test(host) || isIPv6(host)),
      "Expected names or addresses of hosts without ports, and commas between",
    ).describe(about);
/** Seconds of pauses, with commas between. */
export const pauses = (fallback: string, about: string) =>
  z.string().regex(/^\d{1,6}(,\d{1,6})*$/).default(fallback)
    .transform((list) => list.split(",").map(Number)).describe(about);

/** Returns true for an address of HTTPS, or of plain HTTP on this machine. */
function isSafe(address: string): boolean {
  if (!/^https?:\/\/\S+$/.test(address) || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || LOOPBACK.test(hostname);
}
