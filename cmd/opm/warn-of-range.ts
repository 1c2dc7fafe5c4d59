/** Warns of a range of skipped versions that is none: on stderr as opm does, past its logs. */
export function warnOfRange(message: string): void {
  process.stderr.write(`warning: ${message}\n`);
}
