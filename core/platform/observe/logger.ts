import { pino } from 'pino';
import type { Logger } from '../../contracts/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * Logs lines on stderr, because stdout belongs to a command's output. JSON, unless `format`
 * converts each line.
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
