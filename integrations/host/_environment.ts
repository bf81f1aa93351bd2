/** Variables that commands of checks and runbooks get: by these, programs find themselves, a language, and the container engine. */
const PASSED_ON = ["PATH", "HOME", "LANG", "TZ", "DOCKER_HOST"];

/**
 * Returns the environment of a command that checks or repairs a service. It has none of the platform's settings, which
 * contain passwords.
 */
export function minimalEnvironment(): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }));
}
