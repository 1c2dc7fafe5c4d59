import type { Logger } from '../../../core/contracts/logger.ts';
import { visibleText } from '../terminal/text.ts';

/** A line in the format of Go's log package, local time: scripts around RukPak's tool expect it. */
export function logLine(text: string, now = new Date()): string {
  const [year, ...rest] = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  const date = [String(year).padStart(4, '0'), ...rest.map(twoDigits)].join('/');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits).join(':');
  return `${date} ${time} ${visibleText(text.trimEnd())}\n`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** For parts of core whose logs a person at a terminal does not need. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

/** For classes that run for a person: warnings on stderr, and nothing else. */
export const warningLogger: Logger = {
  ...silentLogger,
  warn: (fields, message) => {
    const values = Object.values(fields).map((value) => (typeof value === 'string' ? value : ''));
    const details = values.filter((value) => value !== '' && !message.includes(value));
    process.stderr.write(logLine(`warning: ${[message, ...details].join(': ')}`));
  },
  child: () => warningLogger,
};
