/** By which name this Node knows its permissions, if it does. */
const PERMISSION = ["--permission", "--experimental-permission"].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag)
);

/**
 * Options of Node that keep a program from all files but its own and those of a folder, and from starting others.
 *
 * @see Node.js, Permissions
 */
export function fenceOf(program, folder) {
  if (!PERMISSION) return [];
  const net = process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : [];
  return [
    ...[PERMISSION, "--no-warnings", ...net],
    ...[`--allow-fs-read=${program}`, `--allow-fs-read=${folder}/*`],
    `--allow-fs-write=${folder}/*`,
  ];
}
