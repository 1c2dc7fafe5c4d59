import type { Logger } from '../../core/sdk.ts';
import { logLine } from './log-line.ts';
import { silentLogger } from './silent-logger.ts';

/** Where classes log for a person: warnings on stderr, and nothing else. */
export const warningLogger: Logger = {
  ...silentLogger,
  warn: (fields, message) => {
    const values = Object.values(fields).map((value) => (typeof value === 'string' ? value : ''));
    const details = values.filter((value) => value !== '' && !message.includes(value));
    process.stderr.write(logLine(`warning: ${[message, ...details].join(': ')}`));
  },
  child: () => warningLogger,
};
