/** Name of the option by which this version of Node restricts permissions, if it can. */
const PERMISSION = ["--permission", "--experimental-permission"].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag)
);

/**
 * Returns the options of Node that restrict a program to its own file and those of a folder, and keep it from starting others.
 *
 * @see Node.js, Permissions
 */
export function fenceOptions(program, folder) {
  if (!PERMISSION) return [];
  const net = process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : [];
  return [
    PERMISSION,
    "--no-warnings",
    ...net,
    `--allow-fs-read=${program}`,
    `--allow-fs-read=${folder}/*`,
    `--allow-fs-write=${folder}/*`,
  ];
}
