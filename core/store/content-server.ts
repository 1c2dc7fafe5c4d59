import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { creatorOfUser } from '../../api/v1alpha1/rules/creator.ts';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import { createTlsServer, type TlsFiles } from '../platform/certificates/index.ts';
import type { Clock } from '../platform/clock.ts';
import { guardConnections } from '../platform/connection-guard.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import { Shares } from '../platform/shares.ts';
import {
  type AccessReviewer,
  cachedAccessReviewer,
  type SharedAccessReviewer,
} from './access-review.ts';
import { authorize } from './authorize.ts';
import { type ServeArchiveOptions, serveArchive } from './serve-archive.ts';
import { sendText } from './text-response.ts';

export interface ContentServerOptions extends ContentAppOptions {
  readonly reviewer: AccessReviewer;
  /** Without a host, all interfaces; port 0 for any free one. */
  readonly address: { readonly host?: string; readonly port: number };
  /** Serves HTTPS; without, plain HTTP. */
  readonly tls?: TlsFiles;
  readonly clock: Clock;
}

export interface ContentServer {
  /** The port it listens on, for callers that asked for any free one. */
  readonly port: number;
  /**
   * Accepts no more requests, and returns when the running ones are done or five seconds have
   * passed.
   */
  close(): Promise<void>;
}

/** Milliseconds without a byte after which the server drops a client. */
const idleTimeout = 60_000;
/**
 * Milliseconds from the first byte of a request to the last of its body, for large uploads over
 * slow lines.
 */
const requestTimeout = 30 * 60_000;
/** Milliseconds for the headers of a request. */
const headersTimeout = 15_000;
const closeTimeout = 5_000;

/**
 * Starts the server.
 * @throws Error when the address or the certificate is unusable.
 */
export async function startContentServer(options: ContentServerOptions): Promise<ContentServer> {
  const logger = options.logger.child({ logger: 'http' });
  const reviewer = cachedAccessReviewer(options.reviewer, options.clock);
  const app = createContentApp({ ...options, logger }, reviewer);
  const stopped = new AbortController();
  const server =
    options.tls === undefined
      ? createHttpServer(app)
      : await createTlsServer(options.tls, {
          app,
          logger,
          clock: options.clock,
          signal: stopped.signal,
        });
  server.setTimeout(idleTimeout);
  server.requestTimeout = requestTimeout;
  server.headersTimeout = headersTimeout;
  // Handlers request the body; Node would request it before the request is authorized.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  guardConnections(server, (crowd) => {
    logger.warn(
      crowd,
      'too many connections to the content server: the least useful ones are closed',
    );
  });
  try {
    await listen(server, options.address);
  } catch (error) {
    stopped.abort();
    throw error;
  }
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    close: async () => {
      stopped.abort();
      await close(server);
    },
  };
}

async function listen(server: Server, address: ContentServerOptions['address']): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function close(server: Server): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), closeTimeout);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearTimeout(deadline);
}

interface ContentAppOptions extends ServeArchiveOptions {
  readonly logger: Logger;
  /** The answer of `/metrics`; 404 without it. */
  readonly renderMetrics?: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Handlers for uploads and plans, which receive only authorized requests. */
  readonly handlers?: readonly RequestHandler[];
}

/** `/bundles/<name>.tgz` and `/metrics`; authorizes and logs each request. */
function createContentApp(options: ContentAppOptions, reviewer: SharedAccessReviewer): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The served path must be exactly the authorized one.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(allowListeners, logResponses(options.logger), measureResponses(options.metrics));
  app.use(authorize(reviewer, options.logger));
  app.get('/bundles/:file', shareReaders(), serveArchive(options));
  app.all('/bundles/:file', methodNotAllowed);
  const { renderMetrics } = options;
  if (renderMetrics !== undefined) {
    app.get('/metrics', async (_request, response) => {
      const { contentType, body } = await renderMetrics();
      response.set('Content-Type', contentType).send(body);
    });
  }
  for (const handler of options.handlers ?? []) app.use(handler);
  app.use((_request, response) => sendText(response, 404, '404 page not found'));
  app.use(answerErrors(options.logger));
  return app;
}

const methodNotAllowed: RequestHandler = (_request, response) => {
  response.set('Allow', 'GET, HEAD');
  sendText(response, 405, 'Method Not Allowed');
};

function logResponses(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const { method, originalUrl: url } = request;
    response.once('close', () => {
      const size = method === 'HEAD' ? 0 : Number(response.get('Content-Length') ?? 0);
      logger.info({ method, status: response.statusCode, url, size }, 'responded');
    });
    next();
  };
}

/**
 * Several handlers wait for the end of the response: more listeners than Node's warning about leaks
 * allows.
 */
const allowListeners: RequestHandler = (_request, response, next) => {
  response.setMaxListeners(20);
  next();
};

function measureResponses(metrics: ContentMetrics): RequestHandler {
  return ({ method }, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      const seconds = (performance.now() - started) / 1000;
      metrics.responded({ method, code: response.statusCode, seconds });
    });
    next();
  };
}

function answerErrors(logger: Logger): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  // oxlint-disable-next-line max-params
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    if (error instanceof URIError) return sendText(response, 400, 'Bad Request');
    logger.error({ error: errorMessage(error), url: request.originalUrl }, 'request failed');
    sendText(response, 500, 'Internal Server Error');
  };
}

/** Maximum concurrent downloads of one creator: eight managers with eight workers each. */
const maxReads = 64;

/** Seconds, in which some downloads end or are cut off. */
const retryAfter = '10';

/** Limits the concurrent downloads of each creator, so that others get theirs. */
function shareReaders(): RequestHandler<{ file: string }> {
  const running = new Shares({ each: maxReads });
  return (_request, response, next) => {
    const creator = creatorOfUser(String(response.locals['user'] ?? ''));
    if (running.take(creator) !== undefined) {
      response.set('Retry-After', retryAfter);
      const problem = `${creator} reads ${maxReads} archives at the same time already`;
      return sendText(response, 429, `${problem}: wait until one of them has ended`);
    }
    response.once('close', () => running.giveBack(creator));
    next();
  };
}
