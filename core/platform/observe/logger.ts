import { pino } from 'pino';
import type { Logger } from '../../contracts/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * Lines on stderr: stdout belongs to what a command prints. JSON, unless `format` makes another line
 * of each.
 */
export function createLogger(level: LogLevel, format?: (line: string) => string): Logger {
  const stderr = pino.destination({ fd: 2, sync: true });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === undefined
      ? stderr
      : { write: (line) => stderr.write(`${format(line.trimEnd())}\n`) },
  );
}
