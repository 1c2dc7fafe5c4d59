/**
 * Milliseconds of processor time that this process has had so far. For tests of what work costs: on
 * a busy machine the clock goes for others too.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
