import { serialize } from 'node:v8';
import type { Logger } from '../../contracts/logger.ts';
import type { LogMessage } from './messages.ts';

/** A logger whose lines another process writes. Like any logger it never throws. */
export function forwardingLogger(forward: (line: LogMessage) => void, bound: object = {}): Logger {
  const write =
    (level: LogMessage['level']) =>
    (fields: object, message: string): void =>
      forward({ type: 'log', level, fields: sendable({ ...bound, ...fields }), message });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => forwardingLogger(forward, { ...bound, ...fields }),
  };
}

/** Fields that cannot be sent, such as functions, become text. */
function sendable(fields: object): object {
  return isSendable(fields)
    ? fields
    : Object.fromEntries(
        Object.entries(fields).map(([name, value]: [string, unknown]) => [
          name,
          isSendable(value) ? value : String(value),
        ]),
      );
}

function isSendable(value: unknown): boolean {
  try {
    serialize(value);
    return true;
  } catch {
    return false;
  }
}
