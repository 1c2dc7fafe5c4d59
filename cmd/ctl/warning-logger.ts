import type { Logger } from '../../core/sdk.ts';
import { logLine } from './log-line.ts';

/** Where classes log for a person: warnings on stderr, and nothing else. */
export const warningLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => {
    const values = Object.values(fields).map((value) => (typeof value === 'string' ? value : ''));
    const details = values.filter((value) => value !== '' && !message.includes(value));
    process.stderr.write(logLine(`warning: ${[message, ...details].join(': ')}`));
  },
  error: () => undefined,
  child: () => warningLogger,
};
