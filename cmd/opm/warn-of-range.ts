/**
 * Warns about an invalid range of skipped versions: directly on stderr like opm, without its
 * logger.
 */
export function warnOfRange(message: string): void {
  process.stderr.write(`warning: ${message}\n`);
}
