import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import type { AccessReviewer } from './access-review.ts';
import { authorize } from './authorize.ts';
import { shareReaders } from './reader-shares.ts';
import { type ServeArchiveOptions, serveArchive } from './serve-archive.ts';
import { sendText } from './text-response.ts';

export interface ContentAppOptions extends ServeArchiveOptions {
  readonly reviewer: AccessReviewer;
  readonly logger: Logger;
  /** What `/metrics` answers; 404 without. */
  readonly renderMetrics?: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** What else is served, such as uploads and plans; reached by authorized requests alone. */
  readonly handlers?: readonly RequestHandler[];
}

/** `/bundles/<name>.tgz` and `/metrics`: each request authorized and logged. */
export function createContentApp(options: ContentAppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // What is served is exactly the path that was authorized.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(allowListeners, logResponses(options.logger), measureResponses(options.metrics));
  app.use(authorize(options.reviewer, options.logger));
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

/** Each step waits for the end of the response itself: together more than Node takes for a leak. */
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
  // Express tells error handlers by their four parameters.
  // oxlint-disable-next-line max-params
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    if (error instanceof URIError) return sendText(response, 400, 'Bad Request');
    logger.error({ error: errorMessage(error), url: request.originalUrl }, 'request failed');
    sendText(response, 500, 'Internal Server Error');
  };
}
