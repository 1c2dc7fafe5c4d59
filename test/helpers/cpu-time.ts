/**
 * Milliseconds of processor time of this process so far. For tests of the cost of work: on a busy
 * machine real time includes others' work.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
