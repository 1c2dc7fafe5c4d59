import { pino } from 'pino';
import type { Logger } from '../contracts/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** JSON lines on stderr: stdout belongs to what a command prints. */
export function createLogger(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
