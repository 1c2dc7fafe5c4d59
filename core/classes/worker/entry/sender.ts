import { inspect } from 'node:util';
import { stringifyJson } from '../../../../api/json.ts';
import type { BundleFiles } from '../../../contracts/bundle-files.ts';
import type { Logger } from '../../../contracts/logger.ts';
import { contentPieces, type FrameSocket, fileTable, tablePieces } from '../protocol/frames.ts';
import type { FromWorker, LogMessage } from '../protocol/messages.ts';

/** A worker process's side of the socket; each promise resolves when the message is sent. */
export class Sender {
  readonly #frames: FrameSocket;
  /** Logs with the logger of the manager's call. */
  readonly logger: Logger;

  constructor(frames: FrameSocket) {
    this.#frames = frames;
    this.logger = forwardingLogger((line) => void this.send(line));
  }

  async send(message: FromWorker): Promise<void> {
    await this.#frames.send(Buffer.from(stringifyJson(message)));
  }

  async sendFiles(files: BundleFiles): Promise<void> {
    for (const piece of tablePieces(fileTable(files))) {
      await this.send({ type: 'files', files: piece });
    }
    const head = Buffer.from(stringifyJson({ type: 'content' } satisfies FromWorker));
    for (const parts of contentPieces(files)) await this.#frames.send(head, parts);
  }

  /** Sends objects that are JSON texts already. */
  async sendObjects(objects: readonly string[]): Promise<void> {
    await this.#frames.send(Buffer.from(`{"type":"objects","objects":[${objects.join(',')}]}`));
  }
}

/** A logger whose lines the manager writes. Like any logger it never throws. */
function forwardingLogger(forward: (line: LogMessage) => void, bound: object = {}): Logger {
  const write =
    (level: LogMessage['level']) =>
    (fields: object, message: string): void =>
      forward({
        type: 'log',
        level,
        fields: sendable({ ...bound, ...fields }),
        message: textOf(message).slice(0, longest),
      });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => forwardingLogger(forward, { ...bound, ...fields }),
  };
}

/** Maximum length of one line's fields, as text. */
const longest = 64 * 1024;

/** Converts fields that cannot be sent, such as functions, to text. */
function sendable(fields: object): Record<string, unknown> {
  const all = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    isSendable(value) ? value : textOf(value),
  ]);
  const sent = Object.fromEntries(all) as Record<string, unknown>;
  return stringifyJson(sent).length <= longest ? sent : { fields: 'too large to be logged' };
}

function isSendable(value: unknown): boolean {
  try {
    stringifyJson(value);
    return !['function', 'symbol'].includes(typeof value) && !(value instanceof Error);
  } catch {
    return false;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'function' ? value.toString() : inspect(value, { depth: 1 });
}
