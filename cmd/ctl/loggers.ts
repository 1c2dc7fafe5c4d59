import type { Logger } from '../../core/contracts/logger.ts';
import { visibleText } from './terminal/text.ts';

/** A line as Go's log package writes it, local time: what scripts around RukPak's tool look for. */
export function logLine(text: string, now = new Date()): string {
  const [year, ...rest] = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  const date = [String(year).padStart(4, '0'), ...rest.map(twoDigits)].join('/');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits).join(':');
  return `${date} ${time} ${visibleText(text.trimEnd())}\n`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** For parts of core that log what is of no interest to a person at a terminal. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

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
