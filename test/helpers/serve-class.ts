/**
 * A program that serves a class by the HTTP form of the contract: `serve-class.ts MODULE PORT`.
 * What a server in another language does, for a class that there is already.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { defaultLimits, unpackTar } from '../../core/content/index.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import type { DefinedProvisioner, DeploymentContext } from '../../core/contracts/provisioner.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { silentLogger } from './silent-logger.ts';

interface Answer {
  readonly status: number;
  readonly value?: unknown;
}

const [, , module = '', port] = argv;
const provisioner = (
  (await import(pathToFileURL(module).href)) as { readonly default: DefinedProvisioner }
).default;
const context: DeploymentContext = {
  signal: new AbortController().signal,
  logger: silentLogger,
  limits: defaultLimits,
  inputs: [],
};

createServer((request, response) => void serve(request, response)).listen(
  Number(port),
  '127.0.0.1',
);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, value } = await answerTo(request);
  if (value === undefined) return void response.writeHead(status).end();
  const body = Buffer.from(JSON.stringify(value));
  const headers = { 'content-type': 'application/json', 'content-length': body.byteLength };
  response.writeHead(status, headers).end(body);
}

async function answerTo(request: IncomingMessage): Promise<Answer> {
  const { className, contractVersion } = provisioner;
  if (request.method === 'GET') {
    return {
      status: 200,
      value: { className, contractVersion, handlers: ['bundle', 'deployment'] },
    };
  }
  try {
    const sent = await unpackTar(request, context);
    const object = JSON.parse(Buffer.from(sent.files.get('object.json') ?? '').toString()) as never;
    const files = contentOf(sent);
    if (request.url === '/v1/deployment') {
      return { status: 200, value: await provisioner.deployment?.(files, object, context) };
    }
    const stored = await provisioner.bundle?.(files, object, context);
    if (stored !== files) throw new Error('this server cannot send content');
    return { status: 204 };
  } catch (error) {
    const message = errorMessage(error);
    return { status: error instanceof TerminalError ? 422 : 500, value: { message } };
  }
}

function contentOf({ files, directories }: BundleFiles): BundleFiles {
  const start = 'content/';
  const inside = (path: string): boolean => path.startsWith(start);
  return {
    files: new Map(
      [...files]
        .filter(([path]) => inside(path))
        .map(([path, bytes]) => [path.slice(start.length), bytes]),
    ),
    directories: new Set([...directories].filter(inside).map((path) => path.slice(start.length))),
  };
}
