/**
 * An operator, as far as the API server knows one: it admits, changes and converts widgets and
 * serves an API of gauges. Called with the JSON of its `ProgramOptions`; a line on standard output
 * says that it listens, and each change of a certificate.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { answer } from './answers.ts';

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Of certificate and key, which may change at any time. */
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
}

export interface ProgramOptions {
  readonly listeners: readonly Listener[];
}

const { listeners } = JSON.parse(process.argv[2] ?? '{}') as ProgramOptions;

for (const listener of listeners) listen(listener);

function listen(listener: Listener): void {
  let pair = pairOf(listener);
  const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
    void respond(request, response);
  });
  // So that connections begin all the time, and with them the question whom to trust.
  server.maxRequestsPerSocket = 10;
  // Connections end with an answer, never while the next question is on its way.
  server.keepAliveTimeout = 0;
  server.listen(listener.port, listener.host, () => {
    console.log(`listening on ${listener.host}:${listener.port}`);
  });
  // As operators do: files of a mounted Secret change on their own.
  setInterval(() => {
    const now = changed(listener, pair);
    if (now === undefined) return;
    pair = now;
    // Those that are connected go on as they are, for as long as they like.
    server.setSecureContext(pair);
    console.log('another certificate');
  }, 200);
}

interface Pair {
  readonly cert: string;
  readonly key: string;
}

function pairOf({ folder, certificate, key }: Listener): Pair {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { cert: read(certificate), key: read(key) };
}

/** Another pair than before; undefined where it is the same, or is just being replaced. */
function changed(listener: Listener, before: Pair): Pair | undefined {
  try {
    const now = pairOf(listener);
    return now.cert === before.cert ? undefined : now;
  } catch {
    return undefined;
  }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const { code, value } = answer(request.url ?? '/', body);
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
